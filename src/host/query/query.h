/*
 * query.h - SQL queries over a trace, executed by SQLite. Tables are decoded from the file while a
 * statement reads them.
 *
 * Called by cli/ (`query`) and viewer/server/ (/api/query). A statement is untrusted: it may come
 * from any user with access to the trace. It can only read the trace's tables; other files,
 * extensions and settings are out of reach. docs/man/nanoscope-query.md documents the tables.
 */
#ifndef NSC_QUERY_QUERY_H
#define NSC_QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/functions/category.h"
#include "trace/read/reader.h"
#include "util/text/json_writer.h"

#define NSC_QUERY_SQL_MAX (256u << 10) /* bytes of a statement; longer ones are rejected */

/* A call_id holds the call's number in its thread (from 1, by entry) below this bit, and the thread
 * above. */
#define NSC_QUERY_THREAD_SHIFT 40u

struct nsc_query;

struct nsc_query_options {
    size_t size;                             /* of this structure */
    const struct nsc_categories *categories; /* of the trace; borrowed */
    uint64_t memory_bytes;                   /* SQLite's limit in the whole process; 0: 1 GiB */
    uint64_t time_ns;                        /* time limit of a statement; 0: none */
    bool (*is_gone)(void *context);          /* called regularly; true cancels the statement */
    void *context;
};

/* Check whether queries are available: returns 0, or -ENOSYS with a @diag that says what to
 * install. Context: any thread. */
int nsc_query_load(struct nsc_diag *diag);

/**
 * nsc_query_open - open a connection to a trace.
 * @t: borrowed; no other code may use it until nsc_query_close().
 * Returns 0, -ENOSYS (no SQLite; @diag says what to install) or -ENOMEM.
 * Context: one thread at a time.
 */
int nsc_query_open(struct nsc_trace *t, const struct nsc_query_options *options,
                   struct nsc_query **out, struct nsc_diag *diag);
void nsc_query_close(struct nsc_query *q);

/**
 * nsc_query_begin - prepare a statement; ends the previous one.
 * @sql: one SELECT (or WITH, VALUES, EXPLAIN), not terminated.
 * Returns 0, -EINVAL (invalid or not allowed) or -ENOMEM, with @diag.
 */
int nsc_query_begin(struct nsc_query *q, const char *sql, size_t bytes, struct nsc_diag *diag);

/**
 * nsc_query_next - advance to the next row.
 * Returns 1, 0 at the end, or -errno with @diag: -EINVAL (an error in the statement), -ECANCELED
 * (is_gone() returned true), -ETIME, -ENOMEM, -E2BIG (a value is too long), or an error of the
 * trace (-EBADMSG).
 */
int nsc_query_next(struct nsc_query *q, struct nsc_diag *diag);

enum nsc_query_kind {
    NSC_QUERY_NULL = 0,
    NSC_QUERY_INTEGER,
    NSC_QUERY_REAL,
    NSC_QUERY_TEXT,
};

struct nsc_query_value {
    enum nsc_query_kind kind;
    union {
        int64_t integer;
        double real;
        const char *text; /* ends at the first NUL; valid until the next row */
    };
};

size_t nsc_query_column_count(const struct nsc_query *q);
const char *nsc_query_column_name(const struct nsc_query *q, size_t column);
/* Whether a column holds numbers, as far as this is known before the first row. */
bool nsc_query_column_is_number(const struct nsc_query *q, size_t column);
/* Get a cell of the current row. A BLOB is returned as text. */
void nsc_query_value(const struct nsc_query *q, size_t column, struct nsc_query_value *out);

/**
 * nsc_query_put_json - write the result as members of the open JSON object: "columns", "rows" (each
 * an array of values), and "more": 1 if there are more rows than were written, else 0.
 * @limit: maximum number of rows. @bytes_max: write no further row after about this many bytes.
 * Returns 0, or as nsc_query_next(); the JSON written so far is complete.
 */
int nsc_query_put_json(struct nsc_query *q, struct nsc_json *j, uint64_t limit, uint64_t bytes_max,
                       struct nsc_diag *diag);

/* Describe a table: its name, its columns separated by commas, and what a row is. Returns false if
 * @index is past the last table. */
bool nsc_query_table(size_t index, const char **name, const char **columns, const char **row);

#endif
