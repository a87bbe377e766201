/*
 * query.h - SQL over a trace, by SQLite: its tables are decoded from the file as a statement reads
 * them.
 *
 * Called by cli/ (`query`) and viewer/server/ (/api/query). A statement comes from anybody who may
 * look at the trace, and can do nothing but look: no other file, no extension, no settings. The
 * tables are told in docs/man/nanoscope-query.md.
 */
#ifndef NSC_QUERY_QUERY_H
#define NSC_QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/functions/category.h"
#include "trace/read/reader.h"
#include "util/text/json_writer.h"

#define NSC_QUERY_SQL_MAX (256u << 10) /* bytes of a statement; longer ones are refused */

/* A call's number in its thread, from 1 by entry, stands below these bits of its call_id, the
 * thread above. */
#define NSC_QUERY_THREAD_SHIFT 40u

struct nsc_query;

struct nsc_query_options {
    size_t size;                             /* of this structure */
    const struct nsc_categories *categories; /* of the trace; borrowed */
    uint64_t memory_bytes;                   /* SQLite may take, in the whole process; 0: 1 GiB */
    uint64_t time_ns;                        /* a statement may take; 0: any */
    bool (*is_gone)(void *context);          /* asked now and then: true ends the statement */
    void *context;
};

/* Whether queries can be made here: 0, or -ENOSYS with @diag, which says what to install. Context:
 * any thread. */
int nsc_query_load(struct nsc_diag *diag);

/**
 * nsc_query_open - a connection to a trace.
 * @t: borrowed; nobody else may use it until nsc_query_close().
 * Returns 0, -ENOSYS (no SQLite; @diag says what to install) or -ENOMEM.
 * Context: one thread at a time.
 */
int nsc_query_open(struct nsc_trace *t, const struct nsc_query_options *options,
                   struct nsc_query **out, struct nsc_diag *diag);
void nsc_query_close(struct nsc_query *q);

/**
 * nsc_query_begin - prepare a statement; the one before ends.
 * @sql: one SELECT (or WITH, VALUES, EXPLAIN), not terminated.
 * Returns 0, -EINVAL (it is wrong, or not allowed) or -ENOMEM, with @diag.
 */
int nsc_query_begin(struct nsc_query *q, const char *sql, size_t bytes, struct nsc_diag *diag);

/**
 * nsc_query_next - go to the next row.
 * Returns 1, 0 at the end, or -errno with @diag: -EINVAL (an error of the statement), -ECANCELED
 * (is_gone() said so), -ETIME, -ENOMEM, or the trace's own (-EBADMSG).
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
/* Whether a column holds numbers, as far as is known before the first row. */
bool nsc_query_column_is_number(const struct nsc_query *q, size_t column);
/* A cell of the row. Bytes that are no text (BLOB) are told as text. */
void nsc_query_value(const struct nsc_query *q, size_t column, struct nsc_query_value *out);

/**
 * nsc_query_put_json - write the result as members of the object that is open: "columns", "rows"
 * (each an array of values), and "more", 1 if there are more rows than were written, else 0.
 * @limit, @bytes_max: write so many rows at most, and no further one once so much is written.
 * Returns 0 or as nsc_query_next(): what was written by then is whole.
 */
int nsc_query_put_json(struct nsc_query *q, struct nsc_json *j, uint64_t limit, uint64_t bytes_max,
                       struct nsc_diag *diag);

/* The tables, for those who ask what there is: name, columns with commas between them, and what a
 * row is. Returns false behind the last one. */
bool nsc_query_table(size_t index, const char **name, const char **columns, const char **row);

#endif
