/*
 * test_calls.c - report, tree, calls and merge against an oracle that works from the definitions,
 * on random threads with unwinds, late exits, gaps and recursion, with windows and filters.
 */
#include <unistd.h>

#include "analyze/calls/calls.h"
#include "analyze/calls/thread_merge.h"
#include "analyze/functions/duration_dist.h"
#include "analyze/functions/report.h"
#include "analyze/paths/call_tree.h"
#include "tap.h"
#include "unit/rigs/analyze_random.h"

#define ROUNDS 40u

static char folder[] = "/tmp/nsc-test-analyze-XXXXXX";
static char path[64];

/* ---- Against the oracle ---------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Nearest rank over sorted values. */
static uint64_t exact_quantile(const uint64_t *values, size_t count, unsigned percent)
{
    size_t rank = (count * percent + 99) / 100;

    return values[rank > 0 ? rank - 1 : 0];
}

static bool is_near(uint64_t got, uint64_t want)
{
    uint64_t off = got > want ? got - want : want - got;

    return off <= want / 64 + 1;
}

static bool row_agrees(const struct nsc_report_row *row, const struct oracle *o)
{
    uint64_t calls = 0, bounds = 0, total = 0, self = 0;
    uint64_t *durations = calloc(o->count + 1, sizeof *durations);
    bool fits;

    for (size_t i = 0; i < o->count; i++) {
        const struct oracle_call *c = &o->calls[i];

        if (c->function != row->function)
            continue;
        durations[calls++] = c->end - c->start;
        bounds += c->bound != 0;
        self += oracle_self(o, i);
        total += oracle_is_outermost(o, i) ? oracle_inside(o, c) : 0;
    }
    qsort(durations, calls, sizeof *durations, compare_u64);
    fits = row->calls == calls && row->bounds == bounds && row->total_ns == total &&
           row->self_ns == self && calls > 0 && row->min_ns == durations[0] &&
           row->max_ns == durations[calls - 1] &&
           is_near(row->p50_ns, exact_quantile(durations, calls, 50)) &&
           is_near(row->p90_ns, exact_quantile(durations, calls, 90)) &&
           is_near(row->p99_ns, exact_quantile(durations, calls, 99));
    if (!fits)
        printf("# function %u: calls %llu/%llu bounds %llu/%llu total %llu/%llu self %llu/%llu\n",
               row->function, (unsigned long long)row->calls, (unsigned long long)calls,
               (unsigned long long)row->bounds, (unsigned long long)bounds,
               (unsigned long long)row->total_ns, (unsigned long long)total,
               (unsigned long long)row->self_ns, (unsigned long long)self);
    free(durations);
    return fits;
}

static bool report_agrees(struct nsc_trace *t, const struct nsc_selection *s,
                          const struct oracle *o)
{
    struct nsc_report r;
    struct nsc_diag diag = {0};
    bool fits;

    if (nsc_report_make(t, s, false, &r, &diag) != 0) {
        printf("# %s\n", diag.message);
        return false;
    }
    fits = r.calls == o->count;
    for (size_t i = 0; i < r.row_count; i++)
        fits = row_agrees(&r.rows[i], o) && fits;
    nsc_report_free(&r);
    return fits;
}

/* The node of a path such as "3/1/", or 0. */
static uint32_t find_node(const struct nsc_tree *tree, const char *at)
{
    uint32_t node = 0;

    while (*at) {
        char *end;
        uint32_t function = (uint32_t)strtoul(at, &end, 10), child = tree->nodes[node].first_child;

        while (child && tree->nodes[child].function != function)
            child = tree->nodes[child].next_sibling;
        if (!child)
            return 0;
        node = child;
        at = end + 1;
    }
    return node;
}

static bool tree_agrees(struct nsc_trace *t, const struct nsc_selection *s, const struct oracle *o,
                        bool fold)
{
    struct nsc_tree_options options = {.fold_recursion = fold};
    struct sums {
        uint64_t calls, bounds, total, self;
    } * sums;
    struct nsc_tree tree;
    struct nsc_diag diag = {0};
    uint64_t whole = 0;
    bool fits = true;

    if (nsc_tree_make(t, s, &options, &tree, &diag) != 0) {
        printf("# %s\n", diag.message);
        return false;
    }
    sums = calloc(tree.count, sizeof *sums);
    for (size_t i = 0; i < o->count; i++) {
        size_t own = i;
        char *at = oracle_path(o, i, fold), *at_own;
        uint32_t node = find_node(&tree, at), node_own;

        /* A call that shares its caller's node is counted there; its time is where it lies. */
        while (fold && oracle_is_shared(o, own))
            own = (size_t)o->calls[own].caller;
        at_own = oracle_path(o, own, fold);
        node_own = find_node(&tree, at_own);
        if (node == 0 || node_own == 0)
            printf("# no node for %s or %s\n", at, at_own);
        fits = fits && node != 0 && node_own != 0;
        sums[node_own].calls++;
        sums[node_own].bounds += o->calls[i].bound != 0;
        sums[node].total += own == i ? oracle_inside(o, &o->calls[i]) : 0;
        sums[node].self += oracle_self(o, i);
        free(at_own);
        whole += o->calls[i].holder < 0 ? oracle_inside(o, &o->calls[i]) : 0;
        free(at);
    }
    fits = fits && tree.nodes[0].total_ticks == whole && tree.folded_calls == 0;
    for (uint32_t n = 1; n < tree.count; n++)
        fits = fits && tree.nodes[n].calls == sums[n].calls &&
               tree.nodes[n].bounds == sums[n].bounds &&
               tree.nodes[n].total_ticks == sums[n].total &&
               nsc_tree_self_ticks(&tree.nodes[n]) == sums[n].self;
    free(sums);
    nsc_tree_free(&tree);
    return fits;
}

struct calls_check {
    const struct oracle *oracle;
    size_t at;
    bool fits;
};

static bool check_call(void *context, const struct nsc_call *c)
{
    struct calls_check *check = context;
    const struct oracle *o = check->oracle;
    const struct oracle_call *want = &o->calls[check->at];
    bool fits = check->at < o->count && c->thread == want->thread &&
                c->function == want->function && c->start_ticks == want->start &&
                c->end_ticks == want->end && c->depth == want->depth && c->bound == want->bound &&
                c->number == want->number && c->self_ticks == oracle_self(o, check->at) &&
                c->caller == (want->caller < 0 ? NSC_NO_ID : o->calls[want->caller].function) &&
                c->parent == (want->caller < 0 ? 0 : o->calls[want->caller].number);

    if (!fits)
        printf("# call %zu differs\n", check->at);
    check->at++;
    check->fits = check->fits && fits;
    return fits;
}

static bool calls_agree(struct nsc_trace *t, const struct nsc_selection *s, const struct oracle *o)
{
    struct calls_check check = {o, 0, true};

    return nsc_calls_scan(t, s, NSC_CALLS_BY_THREAD, NULL, check_call, &check, NULL) == 0 &&
           check.fits && check.at == o->count;
}

struct order_check {
    uint64_t last, count, sum;
    bool fits;
};

static bool check_order(void *context, const struct nsc_call *c)
{
    struct order_check *check = context;

    check->fits = check->fits && c->end_ticks >= check->last;
    check->last = c->end_ticks;
    check->sum += c->self_ticks + c->number * (c->thread + 1u);
    check->count++;
    return true;
}

/* All threads together: in order, and the same calls. */
static bool merged_agree(struct nsc_trace *t, const struct nsc_selection *s, const struct oracle *o)
{
    struct order_check check = {.fits = true};
    uint64_t sum = 0;

    for (size_t i = 0; i < o->count; i++)
        sum += oracle_self(o, i) + o->calls[i].number * (o->calls[i].thread + 1u);
    return nsc_calls_scan(t, s, NSC_CALLS_BY_END, NULL, check_order, &check, NULL) == 0 &&
           check.fits && check.count == o->count && check.sum == sum;
}

static bool all_agree(struct nsc_trace *t, struct model_thread *threads, struct nsc_selection *s)
{
    struct oracle o = {.from = s->from_ticks, .to = s->to_ticks};
    bool fits;

    for (uint32_t i = 0; i < RANDOM_THREADS; i++)
        if (nsc_selection_has_thread(s, i))
            oracle_add_thread(&o, &threads[i], nsc_trace_thread(t, i)->start_ticks, s->hidden);
    fits = report_agrees(t, s, &o);
    fits = tree_agrees(t, s, &o, false) && fits;
    fits = tree_agrees(t, s, &o, true) && fits;
    fits = calls_agree(t, s, &o) && fits;
    fits = merged_agree(t, s, &o) && fits;
    free(o.calls);
    return fits;
}

static void test_random(void)
{
    unsigned whole = 0, window = 0, filter = 0, thread = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct model_random r = {round + 1000};
        struct model_thread threads[RANDOM_THREADS];
        struct nsc_trace *t = random_trace(path, threads, round, 40 + round * 8);
        uint8_t hidden[RANDOM_FUNCTIONS], only[RANDOM_THREADS] = {0};
        struct nsc_selection s;
        uint64_t end;

        if (!t)
            break;
        end = nsc_trace_info(t)->end_ticks;
        nsc_selection_init(&s);
        whole += all_agree(t, threads, &s);
        s.from_ticks = 1000 + model_random(&r) % (end - 1000);
        s.to_ticks = s.from_ticks + 1 + model_random(&r) % (end - s.from_ticks);
        window += all_agree(t, threads, &s);
        for (unsigned i = 0; i < RANDOM_FUNCTIONS; i++)
            hidden[i] = model_random(&r) % 3 == 0;
        s.hidden = hidden;
        filter += all_agree(t, threads, &s);
        s.from_ticks = 0;
        s.to_ticks = UINT64_MAX;
        only[round % RANDOM_THREADS] = 1;
        s.threads = only;
        thread += all_agree(t, threads, &s);
        nsc_trace_close(t);
        for (unsigned i = 0; i < RANDOM_THREADS; i++)
            model_free(&threads[i]);
    }
    CHECK_U64(whole, ROUNDS);
    CHECK_U64(window, ROUNDS);
    CHECK_U64(filter, ROUNDS);
    CHECK_U64(thread, ROUNDS);
}

/* Whether the index shows that a thread has no late exit in its chunks [@first, @end). */
static bool has_no_late(struct nsc_trace *t, uint32_t thread, uint32_t first, uint32_t end)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    while (first < end && !nsc_reader_may_have_late(chunks, count, first))
        first++;
    return first == end;
}

/* Windows that begin and end where chunks do, or one tick beside. Some chunks have late exits,
 * calls go on from one to others: what is left out of a window must not change how its calls are
 * told. */
static void test_chunk_borders(void)
{
    unsigned agreed = 0, direct = 0, windows = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct model_random r = {round + 5000};
        struct model_thread threads[RANDOM_THREADS];
        struct nsc_trace *t = random_chunks(path, threads, round, 240, 30);
        uint8_t only[RANDOM_THREADS] = {0};
        uint32_t count, thread = round % RANDOM_THREADS;
        const struct nsc_chunk *chunks;

        if (!t)
            break;
        chunks = nsc_trace_chunks(t, thread, &count);
        only[thread] = 1;
        for (unsigned i = 0; i < 8 && count > 0; i++, windows++) {
            uint32_t first = model_random(&r) % count;
            uint32_t end = first + 1 + model_random(&r) % (count - first < 3 ? count - first : 3);
            struct nsc_selection s;

            nsc_selection_init(&s);
            s.threads = only;
            s.from_ticks = chunks[first].first_ticks + model_random(&r) % 3 - 1;
            s.to_ticks = chunks[end - 1].last_ticks + model_random(&r) % 3 - 1;
            direct += has_no_late(t, thread, first, end);
            agreed += s.to_ticks <= s.from_ticks || all_agree(t, threads, &s);
        }
        nsc_trace_close(t);
        for (unsigned i = 0; i < RANDOM_THREADS; i++)
            model_free(&threads[i]);
    }
    CHECK_U64(agreed, windows);
    CHECK(direct > windows / 10 && direct < windows / 10 * 9);
}

/* ---- Distributions --------------------------------------------------------------------------- */

static void check_dist(const char *what, unsigned shift, size_t count)
{
    struct model_random r = {shift};
    uint64_t *values = calloc(count, sizeof *values);
    struct nsc_dist d;
    unsigned good = 0;

    nsc_dist_init(&d);
    for (size_t i = 0; i < count; i++) {
        uint64_t wide = (uint64_t)model_random(&r) << 33 ^ (uint64_t)model_random(&r) << 8;

        values[i] = wide >> (model_random(&r) % (64 - shift) + shift);
        nsc_dist_add(&d, values[i]);
    }
    qsort(values, count, sizeof *values, compare_u64);
    for (unsigned percent = 1; percent <= 100; percent++) {
        uint64_t want = exact_quantile(values, count, percent);
        uint64_t got = nsc_dist_quantile(&d, percent);

        good += nsc_dist_is_exact(&d) ? got == want
                : got > want          ? got - want <= want / 64
                                      : want - got <= want / 64;
    }
    printf("# %s\n", what);
    CHECK_U64(good, 100);
    CHECK_U64(d.min, values[0]);
    CHECK_U64(d.max, values[count - 1]);
    nsc_dist_free(&d);
    free(values);
}

static void test_dist(void)
{
    struct nsc_dist d;

    check_dist("one value", 0, 1);
    check_dist("as many as are exact", 0, NSC_DIST_EXACT);
    check_dist("one more", 0, NSC_DIST_EXACT + 1);
    check_dist("many of all sizes", 0, 20000);
    check_dist("many small ones", 58, 20000);
    nsc_dist_init(&d);
    CHECK_U64(nsc_dist_quantile(&d, 50), 0);
    for (unsigned i = 0; i < 1000; i++)
        nsc_dist_add(&d, i % 2 ? UINT64_MAX : 0);
    CHECK_U64(nsc_dist_quantile(&d, 50), 0);
    CHECK_U64(nsc_dist_quantile(&d, 51) > UINT64_MAX - UINT64_MAX / 64, 1);
    nsc_dist_free(&d);
}

/* ---- Written by hand ------------------------------------------------------------------------- */

/* A trace of one thread, from a line of text: "a(10 b(20 )30 )40" and ~ for an unwind, L for a gap,
 * and d!50 for a late exit of d; functions are the letters a to g. */
static struct nsc_trace *hand_trace(const char *text)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct model_thread t = {0};
    struct nsc_diag diag = {0};
    struct nsc_writer *w;
    struct nsc_trace *trace = NULL;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        return NULL;
    model_tables(w, &t, 1, RANDOM_FUNCTIONS);
    while (*text) {
        uint32_t function = 0;
        char kind;

        if (*text >= 'a' && *text <= 'g')
            function = (uint32_t)(*text++ - 'a');
        kind = *text++;
        t.ticks = strtoull(text, NULL, 10);
        text += strspn(text, "0123456789 ");
        if (kind == '(')
            nsc_lane_enter(t.lane, t.ticks, function, 0);
        else if (kind == ')')
            nsc_lane_exit(t.lane, t.ticks);
        else if (kind == '~')
            nsc_lane_unwind(t.lane, t.ticks);
        else if (kind == '!')
            nsc_lane_late_exit(t.lane, t.ticks, function);
        else
            nsc_lane_lost(t.lane, t.ticks, 1);
    }
    nsc_lane_close(t.lane, t.ticks);
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &trace, &diag) != 0)
        printf("# %s\n", diag.message);
    return trace;
}

/* The tree as "a3:100/20(b1:80/80)": function, calls, total / self, children. */
static void write_tree(const struct nsc_tree *tree, uint32_t node, FILE *out)
{
    for (uint32_t c = tree->nodes[node].first_child; c; c = tree->nodes[c].next_sibling) {
        const struct nsc_tree_node *n = &tree->nodes[c];

        fprintf(out, "%c%llu:%llu/%llu", 'a' + (int)n->function, (unsigned long long)n->calls,
                (unsigned long long)n->total_ticks, (unsigned long long)nsc_tree_self_ticks(n));
        if (n->first_child) {
            putc('(', out);
            write_tree(tree, c, out);
            putc(')', out);
        }
        if (n->next_sibling)
            putc(' ', out);
    }
}

static void check_tree(const char *events, char root, bool fold, const char *want)
{
    struct nsc_trace *t = hand_trace(events);
    uint8_t roots[RANDOM_FUNCTIONS] = {0};
    struct nsc_tree_options options = {.roots = root ? roots : NULL, .fold_recursion = fold};
    struct nsc_selection s;
    struct nsc_tree tree = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out;

    if (root)
        roots[root - 'a'] = 1;
    nsc_selection_init(&s);
    if (!CHECK(t && nsc_tree_make(t, &s, &options, &tree, NULL) == 0))
        return;
    out = open_memstream(&text, &bytes);
    write_tree(&tree, 0, out);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
    nsc_tree_free(&tree);
    nsc_trace_close(t);
}

static void test_trees_by_hand(void)
{
    check_tree("a(0 b(10 )30 b(40 )50 c(60 )100 )100", 0, false, "a1:100/30(c1:40/40 b2:30/30)");
    /* Recursion nests, or shares a line. */
    check_tree("a(0 a(10 a(20 b(30 )40 )50 )60 )100", 0, false,
               "a1:100/50(a1:50/20(a1:30/20(b1:10/10)))");
    check_tree("a(0 a(10 a(20 b(30 )40 )50 )60 )100", 0, true, "a3:100/90(b1:10/10)");
    check_tree("a(0 L10 a(20 b(30 )40 )50 )60", 0, true, "a2:60/50(b1:10/10)");
    check_tree("a(0 L10 a(20 )30 c!40 a(45 )50 )60", 0, true, "a3:60/30(c1:30/30)");
    /* From a root: the outermost calls of b, wherever they are. */
    check_tree("a(0 b(10 b(20 )30 )40 )50 c(60 b(70 d(80 )90 )100 )110", 'b', false,
               "b2:60/40(b1:10/10 d1:10/10)");
    /* A late exit takes what was before it. */
    check_tree("a(0 )10 b(20 )30 c!40 d(50 )60 e!70", 0, false,
               "e1:70/20(c1:40/20(a1:10/10 b1:10/10) d1:10/10)");
    /* After a gap, only what came since; inside an open call as well. */
    check_tree("a(0 b(10 )20 L30 b(40 )50 c!60 )70", 0, false,
               "a1:70/30(c1:30/20(b1:10/10) b1:10/10)");
    /* A call that was open in the gap is not the late one's callee. */
    check_tree("a(0 b(10 L20 )30 d(40 )50 c!60 )70", 0, false,
               "a1:70/20(c1:30/20(d1:10/10) b1:20/20)");
    /* Unwinding ends calls. */
    check_tree("a(0 b(10 c(20 ~30 ~30 d(40 )50 )60", 0, false,
               "a1:60/30(b1:20/10(c1:10/10) d1:10/10)");
}

static void check_report(const char *events, uint64_t from, uint64_t to, const char *want)
{
    struct nsc_trace *t = hand_trace(events);
    struct nsc_selection s;
    struct nsc_report r = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    nsc_selection_init(&s);
    s.from_ticks = from;
    s.to_ticks = to;
    CHECK(t && nsc_report_make(t, &s, false, &r, NULL) == 0);
    nsc_report_sort(&r, t, NSC_REPORT_BY_NAME);
    for (size_t i = 0; i < r.row_count; i++) {
        const struct nsc_report_row *row = &r.rows[i];

        fprintf(out, "%s%c%llu:%llu/%llu %llu..%llu b%llu", i ? ", " : "", 'a' + (int)row->function,
                (unsigned long long)row->calls, (unsigned long long)row->total_ns,
                (unsigned long long)row->self_ns, (unsigned long long)row->min_ns,
                (unsigned long long)row->max_ns, (unsigned long long)row->bounds);
    }
    fclose(out);
    CHECK_STR(text, want);
    free(text);
    nsc_report_free(&r);
    nsc_trace_close(t);
}

static void test_reports_by_hand(void)
{
    /* Recursion counts once. */
    check_report("a(0 a(10 )30 )100", 0, UINT64_MAX, "a2:100/100 20..100 b0");
    /* A window clips the sums, not the durations; its end is a bound. */
    check_report("a(0 b(10 )30 b(40 )80 )100", 20, 60, "a1:40/10 60..60 b1, b2:30/30 20..20 b1");
    /* Calls that only touch the window are outside; a call of no length inside counts. */
    check_report("a(0 )20 b(20 )20 c(60 )70", 20, 60, "b1:0/0 0..0 b0");
    check_report("a(0 )20 b(30 )60", 20, 60, "b1:30/30 30..30 b0");
    /* Recursion through a late exit counts once, too. */
    check_report("a(0 )10 a(20 )30 a!50", 0, UINT64_MAX, "a3:50/50 10..50 b1");
    check_report("b(0 a(10 )20 L30 a(40 )50 a!60 )70", 0, UINT64_MAX,
                 "a3:40/40 10..30 b1, b1:70/30 70..70 b0");
}

/* A trace of one thread that the caller writes by hand, at the path of all tests. */
static struct nsc_writer *begin_by_hand(struct model_thread *t)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_writer *w;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, t, 1, RANDOM_FUNCTIONS);
    return w;
}

static struct nsc_trace *end_by_hand(struct nsc_writer *w, struct nsc_lane *lane, uint64_t ticks)
{
    struct nsc_trace *trace = NULL;

    nsc_lane_close(lane, ticks);
    CHECK(nsc_writer_finish(w, NULL) == 0 && nsc_trace_open(path, 0, &trace, NULL) == 0);
    return trace;
}

static void test_deep(void)
{
    const uint32_t deep = 1000000;
    struct model_thread t = {0};
    struct nsc_writer *w = begin_by_hand(&t);
    struct nsc_trace *trace;
    struct nsc_selection s;
    struct nsc_report r = {0};
    struct nsc_tree tree = {0};

    nsc_selection_init(&s);
    for (uint32_t i = 0; i < deep; i++)
        nsc_lane_enter(t.lane, i, i % 2, 0);
    for (uint32_t i = 0; i < deep; i++)
        nsc_lane_exit(t.lane, deep + i);
    trace = end_by_hand(w, t.lane, 2ull * deep);
    CHECK(nsc_report_make(trace, &s, false, &r, NULL) == 0);
    CHECK_U64(r.calls, deep);
    CHECK_U64(r.rows[0].total_ns, 2 * deep - 1);
    CHECK_U64(r.rows[0].self_ns + r.rows[1].self_ns, 2 * deep - 1);
    CHECK(nsc_tree_make(trace, &s, NULL, &tree, NULL) == 0);
    CHECK_U64(tree.folded_calls, deep - NSC_TREE_DEPTH_MAX);
    CHECK_U64(tree.nodes[0].total_ticks, 2 * deep - 1);
    CHECK(tree.count <= NSC_TREE_DEPTH_MAX + 1);
    nsc_tree_free(&tree);
    nsc_report_free(&r);
    nsc_trace_close(trace);
}

/* Recursion that shares one node is one level: what it calls at its far end has its branch. */
static void test_deep_folded(void)
{
    struct nsc_tree_options fold = {.fold_recursion = true};
    const uint32_t deep = 10000;
    struct model_thread t = {0};
    struct nsc_writer *w = begin_by_hand(&t);
    struct nsc_trace *trace;
    struct nsc_selection s;
    struct nsc_tree tree = {0};

    nsc_selection_init(&s);
    for (uint32_t i = 0; i < deep; i++)
        nsc_lane_enter(t.lane, i, 0, 0);
    nsc_lane_enter(t.lane, deep, 1, 0);
    nsc_lane_exit(t.lane, deep + 5);
    for (uint32_t i = 0; i < deep; i++)
        nsc_lane_exit(t.lane, deep + 5 + i);
    trace = end_by_hand(w, t.lane, 3ull * deep);
    CHECK(nsc_tree_make(trace, &s, &fold, &tree, NULL) == 0);
    CHECK_U64(tree.folded_calls, 0);
    CHECK_U64(tree.count, 3);
    CHECK_U64(tree.nodes[tree.nodes[0].first_child].calls, deep);
    CHECK_U64(tree.nodes[tree.nodes[tree.nodes[0].first_child].first_child].total_ticks, 5);
    nsc_tree_free(&tree);
    nsc_trace_close(trace);
}

/* What a window must find, from all calls of the trace: no seeking, no clipping on the way. */
struct window_check {
    uint64_t from, to;
    uint64_t calls, inside, durations;
};

static bool add_overlap(void *context, const struct nsc_call *c)
{
    struct window_check *w = context;
    uint64_t start = c->start_ticks > w->from ? c->start_ticks : w->from;
    uint64_t end = c->end_ticks < w->to ? c->end_ticks : w->to;

    if (end > start) {
        w->calls++;
        w->inside += end - start;
        w->durations += end - c->start_ticks;
    }
    return true;
}

static void check_seek(struct nsc_trace *t, uint64_t from, uint64_t to)
{
    struct window_check want = {from, to, 0, 0, 0}, got = want;
    struct nsc_selection s;

    nsc_selection_init(&s);
    CHECK(nsc_calls_scan(t, &s, NSC_CALLS_BY_THREAD, NULL, add_overlap, &want, NULL) == 0);
    s.from_ticks = from;
    s.to_ticks = to;
    CHECK(nsc_calls_scan(t, &s, NSC_CALLS_BY_THREAD, NULL, add_overlap, &got, NULL) == 0);
    CHECK_U64(got.calls, want.calls);
    CHECK_U64(got.inside, want.inside);
    CHECK_U64(got.durations, want.durations);
}

/* Windows that begin in the middle of a long thread, where its stack comes from a chunk's head. */
static void test_seek(void)
{
    struct model_random r = {5};
    struct model_thread t = {0};
    struct nsc_writer *w = begin_by_hand(&t);
    struct nsc_trace *trace;
    uint32_t chunks = 0;
    uint64_t end;

    for (uint32_t i = 0; i < 600000; i++) {
        uint32_t limit = t.depth < 40 ? 600 : t.depth < 90 ? 500 : 100;

        t.ticks += 2 + 2 * (model_random(&r) % 20);
        if (t.depth < 5 || model_random(&r) % 1000 < limit) {
            nsc_lane_enter(t.lane, t.ticks, model_random(&r) % RANDOM_FUNCTIONS, 0);
            t.depth++;
        } else {
            nsc_lane_exit(t.lane, t.ticks);
            t.depth--;
        }
    }
    trace = end_by_hand(w, t.lane, t.ticks + 2);
    nsc_trace_chunks(trace, 0, &chunks);
    CHECK(chunks > 5);
    end = nsc_trace_info(trace)->end_ticks;
    /* Events lie at even ticks, the windows' borders between them. */
    for (uint64_t part = 0; part < 8; part++)
        check_seek(trace, (end / 8 * part) | 1, (end / 8 * part + end / 100) | 1);
    check_seek(trace, 1, end | 1);
    nsc_trace_close(trace);
}

static void test_top(void)
{
    struct nsc_calls_top top;

    for (unsigned key = 0; key <= NSC_CALLS_KEY_START; key++) {
        struct model_random r = {key};
        bool sorted = true;

        CHECK(nsc_calls_top_init(&top, (enum nsc_calls_key)key, 50) == 0);
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t start = model_random(&r) % 500;
            struct nsc_call call = {.number = i,
                                    .start_ticks = start,
                                    .end_ticks = start + (i * 37) % 1000,
                                    .self_ticks = (i * 53) % 1000};

            nsc_calls_top_offer(&top, &call);
        }
        nsc_calls_top_sort(&top);
        CHECK_U64(top.count, 50);
        CHECK_U64(top.seen, 1000);
        for (uint64_t i = 0; i < 50; i++) {
            const struct nsc_call *c = &top.calls[i];

            if (key == NSC_CALLS_KEY_START)
                sorted = sorted && (i == 0 || c[-1].start_ticks <= c->start_ticks);
            else
                sorted = sorted &&
                         (key == NSC_CALLS_KEY_SELF ? c->self_ticks
                                                    : c->end_ticks - c->start_ticks) == 999 - i;
        }
        CHECK(sorted);
        nsc_calls_top_free(&top);
    }
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/t.nst", folder);
    test_dist();
    test_trees_by_hand();
    test_reports_by_hand();
    test_random();
    test_chunk_borders();
    test_deep();
    test_deep_folded();
    test_seek();
    test_top();
    unlink(path);
    rmdir(folder);
    return t_done();
}
