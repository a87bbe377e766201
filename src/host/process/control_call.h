/*
 * control_call.h - one way to have a running process do what src/shared/abi/control.h lists,
 * whoever calls the control function there: its endpoint's thread, where it has one (the program's
 * own threads notice nothing), else one of its threads, by ptrace.
 *
 * Called by record/ to begin and end recordings. Must not print.
 *
 *     nsc_process_open(&target, &reach, &diag)       checks that it answers
 *     nsc_process_memory(reach, &fd, &diag)          an empty memory file: lay a session out in it
 *     nsc_process_join(reach, &diag)                 the process takes part in it
 *     nsc_process_call(reach, NSC_CONTROL_OFF, ...)
 *     nsc_process_close(reach)
 */
#ifndef NSC_PROCESS_CONTROL_CALL_H
#define NSC_PROCESS_CONTROL_CALL_H

#include <stdint.h>

#include "abi/control.h"
#include "process/process_find.h"
#include "util/diag.h"
#include "util/privileges/credentials.h"

enum nsc_process_how {
    NSC_PROCESS_ENDPOINT = 1,
    NSC_PROCESS_PTRACE = 2,
};

struct nsc_process_access;

/**
 * nsc_process_open - get at a process.
 * @target: as nsc_process_find() or nsc_process_resolve() left it; not kept.
 * @reach: receives it; release with nsc_process_close().
 *
 * Asks the process for its version (NSC_CONTROL_HELLO).
 * Returns 0, or -errno with @diag, whose message says what to do: -ESRCH (it has ended), -EPERM
 * (ptrace is not permitted and it does not listen), -EBUSY (another tracer), -ENOEXEC (not built
 * for tracing), -EPROTO (built with another version), -ETIMEDOUT, or as nsc_ptrace_call().
 */
int nsc_process_open(const struct nsc_process_target *target, struct nsc_process_access **reach,
                     struct nsc_diag *diag);
/* Frees it. A memory file that was made and not joined is closed in the process, too; one that
 * nsc_process_memory() gave to the caller stays the caller's. NULL: nothing happens. */
void nsc_process_close(struct nsc_process_access *reach);

enum nsc_process_how nsc_process_how(const struct nsc_process_access *reach);
/* A descriptor of the process as pidfd_open() gives it; the reach's. */
int nsc_process_pidfd(const struct nsc_process_access *reach);
/* Those of the process when it was opened; it is called only as long as it has no others. */
const struct nsc_credentials *nsc_process_credentials(const struct nsc_process_access *reach);

/**
 * nsc_process_call - call the control function.
 * @verb: enum nsc_control_verb; not MEMORY, JOIN or DROP, which have functions of their own.
 * @result: what it returned, >= 0 or a negative errno.
 * Returns 0 when it was called, else -errno with @diag as nsc_process_open().
 */
int nsc_process_call(struct nsc_process_access *reach, uint64_t verb, uint64_t argument,
                     int64_t *result, struct nsc_diag *diag);

/**
 * nsc_process_memory - make the memory file that a session is to be laid out in.
 * @fd: receives a descriptor in this process, close-on-exec, the caller's; empty file.
 * Returns 0 or -errno with @diag.
 */
int nsc_process_memory(struct nsc_process_access *reach, int *fd, struct nsc_diag *diag);

/**
 * nsc_process_join - the process takes part in the session in the memory file (NSC_CONTROL_JOIN).
 * Its sleds are ready afterwards, and off.
 * Returns 0 or -errno with @diag: -EBUSY (it takes part in a session already), -EINVAL (no memory
 * file yet), what the control function says, or as nsc_process_open().
 */
int nsc_process_join(struct nsc_process_access *reach, struct nsc_diag *diag);

#endif
