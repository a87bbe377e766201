/* late.c - calls that were not seen to begin; see late.h. */
#include "analyze/late.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/call_lane.h"
#include "analyze/feed.h"

struct finder {
    uint64_t from_ticks, to_ticks;
    uint32_t depth;
    struct nsc_call call;
    bool found, done;
};

/* Whether the index leaves room for such a call among the chunks that would be read. */
static bool may_have(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    for (uint32_t i = 0; i < count && i < NSC_AT_CHUNKS_MAX; i++)
        if ((chunks[i].missing || chunks[i].last_ticks >= from_ticks) &&
            nsc_chunk_may_have_late(chunks, count, i))
            return true;
    return false;
}

/* Follow one event. Returns 0 or -ENOMEM. */
static int follow(struct finder *f, struct nsc_call_lane *lane, const struct nsc_event *e)
{
    struct nsc_call ended;
    int result = nsc_call_lane_follow(lane, e, &ended);

    if (result < 0)
        return result;
    if (e->kind == NSC_EVENT_LATE_EXIT && ended.depth == f->depth &&
        ended.start_ticks <= f->to_ticks && ended.end_ticks >= f->from_ticks) {
        f->call = ended;
        f->found = f->done = true;
    } else if (e->ticks > f->to_ticks) {
        /* Its caller has returned, or what was open is not known any more. */
        f->done = lane->depth < f->depth || e->kind == NSC_EVENT_LOST;
    }
    return 0;
}

static int read_calls(struct finder *f, struct nsc_trace *t, uint32_t thread,
                      struct nsc_call_lane *lane, struct nsc_diag *diag)
{
    const struct nsc_event *events;
    struct nsc_selection everything;
    struct nsc_feed *feed;
    int error, result;
    size_t n;

    nsc_selection_init(&everything);
    error = nsc_feed_open(t, thread, &everything, &feed, diag);
    if (error != 0)
        return error;
    result = 1;
    while (error == 0 && !f->done) {
        uint32_t chunk = nsc_feed_chunk(feed);

        if (chunk != UINT32_MAX && chunk >= NSC_AT_CHUNKS_MAX)
            break;
        result = nsc_feed_next(feed, &events, &n, diag);
        if (result <= 0)
            break;
        for (size_t i = 0; i < n && error == 0 && !f->done; i++)
            error = follow(f, lane, &events[i]);
    }
    nsc_feed_close(feed);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the open calls");
    return result < 0 ? result : 0;
}

/* The call's callers: the one that it was called by, and that one's. */
static int find_callers(struct finder *f, struct nsc_trace *t, uint32_t callers_max,
                        struct nsc_at *out, struct nsc_diag *diag)
{
    struct nsc_at above = {0};
    struct nsc_at_frame *frames;
    int error;

    if (f->depth == 0 || callers_max == 0) {
        out->callers_left_out = f->depth;
        return 0;
    }
    error = nsc_at_find(t, f->call.thread, f->from_ticks, f->to_ticks, f->depth - 1, NSC_NO_ID,
                        callers_max - 1, &above, diag);
    if (error == -ENOENT) { /* not seen to begin either */
        out->callers_left_out = f->depth;
        return 0;
    }
    if (error != 0)
        return error;
    frames = reallocarray(above.callers, above.caller_count + 1u, sizeof(*frames));
    if (frames == NULL) {
        nsc_at_free(&above);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the callers");
    }
    frames[above.caller_count] = (struct nsc_at_frame){.start_ticks = above.call.start_ticks,
                                                       .end_ticks = above.call.end_ticks,
                                                       .function = above.call.function,
                                                       .bound = above.call.bound};
    out->callers = frames;
    out->caller_count = above.caller_count + 1;
    out->callers_left_out = above.callers_left_out;
    return 0;
}

int nsc_late_find(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks,
                  uint32_t depth, uint32_t callers_max, struct nsc_at *out, struct nsc_diag *diag)
{
    struct finder f = {.from_ticks = from_ticks, .to_ticks = to_ticks, .depth = depth};
    struct nsc_call_lane lane = {0};
    struct nsc_at at = {0};
    int error;

    if (!may_have(t, thread, from_ticks))
        return -ENOENT;
    error = nsc_call_lane_begin(&lane, thread, nsc_trace_thread(t, thread)->start_ticks, 0);
    if (error == 0)
        error = read_calls(&f, t, thread, &lane, diag);
    nsc_call_lane_free(&lane);
    if (error == 0 && !f.found)
        error = -ENOENT;
    if (error == 0)
        error = find_callers(&f, t, callers_max, &at, diag);
    if (error != 0)
        return error;
    at.call = f.call;
    *out = at;
    return 0;
}
