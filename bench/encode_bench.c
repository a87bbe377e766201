/*
 * encode_bench.c - how fast trace/ takes events in, one by one as imports give them, and gives them
 * back, and how large they become. The recorder has a quicker way in: drain_bench.c.
 *
 * usage: encode_bench [MILLIONS-OF-EVENTS [FILE]]
 * Prints two lines of figures: events a second in and out on one core, and bytes a call. "loops"
 * calls in the regular way of most programs; "random" is the worst case: no processor can guess
 * whether the next event is an entry or an exit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "trace/read/reader.h"
#include "trace/write/lane.h"

#define FUNCTIONS 300
#define PATTERN   (1u << 20) /* events prepared beforehand, played again and again */

struct prepared {
    uint32_t delta;
    uint32_t function; /* NSC_NO_ID: exit */
};

static uint32_t put(struct prepared *events, uint32_t at, uint32_t function)
{
    events[at].delta = 15 + bench_random() % 60 + (bench_random() % 64 == 0 ? 2000 : 0);
    events[at].function = function;
    return at + 1;
}

/* A walk that begins and ends at depth 0, so that it can be repeated. */
static uint32_t prepare_random(struct prepared *events)
{
    uint32_t depth = 0, at = 0;

    while (at < PATTERN) {
        uint32_t r = bench_random(), limit = depth < 8 ? 560 : depth < 20 ? 490 : 300;
        bool enter = depth == 0 || (r % 1000 < limit && depth < PATTERN - at);

        at = put(events, at, enter ? (depth * 7 + (r >> 8) % 9 * 31) % FUNCTIONS : NSC_NO_ID);
        depth += enter ? 1 : UINT32_MAX;
    }
    return at;
}

/* A call of a function that calls others, each as often as its number says. */
static uint32_t call(struct prepared *events, uint32_t at, uint32_t function, uint32_t depth)
{
    at = put(events, at, function);
    for (uint32_t i = 0; depth < 12 && i < (function * 7 + depth) % 4; i++)
        at = call(events, at, (function * 5 + i * 11 + depth) % FUNCTIONS, depth + 1);
    return put(events, at, NSC_NO_ID);
}

static uint32_t prepare_loops(struct prepared *events)
{
    uint32_t at = 0;

    for (uint32_t i = 0; at < PATTERN / 2; i++)
        at = call(events, at, i % FUNCTIONS, 0);
    return at;
}

static void fail(const char *what, const struct nsc_diag *diag)
{
    fprintf(stderr, "encode_bench: %s: %s\n", what, diag->message);
    exit(1);
}

static void add_tables(struct nsc_writer *w, struct nsc_lane **lane)
{
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "bench"};
    struct nsc_thread thread = {.tid = 1, .name = "bench"};
    uint32_t id;

    nsc_writer_add_process(w, &process, &id);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        struct nsc_function f = {.name = "f", .module = NSC_NO_ID, .va = i};

        nsc_writer_add_function(w, &f, &id);
    }
    nsc_writer_add_thread(w, &thread, &id, lane);
}

static double encode(const char *path, const struct prepared *events, uint32_t count,
                     uint32_t rounds)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_diag diag = {.message = ""};
    struct nsc_writer *w;
    struct nsc_lane *lane;
    uint64_t ticks = 1000000;
    double begin;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        fail("create", &diag);
    add_tables(w, &lane);
    begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t round = 0; round < rounds; round++)
        for (const struct prepared *e = events; e < events + count; e++) {
            ticks += e->delta;
            if (e->function != NSC_NO_ID)
                nsc_lane_enter(lane, ticks, e->function, 0);
            else
                nsc_lane_exit(lane, ticks);
        }
    nsc_lane_close(lane, ticks);
    if (nsc_writer_finish(w, &diag) != 0)
        fail("finish", &diag);
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static double decode(const char *path, uint64_t *events, struct nsc_trace_info *info)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_trace *t;
    struct nsc_cursor *c;
    const struct nsc_event *batch;
    size_t count;
    double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    int more;

    if (nsc_trace_open(path, 0, &t, &diag) != 0 || nsc_cursor_open(t, 0, 0, &c, &diag) != 0)
        fail("open", &diag);
    *events = 0;
    while ((more = nsc_cursor_next(c, &batch, &count, &diag)) == 1)
        *events += count;
    if (more != 0)
        fail("read", &diag);
    begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    *info = *nsc_trace_info(t);
    nsc_cursor_close(c);
    nsc_trace_close(t);
    return begin;
}

static void measure(const char *name, const char *path, const struct prepared *events,
                    uint32_t count, uint64_t wanted)
{
    uint32_t rounds = (uint32_t)(wanted / count) + 1;
    struct nsc_trace_info info;
    double in = encode(path, events, count, rounds), out;
    uint64_t read;

    out = decode(path, &read, &info);
    printf("%s: encode_M_events_s=%.0f decode_M_events_s=%.0f bytes_per_call=%.2f events=%" PRIu64
           " chunks=%" PRIu64 "\n",
           name, (double)read / in / 1e6, (double)read / out / 1e6,
           (double)info.file_bytes / (double)info.calls, read, info.chunks);
    if (read != (uint64_t)rounds * count)
        exit(1);
}

int main(int argc, char **argv)
{
    uint64_t wanted = (argc > 1 ? strtoull(argv[1], NULL, 10) : 32) * 1000000;
    const char *path = argc > 2 ? argv[2] : "/tmp/nsc-encode-bench.nst";
    struct prepared *events = malloc((PATTERN * 4 + 1) * sizeof *events);

    if (events == NULL)
        return 1;
    measure("loops", path, events, prepare_loops(events), wanted);
    measure("random", path, events, prepare_random(events), wanted);
    unlink(path);
    free(events);
    return 0;
}
