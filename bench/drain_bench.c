/*
 * drain_bench.c - how fast the recorder takes events in: from slots of live chunks through the
 * stack rule and the encoder, index included, into a file, and the chunk zeroed again; one core.
 *
 * usage: drain_bench [MILLIONS-OF-EVENTS [FILE]]
 * Prints a line of figures for each pattern, the last ones under rules for calls that leave most of
 * them out. "loops" calls in the regular way of most programs,
 * "fib" is the recursion, whose next event is hard to guess.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/live.h"
#include "bench.h"
#include "record/stack/stack.h"
#include "trace/write/writer.h"

enum { SLOTS = 4096 - 256 - 16, EVENTS_MAX = 1 << 20, EXIT_BIT = 47, FUNCTIONS = 300 };

#define CODE 0x555555554000ull
#define TOP  0x7ffffffde000ull

struct pattern {
    uint64_t *words; /* two a slot; ticks relative to the pattern's begin */
    size_t count, events;
    uint64_t ticks;
    bool marked; /* only entries are timed, as with --timing entry */
};

struct bench {
    struct nsc_writer *writer;
    struct nsc_codes codes;
    const struct nsc_filter_rules *rules; /* NULL: every call is written */
};

/* Functions of different sizes, so that some collide in the recorder's table as real ones do. */
static uint64_t word(uint32_t function, uint64_t depth)
{
    uint64_t address = CODE + function * 256ull + (function * 2654435761u >> 24 & 240);

    return address | (TOP - depth * 48) << NSC_LIVE_POSITION_SHIFT;
}

static void put(struct pattern *p, uint32_t function, uint64_t depth, bool exit)
{
    uint64_t *slot = p->words + 2 * p->count;

    p->ticks += 24 + (p->events++ * 2654435761u >> 7) % 24;
    if (exit && p->marked && slot[-2] == word(function, depth)) {
        slot[-1] |= NSC_LIVE_TICKS_RETURNED;
        return;
    }
    p->count++;
    slot[0] = word(function, depth) | (exit ? 1ull << EXIT_BIT : 0);
    slot[1] = exit && p->marked ? 0 : p->ticks;
}

static void clear(struct pattern *p)
{
    p->count = p->events = 0;
    p->ticks = 0;
}

static void fib(struct pattern *p, int n, uint64_t depth)
{
    put(p, 0, depth, false);
    if (n >= 2) {
        fib(p, n - 1, depth + 1);
        fib(p, n - 2, depth + 1);
    }
    put(p, 0, depth, true);
}

/* A function that calls some others a few times each, down to leaves. */
static void loops(struct pattern *p, uint32_t function, uint64_t depth)
{
    uint32_t callee, times;

    put(p, function, depth, false);
    for (callee = 0; depth < 6 && callee < 2; callee++)
        for (times = 0; times < 3; times++)
            loops(p, (function * 7 + callee + 1) % FUNCTIONS, depth + 1);
    put(p, function, depth, true);
}

/* A library that is traced, called by a program that is not: each call is the outermost. */
static void roots(struct pattern *p, uint32_t calls)
{
    for (uint32_t i = 0; i < calls; i++) {
        put(p, i % FUNCTIONS, 1, false);
        put(p, i % FUNCTIONS, 1, true);
    }
}

static void resolve(void *context, uint64_t address, uint64_t ticks, struct nsc_code *code)
{
    struct bench *b = context;
    struct nsc_function function = {
        .name = "f", .symbol = "f", .file = "", .module = NSC_NO_ID, .va = address};

    (void)ticks;
    code->address = address;
    code->flags = 0;
    if (nsc_writer_add_function(b->writer, &function, &code->function) != 0)
        exit(1);
}

static int open_lane(void *context, uint32_t stack, uint64_t ticks, struct nsc_lane **lane)
{
    struct bench *b = context;
    struct nsc_thread thread = {.tid = 1, .stack = stack, .start_ticks = ticks, .name = ""};
    uint32_t id;

    return nsc_writer_add_thread(b->writer, &thread, &id, lane);
}

/* What the program does to a chunk: not part of the time. */
static size_t fill(uint64_t *chunk, const struct pattern *p, size_t at, uint64_t begin)
{
    size_t count = p->count - at < SLOTS ? p->count - at : SLOTS, i;

    for (i = 0; i < count; i++) {
        chunk[2 * i] = p->words[2 * (at + i)];
        chunk[2 * i + 1] = p->words[2 * (at + i) + 1];
        if (chunk[2 * i + 1] != 0)
            chunk[2 * i + 1] += begin;
    }
    return count;
}

/* The time of the first timed slot from @at on, round the pattern. */
static uint64_t first_ticks(const struct pattern *p, size_t at, uint64_t begin)
{
    while (at < p->count && p->words[2 * at + 1] == 0)
        at++;
    if (at == p->count)
        return begin + p->ticks + p->words[1];
    return (begin + p->words[2 * at + 1]) & ~NSC_LIVE_TICKS_RETURNED;
}

static uint64_t left_out(const struct nsc_stacks *stacks)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        events += stacks->stats.left_out[i];
    return events;
}

static double drain(struct bench *b, const struct pattern *p, uint64_t events)
{
    struct nsc_stacks stacks = {.codes = &b->codes,
                                .open_lane = open_lane,
                                .context = b,
                                .exit_bit = EXIT_BIT,
                                .rules = b->rules,
                                .marked = p->marked,
                                .keep = true};
    uint64_t *chunk = aligned_alloc(4096, 65536), begin = 1000, done = 0;
    double seconds = 0;
    size_t at = 0, count;

    if (chunk == NULL || nsc_stacks_init(&stacks) != 0)
        exit(1);
    while (done < events || at != 0) {
        double start;

        count = fill(chunk, p, at, begin);
        stacks.next_ticks = first_ticks(p, at + count, begin);
        start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
        nsc_stacks_begin_chunk(&stacks, TOP, first_ticks(p, at, begin));
        if (nsc_stacks_run(&stacks, chunk, 0, count, true) != count)
            exit(1);
        memset(chunk, 0, count * 16);
        seconds += bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        at += count;
        if (at == p->count) {
            done += p->events;
            at = 0;
            begin += p->ticks;
        }
    }
    if (b->rules == NULL && stacks.stats.recorded != done)
        exit(1);
    nsc_stacks_close(&stacks, begin);
    if (stacks.stats.recorded + left_out(&stacks) != done)
        exit(1);
    nsc_stacks_free(&stacks);
    free(chunk);
    return (double)done / seconds;
}

static int measure(const char *name, const struct pattern *p, uint64_t events, const char *path,
                   const struct nsc_filter_rules *rules)
{
    struct bench b = {.rules = rules};
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "p", .exit_status = -1};
    struct nsc_diag diag;
    uint32_t id;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    double rate;

    unlink(path);
    if (fd < 0 || nsc_writer_create_fd(fd, path, NULL, &b.writer, &diag) != 0 ||
        nsc_codes_init(&b.codes, NULL) != 0 || nsc_writer_add_process(b.writer, &process, &id) != 0)
        return 1;
    b.codes.until_ticks = UINT64_MAX;
    b.codes.resolve = resolve;
    b.codes.context = &b;
    rate = drain(&b, p, events);
    printf("%s: drain_M_events_s=%.1f bytes_per_call=%.2f\n", name, rate / 1e6,
           (double)nsc_writer_bytes(b.writer) / (double)nsc_writer_calls(b.writer));
    nsc_codes_free(&b.codes);
    if (nsc_writer_finish(b.writer, &diag) != 0)
        return 1;
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t events = (argc > 1 ? strtoull(argv[1], NULL, 10) : 32) * 1000000;
    const char *path = argc > 2 ? argv[2] : "drain_bench.nst";
    struct pattern p = {.words = malloc(EVENTS_MAX * 16)};
    static const struct nsc_filter_rules longer = {
        .until_ticks = UINT64_MAX, .depth = UINT32_MAX, .min_ticks = 100000};
    static const struct nsc_filter_rules shallow = {.until_ticks = UINT64_MAX, .depth = 2};
    int failed;

    if (p.words == NULL)
        return 1;
    loops(&p, 1, 1);
    failed = measure("loops", &p, events, path, NULL);
    failed |= measure("loops_min_duration", &p, events, path, &longer);
    failed |= measure("loops_depth", &p, events, path, &shallow);
    clear(&p);
    fib(&p, 25, 1);
    failed |= measure("fib", &p, events, path, NULL);
    failed |= measure("fib_min_duration", &p, events, path, &longer);
    clear(&p);
    roots(&p, 10000);
    failed |= measure("roots", &p, events, path, NULL);
    clear(&p);
    p.marked = true;
    loops(&p, 1, 1);
    failed |= measure("loops_timing_entry", &p, events, path, NULL);
    clear(&p);
    fib(&p, 25, 1);
    failed |= measure("fib_timing_entry", &p, events, path, NULL);
    free(p.words);
    return failed;
}
