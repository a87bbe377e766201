/*
 * recording_options.h - options and result of a recording, and the call that records a program.
 *
 * Called by cli/record/cmd_record.c. nsc_record_run() starts the program and drains its events into
 * a trace until it and its children have ended. It then adds the functions' names and completes the
 * file.
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
    uint32_t waiting_for; /* children still running after the program's end; 0: it runs */
};

struct nsc_record_options {
    size_t size; /* sizeof(struct nsc_record_options) */
    char *const *argv;
    const char *output;
    const char *calibrator; /* path of nanoscope-calibrate; NULL: hook costs are not measured */
    enum nsc_record_mode mode;
    uint64_t buffer_bytes; /* 0: the mode's default; the pool may then grow with the threads */
    bool entry_timing;     /* exits do not read the timer: exit times are bounds */
    bool compress;
    bool no_children; /* do not record processes other than the one started */
    bool until_main;  /* end with the program, even if children still run */
    double budget;    /* maximum overhead as a share of the program's time; 0: no limit */
    struct nsc_filter filter;
    /* Path of the library that counts malloc calls, which the program preloads; NULL: they are not
     * counted. Only with sample_ns. */
    const char *heap_library;
    bool cpu_timer;     /* threads sample themselves, by a timer and a signal */
    uint64_t sample_ns; /* CPU time between samples of a thread; 0: no samples, no states */
    /* Called about five times a second while recording; may be NULL. */
    void (*progress)(void *context, const struct nsc_record_progress *progress);
    /*
     * The trace is complete in @trace, a temporary file beside @output. The callback converts it to
     * its final form, before clients that wait for the end of the recording get their reply. It
     * takes ownership of the file. @fd: the same file, open, for the caller to close; @trace may
     * name another by then, in a folder that another user can change. @bytes: receives the size of
     * the result. Returns 0, with a warning in @diag or none, or -errno with @diag. NULL: the trace
     * is written to @output, which nsc_output_check() must permit (record/recorder/trace_output.h).
     */
    int (*deliver)(void *context, int fd, const char *trace, uint64_t *bytes,
                   struct nsc_diag *diag);
    void *context;
};

struct nsc_record_result {
    bool started;    /* the program ran; `status` is valid */
    bool no_program; /* it could not be started: not found or not executable */
    bool recorded;   /* some process of it joined the session */
    bool built;      /* if not recorded: the program's file is nevertheless built for tracing */
    int status;      /* wait(2) status */
    uint64_t calls, lost, left_out;
    double budget, overhead;     /* with a budget: its value, and the measured overhead */
    int budget_error;            /* error when disabling functions, -errno */
    uint32_t left_out_functions; /* functions that the budget had disabled at the end */
    uint64_t clamped;            /* events whose time ran backwards */
    uint64_t file_bytes, elapsed_ns;
    uint32_t threads, processes, problems;
    uint32_t calling; /* threads with calls in the trace; valid at the end */
    /* With entry timing: modules that joined, and those whose exits read the timer anyway. */
    uint32_t modules_hooked, modules_in_full;
    uint32_t unread_modules; /* modules whose files could not be read */
    int unread_error;        /* error of the first, a negative errno */
    bool mistrusted;         /* hooks left as they were: a process or module failed its check */
    bool limited;            /* the program exceeded the limits (record/session/limits.h) */
    bool memory_failed; /* the session's memory could not be allocated: the recording ended there */
    bool measured;      /* samples were requested, and: */
    struct nsc_metrics_summary metrics; /* statistics of the sampling */
    uint32_t heap_uncounted;            /* threads whose malloc calls could not be counted */
};

/**
 * nsc_record_run - record a program from start to end.
 * @options: borrowed.
 * @result: filled in as far as the recording got, also on failure.
 * @diag: what failed.
 *
 * A program that does not join the session (not built for tracing) leaves no trace file. That is
 * not an error: see result->recorded.
 *
 * Returns 0 or -errno. With result->no_program, -ENOENT means that there is no such program. After
 * the program has started, an error means that the trace is incomplete; the program still runs to
 * its end. Context: changes signal dispositions of the process while it runs; one call at a time.
 */
int nsc_record_run(const struct nsc_record_options *options, struct nsc_record_result *result,
                   struct nsc_diag *diag);

#endif
