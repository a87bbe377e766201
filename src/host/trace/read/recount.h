/*
 * recount.h - what calls come to, worked out from the events alone, and held against the totals,
 * durations and summary that a chunk's head or a node of the index claims.
 *
 * Used by trace_verify.c. Slow and plain on purpose: it shares nothing with the code that makes
 * them.
 */
#ifndef NSC_TRACE_READ_RECOUNT_H
#define NSC_TRACE_READ_RECOUNT_H

#include "trace/read/reader.h"

#define NSC_RECOUNT_DEPTHS 512 /* docs/format.md section 4 */

/* So many calls of a function in a bucket; key: function << 9 | bucket. */
struct nsc_recount_count {
    uint64_t key, calls;
};

struct nsc_recount {
    struct nsc_chunk_total *sums; /* by canonical function; their own counts are not used */
    uint32_t sum_count, sum_room;
    struct nsc_recount_count *counts; /* by key */
    uint32_t count_count, count_room;
    /* While calls are added: index + 1 by hash of key, in sums for bucket 511, else in counts. */
    uint32_t *slots;
    uint32_t slot_count; /* a power of two, at most half of them in use; or 0 */
    /* The longest call of each depth and span, if they are wanted. */
    bool wants_rows;
    uint32_t shift;
    struct nsc_chunk_row *rows;
    uint32_t row_count, row_room;
    uint32_t row_of[NSC_RECOUNT_DEPTHS]; /* index + 1 of a depth's newest row, 0 = none */
};

/* An ended call; function is canonical. */
struct nsc_recount_call {
    uint64_t start_ticks, end_ticks, self_ticks;
    uint32_t function, depth;
    bool outermost, unwound;
};

/* Begin anew; @head says whether and how rows are wanted. */
void nsc_recount_begin(struct nsc_recount *a, const struct nsc_chunk_head *head);
void nsc_recount_free(struct nsc_recount *a);

/* A call has ended, in order of ends: for the rows only, and for the rest. Return 0 or -ENOMEM. */
int nsc_recount_add_row(struct nsc_recount *a, const struct nsc_recount_call *call);
int nsc_recount_add_call(struct nsc_recount *a, const struct nsc_recount_call *call);
/* Put together what nsc_recount_add_call() has added, before it is used. */
void nsc_recount_settle(struct nsc_recount *a);
/* Add what another account has but the rows; both are settled, and remain so. 0 or -ENOMEM. */
int nsc_recount_merge(struct nsc_recount *a, const struct nsc_recount *more);

/**
 * nsc_recount_find_fault - compare with what a head or node claims.
 * @several: by canonical function, whether several ids stand for it: how their recursion counts in
 *           the total cannot be told.
 * Returns the name of a section that is wrong; NULL if none is. -ENOMEM counts as wrong.
 */
const char *nsc_recount_find_fault(struct nsc_recount *a, const struct nsc_trace *t,
                                   const struct nsc_chunk_head *head, const bool *several);

#endif
