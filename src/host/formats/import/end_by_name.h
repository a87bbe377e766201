/*
 * end_by_name.h - an end that says which function ends, and nothing of the stack. Used by
 * importers.
 */
#ifndef NSC_FORMATS_IMPORT_END_BY_NAME_H
#define NSC_FORMATS_IMPORT_END_BY_NAME_H

#include "trace/write/lane.h"

/**
 * nsc_end_by_name - a call of @function ends: the innermost open one; calls inside it ended without
 * being seen.
 * @unwound: it does not return.
 * @gap: events of the thread were lost before.
 *
 * When none is open, it had begun before the trace, below all that are open, or, with @gap,
 * perhaps in the gap and above them. Returns whether one was open.
 */
static inline bool nsc_end_by_name(struct nsc_lane *lane, uint64_t ticks, uint32_t function,
                                   bool unwound, bool gap)
{
    bool open = nsc_lane_open_calls(lane, function) > 0;
    const struct nsc_lane_frame *top;

    while ((open || !gap) && (top = nsc_lane_top(lane)) != NULL) {
        if (top->function != function) {
            nsc_lane_unwind(lane, ticks);
            continue;
        }
        if (unwound)
            nsc_lane_unwind(lane, ticks);
        else
            nsc_lane_exit(lane, ticks);
        return true;
    }
    nsc_lane_late_exit(lane, ticks, function);
    return false;
}

#endif
