/*
 * open_calls.h - one thread's open calls, followed event by event: from events to complete calls.
 *
 * Used by calls.c and matching_calls.c. Holds nothing but the calls that are open. What each event
 * costs is what listing calls costs, so the common path is inline.
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
    uint64_t number; /* of the calls that are seen of this thread, by entry, from 1 */
    uint64_t parent; /* number of the calling call, 0 = none or not known */
    uint64_t start_ticks, end_ticks; /* true start, also when before the window */
    uint64_t self_ticks;             /* inside the window and outside of callees */
    uint64_t children;               /* direct callees; of a late call none is known */
};

struct nsc_open_call {
    uint64_t start_ticks;
    uint64_t child_ticks;
    uint64_t children;
    uint64_t number; /* 0: not known yet (matching_calls.c) */
    uint32_t function;
    uint32_t bound;
};

/* stack[0] is no call: it stands for the thread. See report.c for it and for epochs. */
struct nsc_call_lane {
    struct nsc_open_call *stack;
    size_t depth, depth_max;
    size_t epoch_depth;
    uint64_t epoch_ticks;
    uint64_t epoch_child_ticks;
    uint64_t numbers; /* given so far */
    uint64_t from_ticks;
    uint32_t thread;
};

/**
 * nsc_call_lane_begin - forget all and begin a thread.
 * @lane: zeros, or one that was used before; nsc_call_lane_free() it at last.
 * @from_ticks: where the window begins, or 0.
 * Returns 0 or -ENOMEM.
 */
int nsc_call_lane_begin(struct nsc_call_lane *lane, uint32_t thread, uint64_t start_ticks,
                        uint64_t from_ticks);
void nsc_call_lane_free(struct nsc_call_lane *lane);

/* Make room for one more open call. Returns 0 or -ENOMEM. */
int nsc_call_lane_grow(struct nsc_call_lane *lane);
/* Since now, and directly above the calls that are open now, a call may have begun unseen. */
void nsc_call_lane_begin_epoch(struct nsc_call_lane *lane, uint64_t ticks);
/* A call returns that was not seen to begin. */
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

/* Follow one event, as a feed gives it. Returns 1 if a call ended with it, 0, or -ENOMEM. */
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
