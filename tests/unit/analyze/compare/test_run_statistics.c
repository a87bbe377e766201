/*
 * test_run_statistics.c - runs.h against sums by hand: random runs of functions with few names and
 * places, each run's rows compared with a plain two-pass mean and deviation over all of them.
 */
#include <math.h>

#include "analyze/compare/run_statistics.h"
#include "tap.h"
#include "unit/rigs/analyze_random.h"

#define NAMES     6u
#define PLACES    4u
#define RUNS_MOST 20u
#define EACH_MOST 24u

static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f"};
static const char *const modules[PLACES] = {"", "x.so", "x.so", "y.so"};
static const char *const files[PLACES] = {"p.c", "p.c", "q.c", ""};

struct model {
    uint32_t runs;
    /* By run, name and place; times is how many functions of the run are there. */
    uint64_t values[RUNS_MOST][NAMES][PLACES][NSC_RUNS_MEASURES];
    unsigned times[RUNS_MOST][NAMES][PLACES];
};

static void add_run(struct model *m, struct nsc_runs *runs, struct model_random *r)
{
    struct nsc_runs_entry entries[EACH_MOST];
    uint32_t run = m->runs++, count = model_random(r) % EACH_MOST;

    for (uint32_t i = 0; i < count; i++) {
        /* Later names have several places in a run, the first ones do not. */
        uint32_t name = model_random(r) % NAMES;
        uint32_t place = name < 3 ? run % PLACES : model_random(r) % PLACES;

        if (name < 3 && m->times[run][name][place] > 0)
            name = NAMES - 1;
        entries[i].who = (struct nsc_same_function){names[name], modules[place], files[place]};
        m->times[run][name][place]++;
        for (unsigned k = 0; k < NSC_RUNS_MEASURES; k++) {
            entries[i].values[k] = (uint64_t)model_random(r) << (model_random(r) % 20);
            m->values[run][name][place][k] += entries[i].values[k];
        }
    }
    CHECK(nsc_runs_add(runs, entries, count) == 0);
}

/* Whether a run has several functions of that name, so that places tell them apart. */
static bool is_split(const struct model *m, unsigned name)
{
    for (uint32_t run = 0; run < m->runs; run++) {
        unsigned of = 0;

        for (unsigned place = 0; place < PLACES; place++)
            of += m->times[run][name][place];
        if (of > 1)
            return true;
    }
    return false;
}

static bool is_near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y)) + 1e-6;
}

/* Compare a row with the runs' values of a name at one place, or at all (place PLACES). */
static void check_row(const struct model *m, const struct nsc_runs_row *row, unsigned name,
                      unsigned place)
{
    unsigned first = place == PLACES ? 0 : place, last = place == PLACES ? PLACES - 1 : place;

    for (unsigned k = 0; k < NSC_RUNS_MEASURES; k++) {
        uint64_t values[RUNS_MOST] = {0}, min = UINT64_MAX, max = 0;
        double sum = 0, squares = 0, mean;
        uint32_t with = 0;

        for (uint32_t run = 0; run < m->runs; run++) {
            unsigned times = 0;

            for (unsigned p = first; p <= last; p++) {
                values[run] += m->values[run][name][p][k];
                times += m->times[run][name][p];
            }
            with += times > 0;
            sum += (double)values[run];
            min = values[run] < min ? values[run] : min;
            max = values[run] > max ? values[run] : max;
        }
        mean = sum / m->runs;
        for (uint32_t run = 0; run < m->runs; run++)
            squares += ((double)values[run] - mean) * ((double)values[run] - mean);
        CHECK_U64(row->runs, with);
        CHECK_U64(row->values[k].min, min);
        CHECK_U64(row->values[k].max, max);
        CHECK(is_near(row->values[k].mean, mean));
        CHECK(is_near(row->values[k].spread, m->runs > 1 ? sqrt(squares / (m->runs - 1)) : 0));
    }
}

static void check_rows(const struct model *m, const struct nsc_runs *runs)
{
    struct nsc_runs_row *rows;
    size_t count, at = 0;

    CHECK(nsc_runs_rows(runs, (struct nsc_runs_order){NSC_RUNS_MEASURES, false}, &rows, &count) ==
          0);
    for (unsigned name = 0; name < NAMES; name++) {
        bool split = is_split(m, name);
        size_t from = at;

        while (at < count && strcmp(rows[at].name, names[name]) == 0) {
            unsigned place = PLACES;

            for (unsigned p = 0; split && p < PLACES; p++)
                if (strcmp(rows[at].module, modules[p]) == 0 &&
                    strcmp(rows[at].file, files[p]) == 0)
                    place = p;
            CHECK(split == (place < PLACES));
            check_row(m, &rows[at++], name, place);
        }
        CHECK(split || at - from <= 1);
        for (size_t i = from; i < at; i++)
            CHECK(rows[i].shared == (at - from > 1));
    }
    CHECK_U64(at, count);
    free(rows);
}

static void test_random_runs(uint64_t seed, uint32_t count)
{
    struct model_random r = {seed * 7919 + 1};
    struct model *m = calloc(1, sizeof *m);
    struct nsc_runs *runs = nsc_runs_new();

    CHECK(m != NULL && runs != NULL);
    while (m->runs < count) {
        add_run(m, runs, &r);
        check_rows(m, runs);
    }
    nsc_runs_free(runs);
    free(m);
}

/* Sorting, and one number over all functions. */
static void test_order(void)
{
    struct nsc_runs *runs = nsc_runs_new();
    struct nsc_runs_row *rows;
    size_t count;

    for (unsigned i = 0; i < 3; i++) {
        struct nsc_runs_entry entries[] = {
            {{"steady", "", ""}, {1, 100, 5}},
            {{"shaky", "", ""}, {2, 10 + 60 * i, 9}},
        };

        CHECK(nsc_runs_add(runs, entries, 2) == 0);
    }
    CHECK(nsc_runs_rows(runs, (struct nsc_runs_order){NSC_RUNS_TOTAL, false}, &rows, &count) == 0);
    CHECK(count == 2 && strcmp(rows[0].name, "steady") == 0);
    free(rows);
    CHECK(nsc_runs_rows(runs, (struct nsc_runs_order){NSC_RUNS_TOTAL, true}, &rows, &count) == 0);
    CHECK(count == 2 && strcmp(rows[0].name, "shaky") == 0);
    CHECK(is_near(rows[0].values[NSC_RUNS_TOTAL].mean, 70));
    CHECK(is_near(rows[0].values[NSC_RUNS_TOTAL].spread, 60));
    free(rows);
    CHECK(nsc_runs_rows(runs, (struct nsc_runs_order){NSC_RUNS_CALLS, false}, &rows, &count) == 0);
    CHECK(count == 2 && strcmp(rows[0].name, "shaky") == 0);
    free(rows);
    CHECK(is_near(nsc_runs_whole(runs, NSC_RUNS_TOTAL).mean, 170));
    CHECK(is_near(nsc_runs_whole(runs, NSC_RUNS_TOTAL).spread, 60));
    CHECK_U64(nsc_runs_whole(runs, NSC_RUNS_SELF).max, 14);
    nsc_runs_free(runs);
    nsc_runs_free(NULL);
}

/* Numbers of which a sum of squares would leave nothing of the difference. */
static void test_far_from_zero(void)
{
    struct nsc_runs *runs = nsc_runs_new();
    struct nsc_runs_row *rows;
    size_t count;

    for (unsigned i = 0; i < 4; i++) {
        struct nsc_runs_entry entry = {{"f", "", ""}, {1, (UINT64_C(1) << 52) + i, 0}};

        CHECK(nsc_runs_add(runs, &entry, 1) == 0);
    }
    CHECK(nsc_runs_rows(runs, (struct nsc_runs_order){NSC_RUNS_TOTAL, false}, &rows, &count) == 0);
    CHECK(count == 1 && fabs(rows[0].values[NSC_RUNS_TOTAL].spread - 1.2909944) < 0.01);
    free(rows);
    nsc_runs_free(runs);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        test_random_runs(seed, 1 + (uint32_t)(seed * 5) % RUNS_MOST);
    test_order();
    test_far_from_zero();
    return t_done();
}
