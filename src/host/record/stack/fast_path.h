/*
 * fast_path.h - the loop for most of all events: plain ones of sleds (fast_path_match.h) that
 * follow each other within NSC_LANE_DELTA_SHORT. Called by event_loop.c, which goes on where it
 * stops.
 */
#ifndef NSC_RECORD_STACK_FAST_PATH_H
#define NSC_RECORD_STACK_FAST_PATH_H

#include "record/stack/fast_path_match.h"

/**
 * nsc_fast_path_run - take events from @slot to before @end, which is not behind p->end.
 * @run: the lane's, with room for an event a slot, and two where entries tell their exits.
 * @spare: is less afterwards by the slots that told two events.
 * @coming: see plain_times().
 * Returns the first slot that is anything else; its event may still be plain.
 */
const uint64_t *nsc_fast_path_run(const struct nsc_plain *p, struct nsc_lane_run *run,
                                  const uint64_t *slot, const uint64_t *end, size_t *spare,
                                  uint64_t *coming);

#endif
