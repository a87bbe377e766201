/*
 * inject.h - call the control function in a process from outside, by ptrace.
 *
 * Called by reach.c. See docs/adr/010-reaching-a-running-program.md. The process goes on as if
 * nothing had happened: registers, signals, signal mask and the system call that a thread waits in.
 * Must never leave a process stopped, nor kill it with us.
 */
#ifndef NSC_REACH_INJECT_H
#define NSC_REACH_INJECT_H

#include <stdint.h>
#include <sys/types.h>

#include "util/diag.h"

/**
 * nsc_inject_call - call the control function once.
 * @pid: the process.
 * @pidfd: of the same process; tells when it has ended and its pid means another.
 * @control, @note: as in struct nsc_reach_target.
 * @result: what the control function returned.
 *
 * Stops one thread for the time of the call. Waits at most some seconds, mostly far below one
 * millisecond.
 * Returns 0 or -errno with @diag: -ESRCH (ended), -EPERM (ptrace is not permitted), -EBUSY
 * (another tracer), -ENOEXEC (a 32-bit process, or it executes another program now), -ETIMEDOUT
 * (no thread could be stopped), -ENOTSUP (it ignores SIGSEGV or confines its own system calls),
 * -EFAULT (the call crashed; the thread goes on where it was).
 * Context: starts a thread that does it and ends with it; the caller's signals and children are
 * left alone.
 */
int nsc_inject_call(pid_t pid, int pidfd, uint64_t control, uint64_t note, uint64_t verb,
                    uint64_t argument, int64_t *result, struct nsc_diag *diag);

#endif
