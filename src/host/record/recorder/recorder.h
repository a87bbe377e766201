/*
 * recorder.h - the course of a recording until its end (recorder_end.h): prepare, drain while the
 * program runs, do what comes by the socket.
 *
 * Called by run_program.c, which starts the program, and attach.c, which finds it running; what
 * differs between them is who ends the recording.
 */
#ifndef NSC_RECORD_RECORDER_RECORDER_H
#define NSC_RECORD_RECORDER_RECORDER_H

#include "record/recorder/recorder_state.h"

void nsc_recorder_init(struct nsc_recorder *r, const struct nsc_record_options *options,
                       bool (*is_over)(struct nsc_recorder *r, uint64_t now_ns), void *context);

/* Make the partial file, as options->output says. 0 or -errno with @diag. */
int nsc_recorder_open_file(struct nsc_recorder *r, struct nsc_diag *diag);
/**
 * nsc_recorder_open_session - lay out the session's memory; the file is open.
 * @memory: as in struct nsc_session_options.
 * Returns 0 or -errno with @diag.
 */
int nsc_recorder_open_session(struct nsc_recorder *r, int memory, struct nsc_diag *diag);
/* The same for a session that is there already, in r->session; destroyed on failure. */
int nsc_recorder_follow_session(struct nsc_recorder *r, struct nsc_diag *diag);
/* Write down what is recorded, and how. @argv: the program's command line; @directory: where it
 * runs, a path or a link. */
void nsc_recorder_describe(struct nsc_recorder *r, char *const *argv, const char *directory);
/* The clocks begin; to be called just before the program can emit its first event. */
void nsc_recorder_begin(struct nsc_recorder *r);
/* Do what comes by the socket, as nsc_recorder_loop() does: for the time before there is a session.
 */
void nsc_recorder_serve(struct nsc_recorder *r, uint64_t now_ns);
/* Drain, and do what comes by the socket, until is_over() says so or somebody asked to stop. */
void nsc_recorder_loop(struct nsc_recorder *r);
/* Whatever of it is open; a file that was not completed is removed. */
void nsc_recorder_release(struct nsc_recorder *r);

#endif
