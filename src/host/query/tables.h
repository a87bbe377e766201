/*
 * tables.h - the tables that a query can read. Internal to query/: each table_*.c defines its
 * tables and their methods, connection.c registers them with SQLite.
 */
#ifndef NSC_QUERY_TABLES_H
#define NSC_QUERY_TABLES_H

#include "analyze/calls/matching_calls.h"
#include "query/query.h"
#include "query/sqlite.h"

struct nsc_query_connected;

struct nsc_query {
    struct nsc_trace *trace;
    struct nsc_query_options options;
    struct nsc_matching_calls_index *index;
    struct nsc_query_connected *connections; /* one per table */
    sqlite3 *db;
    sqlite3_stmt *statement;
    bool declares; /* a table is being declared: the authorizer allows it */
    /* the statement uses `rowid`; SQLite does not tell tables this */
    bool reads_rowid;
    char refused[64];        /* function that the statement may not call; empty: none */
    uint64_t deadline_ns;    /* of the statement; 0: none */
    int stopped;             /* -ECANCELED or -ETIME once the statement was stopped */
    struct nsc_diag failure; /* error of the trace that a table met, if `failed` is set */
    int failed;              /* its -errno; 0: none */
};

struct nsc_query_table_kind {
    const char *name;
    const char *declaration; /* columns with their types, for SQLite */
    const char *row;         /* what a row is */
    const struct nsc_query_module *module;
};

/* Defined in table_calls.c, table_lists.c, table_notes.c; each array ends with a table whose name
 * is NULL. */
extern const struct nsc_query_table_kind nsc_query_calls[];
extern const struct nsc_query_table_kind nsc_query_lists[];
extern const struct nsc_query_table_kind nsc_query_notes[];

/* A connected table, as SQLite allocates it. */
struct nsc_query_connected {
    sqlite3_vtab base; /* must be first */
    struct nsc_query *query;
    const struct nsc_query_table_kind *kind;
};

/* The first member of every cursor. */
struct nsc_query_cursor {
    sqlite3_vtab_cursor base; /* must be first */
    struct nsc_query *query;
    const struct nsc_query_table_kind *kind;
    bool done; /* there is no further row */
};

struct nsc_query_module {
    sqlite3_module sqlite; /* begins with NSC_QUERY_METHODS */
    size_t cursor_bytes;   /* of a cursor; the rest after its head is zeroed */
    void (*forget)(struct nsc_query_cursor *cursor); /* release its members */
};

/* The methods that all tables share. */
#define NSC_QUERY_METHODS                                                                          \
    .xConnect = nsc_query_connect, .xDisconnect = nsc_query_disconnect,                            \
    .xOpen = nsc_query_open_cursor, .xClose = nsc_query_close_cursor, .xEof = nsc_query_is_done

int nsc_query_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                      char **message);
int nsc_query_disconnect(sqlite3_vtab *table);
int nsc_query_open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out);
int nsc_query_close_cursor(sqlite3_vtab_cursor *cursor);
int nsc_query_is_done(sqlite3_vtab_cursor *cursor);

/* Check whether the statement must stop. Called by code that reads long without returning a row.
 * Returns SQLITE_OK or SQLITE_INTERRUPT. */
int nsc_query_check(struct nsc_query *q);
/* Store a table's error for nsc_query_next(). Returns SQLITE_ERROR or SQLITE_NOMEM. */
int nsc_query_fail(struct nsc_query *q, int error, const struct nsc_diag *diag);

/* ---- Constraints and results ----------------------------------------------------------------- */

/*
 * A range of integers that constraints leave, both ends included; from > to: empty.
 * Initially { INT64_MIN, INT64_MAX }.
 */
struct nsc_query_range {
    int64_t from, to;
};

/* Narrow @range by "column @op @value", where @op is SQLITE_INDEX_CONSTRAINT_*. Values that are not
 * numbers do not narrow it, except NULL, which empties it: SQLite checks each row again. */
void nsc_query_narrow(struct nsc_query_range *range, int op, sqlite3_value *value);

/* Return an unsigned number; values that do not fit 63 bits are clamped. */
void nsc_query_result_u64(sqlite3_context *to, uint64_t value);
/* Return an id; NULL for NSC_NO_ID. */
void nsc_query_result_id(sqlite3_context *to, uint32_t id);
/* Return a text; NULL for NULL. @text must live as long as the trace. */
void nsc_query_result_text(sqlite3_context *to, const char *text);
/* Return a time in ns since the trace's origin. */
void nsc_query_result_time(sqlite3_context *to, const struct nsc_query *q, uint64_t ticks);

/* Register percentile(x, p). Returns an SQLite code. Defined in percentile.c. */
int nsc_query_add_percentile(sqlite3 *db);

#endif
