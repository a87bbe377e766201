/*
 * step.c - the nearest call of a function; see step.h.
 *
 * Called by answer/. A chunk is decoded only if its head and the next one's do not rule out that
 * the function began in it.
 */
#include "analyze/step.h"

#include <errno.h>

struct stepper {
    struct nsc_trace *trace;
    uint32_t function;
    uint64_t from_ticks, to_ticks; /* the call begins in [from, to) */
    bool forwards;
    bool found;
    struct nsc_step_place best;
    struct nsc_diag *diag;
};

/* Whether @e begins a call that is nearer than the best so far. */
static bool is_nearer(const struct stepper *s, const struct nsc_event *e)
{
    if (e->kind != NSC_EVENT_ENTER || e->function != s->function || e->ticks < s->from_ticks ||
        e->ticks >= s->to_ticks)
        return false;
    if (!s->found)
        return true;
    return s->forwards ? e->ticks < s->best.ticks : e->ticks > s->best.ticks;
}

/* The nearest call of one chunk. In the chunk itself the last of equal ones wins backwards. */
static int search_chunk(struct stepper *s, const struct nsc_chunk *chunk)
{
    const struct nsc_event *events;
    struct nsc_cursor *cursor;
    uint64_t own = UINT64_MAX; /* of the best, if it is of this chunk */
    size_t n;
    int result = nsc_cursor_open_chunk(s->trace, chunk, &cursor, s->diag);

    if (result != 0)
        return result;
    while ((result = nsc_cursor_next(cursor, &events, &n, s->diag)) > 0) {
        if (nsc_cursor_chunk(cursor) != chunk)
            continue;
        for (size_t i = 0; i < n; i++) {
            const struct nsc_event *e = &events[i];

            if (!is_nearer(s, e) && (s->forwards || own != e->ticks || e->kind != NSC_EVENT_ENTER ||
                                     e->function != s->function))
                continue;
            s->found = true;
            s->best = (struct nsc_step_place){e->ticks, chunk->thread, e->depth};
            own = e->ticks;
        }
        if (nsc_cursor_at_chunk_end(cursor))
            break;
    }
    nsc_cursor_close(cursor);
    return result < 0 ? result : 0;
}

/* Whether a chunk can hold something nearer than the best so far. */
static bool can_hold(const struct stepper *s, const struct nsc_chunk *chunk)
{
    if (chunk->first_ticks >= s->to_ticks || chunk->last_ticks < s->from_ticks)
        return false;
    if (!s->found)
        return true;
    return s->forwards ? chunk->first_ticks < s->best.ticks : chunk->last_ticks > s->best.ticks;
}

/* 1 if the function may have begun in chunks[@index], 0 if not: then none of its calls ended there,
 * and none is open behind it that began in it. */
static int may_begin(struct stepper *s, const struct nsc_chunk *chunks, uint32_t count,
                     uint32_t index)
{
    struct nsc_chunk_head head;
    int error = nsc_trace_chunk_head(s->trace, &chunks[index], &head, s->diag);

    if (error != 0)
        return error;
    if (!head.has_totals)
        return 1;
    for (uint32_t i = 0; i < head.total_count; i++)
        if (nsc_trace_canonical(s->trace, head.totals[i].function) == s->function)
            return 1;
    if (index + 1 == count || chunks[index + 1].missing)
        return chunks[index].max_depth > 0;
    error = nsc_trace_chunk_head(s->trace, &chunks[index + 1], &head, s->diag);
    if (error != 0)
        return error;
    for (uint32_t i = 0; i < head.frame_count; i++)
        if (head.frames[i].start_ticks >= chunks[index].first_ticks &&
            nsc_trace_canonical(s->trace, head.frames[i].function) == s->function)
            return 1;
    return 0;
}

static int search_thread(struct stepper *s, uint32_t thread)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(s->trace, thread, &count);
    int result = 0;

    for (uint32_t i = 0; i < count && result >= 0; i++) {
        uint32_t index = s->forwards ? i : count - 1 - i;

        if (chunks[index].missing || !can_hold(s, &chunks[index]))
            continue;
        result = may_begin(s, chunks, count, index);
        if (result > 0)
            result = search_chunk(s, &chunks[index]);
    }
    return result < 0 ? result : 0;
}

int nsc_step_find(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t function,
                  uint64_t ticks, bool forwards, struct nsc_step_place *out, struct nsc_diag *diag)
{
    struct stepper s = {.trace = t,
                        .function = function,
                        .from_ticks = selection->from_ticks,
                        .to_ticks = selection->to_ticks,
                        .forwards = forwards,
                        .diag = diag};
    uint32_t threads = nsc_trace_info(t)->thread_count;

    if (selection->hidden && selection->hidden[function])
        return -ENOENT;
    if (forwards && ticks == UINT64_MAX)
        return -ENOENT;
    if (forwards && ticks >= s.from_ticks)
        s.from_ticks = ticks + 1;
    if (!forwards && ticks < s.to_ticks)
        s.to_ticks = ticks;
    for (uint32_t i = 0; i < threads; i++) {
        int error = nsc_selection_has_thread(selection, i) ? search_thread(&s, i) : 0;

        if (error != 0)
            return error;
    }
    if (!s.found)
        return -ENOENT;
    *out = s.best;
    return 0;
}
