/*
 * sandwich.h - one function from both sides: who called it, and what it called.
 *
 * Called by answer/ and cli/. One pass over the selected events; memory by the number of functions.
 */
#ifndef NSC_ANALYZE_PATHS_SANDWICH_H
#define NSC_ANALYZE_PATHS_SANDWICH_H

#include "analyze/calls/selection.h"

/* Calls between the function and one that called it, or that it called. */
struct nsc_sandwich_row {
    uint32_t function; /* the other one; NSC_NO_ID: none, or not known */
    uint64_t calls;
    uint64_t total_ticks; /* in these calls; one inside another of the same two adds nothing */
};

struct nsc_sandwich {
    uint64_t calls, total_ticks, self_ticks;    /* of the function, as in report.h */
    struct nsc_sandwich_row *callers, *callees; /* by total, largest first, then by name */
    uint32_t caller_count, callee_count;
};

/**
 * nsc_sandwich_make - count who calls a function, and what it calls, directly.
 * @function: canonical.
 * @out: filled on success; free with nsc_sandwich_free().
 * A call that returns without having been entered counts as its caller's callee; what it called is
 * not known.
 * Returns 0 or -errno with @diag.
 */
int nsc_sandwich_make(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t function,
                      struct nsc_sandwich *out, struct nsc_diag *diag);
void nsc_sandwich_free(struct nsc_sandwich *s);

#endif
