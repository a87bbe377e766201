/*
 * test_query.c - a connection's limits: memory, time, whoever went away; errors leave it usable;
 * calls by function within any of these. What the tables say is in tests/e2e/analyze/test_query.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/query.h"
#include "tap.h"
#include "trace/write/lane.h"

#define WIDE_FUNCTIONS 20000u

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

/* Each column of the calls of each function, by a sum for each. @by: how they are grouped. */
static int64_t grouped(struct nsc_query *q, const char *by)
{
    char sql[1024];

    snprintf(sql, sizeof sql,
             "SELECT sum((h * 31 + function_id) %% 1000003) FROM (SELECT function_id, count(*) + "
             "sum(self_ns) + 3 * sum(duration_ns) + sum(start_ns %% 1009) + sum(call_id %% 997) + "
             "sum(coalesce(parent_id, 1) %% 991) + 5 * sum(depth) + sum(coalesce(caller_id, 5)) + "
             "sum(coalesce(length(bound), 9)) + 7 * max(rowid %% 983) + sum(thread_id) AS h "
             "FROM calls GROUP BY %s)",
             by);
    return number(q, sql);
}

/* A trace of 120,000 calls, half of them of one function, in two threads. */
static struct nsc_trace *make_long_trace(const char *path)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "long"};
    struct nsc_trace *t = NULL;
    struct nsc_writer *w;
    uint32_t id, seed = 1;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        return NULL;
    nsc_writer_add_process(w, &process, &id);
    for (uint32_t i = 0; i < 40; i++) {
        struct nsc_function f = {.name = "f", .module = NSC_NO_ID, .va = i};

        nsc_writer_add_function(w, &f, &id);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct nsc_thread info = {.tid = 1 + i, .name = "thread"};
        struct nsc_lane *lane;
        uint64_t ticks = i;

        nsc_writer_add_thread(w, &info, &id, &lane);
        for (uint32_t k = 0; k < 30000; k++) {
            seed = seed * 69069 + 1;
            nsc_lane_enter(lane, ticks += 1 + seed % 7, (seed >> 16 & 1) != 0 ? 7 : 3, 0);
            nsc_lane_enter(lane, ticks += 1 + seed % 5, (seed >> 8 & 1) != 0 ? 7 : seed >> 20 & 31,
                           0);
            nsc_lane_exit(lane, ticks += seed >> 9 & 63);
            nsc_lane_exit(lane, ++ticks);
        }
        nsc_lane_close(lane, ticks);
    }
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

/*
 * Calls by function are put down in lists, which have memory for all of them, for some functions at
 * a time, or not even for one: then that one's are given as they are read.
 */
static void test_by_function(struct nsc_trace *t)
{
    struct nsc_query *q = open_query(t, (struct nsc_query_options){0});
    int64_t by_sorting = grouped(q, "+function_id"), functions;

    CHECK(by_sorting > 0);
    CHECK_U64((uint64_t)grouped(q, "function_id"), (uint64_t)by_sorting);
    CHECK_U64((uint64_t)number(q, "SELECT count(*) FROM (SELECT function_id, row_number() OVER () "
                                  "AS at, lag(function_id) OVER () AS before FROM (SELECT "
                                  "function_id FROM calls ORDER BY function_id)) "
                                  "WHERE before > function_id"),
              0);
    functions = number(q, "SELECT count(DISTINCT +function_id) FROM calls");
    nsc_query_close(q);
    for (uint64_t bytes = UINT64_C(1) << 20; bytes <= UINT64_C(32) << 20; bytes *= 2) {
        q = open_query(t, (struct nsc_query_options){.memory_bytes = bytes});
        CHECK_U64((uint64_t)grouped(q, "function_id"), (uint64_t)by_sorting);
        CHECK_U64((uint64_t)number(q, "SELECT count(*) FROM (SELECT DISTINCT function_id FROM "
                                      "calls)"),
                  (uint64_t)functions);
        nsc_query_close(q);
    }
}

/* A trace of functions that are called once each. */
static struct nsc_trace *make_wide_trace(const char *path)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "wide"};
    struct nsc_thread info = {.tid = 1, .name = "thread"};
    struct nsc_trace *t = NULL;
    struct nsc_writer *w;
    struct nsc_lane *lane;
    uint64_t ticks = 0;
    uint32_t id;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        return NULL;
    nsc_writer_add_process(w, &process, &id);
    nsc_writer_add_thread(w, &info, &id, &lane);
    for (uint32_t i = 0; i < WIDE_FUNCTIONS; i++) {
        struct nsc_function f = {.name = "f", .module = NSC_NO_ID, .va = i};

        nsc_writer_add_function(w, &f, &id);
        nsc_lane_enter(lane, ticks += 1 + i % 7, id, 0);
        nsc_lane_exit(lane, ticks += i % 5);
    }
    nsc_lane_close(lane, ticks);
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

/* Lists of one row take about as much memory as that row: all functions get theirs in 8 MiB. */
static void test_called_once(struct nsc_trace *t)
{
    struct nsc_query *q = open_query(t, (struct nsc_query_options){0});
    int64_t by_sorting = grouped(q, "+function_id");

    CHECK(by_sorting > 0);
    nsc_query_close(q);
    q = open_query(t, (struct nsc_query_options){.memory_bytes = 8u << 20});
    CHECK_U64((uint64_t)grouped(q, "function_id"), (uint64_t)by_sorting);
    nsc_query_close(q);
}

int main(void)
{
    char path[64];
    struct nsc_trace *t;

    snprintf(path, sizeof path, "/tmp/test_query.%d.nst", (int)getpid());
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
    test_by_function(t);
    nsc_trace_close(t);
    t = make_long_trace(path);
    if (CHECK(t != NULL))
        test_by_function(t);
    nsc_trace_close(t);
    t = make_wide_trace(path);
    if (CHECK(t != NULL))
        test_called_once(t);
    nsc_trace_close(t);
    unlink(path);
    return t_done();
}
