/*
 * sandwich.h - the direct callers and callees of one function.
 *
 * Called by viewer/engine/ and cli/. One pass over the selected events; memory grows with the
 * number of functions.
 */
#ifndef NSC_ANALYZE_PATHS_SANDWICH_H
#define NSC_ANALYZE_PATHS_SANDWICH_H

#include "analyze/calls/selection.h"

/* The calls between the function and one of its callers or callees. */
struct nsc_sandwich_row {
    uint32_t function; /* the caller or callee; NSC_NO_ID: none, or unknown */
    uint64_t calls;
    uint64_t total_ticks; /* in these calls; a call nested in another one of the same pair adds 0 */
};

struct nsc_sandwich {
    uint64_t calls, total_ticks, self_ticks;    /* of the function itself, as defined in report.h */
    struct nsc_sandwich_row *callers, *callees; /* largest total first, then by name */
    uint32_t caller_count, callee_count;
};

/**
 * nsc_sandwich_make - count the direct callers and callees of a function.
 * @function: canonical id.
 * @out: filled on success; free with nsc_sandwich_free().
 * A call that returns without a recorded entry counts as its caller's callee; its own callees are
 * unknown.
 * Returns 0 or -errno with @diag.
 */
int nsc_sandwich_make(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t function,
                      struct nsc_sandwich *out, struct nsc_diag *diag);
void nsc_sandwich_free(struct nsc_sandwich *s);

#endif
