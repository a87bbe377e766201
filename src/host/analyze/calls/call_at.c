/*
 * call_at.c - the call at an instant; see call_at.h.
 *
 * Three steps:
 * 1. Apply the events up to the instant, from the opening stack of the chunk that contains it.
 * 2. Continue to where the call and its callers end.
 * 3. Read the start of the call for its number, and the call itself for its callees.
 */
#include "analyze/calls/call_at.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/read/levels.h"
#include "util/search.h"

struct finder {
    struct nsc_trace *trace;
    const struct nsc_chunk *chunks;
    uint32_t chunk_count, thread;
    uint32_t depth;    /* of the call to find */
    uint32_t function; /* function of that call; NSC_NO_ID: any */
    uint32_t callers_max;
    uint64_t from_ticks, to_ticks;
    struct nsc_diag *diag;

    /* the open calls, without those deeper than the call to find */
    struct nsc_at_frame *stack;
    uint32_t stack_room;
    uint32_t open; /* number of all open calls */
    /* The last call of that depth that began and ended within the instant, with its callers;
     * `instant_open` of these callers are still open. */
    struct nsc_at_frame *instant;
    uint32_t instant_open;

    bool looked;     /* the stack has been evaluated at the end of the instant */
    bool found;      /* the call was found */
    bool done;       /* the ends of all wanted frames are known, or there is no call */
    uint32_t lowest; /* the ends of frames from `level` down to this one are wanted */
    uint32_t level;
    uint32_t end_chunk; /* the chunk in which the call itself ends */
};

static bool is_wanted(const struct finder *f, uint32_t function)
{
    return f->function == NSC_NO_ID || f->function == function;
}

static int no_memory(const struct finder *f)
{
    return nsc_diag_set(f->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory to find a call");
}

static bool follows_gap(const struct finder *f, uint32_t index)
{
    const struct nsc_chunk *c = &f->chunks[index];

    return c->missing || (index > 0 && (c[-1].missing || c->sequence != c[-1].sequence + 1));
}

/* The first chunk that is not missing and ends at or after @ticks, or the number of chunks. */
static uint32_t find_chunk(const struct finder *f, uint64_t ticks)
{
    uint32_t at = NSC_PARTITION_POINT(i, f->chunk_count, f->chunks[i].last_ticks < ticks);

    while (at < f->chunk_count && f->chunks[at].missing)
        at++;
    return at;
}

/* ---- Up to the instant ----------------------------------------------------------------------- */

static int push(struct finder *f, uint64_t start_ticks, uint32_t function, uint32_t bound)
{
    if (f->open++ > f->depth)
        return 0;
    if (f->open > f->stack_room) {
        uint32_t room = f->stack_room * 2 + 64;
        struct nsc_at_frame *stack = reallocarray(f->stack, room, sizeof(*stack));

        if (!stack)
            return no_memory(f);
        f->stack = stack;
        f->stack_room = room;
    }
    f->stack[f->open - 1] =
        (struct nsc_at_frame){.start_ticks = start_ticks, .function = function, .bound = bound};
    return 0;
}

/* Load the calls that are open where a cursor begins. Later ones may have begun in a gap before
 * it. */
static int begin_stack(struct finder *f, struct nsc_cursor *cursor)
{
    const struct nsc_frame *frames;
    uint32_t count;
    int error = nsc_cursor_stack(cursor, &frames, &count);

    f->open = 0;
    for (uint32_t i = 0; i < count && error == 0; i++)
        error = push(f, frames[i].start_ticks, frames[i].function, frames[i].bound);
    return error;
}

/* Use the call that began and ended within the instant: its callers' ends are still to be found. */
static void take_instant(struct finder *f)
{
    struct nsc_at_frame *stack = f->stack;

    f->stack = f->instant;
    f->instant = stack;
    f->found = true;
    f->done = f->instant_open <= f->lowest;
    f->level = f->done ? f->lowest : f->instant_open - 1;
}

/* Evaluate the stack at the end of the instant: does it contain the call? */
static void look(struct finder *f)
{
    f->looked = true;
    if (f->open > f->depth + 1)
        f->open = f->depth + 1;
    while (f->open > 0 && f->stack[f->open - 1].start_ticks > f->to_ticks)
        f->open--; /* begins in a gap after the instant */
    f->found = f->open > f->depth && is_wanted(f, f->stack[f->depth].function);
    f->level = f->depth;
    f->lowest = f->depth > f->callers_max ? f->depth - f->callers_max : 0;
    if (!f->found && f->instant)
        take_instant(f);
    f->done |= !f->found;
}

/* End a call: update the callers of the remembered call, and remember this call if it began within
 * the instant and matches. */
static int end_call(struct finder *f, const struct nsc_event *e)
{
    uint32_t bound = nsc_model_end_bound(e);
    struct nsc_at_frame *frame;

    f->open--;
    if (f->instant && f->open < f->instant_open) {
        f->instant[f->open].end_ticks = e->ticks;
        f->instant[f->open].bound |= bound;
        f->instant_open = f->open;
    }
    if (f->open != f->depth || f->stack[f->depth].start_ticks < f->from_ticks ||
        !is_wanted(f, f->stack[f->depth].function))
        return 0;
    free(f->instant);
    f->instant = reallocarray(NULL, f->depth + 1u, sizeof(*f->instant));
    if (!f->instant)
        return no_memory(f);
    for (uint32_t i = 0; i <= f->depth; i++)
        f->instant[i] = f->stack[i];
    frame = &f->instant[f->depth];
    frame->end_ticks = e->ticks;
    frame->bound |= bound;
    f->instant_open = f->depth;
    return 0;
}

static int follow(struct finder *f, const struct nsc_event *e)
{
    if (e->kind == NSC_EVENT_ENTER)
        return push(f, e->ticks, e->function, (uint32_t)e->value);
    if ((e->kind != NSC_EVENT_EXIT && e->kind != NSC_EVENT_UNWIND) || f->open == 0)
        return 0;
    return end_call(f, e);
}

/* ---- To the ends ----------------------------------------------------------------------------- */

static void follow_ends(struct finder *f, const struct nsc_event *e, uint32_t chunk)
{
    struct nsc_at_frame *frame = &f->stack[f->level];

    if ((e->kind != NSC_EVENT_EXIT && e->kind != NSC_EVENT_UNWIND) || e->depth != f->level)
        return;
    frame->end_ticks = e->ticks;
    frame->bound |= nsc_model_end_bound(e);
    if (f->level == f->depth)
        f->end_chunk = chunk;
    f->done = f->level == f->lowest;
    f->level -= !f->done;
}

/* The chunk to continue with after chunks[@index]. No wanted call ends in the skipped chunks. */
static uint32_t next_chunk(const struct finder *f, uint32_t index)
{
    uint32_t next = index + 1;

    while (next < f->chunk_count && !follows_gap(f, next) && f->chunks[next].min_depth > f->level)
        next++;
    /* Only a cursor that starts before a gap reports the calls that the gap ended. */
    return next < f->chunk_count && follows_gap(f, next) ? next - 1 : next;
}

static int follow_batch(struct finder *f, const struct nsc_event *events, size_t n, uint32_t chunk)
{
    int error = 0;

    for (size_t i = 0; i < n && !f->done && error == 0; i++) {
        if (!f->looked && events[i].ticks > f->to_ticks)
            look(f);
        if (!f->looked)
            error = follow(f, &events[i]);
        else if (!f->done)
            follow_ends(f, &events[i], chunk);
    }
    return error;
}

/* Apply the events from chunks[@index] on, until everything is known or chunks can be skipped.
 * Returns the chunk to continue with, the number of chunks if there is none, or -errno. */
static int64_t follow_from(struct finder *f, uint32_t index)
{
    const struct nsc_event *events;
    struct nsc_cursor *cursor;
    uint32_t next = index + 1;
    size_t n;
    int error = nsc_cursor_open_chunk(f->trace, &f->chunks[index], &cursor, f->diag), result = 1;

    if (error != 0)
        return error;
    if (!f->looked)
        error = begin_stack(f, cursor);
    while (error == 0 && !f->done && next == index + 1 &&
           (result = nsc_cursor_next(cursor, &events, &n, f->diag)) > 0) {
        const struct nsc_chunk *chunk = nsc_cursor_chunk(cursor);

        index = chunk ? (uint32_t)(chunk - f->chunks) : index;
        error = follow_batch(f, events, n, index);
        next = index + 1;
        if (f->looked && nsc_cursor_at_chunk_end(cursor) && next_chunk(f, index) > index)
            next = next_chunk(f, index);
    }
    nsc_cursor_close(cursor);
    error = result < 0 ? result : error;
    if (error != 0)
        return error;
    return result == 0 ? (int64_t)f->chunk_count : (int64_t)next;
}

/* Find the call, its callers, and their ends, from chunks[@index] on. */
static int find(struct finder *f, uint32_t index)
{
    int64_t next = index;

    while (next >= 0 && next < f->chunk_count && !f->done)
        next = follow_from(f, (uint32_t)next);
    if (next >= 0 && !f->looked)
        look(f);
    return next < 0 ? (int)next : 0;
}

/* In a damaged file, calls without an end get the end of the file. */
static void end_the_rest(struct finder *f)
{
    for (uint32_t i = f->lowest; !f->done && i <= f->level; i++) {
        f->stack[i].end_ticks = f->chunks[f->chunk_count - 1].last_ticks;
        f->stack[i].bound |= NSC_BOUND_END;
    }
    if (!f->done && f->level == f->depth)
        f->end_chunk = f->chunk_count - 1;
}

/* ---- The call itself ------------------------------------------------------------------------- */

/* Counts a call's direct callees, by the rules of calls.c. */
struct counter {
    struct nsc_event call; /* its entry: ticks, depth, function */
    uint64_t numbers;      /* number of calls so far */
    bool inside;
    uint64_t number; /* number of the call itself */
    uint64_t children, child_ticks;
    uint64_t child_start;
    uint32_t open; /* number of open calls */
    /* Epoch: the time since which a call without a recorded entry must have been open. */
    uint32_t epoch_depth;
    uint64_t epoch_ticks, epoch_child_ticks;
};

static void begin_epoch(struct counter *c, uint64_t ticks)
{
    c->epoch_depth = c->open;
    c->epoch_ticks = ticks;
    c->epoch_child_ticks = c->child_ticks;
}

static void count_enter(struct counter *c, const struct nsc_event *e)
{
    c->numbers++;
    c->open = e->depth + 1;
    if (e->depth == c->call.depth && e->ticks == c->call.ticks && e->function == c->call.function) {
        c->inside = true;
        c->number = c->numbers;
        c->children = c->child_ticks = 0;
        c->epoch_depth = 0;
    } else if (c->inside && e->depth == c->call.depth + 1) {
        c->child_start = e->ticks;
    }
}

static void count_event(struct counter *c, const struct nsc_event *e)
{
    bool direct = c->inside && e->depth == c->call.depth + 1;

    if (e->kind == NSC_EVENT_ENTER) {
        count_enter(c, e);
    } else if (e->kind == NSC_EVENT_LOST) {
        begin_epoch(c, e->ticks);
    } else if (e->kind == NSC_EVENT_LATE_EXIT) {
        c->numbers++;
        if (c->open != c->epoch_depth)
            begin_epoch(c, e->ticks);
        if (direct) {
            c->children++;
            c->child_ticks = c->epoch_child_ticks + (e->ticks - c->epoch_ticks);
        }
    } else {
        c->open = e->depth;
        c->children += direct;
        c->child_ticks += direct ? e->ticks - c->child_start : 0;
        c->inside = c->inside && e->depth > c->call.depth;
        if (c->open < c->epoch_depth)
            begin_epoch(c, e->ticks);
    }
}

/*
 * Count from the position of @cursor up to the end of the call or, if @entry_only, just past its
 * entry. Several calls of that depth and function may begin at the same tick: the last of them is
 * counted.
 */
static int count_events(struct finder *f, struct nsc_cursor *cursor, struct counter *c,
                        uint64_t end_ticks, bool entry_only)
{
    const struct nsc_event *events;
    size_t n;
    int result;

    while ((result = nsc_cursor_next(cursor, &events, &n, f->diag)) > 0)
        for (size_t i = 0; i < n; i++) {
            const struct nsc_event *e = &events[i];

            if (e->ticks > (entry_only ? c->call.ticks : end_ticks) ||
                (!c->inside && e->ticks > c->call.ticks))
                return 0;
            count_event(c, e);
        }
    return result;
}

/* The last part of a call that is too long to be read: starts with the chunk in which it ends. */
static int count_last_chunk(struct finder *f, struct counter *c, uint64_t end_ticks)
{
    struct nsc_levels_stack stack;
    struct nsc_cursor *cursor;
    int error = nsc_levels_stack(f->trace, f->thread, f->end_chunk, &stack, f->diag);

    if (error == 0 && stack.depth <= f->depth)
        error = nsc_diag_set(f->diag, f->chunks[f->end_chunk].offset, EBADMSG,
                             "the opening stacks of thread %u disagree", f->thread);
    if (error != 0)
        return error;
    c->inside = true;
    c->open = stack.depth;
    c->epoch_depth = 0;
    c->child_ticks = stack.child_ticks[f->depth];
    if (stack.depth > f->depth + 1)
        c->child_start = stack.frames[f->depth + 1].start_ticks;
    error = nsc_cursor_open_chunk(f->trace, &f->chunks[f->end_chunk], &cursor, f->diag);
    if (error != 0)
        return error;
    error = count_events(f, cursor, c, end_ticks, false);
    nsc_cursor_close(cursor);
    return error;
}

static int describe(struct finder *f, struct nsc_at *out)
{
    const struct nsc_at_frame *frame = &f->stack[f->depth];
    struct counter c = {
        .call = {.ticks = frame->start_ticks, .depth = f->depth, .function = frame->function}};
    uint32_t first = find_chunk(f, frame->start_ticks);
    bool is_long = f->end_chunk > first && f->end_chunk - first > NSC_AT_CHUNKS_MAX;
    struct nsc_cursor *cursor;
    int error;

    if (first == f->chunk_count)
        return nsc_diag_set(f->diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "a call of thread %u begins behind its end", f->thread);
    for (uint32_t i = 0; i < first; i++)
        c.numbers += f->chunks[i].missing ? 0 : f->chunks[i].calls;
    error = nsc_cursor_open_chunk(f->trace, &f->chunks[first], &cursor, f->diag);
    if (error != 0)
        return error;
    error = count_events(f, cursor, &c, frame->end_ticks, is_long);
    nsc_cursor_close(cursor);
    if (error == 0 && is_long)
        error = count_last_chunk(f, &c, frame->end_ticks);
    if (error != 0)
        return error;
    out->children = c.children;
    out->children_known = !is_long;
    out->call = (struct nsc_call){
        .thread = f->thread,
        .function = frame->function,
        .caller = f->depth > 0 ? f->stack[f->depth - 1].function : NSC_NO_ID,
        .depth = f->depth,
        .bound = frame->bound,
        .number = c.number,
        .start_ticks = frame->start_ticks,
        .end_ticks = frame->end_ticks,
        .self_ticks = frame->end_ticks - frame->start_ticks - c.child_ticks,
    };
    return 0;
}

/* Move the frames below the call to @out, without those beyond callers_max. */
static void take_callers(struct finder *f, struct nsc_at *out)
{
    out->callers_left_out = f->lowest;
    out->caller_count = f->depth - f->lowest;
    for (uint32_t i = 0; i < out->caller_count; i++)
        f->stack[i] = f->stack[f->lowest + i];
    out->callers = f->stack;
    f->stack = NULL;
}

int nsc_at_find(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks,
                uint32_t depth, uint32_t function, uint32_t callers_max, struct nsc_at *out,
                struct nsc_diag *diag)
{
    struct finder f = {.trace = t,
                       .thread = thread,
                       .depth = depth,
                       .function = function,
                       .callers_max = callers_max,
                       .from_ticks = from_ticks,
                       .to_ticks = to_ticks,
                       .diag = diag};
    struct nsc_at at = {0};
    uint32_t first;
    int error;

    f.chunks = nsc_trace_chunks(t, thread, &f.chunk_count);
    first = find_chunk(&f, from_ticks);
    error = find(&f, first);
    if (error == 0 && !f.found)
        error = -ENOENT;
    if (error == 0) {
        end_the_rest(&f);
        error = describe(&f, &at);
    }
    if (error == 0) {
        take_callers(&f, &at);
        *out = at;
    }
    free(f.stack);
    free(f.instant);
    return error;
}

void nsc_at_free(struct nsc_at *at)
{
    free(at->callers);
    at->callers = NULL;
}
