/*
 * tables.h - the tables that a query sees, inside query/: each file of them gives its description
 * and its methods to connection.c, which makes them known to SQLite.
 */
#ifndef NSC_QUERY_TABLES_H
#define NSC_QUERY_TABLES_H

#include "analyze/calls/matching_calls.h"
#include "query/query.h"
#include "query/sqlite.h"

struct nsc_query_connection;

struct nsc_query {
    struct nsc_trace *trace;
    struct nsc_query_options options;
    struct nsc_matching_calls_index *index;
    struct nsc_query_connection *connections; /* by table */
    sqlite3 *db;
    sqlite3_stmt *statement;
    bool declares;           /* a table tells its columns, as if it were made */
    bool reads_rowid;        /* the statement does, which no table is told otherwise */
    char refused[64];        /* a function that the statement may not call; empty: none */
    uint64_t deadline_ns;    /* of the statement; 0: none */
    int stopped;             /* -ECANCELED or -ETIME once it was */
    struct nsc_diag failure; /* of a table, where the error is the trace's; no message: none */
    int failed;              /* its -errno */
};

struct nsc_query_table_kind {
    const char *name;
    const char *declaration; /* columns with their types, for SQLite */
    const char *row;         /* what a row is */
    const sqlite3_module *module;
};

/* table_calls.c, table_lists.c, table_notes.c; a table whose name is NULL ends each. */
extern const struct nsc_query_table_kind nsc_query_calls[];
extern const struct nsc_query_table_kind nsc_query_lists[];
extern const struct nsc_query_table_kind nsc_query_notes[];

/* A connected table, as SQLite wants it. */
struct nsc_query_connected {
    sqlite3_vtab base; /* first */
    struct nsc_query *query;
    const struct nsc_query_table_kind *kind;
};

/* What SQLite is told at xConnect: of which query, and which table. */
struct nsc_query_connection {
    struct nsc_query *query;
    const struct nsc_query_table_kind *kind;
};

int nsc_query_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                      char **message);
int nsc_query_disconnect(sqlite3_vtab *table);

static inline struct nsc_query *nsc_query_of(const sqlite3_vtab_cursor *cursor)
{
    return ((const struct nsc_query_connected *)cursor->pVtab)->query;
}

/* Whether the statement has to end; asked by whoever reads on without giving a row. Returns
 * SQLITE_OK or SQLITE_INTERRUPT. */
int nsc_query_check(struct nsc_query *q);
/* A table cannot go on: keep the error for nsc_query_next(). Returns SQLITE_ERROR or SQLITE_NOMEM.
 */
int nsc_query_fail(struct nsc_query *q, int error, const struct nsc_diag *diag);

/* ---- What is asked of a table ---------------------------------------------------------------- */

/*
 * A range of whole numbers that a constraint leaves, both ends included; from > to: none. Begins as
 * { INT64_MIN, INT64_MAX }.
 */
struct nsc_query_range {
    int64_t from, to;
};

/* Narrow @range by "column @op @value", where @op is SQLITE_INDEX_CONSTRAINT_*. What is no number
 * narrows nothing: SQLite compares each row all the same. */
void nsc_query_narrow(struct nsc_query_range *range, int op, sqlite3_value *value);

/* Results; times that do not fit 63 bits are cut. */
void nsc_query_result_u64(sqlite3_context *to, uint64_t value);
/* NULL for NSC_NO_ID. */
void nsc_query_result_id(sqlite3_context *to, uint32_t id);
/* NULL for NULL. @text must last as long as the trace. */
void nsc_query_result_text(sqlite3_context *to, const char *text);
/* ns since the trace's origin. */
void nsc_query_result_time(sqlite3_context *to, const struct nsc_query *q, uint64_t ticks);

/* percentile.c: make percentile(x, p) known. Returns a code of SQLite's. */
int nsc_query_add_percentile(sqlite3 *db);

#endif
