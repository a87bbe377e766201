/*
 * ptrace_call.h - call the control function in a process from outside, by ptrace.
 *
 * Called by control_call.c. See docs/adr/010-reaching-a-running-program.md. The process goes on as
 * if nothing had happened: registers, signals, signal mask and the system call that a thread waits
 * in. Must never leave a process stopped, nor kill it with us.
 */
#ifndef NSC_PROCESS_PTRACE_CALL_H
#define NSC_PROCESS_PTRACE_CALL_H

#include <stdint.h>
#include <sys/types.h>

#include "util/diag.h"
#include "util/privileges/credentials.h"

struct nsc_inject_target {
    pid_t pid;
    int pidfd; /* of the same process; tells when it has ended and its pid means another */
    uint64_t control, note; /* as in struct nsc_process_target */
    /* What the process may hold at most when it is called; NULL: anything. A process of another
     * user never has its own restrictions on system calls (seccomp) lifted for the call. */
    const struct nsc_credentials *credentials;
};

/**
 * nsc_ptrace_call - call the control function once.
 * @result: what the control function returned.
 *
 * Stops one thread for the time of the call. Waits at most some seconds, mostly far below one
 * millisecond.
 * Returns 0 or -errno with @diag: -ESRCH (ended), -EPERM (ptrace is not permitted), -EBUSY
 * (another tracer), -ENOEXEC (a 32-bit process, or it executes another program, or has other
 * credentials now), -ETIMEDOUT (no thread could be stopped), -ENOTSUP (it ignores SIGSEGV or
 * confines its own system calls), -EFAULT (the call crashed; the thread goes on where it was).
 * Context: starts a thread that does it and ends with it; the caller's signals and children are
 * left alone.
 */
int nsc_ptrace_call(const struct nsc_inject_target *target, uint64_t verb, uint64_t argument,
                    int64_t *result, struct nsc_diag *diag);

#endif
