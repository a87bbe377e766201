/*
 * left_out.h - the functions that a recording left out, the reasons, and estimates of their calls.
 *
 * Called by cli/, viewer/engine/ and formats/ for every analysis: a function that is missing from a
 * trace must not look as if it had not run.
 */
#ifndef NSC_ANALYZE_CALLS_LEFT_OUT_H
#define NSC_ANALYZE_CALLS_LEFT_OUT_H

#include "analyze/calls/selection.h"

/* Reasons are values of enum nsc_left_out_reason; larger numbers count as 0. */

/* A function that was left out in the window, of one process or of all (NSC_NO_ID). */
struct nsc_left_out_row {
    uint32_t function, process;
    uint32_t reasons;   /* bits 1 << enum nsc_left_out_reason */
    uint32_t known;     /* which of the sums below are valid: NSC_LEFT_OUT_* */
    uint32_t estimated; /* which of them are estimates rather than counts */
    struct nsc_estimate calls, total_ns, self_ns;
};

struct nsc_left_out_list {
    struct nsc_left_out_row *rows; /* by function, then process */
    size_t count;
    uint32_t functions[NSC_LEFT_OUT_REASONS];  /* number of functions, by reason */
    uint32_t all_functions;                    /* for any reason, each function counted once */
    uint64_t nothing_ns[NSC_LEFT_OUT_REASONS]; /* time in which no function was recorded, by
                                                * reason */
    double worst;  /* largest relative standard error of estimated calls or totals */
    bool unplaced; /* some estimates also cover threads that are not selected; they are omitted */
};

/**
 * nsc_left_out_find - list what a recording left out, within a selection.
 * An estimate for a period that only partly overlaps the window is scaled to the overlap. Hidden
 * functions, and processes without a selected thread, are not listed. Estimates are made for a
 * whole process (or for all processes): they are given only if all its threads are selected.
 * @out: free with nsc_left_out_free().
 * Returns 0 or -ENOMEM with @diag.
 */
int nsc_left_out_find(const struct nsc_trace *t, const struct nsc_selection *selection,
                      struct nsc_left_out_list *out, struct nsc_diag *diag);
void nsc_left_out_free(struct nsc_left_out_list *list);

/* Number of events that the program emitted and that were not recorded for @reason, in the whole
 * recording, as counted by the recorder. */
uint64_t nsc_left_out_events(const struct nsc_trace *t, uint32_t reason);

/* Scale an estimate by @by, from 0 to 1; saturates. */
struct nsc_estimate nsc_left_out_scale(const struct nsc_estimate *e, double by);

/* Add @more to @to. Errors add up like those of independent quantities. */
void nsc_left_out_add(struct nsc_estimate *to, const struct nsc_estimate *more);

#endif
