/*
 * replay.c - replay a trace in order of time; see replay.h.
 *
 * Called by cli/. Must not store events.
 */
#include "analyze/replay/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/selected_events.h"
#include "analyze/calls/thread_merge.h"
#include "analyze/replay/mark_merge.h"

struct open_call {
    uint64_t start_ticks;
    uint32_t bound;
};

struct lane {
    struct open_call *open;
    uint32_t depth, depth_max;
    bool told; /* the innermost call was reported as NSC_REPLAY_CALL: its end is not reported */
};

static bool push(struct lane *lane, const struct nsc_event *e)
{
    if (lane->depth == lane->depth_max) {
        uint32_t max = lane->depth_max * 2 + 16;
        struct open_call *open = reallocarray(lane->open, max, sizeof(*open));

        if (!open)
            return false;
        lane->open = open;
        lane->depth_max = max;
    }
    lane->open[lane->depth++] = (struct open_call){e->ticks, (uint32_t)e->value};
    return true;
}

static bool is_end(const struct nsc_event *e)
{
    return e && (e->kind == NSC_EVENT_EXIT || e->kind == NSC_EVENT_UNWIND);
}

/* Fill in the end of a call from @e. */
static void take_end(struct nsc_replay_item *item, const struct nsc_event *e)
{
    item->bound |= nsc_model_end_bound(e);
    item->open = e->kind == NSC_EVENT_UNWIND && e->value != 0;
    item->untimed = e->kind != NSC_EVENT_UNWIND && nsc_model_end_bound(e) != 0;
}

/* Apply an event. @mark_ticks: time of the thread's next mark. Returns 1 if @item is to be
 * reported, 0 if not, or -ENOMEM. */
static int follow(struct lane *lane, const struct nsc_merged *m, uint64_t mark_ticks,
                  struct nsc_replay_item *item)
{
    const struct nsc_event *e = &m->event;
    const struct open_call *call;

    *item = (struct nsc_replay_item){
        .thread = m->thread, .function = e->function, .depth = lane->depth, .ticks = e->ticks};
    if (e->kind == NSC_EVENT_ENTER) {
        if (!push(lane, e))
            return -ENOMEM;
        item->kind = NSC_REPLAY_BEGIN;
        item->bound = (uint32_t)e->value;
        lane->told = is_end(m->next) && mark_ticks > m->next->ticks;
        if (lane->told) {
            item->kind = NSC_REPLAY_CALL;
            take_end(item, m->next);
            item->duration_ticks = m->next->ticks - e->ticks;
        }
        return 1;
    }
    if (is_end(e)) {
        bool told = lane->told;

        lane->told = false;
        if (lane->depth == 0)
            return 0;
        call = &lane->open[--lane->depth];
        item->kind = NSC_REPLAY_END;
        item->depth = lane->depth;
        item->bound = call->bound;
        take_end(item, e);
        item->duration_ticks = e->ticks - call->start_ticks;
        return !told;
    }
    if (e->kind == NSC_EVENT_LATE_EXIT) {
        item->kind = NSC_REPLAY_LATE;
        item->bound = NSC_BOUND_START;
        take_end(item, e);
        return 1;
    }
    if (e->value == NSC_SELECTED_EVENTS_WINDOW)
        return 0;
    item->kind = nsc_model_gap_left_out(e->value) > 0 ? NSC_REPLAY_LEFT_OUT : NSC_REPLAY_LOST;
    item->lost = nsc_model_gap_lost(e->value) + nsc_model_gap_left_out(e->value);
    return 1;
}

struct replay {
    struct lane *lanes; /* by thread */
    struct nsc_merge *merge;
    struct nsc_mark_feed *marks;
    nsc_replay_fn tell;
    void *context;
    bool over; /* the callback has asked to stop */
};

/* Report the marks that come before @m, or all that are left if @m is NULL. A mark at the same time
 * as the end of a call comes before it; one at the time of a start comes after it. */
static int tell_marks(struct replay *r, const struct nsc_merged *m, struct nsc_diag *diag)
{
    const struct nsc_note *note;
    int error = 0;

    while (error == 0 && !r->over && (note = nsc_mark_feed_head(r->marks)) != NULL) {
        struct nsc_replay_item item = {.kind = NSC_REPLAY_MARK,
                                       .thread = note->owner,
                                       .function = NSC_NO_ID,
                                       .depth = r->lanes[note->owner].depth,
                                       .ticks = note->ticks,
                                       .mark = &note->mark};
        bool at_end = m && is_end(&m->event) && m->thread == note->owner;

        if (m && (at_end ? note->ticks > m->event.ticks : note->ticks >= m->event.ticks))
            break;
        r->over = !r->tell(r->context, &item);
        error = nsc_mark_feed_pass(r->marks, diag);
    }
    return error;
}

/* Report the marks before an event, then the event. Returns 0 or -errno with @diag. */
static int tell_event(struct replay *r, const struct nsc_merged *m, struct nsc_diag *diag)
{
    struct lane *lane = &r->lanes[m->thread];
    struct nsc_replay_item item;
    int news, error = tell_marks(r, m, diag);

    if (error || r->over)
        return error;
    news = follow(lane, m, nsc_mark_feed_ticks(r->marks, m->thread), &item);
    if (news < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for open calls");
    r->over = news > 0 && !r->tell(r->context, &item);
    if (!m->next) {
        free(lane->open);
        *lane = (struct lane){0};
    }
    return 0;
}

int nsc_replay(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t max_depth,
               nsc_replay_fn tell, void *context, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct replay r = {
        .lanes = calloc(count + 1u, sizeof(*r.lanes)), .tell = tell, .context = context};
    struct nsc_merged m;
    int result = 0, more = 1;

    if (!r.lanes)
        result = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for %u threads", count);
    if (result == 0)
        result = nsc_mark_feed_open(t, selection, &r.marks, diag);
    if (result == 0)
        result = nsc_merge_open(t, selection, max_depth, &r.merge, diag);
    while (result == 0 && !r.over && (more = nsc_merge_next(r.merge, &m, diag)) > 0)
        result = tell_event(&r, &m, diag);
    if (result == 0 && more == 0)
        result = tell_marks(&r, NULL, diag);
    nsc_merge_close(r.merge);
    nsc_mark_feed_close(r.marks);
    for (uint32_t i = 0; r.lanes && i < count; i++)
        free(r.lanes[i].open);
    free(r.lanes);
    return result < 0 ? result : more < 0 ? more : 0;
}
