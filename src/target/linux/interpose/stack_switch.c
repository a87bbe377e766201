/*
 * stack_switch.c - interposes swapcontext() and setcontext() of libc, to record that the thread
 * switches to another stack. Only in libnanoscope.so, which is found before libc. A program that is
 * not recorded pays one more call.
 *
 * Not detected here: contexts that end and continue with uc_link (the recorder detects them by the
 * position), and stack switches without libc (nanoscope_stack_switch).
 */
#include <nanoscope/nanoscope.h>
#include <ucontext.h>

#include "linux/events/thread.h"
#include "linux/interpose/wrap.h"
#include "linux/session/current_session.h"

static void *real_swapcontext, *real_setcontext;

NSC_RUNTIME_EXPORT int nsc_wrap_swapcontext(ucontext_t *restrict from,
                                            const ucontext_t *restrict to);
NSC_RUNTIME_EXPORT int nsc_wrap_setcontext(const ucontext_t *to);
NSC_WRAP(nsc_wrap_swapcontext, "swapcontext", NSC_WRAP_GLIBC);
NSC_WRAP(nsc_wrap_setcontext, "setcontext", NSC_WRAP_GLIBC);

static uint64_t stack_pointer_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
    return context->uc_mcontext.sp;
#endif
}

int nsc_wrap_swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
    int (*real)(ucontext_t *, const ucontext_t *);

    *(void **)&real = nsc_wrap_real(&real_swapcontext, "swapcontext");
    if (real == NULL)
        return -1;
    nsc_runtime_switch((uintptr_t)from, (uintptr_t)to, stack_pointer_of(to));
    return real(from, to);
}

int nsc_wrap_setcontext(const ucontext_t *to)
{
    int (*real)(const ucontext_t *);

    *(void **)&real = nsc_wrap_real(&real_setcontext, "setcontext");
    if (real == NULL)
        return -1;
    nsc_runtime_switch(0, (uintptr_t)to, stack_pointer_of(to));
    return real(to);
}

__attribute__((constructor)) static void find_all(void)
{
    nsc_wrap_real(&real_swapcontext, "swapcontext");
    nsc_wrap_real(&real_setcontext, "setcontext");
    nsc_wrap_forget_errors();
}
