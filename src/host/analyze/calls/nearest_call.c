/*
 * nearest_call.c - the nearest call of a function; see nearest_call.h.
 *
 * Called by viewer/engine/. Decodes a chunk only if the function may have begun in it. Most chunks
 * are ruled out by their head, the index nodes above them and the open stack after them.
 */
#include "analyze/calls/nearest_call.h"

#include <errno.h>

#include "trace/read/levels.h"

/* Maximum number of chunks skipped at once: a power of 8, as each index node covers eight. */
#define PASS_MAX 4096u

struct stepper {
    struct nsc_trace *trace;
    uint32_t function;
    uint64_t from_ticks, to_ticks; /* the call must begin in [from, to) */
    bool forwards;
    bool found;
    struct nsc_nearest_call_place best;
    struct nsc_diag *diag;
};

/* Whether @e begins a call that is nearer than the best one so far. */
static bool is_nearer(const struct stepper *s, const struct nsc_event *e)
{
    if (e->kind != NSC_EVENT_ENTER || e->function != s->function || e->ticks < s->from_ticks ||
        e->ticks >= s->to_ticks)
        return false;
    if (!s->found)
        return true;
    return s->forwards ? e->ticks < s->best.ticks : e->ticks > s->best.ticks;
}

/* Find the nearest call of one chunk. Backwards, the last of calls at the same tick wins within a
 * chunk. */
static int search_chunk(struct stepper *s, const struct nsc_chunk *chunk)
{
    const struct nsc_event *events;
    struct nsc_cursor *cursor;
    uint64_t own = UINT64_MAX; /* ticks of the best call, if it is in this chunk */
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
            s->best = (struct nsc_nearest_call_place){e->ticks, chunk->thread, e->depth};
            own = e->ticks;
        }
        if (nsc_cursor_at_chunk_end(cursor))
            break;
    }
    nsc_cursor_close(cursor);
    return result < 0 ? result : 0;
}

/* Whether a chunk can contain a nearer call than the best one so far. */
static bool can_hold(const struct stepper *s, const struct nsc_chunk *chunk)
{
    if (chunk->first_ticks >= s->to_ticks || chunk->last_ticks < s->from_ticks)
        return false;
    if (!s->found)
        return true;
    return s->forwards ? chunk->first_ticks < s->best.ticks : chunk->last_ticks > s->best.ticks;
}

/* Returns 1 if calls of the function ended in chunks [@first, @end), or if that is unknown. */
static int may_end(struct stepper *s, uint32_t thread, uint32_t first, uint32_t end)
{
    struct nsc_levels_piece piece;
    struct nsc_levels *walk;
    int more = nsc_levels_open(s->trace, thread, first, end, NSC_LEVELS_SUMS, 0, &walk, s->diag);
    bool may = false;

    if (more != 0)
        return more;
    while (!may && (more = nsc_levels_next(walk, &piece, s->diag)) > 0) {
        may = !piece.known;
        for (uint32_t i = 0; i < piece.total_count && !may; i++)
            may = nsc_trace_canonical(s->trace, piece.totals[i].function) == s->function;
    }
    nsc_levels_close(walk);
    return more < 0 ? more : may;
}

/* Returns 1 if calls of the function may have begun in chunks [@first, @end), else 0: none of its
 * calls ended there, and none that began there is still open after them. */
static int may_begin(struct stepper *s, const struct nsc_chunk *chunks, uint32_t first,
                     uint32_t end)
{
    struct nsc_levels_stack stack;
    int result = may_end(s, chunks[first].thread, first, end);

    if (result != 0)
        return result;
    if (nsc_trace_info(s->trace)->recovered)
        return 1; /* stacks may be incomplete */
    result = nsc_levels_stack(s->trace, chunks[first].thread, end, &stack, s->diag);
    for (uint32_t i = stack.depth; result == 0 && i-- > 0;) {
        if (stack.frames[i].start_ticks < chunks[first].first_ticks)
            break;
        result = stack.frames[i].function == s->function;
    }
    return result;
}

/* Skip chunks from @index on, in search direction, that contain no call of the function; index
 * nodes allow many at once. Returns the number of chunks skipped, or -errno. */
static int64_t pass_over(struct stepper *s, const struct nsc_chunk *chunks, uint32_t count,
                         uint32_t index)
{
    for (uint32_t size = PASS_MAX; size > 0; size /= 8) {
        uint32_t first = s->forwards ? index : index / size * size;
        uint32_t end = s->forwards ? (index / size + 1) * size : index + 1;
        int result;

        end = end < count ? end : count;
        /* Only at the edge of a node: elsewhere the previous step has already tried the next
         * smaller node. */
        if (size > 1 && (s->forwards ? index : index + 1) % size != 0)
            continue;
        result = may_begin(s, chunks, first, end);
        if (result <= 0)
            return result < 0 ? result : (int64_t)(end - first);
    }
    return 0;
}

static int search_thread(struct stepper *s, uint32_t thread)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(s->trace, thread, &count);

    for (uint32_t done = 0; done < count;) {
        uint32_t index = s->forwards ? done : count - 1 - done;
        int64_t passed = 1;
        int error = 0;

        if (!chunks[index].missing && can_hold(s, &chunks[index])) {
            passed = pass_over(s, chunks, count, index);
            if (passed == 0)
                error = search_chunk(s, &chunks[index]);
        }
        if (passed < 0 || error != 0)
            return passed < 0 ? (int)passed : error;
        done += passed > 0 ? (uint32_t)passed : 1;
    }
    return 0;
}

int nsc_nearest_call_find(struct nsc_trace *t, const struct nsc_selection *selection,
                          uint32_t function, uint64_t ticks, bool forwards,
                          struct nsc_nearest_call_place *out, struct nsc_diag *diag)
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
