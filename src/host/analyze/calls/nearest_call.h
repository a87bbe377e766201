/*
 * nearest_call.h - find the call of a function nearest to an instant, forwards or backwards.
 *
 * Called by viewer/engine/. Reads chunk by chunk away from the instant, and not beyond the call.
 */
#ifndef NSC_ANALYZE_CALLS_NEAREST_CALL_H
#define NSC_ANALYZE_CALLS_NEAREST_CALL_H

#include "analyze/calls/selection.h"

/* The start of a call. */
struct nsc_nearest_call_place {
    uint64_t ticks;
    uint32_t thread, depth;
};

/**
 * nsc_nearest_call_find - find the first call of a function that begins after an instant, or the
 * last that begins before it.
 * @selection: threads and window in which the call must begin. A hidden function has no calls.
 * @function: canonical id.
 * @ticks: the instant; calls that begin exactly at it do not count.
 * Of calls that begin at the same tick, the lowest thread index wins; within a thread the first
 * call (forwards) or the last (backwards). Calls without a recorded entry are skipped.
 * Returns 0, -ENOENT if there is no such call, or -errno with @diag.
 */
int nsc_nearest_call_find(struct nsc_trace *t, const struct nsc_selection *selection,
                          uint32_t function, uint64_t ticks, bool forwards,
                          struct nsc_nearest_call_place *out, struct nsc_diag *diag);

#endif
