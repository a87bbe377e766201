/*
 * selected_events.c - a thread's events after a selection was applied; see selected_events.h.
 *
 * Called by the analyses. Must not hold more than one batch and the stack of open calls.
 */
#include "analyze/calls/selected_events.h"

#include <errno.h>
#include <stdlib.h>

enum feed_phase {
    PHASE_OPENING, /* before the window; the calls open at its start are still to be emitted */
    PHASE_EVENTS,
    PHASE_CLOSING, /* after the last event; the calls still open are to be closed */
    PHASE_DONE,
};

struct nsc_selected_events {
    struct nsc_trace *trace;
    uint32_t thread;
    struct nsc_cursor *cursor;
    const struct nsc_selection *selection;
    enum feed_phase phase;
    bool plain;          /* no window, no filter: batches pass unchanged, `open` is unused */
    uint64_t last_ticks; /* of the newest event; calls left open end here */

    struct nsc_event *batch; /* events created here, not by the cursor */
    size_t batch_count, batch_max;
    /* Events with corrected ticks, when the hook cost is subtracted. */
    struct nsc_event *corrected;
    size_t corrected_max;
    uint64_t spent;           /* hook cost so far, in 1/256 ticks */
    uint64_t corrected_ticks; /* of the newest event */

    struct nsc_frame *open; /* open calls that are not hidden, outermost first */
    size_t depth, depth_max;
};

int nsc_selected_events_open(struct nsc_trace *t, uint32_t thread,
                             const struct nsc_selection *selection,
                             struct nsc_selected_events **out, struct nsc_diag *diag)
{
    struct nsc_selected_events *f = calloc(1, sizeof(*f));
    int error;

    if (!f)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory to read a thread");
    error = nsc_cursor_open(t, thread, selection->from_ticks, &f->cursor, diag);
    if (error) {
        free(f);
        return error;
    }
    f->trace = t;
    f->thread = thread;
    f->selection = selection;
    f->plain =
        selection->from_ticks == 0 && selection->to_ticks == UINT64_MAX && !selection->hidden;
    *out = f;
    return 0;
}

void nsc_selected_events_close(struct nsc_selected_events *f)
{
    if (!f)
        return;
    nsc_cursor_close(f->cursor);
    free(f->batch);
    free(f->corrected);
    free(f->open);
    free(f);
}

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the events of a thread");
}

/* Make room for @more events in the batch. */
static int reserve_batch(struct nsc_selected_events *f, size_t more)
{
    size_t want = f->batch_count + more;
    struct nsc_event *batch;

    if (want <= f->batch_max)
        return 0;
    want += want / 2;
    batch = reallocarray(f->batch, want, sizeof(*batch));
    if (!batch)
        return -ENOMEM;
    f->batch = batch;
    f->batch_max = want;
    return 0;
}

static int push_open(struct nsc_selected_events *f, const struct nsc_frame *frame)
{
    if (f->depth == f->depth_max) {
        size_t max = f->depth_max * 2 + 64;
        struct nsc_frame *open = reallocarray(f->open, max, sizeof(*open));

        if (!open)
            return -ENOMEM;
        f->open = open;
        f->depth_max = max;
    }
    f->open[f->depth++] = *frame;
    return 0;
}

/* Append an ENTER for each of @frames, and a LOST that marks where reading begins. */
static int tell_entries(struct nsc_selected_events *f, const struct nsc_frame *frames, size_t count)
{
    uint64_t ticks = f->selection->from_ticks;

    if (count == 0)
        return 0;
    if (ticks < frames[count - 1].start_ticks)
        ticks = frames[count - 1].start_ticks;
    if (reserve_batch(f, count + 1) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        f->batch[f->batch_count++] = (struct nsc_event){
            .ticks = frames[i].start_ticks,
            .function = frames[i].function,
            .depth = (uint32_t)i,
            .kind = NSC_EVENT_ENTER,
            .value = frames[i].bound,
        };
    f->batch[f->batch_count++] = (struct nsc_event){.ticks = ticks,
                                                    .value = NSC_SELECTED_EVENTS_WINDOW,
                                                    .function = NSC_NO_ID,
                                                    .depth = (uint32_t)count,
                                                    .kind = NSC_EVENT_LOST};
    return 0;
}

/* Append an UNWIND for each of @frames, innermost first. */
static int tell_ends(struct nsc_selected_events *f, const struct nsc_frame *frames, size_t count,
                     uint64_t ticks)
{
    if (reserve_batch(f, count) < 0)
        return -ENOMEM;
    while (count-- > 0)
        f->batch[f->batch_count++] = (struct nsc_event){
            .ticks = ticks,
            .function = frames[count].function,
            .depth = (uint32_t)count,
            .kind = NSC_EVENT_UNWIND,
            .value = 1,
        };
    return 0;
}

/* An exit exactly at the start belongs to a call before the window. */
static bool is_before(const struct nsc_event *e, uint64_t from)
{
    return e->ticks < from ||
           (e->ticks == from && e->kind != NSC_EVENT_ENTER && e->kind != NSC_EVENT_LOST);
}

/* An exit exactly at the end still closes its call inside the window. */
static bool is_after(const struct nsc_event *e, uint64_t to)
{
    return e->ticks > to ||
           (e->ticks == to && (e->kind == NSC_EVENT_ENTER || e->kind == NSC_EVENT_LOST));
}

/* Update the stack of open calls by an event. */
static int apply(struct nsc_selected_events *f, const struct nsc_event *e)
{
    if (e->kind == NSC_EVENT_ENTER) {
        struct nsc_frame frame = {e->ticks, e->function, (uint32_t)e->value};

        return push_open(f, &frame);
    }
    if ((e->kind == NSC_EVENT_EXIT || e->kind == NSC_EVENT_UNWIND) && f->depth > 0)
        f->depth--;
    return 0;
}

/* Apply the selection to a raw batch. */
static int filter_batch(struct nsc_selected_events *f, const struct nsc_event *raw, size_t count)
{
    const struct nsc_selection *s = f->selection;
    int error = reserve_batch(f, count);

    for (size_t i = 0; i < count && error == 0; i++) {
        struct nsc_event e = raw[i];

        if (s->hidden && e.function != NSC_NO_ID && s->hidden[e.function])
            continue;
        if (f->phase == PHASE_OPENING) {
            if (is_before(&e, s->from_ticks)) {
                error = apply(f, &e);
                continue;
            }
            error = tell_entries(f, f->open, f->depth);
            if (error == 0)
                error = reserve_batch(f, count - i);
            if (error)
                break;
            f->phase = PHASE_EVENTS;
        }
        if (is_after(&e, s->to_ticks)) {
            f->last_ticks = s->to_ticks;
            f->phase = PHASE_CLOSING;
            break;
        }
        if (e.kind == NSC_EVENT_ENTER)
            e.depth = (uint32_t)f->depth;
        error = apply(f, &e);
        if (e.kind != NSC_EVENT_ENTER)
            e.depth = (uint32_t)f->depth;
        f->last_ticks = e.ticks;
        f->batch[f->batch_count++] = e;
    }
    return error;
}

/* Load the calls that are open at the cursor: emit them at once if plain, else keep them. */
static int begin(struct nsc_selected_events *f)
{
    const struct nsc_frame *frames;
    uint32_t depth;
    int error = nsc_cursor_stack(f->cursor, &frames, &depth);

    if (error)
        return error;
    if (f->plain) {
        f->phase = PHASE_EVENTS;
        return tell_entries(f, frames, depth);
    }
    for (uint32_t i = 0; i < depth && error == 0; i++) {
        const uint8_t *hidden = f->selection->hidden;

        if (!hidden || !hidden[frames[i].function])
            error = push_open(f, &frames[i]);
    }
    return error;
}

/* Close the calls that are open after the last event. */
static int finish(struct nsc_selected_events *f)
{
    const struct nsc_frame *frames = f->open;
    uint32_t depth = (uint32_t)f->depth;
    int error = f->plain ? nsc_cursor_stack(f->cursor, &frames, &depth) : 0;

    f->phase = PHASE_DONE;
    return error ? error : tell_ends(f, frames, depth, f->last_ticks);
}

/* Take the next raw batch. Returns 1 if it is passed on, 0 if it was filtered into f->batch, or
 * -errno. */
static int take_batch(struct nsc_selected_events *f, const struct nsc_event **events, size_t *count,
                      struct nsc_diag *diag)
{
    const struct nsc_event *raw;
    size_t raw_count;
    int result = nsc_cursor_next(f->cursor, &raw, &raw_count, diag);

    if (result < 0)
        return result;
    if (result == 0) {
        /* If the window begins after the thread's end, it contains nothing of the thread. */
        f->phase = f->phase == PHASE_OPENING ? PHASE_DONE : PHASE_CLOSING;
        return 0;
    }
    if (!f->plain)
        return filter_batch(f, raw, raw_count) < 0 ? no_memory(diag) : 0;
    if (raw_count > 0)
        f->last_ticks = raw[raw_count - 1].ticks;
    *events = raw;
    *count = raw_count;
    return 1;
}

static int next_batch(struct nsc_selected_events *f, const struct nsc_event **events, size_t *count,
                      struct nsc_diag *diag)
{
    f->batch_count = 0;
    if (f->phase == PHASE_OPENING && begin(f) < 0)
        return no_memory(diag);
    while (f->batch_count == 0 && f->phase != PHASE_DONE) {
        if (f->phase == PHASE_CLOSING) {
            if (finish(f) < 0)
                return no_memory(diag);
        } else {
            int result = take_batch(f, events, count, diag);

            if (result != 0)
                return result;
        }
    }
    if (f->batch_count == 0)
        return 0;
    *events = f->batch;
    *count = f->batch_count;
    return 1;
}

/*
 * Subtract from an event's time the cost of this thread's hooks so far. The result never goes
 * backwards: a call shorter than its own hooks gets zero duration, and only its measured time is
 * subtracted.
 */
static uint64_t correct(struct nsc_selected_events *f, uint64_t ticks)
{
    uint64_t without = ticks - (f->spent >> 8);

    if (ticks < f->spent >> 8 || without < f->corrected_ticks) {
        without = f->corrected_ticks < ticks ? f->corrected_ticks : ticks;
        f->spent = (ticks - without) << 8;
    }
    f->corrected_ticks = without;
    return without;
}

static int correct_batch(struct nsc_selected_events *f, const struct nsc_event **events,
                         size_t count)
{
    const struct nsc_hook_cost *cost = &f->selection->cost;
    size_t i;

    if (count > f->corrected_max) {
        free(f->corrected);
        f->corrected = calloc(count, sizeof(*f->corrected));
        f->corrected_max = f->corrected ? count : 0;
    }
    if (!f->corrected)
        return -ENOMEM;
    for (i = 0; i < count; i++) {
        struct nsc_event *e = &f->corrected[i];

        *e = (*events)[i];
        e->ticks = correct(f, e->ticks);
        if (e->kind == NSC_EVENT_ENTER && e->ticks >= f->selection->from_ticks)
            f->spent += cost->inner;
        else if (e->kind == NSC_EVENT_EXIT || e->kind == NSC_EVENT_LATE_EXIT)
            f->spent += cost->outer;
    }
    *events = f->corrected;
    return 0;
}

int nsc_selected_events_next(struct nsc_selected_events *f, const struct nsc_event **events,
                             size_t *count, struct nsc_diag *diag)
{
    int result = next_batch(f, events, count, diag);

    if (result > 0 && f->selection->cost.inner + f->selection->cost.outer != 0 &&
        correct_batch(f, events, *count) < 0)
        return no_memory(diag);
    return result;
}

uint32_t nsc_selected_events_chunk(const struct nsc_selected_events *f)
{
    const struct nsc_chunk *chunk = nsc_cursor_chunk(f->cursor);
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(f->trace, f->thread, &count);

    if (f->phase == PHASE_OPENING && f->plain)
        return 0;
    if (f->phase != PHASE_EVENTS || chunk == NULL || !nsc_cursor_at_chunk_end(f->cursor))
        return UINT32_MAX;
    return (uint32_t)(chunk - chunks) + 1;
}

int nsc_selected_events_skip(struct nsc_selected_events *f, uint32_t chunk, struct nsc_diag *diag)
{
    uint32_t count, depth;
    const struct nsc_chunk *chunks = nsc_trace_chunks(f->trace, f->thread, &count);
    const struct nsc_frame *frames;
    struct nsc_cursor *cursor;
    int error;

    f->phase = PHASE_EVENTS;
    if (chunk >= count) {
        f->phase = PHASE_DONE; /* at the end of a complete thread no call is open */
        return 0;
    }
    error = nsc_cursor_open_chunk(f->trace, &chunks[chunk], &cursor, diag);
    if (error != 0)
        return error;
    nsc_cursor_close(f->cursor);
    f->cursor = cursor;
    f->depth = 0;
    error = f->plain ? 0 : nsc_cursor_stack(cursor, &frames, &depth);
    for (uint32_t i = 0; error == 0 && !f->plain && i < depth; i++)
        error = push_open(f, &frames[i]);
    return error != 0 ? no_memory(diag) : 0;
}
