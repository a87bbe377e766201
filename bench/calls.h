/*
 * calls.h - made-up programs: traces of any length, always the same, that call as programs do. Used
 * by report_bench.c and view_bench.c.
 */
#ifndef NSC_BENCH_CALLS_H
#define NSC_BENCH_CALLS_H

#include "bench.h"
#include "trace/write/lane.h"

#define BENCH_FUNCTIONS 2000u
#define BENCH_THREADS   4u

struct bench_thread {
    struct nsc_lane *lane;
    uint64_t ticks;
    uint64_t left; /* events still to make */
};

/* Durations over several powers of two, as in real programs. */
static inline void bench_pass_time(struct bench_thread *t)
{
    uint32_t r = bench_random();

    t->ticks += 15 + r % 60;
    if (r % 64 == 0)
        t->ticks += (uint64_t)bench_random() >> (12 + r / 64 % 16);
}

static inline void bench_enter(struct bench_thread *t, uint32_t function)
{
    bench_pass_time(t);
    nsc_lane_enter(t->lane, t->ticks, function, 0);
    t->left--;
}

static inline void bench_leave(struct bench_thread *t)
{
    bench_pass_time(t);
    nsc_lane_exit(t->lane, t->ticks);
    t->left = t->left > 0 ? t->left - 1 : 0;
}

/* A function that calls others, always the same ones, some of them in a loop. */
static inline void bench_call(struct bench_thread *t, uint32_t function, uint32_t depth)
{
    bench_enter(t, function);
    for (uint32_t i = 0; depth < 14 && t->left > depth + 2 && i < (function * 7 + depth) % 4; i++)
        for (uint32_t n = 0; n <= (function + i) % 3 && t->left > depth + 2; n++)
            bench_call(t, (function * 5 + i * 11 + depth) % BENCH_FUNCTIONS, depth + 1);
    bench_leave(t);
}

static inline void bench_make_regular(struct bench_thread *t)
{
    for (uint32_t i = 0; t->left > 1; i++)
        bench_call(t, i % BENCH_FUNCTIONS, 0);
}

/* The worst case: no processor guesses what comes next, and most paths are new ones. */
static inline void bench_make_random(struct bench_thread *t)
{
    while (t->left > 0) {
        uint32_t depth = nsc_lane_depth(t->lane), r = bench_random();
        uint32_t limit = depth < 8 ? 560 : depth < 20 ? 490 : 300;

        if (depth < t->left && (depth == 0 || r % 1000 < limit))
            bench_enter(t, (depth * 7 + (r >> 10) % 40 * 31) % BENCH_FUNCTIONS);
        else
            bench_leave(t);
    }
}

/* A trace of about @events events. Returns 0 or -errno with @diag. */
static inline int bench_make_trace(const char *path, uint64_t events,
                                   void (*make)(struct bench_thread *), struct nsc_diag *diag)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "bench"};
    struct nsc_writer *w;
    uint32_t id;
    int error = nsc_writer_create(path, &options, &w, diag);

    if (error != 0)
        return error;
    nsc_writer_add_process(w, &process, &id);
    for (uint32_t i = 0; i < BENCH_FUNCTIONS; i++) {
        char name[32];
        struct nsc_function f = {.name = name, .module = NSC_NO_ID, .va = i};

        snprintf(name, sizeof name, "function_%u", i);
        nsc_writer_add_function(w, &f, &id);
    }
    for (uint32_t i = 0; i < BENCH_THREADS; i++) {
        struct nsc_thread info = {.tid = 1 + i, .name = "bench"};
        struct bench_thread t = {.ticks = 1000 * i, .left = events / BENCH_THREADS};

        nsc_writer_add_thread(w, &info, &id, &t.lane);
        make(&t);
        nsc_lane_close(t.lane, t.ticks);
    }
    return nsc_writer_finish(w, diag);
}

#endif
