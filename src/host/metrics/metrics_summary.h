/*
 * metrics_summary.h - how samples and states were taken, and their number. Stored in the trace and
 * shown to users at the end.
 */
#ifndef NSC_METRICS_METRICS_SUMMARY_H
#define NSC_METRICS_METRICS_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

enum nsc_metrics_source {
    NSC_METRICS_PERF,      /* perf_event_open */
    NSC_METRICS_PERF_USER, /* perf_event_open, user mode only */
    NSC_METRICS_PROC,      /* /proc, as perf is not permitted */
};

struct nsc_metrics_summary {
    enum nsc_metrics_source source; /* of states; unless by_program, also of samples */
    bool by_program;
    int perf_error;       /* why perf is not (fully) available, a negative errno; 0: it is */
    uint64_t interval_ns; /* CPU time between samples */
    uint64_t due, taken;  /* number of samples expected and taken */
    uint64_t lost;        /* records of samples and switches lost because a ring was full */
    uint32_t threads;     /* number of threads observed */
    uint32_t missed;      /* the thread or the recording ended before the thread was opened */
    uint32_t refused;     /* threads that could not be observed, */
    int refused_error;    /* and the last reason, a negative errno */
};

#endif
