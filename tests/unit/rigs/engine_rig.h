/*
 * engine_rig.h - random traces with the list of their calls, and an engine that answers about them;
 * shared by the tests of answer/.
 */
#ifndef NSC_TESTS_UNIT_RIGS_ENGINE_RIG_H
#define NSC_TESTS_UNIT_RIGS_ENGINE_RIG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "trace/write/writer.h"
#include "unit/rigs/trace_model.h"
#include "viewer/engine/engine.h"

/* A call as the model knows it; times in ns. */
struct rig_call {
    uint64_t start, end;
    uint64_t start_ticks, end_ticks;
    uint64_t number; /* by entry, from 1 */
    uint32_t function, depth, bound;
    bool late;
    long caller; /* index in the thread's calls, -1 = none */
};

struct rig_thread {
    struct model_thread model;
    struct rig_call *calls; /* by entry; late ones where they end */
    size_t count;
};

struct rig {
    struct rig_thread *threads;
    uint32_t thread_count, function_count;
    struct nsc_trace *trace;
    struct nsc_engine *engine;
    struct nsc_engine_reply reply;
};

struct rig_options {
    uint32_t threads, functions, max_depth;
    uint64_t events;     /* of each thread */
    size_t memory_bytes; /* of the writer: a small one makes small chunks */
    uint64_t frequency;  /* ticks a second; 0: ticks are ns */
    uint32_t clocks;     /* points at each of which the clock changes its rate; 0: none */
    uint32_t step;       /* greatest time between two events, in ticks */
    bool gaps;           /* losses and calls that return without having been entered */
    bool keep_file;      /* at rig_path, until the caller removes it */
};

static char rig_path[64] = "/tmp/nsc-test-answer-XXXXXX";

static inline void rig_event(struct model_thread *t, struct model_random *r,
                             const struct rig_options *o)
{
    uint32_t what = model_random(r) % 1000;

    /* Mostly short steps, sometimes none, rarely one that is a thousand times as long. */
    t->ticks += what % 5 == 0 ? 0 : model_random(r) % (o->step + 1);
    if (what == 500)
        t->ticks += (uint64_t)(model_random(r) % (o->step + 1)) * 1000;
    if (o->gaps && t->depth == 0 && what < 20) {
        uint32_t function = model_random(r) % o->functions;

        nsc_lane_late_exit(t->lane, t->ticks, function);
        model_note(t, NSC_EVENT_LATE_EXIT, function, 0);
    } else if (o->gaps && what >= 997) {
        nsc_lane_lost(t->lane, t->ticks, what);
        model_note(t, NSC_EVENT_LOST, NSC_NO_ID, what);
    } else if (t->depth == 0 || (t->depth < o->max_depth && what % 100 < 51)) {
        model_enter(t, model_random(r) % o->functions);
    } else {
        model_end(t, what % 50 == 0 ? NSC_EVENT_UNWIND : NSC_EVENT_EXIT);
    }
}

/* The calls of a thread's events. */
static inline void rig_find_calls(struct rig *rig, struct rig_thread *t)
{
    const struct nsc_clock *clock = nsc_trace_clock(rig->trace);
    long *open = calloc(t->model.count + 1, sizeof *open);
    uint32_t depth = 0;

    t->calls = calloc(t->model.count + 1, sizeof *t->calls);
    for (size_t i = 0; i < t->model.count; i++) {
        const struct model_event *e = &t->model.events[i];
        struct rig_call *call = &t->calls[t->count];
        uint64_t ns = nsc_clock_ns(clock, e->ticks);

        if (e->kind == NSC_EVENT_LOST)
            continue;
        if (e->kind == NSC_EVENT_ENTER || e->kind == NSC_EVENT_LATE_EXIT) {
            *call = (struct rig_call){.start = ns,
                                      .end = ns,
                                      .start_ticks = e->ticks,
                                      .end_ticks = e->ticks,
                                      .number = t->count + 1,
                                      .function = e->function,
                                      .depth = depth,
                                      .late = e->kind == NSC_EVENT_LATE_EXIT,
                                      .caller = depth > 0 ? open[depth - 1] : -1};
            if (e->kind == NSC_EVENT_ENTER)
                open[depth++] = (long)t->count;
            t->count++;
        } else {
            call = &t->calls[open[--depth]];
            call->end = ns;
            call->end_ticks = e->ticks;
            call->bound = e->kind == NSC_EVENT_UNWIND ? NSC_BOUND_END : 0;
        }
    }
    free(open);
}

/* Points over all events, at rates from half a ns to four a tick. */
static inline void rig_clocks(struct nsc_writer *w, struct model_random *r,
                              const struct rig_options *o)
{
    struct nsc_clock_point p = {.ticks = 900, .monotonic_ns = 100000000};
    uint64_t apart = o->events * o->step / 2 / o->clocks + 1;

    for (uint32_t i = 0; i < o->clocks; i++) {
        nsc_writer_clock(w, &p);
        p.ticks += apart;
        p.monotonic_ns += apart / 2 + model_random(r) % (apart * 7 / 2);
    }
}

static inline bool rig_make(struct rig *rig, const struct rig_options *o, uint64_t seed)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .overwrite = true, .memory_bytes = o->memory_bytes};
    struct model_thread *models = calloc(o->threads + 1, sizeof *models);
    struct model_random r = {seed * 7919 + 1};
    struct nsc_diag diag = {0};
    struct nsc_writer *w = NULL;
    bool made;

    memset(rig, 0, sizeof *rig);
    rig->thread_count = o->threads;
    rig->function_count = o->functions;
    rig->threads = calloc(o->threads + 1, sizeof *rig->threads);
    if (strchr(rig_path, 'X') != NULL)
        close(mkstemp(rig_path));
    made = nsc_writer_create(rig_path, &options, &w, &diag) == 0;
    if (made && o->frequency != 0)
        nsc_writer_clock_frequency(w, o->frequency);
    if (made && o->clocks != 0)
        rig_clocks(w, &r, o);
    if (made)
        model_tables(w, models, o->threads, o->functions);
    for (uint32_t i = 0; made && i < o->threads; i++)
        models[i].ticks = 1000 + 777 * i;
    for (uint64_t n = 0; made && n < o->events; n++)
        for (uint32_t i = 0; i < o->threads; i++)
            rig_event(&models[i], &r, o);
    for (uint32_t i = 0; made && i < o->threads; i++) {
        model_close(&models[i]);
        rig->threads[i].model = models[i];
    }
    free(models);
    made = made && nsc_writer_finish(w, &diag) == 0 &&
           nsc_trace_open(rig_path, 0, &rig->trace, &diag) == 0 &&
           nsc_engine_open(&rig->trace, 1, NULL, &rig->engine) == 0;
    if (!o->keep_file || !made)
        unlink(rig_path);
    if (!made)
        printf("# %s\n", diag.message);
    for (uint32_t i = 0; made && i < o->threads; i++)
        rig_find_calls(rig, &rig->threads[i]);
    return made;
}

static inline void rig_free(struct rig *rig)
{
    for (uint32_t i = 0; i < rig->thread_count; i++) {
        model_free(&rig->threads[i].model);
        free(rig->threads[i].calls);
    }
    free(rig->threads);
    nsc_engine_close(rig->engine);
    nsc_engine_reply_free(&rig->reply);
    nsc_trace_close(rig->trace);
}

/* Ask, and have the answer in rig->reply, with a NUL behind it. Returns its status. */
static inline unsigned __attribute__((format(printf, 2, 3)))
rig_ask(struct rig *rig, const char *format, ...)
{
    char request[4096];
    va_list arguments;
    uint8_t *bytes;

    va_start(arguments, format);
    vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    nsc_engine_answer(rig->engine, request, strlen(request), &rig->reply);
    bytes = realloc(rig->reply.bytes, rig->reply.count + 1);
    if (bytes == NULL)
        abort();
    bytes[rig->reply.count] = 0;
    rig->reply.bytes = bytes;
    rig->reply.room = rig->reply.count + 1;
    return (unsigned)rig->reply.status;
}

static inline const char *rig_text(const struct rig *rig)
{
    return (const char *)rig->reply.bytes;
}

#endif
