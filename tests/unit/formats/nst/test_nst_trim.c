/*
 * test_nst_trim.c - parts of random traces as traces of their own: they verify, and have the
 * calls, sums and losses of the window that they were cut from, and nothing else.
 */
#include <unistd.h>

#include "analyze/calls/calls.h"
#include "analyze/functions/report.h"
#include "formats/nst/nst_trim.h"
#include "tap.h"
#include "unit/rigs/analyze_random.h"

enum { STEPS = 3000, ROUNDS = 6, WINDOWS = 12 };

static char path[] = "/tmp/nsc-test-cut-XXXXXX";
static char cut_path[] = "/tmp/nsc-test-cut-XXXXXX";

struct list {
    struct nsc_trace *trace;
    struct nsc_call *calls;
    size_t count, room;
};

static bool take_call(void *context, const struct nsc_call *call)
{
    struct list *l = context;

    if (l->count == l->room) {
        l->room = l->room * 2 + 64;
        l->calls = realloc(l->calls, l->room * sizeof *l->calls);
    }
    l->calls[l->count++] = *call;
    return true;
}

static struct list list_calls(struct nsc_trace *t, const struct nsc_selection *s)
{
    struct list l = {.trace = t};

    CHECK(nsc_calls_scan(t, s, NSC_CALLS_BY_THREAD, NULL, take_call, &l, NULL) == 0);
    return l;
}

static const char *name_of(const struct list *l, uint32_t function)
{
    return function == NSC_NO_ID ? "-" : nsc_trace_function(l->trace, function)->name;
}

/* The same call, but that it begins no earlier than the window. */
static bool same_call(const struct list *a, const struct list *b, size_t i, uint64_t from)
{
    const struct nsc_call *x = &a->calls[i], *y = &b->calls[i];
    bool before = x->start_ticks < from;

    if (strcmp(name_of(a, x->function), name_of(b, y->function)) == 0 &&
        strcmp(name_of(a, x->caller), name_of(b, y->caller)) == 0 && x->depth == y->depth &&
        y->start_ticks == (before ? from : x->start_ticks) && x->end_ticks == y->end_ticks &&
        x->self_ticks == y->self_ticks && x->children == y->children &&
        y->bound == (x->bound | (before ? NSC_BOUND_START : 0)))
        return true;
    printf(
        "# call %zu: %s %s depth %u %u start %llu %llu end %llu %llu self %llu %llu bound %u %u\n",
        i, name_of(a, x->function), name_of(b, y->function), x->depth, y->depth,
        (unsigned long long)x->start_ticks, (unsigned long long)y->start_ticks,
        (unsigned long long)x->end_ticks, (unsigned long long)y->end_ticks,
        (unsigned long long)x->self_ticks, (unsigned long long)y->self_ticks, x->bound, y->bound);
    return false;
}

static bool same_calls(const struct list *a, const struct list *b, uint64_t from)
{
    bool same = a->count == b->count;

    if (!same)
        printf("# %zu calls, %zu in the cut\n", a->count, b->count);
    for (size_t i = 0; same && i < a->count; i++)
        same = same_call(a, b, i, from);
    return same;
}

/* Functions have other ids: by name. */
static bool same_sums(struct nsc_trace *a, const struct nsc_selection *of_a, struct nsc_trace *b,
                      enum nsc_selection_index index)
{
    struct nsc_selection of_b;
    struct nsc_report x, y;
    bool same = true;

    nsc_selection_init(&of_b);
    of_b.index = index;
    if (nsc_report_make(a, of_a, false, &x, NULL) != 0 ||
        nsc_report_make(b, &of_b, false, &y, NULL) != 0)
        return false;
    nsc_report_sort(&x, a, NSC_REPORT_BY_NAME);
    nsc_report_sort(&y, b, NSC_REPORT_BY_NAME);
    same = x.row_count == y.row_count && x.calls == y.calls;
    for (size_t i = 0; same && i < x.row_count; i++)
        same = x.rows[i].calls == y.rows[i].calls && x.rows[i].total_ns == y.rows[i].total_ns &&
               x.rows[i].self_ns == y.rows[i].self_ns;
    nsc_report_free(&x);
    nsc_report_free(&y);
    return same;
}

static void tell(void *context, const struct nsc_diag *d)
{
    (void)context;
    printf("# %s\n", d->message);
}

/* Cut @s out of @t. NULL after a failed check. */
static struct nsc_trace *cut(struct nsc_trace *t, const struct nsc_selection *s, size_t memory,
                             struct nsc_nst_trim_result *result)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .memory_bytes = memory, .overwrite = true};
    struct nsc_diag diag = {0};
    struct nsc_trace *out = NULL;
    struct nsc_writer *w;

    CHECK(nsc_writer_create(cut_path, &options, &w, NULL) == 0);
    CHECK(nsc_nst_trim_write(t, s, w, NULL, NULL, result, &diag) == 0);
    CHECK(nsc_writer_finish(w, &diag) == 0);
    CHECK(nsc_trace_verify(cut_path, tell, NULL, NULL) == 0);
    if (!CHECK(nsc_trace_open(cut_path, 0, &out, &diag) == 0))
        printf("# %s\n", diag.message);
    return out;
}

static bool window_is_same(struct nsc_trace *t, uint64_t from, uint64_t to, size_t memory)
{
    struct nsc_nst_trim_result result;
    struct nsc_selection s, whole;
    struct nsc_trace *part;
    struct list a, b;
    bool same;

    nsc_selection_init(&s);
    nsc_selection_init(&whole);
    s.from_ticks = from;
    s.to_ticks = to;
    part = cut(t, &s, memory, &result);
    if (part == NULL)
        return false;
    a = list_calls(t, &s);
    b = list_calls(part, &whole);
    same = same_calls(&a, &b, from) && same_sums(t, &s, part, NSC_SELECTION_INDEX_NEVER) &&
           same_sums(t, &s, part, NSC_SELECTION_INDEX_ALWAYS);
    CHECK_U64(result.calls, nsc_trace_info(part)->calls);
    if (!same)
        printf("# window %llu to %llu\n", (unsigned long long)from, (unsigned long long)to);
    free(a.calls);
    free(b.calls);
    nsc_trace_close(part);
    return same;
}

static void check_windows(void)
{
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct model_thread threads[RANDOM_THREADS];
        struct nsc_trace *t = random_trace(path, threads, seed, STEPS);
        const struct nsc_trace_info *info = nsc_trace_info(t);
        struct model_random r = {seed};
        uint64_t range = info->end_ticks - info->start_ticks;
        uint32_t wrong = 0;

        CHECK(window_is_same(t, 0, UINT64_MAX, 0));
        for (int i = 0; i < WINDOWS && wrong == 0; i++) {
            uint64_t from = info->start_ticks + model_random(&r) % range;
            uint64_t to = from + 1 + model_random(&r) % range;

            /* A bound on memory makes many small chunks. */
            wrong += !window_is_same(t, from, i % 3 == 0 ? UINT64_MAX : to, i % 2 == 0 ? 0 : 1);
        }
        CHECK_U64(wrong, 0);
        for (uint32_t i = 0; i < RANDOM_THREADS; i++)
            model_free(&threads[i]);
        nsc_trace_close(t);
    }
}

/* Threads and functions that are not selected leave no name behind. */
static void check_names(void)
{
    struct model_thread threads[RANDOM_THREADS];
    struct nsc_trace *t = random_trace(path, threads, 99, STEPS);
    uint8_t wanted[RANDOM_THREADS] = {0, 1, 0}, hidden[RANDOM_FUNCTIONS] = {1, 0, 1};
    struct nsc_selection s = {.to_ticks = UINT64_MAX, .threads = wanted, .hidden = hidden};
    struct nsc_nst_trim_result result;
    struct nsc_trace *part = cut(t, &s, 0, &result);
    uint32_t found = 0;

    if (part == NULL)
        return;
    CHECK_U64(nsc_trace_info(part)->thread_count, 1);
    CHECK_U64(nsc_trace_info(part)->process_count, 1);
    CHECK_U64(nsc_trace_info(part)->function_count, RANDOM_FUNCTIONS - 2);
    for (uint32_t i = 0; i < nsc_trace_info(part)->function_count; i++) {
        const char *name = nsc_trace_function(part, i)->name;

        found += strcmp(name, nsc_trace_function(t, 0)->name) == 0 ||
                 strcmp(name, nsc_trace_function(t, 2)->name) == 0;
    }
    CHECK_U64(found, 0);
    CHECK(same_sums(t, &s, part, NSC_SELECTION_INDEX_NEVER));
    for (uint32_t i = 0; i < RANDOM_THREADS; i++)
        model_free(&threads[i]);
    nsc_trace_close(part);
    nsc_trace_close(t);
}

/* An instant in which nothing happens has the calls that are open, and a time before all nothing.
 */
static void check_edges(void)
{
    struct model_thread threads[RANDOM_THREADS];
    struct nsc_trace *t = random_trace(path, threads, 5, STEPS);
    const struct nsc_trace_info *info = nsc_trace_info(t);
    uint64_t middle = info->start_ticks + (info->end_ticks - info->start_ticks) / 2;
    struct nsc_selection s;
    struct nsc_nst_trim_result result;
    struct nsc_trace *part;

    CHECK(window_is_same(t, middle | 1, (middle | 1) + 1, 0));
    nsc_selection_init(&s);
    s.from_ticks = info->end_ticks + 10;
    part = cut(t, &s, 0, &result);
    CHECK(part != NULL && nsc_trace_info(part)->calls == 0 &&
          nsc_trace_info(part)->function_count == 0);
    nsc_trace_close(part);
    for (uint32_t i = 0; i < RANDOM_THREADS; i++)
        model_free(&threads[i]);
    nsc_trace_close(t);
}

int main(void)
{
    close(mkstemp(path));
    close(mkstemp(cut_path));
    check_windows();
    check_names();
    check_edges();
    unlink(path);
    unlink(cut_path);
    return t_done();
}
