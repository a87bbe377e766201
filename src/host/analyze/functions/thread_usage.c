/* thread_usage.c - see thread_usage.h. */
#include "analyze/functions/thread_usage.h"

#include <errno.h>
#include <stdlib.h>

void nsc_usage_free(struct nsc_usage *usage)
{
    free(usage->rows);
    *usage = (struct nsc_usage){0};
}

/* Whether a field is a level: its value may decrease. */
static bool is_level(int field)
{
    return field == NSC_SAMPLE_PROCESS_BYTES || field == NSC_SAMPLE_PROCESS_OBJECTS;
}

/* Whether a field counts malloc calls. A thread's first sample lacks these: whether they are
 * counted is known only later. */
static bool is_of_heap(int field)
{
    return field == NSC_SAMPLE_ALLOCATED_BYTES || field == NSC_SAMPLE_FREED_BYTES;
}

/* @began: the first sample is that of the thread's start, which is in the window. */
static void take_sample(bool began, const struct nsc_sample *sample,
                        uint64_t first[NSC_SAMPLE_FIELDS], struct nsc_usage_row *row)
{
    for (int i = 0; i < NSC_SAMPLE_FIELDS; i++) {
        uint64_t value = sample->values[i];

        if ((sample->known >> i & 1) == 0)
            continue;
        if ((row->known >> i & 1) == 0)
            first[i] = is_level(i) || (began && is_of_heap(i)) ? 0 : value;
        row->known |= 1u << i;
        if (value >= first[i] && value - first[i] > row->values[i])
            row->values[i] = value - first[i];
    }
    row->samples++;
}

/* Only the sample at a thread's start has zero CPU time. */
static bool is_start(const struct nsc_sample *sample)
{
    return (sample->known >> NSC_SAMPLE_CPU_NS & 1) != 0 && sample->values[NSC_SAMPLE_CPU_NS] == 0;
}

static int read_samples(struct nsc_trace *t, const struct nsc_selection *selection,
                        struct nsc_usage_row *row, struct nsc_diag *diag)
{
    uint64_t first[NSC_SAMPLE_FIELDS] = {0}, from = 0, to = 0;
    struct nsc_note_cursor *cursor;
    struct nsc_note note;
    bool began = false;
    int more = nsc_note_cursor_open(t, NSC_NOTE_SAMPLE, row->thread, false, selection->from_ticks,
                                    &cursor, diag);

    if (more != 0)
        return more;
    while ((more = nsc_note_cursor_next(cursor, &note, diag)) > 0 &&
           note.ticks < selection->to_ticks) {
        from = row->samples == 0 ? note.ticks : from;
        to = note.ticks;
        began = began || (row->samples == 0 && is_start(&note.sample));
        take_sample(began, &note.sample, first, row);
    }
    nsc_note_cursor_close(cursor);
    for (int i = 0; i < NSC_SAMPLE_FIELDS && row->samples < 2; i++)
        if (!is_level(i))
            row->known &= ~(1u << i);
    row->first_ns = nsc_clock_ns(nsc_trace_clock(t), from);
    row->sampled_ns = nsc_clock_ns(nsc_trace_clock(t), to) - row->first_ns;
    return more < 0 ? more : 0;
}

/* Add the time from @from to @to to a state. */
static void add_state(const struct nsc_trace *t, const struct nsc_selection *selection,
                      struct nsc_usage_row *row, uint32_t state, uint64_t from, uint64_t to)
{
    const struct nsc_clock *clock = nsc_trace_clock(t);

    uint64_t from_ns, to_ns;

    from = from > selection->from_ticks ? from : selection->from_ticks;
    to = to < selection->to_ticks ? to : selection->to_ticks;
    if (to <= from)
        return;
    row->has_states = true;
    from_ns = nsc_clock_ns(clock, from);
    to_ns = nsc_clock_ns(clock, to);
    row->state_ns[state < NSC_STATES ? state : NSC_STATE_UNKNOWN] += to_ns - from_ns;
    if (state == NSC_STATE_UNKNOWN || state == NSC_STATE_DEAD || state >= NSC_STATES)
        return;
    if (row->states_to_ns == 0)
        row->states_from_ns = from_ns;
    row->states_to_ns = to_ns;
}

/* Reads all changes: the state at the window's start was set by an earlier change. */
static int read_states(struct nsc_trace *t, const struct nsc_selection *selection,
                       struct nsc_usage_row *row, struct nsc_diag *diag)
{
    const struct nsc_thread *thread = nsc_trace_thread(t, row->thread);
    uint64_t since = thread->start_ticks;
    uint32_t state = NSC_STATE_UNKNOWN;
    struct nsc_note_cursor *cursor;
    struct nsc_note note;
    bool any = false;
    int more = nsc_note_cursor_open(t, NSC_NOTE_STATE, row->thread, false, 0, &cursor, diag);

    if (more != 0)
        return more;
    while ((more = nsc_note_cursor_next(cursor, &note, diag)) > 0) {
        add_state(t, selection, row, note.state.old_state, since, note.ticks);
        state = note.state.new_state;
        since = note.ticks;
        any = true;
    }
    nsc_note_cursor_close(cursor);
    if (any)
        add_state(t, selection, row, state, since, thread->end_ticks);
    return more;
}

int nsc_usage_find(struct nsc_trace *t, const struct nsc_selection *selection,
                   struct nsc_usage *out, struct nsc_diag *diag)
{
    uint32_t threads = nsc_trace_info(t)->thread_count;
    struct nsc_usage usage = {.rows = calloc((size_t)threads + 1, sizeof *usage.rows)};
    int error = 0;

    if (usage.rows == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < threads && error == 0; i++) {
        struct nsc_usage_row *row = &usage.rows[usage.count];

        if (!nsc_selection_has_thread(selection, i))
            continue;
        *row = (struct nsc_usage_row){.thread = i};
        error = read_samples(t, selection, row, diag);
        if (error == 0)
            error = read_states(t, selection, row, diag);
        usage.count += row->samples > 0 || row->has_states;
    }
    if (error != 0)
        nsc_usage_free(&usage);
    else
        *out = usage;
    return error;
}
