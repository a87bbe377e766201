/*
 * recorder.h - the course of a recording until its end (recorder_end.h): prepare it, drain while
 * the program runs, and serve requests on the socket.
 *
 * Called by run_program.c, which starts the program, and attach.c, which records a running program.
 * They differ in the condition that ends the recording.
 */
#ifndef NSC_RECORD_RECORDER_RECORDER_H
#define NSC_RECORD_RECORDER_RECORDER_H

#include "record/recorder/recorder_state.h"

void nsc_recorder_init(struct nsc_recorder *r, const struct nsc_record_options *options,
                       bool (*is_over)(struct nsc_recorder *r, uint64_t now_ns), void *context);

/* Create the partial file at options->output. Returns 0 or -errno with @diag. */
int nsc_recorder_open_file(struct nsc_recorder *r, struct nsc_diag *diag);
/**
 * nsc_recorder_open_session - create the session's memory. The file must be open.
 * @memory: as in struct nsc_session_options.
 * Returns 0 or -errno with @diag.
 */
int nsc_recorder_open_session(struct nsc_recorder *r, int memory, struct nsc_diag *diag);
/* As nsc_recorder_open_session(), for an existing session in r->session; destroys it on failure. */
int nsc_recorder_follow_session(struct nsc_recorder *r, struct nsc_diag *diag);
/* Write metadata about the recording to the trace. @argv: the program's command line; @directory: a
 * link to its working directory, as /proc/PID/cwd. */
void nsc_recorder_describe(struct nsc_recorder *r, char *const *argv, const char *directory);
/* Start the clocks. Call it just before the program can emit its first event. */
void nsc_recorder_begin(struct nsc_recorder *r);
/* Serve requests on the socket, as nsc_recorder_loop() does: for the time before there is a
 * session. */
void nsc_recorder_serve(struct nsc_recorder *r, uint64_t now_ns);
/* Drain and serve requests until is_over() returns true or a client requests the end. */
void nsc_recorder_loop(struct nsc_recorder *r);
/* Release all resources of @r; an incomplete file is removed. */
void nsc_recorder_release(struct nsc_recorder *r);

#endif
