/*
 * call_rows.h - the calls that a statement reads: thread by thread in order of their ends, or
 * grouped by function. Internal to query/.
 *
 * SQLite sorts the rows that it groups, which costs ten times as much as reading them. When a
 * statement groups by function, calls can be returned in that order instead. They are decoded once,
 * and the fields that the statement uses are stored in one list per function. The lists are then
 * returned one after the other. If this would exceed the memory budget, it is done in several
 * passes over some of the functions each.
 */
#ifndef NSC_QUERY_CALL_ROWS_H
#define NSC_QUERY_CALL_ROWS_H

#include "query/tables.h"

/* The fields of a call that a statement uses, in addition to the function. */
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
 * nsc_rows_open - begin to read calls.
 * @wish: copied; its `functions` is not used.
 * @threads, @functions: one byte per id, 0 = not wanted; NULL = all; borrowed until
 *                       nsc_rows_close().
 * @by_function: group by function, in order of function ids; within a function by thread. Requires
 *               nsc_rows_can_group().
 * @fields: the fields that are used (enum nsc_rows_field); if @by_function, other fields of a call
 *          may be 0.
 * @budget_bytes: memory limit of the lists.
 * Returns 0 or -ENOMEM.
 */
int nsc_rows_open(struct nsc_query *q, const struct nsc_call_wish *wish, const uint8_t *threads,
                  const uint8_t *functions, bool by_function, unsigned fields, size_t budget_bytes,
                  struct nsc_rows **out);

/* Whether the file states how many calls each function has, for at least half of all calls. */
bool nsc_rows_can_group(const struct nsc_trace *t);

/**
 * nsc_rows_next - return the next batch; valid until the next call of this function.
 * @count: may be 0 although more calls follow, so that the caller can stop early.
 * Returns 1, 0 at the end, or -errno with @diag.
 */
int nsc_rows_next(struct nsc_rows *rows, const struct nsc_call **calls, size_t *count,
                  struct nsc_diag *diag);
void nsc_rows_close(struct nsc_rows *rows);

#endif
