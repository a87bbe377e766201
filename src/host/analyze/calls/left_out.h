/*
 * left_out.h - which functions a recording left out, why, and what is estimated of their calls.
 *
 * Called by cli/, beside every analysis: what is not in a trace must not look as if it had not run.
 */
#ifndef NSC_ANALYZE_CALLS_LEFT_OUT_H
#define NSC_ANALYZE_CALLS_LEFT_OUT_H

#include "analyze/calls/selection.h"

/* Reasons are told apart by enum nsc_left_out_reason; larger numbers count as 0. */

/* A function (in a process, or in all: NSC_NO_ID) that was left out in the window. */
struct nsc_left_out_row {
    uint32_t function, process;
    uint32_t reasons;   /* bits 1 << enum nsc_left_out_reason */
    uint32_t known;     /* which sums below there are: NSC_LEFT_OUT_* */
    uint32_t estimated; /* which of them were not just counted */
    struct nsc_estimate calls, total_ns, self_ns;
};

struct nsc_left_out_list {
    struct nsc_left_out_row *rows; /* by function, then process */
    size_t count;
    uint32_t functions[NSC_LEFT_OUT_REASONS];  /* by reason */
    uint32_t all_functions;                    /* for whatever reason, each once */
    uint64_t nothing_ns[NSC_LEFT_OUT_REASONS]; /* by reason: how long no function was recorded */
    double worst;  /* largest standard error of estimated calls or totals, as a part of them */
    bool unplaced; /* there are estimates, but for more than the selected threads: not given */
};

/**
 * nsc_left_out_find - what of a selection was left out.
 * Estimates of a time that lies in the window in part count in that proportion. Hidden functions,
 * and processes without a selected thread, are not told. Estimates are of a whole process (or all):
 * they are given if all its threads are selected.
 * @out: free with nsc_left_out_free().
 * Returns 0 or -ENOMEM with @diag.
 */
int nsc_left_out_find(const struct nsc_trace *t, const struct nsc_selection *selection,
                      struct nsc_left_out_list *out, struct nsc_diag *diag);
void nsc_left_out_free(struct nsc_left_out_list *list);

/* Events that the program emitted and that were not recorded for that reason, in the whole
 * recording; by the recorder's own count. */
uint64_t nsc_left_out_events(const struct nsc_trace *t, uint32_t reason);

/* An estimate times @by, from 0 to 1; saturates. */
struct nsc_estimate nsc_left_out_scale(const struct nsc_estimate *e, double by);

/* @to is also as much as @more: errors add up as those of independent quantities. */
void nsc_left_out_add(struct nsc_estimate *to, const struct nsc_estimate *more);

#endif
