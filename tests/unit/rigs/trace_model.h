/*
 * trace_model.h - random threads of calls with their exact expected events; shared by the tests of
 * trace/. A model thread is fed into a lane and kept as a list of events at the same time.
 */
#ifndef NSC_TESTS_UNIT_RIGS_TRACE_MODEL_H
#define NSC_TESTS_UNIT_RIGS_TRACE_MODEL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/reader.h"
#include "trace/write/lane.h"

struct model_event {
    uint64_t ticks;
    uint32_t function, depth, kind;
    uint64_t value;
};

struct model_thread {
    struct nsc_lane *lane;
    uint32_t id;
    uint64_t ticks;
    struct model_event *events;
    size_t count, room;
    uint32_t *stack;
    uint32_t depth, stack_room;
    uint32_t hook; /* ticks that nearly every event takes itself */
};

struct model_random {
    uint64_t state;
};

static inline uint32_t model_random(struct model_random *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33);
}

static inline void model_note(struct model_thread *t, uint32_t kind, uint32_t function,
                              uint64_t value)
{
    if (t->count == t->room) {
        t->room = t->room == 0 ? 1024 : t->room * 2;
        t->events = realloc(t->events, t->room * sizeof *t->events);
        if (t->events == NULL)
            abort();
    }
    t->events[t->count++] = (struct model_event){t->ticks, function, t->depth, kind, value};
}

static inline void model_enter(struct model_thread *t, uint32_t function)
{
    nsc_lane_enter(t->lane, t->ticks, function, t->depth);
    model_note(t, NSC_EVENT_ENTER, function, 0);
    if (t->depth == t->stack_room) {
        t->stack_room = t->stack_room == 0 ? 64 : t->stack_room * 2;
        t->stack = realloc(t->stack, t->stack_room * sizeof *t->stack);
        if (t->stack == NULL)
            abort();
    }
    t->stack[t->depth++] = function;
}

static inline void model_end(struct model_thread *t, uint32_t kind)
{
    if (kind == NSC_EVENT_EXIT)
        nsc_lane_exit(t->lane, t->ticks);
    else
        nsc_lane_unwind(t->lane, t->ticks);
    t->depth--;
    model_note(t, kind, t->stack[t->depth], 0);
}

/* One random event; @pause: rarely a long pause of up to 2^pause ticks. */
static inline void model_step(struct model_thread *t, struct model_random *r, uint32_t functions,
                              uint32_t max_depth, uint32_t pause)
{
    uint32_t what = model_random(r) % 1000;

    t->ticks += model_random(r) % (what % 16 == 0 ? 3000 : 100);
    t->ticks += what % 500 == 5 ? 0 : t->hook;
    if (what == 7)
        t->ticks += ((uint64_t)model_random(r) << 31 | model_random(r)) >> (62 - pause);
    if (t->depth == 0 && what < 20) {
        uint32_t function = model_random(r) % functions;

        nsc_lane_late_exit(t->lane, t->ticks, function);
        model_note(t, NSC_EVENT_LATE_EXIT, function, 0);
    } else if (what == 999) {
        uint32_t lost = 1 + model_random(r) % 100000;

        if (lost % 2 == 0)
            nsc_lane_left_out(t->lane, t->ticks, lost);
        else
            nsc_lane_lost(t->lane, t->ticks, lost);
        model_note(t, NSC_EVENT_LOST, NSC_NO_ID, lost | (lost % 2 == 0 ? NSC_GAP_LEFT_OUT : 0));
    } else if (t->depth == 0 || (t->depth < max_depth && what < 510)) {
        model_enter(t, model_random(r) % functions);
    } else {
        model_end(t, what % 50 == 0 ? NSC_EVENT_UNWIND : NSC_EVENT_EXIT);
    }
}

static inline void model_close(struct model_thread *t)
{
    nsc_lane_close(t->lane, t->ticks);
    while (t->depth > 0) {
        t->depth--;
        model_note(t, NSC_EVENT_UNWIND, t->stack[t->depth], 0);
    }
}

static inline void model_free(struct model_thread *t)
{
    free(t->events);
    free(t->stack);
    memset(t, 0, sizeof *t);
}

static inline int model_same(const struct model_event *m, const struct nsc_event *e)
{
    return m->ticks == e->ticks && m->function == e->function && m->depth == e->depth &&
           m->kind == e->kind && m->value == e->value;
}

/* Add a process, @functions functions and the threads of @t to a writer. */
static inline void model_tables(struct nsc_writer *w, struct model_thread *t, uint32_t threads,
                                uint32_t functions)
{
    struct nsc_process process = {
        .pid = 42, .parent = NSC_NO_ID, .name = "model", .exit_status = 0};
    uint32_t id;

    nsc_writer_add_process(w, &process, &id);
    for (uint32_t i = 0; i < functions; i++) {
        char name[32], file[32];
        struct nsc_function f = {.name = name,
                                 .symbol = name,
                                 .file = file,
                                 .line = i,
                                 .module = NSC_NO_ID,
                                 .va = 0x1000 + i};

        snprintf(name, sizeof name, "function_%u", i);
        snprintf(file, sizeof file, "src/file_%u.c", i % 7);
        nsc_writer_add_function(w, &f, &id);
    }
    for (uint32_t i = 0; i < threads; i++) {
        struct nsc_thread thread = {.process = 0, .tid = 100 + i, .name = "worker"};

        nsc_writer_add_thread(w, &thread, &t[i].id, &t[i].lane);
    }
}

#endif
