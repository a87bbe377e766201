/*
 * thread_merge.h - merge the events of several threads in order of time.
 *
 * Called by replay.c and calls.c. Holds one batch and the stack of open calls per live thread;
 * nothing of threads that have ended or not begun.
 */
#ifndef NSC_ANALYZE_CALLS_THREAD_MERGE_H
#define NSC_ANALYZE_CALLS_THREAD_MERGE_H

#include "analyze/calls/selection.h"

struct nsc_merge;

struct nsc_merged {
    uint32_t thread; /* index in the trace */
    struct nsc_event event;
    /* The same thread's next event; NULL at its end. Valid until the next call. */
    const struct nsc_event *next;
};

/**
 * nsc_merge_open - begin with the selected threads.
 * @selection: borrowed until nsc_merge_close().
 * @max_depth: calls with at least this many open calls below them are omitted; UINT32_MAX = none.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_merge_open(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t max_depth,
                   struct nsc_merge **out, struct nsc_diag *diag);

/**
 * nsc_merge_next - return the earliest remaining event; at equal ticks the thread with the lower
 * index comes first. Returns 1, 0 at the end, or -errno with @diag filled.
 */
int nsc_merge_next(struct nsc_merge *m, struct nsc_merged *out, struct nsc_diag *diag);
void nsc_merge_close(struct nsc_merge *m);

#endif
