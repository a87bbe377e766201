/*
 * table_calls.c - the table `calls`: decodes a thread's chunks when rows are requested.
 *
 * Constraints on threads, functions, depths, starts and single calls are passed to
 * analyze/calls/matching_calls.h, which reads only the parts of the file it needs. SQLite checks
 * each row again. Therefore a passed constraint may be wider than the original, but never narrower.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/call_rows.h"

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
#define PLAN_MAX    32 /* maximum number of constraints that are passed down */
#define LISTS_SHARE 4u /* lists by function may use 1/LISTS_SHARE of a statement's memory */
/* idxNum of a plan: the mask of used columns, plus this flag. */
#define BY_FUNCTION (1 << 16)

struct calls_cursor {
    struct nsc_query_cursor head; /* must be first */
    struct nsc_call_wish wish;
    uint8_t *threads, *functions; /* one byte per id, 0 = not wanted; NULL = all */
    struct nsc_rows *rows;
    const struct nsc_call *calls;
    size_t at, count;
};

/* ---- Planning -------------------------------------------------------------------------------- */

/* A plan is passed to the cursor as a string: two letters (column, operator) for each value that it
 * receives. */
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

static const char op_letters[] = {
    [SQLITE_INDEX_CONSTRAINT_EQ] = '=', [SQLITE_INDEX_CONSTRAINT_GT] = '>',
    [SQLITE_INDEX_CONSTRAINT_GE] = 'G', [SQLITE_INDEX_CONSTRAINT_LT] = '<',
    [SQLITE_INDEX_CONSTRAINT_LE] = 'L',
};

static int op_of_letter(char letter)
{
    for (int op = 0; op < (int)sizeof op_letters; op++)
        if (op_letters[op] == letter)
            return op;
    return SQLITE_INDEX_CONSTRAINT_EQ; /* IN */
}

struct plan {
    char text[2 * PLAN_MAX + 1];
    int count;
    bool one_call, one_thread, one_function, starts_from, starts_to, by_depth;
    bool only_function; /* exactly one function: any order keeps its calls together */
};

static void plan_constraint(sqlite3_index_info *info, int i, struct plan *plan)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    char letter = letter_of(c->iColumn, c->op);
    bool in = false;

    if (letter == '\0' || c->usable == 0 || plan->count == PLAN_MAX)
        return;
    /* IN: request all values at once, otherwise the trace is read once for each */
    if (letter == 't' || letter == 'f')
        in = nsc_sqlite.vtab_in(info, i, 1) != 0;
    plan->text[2 * plan->count] = letter;
    plan->text[2 * plan->count + 1] = op_letters[c->op];
    if (in)
        plan->text[2 * plan->count + 1] = 'I';
    info->aConstraintUsage[i].argvIndex = ++plan->count;
    plan->one_call |= letter == 'c';
    plan->one_thread |= letter == 't' || letter == 'p';
    plan->one_function |= letter == 'f';
    plan->only_function |= letter == 'f' && !in;
    plan->by_depth |= letter == 'd';
    plan->starts_from |=
        letter == 's' && c->op != SQLITE_INDEX_CONSTRAINT_LT && c->op != SQLITE_INDEX_CONSTRAINT_LE;
    plan->starts_to |=
        letter == 's' && c->op != SQLITE_INDEX_CONSTRAINT_GT && c->op != SQLITE_INDEX_CONSTRAINT_GE;
}

/* Estimate the cost, roughly in decoded events. */
static void estimate(sqlite3_index_info *info, const struct nsc_query *q, const struct plan *plan)
{
    const struct nsc_trace_info *trace = nsc_trace_info(q->trace);
    double rows = (double)trace->calls + 1, cost = rows + 10000;

    if (plan->one_call) {
        info->estimatedRows = 1;
        info->estimatedCost = 20000; /* one chunk */
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

/*
 * Whether rows are returned in the requested order or grouping: by thread (the order of reading);
 * by function; or by function, then thread. @by_function: receives whether nsc_rows must group.
 */
static bool plan_order(sqlite3_index_info *info, const struct nsc_query *q, const struct plan *plan,
                       bool *by_function)
{
    const struct sqlite3_index_orderby *order = info->aOrderBy;
    int at = 0;

    *by_function = false;
    for (int i = 0; i < info->nOrderBy; i++)
        if (order[i].desc != 0)
            return false;
    if (info->nOrderBy > 0 && order[0].iColumn == FUNCTION_ID) {
        *by_function = !plan->only_function;
        at++;
    }
    if (at < info->nOrderBy && order[at].iColumn == THREAD_ID)
        at++;
    if (at == 0 || at != info->nOrderBy || (*by_function && !nsc_rows_can_group(q->trace))) {
        *by_function = false;
        return false;
    }
    return true;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    const struct nsc_query *q = ((struct nsc_query_connected *)table)->query;
    struct plan plan = {.count = 0};
    bool by_function;

    for (int i = 0; i < info->nConstraint; i++)
        plan_constraint(info, i, &plan);
    info->idxNum = (int)(info->colUsed & (BY_FUNCTION - 1));
    info->idxStr = nsc_sqlite.mprintf("%s", plan.text);
    info->needToFreeIdxStr = 1;
    if (info->idxStr == NULL)
        return SQLITE_NOMEM;
    info->orderByConsumed = plan_order(info, q, &plan, &by_function);
    if (by_function)
        info->idxNum |= BY_FUNCTION;
    estimate(info, q, &plan);
    return SQLITE_OK;
}

/* ---- Constraints ----------------------------------------------------------------------------- */

/* Mark the ids below @below that a constraint allows; with IN, those of all its values. Returns one
 * byte per id, NULL if out of memory. */
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
        if (range.from == INT64_MIN) { /* not a number: it may compare equal to any id */
            memset(ids, 1, below);
            continue;
        }
        range.from = range.from < 0 ? 0 : range.from >> shift;
        for (int64_t id = range.from; id <= range.to >> shift && id < below; id++)
            ids[id] = 1;
    }
    return ids;
}

/* Narrow *@ids, which may be NULL (all), by another constraint. Frees @by or stores it in *@ids. */
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
    const struct nsc_clock *clock = nsc_trace_clock(c->head.query->trace);

    if (range->from > range->to || range->to < 0) {
        c->wish.to_ticks = 0;
        return;
    }
    if (range->from > 0)
        c->wish.from_ticks = nsc_clock_ticks(clock, (uint64_t)range->from);
    /* The last ticks that may be displayed as that time, plus one more, which does no harm. */
    if (range->to < INT64_MAX)
        c->wish.to_ticks = nsc_clock_ticks(clock, (uint64_t)range->to + 1) + 1;
    /* Ticks before the trace's origin are displayed as 0 as well. */
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
    const struct nsc_trace_info *info = nsc_trace_info(c->head.query->trace);
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
            __attribute__((fallthrough));
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
    return code;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void forget(struct nsc_query_cursor *cursor)
{
    struct calls_cursor *c = (struct calls_cursor *)cursor;

    nsc_rows_close(c->rows);
    free(c->threads);
    free(c->functions);
    c->rows = NULL;
    c->threads = c->functions = NULL;
}

/* Decode until there is a row, or the end. */
static int fill(struct calls_cursor *c)
{
    struct nsc_query *q = c->head.query;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    c->at = c->count = 0;
    while (c->count == 0) {
        int result = nsc_query_check(q);

        if (result != SQLITE_OK)
            return result;
        result = nsc_rows_next(c->rows, &c->calls, &c->count, &diag);
        if (result < 0)
            return nsc_query_fail(q, result, &diag);
        if (result == 0) {
            c->head.done = true;
            break;
        }
    }
    return SQLITE_OK;
}

/* The fields of a call that the used columns need. */
static unsigned fields_of(unsigned columns, bool reads_rowid)
{
    static const unsigned of[] = {
        [CALL_ID] = NSC_ROWS_NUMBER,       [PARENT_ID] = NSC_ROWS_PARENT,
        [THREAD_ID] = NSC_ROWS_DEPTH,      [FUNCTION_ID] = 0,
        [DEPTH] = NSC_ROWS_DEPTH,          [START_NS] = NSC_ROWS_START,
        [DURATION_NS] = NSC_ROWS_DURATION, [SELF_NS] = NSC_ROWS_SELF,
        [BOUND] = NSC_ROWS_REST,           [CALLER_ID] = NSC_ROWS_REST,
    };
    unsigned fields = reads_rowid ? NSC_ROWS_NUMBER : 0;

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        fields |= (columns >> i & 1) != 0 ? of[i] : 0;
    return fields;
}

static int calls_filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
                        sqlite3_value **argv)
{
    struct calls_cursor *c = (struct calls_cursor *)cursor;
    struct nsc_query *q = c->head.query;
    unsigned fields = fields_of((unsigned)number & (BY_FUNCTION - 1), q->reads_rowid);
    int code;

    (void)argc;
    forget(&c->head);
    nsc_call_wish_init(&c->wish);
    c->wish.numbers = (fields & NSC_ROWS_NUMBER) != 0;
    c->wish.parents = (fields & NSC_ROWS_PARENT) != 0;
    c->head.done = false;
    code = take_values(c, plan, argv);
    if (code == SQLITE_OK &&
        nsc_rows_open(q, &c->wish, c->threads, c->functions, (number & BY_FUNCTION) != 0, fields,
                      (size_t)(q->options.memory_bytes / LISTS_SHARE), &c->rows) != 0)
        code = SQLITE_NOMEM;
    return code == SQLITE_OK ? fill(c) : code;
}

static int calls_next(sqlite3_vtab_cursor *cursor)
{
    struct calls_cursor *c = (struct calls_cursor *)cursor;

    return ++c->at < c->count ? SQLITE_OK : fill(c);
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
    const struct nsc_query *q = c->head.query;
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
        nsc_query_result_text(to, nsc_model_bound_name(call->bound));
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

static const struct nsc_query_module module = {
    .sqlite = {NSC_QUERY_METHODS, .xBestIndex = best_index, .xFilter = calls_filter,
               .xNext = calls_next, .xColumn = calls_column, .xRowid = calls_rowid},
    .cursor_bytes = sizeof(struct calls_cursor),
    .forget = forget,
};

const struct nsc_query_table_kind nsc_query_calls[] = {
    {"calls",
     "call_id INTEGER, parent_id INTEGER, thread_id INTEGER, function_id INTEGER, depth INTEGER, "
     "start_ns INTEGER, duration_ns INTEGER, self_ns INTEGER, bound TEXT, "
     "caller_id INTEGER HIDDEN",
     "a call; caller_id, the calling function, is not in `*`", &module},
    {NULL, NULL, NULL, NULL},
};
