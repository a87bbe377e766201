/*
 * report_bench.c - how long the analyses of a trace of 1e7 events take, by the clock on the wall.
 *
 * usage: report_bench [MILLIONS-OF-EVENTS [FILE]]
 * Prints for each kind of program the best of several runs: opening, report, tree, calls. "regular"
 * calls as most programs do; "random" is the worst case, in which no processor guesses what comes
 * next.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyze/calls/calls.h"
#include "analyze/functions/report.h"
#include "analyze/paths/call_tree.h"
#include "bench.h"
#include "calls.h"
#include "trace/read/reader.h"
#include "trace/write/lane.h"

#define RUNS 7

static void fail(const struct nsc_diag *diag)
{
    fprintf(stderr, "report_bench: %s\n", diag->message);
    exit(1);
}

static double run_open(struct nsc_trace **t, const char *path)
{
    struct nsc_diag diag = {.message = ""};
    double begin = bench_seconds(CLOCK_MONOTONIC);

    if (nsc_trace_open(path, 0, t, &diag) != 0)
        fail(&diag);
    return bench_seconds(CLOCK_MONOTONIC) - begin;
}

static double run_report(struct nsc_trace *t, const struct nsc_selection *s)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_report report;
    double begin = bench_seconds(CLOCK_MONOTONIC);

    if (nsc_report_make(t, s, false, &report, &diag) != 0)
        fail(&diag);
    begin = bench_seconds(CLOCK_MONOTONIC) - begin;
    nsc_report_free(&report);
    return begin;
}

static double run_tree(struct nsc_trace *t, const struct nsc_selection *s)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_tree tree;
    double begin = bench_seconds(CLOCK_MONOTONIC);

    if (nsc_tree_make(t, s, NULL, &tree, &diag) != 0)
        fail(&diag);
    begin = bench_seconds(CLOCK_MONOTONIC) - begin;
    nsc_tree_free(&tree);
    return begin;
}

static double run_calls(struct nsc_trace *t, const struct nsc_selection *s)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_calls_top top;
    double begin = bench_seconds(CLOCK_MONOTONIC);

    if (nsc_calls_top_init(&top, NSC_CALLS_KEY_DURATION, 20) != 0 ||
        nsc_calls_scan(t, s, NSC_CALLS_BY_THREAD, NULL, nsc_calls_top_offer, &top, &diag) != 0)
        fail(&diag);
    begin = bench_seconds(CLOCK_MONOTONIC) - begin;
    nsc_calls_top_free(&top);
    return begin;
}

static void keep_least(double *least, double value)
{
    *least = *least == 0 || value < *least ? value : *least;
}

static void measure(const char *name, const char *path, uint64_t events,
                    void (*make)(struct bench_thread *))
{
    double open = 0, report = 0, tree = 0, calls = 0;
    struct nsc_diag diag = {.message = ""};
    struct nsc_selection s;
    uint64_t made = 0;

    nsc_selection_init(&s);
    if (bench_make_trace(path, events, make, &diag) != 0)
        fail(&diag);
    for (int run = 0; run < RUNS; run++) {
        struct nsc_trace *t;

        keep_least(&open, run_open(&t, path));
        keep_least(&report, run_report(t, &s));
        keep_least(&tree, run_tree(t, &s));
        keep_least(&calls, run_calls(t, &s));
        made = nsc_trace_info(t)->events;
        nsc_trace_close(t);
    }
    printf("%s: events=%" PRIu64 " open_s=%.4f report_s=%.4f tree_s=%.4f calls_s=%.4f\n", name,
           made, open, report, tree, calls);
}

int main(int argc, char **argv)
{
    uint64_t events = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;
    const char *path = argc > 2 ? argv[2] : "/tmp/nsc-report-bench.nst";

    measure("regular", path, events, bench_make_regular);
    measure("random", path, events, bench_make_random);
    unlink(path);
    return 0;
}
