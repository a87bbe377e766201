/*
 * handle_notes.c - notes, the data recorded besides calls: /api/states, /api/samples,
 * /api/counters, /api/marks and /api/left-out.
 *
 * Notes are read one by one and thinned out at once: memory depends on the size of the answer, not
 * on the number of notes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/engine/handlers.h"

#define WIDTH_MAX    4096u
#define WIDTH        1024u
#define MARKS        1000u
#define MARKS_MAX    10000u
#define LEFT_OUT     10000u
#define LEFT_OUT_MAX 100000u
#define STATES_KNOWN 128u      /* larger numbers count as unknown */
#define BACK_NS      10000000u /* initial distance of the search for a note before the window */

/* A window, divided into columns. */
struct columns {
    const struct nsc_clock *clock;
    uint64_t from_ns, to_ns; /* half open */
    uint64_t width;
};

/* Read `width`, `from` and `to`. Without `to`, the window ends at the end of the trace. */
static struct columns ask_columns(struct nsc_engine_context *ask)
{
    const struct nsc_clock *clock = nsc_trace_clock(ask->trace);
    uint64_t end = nsc_clock_ns(clock, nsc_trace_info(ask->trace)->end_ticks);
    struct columns c = {.clock = clock};

    nsc_context_window(ask, &c.from_ns, &c.to_ns);
    c.width = nsc_context_number(ask, "width", WIDTH, WIDTH_MAX);
    if (c.width == 0)
        nsc_context_refuse(ask, "`width` must not be 0");
    if (c.to_ns == UINT64_MAX)
        c.to_ns = end > c.from_ns ? end + 1 : c.from_ns + 1;
    return c;
}

static uint64_t column_of(const struct columns *c, uint64_t ns)
{
    uint64_t step = (c->to_ns - c->from_ns) / c->width + 1;

    return (ns - c->from_ns) / step;
}

/* Open a cursor on the notes from @from_ns on. */
static int open_notes(struct nsc_engine_context *ask, enum nsc_note_kind kind, uint32_t owner,
                      bool of_process, uint64_t from_ns, struct nsc_note_cursor **out)
{
    uint64_t ticks = from_ns > 0 ? nsc_clock_ticks(nsc_trace_clock(ask->trace), from_ns) : 0;

    return nsc_note_cursor_open(ask->trace, kind, owner, of_process, ticks, out, &ask->diag);
}

/* The owner of notes and, for counters, the name. */
struct whose {
    enum nsc_note_kind kind;
    uint32_t owner;
    bool of_process;
    const char *name; /* NULL: any */
};

static bool is_of(const struct nsc_note *note, const struct whose *w)
{
    return w->name == NULL || strcmp(note->counter.name, w->name) == 0;
}

/* Find the last note before @end_ns, among those from about @begin_ns on. Returns 1, 0 if there is
 * none, or -errno. */
static int last_note(struct nsc_engine_context *ask, const struct whose *w, uint64_t begin_ns,
                     uint64_t end_ns, struct nsc_note *out)
{
    const struct nsc_clock *clock = nsc_trace_clock(ask->trace);
    struct nsc_note_cursor *cursor;
    struct nsc_note note;
    int found = 0;
    int more = open_notes(ask, w->kind, w->owner, w->of_process, begin_ns, &cursor);

    if (more != 0)
        return more;
    while ((more = nsc_note_cursor_next(cursor, &note, &ask->diag)) > 0 &&
           nsc_clock_ns(clock, note.ticks) < end_ns)
        if (is_of(&note, w)) {
            *out = note;
            found = 1;
        }
    nsc_note_cursor_close(cursor);
    return more < 0 ? more : found;
}

/* Find the note in effect at the window's start: the last one before it. Searches in steps further
 * and further back. The texts of the note must not be used. Returns 1, 0 if there is none, or
 * -errno. */
static int note_before(struct nsc_engine_context *ask, const struct whose *w,
                       const struct columns *c, struct nsc_note *out)
{
    uint64_t back = c->to_ns - c->from_ns;
    int found = 0;

    if (c->from_ns == 0)
        return 0;
    back = back > BACK_NS ? back : BACK_NS;
    for (uint64_t begin = c->from_ns; begin > 0 && found == 0; back *= 8) {
        /* Search all the rest at once if the next step would reach the beginning. */
        begin = back < c->from_ns / 8 ? c->from_ns - back : 0;
        found = last_note(ask, w, begin, c->from_ns, out);
    }
    return found;
}

/* ---- /api/states ----------------------------------------------------------------------------- */

struct segment {
    uint64_t start, end;
    uint32_t state;
};

/* Merges adjacent segments that begin in the same column. */
struct joiner {
    struct nsc_engine_context *ask;
    struct columns columns;
    bool joins; /* else every segment is written */
    bool holds;
    struct segment segment;
    uint64_t ns_by_state[STATES_KNOWN];
};

static void put_segment(struct nsc_json *j, const struct segment *s)
{
    nsc_json_open_array(j, NULL);
    nsc_json_u64(j, NULL, s->start);
    nsc_json_u64(j, NULL, s->end);
    nsc_json_u64(j, NULL, s->state);
    nsc_json_close_array(j);
}

static void flush_segment(struct joiner *joiner)
{
    if (joiner->holds) {
        for (uint32_t i = 0; joiner->joins && i < STATES_KNOWN; i++)
            if (joiner->ns_by_state[i] > joiner->ns_by_state[joiner->segment.state])
                joiner->segment.state = i;
        put_segment(&joiner->ask->json, &joiner->segment);
    }
    joiner->holds = false;
    memset(joiner->ns_by_state, 0, sizeof(joiner->ns_by_state));
}

/* Add the next segment, already clipped to the window. */
static void join_segment(struct joiner *joiner, const struct segment *s)
{
    const struct columns *c = &joiner->columns;

    if (!joiner->joins || !joiner->holds ||
        column_of(c, joiner->segment.start) != column_of(c, s->start)) {
        flush_segment(joiner);
        joiner->segment = *s;
        joiner->holds = true;
    }
    joiner->segment.end = s->end;
    joiner->ns_by_state[s->state] += s->end - s->start;
}

/* Iterate over a thread's states in the window. Returns their number or -errno; @joiner may be
 * NULL. */
static int64_t each_state(struct nsc_engine_context *ask, uint32_t thread, const struct columns *c,
                          struct joiner *joiner)
{
    const struct nsc_thread *t = nsc_trace_thread(ask->trace, thread);
    struct segment s = {.start = nsc_clock_ns(c->clock, t->start_ticks)};
    struct nsc_note_cursor *cursor;
    struct nsc_note note;
    int64_t count = 0;
    bool last = false, any = false;
    /* From the beginning: the state at the window's start was set by an earlier change. */
    int more = open_notes(ask, NSC_NOTE_STATE, thread, false, 0, &cursor);

    if (more != 0)
        return more;
    while (!last && s.start < c->to_ns) {
        uint32_t next = 0;
        struct segment part;

        more = nsc_note_cursor_next(cursor, &note, &ask->diag);
        if (more < 0)
            break;
        last = more == 0;
        if (last && !any)
            break; /* the thread has no states */
        any = true;
        if (!last) {
            s.state = note.state.old_state;
            next = note.state.new_state;
        }
        s.end = nsc_clock_ns(c->clock, last ? t->end_ticks : note.ticks);
        part = (struct segment){.start = s.start > c->from_ns ? s.start : c->from_ns,
                                .end = s.end < c->to_ns ? s.end : c->to_ns,
                                .state = s.state < STATES_KNOWN ? s.state : NSC_STATE_UNKNOWN};
        if (part.end > part.start) {
            count++;
            if (joiner != NULL)
                join_segment(joiner, &part);
        }
        s.start = s.end > s.start ? s.end : s.start;
        s.state = next;
    }
    nsc_note_cursor_close(cursor);
    return more < 0 ? more : count;
}

int nsc_engine_states(struct nsc_engine_context *ask)
{
    uint32_t thread = nsc_context_thread(ask, "thread");
    struct joiner joiner = {.ask = ask, .columns = ask_columns(ask)};
    struct nsc_json *j;
    int64_t count;

    if (nsc_context_check(ask) != 0)
        return -EINVAL;
    count = each_state(ask, thread, &joiner.columns, NULL);
    if (count < 0)
        return (int)count;
    joiner.joins = (uint64_t)count > joiner.columns.width;
    j = nsc_context_json(ask);
    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_open_array(j, "segments");
    count = each_state(ask, thread, &joiner.columns, &joiner);
    flush_segment(&joiner);
    nsc_json_close_array(j);
    nsc_json_bool(j, "merged", joiner.joins);
    nsc_json_close_object(j);
    return count < 0 ? (int)count : 0;
}

/* ---- /api/samples ---------------------------------------------------------------------------- */

static void put_sample(struct nsc_engine_context *ask, const struct nsc_note *note)
{
    struct nsc_json *j = &ask->json;

    nsc_json_open_array(j, NULL);
    nsc_context_put_time(ask, NULL, note->ticks);
    for (int i = 0; i < NSC_SAMPLE_FIELDS; i++)
        nsc_json_u64_or_null(j, NULL, (note->sample.known >> i & 1) != 0, note->sample.values[i]);
    nsc_json_close_array(j);
}

/* Includes the samples on either side of the window: values apply between two samples. */
static int put_samples(struct nsc_engine_context *ask, uint32_t thread, const struct columns *c)
{
    const struct whose whose = {NSC_NOTE_SAMPLE, thread, false, NULL};
    struct nsc_note_cursor *cursor;
    struct nsc_note note, last = {0}, after = {0};
    bool holds = false, ends = false;
    int more = note_before(ask, &whose, c, &last);

    if (more > 0)
        put_sample(ask, &last);
    if (more < 0 ||
        (more = open_notes(ask, NSC_NOTE_SAMPLE, thread, false, c->from_ns, &cursor)) != 0)
        return more;
    while (!ends && (more = nsc_note_cursor_next(cursor, &note, &ask->diag)) > 0) {
        uint64_t ns = nsc_clock_ns(c->clock, note.ticks);

        if (ns < c->from_ns)
            continue;
        if (ns >= c->to_ns) {
            after = note;
            ends = true;
            continue;
        }
        if (holds && column_of(c, nsc_clock_ns(c->clock, last.ticks)) != column_of(c, ns))
            put_sample(ask, &last);
        last = note;
        holds = true;
    }
    if (holds)
        put_sample(ask, &last);
    if (ends)
        put_sample(ask, &after);
    nsc_note_cursor_close(cursor);
    return more < 0 ? more : 0;
}

int nsc_engine_samples(struct nsc_engine_context *ask)
{
    /* In the order of enum nsc_sample_field. */
    static const char *const names[NSC_SAMPLE_FIELDS] = {
        "cpu_ns",        "major_faults",    "minor_faults",    "switches",   "preemptions",
        "process_bytes", "process_objects", "allocated_bytes", "freed_bytes"};
    uint32_t thread = nsc_context_thread(ask, "thread");
    struct columns c = ask_columns(ask);
    struct nsc_json *j;
    int error;

    if (nsc_context_check(ask) != 0)
        return -EINVAL;
    j = nsc_context_json(ask);
    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_open_array(j, "columns");
    for (int i = 0; i < NSC_SAMPLE_FIELDS; i++)
        nsc_json_text(j, NULL, names[i]);
    nsc_json_close_array(j);
    nsc_json_open_array(j, "rows");
    error = put_samples(ask, thread, &c);
    nsc_json_close_array(j);
    nsc_json_close_object(j);
    return error;
}

/* ---- /api/counters --------------------------------------------------------------------------- */

/* Values of a counter in one column. */
struct counted {
    uint64_t ns;
    struct nsc_counter least, greatest, last;
};

static double value_of(const struct nsc_counter *c)
{
    return c->is_real ? c->real : (double)c->integer;
}

static void put_value(struct nsc_json *j, const struct nsc_counter *c)
{
    if (c->is_real)
        nsc_json_real(j, NULL, c->real, 9);
    else
        nsc_json_i64(j, NULL, c->integer);
}

static void put_counted(struct nsc_json *j, const struct counted *c)
{
    nsc_json_open_array(j, NULL);
    nsc_json_u64(j, NULL, c->ns);
    put_value(j, &c->least);
    put_value(j, &c->greatest);
    put_value(j, &c->last);
    nsc_json_close_array(j);
}

/* Includes the last value before the window, which is in effect at its start. */
static int put_counter(struct nsc_engine_context *ask, uint32_t owner, bool of_process,
                       const char *name, const struct columns *c)
{
    const struct whose whose = {NSC_NOTE_COUNTER, owner, of_process, name};
    struct nsc_note_cursor *cursor;
    struct nsc_note note = {0};
    struct counted row = {0};
    bool holds = false;
    int more = note_before(ask, &whose, c, &note);

    if (more > 0)
        put_counted(&ask->json, &(struct counted){nsc_clock_ns(c->clock, note.ticks), note.counter,
                                                  note.counter, note.counter});
    if (more < 0 ||
        (more = open_notes(ask, NSC_NOTE_COUNTER, owner, of_process, c->from_ns, &cursor)) != 0)
        return more;
    while ((more = nsc_note_cursor_next(cursor, &note, &ask->diag)) > 0) {
        const struct nsc_counter *v = &note.counter;
        uint64_t ns = nsc_clock_ns(c->clock, note.ticks);

        if (ns >= c->to_ns)
            break;
        if (ns < c->from_ns || !is_of(&note, &whose))
            continue;
        if (holds && column_of(c, row.ns) != column_of(c, ns)) {
            put_counted(&ask->json, &row);
            holds = false;
        }
        if (!holds)
            row = (struct counted){.least = *v, .greatest = *v};
        row.least = value_of(v) < value_of(&row.least) ? *v : row.least;
        row.greatest = value_of(v) > value_of(&row.greatest) ? *v : row.greatest;
        row.last = *v;
        row.ns = ns;
        holds = true;
    }
    if (holds)
        put_counted(&ask->json, &row);
    nsc_note_cursor_close(cursor);
    return more < 0 ? more : 0;
}

int nsc_engine_counters(struct nsc_engine_context *ask)
{
    const struct nsc_trace_info *info = nsc_trace_info(ask->trace);
    uint64_t process = nsc_context_number(ask, "process", NSC_NO_ID, UINT32_MAX - 1);
    uint64_t thread = nsc_context_number(ask, "thread", NSC_NO_ID, UINT32_MAX - 1);
    const char *name = nsc_context_text(ask, "name");
    struct columns c = ask_columns(ask);
    bool of_process = process != NSC_NO_ID;
    struct nsc_json *j;
    int error;

    if (of_process == (thread != NSC_NO_ID))
        nsc_context_refuse(ask, "either `process` or `thread` must be given");
    if (of_process ? process >= info->process_count : thread >= info->thread_count)
        nsc_context_refuse(ask, "there is no such process or thread");
    if (name == NULL)
        nsc_context_refuse(ask, "`name` is missing");
    if (nsc_context_check(ask) != 0 || name == NULL)
        return -EINVAL;
    j = nsc_context_json(ask);
    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_open_array(j, "rows");
    error = put_counter(ask, (uint32_t)(of_process ? process : thread), of_process, name, &c);
    nsc_json_close_array(j);
    nsc_json_close_object(j);
    return error;
}

/* ---- /api/marks ------------------------------------------------------------------------------ */

struct kept_mark {
    uint64_t ticks, number; /* number: position among all marks seen, makes the order total */
    uint32_t thread;
    char *name, *text;
};

/* The earliest marks of a window: a heap with the latest of them at [0]. */
struct marks {
    struct kept_mark *marks;
    size_t count, max;
    uint64_t seen;
};

static int compare_marks(const void *a, const void *b)
{
    const struct kept_mark *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void swap_marks(struct kept_mark *a, struct kept_mark *b)
{
    struct kept_mark other = *a;

    *a = *b;
    *b = other;
}

static void sift_down(struct marks *m)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < m->count; at = child) {
        if (child + 1 < m->count && compare_marks(&m->marks[child], &m->marks[child + 1]) < 0)
            child++;
        if (compare_marks(&m->marks[at], &m->marks[child]) >= 0)
            return;
        swap_marks(&m->marks[at], &m->marks[child]);
    }
}

static void sift_up(struct marks *m, size_t at)
{
    for (; at > 0 && compare_marks(&m->marks[(at - 1) / 2], &m->marks[at]) < 0; at = (at - 1) / 2)
        swap_marks(&m->marks[(at - 1) / 2], &m->marks[at]);
}

/* Returns false if out of memory. */
static bool keep_mark(struct marks *m, const struct nsc_note *note)
{
    struct kept_mark mark = {.ticks = note->ticks, .number = m->seen++, .thread = note->owner};

    if (m->count == m->max && (m->max == 0 || compare_marks(&mark, &m->marks[0]) > 0))
        return true;
    mark.name = strdup(note->mark.name);
    mark.text = strdup(note->mark.metadata);
    if (mark.name == NULL || mark.text == NULL) {
        free(mark.name);
        free(mark.text);
        return false;
    }
    if (m->count < m->max) {
        m->marks[m->count++] = mark;
        sift_up(m, m->count - 1);
        return true;
    }
    free(m->marks[0].name);
    free(m->marks[0].text);
    m->marks[0] = mark;
    sift_down(m);
    return true;
}

static int gather_marks(struct nsc_engine_context *ask, uint32_t thread, uint64_t from_ns,
                        uint64_t to_ns, struct marks *m)
{
    const struct nsc_clock *clock = nsc_trace_clock(ask->trace);
    struct nsc_note_cursor *cursor;
    struct nsc_note note;
    int more = open_notes(ask, NSC_NOTE_MARK, thread, false, from_ns, &cursor);

    if (more != 0)
        return more;
    while ((more = nsc_note_cursor_next(cursor, &note, &ask->diag)) > 0) {
        uint64_t ns = nsc_clock_ns(clock, note.ticks);

        if (ns >= to_ns)
            break;
        if (ns >= from_ns && !keep_mark(m, &note)) {
            more = nsc_context_no_memory(ask);
            break;
        }
    }
    nsc_note_cursor_close(cursor);
    return more < 0 ? more : 0;
}

static int put_marks(struct nsc_engine_context *ask, struct marks *m)
{
    struct nsc_json *j = nsc_context_json(ask);

    if (j == NULL)
        return -ENOMEM;
    if (m->count > 0)
        qsort(m->marks, m->count, sizeof(*m->marks), compare_marks);
    nsc_json_open_object(j, NULL);
    nsc_json_open_array(j, "marks");
    for (size_t i = 0; i < m->count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, "thread", m->marks[i].thread);
        nsc_context_put_time(ask, "time", m->marks[i].ticks);
        nsc_json_text(j, "name", m->marks[i].name);
        nsc_json_text(j, "text", m->marks[i].text);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_u64(j, "more", m->seen - m->count);
    nsc_json_close_object(j);
    return 0;
}

int nsc_engine_marks(struct nsc_engine_context *ask)
{
    struct marks m = {.max = (size_t)nsc_context_number(ask, "limit", MARKS, MARKS_MAX)};
    uint64_t from_ns, to_ns;
    int error;

    nsc_context_window(ask, &from_ns, &to_ns);
    error = nsc_context_check(ask);
    if (error == 0) {
        m.marks = calloc(m.max + 1, sizeof(*m.marks));
        if (m.marks == NULL)
            return nsc_context_no_memory(ask);
    }
    for (uint32_t i = 0; error == 0 && i < nsc_trace_info(ask->trace)->thread_count; i++)
        if (nsc_trace_note_count(ask->trace, NSC_NOTE_MARK, i, false) > 0)
            error = gather_marks(ask, i, from_ns, to_ns, &m);
    if (error == 0)
        error = put_marks(ask, &m);
    for (size_t i = 0; i < m.count; i++) {
        free(m.marks[i].name);
        free(m.marks[i].text);
    }
    free(m.marks);
    return error;
}

/* ---- /api/left-out --------------------------------------------------------------------------- */

static void put_estimate(struct nsc_engine_context *ask, const char *key, bool known,
                         const struct nsc_estimate *e, bool is_time)
{
    const struct nsc_clock *clock = nsc_trace_clock(ask->trace);
    struct nsc_json *j = &ask->json;

    if (!known) {
        nsc_json_null(j, key);
        return;
    }
    nsc_json_open_array(j, key);
    nsc_json_u64(j, NULL, is_time ? nsc_clock_span_ns(clock, e->value) : e->value);
    nsc_json_u64(j, NULL, is_time ? nsc_clock_span_ns(clock, e->error) : e->error);
    nsc_json_close_array(j);
}

static void put_left_out(struct nsc_engine_context *ask, const struct nsc_left_out *l)
{
    struct nsc_json *j = &ask->json;

    nsc_json_open_object(j, NULL);
    nsc_context_put_id(j, "function", l->function);
    nsc_context_put_id(j, "process", l->process);
    nsc_json_text(j, "reason", nsc_model_left_out_reason_name(l->reason));
    nsc_context_put_time(ask, "from", l->from_ticks);
    if (l->to_ticks != 0)
        nsc_context_put_time(ask, "to", l->to_ticks);
    else
        nsc_json_null(j, "to");
    put_estimate(ask, "calls", (l->known & NSC_LEFT_OUT_CALLS) != 0, &l->calls, false);
    put_estimate(ask, "total", (l->known & NSC_LEFT_OUT_TOTAL) != 0, &l->total_ticks, true);
    put_estimate(ask, "self", (l->known & NSC_LEFT_OUT_SELF) != 0, &l->self_ticks, true);
    nsc_json_close_object(j);
}

int nsc_engine_left_out(struct nsc_engine_context *ask)
{
    uint32_t count = nsc_trace_info(ask->trace)->left_out_count;
    uint32_t limit = (uint32_t)nsc_context_number(ask, "limit", LEFT_OUT, LEFT_OUT_MAX);
    uint32_t shown = count < limit ? count : limit;
    struct nsc_json *j = nsc_context_check(ask) == 0 ? nsc_context_json(ask) : NULL;

    if (j == NULL)
        return ask->refused ? -EINVAL : -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_open_array(j, "rows");
    for (uint32_t i = 0; i < shown; i++)
        put_left_out(ask, nsc_trace_left_out(ask->trace, i));
    nsc_json_close_array(j);
    nsc_json_u64(j, "more", count - shown);
    nsc_json_close_object(j);
    return 0;
}
