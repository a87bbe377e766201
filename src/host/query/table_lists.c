/*
 * table_lists.c - the tables of bounded size: functions, threads, processes, categories, losses,
 * left_out.
 *
 * Rows are addressed by index. Rows of the trace's own tables need no memory; losses are collected
 * when a cursor first reads them.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/gaps.h"
#include "query/tables.h"

struct list_cursor {
    struct nsc_query_cursor head; /* must be first */
    uint32_t at, end;
    struct nsc_gap *losses;
    uint32_t loss_count;
};

/* A list: its number of rows, whether a row exists, and its cells. The first column is the row's
 * index, except in losses and left_out. */
struct list {
    uint32_t (*count)(const struct nsc_query *q, const struct list_cursor *c);
    bool (*has)(const struct nsc_query *q, uint32_t row); /* NULL: all rows exist */
    void (*cell)(const struct nsc_query *q, const struct list_cursor *c, uint32_t row,
                 unsigned column, sqlite3_context *to);
    bool numbered;
};

/* ---- functions ------------------------------------------------------------------------------- */

static uint32_t count_functions(const struct nsc_query *q, const struct list_cursor *c)
{
    (void)c;
    return nsc_trace_info(q->trace)->function_count;
}

/* Aliases are omitted: calls belong to their canonical function. */
static bool has_function(const struct nsc_query *q, uint32_t row)
{
    return nsc_trace_canonical(q->trace, row) == row;
}

static const char *category_of(const struct nsc_query *q, uint32_t function)
{
    const struct nsc_categories *c = q->options.categories;

    return c != NULL ? c->names[c->of_function[function]] : NULL;
}

static void function_cell(const struct nsc_query *q, const struct list_cursor *c, uint32_t row,
                          unsigned column, sqlite3_context *to)
{
    const struct nsc_function *f = nsc_trace_function(q->trace, row);

    (void)c;
    switch (column) {
    case 1:
        nsc_query_result_text(to, f->name);
        break;
    case 2:
        nsc_query_result_text(
            to, f->module != NSC_NO_ID ? nsc_trace_module(q->trace, f->module)->path : NULL);
        break;
    case 3:
        nsc_query_result_text(to, f->file[0] != '\0' ? f->file : NULL);
        break;
    case 4:
        nsc_query_result_id(to, f->line != 0 ? f->line : NSC_NO_ID);
        break;
    default:
        nsc_query_result_text(to, category_of(q, row));
        break;
    }
}

/* ---- threads, processes ---------------------------------------------------------------------- */

static uint32_t count_threads(const struct nsc_query *q, const struct list_cursor *c)
{
    (void)c;
    return nsc_trace_info(q->trace)->thread_count;
}

/* An end of 0 is unknown. */
static void end_cell(const struct nsc_query *q, uint64_t ticks, sqlite3_context *to)
{
    if (ticks != 0)
        nsc_query_result_time(to, q, ticks);
    else
        nsc_sqlite.result_null(to);
}

static void thread_cell(const struct nsc_query *q, const struct list_cursor *c, uint32_t row,
                        unsigned column, sqlite3_context *to)
{
    const struct nsc_thread *t = nsc_trace_thread(q->trace, row);

    (void)c;
    switch (column) {
    case 1:
        nsc_query_result_id(to, t->tid);
        break;
    case 2:
        nsc_query_result_text(to, t->name);
        break;
    case 3:
        nsc_query_result_time(to, q, t->start_ticks);
        break;
    case 4:
        end_cell(q, t->end_ticks, to);
        break;
    case 5:
        nsc_query_result_id(to, t->process);
        break;
    case 6:
        nsc_query_result_id(to, t->stack);
        break;
    default:
        nsc_query_result_u64(to, t->lost);
        break;
    }
}

static uint32_t count_processes(const struct nsc_query *q, const struct list_cursor *c)
{
    (void)c;
    return nsc_trace_info(q->trace)->process_count;
}

/* The exit status as shells report it: the exit code, or 128 plus the signal. */
static void exit_cell(int32_t status, sqlite3_context *to)
{
    if (status < 0)
        nsc_sqlite.result_null(to);
    else
        nsc_sqlite.result_int64(to,
                                (status & 0x7f) == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f));
}

static void process_cell(const struct nsc_query *q, const struct list_cursor *c, uint32_t row,
                         unsigned column, sqlite3_context *to)
{
    const struct nsc_process *p = nsc_trace_process(q->trace, row);

    (void)c;
    switch (column) {
    case 1:
        nsc_query_result_id(to, p->pid);
        break;
    case 2:
        nsc_query_result_text(to, p->name);
        break;
    case 3:
        nsc_query_result_time(to, q, p->start_ticks);
        break;
    case 4:
        end_cell(q, p->end_ticks, to);
        break;
    case 5:
        exit_cell(p->exit_status, to);
        break;
    default:
        nsc_query_result_id(to, p->parent);
        break;
    }
}

/* ---- categories ------------------------------------------------------------------------------ */

static uint32_t count_categories(const struct nsc_query *q, const struct list_cursor *c)
{
    (void)c;
    return q->options.categories != NULL ? q->options.categories->count : 0;
}

static void category_cell(const struct nsc_query *q, const struct list_cursor *c, uint32_t row,
                          unsigned column, sqlite3_context *to)
{
    sqlite3_int64 functions = 0;

    (void)c;
    if (column == 1) {
        nsc_query_result_text(to, q->options.categories->names[row]);
        return;
    }
    for (uint32_t i = 0; i < nsc_trace_info(q->trace)->function_count; i++)
        functions += has_function(q, i) && q->options.categories->of_function[i] == row;
    nsc_sqlite.result_int64(to, functions);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static int gather_losses(struct nsc_query *q, struct list_cursor *c)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error;

    free(c->losses);
    c->losses = NULL;
    c->loss_count = 0;
    error = nsc_gaps_list(q->trace, &c->losses, &c->loss_count, &diag);
    return error != 0 ? nsc_query_fail(q, error, &diag) : SQLITE_OK;
}

static uint32_t count_losses(const struct nsc_query *q, const struct list_cursor *c)
{
    (void)q;
    return c->loss_count;
}

static void loss_cell(const struct nsc_query *q, const struct list_cursor *c, uint32_t row,
                      unsigned column, sqlite3_context *to)
{
    const struct nsc_gap *loss = &c->losses[row];

    if (column == 0)
        nsc_query_result_id(to, loss->thread);
    else if (column == 1 && loss->ticks != NSC_GAP_UNPLACED)
        nsc_query_result_time(to, q, loss->ticks);
    else if (column == 2 && loss->lost > 0)
        nsc_query_result_u64(to, loss->lost);
    else
        nsc_sqlite.result_null(to);
}

/* ---- left_out -------------------------------------------------------------------------------- */

static uint32_t count_left_out(const struct nsc_query *q, const struct list_cursor *c)
{
    (void)c;
    return nsc_trace_info(q->trace)->left_out_count;
}

/* An estimate, or its error; NULL if unknown. */
static void estimate_cell(const struct nsc_query *q, const struct nsc_left_out *l, unsigned column,
                          sqlite3_context *to)
{
    static const uint32_t known[] = {NSC_LEFT_OUT_CALLS, NSC_LEFT_OUT_TOTAL, NSC_LEFT_OUT_SELF};
    const struct nsc_estimate *estimates[] = {&l->calls, &l->total_ticks, &l->self_ticks};
    unsigned which = column / 2;
    uint64_t value = column % 2 == 0 ? estimates[which]->value : estimates[which]->error;

    if ((l->known & known[which]) == 0)
        nsc_sqlite.result_null(to);
    else if (which == 0)
        nsc_query_result_u64(to, value);
    else
        nsc_query_result_u64(to, nsc_clock_span_ns(nsc_trace_clock(q->trace), value));
}

static void left_out_cell(const struct nsc_query *q, const struct list_cursor *c, uint32_t row,
                          unsigned column, sqlite3_context *to)
{
    const struct nsc_left_out *l = nsc_trace_left_out(q->trace, row);

    (void)c;
    switch (column) {
    case 0:
        nsc_query_result_id(to, l->function);
        break;
    case 1:
        nsc_query_result_id(to, l->process);
        break;
    case 2:
        nsc_query_result_text(to, nsc_model_left_out_reason_name(l->reason));
        break;
    case 3:
        nsc_query_result_time(to, q, l->from_ticks);
        break;
    case 4:
        end_cell(q, l->to_ticks, to);
        break;
    default:
        estimate_cell(q, l, column - 5, to);
        break;
    }
}

/* ---- The tables ------------------------------------------------------------------------------ */

static const struct list *list_of(const struct nsc_query_table_kind *kind)
{
    static const struct list lists[] = {
        {count_functions, has_function, function_cell, true},
        {count_threads, NULL, thread_cell, true},
        {count_processes, NULL, process_cell, true},
        {count_categories, NULL, category_cell, true},
        {count_losses, NULL, loss_cell, false},
        {count_left_out, NULL, left_out_cell, false},
    };

    return &lists[kind - nsc_query_lists];
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    const struct nsc_query_connected *connected = (struct nsc_query_connected *)table;
    const struct nsc_query *q = connected->query;
    const struct list *list = list_of(connected->kind);
    double rows = list->count == count_losses ? 100 : list->count(q, NULL);

    info->idxNum = 0;
    for (int i = 0; i < info->nConstraint && list->numbered; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];

        if (c->iColumn > 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ || c->usable == 0)
            continue;
        info->idxNum = 1;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        rows = 1;
        break;
    }
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows + 1;
    info->orderByConsumed = list->numbered && info->nOrderBy == 1 &&
                            info->aOrderBy[0].iColumn <= 0 && info->aOrderBy[0].desc == 0;
    return SQLITE_OK;
}

/* Skip indexes that are not rows. */
static void settle(struct list_cursor *c)
{
    const struct list *list = list_of(c->head.kind);

    while (list->has != NULL && c->at < c->end && !list->has(c->head.query, c->at))
        c->at++;
    c->head.done = c->at >= c->end;
}

static int list_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
                       sqlite3_value **argv)
{
    struct list_cursor *c = (struct list_cursor *)cursor;
    struct nsc_query *q = c->head.query;
    const struct list *list = list_of(c->head.kind);
    struct nsc_query_range rows = {0, UINT32_MAX};
    int code = list->count == count_losses ? gather_losses(q, c) : SQLITE_OK;

    (void)plan;
    (void)argc;
    if (code != SQLITE_OK)
        return code;
    if (number != 0)
        nsc_query_narrow(&rows, SQLITE_INDEX_CONSTRAINT_EQ, argv[0]);
    c->end = list->count(q, c);
    c->at = rows.from <= rows.to && rows.from < c->end ? (uint32_t)rows.from : c->end;
    if (rows.to < c->end)
        c->end = rows.to < 0 || rows.from > rows.to ? c->at : (uint32_t)rows.to + 1;
    settle(c);
    return SQLITE_OK;
}

static int list_next(sqlite3_vtab_cursor *cursor)
{
    struct list_cursor *c = (struct list_cursor *)cursor;

    c->at++;
    settle(c);
    return SQLITE_OK;
}

static int list_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
    const struct list_cursor *c = (struct list_cursor *)cursor;
    const struct list *list = list_of(c->head.kind);

    if (list->numbered && column == 0)
        nsc_sqlite.result_int64(to, c->at);
    else
        list->cell(c->head.query, c, c->at, (unsigned)column, to);
    return SQLITE_OK;
}

static int list_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = ((struct list_cursor *)cursor)->at;
    return SQLITE_OK;
}

static void forget(struct nsc_query_cursor *cursor)
{
    free(((struct list_cursor *)cursor)->losses);
}

static const struct nsc_query_module module = {
    .sqlite = {NSC_QUERY_METHODS, .xBestIndex = best_index, .xFilter = list_filter,
               .xNext = list_next, .xColumn = list_column, .xRowid = list_rowid},
    .cursor_bytes = sizeof(struct list_cursor),
    .forget = forget,
};

/* In the order of list_of(). */
const struct nsc_query_table_kind nsc_query_lists[] = {
    {"functions",
     "function_id INTEGER, name TEXT, module TEXT, file TEXT, line INTEGER, category TEXT",
     "a function", &module},
    {"threads",
     "thread_id INTEGER, tid INTEGER, name TEXT, start_ns INTEGER, end_ns INTEGER, process_id "
     "INTEGER, stack INTEGER, lost INTEGER",
     "a thread, or a further stack of one", &module},
    {"processes",
     "process_id INTEGER, pid INTEGER, name TEXT, start_ns INTEGER, end_ns INTEGER, exit INTEGER, "
     "parent_process_id INTEGER",
     "a process", &module},
    {"categories", "category_id INTEGER, name TEXT, functions INTEGER",
     "a category, and how many functions are in it", &module},
    {"losses", "thread_id INTEGER, time_ns INTEGER, events INTEGER",
     "events that were lost; without a time where it is not known", &module},
    {"left_out",
     "function_id INTEGER, process_id INTEGER, reason TEXT, from_ns INTEGER, to_ns INTEGER, calls "
     "INTEGER, calls_error INTEGER, total_ns INTEGER, total_error_ns INTEGER, self_ns INTEGER, "
     "self_error_ns INTEGER",
     "a function that was not recorded for some time, and what is estimated of it", &module},
    {NULL, NULL, NULL, NULL},
};
