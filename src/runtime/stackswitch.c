/*
 * stackswitch.c - swapcontext() and setcontext() of libc, wrapped to tell the recorder that the
 * thread goes to another stack. Only in libnanoscope.so, which is found before libc; a program that
 * is not recorded pays one more call.
 *
 * What is not seen here: contexts that end and go on with uc_link (the recorder finds out by the
 * position), and stack switches that do not use libc (nanoscope_stack_switch).
 */
#include <nanoscope/nanoscope.h>
#include <ucontext.h>

#include "runtime/session.h"
#include "runtime/wrap.h"

static void *real_swapcontext, *real_setcontext;

NSC_RUNTIME_EXPORT int nsc_wrap_swapcontext(ucontext_t *restrict from,
                                            const ucontext_t *restrict to);
NSC_RUNTIME_EXPORT int nsc_wrap_setcontext(const ucontext_t *to);
NSC_WRAP(nsc_wrap_swapcontext, "swapcontext", NSC_WRAP_GLIBC);
NSC_WRAP(nsc_wrap_setcontext, "setcontext", NSC_WRAP_GLIBC);

int nsc_wrap_swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
    int (*real)(ucontext_t *, const ucontext_t *);

    *(void **)&real = nsc_wrap_real(&real_swapcontext, "swapcontext");
    if (real == NULL)
        return -1;
    nanoscope_stack_switch((uintptr_t)from, (uintptr_t)to);
    return real(from, to);
}

int nsc_wrap_setcontext(const ucontext_t *to)
{
    int (*real)(const ucontext_t *);

    *(void **)&real = nsc_wrap_real(&real_setcontext, "setcontext");
    if (real == NULL)
        return -1;
    nanoscope_stack_switch(0, (uintptr_t)to);
    return real(to);
}

__attribute__((constructor)) static void find_all(void)
{
    nsc_wrap_real(&real_swapcontext, "swapcontext");
    nsc_wrap_real(&real_setcontext, "setcontext");
    nsc_wrap_forget_errors();
}
