/*
 * call_rows.h - the calls that a statement reads, inside query/: thread after thread as they end,
 * or all those of a function together.
 *
 * SQLite sorts what it groups, which costs ten times what reading it does. Where it groups by
 * function, calls can be had in that order instead: they are decoded once, what the statement looks
 * at is put down in a list for each function, and the lists are given one after the other. If all
 * that would take more memory than a statement may, it is done for so many functions at a time.
 */
#ifndef NSC_QUERY_CALL_ROWS_H
#define NSC_QUERY_CALL_ROWS_H

#include "query/tables.h"

/* What a statement looks at, beside the function. */
enum nsc_rows_field {
    NSC_ROWS_START = 1,
    NSC_ROWS_DURATION = 2,
    NSC_ROWS_SELF = 4,
    NSC_ROWS_NUMBER = 8, /* and the thread */
    NSC_ROWS_PARENT = 16,
    NSC_ROWS_DEPTH = 32, /* and the thread */
    NSC_ROWS_REST = 64,  /* caller and bound */
};

struct nsc_rows;

/**
 * nsc_rows_open - begin.
 * @wish: copied; its `functions` is not used.
 * @threads, @functions: a byte per id, 0 = not wanted; NULL = all; borrowed until nsc_rows_close().
 * @by_function: those of a function together, in the order of function ids; within one by thread.
 *               Only if nsc_rows_can_group().
 * @fields: of enum nsc_rows_field, those that matter; others of a call may be 0 if @by_function.
 * @budget_bytes: memory that lists may take.
 * Returns 0 or -ENOMEM.
 */
int nsc_rows_open(struct nsc_query *q, const struct nsc_call_wish *wish, const uint8_t *threads,
                  const uint8_t *functions, bool by_function, unsigned fields, size_t budget_bytes,
                  struct nsc_rows **out);

/* Whether the file says how many calls each function has, but for a few. */
bool nsc_rows_can_group(const struct nsc_trace *t);

/**
 * nsc_rows_next - the next calls; valid until the next call of this.
 * @count: may be 0 though there is more to come: a chance for the caller to give up.
 * Returns 1, 0 at the end, or -errno with @diag.
 */
int nsc_rows_next(struct nsc_rows *rows, const struct nsc_call **calls, size_t *count,
                  struct nsc_diag *diag);
void nsc_rows_close(struct nsc_rows *rows);

#endif
