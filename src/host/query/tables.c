/* tables.c - functions shared by all tables of a query; see tables.h. */
#include "query/tables.h"

#include <errno.h>
#include <stdlib.h>

#include "util/now.h"

int nsc_query_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                      char **message)
{
    struct nsc_query_connected *table = aux;
    char *declaration =
        nsc_sqlite.mprintf("CREATE TABLE %s(%s)", table->kind->name, table->kind->declaration);
    int code;

    (void)argc;
    (void)argv;
    (void)message;
    if (declaration == NULL)
        return SQLITE_NOMEM;
    table->query->declares = true;
    code = nsc_sqlite.declare_vtab(db, declaration);
    table->query->declares = false;
    nsc_sqlite.free(declaration);
    if (code == SQLITE_OK)
        *out = &table->base;
    return code;
}

int nsc_query_disconnect(sqlite3_vtab *table)
{
    nsc_sqlite.free(table->zErrMsg);
    return SQLITE_OK;
}

int nsc_query_open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    const struct nsc_query_connected *connected = (const struct nsc_query_connected *)table;
    struct nsc_query_cursor *cursor = calloc(1, connected->kind->module->cursor_bytes);

    if (cursor == NULL)
        return SQLITE_NOMEM;
    cursor->query = connected->query;
    cursor->kind = connected->kind;
    *out = &cursor->base;
    return SQLITE_OK;
}

int nsc_query_close_cursor(sqlite3_vtab_cursor *cursor)
{
    struct nsc_query_cursor *c = (struct nsc_query_cursor *)cursor;

    c->kind->module->forget(c);
    free(c);
    return SQLITE_OK;
}

int nsc_query_is_done(sqlite3_vtab_cursor *cursor)
{
    return ((struct nsc_query_cursor *)cursor)->done;
}

int nsc_query_check(struct nsc_query *q)
{
    if (q->stopped == 0 && q->deadline_ns != 0 && nsc_now_ns() > q->deadline_ns)
        q->stopped = -ETIME;
    if (q->stopped == 0 && q->options.is_gone != NULL && q->options.is_gone(q->options.context))
        q->stopped = -ECANCELED;
    return q->stopped == 0 ? SQLITE_OK : SQLITE_INTERRUPT;
}

int nsc_query_fail(struct nsc_query *q, int error, const struct nsc_diag *diag)
{
    if (error == -ENOMEM)
        return SQLITE_NOMEM;
    q->failed = error;
    q->failure = *diag;
    return SQLITE_ERROR;
}

void nsc_query_narrow(struct nsc_query_range *range, int op, sqlite3_value *value)
{
    int type = nsc_sqlite.value_type(value);
    int64_t at;
    double real;
    bool whole = type == SQLITE_INTEGER;

    if (type == SQLITE_NULL) { /* a comparison with NULL is never true */
        *range = (struct nsc_query_range){1, 0};
        return;
    }
    if (!whole && type != SQLITE_FLOAT)
        return;
    if (!whole) {
        real = nsc_sqlite.value_double(value);
        if (!(real > -9e18 && real < 9e18))
            return;
    }
    /* A real is converted to an integer towards zero; the range is widened by one to include it. */
    at = nsc_sqlite.value_int64(value);
    if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE ||
        op == SQLITE_INDEX_CONSTRAINT_GT) {
        int64_t from = op == SQLITE_INDEX_CONSTRAINT_GT && whole && at < INT64_MAX ? at + 1 : at;

        from = whole || from == INT64_MIN ? from : from - 1;
        range->from = from > range->from ? from : range->from;
    }
    if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE ||
        op == SQLITE_INDEX_CONSTRAINT_LT) {
        int64_t to = op == SQLITE_INDEX_CONSTRAINT_LT && whole && at > INT64_MIN ? at - 1 : at;

        to = whole || to == INT64_MAX ? to : to + 1;
        range->to = to < range->to ? to : range->to;
    }
}

void nsc_query_result_u64(sqlite3_context *to, uint64_t value)
{
    nsc_sqlite.result_int64(to, value <= INT64_MAX ? (sqlite3_int64)value : INT64_MAX);
}

void nsc_query_result_id(sqlite3_context *to, uint32_t id)
{
    if (id == NSC_NO_ID)
        nsc_sqlite.result_null(to);
    else
        nsc_sqlite.result_int64(to, id);
}

void nsc_query_result_text(sqlite3_context *to, const char *text)
{
    if (text == NULL)
        nsc_sqlite.result_null(to);
    else
        nsc_sqlite.result_text(to, text, -1, SQLITE_STATIC);
}

void nsc_query_result_time(sqlite3_context *to, const struct nsc_query *q, uint64_t ticks)
{
    nsc_query_result_u64(to, nsc_clock_ns(nsc_trace_clock(q->trace), ticks));
}
