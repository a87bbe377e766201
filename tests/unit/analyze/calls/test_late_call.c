/*
 * test_late_call.c - calls that were not seen to begin, wherever they lie in a thread of many
 * chunks: as a scan of all events tells them, and at the cost of a few chunks.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "analyze/calls/late_call.h"
#include "tap.h"
#include "trace/write/writer.h"
#include "unit/rigs/trace_model.h"

/* What a trace is like; one event in so many is what its name says, 0: none. */
struct kind {
    uint64_t events;
    uint32_t chunk; /* events of each */
    uint32_t functions, max_depth;
    uint32_t gap, late;
    uint32_t turn;      /* the depth goes up or down until then */
    bool hidden;        /* gaps that the index does not tell: of a budget */
    bool at_end;        /* one call returns late at the thread's end, and no others do */
    uint32_t reads_max; /* so many chunks are read for a call, at most; 0: not looked at */
};

static char path[] = "/tmp/nsc-test-late-XXXXXX";

struct maker {
    struct model_thread t;
    struct model_random r;
    uint32_t epoch_depth; /* calls may return late above so many */
    bool rises;
};

static void put_gap(struct maker *m, const struct kind *k)
{
    if (k->hidden && model_random(&m->r) % 4 != 0)
        nsc_lane_left_out(m->t.lane, m->t.ticks, 7);
    else
        nsc_lane_lost(m->t.lane, m->t.ticks, 5);
    m->epoch_depth = m->t.depth;
}

static bool is_time_for(struct maker *m, uint32_t rarity)
{
    return rarity != 0 && model_random(&m->r) % rarity == 0;
}

static void step(struct maker *m, const struct kind *k)
{
    uint32_t up = m->rises ? 55 : 45;

    m->t.ticks += model_random(&m->r) % 50;
    if (is_time_for(m, k->turn))
        m->rises = !m->rises;
    if (is_time_for(m, k->gap))
        put_gap(m, k);
    else if (m->t.depth == m->epoch_depth && is_time_for(m, k->late))
        nsc_lane_late_exit(m->t.lane, m->t.ticks, model_random(&m->r) % k->functions);
    else if (m->t.depth == 0 || (m->t.depth < k->max_depth && model_random(&m->r) % 100 < up))
        model_enter(&m->t, model_random(&m->r) % k->functions);
    else
        model_end(&m->t, model_random(&m->r) % 50 == 0 ? NSC_EVENT_UNWIND : NSC_EVENT_EXIT);
    m->epoch_depth = m->t.depth < m->epoch_depth ? m->t.depth : m->epoch_depth;
}

static struct nsc_trace *make(const struct kind *k, uint64_t seed)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct maker m = {.r = {seed * 7919 + 1}, .rises = true};
    struct nsc_trace *trace;
    struct nsc_writer *w;
    struct nsc_diag diag;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        abort();
    if (k->hidden)
        nsc_writer_meta(w, "left_out_budget_events", "7");
    model_tables(w, &m.t, 1, k->functions);
    m.t.ticks = 1000;
    for (uint64_t i = 0; i < k->events; i++) {
        step(&m, k);
        if (i % k->chunk == 0)
            nsc_lane_end_chunk(m.t.lane);
    }
    while (m.t.depth > 0) {
        m.t.ticks += 3;
        model_end(&m.t, NSC_EVENT_EXIT);
    }
    m.t.ticks += 17;
    if (k->at_end)
        nsc_lane_late_exit(m.t.lane, m.t.ticks, 1);
    model_close(&m.t);
    model_free(&m.t);
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &trace, &diag) != 0) {
        printf("Bail out! %s\n", diag.message);
        exit(1);
    }
    return trace;
}

/* All calls that return late, in the order of their ends. */
struct list {
    struct nsc_call *calls;
    size_t count, room;
};

static bool add(void *context, const struct nsc_call *call)
{
    struct list *list = context;

    if ((call->bound & NSC_BOUND_START) == 0)
        return true;
    if (list->count == list->room) {
        list->room = list->room * 2 + 16;
        list->calls = reallocarray(list->calls, list->room, sizeof *list->calls);
        if (list->calls == NULL)
            abort();
    }
    list->calls[list->count++] = *call;
    return true;
}

static const struct nsc_call *find_in(const struct list *list, uint64_t ticks, uint32_t depth)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->calls[i].depth == depth && list->calls[i].start_ticks <= ticks &&
            list->calls[i].end_ticks >= ticks)
            return &list->calls[i];
    return NULL;
}

static bool count_read(void *context)
{
    ++*(uint32_t *)context;
    return false;
}

struct search {
    struct nsc_trace *trace;
    struct list list;
    uint32_t reads, most_reads, found, none;
};

static bool agrees(struct search *s, uint64_t ticks, uint32_t depth)
{
    const struct nsc_call *want = find_in(&s->list, ticks, depth);
    struct nsc_diag diag;
    struct nsc_at at;
    int error;

    s->reads = 0;
    error = nsc_late_find(s->trace, 0, ticks, ticks, depth, 0, &at, &diag);
    s->most_reads = s->reads > s->most_reads ? s->reads : s->most_reads;
    if (want == NULL)
        s->none++;
    else
        s->found++;
    if (want == NULL
            ? error == -ENOENT
            : error == 0 && at.call.function == want->function && at.call.caller == want->caller &&
                  at.call.depth == depth && at.call.number == want->number &&
                  at.call.bound == want->bound && at.call.start_ticks == want->start_ticks &&
                  at.call.end_ticks == want->end_ticks && at.call.self_ticks == want->self_ticks &&
                  at.caller_count == 0)
        return true;
    printf("# at %llu depth %u: error %d", (unsigned long long)ticks, depth, error);
    if (error == 0)
        printf(", call %llu from %llu to %llu self %llu", (unsigned long long)at.call.number,
               (unsigned long long)at.call.start_ticks, (unsigned long long)at.call.end_ticks,
               (unsigned long long)at.call.self_ticks);
    if (want != NULL)
        printf("; want call %llu from %llu to %llu self %llu", (unsigned long long)want->number,
               (unsigned long long)want->start_ticks, (unsigned long long)want->end_ticks,
               (unsigned long long)want->self_ticks);
    printf("\n");
    return false;
}

/* At its ends, beside them and in it, at its depth and at those beside it. */
static bool agrees_about(struct search *s, const struct nsc_call *c, struct model_random *r)
{
    uint64_t inside = model_random(r) % (c->end_ticks - c->start_ticks + 1);

    return agrees(s, c->end_ticks, c->depth) && agrees(s, c->end_ticks + 1, c->depth) &&
           agrees(s, c->start_ticks, c->depth) && agrees(s, c->start_ticks - 1, c->depth) &&
           agrees(s, c->start_ticks + inside, c->depth) &&
           agrees(s, c->start_ticks + inside, c->depth + 1) &&
           agrees(s, c->start_ticks + inside, c->depth - (c->depth > 0));
}

static void test(const char *what, const struct kind *k, uint32_t seeds)
{
    struct search all = {0};
    uint32_t chunks = UINT32_MAX;
    bool fits = true;

    for (uint32_t seed = 1; seed <= seeds && fits; seed++) {
        struct search s = {.trace = make(k, seed)};
        struct model_random r = {seed};
        struct nsc_selection everything;
        struct nsc_diag diag;
        uint32_t count;

        nsc_selection_init(&everything);
        if (nsc_calls_scan(s.trace, &everything, NSC_CALLS_BY_THREAD, NULL, add, &s.list, &diag) !=
            0)
            abort();
        nsc_trace_watch(s.trace, count_read, &s.reads);
        for (uint32_t i = 0; i < 60 && fits && s.list.count > 0; i++)
            fits = agrees_about(&s, &s.list.calls[model_random(&r) % s.list.count], &r);
        all.found += s.found;
        all.none += s.none;
        all.most_reads = s.most_reads > all.most_reads ? s.most_reads : all.most_reads;
        nsc_trace_chunks(s.trace, 0, &count);
        chunks = count < chunks ? count : chunks;
        nsc_trace_close(s.trace);
        free(s.list.calls);
    }
    printf("# %s: %u chunks or more, %u calls found, %u not there, %u chunks read at most\n", what,
           chunks, all.found, all.none, all.most_reads);
    t_report(fits && all.found > 0 && all.none > 0 && chunks > 64, __FILE__, __LINE__, what);
    if (k->reads_max != 0)
        CHECK(all.most_reads <= k->reads_max);
}

int main(void)
{
    close(mkstemp(path));
    test("many gaps",
         &(struct kind){.events = 100000,
                        .chunk = 500,
                        .functions = 9,
                        .max_depth = 30,
                        .gap = 300,
                        .late = 30,
                        .turn = 500},
         5);
    test("a few gaps",
         &(struct kind){.events = 200000,
                        .chunk = 500,
                        .functions = 9,
                        .max_depth = 60,
                        .gap = 20000,
                        .late = 300,
                        .turn = 3000},
         10);
    test("gaps that the index does not tell",
         &(struct kind){.events = 100000,
                        .chunk = 500,
                        .functions = 9,
                        .max_depth = 60,
                        .gap = 10000,
                        .late = 300,
                        .turn = 3000,
                        .hidden = true},
         10);
    test("a thread that ran before it was recorded",
         &(struct kind){.events = 600000,
                        .chunk = 4000,
                        .functions = 9,
                        .max_depth = 40,
                        .turn = 3000,
                        .at_end = true,
                        .reads_max = 2},
         2);
    test("large chunks and a few gaps",
         &(struct kind){.events = 600000,
                        .chunk = 4000,
                        .functions = 9,
                        .max_depth = 40,
                        .gap = 100000,
                        .late = 10000,
                        .turn = 30000,
                        .reads_max = 5},
         5);
    unlink(path);
    return t_done();
}
