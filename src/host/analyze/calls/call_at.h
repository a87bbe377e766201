/*
 * call_at.h - the call that is open at an instant, and its callers, without reading what is far
 * from it.
 *
 * Called by answer/. Reads the chunks around the instant and those in which the call begins and
 * ends; what lies between is passed over by what the chunks' index and heads tell.
 */
#ifndef NSC_ANALYZE_CALLS_CALL_AT_H
#define NSC_ANALYZE_CALLS_CALL_AT_H

#include "analyze/calls/calls.h"

/* The direct callees of a call that spans more chunks than this are not counted. */
#define NSC_AT_CHUNKS_MAX 64u

struct nsc_at_frame {
    uint64_t start_ticks, end_ticks;
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_* */
};

struct nsc_at {
    struct nsc_call call;
    uint64_t children; /* direct callees, if known */
    bool children_known;
    struct nsc_at_frame *callers; /* the innermost @caller_count of them, outermost first */
    uint32_t caller_count, callers_left_out;
};

/**
 * nsc_at_find - the call that is open at an instant.
 * @from_ticks, @to_ticks: the instant: all ticks that show as the same time. A call counts that is
 *                         open behind it, else the last that began and ended in it.
 * @depth: number of open calls below the one that is meant.
 * @function: only a call of this one; NSC_NO_ID: of any.
 * @callers_max: so many callers are told, the innermost ones.
 * @out: filled on success; free with nsc_at_free().
 * Calls that returned without having been entered are not found: when they began is not known.
 * Returns 0, -ENOENT if there is none, or -errno with @diag.
 */
int nsc_at_find(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks,
                uint32_t depth, uint32_t function, uint32_t callers_max, struct nsc_at *out,
                struct nsc_diag *diag);
void nsc_at_free(struct nsc_at *at);

#endif
