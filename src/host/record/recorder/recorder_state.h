/*
 * recorder_state.h - a recording, as those that work on it share it.
 */
#ifndef NSC_RECORD_RECORDER_RECORDER_STATE_H
#define NSC_RECORD_RECORDER_RECORDER_STATE_H

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
    struct nsc_record_session session;
    bool has_session;              /* and tracees and drain */
    struct nsc_credentials target; /* of the recorded program */
    struct nsc_writer *writer;     /* NULL: not made yet, or completed */
    struct nsc_tracees tracees;
    struct nsc_drain drain;
    struct nsc_budget budget;
    struct nsc_malloc_samples *heap; /* NULL: calls of malloc are not counted */
    struct nsc_metrics *metrics;     /* NULL: nobody wants samples */
    char *program; /* the main program's path without links, NULL if that cannot be said */
    bool revived;  /* the session is out of a core dump: nothing of it lives */
    bool stop;     /* a client of the socket asked for the end */
    char new_name[NSC_COMMAND_NAME_MAX]; /* with it; empty: the trace keeps its name */
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

#endif
