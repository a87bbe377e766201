/*
 * gaps.c - where a recording lost events; see gaps.h. Must not store events.
 */
#include "analyze/calls/gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/left_out.h"
#include "analyze/calls/selected_events.h"
#include "util/array.h"

/* Whether the trace may have gaps of unknown size: the index does not show them, as they count no
 * lost events. Only recovery creates them. */
static bool may_have_unknown(const struct nsc_trace *t)
{
    return nsc_trace_info(t)->recovered || nsc_trace_meta(t, NSC_META_RECOVERED) != NULL;
}

bool nsc_gaps_may_hide(const struct nsc_trace *t)
{
    return may_have_unknown(t) || nsc_trace_meta(t, NSC_META_WINDOW) != NULL ||
           nsc_left_out_events(t, NSC_LEFT_OUT_BUDGET) > 0;
}

/* Narrow @s to the part of a thread that contains all its gaps. Returns whether there is one. */
static bool narrow(const struct nsc_trace *t, uint32_t thread, struct nsc_selection *s)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);
    uint64_t from = UINT64_MAX, to = 0;

    if (may_have_unknown(t))
        return count > 0;
    for (uint32_t i = 0; i < count; i++) {
        if (chunks[i].lost == 0)
            continue;
        from = chunks[i].first_ticks < from ? chunks[i].first_ticks : from;
        to = chunks[i].last_ticks;
    }
    if (from == UINT64_MAX)
        return false;
    s->from_ticks = from > s->from_ticks ? from : s->from_ticks;
    s->to_ticks = to + 1 < s->to_ticks ? to + 1 : s->to_ticks;
    return s->from_ticks < s->to_ticks;
}

static int find_in_thread(struct nsc_trace *t, uint32_t thread, const struct nsc_selection *s,
                          nsc_gap_fn fn, void *context, struct nsc_gaps *gaps,
                          struct nsc_diag *diag)
{
    const struct nsc_event *events;
    struct nsc_selected_events *feed;
    size_t count;
    int more = nsc_selected_events_open(t, thread, s, &feed, diag);

    if (more < 0)
        return more;
    while ((more = nsc_selected_events_next(feed, &events, &count, diag)) > 0)
        for (size_t i = 0; i < count; i++) {
            struct nsc_gap gap = {
                .thread = thread, .ticks = events[i].ticks, .lost = events[i].value};

            if (events[i].kind != NSC_EVENT_LOST || gap.lost == NSC_SELECTED_EVENTS_WINDOW ||
                nsc_model_gap_left_out(gap.lost) > 0)
                continue;
            if (gaps->count++ == 0 || gap.ticks < gaps->first_ticks)
                gaps->first_ticks = gap.ticks;
            gaps->placed += gap.lost;
            if (fn)
                fn(context, &gap);
        }
    nsc_selected_events_close(feed);
    return more;
}

int nsc_gaps_find(struct nsc_trace *t, const struct nsc_selection *selection, nsc_gap_fn fn,
                  void *context, struct nsc_gaps *out, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    struct nsc_gaps gaps = {.lost = info->lost_unattributed};
    int error = 0;

    for (uint32_t i = 0; i < info->thread_count && error == 0; i++) {
        struct nsc_selection part = {.from_ticks = selection->from_ticks,
                                     .to_ticks = selection->to_ticks};

        if (!nsc_selection_has_thread(selection, i))
            continue;
        gaps.lost += nsc_trace_thread(t, i)->lost;
        if (narrow(t, i, &part))
            error = find_in_thread(t, i, &part, fn, context, &gaps, diag);
    }
    if (error == 0)
        *out = gaps;
    return error;
}

/* ---- All of them ----------------------------------------------------------------------------- */

struct list {
    struct nsc_gap *rows;
    uint32_t count, room;
    bool no_memory;
};

static void add(void *context, const struct nsc_gap *gap)
{
    struct list *list = context;
    struct nsc_gap *grown = nsc_array_grow(list->rows, &list->room, list->count, sizeof *grown);

    if (grown == NULL) {
        list->no_memory = true;
        return;
    }
    list->rows = grown;
    grown[list->count++] = *gap;
}

/* Add what each thread, and unknown threads, lost beyond the gaps listed. */
static void add_unplaced(struct list *list, const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    uint32_t placed = list->count, at = 0;

    for (uint32_t i = 0; i < info->thread_count; i++) {
        uint64_t lost = nsc_trace_thread(t, i)->lost, sum = 0;

        for (; at < placed && list->rows[at].thread == i; at++)
            sum += list->rows[at].lost;
        if (lost > sum)
            add(list, &(struct nsc_gap){i, NSC_GAP_UNPLACED, lost - sum});
    }
    if (info->lost_unattributed > 0)
        add(list, &(struct nsc_gap){NSC_NO_ID, NSC_GAP_UNPLACED, info->lost_unattributed});
}

int nsc_gaps_list(struct nsc_trace *t, struct nsc_gap **rows, uint32_t *count,
                  struct nsc_diag *diag)
{
    struct list list = {.rows = NULL};
    struct nsc_selection everything;
    struct nsc_gaps gaps;
    int error;

    nsc_selection_init(&everything);
    error = nsc_gaps_find(t, &everything, add, &list, &gaps, diag);
    if (error == 0)
        add_unplaced(&list, t);
    if (error == 0 && list.no_memory)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the gaps");
    if (error != 0) {
        free(list.rows);
        return error;
    }
    *rows = list.rows;
    *count = list.count;
    return 0;
}
