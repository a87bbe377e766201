/*
 * call_at.h - the call that is open at an instant, and its callers, found without reading the whole
 * thread.
 *
 * Called by viewer/engine/. Reads the chunks around the instant and the chunks in which the call
 * begins and ends. Skips the chunks in between, using the chunk index and the chunk heads.
 */
#ifndef NSC_ANALYZE_CALLS_CALL_AT_H
#define NSC_ANALYZE_CALLS_CALL_AT_H

#include "analyze/calls/calls.h"

/* Direct callees are not counted for a call that spans more chunks than this. */
#define NSC_AT_CHUNKS_MAX 64u

struct nsc_at_frame {
    uint64_t start_ticks, end_ticks;
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_* */
};

struct nsc_at {
    struct nsc_call call;
    uint64_t children; /* number of direct callees, if children_known */
    bool children_known;
    struct nsc_at_frame *callers; /* the innermost callers, outermost of them first */
    uint32_t caller_count, callers_left_out;
};

/**
 * nsc_at_find - find the call that is open at an instant.
 * @from_ticks, @to_ticks: the instant: all ticks that are displayed as the same time. Finds a call
 *                         that is still open after it, else the last call that began and ended
 *                         within it.
 * @depth: number of open calls below the call to find.
 * @function: find only a call of this function; NSC_NO_ID: of any function.
 * @callers_max: maximum number of callers to return; the innermost ones are kept.
 * @out: filled on success; free with nsc_at_free().
 * Does not find calls that returned without a recorded entry (LATE_EXIT): their start is unknown.
 * Returns 0, -ENOENT if there is no such call, or -errno with @diag.
 */
int nsc_at_find(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks,
                uint32_t depth, uint32_t function, uint32_t callers_max, struct nsc_at *out,
                struct nsc_diag *diag);
void nsc_at_free(struct nsc_at *at);

#endif
