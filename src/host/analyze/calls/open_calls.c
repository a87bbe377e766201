/* open_calls.c - the slow path of tracking a thread's open calls; see open_calls.h. */
#include "analyze/calls/open_calls.h"

#include <errno.h>
#include <stdlib.h>

int nsc_call_lane_grow(struct nsc_call_lane *lane)
{
    size_t max = lane->depth_max * 2 + 64;
    struct nsc_open_call *stack = reallocarray(lane->stack, max, sizeof(*stack));

    if (!stack)
        return -ENOMEM;
    lane->stack = stack;
    lane->depth_max = max;
    return 0;
}

void nsc_call_lane_begin_epoch(struct nsc_call_lane *lane, uint64_t ticks)
{
    lane->epoch_depth = lane->depth;
    lane->epoch_ticks = ticks;
    lane->epoch_child_ticks = lane->stack[lane->depth].child_ticks;
}

int nsc_call_lane_begin(struct nsc_call_lane *lane, uint32_t thread, uint64_t start_ticks,
                        uint64_t from_ticks)
{
    if (lane->depth_max == 0 && nsc_call_lane_grow(lane) < 0)
        return -ENOMEM;
    lane->thread = thread;
    lane->from_ticks = from_ticks;
    lane->depth = 0;
    lane->numbers = 0;
    lane->stack[0] = (struct nsc_open_call){.function = NSC_NO_ID};
    nsc_call_lane_begin_epoch(lane, start_ticks);
    return 0;
}

void nsc_call_lane_free(struct nsc_call_lane *lane)
{
    free(lane->stack);
    *lane = (struct nsc_call_lane){0};
}

void nsc_call_lane_end_late(struct nsc_call_lane *lane, const struct nsc_event *e,
                            struct nsc_call *ended)
{
    struct nsc_open_call *caller = &lane->stack[lane->depth];
    uint64_t start;

    if (lane->depth != lane->epoch_depth) /* no gap was recorded here: the trace is damaged */
        nsc_call_lane_begin_epoch(lane, e->ticks);
    start = lane->epoch_ticks > lane->from_ticks ? lane->epoch_ticks : lane->from_ticks;
    start = start < e->ticks ? start : e->ticks;
    *ended = (struct nsc_call){
        .thread = lane->thread,
        .function = e->function,
        .caller = caller->function,
        .depth = (uint32_t)lane->depth,
        .bound = NSC_BOUND_START | nsc_model_end_bound(e),
        .number = ++lane->numbers,
        .parent = caller->number,
        .start_ticks = start,
        .end_ticks = e->ticks,
        .self_ticks = e->ticks - start - (caller->child_ticks - lane->epoch_child_ticks),
    };
    caller->child_ticks = lane->epoch_child_ticks + (e->ticks - start);
    caller->children++;
}
