/*
 * ptrace_call.h - call the control function of a process by ptrace.
 *
 * Called by control_call.c. See docs/adr/010-reaching-a-running-program.md. The call preserves the
 * process's state: registers, signals, signal mask and the system call that a thread waits in. Must
 * never leave a process stopped. If nanoscope ends, the process must survive; ptrace_call.c states
 * the exception.
 */
#ifndef NSC_PROCESS_CALL_PTRACE_CALL_H
#define NSC_PROCESS_CALL_PTRACE_CALL_H

#include <stdint.h>
#include <sys/types.h>

#include "process/call_limit.h"
#include "util/diag.h"
#include "util/privileges/credentials.h"

struct nsc_ptrace_target {
    pid_t pid;
    int pidfd; /* of the same process; shows when it has ended, as its pid may be reused */
    uint64_t control, note; /* as in struct nsc_process_target */
    /* Must cover the credentials of the process when it is called; NULL: no check. If they belong
     * to another user, the process's seccomp filters are never suspended for the call. */
    const struct nsc_credentials *credentials;
    struct nsc_call_limit *limit; /* begun by the caller */
};

/**
 * nsc_ptrace_call - call the control function once.
 * @result: receives the control function's result.
 *
 * Stops one thread for the duration of the call, usually far below one millisecond. Searches at
 * most some seconds for a thread that can be stopped.
 * Returns 0 or -errno with @diag: -ESRCH (ended), -EPERM (ptrace is not permitted), -EBUSY
 * (another tracer), -ENOEXEC (a 32-bit process, or it executed another program, or has other
 * credentials now), -ETIMEDOUT (no thread could be stopped, or the function did not finish, or the
 * limit is over), -ENOTSUP (it ignores SIGSEGV or restricts its own system calls), -EFAULT (the
 * call crashed; the thread continues where it was). Context: starts a helper thread or, for another
 * user's process, a child per attempt; does not affect the caller's signals and children.
 */
int nsc_ptrace_call(const struct nsc_ptrace_target *target, uint64_t verb, uint64_t argument,
                    int64_t *result, struct nsc_diag *diag);

#endif
