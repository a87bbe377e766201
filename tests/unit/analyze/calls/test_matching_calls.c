/*
 * test_matching_calls.c - pick.h against the plain scan: whatever is wished for, the same calls
 * with the same numbers, on random threads of many chunks; and that it does pass chunks over.
 */
#include <unistd.h>

#include "analyze/calls/matching_calls.h"
#include "tap.h"
#include "trace/write/writer_state.h"
#include "unit/rigs/trace_model.h"

#define THREADS   4u
#define FUNCTIONS 40u
#define EVENTS    60000u
#define WISHES    400u

static char folder[] = "/tmp/nsc-test-pick-XXXXXX";
static char path[64];

/* ---- Threads --------------------------------------------------------------------------------- */

/*
 * Which functions are called changes from time to time, so that some are in few chunks; so does how
 * deep the calls are, with a new chunk. Thread 0 has calls only, 1 gaps and calls left by
 * longjmp, 2 calls that were not seen to begin, 3 is often at the same tick for long.
 */
static void random_thread(struct model_thread *t, struct model_random *r)
{
    uint32_t some = 0, low = 0, high = 8;

    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t what = model_random(r) % 1000;
        bool enters = t->depth < high && (t->depth <= low || what % 2 == 0);

        t->ticks += t->id == 3 && what % 20 != 0 ? 0 : model_random(r) % 100;
        if (model_random(r) % 500 == 0) {
            nsc_lane_flush(t->lane);
            some = model_random(r) % FUNCTIONS;
            low = model_random(r) % 6;
            high = low + 1 + model_random(r) % 10;
        }
        if (t->id == 2 && t->depth == 0 && what < 100) {
            nsc_lane_late_exit(t->lane, t->ticks, some);
        } else if (t->id == 1 && what < 5) {
            nsc_lane_lost(t->lane, t->ticks, what);
        } else if (enters) {
            model_enter(t, (some + what % 4) % FUNCTIONS);
        } else if (t->depth > 0) {
            model_end(t, t->id == 1 && what % 10 == 0 ? NSC_EVENT_UNWIND : NSC_EVENT_EXIT);
        }
    }
    model_close(t);
}

static struct nsc_trace *random_trace(void)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct model_thread threads[THREADS] = {0};
    struct model_random r = {4711};
    struct nsc_diag diag = {0};
    struct nsc_trace *t = NULL;
    struct nsc_writer *w;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        return NULL;
    model_tables(w, threads, THREADS, FUNCTIONS);
    for (uint32_t i = 0; i < THREADS; i++) {
        random_thread(&threads[i], &r);
        model_free(&threads[i]);
    }
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

/* ---- All calls ------------------------------------------------------------------------------- */

struct all {
    struct nsc_call *calls;
    size_t count, room;
};

static bool keep(void *context, const struct nsc_call *call)
{
    struct all *all = context;

    if (all->count == all->room) {
        all->room = all->room * 2 + 1024;
        all->calls = realloc(all->calls, all->room * sizeof *all->calls);
        if (all->calls == NULL)
            abort();
    }
    all->calls[all->count++] = *call;
    return true;
}

static bool fits(const struct nsc_call *call, uint32_t thread, const struct nsc_call_wish *w)
{
    return call->thread == thread && call->start_ticks >= w->from_ticks &&
           call->start_ticks < w->to_ticks && call->depth >= w->min_depth &&
           call->depth <= w->max_depth && (!w->functions || w->functions[call->function]) &&
           (w->number == 0 || call->number == w->number);
}

static bool same(const struct nsc_call *a, const struct nsc_call *b, bool parents)
{
    return a->thread == b->thread && a->function == b->function && a->caller == b->caller &&
           a->depth == b->depth && a->bound == b->bound && a->number == b->number &&
           (!parents || a->parent == b->parent) && a->start_ticks == b->start_ticks &&
           a->end_ticks == b->end_ticks && a->self_ticks == b->self_ticks;
}

/* ---- Wishes ---------------------------------------------------------------------------------- */

static void random_wish(struct nsc_call_wish *w, const struct all *all, struct model_random *r,
                        uint8_t functions[FUNCTIONS])
{
    const struct nsc_call *some = &all->calls[model_random(r) % all->count];
    uint32_t what = model_random(r);

    nsc_call_wish_init(w);
    w->parents = what % 2 == 0;
    if (what & 2)
        w->from_ticks = some->start_ticks + (what >> 8) % 3 - 1;
    if (what & 4)
        w->to_ticks = some->start_ticks + (UINT64_C(1) << model_random(r) % 24);
    if (what & 8) {
        w->min_depth = model_random(r) % 4;
        w->max_depth = w->min_depth + model_random(r) % 4;
    }
    if (what & 16) {
        memset(functions, 0, FUNCTIONS);
        functions[some->function] = functions[model_random(r) % FUNCTIONS] = 1;
        w->functions = functions;
    }
    if ((what & 96) == 96)
        w->number = some->number;
}

static bool agrees(struct nsc_matching_calls_index *index, uint32_t thread,
                   const struct nsc_call_wish *w, const struct all *all, uint64_t *seen)
{
    struct nsc_diag diag = {0};
    const struct nsc_call *calls;
    struct nsc_matching_calls *p;
    size_t count, at = 0;
    bool right = true;
    int more;

    if (nsc_matching_calls_open(index, thread, w, &p, &diag) != 0)
        return false;
    while ((more = nsc_matching_calls_next(p, &calls, &count, &diag)) > 0)
        for (size_t i = 0; i < count; i++, at++) {
            while (at < all->count && !fits(&all->calls[at], thread, w))
                at++;
            right = right && at < all->count && same(&calls[i], &all->calls[at], w->parents);
            ++*seen;
        }
    for (; at < all->count; at++)
        right = right && !fits(&all->calls[at], thread, w);
    nsc_matching_calls_close(p);
    if (more < 0)
        printf("# %s\n", diag.message);
    if (!right || more < 0)
        printf("# thread %u from %llu to %llu depth %u..%u number %llu functions %d parents %d\n",
               thread, (unsigned long long)w->from_ticks, (unsigned long long)w->to_ticks,
               w->min_depth, w->max_depth, (unsigned long long)w->number, w->functions != NULL,
               w->parents);
    return right && more == 0;
}

static void test_wishes(struct nsc_trace *t, const struct all *all)
{
    struct model_random r = {99};
    struct nsc_matching_calls_index *index;
    uint8_t functions[FUNCTIONS];
    uint32_t wrong = 0;
    uint64_t seen = 0;

    if (nsc_matching_calls_index_new(t, &index) != 0)
        return;
    for (uint32_t i = 0; i < WISHES && wrong == 0; i++) {
        struct nsc_call_wish w;

        random_wish(&w, all, &r, functions);
        for (uint32_t thread = 0; thread < THREADS; thread++)
            wrong += !agrees(index, thread, &w, all, &seen);
    }
    CHECK_U64(wrong, 0);
    CHECK(seen > 10000);
    nsc_matching_calls_index_free(index);
}

/* Calls of a function that is in few chunks, and single calls, take few batches. */
static void test_passes_over(struct nsc_trace *t, const struct all *all)
{
    const struct nsc_call *some = &all->calls[all->count / THREADS / 2];
    struct nsc_matching_calls_index *index;
    const struct nsc_call *calls;
    struct nsc_call_wish w;
    struct nsc_matching_calls *p;
    size_t count;
    uint32_t chunks, batches = 0;

    nsc_call_wish_init(&w);
    w.number = some->number;
    (void)nsc_trace_chunks(t, some->thread, &chunks);
    if (nsc_matching_calls_index_new(t, &index) != 0 ||
        nsc_matching_calls_open(index, some->thread, &w, &p, NULL) != 0)
        return;
    while (nsc_matching_calls_next(p, &calls, &count, NULL) > 0)
        batches++;
    CHECK(chunks > 50);
    CHECK(batches < chunks / 4);
    nsc_matching_calls_close(p);
    nsc_matching_calls_index_free(index);
}

int main(void)
{
    struct nsc_selection everything;
    struct all all = {0};
    struct nsc_trace *t;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/a.nst", folder);
    t = random_trace();
    CHECK(t != NULL);
    nsc_selection_init(&everything);
    if (t != NULL) {
        CHECK(nsc_calls_scan(t, &everything, NSC_CALLS_BY_THREAD, NULL, keep, &all, NULL) == 0);
        CHECK(all.count > 100000);
        test_wishes(t, &all);
        test_passes_over(t, &all);
    }
    nsc_trace_close(t);
    free(all.calls);
    unlink(path);
    rmdir(folder);
    return t_done();
}
