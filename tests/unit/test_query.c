/*
 * test_query.c - a connection's limits: memory, time, whoever went away; errors leave it usable.
 * What the tables say is in tests/e2e/test_query.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"
#include "tap.h"

static struct nsc_diag diag;
static int asked, goes_after = 3;

static bool is_gone(void *context)
{
    (void)context;
    return ++asked > goes_after;
}

static int begin(struct nsc_query *q, const char *sql)
{
    diag = (struct nsc_diag){.offset = NSC_DIAG_NO_OFFSET};
    return nsc_query_begin(q, sql, strlen(sql), &diag);
}

/* All rows; returns what nsc_query_next() returned last. */
static int run(struct nsc_query *q, const char *sql)
{
    int more = begin(q, sql);

    while (more == 0 && (more = nsc_query_next(q, &diag)) > 0)
        more = 0;
    return more;
}

/* The only number of the first row. */
static int64_t number(struct nsc_query *q, const char *sql)
{
    struct nsc_query_value value;

    if (begin(q, sql) != 0 || nsc_query_next(q, &diag) != 1)
        return -1;
    nsc_query_value(q, 0, &value);
    return value.kind == NSC_QUERY_INTEGER ? value.integer : -1;
}

static struct nsc_query *open_query(struct nsc_trace *t, struct nsc_query_options options)
{
    struct nsc_query *q = NULL;

    options.size = sizeof options;
    if (nsc_query_open(t, &options, &q, &diag) != 0)
        printf("# %s\n", diag.message);
    return q;
}

#define ENDLESS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "

static void test_limits(struct nsc_trace *t)
{
    struct nsc_query *q = open_query(t, (struct nsc_query_options){.memory_bytes = 8u << 20});

    CHECK(run(q, ENDLESS "SELECT i FROM n ORDER BY i") == -ENOMEM);
    CHECK_STR(diag.message, "the statement needs more than 8 MiB of memory: choose fewer rows, or "
                            "sort fewer");
    CHECK(run(q, ENDLESS "SELECT percentile(i, 50) FROM n") == -ENOMEM);
    CHECK_U64((uint64_t)number(q, "SELECT count(*) FROM calls"), nsc_trace_info(t)->calls);
    nsc_query_close(q);

    q = open_query(t, (struct nsc_query_options){.time_ns = 30000000});
    CHECK(run(q, ENDLESS "SELECT count(*) FROM n") == -ETIME);
    CHECK(run(q, "SELECT count(*) FROM calls a, calls b, calls c WHERE "
                 "a.depth + b.depth + c.depth = 99") == -ETIME);
    CHECK_U64((uint64_t)number(q, "SELECT count(*) FROM calls"), nsc_trace_info(t)->calls);
    nsc_query_close(q);

    q = open_query(t, (struct nsc_query_options){.is_gone = is_gone});
    CHECK(run(q, ENDLESS "SELECT count(*) FROM n") == -ECANCELED);
    CHECK(asked == 4);
    goes_after = 1000000;
    CHECK_U64((uint64_t)number(q, "SELECT count(*) FROM calls"), nsc_trace_info(t)->calls);
    nsc_query_close(q);
}

static void test_errors(struct nsc_trace *t)
{
    struct nsc_query *q = open_query(t, (struct nsc_query_options){0});
    static const char with_nul[] = "SELECT 1\0";
    char *longest = malloc(NSC_QUERY_SQL_MAX + 1);

    CHECK(begin(q, "SELECT 1; DROP TABLE calls") == -EINVAL);
    CHECK(begin(q, "SELECT nowhere FROM calls") == -EINVAL);
    CHECK(begin(q, "-- nothing") == -EINVAL);
    CHECK(nsc_query_begin(q, with_nul, sizeof with_nul, &diag) == -EINVAL);
    memset(longest, ' ', NSC_QUERY_SQL_MAX + 1);
    memcpy(longest, "SELECT 7", 8);
    CHECK(nsc_query_begin(q, longest, NSC_QUERY_SQL_MAX + 1, &diag) == -EINVAL);
    CHECK(nsc_query_begin(q, longest, 8, &diag) == 0); /* not terminated */
    CHECK_U64((uint64_t)number(q, "SELECT 6 + 1; -- and a comment"), 7);
    CHECK(begin(q, "SELECT percentile(duration_ns, depth) FROM calls") == 0);
    CHECK(nsc_query_next(q, &diag) == -EINVAL);
    CHECK_U64((uint64_t)number(q, "SELECT percentile(x, 50) FROM (SELECT 3 AS x UNION SELECT 1 "
                                  "UNION SELECT NULL)"),
              1);
    CHECK(begin(q, "SELECT percentile(1, 50) FROM calls WHERE 0") == 0 &&
          nsc_query_next(q, &diag) == 1);
    free(longest);
    nsc_query_close(q);
}

int main(void)
{
    struct nsc_trace *t;

    if (nsc_query_load(&diag) != 0) {
        printf("# %s\n1..0 # SKIP no SQLite\n", diag.message);
        return 0;
    }
    if (nsc_trace_open("tests/golden/nodes.nst", 0, &t, &diag) != 0) {
        printf("# %s\n", diag.message);
        return 1;
    }
    test_limits(t);
    test_errors(t);
    nsc_trace_close(t);
    return t_done();
}
