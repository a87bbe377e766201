/*
 * view_bench.c - what the index of a long trace costs, and what it gives: pictures and reports of
 * any window. One core.
 *
 * usage: view_bench MILLIONS-OF-EVENTS FILE     make FILE, measure, remove it
 *        view_bench regular|random MILLIONS-OF-EVENTS FILE
 *                only make it, for other measurements: of calls as most programs do, or of the
 * worst
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/functions/report.h"
#include "bench.h"
#include "calls.h"
#include "trace/format/block.h"
#include "trace/read/levels.h"

enum { COLUMNS = 1024, WINDOWS = 20 };

static void fail(const struct nsc_diag *diag)
{
    fprintf(stderr, "view_bench: %s\n", diag->message);
    exit(1);
}

/* Bytes of the file that are not events, a call. */
static double index_bytes(const char *path, const struct nsc_trace_info *info)
{
    uint64_t offset = NSC_FORMAT_HEADER_BYTES, events = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct nsc_block block;

    while (nsc_block_header_read(fd, info->file_bytes, offset, &block, NULL) == 0) {
        if (block.kind == NSC_FORMAT_EVENTS)
            events += block.stored_bytes;
        offset = nsc_block_end(&block);
    }
    close(fd);
    return (double)(info->file_bytes - events) / (double)info->calls;
}

/* The rows for a picture of a window, all threads. Returns how many. */
static uint64_t paint(struct nsc_trace *t, uint64_t from, uint64_t to)
{
    uint64_t rows = 0;

    for (uint32_t i = 0; i < nsc_trace_info(t)->thread_count; i++) {
        struct nsc_diag diag = {.message = ""};
        struct nsc_levels_piece piece;
        struct nsc_levels *walk;
        uint32_t first, end;
        int more;

        nsc_levels_range(t, i, from, to, &first, &end);
        if (nsc_levels_open(t, i, first, end, NSC_LEVELS_ROWS,
                            nsc_levels_shift((to - from) / COLUMNS), &walk, &diag) != 0)
            fail(&diag);
        while ((more = nsc_levels_next(walk, &piece, &diag)) == 1)
            rows += piece.row_count;
        if (more != 0)
            fail(&diag);
        nsc_levels_close(walk);
    }
    return rows;
}

static void report(struct nsc_trace *t, uint64_t from, uint64_t to)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_selection s;
    struct nsc_report r;

    nsc_selection_init(&s);
    s.from_ticks = from;
    s.to_ticks = to;
    if (nsc_report_make(t, &s, false, &r, &diag) != 0)
        fail(&diag);
    nsc_report_free(&r);
}

/* Windows of all sizes: the longest that either takes, pictures and reports. */
static void measure_windows(struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    uint64_t span = info->end_ticks - info->start_ticks;
    double worst_picture = 0, worst_report = 0, begin, all;

    begin = bench_seconds(CLOCK_MONOTONIC);
    report(t, 0, UINT64_MAX);
    all = bench_seconds(CLOCK_MONOTONIC) - begin;
    for (uint32_t i = 0; i < WINDOWS; i++) {
        uint64_t part = span / (1 + i % 10), from = info->start_ticks + (span - part) / 3 + i;
        double took;

        begin = bench_seconds(CLOCK_MONOTONIC);
        (void)paint(t, from, from + part);
        took = bench_seconds(CLOCK_MONOTONIC) - begin;
        worst_picture = took > worst_picture ? took : worst_picture;
        begin = bench_seconds(CLOCK_MONOTONIC);
        report(t, from, from + part);
        took = bench_seconds(CLOCK_MONOTONIC) - begin;
        worst_report = took > worst_report ? took : worst_report;
    }
    printf("report_all_s=%.4f report_window_s=%.4f picture_s=%.4f\n", all, worst_report,
           worst_picture);
}

static void measure(const char *path, uint64_t events)
{
    struct nsc_diag diag = {.message = ""};
    double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID), made, opened;
    const struct nsc_trace_info *info;
    struct nsc_trace *t;

    if (bench_make_trace(path, events, bench_make_regular, &diag) != 0)
        fail(&diag);
    made = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    begin = bench_seconds(CLOCK_MONOTONIC);
    if (nsc_trace_open(path, 0, &t, &diag) != 0)
        fail(&diag);
    opened = bench_seconds(CLOCK_MONOTONIC) - begin;
    info = nsc_trace_info(t);
    printf("events=%" PRIu64 " made_M_events_s=%.0f bytes_per_call=%.3f index_bytes_per_call=%.3f "
           "open_s=%.4f ",
           info->events, (double)info->events / made / 1e6,
           (double)info->file_bytes / (double)info->calls, index_bytes(path, info), opened);
    measure_windows(t);
    nsc_trace_close(t);
    unlink(path);
}

int main(int argc, char **argv)
{
    struct nsc_diag diag = {.message = ""};

    if (argc == 3) {
        measure(argv[2], strtoull(argv[1], NULL, 10) * 1000000);
        return 0;
    }
    if (argc != 4) {
        fprintf(stderr, "usage: view_bench [regular|random] MILLIONS-OF-EVENTS FILE\n");
        return 2;
    }
    if (bench_make_trace(argv[3], strtoull(argv[2], NULL, 10) * 1000000,
                         strcmp(argv[1], "random") == 0 ? bench_make_random : bench_make_regular,
                         &diag) != 0)
        fail(&diag);
    return 0;
}
