/*
 * test_trace_diff.c - diff.h on random traces against analyze_oracle.h: every function and every
 * path of either trace, counted by hand; and which functions are taken for the same.
 */
#include <unistd.h>

#include "analyze/compare/trace_diff.h"
#include "tap.h"
#include "unit/rigs/analyze_random.h"

static char folder[] = "/tmp/nsc-test-diff-XXXXXX";
static char path[64];

/* ---- Random traces --------------------------------------------------------------------------- */

struct side {
    struct model_thread threads[RANDOM_THREADS];
    struct nsc_trace *trace;
    struct nsc_selection selection;
    struct oracle oracle;
};

static bool make_side(struct side *s, uint64_t seed, unsigned steps, uint64_t from, uint64_t to)
{
    memset(s, 0, sizeof *s);
    s->trace = random_trace(path, s->threads, seed, steps);
    if (s->trace == NULL)
        return false;
    nsc_selection_init(&s->selection);
    nsc_selection_window(&s->selection, s->trace, from, to);
    s->oracle.from = s->selection.from_ticks;
    s->oracle.to = s->selection.to_ticks;
    for (uint32_t i = 0; i < RANDOM_THREADS; i++)
        oracle_add_thread(&s->oracle, &s->threads[i], nsc_trace_thread(s->trace, i)->start_ticks,
                          NULL);
    return true;
}

static void free_side(struct side *s)
{
    for (uint32_t i = 0; i < RANDOM_THREADS; i++)
        model_free(&s->threads[i]);
    nsc_selection_free(&s->selection);
    nsc_trace_close(s->trace);
    free(s->oracle.calls);
}

/* The sums of the calls of one function, or on one path. */
static struct nsc_diff_sums count(const struct side *s, uint32_t function, const char *of_path)
{
    struct nsc_diff_sums sums = {0};

    for (size_t i = 0; i < s->oracle.count; i++) {
        const struct oracle_call *c = &s->oracle.calls[i];
        bool fits = c->function == function;

        if (of_path != NULL) {
            char *own = oracle_path(&s->oracle, i, false);

            fits = strcmp(own, of_path) == 0;
            free(own);
        }
        if (!fits)
            continue;
        sums.calls++;
        sums.self_ns += oracle_self(&s->oracle, i);
        if (of_path != NULL || oracle_is_outermost(&s->oracle, i))
            sums.total_ns += oracle_inside(&s->oracle, c);
    }
    return sums;
}

static void check_sums(const struct nsc_diff_sums *got, struct nsc_diff_sums want)
{
    CHECK_U64(got->calls, want.calls);
    CHECK_U64(got->total_ns, want.total_ns);
    CHECK_U64(got->self_ns, want.self_ns);
}

/* The function that a row is, by its number in the name. */
static uint32_t number_of(const struct nsc_diff *d, uint32_t row)
{
    return (uint32_t)strtoul(d->rows[row].name + strlen("function_"), NULL, 10);
}

static char *path_of(const struct nsc_diff *d, uint32_t node)
{
    char *text = strdup(""), *longer;

    for (uint32_t at = node; at != NSC_NO_ID; at = d->nodes[at].parent) {
        if (asprintf(&longer, "%u/%s", number_of(d, d->nodes[at].row), text) < 0)
            abort();
        free(text);
        text = longer;
    }
    return text;
}

static void check_rows(const struct side *sides, const struct nsc_diff *d)
{
    uint64_t calls[NSC_DIFF_SIDES] = {0};

    for (uint32_t i = 0; i < d->row_count; i++) {
        for (unsigned side = 0; side < NSC_DIFF_SIDES; side++) {
            const struct nsc_diff_sums *sums = &d->rows[i].sums[side];

            check_sums(sums, count(&sides[side], number_of(d, i), NULL));
            CHECK_U64(d->rows[i].functions[side], sums->calls > 0 ? number_of(d, i) : NSC_NO_ID);
            calls[side] += sums->calls;
        }
        CHECK(!d->rows[i].shared);
        if (i > 0)
            CHECK(strcmp(d->rows[i - 1].name, d->rows[i].name) < 0);
    }
    for (unsigned side = 0; side < NSC_DIFF_SIDES; side++) {
        CHECK_U64(calls[side], sides[side].oracle.count);
        CHECK_U64(d->sides[side].calls, sides[side].oracle.count);
    }
}

static uint64_t weight(const struct nsc_diff_node *n)
{
    return n->sums[n->sums[1].total_ns > n->sums[0].total_ns].total_ns;
}

static void check_nodes(const struct side *sides, const struct nsc_diff *d)
{
    uint64_t calls[NSC_DIFF_SIDES] = {0};
    uint32_t *last = calloc(d->node_count + 1u, sizeof *last); /* child of each, from 1 */

    for (uint32_t i = 0; i < d->node_count && last != NULL; i++) {
        const struct nsc_diff_node *n = &d->nodes[i];
        uint32_t above = n->parent == NSC_NO_ID ? d->node_count : n->parent;
        char *text = path_of(d, i);

        for (unsigned side = 0; side < NSC_DIFF_SIDES; side++) {
            check_sums(&n->sums[side], count(&sides[side], 0, text));
            calls[side] += n->sums[side].calls;
        }
        free(text);
        CHECK(n->parent == NSC_NO_ID || n->parent < i);
        CHECK_U64(n->depth, n->parent == NSC_NO_ID ? 0 : d->nodes[n->parent].depth + 1);
        CHECK(last[above] == 0 || weight(&d->nodes[last[above] - 1]) >= weight(n));
        last[above] = i + 1;
    }
    for (unsigned side = 0; side < NSC_DIFF_SIDES; side++)
        CHECK_U64(calls[side], sides[side].oracle.count);
    free(last);
}

/* The order by brute force: nothing before a row differs less. */
static void check_order(const struct nsc_diff *d, enum nsc_diff_key key)
{
    uint32_t *order = nsc_diff_order(d, key);
    uint64_t seen = 0;

    CHECK(order != NULL);
    for (uint32_t i = 0; i < d->row_count && order != NULL; i++) {
        seen |= 1ull << order[i];
        if (i == 0)
            continue;
        if (key == NSC_DIFF_BY_NAME)
            CHECK_U64(order[i], i);
        else
            CHECK(nsc_diff_distance(d->rows[order[i - 1]].sums, key) >=
                  nsc_diff_distance(d->rows[order[i]].sums, key));
    }
    CHECK_U64(seen, (1ull << d->row_count) - 1);
    free(order);
}

static void check_choice(const struct nsc_diff *d, enum nsc_diff_key key, size_t limit)
{
    uint8_t *chosen = nsc_diff_choose(d, key, limit, 0);
    uint64_t least = UINT64_MAX, most = 0;
    size_t taken = 0, differing = 0;

    CHECK(chosen != NULL);
    for (uint32_t i = 0; i < d->node_count && chosen != NULL; i++) {
        uint64_t distance = nsc_diff_distance(d->nodes[i].sums, key);

        differing += distance > 0;
        if (chosen[i] == NSC_DIFF_CHOSEN) {
            taken++;
            least = distance < least ? distance : least;
        } else {
            most = distance > most ? distance : most;
        }
        if (chosen[i] != 0 && d->nodes[i].parent != NSC_NO_ID)
            CHECK(chosen[d->nodes[i].parent] != 0);
    }
    CHECK_U64(taken, differing < limit ? differing : limit);
    CHECK(least > 0 && least >= most);
    free(chosen);
}

static void test_random(uint64_t seed, uint64_t from, uint64_t to)
{
    struct side sides[NSC_DIFF_SIDES];
    const struct nsc_selection *selections[] = {&sides[0].selection, &sides[1].selection};
    struct nsc_trace *traces[NSC_DIFF_SIDES];
    struct nsc_diag diag = {0};
    struct nsc_diff d = {0};
    bool made = true;

    for (unsigned i = 0; i < NSC_DIFF_SIDES; i++) {
        made = make_side(&sides[i], seed * 2 + i, i == 0 ? 120 : 90, from, to) && made;
        traces[i] = sides[i].trace;
    }
    CHECK(made);
    if (!made)
        return;
    CHECK(nsc_diff_make(traces, selections, &d, NULL, &diag) == 0);
    check_rows(sides, &d);
    check_nodes(sides, &d);
    for (enum nsc_diff_key key = NSC_DIFF_BY_SELF; key <= NSC_DIFF_BY_NAME; key++) {
        check_order(&d, key);
        check_choice(&d, key, 5);
    }
    nsc_diff_free(&d);
    for (unsigned i = 0; i < NSC_DIFF_SIDES; i++)
        free_side(&sides[i]);
}

/* ---- Names ----------------------------------------------------------------------------------- */

struct named {
    const char *name, *module, *file; /* module NULL: none */
};

/* A trace in which each function is called once, the i-th for i + 1 ticks. */
static struct nsc_trace *named_trace(const char *program, const struct named *functions, size_t n)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = program};
    struct nsc_thread thread = {.tid = 1, .name = ""};
    struct nsc_diag diag = {0};
    struct nsc_trace *t = NULL;
    struct nsc_lane *lane;
    struct nsc_writer *w;
    uint64_t ticks = 100;
    uint32_t id;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        return NULL;
    nsc_writer_add_process(w, &process, &id);
    nsc_writer_add_thread(w, &thread, &id, &lane);
    for (size_t i = 0; i < n; i++) {
        struct nsc_function f = {.name = functions[i].name,
                                 .symbol = functions[i].name,
                                 .file = functions[i].file,
                                 .module = NSC_NO_ID,
                                 .va = 0x1000 + i};
        struct nsc_module module = {.path = functions[i].module};

        if (module.path != NULL)
            nsc_writer_add_module(w, &module, &f.module);
        nsc_writer_add_function(w, &f, &id);
        nsc_lane_enter(lane, ticks, id, 0);
        ticks += i + 1;
        nsc_lane_exit(lane, ticks);
    }
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

static void test_names(void)
{
    static const struct named old[] = {
        {"init", "/old/prog", "/old/a.c"}, {"init", "/old/prog", "/old/b.c"},
        {"init", "/lib/x.so", "/x/a.c"},   {"once", "/old/prog", "/old/a.c"},
        {"same", "/old/prog", "/old/a.c"}, {"same", "/old/prog", "/older/a.c"},
    };
    static const struct named new[] = {
        {"once", "/lib/y.so", "/y/z.c"},
        {"init", "/new/prog2", "/new/b.c"},
        {"init", "/usr/lib/x.so", "/x/a.c"},
        {"same", "/new/prog2", "/new/a.c"},
    };
    /* What is the same as what, by the ids of both, in the order of the rows. */
    static const uint32_t want[][2] = {{0, NSC_NO_ID}, {1, 1}, {2, 2}, {3, 0}, {4, 3}};
    struct nsc_trace *traces[] = {
        named_trace("/old/prog", old, sizeof old / sizeof old[0]),
        named_trace("/new/prog2", new, sizeof new / sizeof new[0]),
    };
    struct nsc_selection everything;
    const struct nsc_selection *selections[] = {&everything, &everything};
    struct nsc_diag diag = {0};
    struct nsc_diff d = {0};

    nsc_selection_init(&everything);
    CHECK(traces[0] != NULL && traces[1] != NULL);
    CHECK(nsc_diff_make(traces, selections, &d, NULL, &diag) == 0);
    CHECK_U64(d.row_count, 5);
    for (uint32_t i = 0; i < d.row_count && i < 5; i++) {
        CHECK_U64(d.rows[i].functions[0], want[i][0]);
        CHECK_U64(d.rows[i].functions[1], want[i][1]);
        CHECK(d.rows[i].shared == (i < 3));
    }
    /* Two that nothing tells apart are one. */
    check_sums(&d.rows[4].sums[0], (struct nsc_diff_sums){2, 11, 11});
    check_sums(&d.rows[4].sums[1], (struct nsc_diff_sums){1, 4, 4});
    nsc_diff_free(&d);
    nsc_trace_close(traces[0]);
    nsc_trace_close(traces[1]);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/t.nst", folder);
    for (uint64_t seed = 1; seed <= 8; seed++)
        test_random(seed, 0, UINT64_MAX);
    for (uint64_t seed = 9; seed <= 12; seed++)
        test_random(seed, 1500, 3000);
    test_names();
    unlink(path);
    rmdir(folder);
    return t_done();
}
