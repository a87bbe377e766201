/*
 * open_calls.h - one thread's stack of open calls, updated event by event: turns events into
 * complete calls.
 *
 * Used by calls.c, matching_calls.c, late_call.c and libreader/. Stores only the open calls. The
 * cost per event here is the cost of listing calls, so the common path is inline.
 */
#ifndef NSC_ANALYZE_CALLS_OPEN_CALLS_H
#define NSC_ANALYZE_CALLS_OPEN_CALLS_H

#include <errno.h>

#include "trace/format/model.h"

/* A complete call. */
struct nsc_call {
    uint32_t thread; /* index in the trace */
    uint32_t function;
    uint32_t caller; /* function id, or NSC_NO_ID */
    uint32_t depth;  /* number of open calls below it */
    uint32_t bound;  /* NSC_BOUND_* */
    uint64_t number; /* position among the recorded calls of this thread, by entry, from 1 */
    uint64_t parent; /* number of the caller; 0 = none or unknown */
    uint64_t start_ticks, end_ticks; /* true start, even if before the window */
    uint64_t self_ticks;             /* inside the window and outside of callees */
    uint64_t children;               /* direct callees; 0 (unknown) without a recorded entry */
};

struct nsc_open_call {
    uint64_t start_ticks;
    uint64_t child_ticks;
    uint64_t children;
    uint64_t number; /* 0: not known yet (matching_calls.c) */
    uint32_t function;
    uint32_t bound;
};

/* stack[0] is not a call but represents the thread. report_state.h explains epochs. */
struct nsc_call_lane {
    struct nsc_open_call *stack;
    size_t depth, depth_max;
    size_t epoch_depth;
    uint64_t epoch_ticks;
    uint64_t epoch_child_ticks;
    uint64_t numbers; /* call numbers assigned so far */
    uint64_t from_ticks;
    uint32_t thread;
};

/**
 * nsc_call_lane_begin - reset the lane and begin a thread.
 * @lane: zeroed, or used before; release with nsc_call_lane_free().
 * @from_ticks: start of the window, or 0.
 * Returns 0 or -ENOMEM.
 */
int nsc_call_lane_begin(struct nsc_call_lane *lane, uint32_t thread, uint64_t start_ticks,
                        uint64_t from_ticks);
void nsc_call_lane_free(struct nsc_call_lane *lane);

/* Make room for one more open call. Returns 0 or -ENOMEM. */
int nsc_call_lane_grow(struct nsc_call_lane *lane);
/* Begin an epoch: from @ticks on, a call whose entry was not recorded may have begun directly above
 * the calls that are now open. */
void nsc_call_lane_begin_epoch(struct nsc_call_lane *lane, uint64_t ticks);
/* Complete a call that returns without a recorded entry (LATE_EXIT). */
void nsc_call_lane_end_late(struct nsc_call_lane *lane, const struct nsc_event *e,
                            struct nsc_call *ended);

static inline void nsc_call_lane_leave(struct nsc_call_lane *lane, const struct nsc_event *e,
                                       struct nsc_call *ended)
{
    const struct nsc_open_call *call = &lane->stack[lane->depth];
    uint64_t start = call->start_ticks > lane->from_ticks ? call->start_ticks : lane->from_ticks;
    struct nsc_open_call *caller = &lane->stack[--lane->depth];

    *ended = (struct nsc_call){
        .thread = lane->thread,
        .function = call->function,
        .caller = caller->function,
        .depth = (uint32_t)lane->depth,
        .bound = call->bound | nsc_model_end_bound(e),
        .number = call->number,
        .parent = caller->number,
        .start_ticks = call->start_ticks,
        .end_ticks = e->ticks,
        .self_ticks = e->ticks - start - call->child_ticks,
        .children = call->children,
    };
    caller->child_ticks += e->ticks - start;
    caller->children++;
    if (lane->depth < lane->epoch_depth)
        nsc_call_lane_begin_epoch(lane, e->ticks);
}

/* Apply one event of a struct nsc_selected_events. Returns 1 if it ended a call, 0 if not, or
 * -ENOMEM. */
static inline int nsc_call_lane_follow(struct nsc_call_lane *lane, const struct nsc_event *e,
                                       struct nsc_call *ended)
{
    if (e->kind == NSC_EVENT_ENTER) {
        if (lane->depth + 1 >= lane->depth_max && nsc_call_lane_grow(lane) < 0)
            return -ENOMEM;
        lane->stack[++lane->depth] = (struct nsc_open_call){
            .start_ticks = e->ticks,
            .number = ++lane->numbers,
            .function = e->function,
            .bound = (uint32_t)e->value,
        };
        return 0;
    }
    if (e->kind == NSC_EVENT_LOST) {
        nsc_call_lane_begin_epoch(lane, e->ticks);
        return 0;
    }
    if (e->kind == NSC_EVENT_LATE_EXIT) {
        nsc_call_lane_end_late(lane, e, ended);
        return 1;
    }
    if (lane->depth == 0)
        return 0;
    nsc_call_lane_leave(lane, e, ended);
    return 1;
}

#endif
