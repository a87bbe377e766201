/*
 * recorder.h - the course of a recording: prepare, drain while the program runs, drain the rest,
 * name the functions, complete the file.
 *
 * Called by run_program.c, which starts the program, and attach.c, which finds it running; what
 * differs between them is who ends the recording.
 */
#ifndef NSC_RECORD_RECORDER_RECORDER_H
#define NSC_RECORD_RECORDER_RECORDER_H

#include "record/budget/budget.h"
#include "record/control/command_server.h"
#include "record/drain/drain.h"
#include "record/options/recording_options.h"
#include "record/session/session.h"

enum { NSC_SNAPSHOTS_MAX = 4 }; /* at a time */

/* Begun by nsc_recorder_init(). */
struct nsc_recorder {
    const struct nsc_record_options *options;
    /* Has everything ended that belongs to the recording? Asked before each pass, so that the last
     * one comes after the last event. */
    bool (*is_over)(struct nsc_recorder *r, uint64_t now_ns);
    void *context; /* of is_over */
    struct nsc_session session;
    bool has_session;              /* and tracees and drain */
    struct nsc_credentials target; /* of the recorded program */
    struct nsc_writer *writer;     /* NULL: not made yet, or completed */
    struct nsc_tracees tracees;
    struct nsc_drain drain;
    struct nsc_budget budget;
    struct nsc_heap *heap;       /* NULL: calls of malloc are not counted */
    struct nsc_metrics *metrics; /* NULL: nobody wants samples */
    char *program;        /* the main program's path without links, NULL if that cannot be said */
    bool revived;         /* the session is out of a core dump: nothing of it lives */
    bool stop;            /* somebody asked for the end, by the socket */
    uint32_t waiting_for; /* for the progress line: children that go on after the program's end */
    uint64_t start_ns, progress_ns, second_ns, sleep_ns;
    const struct nsc_filter *in_force;
    uint32_t filters;         /* that came after the first */
    struct nsc_filter filter; /* one that came by the socket before there was a session */
    enum nsc_command_phase phase;
    struct {
        pid_t pid;  /* a child that writes one; 0: none */
        int copied; /* a pipe that ends when it has copied the ring; -1: it has */
    } snapshots[NSC_SNAPSHOTS_MAX];
    struct nsc_command_server commands; /* fd -1: nobody can ask us anything */
    struct nsc_command command;
};

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
/* What clients at the socket are told, as things stand. */
void nsc_recorder_reply(const struct nsc_recorder *r, struct nsc_command_reply *reply);
/* Drain, and do what comes by the socket, until is_over() says so or somebody asked to stop. */
void nsc_recorder_loop(struct nsc_recorder *r);
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
/* Whatever of it is open; a file that was not completed is removed. */
void nsc_recorder_release(struct nsc_recorder *r);

#endif
