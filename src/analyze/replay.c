/*
 * replay.c - what happened, in the order of time; see replay.h.
 *
 * Called by cli/. Must not hold events.
 */
#include "analyze/replay.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/feed.h"
#include "analyze/merge.h"

struct open_call {
    uint64_t start_ticks;
    uint32_t bound;
};

struct lane {
    struct open_call *open;
    uint32_t depth, depth_max;
    bool told; /* the innermost call has been told as a whole, its end says nothing new */
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

/* The end of a call, told by @e. */
static void take_end(struct nsc_replay_item *item, const struct nsc_event *e)
{
    item->bound |= nsc_event_end_bound(e);
    item->open = e->kind == NSC_EVENT_UNWIND && e->value != 0;
    item->untimed = e->kind != NSC_EVENT_UNWIND && nsc_event_end_bound(e) != 0;
}

/* Follow an event. Returns 1 when @item is to be told, 0 when not, -ENOMEM. */
static int follow(struct lane *lane, const struct nsc_merged *m, struct nsc_replay_item *item)
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
        lane->told = is_end(m->next);
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
    if (e->value == NSC_FEED_WINDOW)
        return 0;
    item->kind = nsc_gap_left_out(e->value) > 0 ? NSC_REPLAY_LEFT_OUT : NSC_REPLAY_LOST;
    item->lost = nsc_gap_lost(e->value) + nsc_gap_left_out(e->value);
    return 1;
}

int nsc_replay(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t max_depth,
               nsc_replay_fn tell, void *context, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct lane *lanes = calloc(count + 1u, sizeof(*lanes));
    struct nsc_merge *merge = NULL;
    struct nsc_replay_item item;
    struct nsc_merged m;
    int result = -ENOMEM;

    if (lanes)
        result = nsc_merge_open(t, selection, max_depth, &merge, diag);
    else
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for %u threads", count);
    while (result >= 0 && (result = nsc_merge_next(merge, &m, diag)) > 0) {
        struct lane *lane = &lanes[m.thread];
        int news = follow(lane, &m, &item);

        if (news < 0)
            result = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for open calls");
        else if (news > 0 && !tell(context, &item))
            break;
        if (!m.next) {
            free(lane->open);
            *lane = (struct lane){0};
        }
    }
    nsc_merge_close(merge);
    for (uint32_t i = 0; lanes && i < count; i++)
        free(lanes[i].open);
    free(lanes);
    return result < 0 ? result : 0;
}
