/*
 * matching_calls.h - the complete calls of one thread that match a filter, batch by batch, reading
 * no more of the trace than needed.
 *
 * Called by query/, which pulls batches. The calls and their numbers are those of nsc_calls_scan()
 * without window and filter: the filter selects calls and changes none.
 */
#ifndef NSC_ANALYZE_CALLS_MATCHING_CALLS_H
#define NSC_ANALYZE_CALLS_MATCHING_CALLS_H

#include "analyze/calls/calls.h"

/* A call filter: a call matches if it meets all conditions. */
struct nsc_call_wish {
    uint64_t from_ticks, to_ticks; /* start time: from_ticks <= start < to_ticks */
    uint32_t min_depth, max_depth;
    uint64_t number;          /* number of the call in its thread; 0 = any */
    const uint8_t *functions; /* one byte per function id, 0 = not wanted; NULL = all; borrowed */
    /* the reader needs numbers of calls, of their parents; else they may be 0 */
    bool numbers, parents;
};

/* A filter that matches every call. */
void nsc_call_wish_init(struct nsc_call_wish *wish);

/*
 * What is known of a trace's threads, kept from one reading to the next: the call numbers at which
 * each chunk begins. Takes eight bytes per chunk of the threads that are read.
 */
struct nsc_matching_calls_index;

/* @t: borrowed. Returns 0 or -ENOMEM. */
int nsc_matching_calls_index_new(struct nsc_trace *t, struct nsc_matching_calls_index **out);
void nsc_matching_calls_index_free(struct nsc_matching_calls_index *index);

struct nsc_matching_calls;

/**
 * nsc_matching_calls_open - begin to read the matching calls of a thread.
 * @index: borrowed.
 * @wish: copied.
 * Returns 0 or -errno with @diag.
 */
int nsc_matching_calls_open(struct nsc_matching_calls_index *index, uint32_t thread,
                            const struct nsc_call_wish *wish, struct nsc_matching_calls **out,
                            struct nsc_diag *diag);

/**
 * nsc_matching_calls_next - return the next batch, in order of the calls' ends. The batch is valid
 * until the next call of this function.
 * @count: may be 0 although more calls follow, so that the caller can stop early.
 * Returns 1, 0 at the end, or -errno with @diag.
 */
int nsc_matching_calls_next(struct nsc_matching_calls *p, const struct nsc_call **calls,
                            size_t *count, struct nsc_diag *diag);
void nsc_matching_calls_close(struct nsc_matching_calls *p);

#endif
