/*
 * test_sandwich.c - callers and callees of a function, the call tree upside down and bars of a
 * distribution, against an oracle that works from the definitions.
 */
#include <unistd.h>

#include "analyze/functions/duration_dist.h"
#include "analyze/paths/inverted_tree.h"
#include "analyze/paths/sandwich.h"
#include "tap.h"
#include "unit/rigs/analyze_random.h"

#define ROUNDS 30u

static char path[] = "/tmp/nsc-test-sides-XXXXXX";

struct sum {
    uint64_t calls, total;
};

static uint32_t caller_of(const struct oracle *o, size_t index)
{
    return o->calls[index].caller < 0 ? RANDOM_FUNCTIONS
                                      : o->calls[o->calls[index].caller].function;
}

/* Whether a call lies in one of the same function that was called by the same. */
static bool is_nested(const struct oracle *o, size_t index)
{
    for (long i = o->calls[index].holder; i >= 0; i = o->calls[i].holder)
        if (o->calls[i].function == o->calls[index].function &&
            caller_of(o, (size_t)i) == caller_of(o, index))
            return true;
    return false;
}

static bool rows_agree(const struct nsc_sandwich_row *rows, uint32_t count, const struct sum *want)
{
    uint32_t there = 0;

    for (uint32_t i = 0; i <= RANDOM_FUNCTIONS; i++)
        there += want[i].calls > 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = rows[i].function == NSC_NO_ID ? RANDOM_FUNCTIONS : rows[i].function;

        if (rows[i].calls != want[at].calls || rows[i].total_ticks != want[at].total ||
            (i > 0 && rows[i].total_ticks > rows[i - 1].total_ticks)) {
            printf("# function %u: %llu calls %llu, want %llu %llu\n", at,
                   (unsigned long long)rows[i].calls, (unsigned long long)rows[i].total_ticks,
                   (unsigned long long)want[at].calls, (unsigned long long)want[at].total);
            return false;
        }
    }
    return count == there;
}

static bool sandwich_agrees(struct nsc_trace *t, const struct nsc_selection *s,
                            const struct oracle *o, uint32_t function)
{
    struct sum callers[RANDOM_FUNCTIONS + 1] = {{0, 0}}, callees[RANDOM_FUNCTIONS + 1] = {{0, 0}};
    struct nsc_sandwich got;
    uint64_t calls = 0, total = 0, self = 0;
    bool fits;

    for (size_t i = 0; i < o->count; i++) {
        const struct oracle_call *c = &o->calls[i];
        uint64_t inside = is_nested(o, i) ? 0 : oracle_inside(o, c);

        if (c->function == function) {
            callers[caller_of(o, i)].calls++;
            callers[caller_of(o, i)].total += inside;
            calls++;
            total += oracle_is_outermost(o, i) ? oracle_inside(o, c) : 0;
            self += oracle_self(o, i);
        }
        if (caller_of(o, i) == function) {
            callees[c->function].calls++;
            callees[c->function].total += inside;
        }
    }
    if (nsc_sandwich_make(t, s, function, &got, NULL) != 0)
        return false;
    fits = got.calls == calls && got.total_ticks == total && got.self_ticks == self &&
           rows_agree(got.callers, got.caller_count, callers) &&
           rows_agree(got.callees, got.callee_count, callees);
    nsc_sandwich_free(&got);
    return fits;
}

/* The node of a path of functions from the call upwards, or 0. */
static uint32_t find_node(const struct nsc_tree *tree, const struct oracle *o, long index)
{
    uint32_t node = 0;

    for (; index >= 0; index = o->calls[index].holder) {
        uint32_t child = tree->nodes[node].first_child;

        while (child != 0 && tree->nodes[child].function != o->calls[index].function)
            child = tree->nodes[child].next_sibling;
        if (child == 0)
            return 0;
        node = child;
    }
    return node;
}

/* @leaf: RANDOM_FUNCTIONS for all. */
static bool invert_agrees(struct nsc_trace *t, const struct nsc_selection *s,
                          const struct oracle *o, uint32_t leaf)
{
    uint8_t leaves[RANDOM_FUNCTIONS + 1] = {0};
    bool all = leaf == RANDOM_FUNCTIONS, fits = true;
    uint64_t calls = 0, self = 0, node_calls = 0, node_self = 0;
    struct nsc_tree tree, inverted;

    leaves[leaf] = 1;
    if (nsc_tree_make(t, s, NULL, &tree, NULL) != 0 ||
        nsc_tree_invert(&tree, t, all ? NULL : leaves, &inverted) != 0)
        return false;
    for (size_t i = 0; i < o->count; i++) {
        if (!all && o->calls[i].function != leaf)
            continue;
        calls++;
        self += oracle_self(o, i);
        fits = fits && find_node(&inverted, o, (long)i) != 0;
    }
    /* The topmost nodes have what their functions have; a path's, what its callers leave over. */
    for (uint32_t n = inverted.nodes[0].first_child; n != 0; n = inverted.nodes[n].next_sibling) {
        uint64_t total = 0;

        for (size_t i = 0; i < o->count; i++)
            if (o->calls[i].function == inverted.nodes[n].function)
                total += all                         ? oracle_self(o, i)
                         : oracle_is_outermost(o, i) ? oracle_inside(o, &o->calls[i])
                                                     : 0;
        fits = fits && inverted.nodes[n].total_ticks == total;
        node_calls += inverted.nodes[n].calls;
        node_self += nsc_tree_self_ticks(&inverted.nodes[n]);
    }
    /* Each node but the topmost: the calls that came this way, counted one by one. */
    for (uint32_t n = 1; n < inverted.count && fits; n++) {
        uint64_t came = 0;

        for (size_t i = 0; i < o->count; i++) {
            uint32_t at =
                o->calls[i].function < RANDOM_FUNCTIONS ? find_node(&inverted, o, (long)i) : 0;

            if (!all && o->calls[i].function != leaf)
                continue;
            while (at != 0 && at != n && at != NSC_NO_ID)
                at = inverted.nodes[at].parent;
            came += at == n;
        }
        fits = inverted.nodes[n].calls == came;
    }
    nsc_tree_free(&tree);
    nsc_tree_free(&inverted);
    return fits && calls == node_calls && self == node_self;
}

static bool all_agree(struct nsc_trace *t, struct model_thread *threads, struct nsc_selection *s)
{
    struct oracle o = {.from = s->from_ticks, .to = s->to_ticks};
    bool fits = true;

    for (uint32_t i = 0; i < RANDOM_THREADS; i++)
        oracle_add_thread(&o, &threads[i], nsc_trace_thread(t, i)->start_ticks, s->hidden);
    for (uint32_t i = 0; i < RANDOM_FUNCTIONS && fits; i++)
        fits = sandwich_agrees(t, s, &o, i) && invert_agrees(t, s, &o, i);
    fits = fits && invert_agrees(t, s, &o, RANDOM_FUNCTIONS);
    free(o.calls);
    return fits;
}

static void test_random(void)
{
    unsigned whole = 0, window = 0, filter = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct model_random r = {round + 77};
        struct model_thread threads[RANDOM_THREADS];
        struct nsc_trace *t = random_trace(path, threads, round, 30 + round * 4);
        uint8_t hidden[RANDOM_FUNCTIONS];
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
        nsc_trace_close(t);
        for (unsigned i = 0; i < RANDOM_THREADS; i++)
            model_free(&threads[i]);
    }
    CHECK_U64(whole, ROUNDS);
    CHECK_U64(window, ROUNDS);
    CHECK_U64(filter, ROUNDS);
}

/* ---- Bars ------------------------------------------------------------------------------------ */

struct bars {
    uint64_t next, count, widest;
    bool fits;
    const uint64_t *values;
    size_t value_count;
};

static void check_bar(void *context, uint64_t from, uint64_t to, uint64_t count)
{
    struct bars *b = context;
    uint64_t there = 0;

    for (size_t i = 0; i < b->value_count; i++)
        there += b->values[i] >= from && b->values[i] <= to;
    b->fits = b->fits && from >= b->next && to >= from && to - from <= from / 4 && there == count;
    b->next = to + 1;
    b->count += count;
}

static void check_bars(size_t count, unsigned seed)
{
    struct model_random r = {seed};
    uint64_t *values = calloc(count, sizeof *values);
    struct bars b = {.fits = true, .values = values, .value_count = count};
    struct nsc_dist d;

    nsc_dist_init(&d);
    for (size_t i = 0; i < count; i++) {
        uint64_t wide = (uint64_t)model_random(&r) << 33 ^ (uint64_t)model_random(&r) << 2;

        values[i] = wide >> model_random(&r) % 64;
        nsc_dist_add(&d, values[i]);
    }
    nsc_dist_each_bar(&d, check_bar, &b);
    CHECK(b.fits);
    CHECK_U64(b.count, count);
    nsc_dist_free(&d);
    free(values);
}

int main(void)
{
    close(mkstemp(path));
    test_random();
    check_bars(0, 1);
    check_bars(NSC_DIST_EXACT, 2);
    check_bars(5000, 3);
    unlink(path);
    return t_done();
}
