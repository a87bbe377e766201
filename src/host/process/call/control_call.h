/*
 * control_call.h - call the control function (src/shared/abi/control.h) of a running process.
 *
 * If the process has an endpoint, its endpoint thread makes the call, without disturbing the
 * program's threads. Otherwise one of the program's threads makes it, by ptrace. Called by record/
 * to begin and end recordings. Must not print.
 *
 *     nsc_process_open(&target, &reach, &diag)       checks that the process answers
 *     nsc_process_memory(reach, &fd, &diag)          an empty memory file, for the session
 *     nsc_process_join(reach, &diag)                 the process joins the session
 *     nsc_process_call(reach, NSC_CONTROL_OFF, ...)
 *     nsc_process_close(reach)
 */
#ifndef NSC_PROCESS_CALL_CONTROL_CALL_H
#define NSC_PROCESS_CALL_CONTROL_CALL_H

#include <stdint.h>

#include "abi/control.h"
#include "process/find/process_find.h"
#include "util/diag.h"
#include "util/privileges/credentials.h"

enum nsc_process_how {
    NSC_PROCESS_ENDPOINT = 1,
    NSC_PROCESS_PTRACE = 2,
};

struct nsc_process_access;

/**
 * nsc_process_open - connect to a process, and check its version (NSC_CONTROL_HELLO).
 * @target: from nsc_process_find() or nsc_process_resolve(); not kept.
 * @reach: receives the connection; release with nsc_process_close().
 *
 * Returns 0, or -errno with @diag, whose message says what to do: -ESRCH (it has ended), -EPERM
 * (ptrace is not permitted and it has no endpoint), -EBUSY (another tracer), -ENOEXEC (not built
 * for tracing), -ENOTSUP (the call would harm it), -EXDEV (privileges beyond @target->within),
 * -EPROTO (built with another version), -ETIMEDOUT, or as nsc_ptrace_call().
 */
int nsc_process_open(const struct nsc_process_target *target, struct nsc_process_access **reach,
                     struct nsc_diag *diag);
/* Free the connection; @reach may be NULL. Also closes, in the process, a memory file that it
 * created and did not join. The caller keeps its descriptor from nsc_process_memory(). */
void nsc_process_close(struct nsc_process_access *reach);

enum nsc_process_how nsc_process_how(const struct nsc_process_access *reach);
/* Return a pidfd of the process; owned by @reach. */
int nsc_process_pidfd(const struct nsc_process_access *reach);
/* Return the credentials that the process had when it was opened. Calls by ptrace are refused once
 * the process has privileges beyond these. */
const struct nsc_credentials *nsc_process_credentials(const struct nsc_process_access *reach);

/**
 * nsc_process_call - call the control function.
 * @verb: enum nsc_control_verb, except MEMORY, JOIN and DROP: see the functions below.
 * @result: receives the function's result, >= 0 or a negative errno.
 * Returns 0 if the function was called, else -errno with @diag as nsc_process_open().
 */
int nsc_process_call(struct nsc_process_access *reach, uint64_t verb, uint64_t argument,
                     int64_t *result, struct nsc_diag *diag);

/**
 * nsc_process_memory - create the memory file for a session.
 * @fd: receives a descriptor of the empty file in this process, close-on-exec; owned by the caller.
 * Returns 0 or -errno with @diag.
 */
int nsc_process_memory(struct nsc_process_access *reach, int *fd, struct nsc_diag *diag);

/**
 * nsc_process_join - make the process join the session in the memory file (NSC_CONTROL_JOIN).
 * Afterwards its sleds are ready, and disabled.
 * Returns 0 or -errno with @diag: -EBUSY (it is in a session already), -EINVAL (no memory file
 * yet), the control function's error, or as nsc_process_open().
 */
int nsc_process_join(struct nsc_process_access *reach, struct nsc_diag *diag);

#endif
