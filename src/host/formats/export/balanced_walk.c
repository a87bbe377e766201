/* balanced_walk.c - see balanced_walk.h. */
#include "formats/export/balanced_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct frame {
    uint64_t start_ticks;
    uint64_t gaps; /* number of gaps in the thread before this frame */
    uint32_t function;
    uint32_t bound;
};

/*
 * A call of a late exit: its entry was not recorded. The call began at one of the "moments" at
 * which an entry can be missing: the thread's start, a gap, or the end of a call that was open
 * during a gap. The begin of another call is a moment, too, because a file may contain that order.
 * Both passes number the moments identically.
 */
struct late_call {
    uint64_t moment;
    size_t order; /* of exits: among calls of one moment, the innermost exits first */
    uint32_t function;
};

/* First pass: the last moment at each depth, and the number of gaps when its frame was entered. */
struct level {
    uint64_t moment, gaps;
};

struct nsc_walk {
    struct nsc_trace *trace;
    struct nsc_cursor *cursor;
    struct nsc_walk_options options;
    uint32_t thread;

    const struct nsc_event *batch;
    size_t at, count;
    uint64_t events_read;
    uint64_t last_ticks; /* of the last event read or reported */

    /* The begins of frames[0 .. told - 1] have been reported; `shown` of these are not hidden. */
    struct frame *frames;
    size_t depth, capacity, told, shown;

    struct late_call *late; /* by moment, then order */
    size_t late_count, late_capacity, late_at;
    struct level *levels; /* first pass only */
    size_t level_capacity;
    uint64_t moment, gaps;

    bool started; /* the cursor's initial stack has been copied to `frames` */
    bool inside;  /* the window has begun: begins and ends are reported */
    bool ending;  /* no event follows: open calls end at last_ticks */
    bool cut;     /* with `ending`: because the window ends */
};

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static int push(struct nsc_walk *w, uint64_t ticks, uint32_t function, uint32_t bound,
                struct nsc_diag *diag)
{
    if (w->depth == w->capacity) {
        size_t capacity = w->capacity == 0 ? 256 : w->capacity * 2;
        struct frame *frames = realloc(w->frames, capacity * sizeof *frames);

        if (frames == NULL)
            return no_memory(diag);
        w->frames = frames;
        w->capacity = capacity;
    }
    w->frames[w->depth++] = (struct frame){ticks, w->gaps, function, bound};
    return 0;
}

static bool is_hidden(const struct nsc_walk *w, uint32_t function)
{
    return w->options.hidden != NULL && w->options.hidden[function] != 0;
}

/* ---- First pass: late exits --------------------------------------------------------------- */

static int late_add(struct nsc_walk *w, uint64_t moment, uint32_t function, struct nsc_diag *diag)
{
    if (w->late_count == w->late_capacity) {
        size_t capacity = w->late_capacity == 0 ? 64 : w->late_capacity * 2;
        struct late_call *late = reallocarray(w->late, capacity, sizeof *late);

        if (late == NULL)
            return no_memory(diag);
        w->late = late;
        w->late_capacity = capacity;
    }
    w->late[w->late_count] = (struct late_call){moment, w->late_count, function};
    w->late_count++;
    return 0;
}

static int push_level(struct nsc_walk *w, size_t depth, struct level level, struct nsc_diag *diag)
{
    if (depth == w->level_capacity) {
        size_t capacity = w->level_capacity == 0 ? 256 : w->level_capacity * 2;
        struct level *levels = reallocarray(w->levels, capacity, sizeof *levels);

        if (levels == NULL)
            return no_memory(diag);
        w->levels = levels;
        w->level_capacity = capacity;
    }
    w->levels[depth] = level;
    return 0;
}

/* Processes one event of the first pass. Updates the depth, moment and gap count exactly as the
 * second pass does. */
static int follow(struct nsc_walk *w, const struct nsc_event *e, size_t *depth, struct level *now,
                  struct nsc_diag *diag)
{
    switch ((enum nsc_event_kind)e->kind) {
    case NSC_EVENT_ENTER:
        now->moment++;
        return push_level(w, ++*depth, *now, diag);
    case NSC_EVENT_EXIT:
    case NSC_EVENT_UNWIND:
        if (*depth > 0 && w->levels[(*depth)--].gaps < now->gaps)
            w->levels[*depth].moment = ++now->moment;
        return 0;
    case NSC_EVENT_LATE_EXIT:
        return late_add(w, w->levels[*depth].moment, e->function, diag);
    case NSC_EVENT_LOST:
        now->gaps++;
        w->levels[*depth].moment = ++now->moment;
        return 0;
    }
    return 0;
}

static int compare_late(const void *a, const void *b)
{
    const struct late_call *x = a, *y = b;

    if (x->moment != y->moment)
        return x->moment < y->moment ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Finds all late exits of the thread and the moments at which their calls began. */
static int collect_late(struct nsc_walk *w, struct nsc_diag *diag)
{
    const struct nsc_event *events;
    const struct nsc_frame *frames;
    struct nsc_cursor *cursor;
    struct level now = {0};
    uint32_t open = 0;
    size_t count, depth = 0;
    int more = 0, error = nsc_cursor_open(w->trace, w->thread, 0, &cursor, diag);

    if (error != 0)
        return error;
    error = nsc_cursor_stack(cursor, &frames, &open);
    if (error == 0)
        error = push_level(w, 0, now, diag);
    while (depth < open && error == 0)
        error = push_level(w, ++depth, now, diag);
    while (error == 0 && (more = nsc_cursor_next(cursor, &events, &count, diag)) > 0)
        for (size_t i = 0; i < count && error == 0; i++)
            error = follow(w, &events[i], &depth, &now, diag);
    nsc_cursor_close(cursor);
    free(w->levels);
    w->levels = NULL;
    if (w->late_count > 1)
        qsort(w->late, w->late_count, sizeof *w->late, compare_late);
    return error != 0 ? error : more;
}

/* ---- Opening ------------------------------------------------------------------------------ */

int nsc_walk_open(struct nsc_trace *t, uint32_t thread, const struct nsc_walk_options *options,
                  struct nsc_walk **out, struct nsc_diag *diag)
{
    struct nsc_walk *w = calloc(1, sizeof *w);
    int error = 0;

    if (w == NULL)
        return no_memory(diag);
    w->trace = t;
    w->thread = thread;
    w->options = *options;
    if (!options->raw_late)
        error = collect_late(w, diag);
    /* Moments are counted from the thread's start. Without late calls, reading can start with the
     * window's first chunk. */
    if (error == 0)
        error = nsc_cursor_open(t, thread, w->late_count > 0 ? 0 : options->from_ticks, &w->cursor,
                                diag);
    if (error != 0) {
        nsc_walk_close(w);
        return error;
    }
    *out = w;
    return 0;
}

void nsc_walk_close(struct nsc_walk *w)
{
    if (w == NULL)
        return;
    if (w->cursor != NULL)
        nsc_cursor_close(w->cursor);
    free(w->frames);
    free(w->levels);
    free(w->late);
    free(w);
}

uint64_t nsc_walk_events_read(const struct nsc_walk *w)
{
    return w->events_read;
}

/* ---- Second pass: output ------------------------------------------------------------------ */

/* Opens the late calls that begin at the current moment; the last one to exit is the outermost. */
static int begin_late(struct nsc_walk *w, uint64_t ticks, struct nsc_diag *diag)
{
    size_t first = w->late_at;
    size_t end = first;

    while (end < w->late_count && w->late[end].moment == w->moment)
        end++;
    w->late_at = end;
    while (end > first) {
        int error = push(w, ticks, w->late[--end].function, NSC_BOUND_START, diag);

        if (error != 0)
            return error;
    }
    return 0;
}

/* Advances to the next moment and opens the late calls that begin there. */
static int pass_moment(struct nsc_walk *w, struct nsc_diag *diag)
{
    w->moment++;
    return w->late_at < w->late_count ? begin_late(w, w->last_ticks, diag) : 0;
}

/* Gets the next batch. Sets w->ending at the end of the thread. Returns 0 or -errno. */
static int refill(struct nsc_walk *w, struct nsc_diag *diag)
{
    int more = nsc_cursor_next(w->cursor, &w->batch, &w->count, diag);

    w->at = 0;
    if (more < 0)
        return more;
    if (more == 0) {
        w->count = 0;
        w->ending = true;
        if (!w->inside) /* the thread has no event in the window */
            w->depth = 0;
        return 0;
    }
    w->events_read += w->count;
    return 0;
}

/* Adds NSC_WALK_OPEN if the start of a call with an entry event is only a bound. */
static uint32_t open_bound(uint32_t bound)
{
    return bound | ((bound & NSC_BOUND_START) != 0 ? NSC_WALK_OPEN : 0);
}

/*
 * Sets up the stack before the first event: late calls, then, inside them, the calls that were open
 * when the chunk began. The cursor's stack belongs to the next batch, so it is read before the
 * batch.
 */
static int start(struct nsc_walk *w, struct nsc_diag *diag)
{
    const struct nsc_frame *frames;
    struct nsc_frame *copy = NULL;
    uint64_t ticks;
    uint32_t depth;
    int error = nsc_cursor_stack(w->cursor, &frames, &depth);

    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot read the open calls");
    if (depth > 0) {
        copy = malloc(depth * sizeof *copy);
        if (copy == NULL)
            return no_memory(diag);
        memcpy(copy, frames, depth * sizeof *copy);
    }
    w->started = true;
    error = refill(w, diag);
    if (error == 0 && !w->ending) {
        ticks = depth > 0 && copy[0].start_ticks < w->batch[0].ticks ? copy[0].start_ticks
                                                                     : w->batch[0].ticks;
        error = begin_late(w, ticks, diag);
        for (uint32_t i = 0; i < depth && error == 0; i++) {
            if (copy[i].start_ticks > ticks)
                ticks = copy[i].start_ticks < w->batch[0].ticks ? copy[i].start_ticks
                                                                : w->batch[0].ticks;
            error = push(w, ticks, copy[i].function, open_bound(copy[i].bound), diag);
        }
    }
    free(copy);
    return error;
}

/* Reports the begin of the outermost call that has not been reported. Returns whether there was
 * one. */
static bool tell_begin(struct nsc_walk *w, struct nsc_walk_event *event)
{
    while (w->told < w->depth) {
        const struct frame *f = &w->frames[w->told++];
        bool cut = f->start_ticks < w->options.from_ticks;

        if (is_hidden(w, f->function))
            continue;
        *event = (struct nsc_walk_event){
            .ticks = cut ? w->options.from_ticks : f->start_ticks,
            .kind = NSC_WALK_BEGIN,
            .function = f->function,
            .depth = (uint32_t)w->shown++,
            .bound =
                (f->bound & (NSC_BOUND_START | NSC_WALK_OPEN)) | (cut ? NSC_WALK_CUT_START : 0),
        };
        return true;
    }
    return false;
}

/* Closes the innermost call. The begins of all frames must have been reported. Returns whether
 * @event is filled. */
static bool tell_end(struct nsc_walk *w, uint64_t ticks, uint32_t bound,
                     struct nsc_walk_event *event)
{
    const struct frame *f = &w->frames[--w->depth];
    bool cut = f->start_ticks < w->options.from_ticks;

    w->told = w->depth;
    if (is_hidden(w, f->function))
        return false;
    *event = (struct nsc_walk_event){
        .ticks = ticks,
        .start_ticks = cut ? w->options.from_ticks : f->start_ticks,
        .kind = NSC_WALK_END,
        .function = f->function,
        .depth = (uint32_t)--w->shown,
        .bound = f->bound | bound | (cut ? NSC_WALK_CUT_START : 0),
    };
    return true;
}

/* Returns whether the window begins with @e: from here on, events are reported. */
static bool enters_window(const struct nsc_walk *w, const struct nsc_event *e)
{
    if (e->kind == NSC_EVENT_ENTER || e->kind == NSC_EVENT_LOST)
        return e->ticks >= w->options.from_ticks;
    return e->ticks > w->options.from_ticks || w->options.from_ticks == 0;
}

static bool leaves_window(const struct nsc_walk *w, const struct nsc_event *e)
{
    if (e->kind == NSC_EVENT_ENTER || e->kind == NSC_EVENT_LOST)
        return e->ticks >= w->options.to_ticks;
    return e->ticks > w->options.to_ticks;
}

/* Ends the innermost call. Returns 1 if @event is filled, 0 if there is nothing to report, or
 * -errno with @diag. */
static int close_one(struct nsc_walk *w, uint32_t bound, struct nsc_walk_event *event,
                     struct nsc_diag *diag)
{
    if (w->depth == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "thread %u: a call ends that never began", w->thread);
    if (!w->inside) {
        w->depth--;
        return 0;
    }
    return tell_end(w, w->last_ticks, bound, event);
}

/* Flags for the end of a call that @e ends. */
static uint32_t end_bound(const struct nsc_event *e)
{
    uint32_t bound = nsc_model_end_bound(e);

    return bound | (bound != 0 && e->kind != NSC_EVENT_UNWIND ? NSC_WALK_UNTIMED : 0);
}

static int take_late(struct nsc_walk *w, const struct nsc_event *e, struct nsc_walk_event *event,
                     struct nsc_diag *diag)
{
    if (!w->options.raw_late)
        return close_one(w, end_bound(e), event, diag);
    *event = (struct nsc_walk_event){.ticks = w->last_ticks,
                                     .kind = NSC_WALK_LATE,
                                     .function = e->function,
                                     .bound = NSC_BOUND_START | end_bound(e)};
    return w->inside && !is_hidden(w, e->function);
}

/* Processes one event of the trace. Returns as close_one(). */
static int take(struct nsc_walk *w, const struct nsc_event *e, struct nsc_walk_event *event,
                struct nsc_diag *diag)
{
    bool spans_gap;
    int told, error;

    if (e->ticks > w->last_ticks)
        w->last_ticks = e->ticks;
    switch ((enum nsc_event_kind)e->kind) {
    case NSC_EVENT_ENTER:
        error = push(w, w->last_ticks, e->function, open_bound((uint32_t)e->value), diag);
        return error != 0 ? error : pass_moment(w, diag);
    case NSC_EVENT_EXIT:
    case NSC_EVENT_UNWIND:
        spans_gap = w->depth > 0 && w->frames[w->depth - 1].gaps < w->gaps;
        told = close_one(w, end_bound(e), event, diag);
        error = told >= 0 && spans_gap ? pass_moment(w, diag) : 0;
        return error != 0 ? error : told;
    case NSC_EVENT_LATE_EXIT:
        return take_late(w, e, event, diag);
    case NSC_EVENT_LOST:
        w->gaps++;
        *event = (struct nsc_walk_event){.ticks = w->last_ticks,
                                         .kind = NSC_WALK_LOST,
                                         .function = NSC_NO_ID,
                                         .value = nsc_model_gap_lost(e->value),
                                         .left_out = nsc_model_gap_left_out(e->value)};
        error = pass_moment(w, diag);
        return error != 0 ? error : w->inside;
    }
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "thread %u: event of unknown kind %u",
                        w->thread, e->kind);
}

/* Closes the calls that are open at the end. Returns 1 if @event is filled, 0 when none are left.
 */
static int finish(struct nsc_walk *w, struct nsc_walk_event *event)
{
    uint32_t bound = w->cut ? NSC_WALK_CUT_END : NSC_BOUND_END;

    while (w->depth > 0)
        if (tell_end(w, w->last_ticks, bound, event))
            return 1;
    return 0;
}

/* Processes the next event of the trace. Returns as take(). */
static int step(struct nsc_walk *w, struct nsc_walk_event *event, struct nsc_diag *diag)
{
    const struct nsc_event *e;

    if (w->at == w->count)
        return w->started ? refill(w, diag) : start(w, diag);
    e = &w->batch[w->at];
    if (!w->inside && enters_window(w, e)) {
        w->inside = true; /* the caller reports the open calls before this event */
        return 0;
    }
    if (w->inside && leaves_window(w, e)) {
        w->ending = w->cut = true;
        w->last_ticks = w->options.to_ticks;
        return 0;
    }
    w->at++;
    return take(w, e, event, diag);
}

int nsc_walk_next(struct nsc_walk *w, struct nsc_walk_event *event, struct nsc_diag *diag)
{
    int told = 0;

    while (told == 0) {
        if (w->inside && tell_begin(w, event))
            return 1;
        if (w->ending)
            return finish(w, event);
        told = step(w, event, diag);
    }
    return told;
}
