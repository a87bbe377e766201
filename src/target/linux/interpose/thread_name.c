/*
 * thread_name.c - lets code that can link nothing begin and end recordings. It sets the thread's
 * name to START_TRACING, later to STOP_TRACING:/path/of/the/trace.nst. Interposes
 * pthread_setname_np() and prctl() of libc; these two names never reach the kernel. Only in
 * libnanoscope.so.
 */
#include <errno.h>
#include <nanoscope/nanoscope.h>
#include <pthread.h>
#include <stddef.h>

#include "linux/control/small_text.h"
#include "linux/interpose/wrap.h"
#include "linux/session/current_session.h"

#pragma weak __errno_location

#define PR_SET_NAME 15 /* linux/prctl.h */

static void *real_setname, *real_prctl;

typedef int setname_fn(pthread_t thread, const char *name);
typedef int prctl_fn(int option, unsigned long a, unsigned long b, unsigned long c,
                     unsigned long d);

/* Execute the name if it is a command. Returns 1 if it was one; @result: receives 0 or a negative
 * errno. */
static int obeyed(const char *name, int *result)
{
    const char *rest = nsc_text_after(name, "START_TRACING");

    if (rest != NULL && *rest == 0) {
        *result = nanoscope_start(NULL);
        return 1;
    }
    rest = nsc_text_after(name, "STOP_TRACING");
    if (rest == NULL || (*rest != 0 && *rest != ':'))
        return 0;
    *result = nanoscope_stop(*rest == ':' ? rest + 1 : NULL);
    return 1;
}

NSC_RUNTIME_EXPORT int nsc_wrap_pthread_setname_np(pthread_t thread, const char *name);
NSC_RUNTIME_EXPORT int nsc_wrap_pthread_setname_np_old(pthread_t thread, const char *name);
NSC_RUNTIME_EXPORT int nsc_wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                                      unsigned long d);
/* glibc 2.34 moved it out of libpthread. */
NSC_WRAP(nsc_wrap_pthread_setname_np, "pthread_setname_np", "GLIBC_2.34");
NSC_WRAP(nsc_wrap_pthread_setname_np_old, "pthread_setname_np", NSC_WRAP_GLIBC_SETNAME);
NSC_WRAP(nsc_wrap_prctl, "prctl", NSC_WRAP_GLIBC);

int nsc_wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    setname_fn *real;
    int result;

    if (name != NULL && obeyed(name, &result))
        return -result;
    *(void **)&real = nsc_wrap_real(&real_setname, "pthread_setname_np");
    return real != NULL ? real(thread, name) : ENOSYS;
}

int nsc_wrap_pthread_setname_np_old(pthread_t thread, const char *name)
{
    return nsc_wrap_pthread_setname_np(thread, name);
}

static int fail(int error)
{
    if (&__errno_location != NULL)
        *__errno_location() = error;
    return -1;
}

int nsc_wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
    const char *name = (const char *)a;
    prctl_fn *real;
    int result;

    if (option == PR_SET_NAME && name != NULL && obeyed(name, &result))
        return result < 0 ? fail(-result) : 0;
    *(void **)&real = nsc_wrap_real(&real_prctl, "prctl");
    return real != NULL ? real(option, a, b, c, d) : fail(ENOSYS);
}

__attribute__((constructor)) static void find_all(void)
{
    nsc_wrap_real(&real_setname, "pthread_setname_np");
    nsc_wrap_real(&real_prctl, "prctl");
    nsc_wrap_forget_errors();
}
