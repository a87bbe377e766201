/*
 * fast_path.h - fast path of the event loop: handles plain events of sleds (fast_path_match.h) that
 * follow each other within NSC_LANE_DELTA_SHORT; these are most events. Called by event_loop.c,
 * which continues where it stops.
 */
#ifndef NSC_RECORD_STACK_FAST_PATH_H
#define NSC_RECORD_STACK_FAST_PATH_H

#include "record/stack/fast_path_match.h"

/**
 * nsc_fast_path_run - process events from @slot to before @end, which is not after p->end.
 * @run: of the lane, with room for one event per slot, and for two if entries can mark their calls
 *       as returned.
 * @spare: is reduced by the number of slots that held two events.
 * @coming: see plain_times().
 * Returns the first slot that was not processed; its event may still be plain.
 */
const uint64_t *nsc_fast_path_run(const struct nsc_plain *p, struct nsc_lane_run *run,
                                  const uint64_t *slot, const uint64_t *end, size_t *spare,
                                  uint64_t *coming);

#endif
