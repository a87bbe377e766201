/*
 * connection.c - a connection to SQLite that can only read one trace; see query.h.
 *
 * Statements are restricted in three ways: by an authorizer when SQLite compiles them, by SQLite's
 * limits, and by an empty in-memory database.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "query/tables.h"
#include "util/now.h"

#define MEMORY_BYTES   (UINT64_C(1) << 30)
#define CHECK_EVERY    1000 /* virtual machine instructions: about ten microseconds */
/* A running SQL function cannot be interrupted. Some take quadratic time in their longest text,
 * which this limits to a few seconds. */
#define TEXT_BYTES_MAX (128 << 10)

/* ---- Tables ---------------------------------------------------------------------------------- */

static const struct nsc_query_table_kind *const kinds[] = {nsc_query_calls, nsc_query_lists,
                                                           nsc_query_notes};

static const struct nsc_query_table_kind *table_at(size_t index)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (const struct nsc_query_table_kind *kind = kinds[i]; kind->name != NULL; kind++)
            if (index-- == 0)
                return kind;
    return NULL;
}

bool nsc_query_table(size_t index, const char **name, const char **columns, const char **row)
{
    const struct nsc_query_table_kind *kind = table_at(index);

    if (kind == NULL)
        return false;
    *name = kind->name;
    *columns = kind->declaration;
    *row = kind->row;
    return true;
}

static int add_tables(struct nsc_query *q)
{
    const struct nsc_query_table_kind *kind;
    int code = SQLITE_OK;
    size_t count = 0;

    while (table_at(count) != NULL)
        count++;
    q->connections = calloc(count + 1, sizeof *q->connections);
    if (q->connections == NULL)
        return SQLITE_NOMEM;
    for (size_t i = 0; code == SQLITE_OK && (kind = table_at(i)) != NULL; i++) {
        q->connections[i] = (struct nsc_query_connected){.query = q, .kind = kind};
        code = nsc_sqlite.create_module_v2(q->db, kind->name, &kind->module->sqlite,
                                           &q->connections[i], NULL);
    }
    return code;
}

/* ---- Restrictions on statements -------------------------------------------------------------- */

/*
 * The functions that a statement may call: those that compute only from their arguments. Excluded:
 * - functions that reach beyond the database (fts3_tokenizer, load_extension);
 * - functions that query the library (sqlite_compileoption_get);
 * - printf() and format(), which process any precision they are given, regardless of the limits.
 */
/* clang-format off */
static const char *const harmless[] = {
    "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil",
    "ceiling", "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist",
    "current_date", "current_time", "current_timestamp", "date", "datetime", "degrees",
    "dense_rank", "exp", "first_value", "floor", "glob", "group_concat", "hex", "ifnull", "iif",
    "instr", "json", "json_array", "json_array_length", "json_extract", "json_group_array",
    "json_group_object", "json_insert", "json_object", "json_patch", "json_pretty", "json_quote",
    "json_remove", "json_replace", "json_set", "json_type", "json_valid", "julianday", "lag",
    "last_value", "lead", "length", "like", "likelihood", "likely", "ln", "log", "log10", "log2",
    "lower", "ltrim", "max", "min", "mod", "nth_value", "ntile", "nullif", "octet_length",
    "percent_rank", "percentile", "pi", "pow", "power", "quote", "radians", "random", "rank",
    "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh", "sqrt", "strftime",
    "string_agg", "substr", "substring", "sum", "tan", "tanh", "time", "timediff", "total", "trim",
    "trunc", "typeof", "unhex", "unicode", "unixepoch", "unlikely", "upper", "zeroblob",
};
/* clang-format on */

static bool is_harmless(const char *name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strcasecmp(name, harmless[i]) == 0)
            return true;
    return false;
}

static bool is_formatting(const char *name)
{
    return strcasecmp(name, "printf") == 0 || strcasecmp(name, "format") == 0;
}

static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    struct nsc_query *q = context;

    (void)first;
    (void)database;
    (void)trigger;
    if (q->declares)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_READ:
        q->reads_rowid |= strcmp(second, "ROWID") == 0;
        return SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (is_harmless(second))
            return SQLITE_OK;
        snprintf(q->refused, sizeof q->refused, "%s", second);
        return SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    int code = nsc_sqlite.prepare_v2(db, sql, -1, &statement, NULL);

    if (code == SQLITE_OK)
        nsc_sqlite.step(statement);
    return code == SQLITE_OK ? nsc_sqlite.finalize(statement) : code;
}

static int restrict_statements(struct nsc_query *q)
{
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, NSC_QUERY_SQL_MAX},
        {SQLITE_LIMIT_COLUMN, 500},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 100},
        {SQLITE_LIMIT_VDBE_OP, 1000000},
        {SQLITE_LIMIT_FUNCTION_ARG, 100},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    sqlite3 *db = q->db;
    int code = nsc_sqlite.db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);

    if (code == SQLITE_OK)
        code = nsc_sqlite.db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        nsc_sqlite.limit(db, limits[i].what, limits[i].most);
    /* Sort in memory, which is limited: no file is written. */
    if (code == SQLITE_OK)
        code = run(db, "PRAGMA temp_store = MEMORY");
    if (code == SQLITE_OK)
        code = run(db, "PRAGMA query_only = ON");
    return code == SQLITE_OK ? nsc_sqlite.set_authorizer(db, authorize, q) : code;
}

static int check_progress(void *context)
{
    return nsc_query_check(context) != SQLITE_OK;
}

/* ---- Connection ------------------------------------------------------------------------------ */

static int connect_all(struct nsc_query *q)
{
    int code = nsc_sqlite.open_v2(
        ":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL);

    if (code == SQLITE_OK)
        code = add_tables(q);
    if (code == SQLITE_OK)
        code = nsc_query_add_percentile(q->db);
    if (code == SQLITE_OK)
        code = restrict_statements(q);
    if (code == SQLITE_OK)
        nsc_sqlite.progress_handler(q->db, CHECK_EVERY, check_progress, q);
    return code;
}

int nsc_query_load(struct nsc_diag *diag)
{
    return nsc_sqlite_load(diag);
}

int nsc_query_open(struct nsc_trace *t, const struct nsc_query_options *options,
                   struct nsc_query **out, struct nsc_diag *diag)
{
    int error = nsc_sqlite_load(diag);
    struct nsc_query *q;

    if (error != 0)
        return error;
    if (options->size < sizeof *options)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "options of another version");
    q = calloc(1, sizeof *q);
    if (q != NULL) {
        q->trace = t;
        q->options = *options;
        if (q->options.memory_bytes == 0)
            q->options.memory_bytes = MEMORY_BYTES;
        nsc_sqlite.hard_heap_limit64((sqlite3_int64)q->options.memory_bytes);
        if (nsc_matching_calls_index_new(t, &q->index) == 0 && connect_all(q) == SQLITE_OK) {
            *out = q;
            return 0;
        }
    }
    nsc_query_close(q);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for a query");
}

void nsc_query_close(struct nsc_query *q)
{
    if (q == NULL)
        return;
    nsc_sqlite.finalize(q->statement);
    nsc_sqlite.close(q->db);
    nsc_matching_calls_index_free(q->index);
    free(q->connections);
    free(q);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static int out_of_memory(const struct nsc_query *q, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM,
                        "the statement needs more than %llu MiB of memory: choose fewer rows, or "
                        "sort fewer",
                        (unsigned long long)(q->options.memory_bytes >> 20));
}

/* Convert SQLite's error, or the stored one, to an -errno with @diag. */
static int tell_failure(struct nsc_query *q, const char *sql, struct nsc_diag *diag)
{
    int code = nsc_sqlite.extended_errcode(q->db) & 0xff, at = nsc_sqlite.error_offset(q->db);

    if (q->failed != 0) {
        if (diag != NULL)
            *diag = q->failure;
        return q->failed;
    }
    if (q->stopped == -ETIME)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ETIME,
                            "the statement took longer than %llu s and was ended",
                            (unsigned long long)(q->options.time_ns / 1000000000));
    if (q->stopped != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ECANCELED, "the statement was ended");
    if (code == SQLITE_NOMEM)
        return out_of_memory(q, diag);
    if (code == SQLITE_TOOBIG)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, E2BIG,
                            "SQL: a text would be longer than %d KiB, the limit of one value: "
                            "select fewer rows or shorter texts",
                            TEXT_BYTES_MAX >> 10);
    if (q->refused[0] != '\0')
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "SQL: the function %s() cannot be called here%s", q->refused,
                            is_formatting(q->refused) ? "; use round() and || instead" : "");
    if (code == SQLITE_AUTH || strcmp(nsc_sqlite.errmsg(q->db), "not authorized") == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "SQL: only SELECT is allowed, on the tables of the trace");
    if (sql != NULL && at >= 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "SQL: %.300s (at character %d: %.40s)", nsc_sqlite.errmsg(q->db),
                            at + 1, sql + at);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "SQL: %.400s", nsc_sqlite.errmsg(q->db));
}

static void end_statement(struct nsc_query *q)
{
    nsc_sqlite.finalize(q->statement);
    q->statement = NULL;
    q->reads_rowid = false;
    q->refused[0] = '\0';
    q->stopped = 0;
    q->failed = 0;
}

/* Whether the statement is followed by anything except blanks and comments. */
static bool is_more(struct nsc_query *q, const char *rest)
{
    sqlite3_stmt *second = NULL;
    bool more =
        nsc_sqlite.prepare_v2(q->db, rest, -1, &second, NULL) != SQLITE_OK || second != NULL;

    nsc_sqlite.finalize(second);
    return more;
}

static int prepare(struct nsc_query *q, const char *sql, struct nsc_diag *diag)
{
    const char *rest = NULL;

    if (nsc_sqlite.prepare_v2(q->db, sql, -1, &q->statement, &rest) != SQLITE_OK)
        return tell_failure(q, sql, diag);
    if (q->statement == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "SQL: there is no statement");
    if (is_more(q, rest))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "SQL: one statement at a time, and there is more behind the first");
    if (nsc_sqlite.stmt_readonly(q->statement) == 0 || nsc_sqlite.column_count(q->statement) == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "SQL: only SELECT is allowed, on the tables of the trace");
    return 0;
}

int nsc_query_begin(struct nsc_query *q, const char *sql, size_t bytes, struct nsc_diag *diag)
{
    char *text;
    int error;

    end_statement(q);
    if (bytes > NSC_QUERY_SQL_MAX || memchr(sql, '\0', bytes) != NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "SQL: a statement is text of at most %u KiB", NSC_QUERY_SQL_MAX >> 10);
    text = strndup(sql, bytes);
    if (text == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for a statement");
    q->deadline_ns = q->options.time_ns != 0 ? nsc_now_ns() + q->options.time_ns : 0;
    error = prepare(q, text, diag);
    free(text);
    if (error != 0)
        end_statement(q);
    return error;
}

int nsc_query_next(struct nsc_query *q, struct nsc_diag *diag)
{
    int code = nsc_sqlite.step(q->statement);

    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : tell_failure(q, NULL, diag);
}

size_t nsc_query_column_count(const struct nsc_query *q)
{
    return (size_t)nsc_sqlite.column_count(q->statement);
}

const char *nsc_query_column_name(const struct nsc_query *q, size_t column)
{
    const char *name = nsc_sqlite.column_name(q->statement, (int)column);

    return name != NULL ? name : "";
}

bool nsc_query_column_is_number(const struct nsc_query *q, size_t column)
{
    const char *type = nsc_sqlite.column_decltype(q->statement, (int)column);

    return type != NULL && strcmp(type, "TEXT") != 0;
}

void nsc_query_value(const struct nsc_query *q, size_t column, struct nsc_query_value *out)
{
    sqlite3_stmt *s = q->statement;
    const char *text;

    *out = (struct nsc_query_value){.kind = NSC_QUERY_NULL};
    switch (nsc_sqlite.column_type(s, (int)column)) {
    case SQLITE_INTEGER:
        out->kind = NSC_QUERY_INTEGER;
        out->integer = nsc_sqlite.column_int64(s, (int)column);
        break;
    case SQLITE_FLOAT:
        out->kind = NSC_QUERY_REAL;
        out->real = nsc_sqlite.column_double(s, (int)column);
        break;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
        out->kind = NSC_QUERY_TEXT;
        text = (const char *)nsc_sqlite.column_text(s, (int)column);
        out->text = text != NULL ? text : "";
        break;
    default:
        break;
    }
}
