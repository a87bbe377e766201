/*
 * calls.c - complete calls, one by one; see calls.h.
 *
 * Called by cli/. Must hold no more than the open calls.
 */
#include "analyze/calls/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/selected_events.h"
#include "analyze/calls/thread_merge.h"

struct scan {
    const struct nsc_selection *selection;
    const uint8_t *wanted;
    nsc_call_fn give;
    void *context;
    bool ended;
};

static void give(struct scan *s, const struct nsc_call *call)
{
    if (!s->ended && (!s->wanted || s->wanted[call->function]))
        s->ended = !s->give(s->context, call);
}

/* Apply one event. Returns 0 or -ENOMEM. */
static int follow(struct scan *s, struct nsc_call_lane *lane, const struct nsc_event *e)
{
    struct nsc_call ended;
    int result = nsc_call_lane_follow(lane, e, &ended);

    if (result > 0)
        give(s, &ended);
    return result < 0 ? result : 0;
}

static int scan_thread(struct scan *s, struct nsc_trace *t, uint32_t thread,
                       struct nsc_call_lane *lane, struct nsc_diag *diag)
{
    const struct nsc_event *events;
    struct nsc_selected_events *feed;
    size_t n;
    int error, result = nsc_selected_events_open(t, thread, s->selection, &feed, diag);

    if (result < 0)
        return result;
    error = nsc_call_lane_begin(lane, thread, nsc_trace_thread(t, thread)->start_ticks,
                                s->selection->from_ticks);
    while (error == 0 && !s->ended &&
           (result = nsc_selected_events_next(feed, &events, &n, diag)) > 0)
        for (size_t i = 0; i < n && error == 0 && !s->ended; i++)
            error = follow(s, lane, &events[i]);
    nsc_selected_events_close(feed);
    if (error)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the open calls");
    return result < 0 ? result : 0;
}

static int scan_by_thread(struct scan *s, struct nsc_trace *t, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct nsc_call_lane lane = {0};
    int error = 0;

    for (uint32_t i = 0; i < count && error == 0 && !s->ended; i++)
        if (nsc_selected_events_is_wanted(t, s->selection, i))
            error = scan_thread(s, t, i, &lane, diag);
    nsc_call_lane_free(&lane);
    return error;
}

static int scan_by_end(struct scan *s, struct nsc_trace *t, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct nsc_call_lane *lanes = calloc(count + 1u, sizeof(*lanes));
    struct nsc_merge *merge = NULL;
    struct nsc_merged m;
    int result = lanes ? nsc_merge_open(t, s->selection, UINT32_MAX, &merge, diag) : -ENOMEM;

    while (result >= 0 && !s->ended && (result = nsc_merge_next(merge, &m, diag)) > 0) {
        struct nsc_call_lane *lane = &lanes[m.thread];

        if ((!lane->stack &&
             nsc_call_lane_begin(lane, m.thread, nsc_trace_thread(t, m.thread)->start_ticks,
                                 s->selection->from_ticks) < 0) ||
            follow(s, lane, &m.event) < 0)
            result = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the open calls");
        else if (!m.next) {
            nsc_call_lane_free(lane);
        }
    }
    nsc_merge_close(merge);
    for (uint32_t i = 0; lanes && i < count; i++)
        nsc_call_lane_free(&lanes[i]);
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

/* Whether @a comes before @b. A total order: equal keys are ordered by start, thread and number. */
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

/* Restore the heap order from [0] down: children come before their parent. */
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
    /* Heap sort: the last call is at [0]; move it to the end and repeat. */
    for (size_t left = top->count; left > 1; left--) {
        struct nsc_call last = top->calls[0];

        top->calls[0] = top->calls[left - 1];
        top->calls[left - 1] = last;
        sift_down(top, left - 1);
    }
}
