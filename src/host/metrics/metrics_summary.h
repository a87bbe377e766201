/*
 * metrics_summary.h - how samples and states were taken, and how many came. For the trace and for
 * what users read at the end.
 */
#ifndef NSC_METRICS_METRICS_SUMMARY_H
#define NSC_METRICS_METRICS_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

enum nsc_metrics_source {
    NSC_METRICS_PERF,      /* perf_event_open */
    NSC_METRICS_PERF_USER, /* the same, of user mode only */
    NSC_METRICS_PROC,      /* /proc, as perf is not permitted */
};

struct nsc_metrics_summary {
    enum nsc_metrics_source source; /* of states, and unless by_program of samples */
    bool by_program;
    int perf_error;       /* why not (all of) perf, a negative errno; 0: all of it */
    uint64_t interval_ns; /* of CPU time, from sample to sample */
    uint64_t due, taken;  /* samples that there should be, and those that came */
    uint64_t lost;        /* records of samples and switches that found no room */
    uint32_t threads;     /* looked at */
    uint32_t missed;      /* ended, or the recording did, before it was their turn */
    uint32_t refused;     /* could not be, */
    int refused_error;    /* because of this, the last time; a negative errno */
};

#endif
