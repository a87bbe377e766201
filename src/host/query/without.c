/*
 * without.c - stub of query.h for builds without SQLite: functions that can fail return -ENOSYS.
 *
 * The Makefile uses it instead of all other files of this room.
 */
#include <errno.h>

#include "query/query.h"

int nsc_query_load(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS,
                        "nanoscope was built without SQLite: install it (Debian: apt install "
                        "libsqlite3-dev) and build again");
}

int nsc_query_open(struct nsc_trace *t, const struct nsc_query_options *options,
                   struct nsc_query **out, struct nsc_diag *diag)
{
    (void)t;
    (void)options;
    (void)out;
    return nsc_query_load(diag);
}

void nsc_query_close(struct nsc_query *q)
{
    (void)q;
}

int nsc_query_begin(struct nsc_query *q, const char *sql, size_t bytes, struct nsc_diag *diag)
{
    (void)q;
    (void)sql;
    (void)bytes;
    return nsc_query_load(diag);
}

int nsc_query_next(struct nsc_query *q, struct nsc_diag *diag)
{
    (void)q;
    return nsc_query_load(diag);
}

int nsc_query_put_json(struct nsc_query *q, struct nsc_json *j, uint64_t limit, uint64_t bytes_max,
                       struct nsc_diag *diag)
{
    (void)q;
    (void)j;
    (void)limit;
    (void)bytes_max;
    return nsc_query_load(diag);
}

size_t nsc_query_column_count(const struct nsc_query *q)
{
    (void)q;
    return 0;
}

const char *nsc_query_column_name(const struct nsc_query *q, size_t column)
{
    (void)q;
    (void)column;
    return "";
}

bool nsc_query_column_is_number(const struct nsc_query *q, size_t column)
{
    (void)q;
    (void)column;
    return false;
}

void nsc_query_value(const struct nsc_query *q, size_t column, struct nsc_query_value *out)
{
    (void)q;
    (void)column;
    *out = (struct nsc_query_value){.kind = NSC_QUERY_NULL};
}

bool nsc_query_table(size_t index, const char **name, const char **columns, const char **row)
{
    (void)index;
    (void)name;
    (void)columns;
    (void)row;
    return false;
}
