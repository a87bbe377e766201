/*
 * matching_calls.h - the complete calls of one thread that fit a wish, batch by batch, reading no
 * more of the trace than it takes.
 *
 * Called by query/, where the reader pulls. The calls are those of nsc_calls_scan() without window
 * and filter, with the same numbers: a wish chooses among them and changes none.
 */
#ifndef NSC_ANALYZE_CALLS_MATCHING_CALLS_H
#define NSC_ANALYZE_CALLS_MATCHING_CALLS_H

#include "analyze/calls/calls.h"

/* Which calls are wanted: those that fit all of these. */
struct nsc_call_wish {
    uint64_t from_ticks, to_ticks; /* begin at or after, before */
    uint32_t min_depth, max_depth;
    uint64_t number;          /* 0 = any */
    const uint8_t *functions; /* a byte per function id, 0 = not wanted; NULL = all; borrowed */
    bool numbers, parents; /* calls' and callers' numbers are needed: 0 may stand for them else */
};

/* Everything. */
void nsc_call_wish_init(struct nsc_call_wish *wish);

/*
 * What is known of a trace's threads from one reading to the next: where in each thread which call
 * is. Grows by eight bytes per chunk of the threads that are read.
 */
struct nsc_matching_calls_index;

/* @t: borrowed. Returns 0 or -ENOMEM. */
int nsc_matching_calls_index_new(struct nsc_trace *t, struct nsc_matching_calls_index **out);
void nsc_matching_calls_index_free(struct nsc_matching_calls_index *index);

struct nsc_matching_calls;

/**
 * nsc_matching_calls_open - begin to read.
 * @index: borrowed.
 * @wish: copied.
 * Returns 0 or -errno with @diag.
 */
int nsc_matching_calls_open(struct nsc_matching_calls_index *index, uint32_t thread,
                            const struct nsc_call_wish *wish, struct nsc_matching_calls **out,
                            struct nsc_diag *diag);

/**
 * nsc_matching_calls_next - the next calls, as they end; valid until the next call of this.
 * @count: may be 0 though there is more to come: a chance for the caller to give up.
 * Returns 1, 0 at the end, or -errno with @diag.
 */
int nsc_matching_calls_next(struct nsc_matching_calls *p, const struct nsc_call **calls,
                            size_t *count, struct nsc_diag *diag);
void nsc_matching_calls_close(struct nsc_matching_calls *p);

#endif
