/*
 * table_notes.c - the tables of notes, the data recorded besides calls: samples, states, marks,
 * counters.
 *
 * Notes are read owner by owner, in file order. Constraints on the owner and the minimum time are
 * passed down. All states of a thread are read, as a state is known only from the change that ends
 * it.
 */
#include <stdlib.h>

#include "query/tables.h"

struct notes_cursor {
    struct nsc_query_cursor head; /* must be first */
    enum nsc_note_kind kind;
    uint64_t from_ticks;
    uint32_t owner, owner_end; /* threads first, then processes: thread_count + process */
    struct nsc_note_cursor *notes;
    struct nsc_note note;
    /* Current row of `states`: the state, its time, and the state after it. A change has both. */
    uint64_t since_ticks, until_ticks, next_ticks;
    uint32_t state, next_state;
    bool any_change, last;
    sqlite3_int64 row;
};

static enum nsc_note_kind kind_of(const struct nsc_query_table_kind *table)
{
    static const enum nsc_note_kind kinds[] = {NSC_NOTE_SAMPLE, NSC_NOTE_STATE, NSC_NOTE_MARK,
                                               NSC_NOTE_COUNTER};

    return kinds[table - nsc_query_notes];
}

/* ---- Planning -------------------------------------------------------------------------------- */

enum { PLAN_THREAD = 1, PLAN_FROM = 2 };

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    const struct nsc_query_connected *connected = (struct nsc_query_connected *)table;
    const struct nsc_trace_info *trace = nsc_trace_info(connected->query->trace);
    enum nsc_note_kind kind = kind_of(connected->kind);
    double cost = (double)trace->notes[kind] + 100;
    int thread = -1, from = -1, values = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];

        if (c->usable == 0)
            continue;
        if (c->iColumn == 0 && c->op == SQLITE_INDEX_CONSTRAINT_EQ && thread < 0)
            thread = i;
        if (c->iColumn == 1 && kind != NSC_NOTE_STATE && from < 0 &&
            (c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT ||
             c->op == SQLITE_INDEX_CONSTRAINT_EQ))
            from = i;
    }
    info->idxNum = 0;
    if (thread >= 0) {
        info->idxNum |= PLAN_THREAD;
        info->aConstraintUsage[thread].argvIndex = ++values;
        cost /= trace->thread_count + 1.0;
    }
    if (from >= 0) {
        info->idxNum |= PLAN_FROM;
        info->aConstraintUsage[from].argvIndex = ++values;
        cost /= 2;
    }
    info->estimatedCost = cost + 100;
    info->estimatedRows = (sqlite3_int64)cost + 1;
    return SQLITE_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint32_t thread_count(const struct notes_cursor *c)
{
    return nsc_trace_info(c->head.query->trace)->thread_count;
}

static void close_owner(struct notes_cursor *c)
{
    nsc_note_cursor_close(c->notes);
    c->notes = NULL;
}

/* Open the notes of an owner. Returns 0 or -errno. If it has none, c->notes stays NULL. */
static int open_owner(struct notes_cursor *c, struct nsc_diag *diag)
{
    struct nsc_trace *t = c->head.query->trace;
    uint32_t threads = thread_count(c);
    bool of_process = c->owner >= threads;
    uint32_t owner = of_process ? c->owner - threads : c->owner;

    if (nsc_trace_note_count(t, c->kind, owner, of_process) == 0)
        return 0;
    c->last = c->any_change = false;
    c->next_ticks = of_process ? 0 : nsc_trace_thread(t, owner)->start_ticks;
    return nsc_note_cursor_open(t, c->kind, owner, of_process, c->from_ticks, &c->notes, diag);
}

/* Advance to the next state with a nonzero duration. Returns 1, 0 or -errno. */
static int next_state(struct notes_cursor *c, struct nsc_diag *diag)
{
    const struct nsc_trace *t = c->head.query->trace;

    while (!c->last) {
        int more = nsc_note_cursor_next(c->notes, &c->note, diag);

        if (more < 0)
            return more;
        c->last = more == 0;
        if (c->last && !c->any_change)
            break;
        c->since_ticks = c->next_ticks;
        c->until_ticks = c->last ? nsc_trace_thread(t, c->owner)->end_ticks : c->note.ticks;
        c->state = c->last ? c->next_state : c->note.state.old_state;
        if (!c->last) {
            c->next_ticks = c->note.ticks;
            c->next_state = c->note.state.new_state;
            c->any_change = true;
        }
        if (c->until_ticks > c->since_ticks)
            return 1;
    }
    return 0;
}

static int fill(struct notes_cursor *c)
{
    struct nsc_query *q = c->head.query;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    for (;;) {
        int result = nsc_query_check(q);

        if (result != SQLITE_OK)
            return result;
        if (c->notes == NULL && c->owner >= c->owner_end) {
            c->head.done = true;
            return SQLITE_OK;
        }
        result = c->notes == NULL ? open_owner(c, &diag) : 0;
        if (result == 0 && c->notes != NULL)
            result = c->kind == NSC_NOTE_STATE ? next_state(c, &diag)
                                               : nsc_note_cursor_next(c->notes, &c->note, &diag);
        if (result < 0)
            return nsc_query_fail(q, result, &diag);
        if (result > 0)
            return SQLITE_OK;
        close_owner(c);
        c->owner++;
    }
}

static int notes_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
                        sqlite3_value **argv)
{
    struct notes_cursor *c = (struct notes_cursor *)cursor;
    const struct nsc_trace *t = c->head.query->trace;
    struct nsc_query_range threads = {INT64_MIN, INT64_MAX}, times = threads;

    (void)plan;
    (void)argc;
    close_owner(c);
    c->kind = kind_of(c->head.kind);
    c->head.done = false;
    c->row = 0;
    c->owner = 0;
    c->owner_end = thread_count(c);
    if (c->kind == NSC_NOTE_COUNTER)
        c->owner_end += nsc_trace_info(t)->process_count;
    if ((number & PLAN_THREAD) != 0) {
        nsc_query_narrow(&threads, SQLITE_INDEX_CONSTRAINT_EQ, *argv++);
        if (threads.from > threads.to || threads.to < 0 || threads.from >= thread_count(c))
            c->owner = c->owner_end;
        else if (threads.from >= 0)
            c->owner = (uint32_t)threads.from;
        if (c->owner < c->owner_end && threads.to < thread_count(c))
            c->owner_end = (uint32_t)threads.to + 1;
    }
    if ((number & PLAN_FROM) != 0)
        nsc_query_narrow(&times, SQLITE_INDEX_CONSTRAINT_GE, *argv);
    c->from_ticks = times.from > 0 ? nsc_clock_ticks(nsc_trace_clock(t), (uint64_t)times.from) : 0;
    if (times.from > times.to)
        c->owner = c->owner_end;
    return fill(c);
}

static int notes_next(sqlite3_vtab_cursor *cursor)
{
    struct notes_cursor *c = (struct notes_cursor *)cursor;

    c->row++;
    return fill(c);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* A note's texts are valid only until the next note, so SQLite must copy them. */
static void result_copy(sqlite3_context *to, const char *text)
{
    nsc_sqlite.result_text(to, text, -1, SQLITE_TRANSIENT);
}

static void sample_cell(const struct nsc_sample *sample, int field, sqlite3_context *to)
{
    if ((sample->known >> field & 1) != 0)
        nsc_query_result_u64(to, sample->values[field]);
    else
        nsc_sqlite.result_null(to);
}

static void state_cell(const struct notes_cursor *c, int column, sqlite3_context *to)
{
    const struct nsc_clock *clock = nsc_trace_clock(c->head.query->trace);
    uint64_t since_ns = nsc_clock_ns(clock, c->since_ticks);

    if (column == 1)
        nsc_query_result_u64(to, since_ns);
    else if (column == 2)
        nsc_query_result_u64(to, nsc_clock_ns(clock, c->until_ticks) - since_ns);
    else if (column == 3)
        nsc_query_result_id(to, c->state);
    else
        nsc_query_result_text(to, nsc_model_state_name(c->state));
}

static void counter_cell(const struct nsc_note *note, int column, sqlite3_context *to)
{
    if (column == 2)
        nsc_query_result_id(to, note->of_process ? note->owner : NSC_NO_ID);
    else if (column == 3)
        result_copy(to, note->counter.name);
    else if (note->counter.is_real)
        nsc_sqlite.result_double(to, note->counter.real);
    else
        nsc_sqlite.result_int64(to, note->counter.integer);
}

static int notes_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
    const struct notes_cursor *c = (struct notes_cursor *)cursor;

    if (column == 0)
        nsc_query_result_id(to, c->owner < thread_count(c) ? c->owner : NSC_NO_ID);
    else if (c->kind == NSC_NOTE_STATE)
        state_cell(c, column, to);
    else if (column == 1)
        nsc_query_result_time(to, c->head.query, c->note.ticks);
    else if (c->kind == NSC_NOTE_SAMPLE)
        sample_cell(&c->note.sample, column - 2, to);
    else if (c->kind == NSC_NOTE_COUNTER)
        counter_cell(&c->note, column, to);
    else
        result_copy(to, column == 2 ? c->note.mark.name : c->note.mark.metadata);
    return SQLITE_OK;
}

/* Rows have no natural number; only `rowid` asks for one. */
static int notes_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = ((struct notes_cursor *)cursor)->row;
    return SQLITE_OK;
}

static void forget(struct nsc_query_cursor *cursor)
{
    close_owner((struct notes_cursor *)cursor);
}

static const struct nsc_query_module module = {
    .sqlite = {NSC_QUERY_METHODS, .xBestIndex = best_index, .xFilter = notes_filter,
               .xNext = notes_next, .xColumn = notes_column, .xRowid = notes_rowid},
    .cursor_bytes = sizeof(struct notes_cursor),
    .forget = forget,
};

/* In the order of kind_of(); the values of samples are in the order of enum nsc_sample_field. */
const struct nsc_query_table_kind nsc_query_notes[] = {
    {"samples",
     "thread_id INTEGER, time_ns INTEGER, cpu_ns INTEGER, major_faults INTEGER, minor_faults "
     "INTEGER, switches INTEGER, preemptions INTEGER, process_bytes INTEGER, process_objects "
     "INTEGER, allocated_bytes INTEGER, freed_bytes INTEGER",
     "a sample of a thread; values are totals since it began", &module},
    {"states",
     "thread_id INTEGER, start_ns INTEGER, duration_ns INTEGER, state_id INTEGER, state TEXT",
     "a stretch of time in which a thread was in one state", &module},
    {"marks", "thread_id INTEGER, time_ns INTEGER, name TEXT, text TEXT",
     "a mark that the program set", &module},
    {"counters", "thread_id INTEGER, time_ns INTEGER, process_id INTEGER, name TEXT, value",
     "a value of a counter, of a thread or of a process", &module},
    {NULL, NULL, NULL, NULL},
};
