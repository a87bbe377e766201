/*
 * recorder_end.h - the end of a recording: hooks off, drain the rest, name the functions, complete
 * the file, and tell whoever waits at the socket.
 *
 * Called by run_program.c, attach.c, core_recover.c and, for a file of its own, snapshot.c.
 */
#ifndef NSC_RECORD_RECORDER_RECORDER_END_H
#define NSC_RECORD_RECORDER_RECORDER_END_H

#include "record/recorder/recorder_state.h"

/**
 * nsc_recorder_switch_off - the recording ends before the programs do: switch their sleds off, and
 * wait shortly for hooks under way, so that nsc_recorder_complete() finds all that was emitted.
 * @ns: receives the time spent on switching; may be NULL.
 * Returns 0 or -errno with @diag: some process could not be switched; its hooks emit nothing after
 * nsc_recorder_complete(), but still cost a little.
 */
int nsc_recorder_switch_off(struct nsc_recorder *r, uint64_t *ns, struct nsc_diag *diag);
/**
 * nsc_recorder_complete - drain what is left, name the functions, complete the file.
 * @result: all but status, started, no_program.
 * The session's memory is empty afterwards, for whoever still maps it. Who waits at the socket
 * hears how it went. Without any process that took part result->recorded is false and the file not
 * completed.
 */
int nsc_recorder_complete(struct nsc_recorder *r, struct nsc_record_result *result,
                          struct nsc_diag *diag);
/* What clients at the socket are told, as things stand. */
void nsc_recorder_reply(const struct nsc_recorder *r, struct nsc_command_reply *reply);
/* A reading of the clocks: for the trace, and for who finds the session in a core dump. */
void nsc_recorder_write_clock(struct nsc_recorder *r);

#endif
