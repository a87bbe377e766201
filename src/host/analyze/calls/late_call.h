/*
 * late_call.h - the call that was open at an instant and returned later, but whose entry was not
 * seen.
 *
 * Called by answer/ where call_at.h finds nothing. Such calls are told as calls.h tells them: they
 * begin where the thread did, or its last gap.
 */
#ifndef NSC_ANALYZE_CALLS_LATE_CALL_H
#define NSC_ANALYZE_CALLS_LATE_CALL_H

#include "analyze/calls/call_at.h"

/**
 * nsc_late_find - the first call to end of those that were open at an instant without having been
 * seen to begin.
 * @from_ticks, @to_ticks, @depth, @callers_max, @out: as for nsc_at_find(); what it calls is not
 *                                                     known.
 * Reads some chunks, wherever the call lies: those in which the gap is that it begins at, in which
 * a call before it returned likewise, and in which it returns itself. If gaps may hide from the
 * index (gaps.h), those between are read, too; and a thread of which chunks are missing is from its
 * start. Where the index shows that there is none, nothing is read. Returns as nsc_at_find().
 */
int nsc_late_find(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks,
                  uint32_t depth, uint32_t callers_max, struct nsc_at *out, struct nsc_diag *diag);

#endif
