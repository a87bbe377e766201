/*
 * thread_usage.h - what each thread took of the machine, by its samples and states.
 *
 * Called by cli/. One pass over the notes of each thread; memory by the number of threads.
 */
#ifndef NSC_ANALYZE_FUNCTIONS_THREAD_USAGE_H
#define NSC_ANALYZE_FUNCTIONS_THREAD_USAGE_H

#include "analyze/calls/selection.h"

struct nsc_usage_row {
    uint32_t thread;
    uint64_t samples;
    uint64_t first_ns;   /* when the first sample of the window was, since the trace's origin */
    uint64_t sampled_ns; /* from that one to the last */
    uint32_t known;      /* bits 1 << enum nsc_sample_field; one sample tells the levels only */
    /* What was added from the first sample to the last (of a thread that
     * began in the recording, the first is of zeros at its start); of the process's memory, the
     * most. */
    uint64_t values[NSC_SAMPLE_FIELDS];
    bool has_states;
    /* From the first known state of the window to the last one's end: neither unknown nor dead. */
    uint64_t states_from_ns, states_to_ns;
    /* How long the thread was in each state; other numbers count as unknown. What it did before
     * its first change and after the last is known from these. */
    uint64_t state_ns[NSC_STATES];
};

struct nsc_usage {
    struct nsc_usage_row *rows; /* of selected threads with samples or states, by thread */
    size_t count;
};

/* Returns 0 or -errno with @diag. Free with nsc_usage_free(). */
int nsc_usage_find(struct nsc_trace *t, const struct nsc_selection *selection,
                   struct nsc_usage *out, struct nsc_diag *diag);
void nsc_usage_free(struct nsc_usage *usage);

#endif
