/*
 * recorder_state.h - state of a recording, shared by the files of this folder.
 */
#ifndef NSC_RECORD_RECORDER_RECORDER_STATE_H
#define NSC_RECORD_RECORDER_RECORDER_STATE_H

#include "process/call_limit.h"
#include "record/budget/budget.h"
#include "record/control/command_server.h"
#include "record/drain/drain.h"
#include "record/options/recording_options.h"
#include "record/session/session.h"

enum { NSC_SNAPSHOTS_MAX = 4 }; /* maximum number at a time */

/* Initialized by nsc_recorder_init(). */
struct nsc_recorder {
    const struct nsc_record_options *options;
    /* Returns true if everything that belongs to the recording has ended. Called before each pass,
     * so that the last pass comes after the last event. */
    bool (*is_over)(struct nsc_recorder *r, uint64_t now_ns);
    void *context; /* argument of is_over */
    struct nsc_record_session session;
    bool has_session;              /* also of tracees and drain */
    struct nsc_credentials target; /* of the recorded program */
    struct nsc_call_limit calls;   /* of control functions */
    struct nsc_writer *writer;     /* NULL: not created yet, or completed */
    struct nsc_tracees tracees;
    struct nsc_drain drain;
    struct nsc_budget budget;
    struct nsc_malloc_samples *heap; /* NULL: allocations are not counted */
    struct nsc_metrics *metrics;     /* NULL: no samples are taken */
    char *program;                   /* path of the main program without links, NULL if unknown */
    bool revived;                    /* the session is from a core dump: its processes are dead */
    bool stop;                       /* a client of the socket requested the end */
    char new_name[NSC_COMMAND_NAME_MAX]; /* from that request; empty: the trace keeps its name */
    uint32_t waiting_for; /* for the progress line: children that outlive the program */
    uint64_t start_ns, progress_ns, second_ns, sleep_ns;
    const struct nsc_filter *in_force;
    uint32_t filters;         /* number of filter changes */
    struct nsc_filter filter; /* received by the socket before there was a session */
    enum nsc_command_phase phase;
    struct {
        pid_t pid;  /* child that writes the snapshot; 0: none */
        int copied; /* pipe that is closed when the child has copied the ring; -1: done */
    } snapshots[NSC_SNAPSHOTS_MAX];
    struct nsc_command_server commands; /* fd -1: no socket */
    struct nsc_command command;
};

#endif
