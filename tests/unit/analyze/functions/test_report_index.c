/*
 * test_report_index.c - a report that takes sums from the index against one that reads all events:
 * random threads with gaps, late exits and unwound calls, random windows. All must be equal but the
 * quantiles, which must be within what report.h says.
 */
#include <unistd.h>

#include "analyze/functions/report.h"
#include "tap.h"
#include "trace/read/levels.h"
#include "unit/rigs/trace_model.h"

enum { FUNCTIONS = 14, STEPS = 120000, THREADS = 3, ROUNDS = 4, WINDOWS = 60 };

static char path[] = "/tmp/nsc-test-index-XXXXXX";

/* What threads do. */
struct kind {
    bool late;      /* in the first and the last ninth */
    bool gaps;      /* for a quarter of the time */
    bool budget;    /* it makes gaps, which no head tells, for an eighth */
    uint32_t alias; /* of function 0, or 0 */
    uint32_t max_depth;
    bool deep; /* most of the time */
};

static void step(struct model_thread *t, struct model_random *r, const struct kind *k, uint32_t i)
{
    uint32_t what = model_random(r) % 1000, lost = 1 + what;

    t->ticks += model_random(r) % (what % 16 == 0 ? 3000 : 60);
    if (k->deep && t->depth < 5) {
        model_enter(t, model_random(r) % FUNCTIONS);
    } else if (what < 8 && k->late && (!k->budget || t->depth == 0) &&
               (i < STEPS / 9 || i > STEPS / 9 * 8)) {
        nsc_lane_late_exit(t->lane, t->ticks, what);
    } else if (what >= 990 && k->budget && i / 5000 % 8 == 0) {
        nsc_lane_left_out(t->lane, t->ticks, lost);
    } else if (what >= 990 && k->gaps && i / 5000 % 4 == 1) {
        nsc_lane_lost(t->lane, t->ticks, lost);
    } else if (t->depth == 0 || (t->depth < k->max_depth && what < 510)) {
        model_enter(t, model_random(r) % FUNCTIONS);
    } else {
        model_end(t, what % 50 == 0 ? NSC_EVENT_UNWIND : NSC_EVENT_EXIT);
    }
}

static struct nsc_trace *make_trace(const struct kind *k, uint64_t seed)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct model_thread threads[THREADS] = {{0}};
    struct model_random r = {seed};
    struct nsc_writer *w;
    struct nsc_trace *t;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, threads, THREADS, FUNCTIONS);
    if (k->budget)
        nsc_writer_meta(w, "left_out_budget_events", "1000");
    if (k->alias != 0)
        nsc_writer_alias_function(w, k->alias, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        step(&threads[i % 5 % THREADS], &r, k, i);
        if (i % 4000 == 3999)
            nsc_writer_flush(w);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        model_close(&threads[i]);
        model_free(&threads[i]);
    }
    if (nsc_writer_finish(w, NULL) != 0 || nsc_trace_open(path, 0, &t, NULL) != 0)
        abort();
    return t;
}

static bool is_near(uint64_t a, uint64_t b)
{
    uint64_t most = a > b ? a : b, least = a > b ? b : a;

    return most - least <= most / 14 + 1; /* 1/16 and 1/64 off, and rounded */
}

static bool same_rows(const struct nsc_report_row *a, const struct nsc_report_row *b)
{
    return a->function == b->function && a->process == b->process && a->calls == b->calls &&
           a->bounds == b->bounds && a->total_ns == b->total_ns && a->self_ns == b->self_ns &&
           a->min_ns == b->min_ns && a->max_ns == b->max_ns && is_near(a->p50_ns, b->p50_ns) &&
           is_near(a->p90_ns, b->p90_ns) && is_near(a->p99_ns, b->p99_ns);
}

static bool same_reports(const struct nsc_report *a, const struct nsc_report *b)
{
    if (a->row_count != b->row_count || a->calls != b->calls || a->bounds != b->bounds ||
        a->threads != b->threads) {
        printf("# %zu, %zu rows; %llu, %llu calls; %u, %u threads\n", a->row_count, b->row_count,
               (unsigned long long)a->calls, (unsigned long long)b->calls, a->threads, b->threads);
        return false;
    }
    for (size_t i = 0; i < a->row_count; i++) {
        const struct nsc_report_row *x = &a->rows[i], *y = &b->rows[i];

        if (same_rows(x, y))
            continue;
        printf("# function %u: calls %llu %llu bounds %llu %llu total %llu %llu self %llu %llu\n",
               x->function, (unsigned long long)x->calls, (unsigned long long)y->calls,
               (unsigned long long)x->bounds, (unsigned long long)y->bounds,
               (unsigned long long)x->total_ns, (unsigned long long)y->total_ns,
               (unsigned long long)x->self_ns, (unsigned long long)y->self_ns);
        printf("# quantiles %llu %llu, %llu %llu, %llu %llu; max %llu %llu\n",
               (unsigned long long)x->p50_ns, (unsigned long long)y->p50_ns,
               (unsigned long long)x->p90_ns, (unsigned long long)y->p90_ns,
               (unsigned long long)x->p99_ns, (unsigned long long)y->p99_ns,
               (unsigned long long)x->max_ns, (unsigned long long)y->max_ns);
        return false;
    }
    return true;
}

/* Reports of a window, with and without the index. */
static bool window_is_same(struct nsc_trace *t, uint64_t from, uint64_t to, bool *coarse)
{
    struct nsc_selection with, without;
    struct nsc_report a, b;
    bool same;

    nsc_selection_init(&with);
    with.from_ticks = from;
    with.to_ticks = to;
    without = with;
    with.index = NSC_SELECTION_INDEX_ALWAYS;
    without.index = NSC_SELECTION_INDEX_NEVER;
    if (nsc_report_make(t, &with, false, &a, NULL) != 0 ||
        nsc_report_make(t, &without, false, &b, NULL) != 0)
        return false;
    same = same_reports(&a, &b) && !b.coarse;
    *coarse |= a.coarse;
    nsc_report_free(&a);
    nsc_report_free(&b);
    if (!same)
        printf("# window %llu to %llu\n", (unsigned long long)from, (unsigned long long)to);
    return same;
}

static void check_kind(const struct kind *k, const char *name, bool wants_index)
{
    uint32_t wrong = 0;
    bool coarse = false;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct nsc_trace *t = make_trace(k, 77 + round);
        const struct nsc_trace_info *info = nsc_trace_info(t);
        struct model_random r = {round};
        uint32_t count;
        const struct nsc_chunk *chunks = nsc_trace_chunks(t, 0, &count);

        wrong += !window_is_same(t, 0, UINT64_MAX, &coarse);
        for (uint32_t i = 0; i < WINDOWS && wrong < 5; i++) {
            uint64_t range = info->end_ticks - info->start_ticks;
            uint64_t from = info->start_ticks + model_random(&r) % range;
            uint64_t to = from + model_random(&r) % range;

            if (i % 4 == 0) /* at a chunk's very borders */
                from = chunks[model_random(&r) % count].first_ticks;
            if (i % 8 == 0)
                to = chunks[model_random(&r) % count].last_ticks;
            wrong +=
                !window_is_same(t, i % 7 == 0 ? 0 : from, i % 7 == 1 ? UINT64_MAX : to, &coarse);
        }
        nsc_trace_close(t);
    }
    printf("# %s\n", name);
    CHECK_U64(wrong, 0);
    CHECK(coarse == wants_index);
}

int main(void)
{
    close(mkstemp(path));
    check_kind(&(struct kind){.max_depth = 9}, "plain", true);
    check_kind(&(struct kind){.max_depth = 40}, "deep", true);
    check_kind(&(struct kind){.max_depth = 40, .deep = true}, "always deep", true);
    check_kind(&(struct kind){.max_depth = 9, .gaps = true}, "gaps", true);
    check_kind(&(struct kind){.max_depth = 9, .gaps = true, .late = true}, "late exits", true);
    check_kind(&(struct kind){.max_depth = 9, .budget = true, .late = true},
               "late exits and a budget", true);
    check_kind(&(struct kind){.max_depth = 20, .late = true, .deep = true}, "late exits, deep",
               true);
    check_kind(&(struct kind){.max_depth = 8, .gaps = true, .late = true, .deep = true},
               "late exits and gaps, deep", true);
    check_kind(&(struct kind){.max_depth = 9, .alias = 3}, "aliases", false);
    unlink(path);
    return t_done();
}
