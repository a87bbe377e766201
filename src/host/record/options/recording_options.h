/*
 * recording_options.h - record a program: the one entry to this room.
 *
 * Called by cli/record/cmd_record.c. Starts the program, drains its events into a trace until it
 * and its children have ended, names the functions, completes the file.
 */
#ifndef NSC_RECORD_OPTIONS_RECORDING_OPTIONS_H
#define NSC_RECORD_OPTIONS_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/metrics.h"
#include "record/options/filter.h"
#include "util/diag.h"

/* What to do with the memory for events. */
enum nsc_record_mode {
    NSC_RECORD_STREAM, /* write events to the file while the program runs */
    NSC_RECORD_BUFFER, /* keep the first events, until the memory is full */
    NSC_RECORD_RING,   /* keep the newest events */
};

struct nsc_record_progress {
    uint64_t calls, file_bytes, elapsed_ns;
    uint32_t waiting_for; /* children that go on after the program's end; 0 = it still runs */
};

struct nsc_record_options {
    size_t size; /* sizeof(struct nsc_record_options) */
    char *const *argv;
    const char *output;
    const char *calibrator; /* path of nanoscope-calibrate; NULL: the hooks' cost is not measured */
    enum nsc_record_mode mode;
    uint64_t buffer_bytes; /* 0: the mode's own; the pool may then grow with the threads */
    bool entry_timing;     /* exits do not read the timer: their times are bounds */
    bool compress;
    bool no_children; /* leave out processes other than the one started */
    bool until_main;  /* end with the program, even if children go on */
    double budget;    /* share of the program's time that recording may cost; 0: no matter */
    struct nsc_filter filter;
    /* Path of the library that counts calls of malloc, which the program loads first; NULL: they
     * are not counted. Only with sample_ns. */
    const char *heap_library;
    bool cpu_timer;     /* the threads take their samples themselves, by a timer and a signal */
    uint64_t sample_ns; /* CPU time from sample to sample of a thread; 0: no samples, no states */
    /* Called about five times a second while recording; may be NULL. */
    void (*progress)(void *context, const struct nsc_record_progress *progress);
    /*
     * The trace is whole in the file @trace, a temporary one beside @output: make of it what it is
     * to be, before whoever waits for the end of the recording is told. The file is then the
     * callee's. @bytes: receives the size of what was made. Returns 0 with a remark in @diag or
     * none, or -errno with @diag. NULL: the trace is to be @output itself, which is checked then
     * (record/recorder/trace_output.h).
     */
    int (*deliver)(void *context, const char *trace, uint64_t *bytes, struct nsc_diag *diag);
    void *context;
};

struct nsc_record_result {
    bool started;    /* the program ran: `status` tells how it ended */
    bool no_program; /* it could not be started: not found or not executable */
    bool recorded;   /* some process of it took part in the session */
    bool built;      /* if none did: the program's file is built for tracing all the same */
    int status;      /* wait(2) status */
    uint64_t calls, lost, left_out;
    double budget, overhead;     /* with a budget: that, and what it came to by our count */
    int budget_error;            /* functions could not be switched off; -errno */
    uint32_t left_out_functions; /* not recorded at the end, for the budget */
    uint64_t clamped;            /* events whose time ran backwards */
    uint64_t file_bytes, elapsed_ns;
    uint32_t threads, processes, problems;
    uint32_t calling; /* of the threads: those with calls in the trace; known at the end */
    /* With entry timing: modules that took part, and those whose exits read the timer all the same.
     */
    uint32_t modules_hooked, modules_in_full;
    uint32_t unread_modules; /* their files could not be read */
    int unread_error;        /* why, of the first: a negative errno */
    bool mistrusted;    /* hooks stayed as they were: a process or module was not what it said */
    bool limited;       /* the program went beyond what is kept (record/session/limits.h) */
    bool memory_failed; /* the session's memory could not be had any more: it ended there */
    bool measured;      /* samples were wanted: */
    struct nsc_metrics_summary metrics; /* how they were taken */
    uint32_t heap_uncounted;            /* threads whose calls of malloc could not be counted */
};

/**
 * nsc_record_run - record a program from start to end.
 * @options: borrowed.
 * @result: filled in as far as things went, also on failure.
 * @diag: what failed.
 *
 * A program that takes no part in the session (not built for it) leaves no trace file: that is no
 * failure, see result->recorded.
 *
 * Returns 0 or -errno. With result->no_program, -ENOENT says that there is no such program. Once
 * the program has started, an error means that the trace is not complete; the program has run to
 * its end all the same. Context: changes signal dispositions of the process while it runs; one call
 * at a time.
 */
int nsc_record_run(const struct nsc_record_options *options, struct nsc_record_result *result,
                   struct nsc_diag *diag);

#endif
