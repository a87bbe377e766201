/*
 * calls.c - complete calls, one by one; see calls.h.
 *
 * Called by cli/. Must hold no more than the open calls.
 */
#include "analyze/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/feed.h"
#include "analyze/merge.h"

struct open_call {
    uint64_t start_ticks;
    uint64_t child_ticks;
    uint64_t children;
    uint64_t number;
    uint32_t function;
    uint32_t bound;
};

/* One thread's open calls. stack[0] is no call; see report.c for it and for epochs. */
struct lane {
    struct open_call *stack;
    size_t depth, depth_max;
    size_t epoch_depth;
    uint64_t epoch_ticks;
    uint64_t epoch_child_ticks;
    uint64_t numbers; /* given so far */
};

struct scan {
    const struct nsc_selection *selection;
    const uint8_t *wanted;
    nsc_call_fn give;
    void *context;
    bool ended;
};

static bool grow_stack(struct lane *lane)
{
    size_t max = lane->depth_max * 2 + 64;
    struct open_call *stack = reallocarray(lane->stack, max, sizeof(*stack));

    if (!stack)
        return false;
    lane->stack = stack;
    lane->depth_max = max;
    return true;
}

static void begin_epoch(struct lane *lane, uint64_t ticks)
{
    lane->epoch_depth = lane->depth;
    lane->epoch_ticks = ticks;
    lane->epoch_child_ticks = lane->stack[lane->depth].child_ticks;
}

static bool begin_lane(struct lane *lane, uint64_t start_ticks)
{
    if (lane->depth_max == 0 && !grow_stack(lane))
        return false;
    lane->depth = 0;
    lane->numbers = 0;
    lane->stack[0] = (struct open_call){.function = NSC_NO_ID};
    begin_epoch(lane, start_ticks);
    return true;
}

static void give(struct scan *s, const struct nsc_call *call)
{
    if (!s->ended && (!s->wanted || s->wanted[call->function]))
        s->ended = !s->give(s->context, call);
}

static void leave(struct scan *s, struct lane *lane, uint32_t thread, const struct nsc_event *e)
{
    const struct open_call *call = &lane->stack[lane->depth];
    uint64_t from = s->selection->from_ticks;
    uint64_t inside = e->ticks - (call->start_ticks > from ? call->start_ticks : from);
    struct open_call *caller = &lane->stack[--lane->depth];

    give(s, &(struct nsc_call){
                .thread = thread,
                .function = call->function,
                .caller = caller->function,
                .depth = (uint32_t)lane->depth,
                .bound = call->bound | (e->kind == NSC_EVENT_UNWIND ? NSC_BOUND_END : 0),
                .number = call->number,
                .parent = caller->number,
                .start_ticks = call->start_ticks,
                .end_ticks = e->ticks,
                .self_ticks = inside - call->child_ticks,
                .children = call->children,
            });
    caller->child_ticks += inside;
    caller->children++;
    if (lane->depth < lane->epoch_depth)
        begin_epoch(lane, e->ticks);
}

static void end_late(struct scan *s, struct lane *lane, uint32_t thread, const struct nsc_event *e)
{
    struct open_call *caller = &lane->stack[lane->depth];
    uint64_t start;

    if (lane->depth != lane->epoch_depth) /* no gap here: a damaged trace */
        begin_epoch(lane, e->ticks);
    start =
        lane->epoch_ticks > s->selection->from_ticks ? lane->epoch_ticks : s->selection->from_ticks;
    start = start < e->ticks ? start : e->ticks;
    give(s, &(struct nsc_call){
                .thread = thread,
                .function = e->function,
                .caller = caller->function,
                .depth = (uint32_t)lane->depth,
                .bound = NSC_BOUND_START,
                .number = ++lane->numbers,
                .parent = caller->number,
                .start_ticks = start,
                .end_ticks = e->ticks,
                .self_ticks = e->ticks - start - (caller->child_ticks - lane->epoch_child_ticks),
            });
    caller->child_ticks = lane->epoch_child_ticks + (e->ticks - start);
    caller->children++;
}

/* Follow one event. Returns 0 or -ENOMEM. */
static int follow(struct scan *s, struct lane *lane, uint32_t thread, const struct nsc_event *e)
{
    if (e->kind == NSC_EVENT_ENTER) {
        if (lane->depth + 1 >= lane->depth_max && !grow_stack(lane))
            return -ENOMEM;
        lane->stack[++lane->depth] = (struct open_call){
            .start_ticks = e->ticks,
            .number = ++lane->numbers,
            .function = e->function,
            .bound = (uint32_t)e->value,
        };
    } else if (e->kind == NSC_EVENT_LATE_EXIT) {
        end_late(s, lane, thread, e);
    } else if (e->kind == NSC_EVENT_LOST) {
        begin_epoch(lane, e->ticks);
    } else if (lane->depth > 0) {
        leave(s, lane, thread, e);
    }
    return 0;
}

static int scan_thread(struct scan *s, struct nsc_trace *t, uint32_t thread, struct lane *lane,
                       struct nsc_diag *diag)
{
    const struct nsc_event *events;
    struct nsc_feed *feed;
    size_t n;
    int error = 0, result = nsc_feed_open(t, thread, s->selection, &feed, diag);

    if (result < 0)
        return result;
    if (!begin_lane(lane, nsc_trace_thread(t, thread)->start_ticks))
        error = -ENOMEM;
    while (error == 0 && !s->ended && (result = nsc_feed_next(feed, &events, &n, diag)) > 0)
        for (size_t i = 0; i < n && error == 0 && !s->ended; i++)
            error = follow(s, lane, thread, &events[i]);
    nsc_feed_close(feed);
    if (error)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the open calls");
    return result < 0 ? result : 0;
}

static int scan_by_thread(struct scan *s, struct nsc_trace *t, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct lane lane = {0};
    int error = 0;

    for (uint32_t i = 0; i < count && error == 0 && !s->ended; i++)
        if (nsc_feed_is_wanted(t, s->selection, i))
            error = scan_thread(s, t, i, &lane, diag);
    free(lane.stack);
    return error;
}

static int scan_by_end(struct scan *s, struct nsc_trace *t, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct lane *lanes = calloc(count + 1u, sizeof(*lanes));
    struct nsc_merge *merge = NULL;
    struct nsc_merged m;
    int result = lanes ? nsc_merge_open(t, s->selection, UINT32_MAX, &merge, diag) : -ENOMEM;

    while (result >= 0 && !s->ended && (result = nsc_merge_next(merge, &m, diag)) > 0) {
        struct lane *lane = &lanes[m.thread];

        if ((!lane->stack && !begin_lane(lane, nsc_trace_thread(t, m.thread)->start_ticks)) ||
            follow(s, lane, m.thread, &m.event) < 0)
            result = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the open calls");
        else if (!m.next) {
            free(lane->stack);
            *lane = (struct lane){0};
        }
    }
    nsc_merge_close(merge);
    for (uint32_t i = 0; lanes && i < count; i++)
        free(lanes[i].stack);
    free(lanes);
    return result < 0 ? result : 0;
}

int nsc_calls_scan(struct nsc_trace *t, const struct nsc_selection *selection,
                   enum nsc_calls_order order, const uint8_t *wanted, nsc_call_fn fn, void *context,
                   struct nsc_diag *diag)
{
    struct scan s = {.selection = selection, .wanted = wanted, .give = fn, .context = context};

    return order == NSC_CALLS_BY_THREAD ? scan_by_thread(&s, t, diag) : scan_by_end(&s, t, diag);
}

/* ---- The first n ---------------------------------------------------------------------------- */

int nsc_calls_top_init(struct nsc_calls_top *top, enum nsc_calls_key key, size_t max)
{
    struct nsc_call *calls = calloc(max > 0 ? max : 1, sizeof(*calls));

    if (!calls)
        return -ENOMEM;
    *top = (struct nsc_calls_top){.key = key, .max = max, .calls = calls};
    return 0;
}

void nsc_calls_top_free(struct nsc_calls_top *top)
{
    free(top->calls);
    *top = (struct nsc_calls_top){0};
}

/* Whether @a comes before @b. Total: equal keys go by start, thread and number. */
static bool is_before(enum nsc_calls_key key, const struct nsc_call *a, const struct nsc_call *b)
{
    uint64_t x = 0, y = 0;

    if (key == NSC_CALLS_KEY_DURATION) {
        x = a->end_ticks - a->start_ticks;
        y = b->end_ticks - b->start_ticks;
    } else if (key == NSC_CALLS_KEY_SELF) {
        x = a->self_ticks;
        y = b->self_ticks;
    }
    if (x != y)
        return x > y;
    if (a->start_ticks != b->start_ticks)
        return a->start_ticks < b->start_ticks;
    if (a->thread != b->thread)
        return a->thread < b->thread;
    return a->number < b->number;
}

/* Let the call at [0] find its place: below it only calls that come before. */
static void sift_down(struct nsc_calls_top *top, size_t count)
{
    struct nsc_call call = top->calls[0];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= count)
            break;
        if (child + 1 < count && is_before(top->key, &top->calls[child], &top->calls[child + 1]))
            child++;
        if (!is_before(top->key, &call, &top->calls[child]))
            break;
        top->calls[at] = top->calls[child];
        at = child;
    }
    top->calls[at] = call;
}

bool nsc_calls_top_offer(void *context, const struct nsc_call *call)
{
    struct nsc_calls_top *top = context;
    size_t at = top->count;

    top->seen++;
    top->bounds += call->bound != 0;
    if (top->max == 0)
        return true;
    if (top->count == top->max) {
        if (is_before(top->key, call, &top->calls[0])) {
            top->calls[0] = *call;
            sift_down(top, top->count);
        }
        return true;
    }
    for (; at > 0 && is_before(top->key, &top->calls[(at - 1) / 2], call); at = (at - 1) / 2)
        top->calls[at] = top->calls[(at - 1) / 2];
    top->calls[at] = *call;
    top->count++;
    return true;
}

void nsc_calls_top_sort(struct nsc_calls_top *top)
{
    /* Heap sort: the last of all is at [0]; it goes to the end, and so on. */
    for (size_t left = top->count; left > 1; left--) {
        struct nsc_call last = top->calls[0];

        top->calls[0] = top->calls[left - 1];
        top->calls[left - 1] = last;
        sift_down(top, left - 1);
    }
}
