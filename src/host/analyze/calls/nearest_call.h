/*
 * nearest_call.h - from an instant to the nearest call of a function, forwards or backwards.
 *
 * Called by answer/. Reads chunk by chunk away from the instant, and no further than the call.
 */
#ifndef NSC_ANALYZE_CALLS_NEAREST_CALL_H
#define NSC_ANALYZE_CALLS_NEAREST_CALL_H

#include "analyze/calls/selection.h"

/* Where a call begins. */
struct nsc_nearest_call_place {
    uint64_t ticks;
    uint32_t thread, depth;
};

/**
 * nsc_nearest_call_find - the first call of a function that begins after an instant, or the last
 * before it.
 * @selection: threads and window: the call begins in them. A hidden function has no calls.
 * @function: canonical.
 * @ticks: calls that begin at it do not count.
 * Of calls that begin at the same tick that of the lowest thread, within a thread the first
 * (forwards) or the last. Calls that were not seen to begin are passed over.
 * Returns 0, -ENOENT if there is none, or -errno with @diag.
 */
int nsc_nearest_call_find(struct nsc_trace *t, const struct nsc_selection *selection,
                          uint32_t function, uint64_t ticks, bool forwards,
                          struct nsc_nearest_call_place *out, struct nsc_diag *diag);

#endif
