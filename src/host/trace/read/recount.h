/*
 * recount.h - recompute totals, durations and summary from the events, and compare them with those
 * that are stored in a chunk's head or an index node.
 *
 * Used by trace_verify.c. Slow and simple on purpose: it shares no code with the writer.
 */
#ifndef NSC_TRACE_READ_RECOUNT_H
#define NSC_TRACE_READ_RECOUNT_H

#include "trace/read/reader.h"

#define NSC_RECOUNT_DEPTHS 512 /* docs/format.md section 4 */

/* Number of calls of a function in a bucket; key: function << 9 | bucket. */
struct nsc_recount_count {
    uint64_t key, calls;
};

struct nsc_recount {
    struct nsc_chunk_total *sums; /* by canonical function; their own counts are not used */
    uint32_t sum_count, sum_room;
    struct nsc_recount_count *counts; /* by key */
    uint32_t count_count, count_room;
    /* Hash table while calls are added: index + 1 by key, in sums for bucket 511, else in counts.
     */
    uint32_t *slots;
    uint32_t slot_count; /* a power of two, at most half in use; or 0 */
    /* The longest call of each depth and span, if wants_rows. */
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

/* Reset. @head determines whether rows are computed, and the length of their spans. */
void nsc_recount_begin(struct nsc_recount *a, const struct nsc_chunk_head *head);
void nsc_recount_free(struct nsc_recount *a);

/* Add an ended call to the rows, or to sums and counts. Add calls in the order of their ends.
 * Return 0 or -ENOMEM. */
int nsc_recount_add_row(struct nsc_recount *a, const struct nsc_recount_call *call);
int nsc_recount_add_call(struct nsc_recount *a, const struct nsc_recount_call *call);
/* Sort and merge the sums and counts after the last nsc_recount_add_call(), before their use. */
void nsc_recount_settle(struct nsc_recount *a);
/* Add the sums and counts (not the rows) of another account. Both are settled and remain so.
 * Returns 0 or -ENOMEM. */
int nsc_recount_merge(struct nsc_recount *a, const struct nsc_recount *more);

/**
 * nsc_recount_find_fault - compare with the sections of a chunk head or node.
 * @several: by canonical function, whether it has aliases. Their total time is not compared: with
 *           recursion across aliases it is ambiguous.
 * Returns the name of a wrong section, or NULL. -ENOMEM counts as wrong.
 */
const char *nsc_recount_find_fault(struct nsc_recount *a, const struct nsc_trace *t,
                                   const struct nsc_chunk_head *head, const bool *several);

#endif
