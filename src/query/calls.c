/*
 * calls.c - the table `calls`: a thread's chunks decoded as rows are asked for.
 *
 * What a statement asks of threads, functions, depths, starts and single calls goes down to
 * analyze/pick, which reads no other part of the file than it must. SQLite compares each row once
 * more, so what is passed down may be wider than what was asked, never narrower.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/tables.h"

enum column {
    CALL_ID,
    PARENT_ID,
    THREAD_ID,
    FUNCTION_ID,
    DEPTH,
    START_NS,
    DURATION_NS,
    SELF_NS,
    BOUND,
    CALLER_ID,
};

#define NUMBER_MAX  ((UINT64_C(1) << NSC_QUERY_THREAD_SHIFT) - 1)
#define THREADS_MAX (UINT64_C(1) << (63 - NSC_QUERY_THREAD_SHIFT))
#define PLAN_MAX    32 /* constraints that are passed down, at most */

struct calls_cursor {
    sqlite3_vtab_cursor base; /* first */
    struct nsc_wish wish;
    uint8_t *threads, *functions; /* a byte per id, 0 = not wanted; NULL = all */
    uint32_t thread;              /* that is read, or next */
    struct nsc_pick *pick;
    const struct nsc_call *calls;
    size_t at, count;
    bool done;
};

/* ---- Planning -------------------------------------------------------------------------------- */

/* How a plan is written down for the cursor: two letters for each value that it will be given. */
static char letter_of(int column, int op)
{
    bool equals = op == SQLITE_INDEX_CONSTRAINT_EQ;
    bool compares = equals || op == SQLITE_INDEX_CONSTRAINT_GT ||
                    op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
                    op == SQLITE_INDEX_CONSTRAINT_LE;

    switch (column) {
    case CALL_ID:
        return equals ? 'c' : '\0';
    case PARENT_ID:
        return equals ? 'p' : '\0';
    case THREAD_ID:
        return equals ? 't' : '\0';
    case FUNCTION_ID:
        return equals ? 'f' : '\0';
    case DEPTH:
        return compares ? 'd' : '\0';
    case START_NS:
        return compares ? 's' : '\0';
    default:
        return '\0';
    }
}

static char letter_of_op(int op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
        return '>';
    case SQLITE_INDEX_CONSTRAINT_GE:
        return 'G';
    case SQLITE_INDEX_CONSTRAINT_LT:
        return '<';
    default:
        return 'L';
    }
}

static int op_of_letter(char letter)
{
    switch (letter) {
    case '>':
        return SQLITE_INDEX_CONSTRAINT_GT;
    case 'G':
        return SQLITE_INDEX_CONSTRAINT_GE;
    case '<':
        return SQLITE_INDEX_CONSTRAINT_LT;
    case 'L':
        return SQLITE_INDEX_CONSTRAINT_LE;
    default:
        return SQLITE_INDEX_CONSTRAINT_EQ;
    }
}

struct plan {
    char text[2 * PLAN_MAX + 1];
    int count;
    bool one_call, one_thread, one_function, starts_from, starts_to, by_depth;
};

static void plan_constraint(sqlite3_index_info *info, int i, struct plan *plan)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    char letter = letter_of(c->iColumn, c->op);
    bool in = false;

    if (letter == '\0' || c->usable == 0 || plan->count == PLAN_MAX)
        return;
    if (letter == 't' || letter == 'f') /* IN: all values at once, or the trace is read for each */
        in = nsc_sqlite.vtab_in(info, i, 1) != 0;
    plan->text[2 * plan->count] = letter;
    plan->text[2 * plan->count + 1] = letter_of_op(c->op);
    if (in)
        plan->text[2 * plan->count + 1] = 'I';
    info->aConstraintUsage[i].argvIndex = ++plan->count;
    plan->one_call |= letter == 'c';
    plan->one_thread |= letter == 't' || letter == 'p';
    plan->one_function |= letter == 'f';
    plan->by_depth |= letter == 'd';
    plan->starts_from |=
        letter == 's' && c->op != SQLITE_INDEX_CONSTRAINT_LT && c->op != SQLITE_INDEX_CONSTRAINT_LE;
    plan->starts_to |=
        letter == 's' && c->op != SQLITE_INDEX_CONSTRAINT_GT && c->op != SQLITE_INDEX_CONSTRAINT_GE;
}

/* In events that are decoded, roughly. */
static void estimate(sqlite3_index_info *info, const struct nsc_query *q, const struct plan *plan)
{
    const struct nsc_trace_info *trace = nsc_trace_info(q->trace);
    double rows = (double)trace->calls + 1, cost = rows + 10000;

    if (plan->one_call) {
        info->estimatedRows = 1;
        info->estimatedCost = 20000; /* a chunk */
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        return;
    }
    if (plan->one_thread) {
        rows /= trace->thread_count + 1.0;
        cost /= trace->thread_count + 1.0;
    }
    if (plan->starts_from) {
        rows /= 4;
        cost /= 2;
    }
    if (plan->starts_to) {
        rows /= 4;
        cost /= 2;
    }
    if (plan->one_function)
        rows /= trace->function_count / 8.0 + 1;
    if (plan->by_depth)
        rows /= 4;
    info->estimatedRows = (sqlite3_int64)rows + 1;
    info->estimatedCost = cost + 10000;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    const struct nsc_query *q = ((struct nsc_query_connected *)table)->query;
    struct plan plan = {.count = 0};
    for (int i = 0; i < info->nConstraint; i++)
        plan_constraint(info, i, &plan);
    info->idxNum = (info->colUsed & 1u << PARENT_ID) != 0;
    info->idxStr = nsc_sqlite.mprintf("%s", plan.text);
    info->needToFreeIdxStr = 1;
    if (info->idxStr == NULL)
        return SQLITE_NOMEM;
    info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn == THREAD_ID &&
                            info->aOrderBy[0].desc == 0;
    estimate(info, q, &plan);
    return SQLITE_OK;
}

/* ---- What is asked --------------------------------------------------------------------------- */

/* Mark the ids among @below that a constraint leaves, those of all its values if it is an IN.
 * Returns a byte per id, NULL without memory. */
static uint8_t *ids_of(sqlite3_value *value, bool in, uint32_t below, uint32_t shift)
{
    uint8_t *ids = calloc((size_t)below + 1, 1);
    sqlite3_value *one = value;
    int more = SQLITE_OK;

    if (ids == NULL)
        return NULL;
    if (in)
        more = nsc_sqlite.vtab_in_first(value, &one);
    for (; more == SQLITE_OK && one != NULL;
         more = in ? nsc_sqlite.vtab_in_next(value, &one) : SQLITE_DONE) {
        struct nsc_query_range range = {INT64_MIN, INT64_MAX};

        nsc_query_narrow(&range, SQLITE_INDEX_CONSTRAINT_EQ, one);
        if (range.from == INT64_MIN) { /* no number: anything may be equal to it */
            memset(ids, 1, below);
            continue;
        }
        range.from = range.from < 0 ? 0 : range.from >> shift;
        for (int64_t id = range.from; id <= range.to >> shift && id < below; id++)
            ids[id] = 1;
    }
    return ids;
}

/* Narrow *@ids, which may be NULL (all), by another constraint. */
static int narrow_ids(uint8_t **ids, uint8_t *by, uint32_t count)
{
    if (by == NULL)
        return SQLITE_NOMEM;
    for (uint32_t i = 0; *ids != NULL && i < count; i++)
        by[i] &= (*ids)[i];
    free(*ids);
    *ids = by;
    return SQLITE_OK;
}

static void narrow_starts(struct calls_cursor *c, const struct nsc_query_range *range)
{
    const struct nsc_clock *clock = nsc_trace_clock(nsc_query_of(&c->base)->trace);

    if (range->from > range->to || range->to < 0) {
        c->wish.to_ticks = 0;
        return;
    }
    if (range->from > 0)
        c->wish.from_ticks = nsc_clock_ticks(clock, (uint64_t)range->from);
    /* The last ticks that may show as that time, and one more that does not harm. */
    if (range->to < INT64_MAX)
        c->wish.to_ticks = nsc_clock_ticks(clock, (uint64_t)range->to + 1) + 1;
    /* Ticks before the trace's origin show as 0, too. */
    if (range->from <= 0)
        c->wish.from_ticks = 0;
}

static void narrow_depths(struct calls_cursor *c, const struct nsc_query_range *range)
{
    if (range->from > range->to || range->to < 0 || range->from > UINT32_MAX) {
        c->wish.to_ticks = 0;
        return;
    }
    c->wish.min_depth = range->from < 0 ? 0 : (uint32_t)range->from;
    c->wish.max_depth = range->to > UINT32_MAX ? UINT32_MAX : (uint32_t)range->to;
}

static int take_values(struct calls_cursor *c, const char *plan, sqlite3_value **values)
{
    const struct nsc_trace_info *info = nsc_trace_info(nsc_query_of(&c->base)->trace);
    struct nsc_query_range starts = {INT64_MIN, INT64_MAX}, depths = starts, call = starts;
    int code = SQLITE_OK;

    for (; *plan != '\0' && code == SQLITE_OK; plan += 2, values++) {
        bool in = plan[1] == 'I';
        int op = op_of_letter(plan[1]);

        switch (plan[0]) {
        case 'c':
            nsc_query_narrow(&call, op, *values);
            if (call.from == call.to && call.from > 0)
                c->wish.number = (uint64_t)call.from & NUMBER_MAX;
            code = narrow_ids(&c->threads,
                              ids_of(*values, false, info->thread_count, NSC_QUERY_THREAD_SHIFT),
                              info->thread_count);
            break;
        case 'p':
            code = narrow_ids(&c->threads,
                              ids_of(*values, false, info->thread_count, NSC_QUERY_THREAD_SHIFT),
                              info->thread_count);
            break;
        case 't':
            code = narrow_ids(&c->threads, ids_of(*values, in, info->thread_count, 0),
                              info->thread_count);
            break;
        case 'f':
            code = narrow_ids(&c->functions, ids_of(*values, in, info->function_count, 0),
                              info->function_count);
            break;
        case 'd':
            nsc_query_narrow(&depths, op, *values);
            break;
        default:
            nsc_query_narrow(&starts, op, *values);
            break;
        }
    }
    narrow_depths(c, &depths);
    if (c->wish.to_ticks != 0)
        narrow_starts(c, &starts);
    c->wish.functions = c->functions;
    return code;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void forget(struct calls_cursor *c)
{
    nsc_pick_close(c->pick);
    free(c->threads);
    free(c->functions);
    c->pick = NULL;
    c->threads = c->functions = NULL;
}

/* Begin with the next thread that is wanted. Returns 1, 0 if there is none, or -errno. */
static int next_thread(struct calls_cursor *c, struct nsc_query *q, struct nsc_diag *diag)
{
    uint32_t threads = nsc_trace_info(q->trace)->thread_count;
    int error;

    while (c->thread < threads && c->threads != NULL && c->threads[c->thread] == 0)
        c->thread++;
    if (c->thread >= threads)
        return 0;
    error = nsc_pick_open(q->index, c->thread, &c->wish, &c->pick, diag);
    return error == 0 ? 1 : error;
}

/* Decode until there is a row, or no more. */
static int fill(struct calls_cursor *c)
{
    struct nsc_query *q = nsc_query_of(&c->base);
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    for (;;) {
        int result = nsc_query_check(q);

        if (result != SQLITE_OK)
            return result;
        result = c->pick != NULL ? nsc_pick_next(c->pick, &c->calls, &c->count, &diag)
                                 : next_thread(c, q, &diag);
        if (result < 0)
            return nsc_query_fail(q, result, &diag);
        if (result == 0 && c->pick == NULL) {
            c->done = true;
            return SQLITE_OK;
        }
        if (result == 0) {
            nsc_pick_close(c->pick);
            c->pick = NULL;
            c->thread++;
            c->count = 0;
        }
        c->at = 0;
        if (c->count > 0)
            return SQLITE_OK;
    }
}

static int calls_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
                        sqlite3_value **argv)
{
    struct calls_cursor *c = (struct calls_cursor *)cursor;
    int code;

    (void)argc;
    forget(c);
    nsc_wish_init(&c->wish);
    c->wish.parents = number != 0;
    c->thread = 0;
    c->at = c->count = 0;
    c->done = false;
    code = take_values(c, plan, argv);
    return code == SQLITE_OK ? fill(c) : code;
}

static int calls_next(sqlite3_vtab_cursor *cursor)
{
    struct calls_cursor *c = (struct calls_cursor *)cursor;

    if (++c->at < c->count)
        return SQLITE_OK;
    c->count = 0;
    return fill(c);
}

static int calls_eof(sqlite3_vtab_cursor *cursor)
{
    return ((struct calls_cursor *)cursor)->done;
}

static void result_call_id(sqlite3_context *to, uint32_t thread, uint64_t number)
{
    if (number == 0 || number > NUMBER_MAX || thread >= THREADS_MAX)
        nsc_sqlite.result_null(to);
    else
        nsc_sqlite.result_int64(
            to, (sqlite3_int64)((uint64_t)thread << NSC_QUERY_THREAD_SHIFT | number));
}

static int calls_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
    const struct calls_cursor *c = (struct calls_cursor *)cursor;
    const struct nsc_query *q = nsc_query_of(cursor);
    const struct nsc_clock *clock = nsc_trace_clock(q->trace);
    const struct nsc_call *call = &c->calls[c->at];

    switch ((enum column)column) {
    case CALL_ID:
        result_call_id(to, call->thread, call->number);
        break;
    case PARENT_ID:
        result_call_id(to, call->thread, call->parent);
        break;
    case THREAD_ID:
        nsc_sqlite.result_int64(to, call->thread);
        break;
    case FUNCTION_ID:
        nsc_sqlite.result_int64(to, call->function);
        break;
    case DEPTH:
        nsc_sqlite.result_int64(to, call->depth);
        break;
    case START_NS:
        nsc_query_result_u64(to, nsc_clock_ns(clock, call->start_ticks));
        break;
    case DURATION_NS:
        nsc_query_result_u64(to, nsc_clock_span_ns(clock, call->end_ticks - call->start_ticks));
        break;
    case SELF_NS:
        nsc_query_result_u64(to, nsc_clock_span_ns(clock, call->self_ticks));
        break;
    case BOUND:
        nsc_query_result_text(to, nsc_bound_name(call->bound));
        break;
    case CALLER_ID:
        nsc_query_result_id(to, call->caller);
        break;
    }
    return SQLITE_OK;
}

static int calls_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    const struct calls_cursor *c = (struct calls_cursor *)cursor;
    const struct nsc_call *call = &c->calls[c->at];

    *out = (sqlite3_int64)((uint64_t)call->thread << NSC_QUERY_THREAD_SHIFT | call->number);
    return SQLITE_OK;
}

static int calls_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct calls_cursor *c = calloc(1, sizeof *c);

    (void)table;
    if (c == NULL)
        return SQLITE_NOMEM;
    *out = &c->base;
    return SQLITE_OK;
}

static int calls_close(sqlite3_vtab_cursor *cursor)
{
    forget((struct calls_cursor *)cursor);
    free(cursor);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 0,
    .xConnect = nsc_query_connect,
    .xBestIndex = best_index,
    .xDisconnect = nsc_query_disconnect,
    .xOpen = calls_open,
    .xClose = calls_close,
    .xFilter = calls_filter,
    .xNext = calls_next,
    .xEof = calls_eof,
    .xColumn = calls_column,
    .xRowid = calls_rowid,
};

const struct nsc_query_table_kind nsc_query_calls[] = {
    {"calls",
     "call_id INTEGER, parent_id INTEGER, thread_id INTEGER, function_id INTEGER, depth INTEGER, "
     "start_ns INTEGER, duration_ns INTEGER, self_ns INTEGER, bound TEXT, "
     "caller_id INTEGER HIDDEN",
     "a call; caller_id, the calling function, is not in `*`", &module},
    {NULL, NULL, NULL, NULL},
};
