/* nst_trim.c - see nst_trim.h. */
#include "formats/nst/nst_trim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/left_out.h"
#include "analyze/calls/selected_events.h"
#include "trace/write/lane.h"
#include "util/buffer.h"

struct cut {
    struct nsc_trace *trace;
    const struct nsc_trace_info *info;
    const struct nsc_selection *selection;
    struct nsc_writer *writer;
    bool windowed;
    /* New ids by old id; NSC_NO_ID = not in the new trace, or not yet. */
    uint32_t *processes, *threads, *modules, *functions;
    uint64_t *lost; /* by new thread id: lost events in its gaps */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint64_t done; /* events processed, for progress */
    struct nsc_nst_trim_result result;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- The recording --------------------------------------------------------------------------- */

/* Returns whether a metadata key is still valid for the selection. Event counts of the whole
 * recording are not valid for a part of it. */
static bool is_of_part(const struct cut *c, const char *key)
{
    static const char *const counts[] = {NSC_META_PROGRAM_EVENTS, NSC_META_SAMPLES_DUE,
                                         NSC_META_SAMPLES_TAKEN};
    const char *end = strrchr(key, '_');

    if (strcmp(key, NSC_META_TIMED_FULL) == 0) /* lists module ids, which change */
        return false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(key, counts[i]) == 0)
            return !c->windowed && c->selection->threads == NULL && c->selection->hidden == NULL &&
                   c->info->complete;
    return !(c->windowed && strncmp(key, "left_out_", 9) == 0 && end != NULL &&
             strcmp(end, "_events") == 0);
}

static void copy_meta(struct cut *c)
{
    const char *key, *value;
    char window[64];

    for (uint32_t i = 0; nsc_trace_meta_at(c->trace, i, &key, &value) == 0; i++)
        if (is_of_part(c, key))
            nsc_writer_meta(c->writer, key, value);
    if (c->info->warning[0] != '\0')
        nsc_writer_meta(c->writer, NSC_META_RECOVERED, c->info->warning);
    if (!c->windowed)
        return;
    snprintf(window, sizeof window, "%" PRIu64 " %" PRIu64,
             later(c->selection->from_ticks, c->info->start_ticks),
             earlier(c->selection->to_ticks, c->info->end_ticks));
    nsc_writer_meta(c->writer, NSC_META_WINDOW, window);
}

/* Copies the clock. Times count from the first clock point or the first event, whichever is
 * earlier. If it was an event, a clock point is added at its time, so that times do not change. */
static void copy_clock(struct cut *c)
{
    const struct nsc_clock *clock = nsc_trace_clock(c->trace);
    const struct nsc_clock_point *first = nsc_trace_clock_point(c->trace, 0);

    if (!clock->identity && (first == NULL || first->ticks > clock->origin_ticks)) {
        struct nsc_clock_point point = {.ticks = clock->origin_ticks, .monotonic_ns = 1};

        if (first != NULL)
            point.monotonic_ns = first->monotonic_ns -
                                 earlier(nsc_clock_ns(clock, first->ticks), first->monotonic_ns);
        nsc_writer_clock(c->writer, &point);
    }
    for (uint32_t i = 0; i < c->info->clock_count; i++)
        nsc_writer_clock(c->writer, nsc_trace_clock_point(c->trace, i));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool is_wanted(const struct cut *c, uint32_t thread)
{
    const struct nsc_thread *t = nsc_trace_thread(c->trace, thread);

    return nsc_selection_has_thread(c->selection, thread) &&
           (!c->windowed || (t->start_ticks <= c->selection->to_ticks &&
                             (t->end_ticks == 0 || t->end_ticks >= c->selection->from_ticks)));
}

/* Marks the threads to be copied. A further stack needs the thread's own stack, which comes before
 * it in the table. */
static void choose_threads(struct cut *c)
{
    for (uint32_t i = c->info->thread_count; i-- > 0;) {
        const struct nsc_thread *t = nsc_trace_thread(c->trace, i);
        uint32_t own = i;

        if (c->threads[i] != NSC_NO_ID || !is_wanted(c, i))
            continue;
        c->threads[i] = 0;
        while (t->stack > 0 && own > 0) {
            const struct nsc_thread *other = nsc_trace_thread(c->trace, --own);

            if (other->process != t->process || other->tid != t->tid || other->stack != 0)
                continue;
            c->threads[own] = 0;
            break;
        }
    }
}

static int add_processes(struct cut *c)
{
    bool whole = !c->windowed && c->selection->threads == NULL;
    int error = 0;

    for (uint32_t i = 0; i < c->info->thread_count; i++)
        if (c->threads[i] != NSC_NO_ID)
            c->processes[nsc_trace_thread(c->trace, i)->process] = 0;
    for (uint32_t i = 0; i < c->info->process_count && error == 0; i++) {
        struct nsc_process p = *nsc_trace_process(c->trace, i);

        if (!whole && c->processes[i] == NSC_NO_ID)
            continue;
        p.parent = p.parent < i ? c->processes[p.parent] : NSC_NO_ID;
        error = nsc_writer_add_process(c->writer, &p, &c->processes[i]);
    }
    return error;
}

static int add_module(struct cut *c, uint32_t id, uint32_t *new_id)
{
    int error = 0;

    if (id != NSC_NO_ID && c->modules[id] == NSC_NO_ID)
        error = nsc_writer_add_module(c->writer, nsc_trace_module(c->trace, id), &c->modules[id]);
    *new_id = id == NSC_NO_ID ? NSC_NO_ID : c->modules[id];
    return error;
}

/* Gets the new id of a function, which is added at its first use. */
static int use_function(struct cut *c, uint32_t id, uint32_t *new_id)
{
    int error = 0;

    if (c->functions[id] == NSC_NO_ID) {
        struct nsc_function f = *nsc_trace_function(c->trace, id);

        error = add_module(c, f.module, &f.module);
        if (error == 0)
            error = nsc_writer_add_function(c->writer, &f, &c->functions[id]);
    }
    *new_id = c->functions[id];
    return error;
}

/* Adds the mappings of the modules and processes in use. */
static int add_mappings(struct cut *c)
{
    int error = 0;

    for (uint32_t i = 0; i < c->info->mapping_count && error == 0; i++) {
        struct nsc_mapping m = *nsc_trace_mapping(c->trace, i);

        m.process = c->processes[m.process];
        m.module = c->modules[m.module];
        if (m.process != NSC_NO_ID && m.module != NSC_NO_ID)
            error = nsc_writer_add_mapping(c->writer, &m, NULL);
    }
    return error;
}

static int add_left_out(struct cut *c)
{
    const struct nsc_selection *s = c->selection;
    int error = 0;

    for (uint32_t i = 0; i < c->info->left_out_count && error == 0; i++) {
        struct nsc_left_out l = *nsc_trace_left_out(c->trace, i);
        uint64_t end = l.to_ticks != 0 ? l.to_ticks : later(c->info->end_ticks, l.from_ticks);
        uint64_t from = later(l.from_ticks, s->from_ticks), to = earlier(end, s->to_ticks);
        double part = end > l.from_ticks && to > from
                          ? (double)(to - from) / (double)(end - l.from_ticks)
                          : 1;

        if (from > to || (l.process != NSC_NO_ID && c->processes[l.process] == NSC_NO_ID) ||
            (l.function != NSC_NO_ID && s->hidden != NULL && s->hidden[l.function] != 0))
            continue;
        if (l.process != NSC_NO_ID)
            l.process = c->processes[l.process];
        if (l.function != NSC_NO_ID)
            error = use_function(c, l.function, &l.function);
        if (from > l.from_ticks || to < end) {
            l.calls = nsc_left_out_scale(&l.calls, part);
            l.total_ticks = nsc_left_out_scale(&l.total_ticks, part);
            l.self_ticks = nsc_left_out_scale(&l.self_ticks, part);
            l.window_ticks =
                nsc_left_out_scale(&(struct nsc_estimate){l.window_ticks, 0}, part).value;
            l.from_ticks = from;
            l.to_ticks = to;
        }
        if (error == 0)
            error = nsc_writer_add_left_out(c->writer, &l, NULL);
    }
    return error;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static bool has_late(const struct cut *c, uint32_t thread)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(c->trace, thread, &count);

    for (uint32_t i = 0; i < count; i++)
        if (chunks[i].last_ticks >= c->selection->from_ticks &&
            chunks[i].first_ticks <= c->selection->to_ticks &&
            nsc_reader_may_have_late(chunks, count, i))
            return true;
    return false;
}

/* Called when all calls that are open at the start of the window have been written. If late exits
 * may follow, their calls began at or after this point: write a gap for them to begin at. Without
 * late exits no gap is written, since viewers display gaps. */
static void begin_window(struct cut *c, struct nsc_lane *lane, uint32_t thread)
{
    if (has_late(c, thread))
        nsc_lane_lost(lane, c->selection->from_ticks, 0);
    nsc_lane_end_chunk(lane);
}

/* Copies one event. Calls that are open at the start of the window come first, in a chunk of their
 * own. The index does not record which calls of a chunk have a bound as their start, so readers
 * must read that chunk. */
static int copy_event(struct cut *c, struct nsc_lane *lane, uint32_t thread,
                      const struct nsc_event *e, uint64_t *lost)
{
    uint64_t from = c->selection->from_ticks;
    uint32_t function = NSC_NO_ID;
    int error = e->function == NSC_NO_ID ? 0 : use_function(c, e->function, &function);

    if (error != 0)
        return error;
    switch ((enum nsc_event_kind)e->kind) {
    case NSC_EVENT_ENTER:
        if (e->ticks < from || e->value != 0)
            nsc_lane_enter_earlier(lane, later(e->ticks, from), function, 0);
        else
            nsc_lane_enter(lane, e->ticks, function, 0);
        c->result.cut += e->ticks < from;
        c->result.calls++;
        break;
    case NSC_EVENT_EXIT:
        nsc_lane_exit(lane, e->ticks);
        break;
    case NSC_EVENT_UNWIND:
        c->result.cut += e->value != 0;
        nsc_lane_unwind(lane, e->ticks);
        break;
    case NSC_EVENT_LATE_EXIT:
        nsc_lane_late_exit(lane, e->ticks, function);
        c->result.calls++;
        break;
    case NSC_EVENT_LOST:
        if (e->value == NSC_SELECTED_EVENTS_WINDOW) {
            begin_window(c, lane, thread);
            break;
        }
        if (nsc_model_gap_left_out(e->value) > 0)
            nsc_lane_left_out(lane, e->ticks, nsc_model_gap_left_out(e->value));
        else
            nsc_lane_lost(lane, e->ticks, e->value);
        *lost += nsc_model_gap_lost(e->value);
        break;
    }
    return 0;
}

static int copy_calls(struct cut *c, struct nsc_lane *lane, uint32_t id, uint64_t *lost,
                      struct nsc_diag *diag)
{
    uint64_t last = nsc_trace_thread(c->trace, id)->start_ticks;
    const struct nsc_event *events;
    struct nsc_selected_events *feed;
    size_t count;
    int more = nsc_selected_events_open(c->trace, id, c->selection, &feed, diag), error = 0;

    if (more != 0)
        return more;
    while (error == 0 && (more = nsc_selected_events_next(feed, &events, &count, diag)) > 0) {
        for (size_t i = 0; i < count && error == 0; i++)
            error = copy_event(c, lane, id, &events[i], lost);
        if (count > 0)
            last = events[count - 1].ticks;
        c->done += count;
        if (c->progress != NULL)
            c->progress(c->context, c->done, c->info->events);
    }
    nsc_selected_events_close(feed);
    nsc_lane_close(lane, last);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write: %s", strerror(-error));
    return more;
}

/* Converts a thread entry of the old trace to the new one. With a window, only lost events with a
 * position in it count: see set_losses(). */
static void clip_thread(const struct cut *c, struct nsc_thread *thread)
{
    thread->process = c->processes[thread->process];
    if (!c->windowed)
        return;
    thread->lost = 0;
    thread->start_ticks = later(thread->start_ticks, c->selection->from_ticks);
    if (thread->end_ticks != 0)
        thread->end_ticks = earlier(thread->end_ticks, c->selection->to_ticks);
}

static int add_thread(struct cut *c, uint32_t id, struct nsc_diag *diag)
{
    struct nsc_thread thread = *nsc_trace_thread(c->trace, id);
    struct nsc_lane *lane;
    uint64_t lost = 0;
    uint32_t new_id;
    int error;

    clip_thread(c, &thread);
    error = nsc_writer_add_thread(c->writer, &thread, &new_id, &lane);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write: %s", strerror(-error));
    c->threads[id] = new_id;
    if (!is_wanted(c, id) || !nsc_selected_events_is_wanted(c->trace, c->selection, id)) {
        nsc_lane_close(lane, thread.start_ticks);
        lane = NULL;
    }
    if (lane != NULL)
        error = copy_calls(c, lane, id, &lost, diag);
    c->result.lost += lost;
    c->lost[new_id] = lost;
    c->result.threads += thread.stack == 0;
    return error;
}

/* Sets the lost events of each thread, with all its stacks, in the entry of its stack 0. */
static int set_losses(struct cut *c)
{
    uint32_t own = NSC_NO_ID;
    uint64_t sum = 0;
    int error = 0;

    for (uint32_t i = 0; c->windowed && i <= c->info->thread_count && error == 0; i++) {
        const struct nsc_thread *t = nsc_trace_thread(c->trace, i);

        if (t != NULL && c->threads[i] == NSC_NO_ID)
            continue;
        if ((t == NULL || t->stack == 0) && own != NSC_NO_ID && sum > 0) {
            struct nsc_thread thread = *nsc_trace_thread(c->trace, own);

            clip_thread(c, &thread);
            thread.lost = sum;
            error = nsc_writer_set_thread(c->writer, c->threads[own], &thread);
        }
        if (t == NULL)
            break;
        if (t->stack == 0) {
            own = i;
            sum = 0;
        }
        sum += c->lost[c->threads[i]];
    }
    return error;
}

/* ---- Notes ----------------------------------------------------------------------------------- */

/* Copies the notes of the window. For states, also copies the last change before the window, at the
 * window's start: it is the state that the window begins with. */
static int copy_notes(struct cut *c, enum nsc_note_kind kind, uint32_t owner, bool of_process,
                      uint32_t new_owner, struct nsc_diag *diag)
{
    uint64_t from = c->selection->from_ticks, to = c->selection->to_ticks;
    struct nsc_note_cursor *cursor;
    struct nsc_note note, before;
    bool has_before = false;
    int more = nsc_note_cursor_open(c->trace, kind, owner, of_process,
                                    kind == NSC_NOTE_STATE ? 0 : from, &cursor, diag);

    if (more != 0)
        return more;
    while ((more = nsc_note_cursor_next(cursor, &note, diag)) > 0 && note.ticks < to) {
        note.owner = new_owner;
        if (note.ticks < from) {
            before = note;
            has_before = true;
            continue;
        }
        if (has_before) {
            before.ticks = from;
            nsc_writer_note(c->writer, &before);
            has_before = false;
        }
        nsc_writer_note(c->writer, &note);
    }
    if (more >= 0 && has_before) {
        before.ticks = from;
        nsc_writer_note(c->writer, &before);
    }
    nsc_note_cursor_close(cursor);
    return more < 0 ? more : 0;
}

static int copy_all_notes(struct cut *c, struct nsc_diag *diag)
{
    int error = 0;

    for (int kind = 0; kind < NSC_NOTE_KINDS; kind++) {
        for (uint32_t i = 0; error == 0 && i < c->info->thread_count; i++)
            if (c->threads[i] != NSC_NO_ID)
                error = copy_notes(c, (enum nsc_note_kind)kind, i, false, c->threads[i], diag);
        for (uint32_t i = 0; error == 0 && i < c->info->process_count; i++)
            if (c->processes[i] != NSC_NO_ID)
                error = copy_notes(c, (enum nsc_note_kind)kind, i, true, c->processes[i], diag);
    }
    return error;
}

/* Which modules are timed in full, by their new ids. */
static int copy_timing(struct cut *c)
{
    struct nsc_buffer list = {0};
    bool failed;

    for (uint32_t i = 0; i < c->info->module_count; i++)
        if (nsc_trace_timed_in_full(c->trace, i) && c->modules[i] != NSC_NO_ID)
            nsc_writer_put_timed(&list, c->modules[i]);
    if (list.used > 0)
        nsc_buffer_bytes(&list, "", 1);
    failed = list.failed;
    if (!failed && list.used > 0)
        nsc_writer_meta(c->writer, NSC_META_TIMED_FULL, (const char *)list.data);
    nsc_buffer_free(&list);
    return failed ? -ENOMEM : nsc_writer_error(c->writer);
}

/* ---- Writing the trace ----------------------------------------------------------------------- */

static int write_all(struct cut *c, struct nsc_diag *diag)
{
    int error;

    copy_meta(c);
    copy_clock(c);
    choose_threads(c);
    error = add_processes(c);
    for (uint32_t i = 0; error == 0 && i < c->info->thread_count; i++)
        if (c->threads[i] != NSC_NO_ID) {
            error = add_thread(c, i, diag);
            if (error != 0)
                return error;
        }
    if (error == 0)
        error = copy_all_notes(c, diag);
    if (error != 0 && nsc_writer_error(c->writer) == 0)
        return error;
    if (error == 0)
        error = set_losses(c);
    if (error == 0)
        error = add_left_out(c);
    if (error == 0)
        error = add_mappings(c);
    if (error == 0)
        error = copy_timing(c);
    if (error == 0 && !c->windowed)
        nsc_writer_set_lost_unattributed(c->writer, c->info->lost_unattributed);
    if (error == 0)
        error = nsc_writer_error(c->writer);
    return error == 0 ? 0
                      : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write: %s",
                                     strerror(-error));
}

/* Allocates @count + 1 entries of NSC_NO_ID. */
static uint32_t *make_ids(uint32_t count)
{
    uint32_t *ids = reallocarray(NULL, (size_t)count + 1, sizeof *ids);

    if (ids != NULL)
        memset(ids, 0xff, ((size_t)count + 1) * sizeof *ids);
    return ids;
}

int nsc_nst_trim_write(struct nsc_trace *t, const struct nsc_selection *selection,
                       struct nsc_writer *w,
                       void (*progress)(void *context, uint64_t done, uint64_t total),
                       void *context, struct nsc_nst_trim_result *result, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    struct cut c = {
        .trace = t,
        .info = info,
        .selection = selection,
        .writer = w,
        .windowed = selection->from_ticks > 0 || selection->to_ticks < UINT64_MAX,
        .processes = make_ids(info->process_count),
        .threads = make_ids(info->thread_count),
        .modules = make_ids(info->module_count),
        .functions = make_ids(info->function_count),
        .lost = calloc((size_t)info->thread_count + 1, sizeof *c.lost),
        .progress = progress,
        .context = context,
    };
    int error;

    if (c.processes == NULL || c.threads == NULL || c.modules == NULL || c.functions == NULL ||
        c.lost == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else
        error = write_all(&c, diag);
    free(c.processes);
    free(c.threads);
    free(c.modules);
    free(c.functions);
    free(c.lost);
    if (error == 0)
        *result = c.result;
    return error;
}
