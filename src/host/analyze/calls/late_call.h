/*
 * late_call.h - the call that was open at an instant and returned later, but whose entry was not
 * recorded.
 *
 * Called by viewer/engine/ when call_at.h finds no call. Such a call starts where calls.h defines
 * it: at the start of its thread, or at the last gap.
 */
#ifndef NSC_ANALYZE_CALLS_LATE_CALL_H
#define NSC_ANALYZE_CALLS_LATE_CALL_H

#include "analyze/calls/call_at.h"

/**
 * nsc_late_find - find, among the calls without a recorded entry that were open at an instant, the
 * one that ends first.
 * @from_ticks, @to_ticks, @depth, @callers_max, @out: as for nsc_at_find(). The call's callees are
 *     not known.
 * Reads a few chunks, wherever the call lies: the chunk of the gap where the call starts, the chunk
 * where an earlier call returned late (if any), and the chunk where the call returns. If the index
 * may not show all gaps (nsc_gaps_may_hide()), the chunks in between are read as well. A thread
 * with missing chunks is read from its start. Reads nothing if the index shows that there is no
 * such call.
 * Returns as nsc_at_find().
 */
int nsc_late_find(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks,
                  uint32_t depth, uint32_t callers_max, struct nsc_at *out, struct nsc_diag *diag);

#endif
