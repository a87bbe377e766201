/*
 * recorder_end.h - the end of a recording: disable hooks, drain the rest, resolve function names,
 * complete the file, and answer clients that wait at the socket.
 *
 * Called by run_program.c, attach.c, core_recover.c and, for a file of its own, snapshot.c.
 */
#ifndef NSC_RECORD_RECORDER_RECORDER_END_H
#define NSC_RECORD_RECORDER_RECORDER_END_H

#include "record/recorder/recorder_state.h"

/**
 * nsc_recorder_switch_off - disable the sleds of programs that outlive the recording. Waits a short
 * time for hooks that are running, so that nsc_recorder_complete() finds all emitted events.
 * @ns: receives the time spent on switching; may be NULL.
 * Returns 0 or -errno with @diag: some process could not be switched. Its hooks emit nothing after
 * nsc_recorder_complete(), but still cost a little.
 */
int nsc_recorder_switch_off(struct nsc_recorder *r, uint64_t *ns, struct nsc_diag *diag);
/**
 * nsc_recorder_complete - drain the rest, resolve function names, complete the file.
 * @result: all fields except status, started, no_program.
 * Afterwards the session's memory is empty, also for processes that still map it. Clients that wait
 * at the socket get the result. If no process took part, result->recorded is false and the file is
 * not completed.
 */
int nsc_recorder_complete(struct nsc_recorder *r, struct nsc_record_result *result,
                          struct nsc_diag *diag);
/* Fill in a reply to clients of the socket with the current state. */
void nsc_recorder_reply(const struct nsc_recorder *r, struct nsc_command_reply *reply);
/* Read the clocks: for the trace, and for recovery of the session from a core dump. */
void nsc_recorder_write_clock(struct nsc_recorder *r);

#endif
