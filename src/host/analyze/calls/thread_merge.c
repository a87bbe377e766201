/*
 * thread_merge.c - the events of several threads in order of time; see thread_merge.h.
 *
 * Called by replay.c and calls.c. Keeps a heap of threads by the time of their next event. A thread
 * joins the heap when the merge reaches its start time.
 */
#include "analyze/calls/thread_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/selected_events.h"
#include "util/sort.h"

struct lane {
    uint32_t thread;
    struct nsc_selected_events *feed;
    const struct nsc_event *events; /* the current batch of the feed */
    size_t at, count;
    struct nsc_event head; /* the next event; `at` is the index after it */
    bool has_head;
};

struct nsc_merge {
    struct nsc_trace *trace;
    const struct nsc_selection *selection;
    uint32_t max_depth;
    uint32_t *waiting; /* threads that have not begun, the earliest last */
    uint32_t waiting_count;
    struct lane **heap; /* heap[0] is the thread with the earliest head */
    uint32_t heap_count;
    struct lane *last; /* of the last returned event; its next event is not in heap order yet */
};

static uint64_t start_of(const struct nsc_trace *t, uint32_t thread)
{
    return nsc_trace_thread(t, thread)->start_ticks;
}

static int compare_starts(const void *a, const void *b, void *context)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t sx = start_of(context, x), sy = start_of(context, y);

    if (sx != sy)
        return sx > sy ? -1 : 1;
    return (x < y) - (x > y);
}

int nsc_merge_open(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t max_depth,
                   struct nsc_merge **out, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct nsc_merge *m = calloc(1, sizeof(*m));

    if (m) {
        m->waiting = calloc(count + 1u, sizeof(*m->waiting));
        m->heap = calloc(count + 1u, sizeof(*m->heap));
    }
    if (!m || !m->waiting || !m->heap) {
        nsc_merge_close(m);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for %u threads", count);
    }
    m->trace = t;
    m->selection = selection;
    m->max_depth = max_depth;
    for (uint32_t i = 0; i < count; i++)
        if (nsc_selected_events_is_wanted(t, selection, i))
            m->waiting[m->waiting_count++] = i;
    nsc_sort(m->waiting, m->waiting_count, sizeof(*m->waiting), compare_starts, t);
    *out = m;
    return 0;
}

static void free_lane(struct lane *lane)
{
    if (lane)
        nsc_selected_events_close(lane->feed);
    free(lane);
}

void nsc_merge_close(struct nsc_merge *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; m->heap && i < m->heap_count; i++)
        free_lane(m->heap[i]);
    free(m->heap);
    free(m->waiting);
    free(m);
}

/* Advance to an event that max_depth permits, so that events[at] is valid. Returns 1, 0 at the
 * thread's end, or -errno. */
static int find_event(struct lane *lane, uint32_t max_depth, struct nsc_diag *diag)
{
    for (;;) {
        int result;

        for (; lane->at < lane->count; lane->at++)
            if (lane->events[lane->at].depth < max_depth ||
                lane->events[lane->at].kind == NSC_EVENT_LOST)
                return 1;
        lane->at = lane->count = 0;
        result = nsc_selected_events_next(lane->feed, &lane->events, &lane->count, diag);
        if (result <= 0)
            return result;
    }
}

/* Advance: the event after the head becomes the head. Returns 1, 0 at the end, or -errno. */
static int advance(struct lane *lane, uint32_t max_depth, struct nsc_diag *diag)
{
    int result = find_event(lane, max_depth, diag);

    lane->has_head = result > 0;
    if (result <= 0)
        return result;
    lane->head = lane->events[lane->at++];
    result = find_event(lane, max_depth, diag);
    return result < 0 ? result : 1;
}

static bool is_earlier(const struct lane *a, const struct lane *b)
{
    if (a->head.ticks != b->head.ticks)
        return a->head.ticks < b->head.ticks;
    return a->thread < b->thread;
}

static void sift_down(struct nsc_merge *m)
{
    struct lane *lane = m->heap[0];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= m->heap_count)
            break;
        if (child + 1 < m->heap_count && is_earlier(m->heap[child + 1], m->heap[child]))
            child++;
        if (!is_earlier(m->heap[child], lane))
            break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = lane;
}

static void sift_up(struct nsc_merge *m, struct lane *lane)
{
    uint32_t at = m->heap_count++;

    for (; at > 0 && is_earlier(lane, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
        m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = lane;
}

/* Add one waiting thread to the heap. Returns 0 or -errno. */
static int join(struct nsc_merge *m, struct nsc_diag *diag)
{
    struct lane *lane = calloc(1, sizeof(*lane));
    int result;

    if (!lane)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for a thread");
    lane->thread = m->waiting[--m->waiting_count];
    result = nsc_selected_events_open(m->trace, lane->thread, m->selection, &lane->feed, diag);
    if (result == 0)
        result = advance(lane, m->max_depth, diag);
    if (result > 0)
        sift_up(m, lane);
    else
        free_lane(lane);
    return result < 0 ? result : 0;
}

/* Advance the thread whose event was returned last, or remove it at its end. Returns 0 or
 * -errno. */
static int settle_last(struct nsc_merge *m, struct nsc_diag *diag)
{
    int result;

    if (!m->last)
        return 0;
    m->last = NULL;
    result = advance(m->heap[0], m->max_depth, diag);
    if (result < 0)
        return result;
    if (result == 0) {
        free_lane(m->heap[0]);
        m->heap[0] = m->heap[--m->heap_count];
    }
    if (m->heap_count > 0)
        sift_down(m);
    return 0;
}

int nsc_merge_next(struct nsc_merge *m, struct nsc_merged *out, struct nsc_diag *diag)
{
    int error = settle_last(m, diag);
    struct lane *lane;

    while (error == 0 && m->waiting_count > 0 &&
           (m->heap_count == 0 ||
            start_of(m->trace, m->waiting[m->waiting_count - 1]) <= m->heap[0]->head.ticks))
        error = join(m, diag);
    if (error || m->heap_count == 0)
        return error;
    lane = m->heap[0];
    m->last = lane;
    out->thread = lane->thread;
    out->event = lane->head;
    out->next = lane->at < lane->count ? &lane->events[lane->at] : NULL;
    return 1;
}
