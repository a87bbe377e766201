/*
 * end_by_name.h - handles exits that name the function but not its position on the stack. Used by
 * importers.
 */
#ifndef NSC_FORMATS_IMPORT_END_BY_NAME_H
#define NSC_FORMATS_IMPORT_END_BY_NAME_H

#include "trace/write/lane.h"

/**
 * nsc_end_by_name - end the innermost open call of @function.
 * @unwound: the call does not return.
 * @gap: events of the thread were lost earlier.
 *
 * Calls inside it are unwound: their exits are missing. If no call of @function is open, a late
 * exit is written. Without @gap, that call began before the trace, so all open calls are unwound
 * first. With @gap, it may have begun in the gap, above the open calls, so these stay open.
 * Returns whether a call of @function was open.
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
