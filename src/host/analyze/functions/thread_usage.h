/*
 * thread_usage.h - resource usage of each thread, from its samples and states.
 *
 * Called by cli/. One pass over the notes of each thread; memory grows with the number of threads.
 */
#ifndef NSC_ANALYZE_FUNCTIONS_THREAD_USAGE_H
#define NSC_ANALYZE_FUNCTIONS_THREAD_USAGE_H

#include "analyze/calls/selection.h"

struct nsc_usage_row {
    uint32_t thread;
    uint64_t samples;
    uint64_t first_ns;   /* time of the first sample in the window, since the trace's origin */
    uint64_t sampled_ns; /* from the first to the last sample */
    uint32_t known;      /* bits 1 << enum nsc_sample_field; one sample gives only levels */
    /* Increase from the first sample to the last. If the thread began during the recording, the
     * first sample is all zeros, at its start. For the process's memory: the maximum. */
    uint64_t values[NSC_SAMPLE_FIELDS];
    bool has_states;
    /* From the first known state in the window to the end of the last; unknown and dead do not
     * count. */
    uint64_t states_from_ns, states_to_ns;
    /* Time in each state; undefined state numbers count as unknown. The state before the first
     * change and after the last one is taken from these changes. */
    uint64_t state_ns[NSC_STATES];
};

struct nsc_usage {
    struct nsc_usage_row *rows; /* selected threads with samples or states, by thread */
    size_t count;
};

/* nsc_usage_find - compute the usage of the selected threads. Returns 0 or -errno with @diag. Free
 * with nsc_usage_free(). */
int nsc_usage_find(struct nsc_trace *t, const struct nsc_selection *selection,
                   struct nsc_usage *out, struct nsc_diag *diag);
void nsc_usage_free(struct nsc_usage *usage);

#endif
