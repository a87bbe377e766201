/*
 * gaps.h - gaps: the places where a recording lost events.
 *
 * Called by cli/, query/, libreader/, formats/, viewer/engine/ and late_call.c. Reads only the
 * threads that lost events, and of those only the range from their first loss to their last. A
 * trace without losses costs nothing.
 */
#ifndef NSC_ANALYZE_CALLS_GAPS_H
#define NSC_ANALYZE_CALLS_GAPS_H

#include "analyze/calls/selection.h"

struct nsc_gap {
    uint32_t thread; /* index in the trace; NSC_NO_ID: threads that are not in the trace */
    uint64_t ticks;  /* NSC_GAP_UNPLACED: position unknown */
    uint64_t lost;   /* number of events, 0 if unknown */
};

#define NSC_GAP_UNPLACED UINT64_MAX

struct nsc_gaps {
    uint64_t lost;   /* events lost on selected and unknown threads, in or outside the window */
    uint64_t placed; /* how many of them the gaps below account for */
    uint64_t count;  /* number of gaps in the window */
    uint64_t first_ticks; /* the earliest gap, if count > 0 */
};

/* Whether a chunk may contain gaps although its index entry states no lost events. Such gaps are
 * events that the budget rejected, the cut where a longer recording was shortened, and losses of
 * unknown size after recovery. A file that is still being written may state them only at its
 * end. */
bool nsc_gaps_may_hide(const struct nsc_trace *t);

/* Called for each gap, thread by thread, in order of time within each thread. */
typedef void (*nsc_gap_fn)(void *context, const struct nsc_gap *gap);

/**
 * nsc_gaps_find - find the gaps within a selection.
 * @fn: called for each gap; may be NULL.
 * @out: filled on success.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_gaps_find(struct nsc_trace *t, const struct nsc_selection *selection, nsc_gap_fn fn,
                  void *context, struct nsc_gaps *out, struct nsc_diag *diag);

/**
 * nsc_gaps_list - list all losses of a trace; the rows add up to the total number of lost events.
 * @rows: receives the gaps, thread by thread, followed by the losses of unknown position; release
 *        with free().
 * Returns 0 or -errno with @diag.
 */
int nsc_gaps_list(struct nsc_trace *t, struct nsc_gap **rows, uint32_t *count,
                  struct nsc_diag *diag);

#endif
