/*
 * gaps.h - where a recording lost events: what its results cannot tell.
 *
 * Called by cli/, query/, reader/ and late_call.c. Reads the events of threads that lost any, and
 * of those nothing but what lies between their first loss and their last; a trace without losses
 * costs nothing.
 */
#ifndef NSC_ANALYZE_CALLS_GAPS_H
#define NSC_ANALYZE_CALLS_GAPS_H

#include "analyze/calls/selection.h"

struct nsc_gap {
    uint32_t thread; /* index in the trace; NSC_NO_ID: of threads that are not in it */
    uint64_t ticks;  /* NSC_GAP_UNPLACED: nobody knows when */
    uint64_t lost;   /* events, 0 if unknown */
};

#define NSC_GAP_UNPLACED UINT64_MAX

struct nsc_gaps {
    uint64_t lost;        /* events lost on the selected threads and on none, window or not */
    uint64_t placed;      /* those of them that the gaps below tell */
    uint64_t count;       /* gaps that lie in the window */
    uint64_t first_ticks; /* the earliest of them, if there are any */
};

/* Whether a chunk may have gaps though it tells no lost events: of what a budget turned away, where
 * a longer recording was cut, of unknown size after recovery. A file that still grows may say so
 * only at its end. */
bool nsc_gaps_may_hide(const struct nsc_trace *t);

/* Called for each gap, thread by thread, in the order of time within each. */
typedef void (*nsc_gap_fn)(void *context, const struct nsc_gap *gap);

/**
 * nsc_gaps_find - look for the gaps of a selection.
 * @fn: may be NULL.
 * @out: filled on success.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_gaps_find(struct nsc_trace *t, const struct nsc_selection *selection, nsc_gap_fn fn,
                  void *context, struct nsc_gaps *out, struct nsc_diag *diag);

/**
 * nsc_gaps_list - all losses of a trace, so that their sum is right.
 * @rows: receives the gaps, thread by thread, and behind them what was lost nobody knows when; for
 *        free().
 * Returns 0 or -errno with @diag.
 */
int nsc_gaps_list(struct nsc_trace *t, struct nsc_gap **rows, uint32_t *count,
                  struct nsc_diag *diag);

#endif
