/*
 * mark_merge.h - the marks of the selected threads in order of time.
 *
 * Called by replay.c. Holds one mark of each thread that has any left.
 */
#ifndef NSC_ANALYZE_REPLAY_MARK_MERGE_H
#define NSC_ANALYZE_REPLAY_MARK_MERGE_H

#include "analyze/calls/selection.h"

struct nsc_mark_feed;

/**
 * nsc_mark_feed_open - begin with the earliest mark in the window.
 * @selection: only its window and threads are used; borrowed until nsc_mark_feed_close().
 * Returns 0 or -errno with @diag filled.
 */
int nsc_mark_feed_open(struct nsc_trace *t, const struct nsc_selection *selection,
                       struct nsc_mark_feed **out, struct nsc_diag *diag);
void nsc_mark_feed_close(struct nsc_mark_feed *f);

/* The earliest remaining mark; of equal ones that of the thread with the lower index. NULL at the
 * end. Valid until the next call of nsc_mark_feed_pass(). */
const struct nsc_note *nsc_mark_feed_head(const struct nsc_mark_feed *f);
/* Time of the thread's next mark; UINT64_MAX: none. */
uint64_t nsc_mark_feed_ticks(const struct nsc_mark_feed *f, uint32_t thread);
/* Advance past the earliest mark. Returns 0 or -errno with @diag filled. */
int nsc_mark_feed_pass(struct nsc_mark_feed *f, struct nsc_diag *diag);

#endif
