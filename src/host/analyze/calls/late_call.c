/*
 * late_call.c - calls without a recorded entry; see late_call.h.
 *
 * Such a call begins where its thread's current epoch began (open_calls.h): at the last gap, or
 * where fewer calls were open than at any time since. The index states each chunk's gaps, minimum
 * depth and late returns. Therefore events are read only where the instant's epoch began, where a
 * call last returned late before the instant, around the instant, and where the call returns. For
 * the skipped chunks, the lane's state follows from opening stacks and sums.
 */
#include "analyze/calls/late_call.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/gaps.h"
#include "analyze/calls/open_calls.h"
#include "analyze/calls/selected_events.h"
#include "trace/read/levels.h"

struct finder {
    struct nsc_trace *trace;
    const struct nsc_chunk *chunks;
    uint32_t chunk_count, thread;
    uint32_t depth;
    uint64_t from_ticks, to_ticks;
    struct nsc_diag *diag;
    bool gaps_hide; /* chunks may contain gaps that the index does not state */

    struct nsc_call_lane lane;
    struct nsc_call call;
    bool saw_gap; /* in the chunk that was read last */
    bool found, done;
};

static int no_memory(const struct finder *f)
{
    return nsc_diag_set(f->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the open calls");
}

static bool has_late(const struct finder *f, uint32_t chunk)
{
    return nsc_reader_may_have_late(f->chunks, f->chunk_count, chunk);
}

/* Apply one event. Returns 0 or -ENOMEM. */
static int follow(struct finder *f, const struct nsc_event *e)
{
    struct nsc_call ended;
    int result = nsc_call_lane_follow(&f->lane, e, &ended);

    if (result < 0)
        return result;
    f->saw_gap |= e->kind == NSC_EVENT_LOST;
    if (e->kind == NSC_EVENT_LATE_EXIT && ended.depth == f->depth &&
        ended.start_ticks <= f->to_ticks && ended.end_ticks >= f->from_ticks) {
        f->call = ended;
        f->found = f->done = true;
    } else if (e->ticks > f->to_ticks) {
        /* Its caller has returned, or a gap made the open calls unknown. */
        f->done = f->lane.depth < f->depth || e->kind == NSC_EVENT_LOST;
    }
    return 0;
}

static int follow_batch(struct finder *f, const struct nsc_event *events, size_t count)
{
    for (size_t i = 0; i < count && !f->done; i++)
        if (follow(f, &events[i]) != 0)
            return no_memory(f);
    return 0;
}

/* ---- From chunk to chunk --------------------------------------------------------------------- */

/* Read chunks[@index]; the lane is at its start. */
static int read_chunk(struct finder *f, uint32_t index)
{
    const struct nsc_event *events;
    struct nsc_cursor *cursor;
    size_t n;
    int result = nsc_cursor_open_chunk(f->trace, &f->chunks[index], &cursor, f->diag), error = 0;

    if (result != 0)
        return result;
    f->saw_gap = false;
    while (!f->done && error == 0 && (result = nsc_cursor_next(cursor, &events, &n, f->diag)) > 0) {
        error = follow_batch(f, events, n);
        if (nsc_cursor_at_chunk_end(cursor))
            break;
    }
    nsc_cursor_close(cursor);
    return result < 0 ? result : error;
}

/* Set the lane's stack to the calls that are open at the start of chunks[@index]. Keeps its epoch
 * and the thread's frame stack[0]. */
static int take_stack(struct finder *f, uint32_t index)
{
    struct nsc_call_lane *lane = &f->lane;
    struct nsc_levels_stack stack;
    int error = nsc_levels_stack(f->trace, f->thread, index, &stack, f->diag);

    if (error != 0)
        return error;
    while (stack.depth + 1 >= lane->depth_max)
        if (nsc_call_lane_grow(lane) != 0)
            return no_memory(f);
    lane->depth = stack.depth;
    for (uint32_t i = 0; i < stack.depth; i++)
        lane->stack[i + 1] = (struct nsc_open_call){.start_ticks = stack.frames[i].start_ticks,
                                                    .child_ticks = stack.child_ticks[i],
                                                    .function = stack.frames[i].function,
                                                    .bound = stack.frames[i].bound};
    lane->numbers = 0;
    for (uint32_t i = 0; i < index; i++)
        lane->numbers += f->chunks[i].calls;
    return 0;
}

/* Set the lane to the start of chunks[@index], where an epoch seems to begin. Reading the chunk
 * finds the true start: a gap in it, or a depth below that of all chunks since the last gap. */
static int begin_at(struct finder *f, uint32_t index)
{
    int error;

    if (nsc_call_lane_begin(&f->lane, f->thread, nsc_trace_thread(f->trace, f->thread)->start_ticks,
                            0) != 0)
        return no_memory(f);
    if (index == 0)
        return 0;
    error = take_stack(f, index);
    if (error == 0)
        nsc_call_lane_begin_epoch(&f->lane, f->chunks[index].first_ticks);
    return error;
}

/* ---- Skipping chunks ------------------------------------------------------------------------- */

/* Add the time in ended callees of the calls that are open at the start of chunks[@index], summed
 * over all of these calls. */
static int sum_callees(struct finder *f, uint32_t index, uint64_t *ticks)
{
    struct nsc_levels_stack stack;
    int error = nsc_levels_stack(f->trace, f->thread, index, &stack, f->diag);

    for (uint32_t i = 0; error == 0 && i < stack.depth; i++)
        *ticks += stack.child_ticks[i];
    return error;
}

/* Add the time of the calls that ended in chunks[@index] and had no caller. */
static int add_outermost(struct finder *f, uint32_t index, uint64_t *ticks)
{
    const struct nsc_event *events;
    const struct nsc_frame *frames;
    struct nsc_cursor *cursor;
    uint64_t start = 0;
    uint32_t depth;
    size_t n;
    int result = nsc_cursor_open_chunk(f->trace, &f->chunks[index], &cursor, f->diag);

    if (result != 0)
        return result;
    if (nsc_cursor_stack(cursor, &frames, &depth) == 0 && depth > 0)
        start = frames[0].start_ticks;
    while ((result = nsc_cursor_next(cursor, &events, &n, f->diag)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (events[i].depth == 0 && events[i].kind == NSC_EVENT_ENTER)
                start = events[i].ticks;
            else if (events[i].depth == 0 &&
                     (events[i].kind == NSC_EVENT_EXIT || events[i].kind == NSC_EVENT_UNWIND))
                *ticks += events[i].ticks - start;
        }
        if (nsc_cursor_at_chunk_end(cursor))
            break;
    }
    nsc_cursor_close(cursor);
    return result < 0 ? result : 0;
}

/*
 * The time of the outermost calls that ended in chunks [@first, @end). This time plus the callee
 * time so far of the open calls equals the self time of all calls, which the index sums state.
 */
static int time_outermost(struct finder *f, uint32_t first, uint32_t end, uint64_t *ticks)
{
    uint64_t before = 0, behind = 0, sum = 0;
    struct nsc_levels_piece piece;
    struct nsc_levels *walk;
    int error =
        nsc_levels_open(f->trace, f->thread, first, end, NSC_LEVELS_SUMS, 0, &walk, f->diag);
    int more;

    if (error != 0)
        return error;
    while (error == 0 && (more = nsc_levels_next(walk, &piece, f->diag)) != 0) {
        if (more < 0) {
            error = more;
        } else if (piece.known) {
            for (uint32_t i = 0; i < piece.total_count; i++)
                sum += piece.totals[i].self_ticks;
        } else {
            error = sum_callees(f, piece.first_chunk, &behind);
            if (error == 0)
                error = add_outermost(f, piece.first_chunk, &sum);
            if (error == 0)
                error = sum_callees(f, piece.first_chunk + 1, &before);
        }
    }
    nsc_levels_close(walk);
    if (error == 0)
        error = sum_callees(f, first, &before);
    if (error == 0)
        error = sum_callees(f, end, &behind);
    *ticks = sum + before - behind;
    return error;
}

/* The time of the calls directly above the first @depth open calls that ended in chunks [@first,
 * @end). These @depth calls must be open throughout that range. */
static int time_callees(struct finder *f, uint32_t first, uint32_t end, size_t depth,
                        uint64_t *ticks)
{
    struct nsc_levels_stack stack;
    int error;

    if (depth == 0)
        return time_outermost(f, first, end, ticks);
    *ticks = 0;
    error = nsc_levels_stack(f->trace, f->thread, first, &stack, f->diag);
    if (error == 0 && stack.depth >= depth) {
        uint64_t before = stack.child_ticks[depth - 1];

        error = nsc_levels_stack(f->trace, f->thread, end, &stack, f->diag);
        if (error == 0 && stack.depth >= depth)
            *ticks = stack.child_ticks[depth - 1] - before;
    }
    return error;
}

/* Move from the start of chunks[@first] to that of chunks[@end]; the epoch does not change in
 * between. */
static int pass_over(struct finder *f, uint32_t first, uint32_t end)
{
    struct nsc_call_lane *lane = &f->lane;
    uint64_t known = lane->stack[lane->epoch_depth].child_ticks - lane->epoch_child_ticks, more = 0;
    int error = 0;

    if (first == end)
        return 0;
    /* Otherwise every later late return belongs to an epoch that has not begun yet. */
    if (lane->epoch_depth == f->depth)
        error = time_callees(f, first, end, lane->epoch_depth, &more);
    if (error == 0)
        error = take_stack(f, end);
    if (error == 0 && lane->depth < lane->epoch_depth)
        error =
            nsc_diag_set(f->diag, f->chunks[end].offset, EBADMSG,
                         "the index of thread %u tells other depths than its chunks", f->thread);
    if (error == 0)
        lane->epoch_child_ticks = lane->stack[lane->epoch_depth].child_ticks - known - more;
    return error;
}

/* ---- To the instant -------------------------------------------------------------------------- */

/* Set the lane to the chunk after the last gap before chunks[@end]. Returns the index of that
 * chunk, or -errno. Gaps before a point with fewer open calls than @depth do not matter. */
static int64_t go_behind_gap(struct finder *f, uint32_t end)
{
    for (uint32_t i = end; i-- > 0;) {
        bool matters = f->chunks[i].lost > 0 || f->gaps_hide || f->chunks[i].min_depth < f->depth;
        int error = matters ? begin_at(f, i) : 0;

        if (error == 0 && matters)
            error = read_chunk(f, i);
        if (error != 0)
            return error;
        if (matters && (f->saw_gap || f->chunks[i].min_depth < f->depth))
            return i + 1;
    }
    return begin_at(f, 0);
}

/* Set the lane to the start of chunks[@end]. */
static int go_to(struct finder *f, uint32_t end)
{
    int64_t behind = go_behind_gap(f, end);
    uint32_t at = (uint32_t)behind, lowest = at, late = end;
    int error = behind < 0 ? (int)behind : 0;

    for (uint32_t i = at; error == 0 && i < end; i++)
        if (f->chunks[i].min_depth < f->chunks[lowest].min_depth)
            lowest = i;
    if (error == 0 && at < end && f->chunks[lowest].min_depth < f->lane.epoch_depth) {
        error = begin_at(f, lowest);
        if (error == 0)
            error = read_chunk(f, lowest);
        at = lowest + 1;
    }
    /* The last call that returned late contains everything before it in this epoch. */
    for (uint32_t i = at; i < end; i++)
        late = has_late(f, i) ? i : late;
    if (error == 0 && late < end) {
        error = take_stack(f, late);
        if (error == 0)
            f->lane.epoch_child_ticks = f->lane.stack[f->lane.epoch_depth].child_ticks;
        if (error == 0)
            error = read_chunk(f, late);
        at = late + 1;
    }
    return error == 0 ? pass_over(f, at, end) : error;
}

/* ---- From the instant on --------------------------------------------------------------------- */

/* The first chunk from chunks[@index] on that must be read, or the number of chunks: there is no
 * such call. */
static uint32_t next_chunk(const struct finder *f, uint32_t index)
{
    for (uint32_t i = index; i < f->chunk_count; i++) {
        const struct nsc_chunk *c = &f->chunks[i];
        bool ends_epoch = c->lost > 0 || c->min_depth < f->lane.epoch_depth;

        if (c->first_ticks > f->to_ticks &&
            (f->lane.epoch_depth != f->depth || f->lane.epoch_ticks > f->to_ticks))
            return f->chunk_count;
        if (has_late(f, i) || f->gaps_hide || (ends_epoch && c->first_ticks <= f->to_ticks))
            return i;
        if (ends_epoch)
            return f->chunk_count;
    }
    return f->chunk_count;
}

static int find(struct finder *f)
{
    uint32_t at, end, last = f->chunk_count;
    int error;

    nsc_levels_range(f->trace, f->thread, f->from_ticks, UINT64_MAX, &at, &end);
    while (last > at && !has_late(f, last - 1))
        last--;
    if (last == at)
        return 0;
    error = go_to(f, at);
    while (error == 0 && !f->done) {
        uint32_t next = next_chunk(f, at);

        if (next >= last)
            break;
        error = pass_over(f, at, next);
        if (error == 0)
            error = read_chunk(f, next);
        at = next + 1;
    }
    return error;
}

/* For a damaged thread, whose stacks and depths are incomplete: read all events. */
static int find_in_all(struct finder *f)
{
    const struct nsc_event *events;
    struct nsc_selection everything;
    struct nsc_selected_events *feed;
    int error, result = 1;
    size_t n;

    if (begin_at(f, 0) != 0)
        return -ENOMEM;
    nsc_selection_init(&everything);
    error = nsc_selected_events_open(f->trace, f->thread, &everything, &feed, f->diag);
    if (error != 0)
        return error;
    while (error == 0 && !f->done &&
           (result = nsc_selected_events_next(feed, &events, &n, f->diag)) > 0)
        error = follow_batch(f, events, n);
    nsc_selected_events_close(feed);
    return result < 0 ? result : error;
}

static bool is_whole(const struct finder *f)
{
    uint32_t whole = 0;

    while (whole < f->chunk_count && !f->chunks[whole].missing &&
           f->chunks[whole].sequence == whole)
        whole++;
    return whole == f->chunk_count;
}

/* ---- Callers --------------------------------------------------------------------------------- */

/* Find the call's caller and, from there, its callers. */
static int find_callers(struct finder *f, uint32_t callers_max, struct nsc_at *out)
{
    struct nsc_at above = {0};
    struct nsc_at_frame *frames;
    int error;

    if (f->depth == 0 || callers_max == 0) {
        out->callers_left_out = f->depth;
        return 0;
    }
    error = nsc_at_find(f->trace, f->thread, f->from_ticks, f->to_ticks, f->depth - 1, NSC_NO_ID,
                        callers_max - 1, &above, f->diag);
    if (error == -ENOENT) { /* its entry was not recorded either */
        out->callers_left_out = f->depth;
        return 0;
    }
    if (error != 0)
        return error;
    frames = reallocarray(above.callers, above.caller_count + 1u, sizeof(*frames));
    if (frames == NULL) {
        nsc_at_free(&above);
        return nsc_diag_set(f->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the callers");
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
    struct finder f = {.trace = t,
                       .thread = thread,
                       .depth = depth,
                       .from_ticks = from_ticks,
                       .to_ticks = to_ticks,
                       .diag = diag,
                       .gaps_hide = nsc_gaps_may_hide(t)};
    struct nsc_at at = {0};
    int error;

    f.chunks = nsc_trace_chunks(t, thread, &f.chunk_count);
    error = is_whole(&f) ? find(&f) : find_in_all(&f);
    nsc_call_lane_free(&f.lane);
    if (error == 0 && !f.found)
        error = -ENOENT;
    if (error == 0)
        error = find_callers(&f, callers_max, &at);
    if (error != 0)
        return error;
    at.call = f.call;
    *out = at;
    return 0;
}
