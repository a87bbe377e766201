/* run_statistics.c - statistics over many recordings; see run_statistics.h. */
#include "analyze/compare/run_statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/sort.h"

/* Statistics of a value over the runs that have it. Uses Welford's algorithm, which avoids
 * subtracting nearly equal numbers. */
struct tally {
    double mean, squares; /* squares: sum of squared distances from the mean */
    uint64_t min, max;
};

/* A function, with its module and file. Several of one name may later be treated as the same. */
struct kept {
    struct nsc_same_function who;
    char *texts; /* the strings of `who`; owned */
    uint32_t runs;
    bool ambiguous; /* some run had several functions of that name */
    struct tally values[NSC_RUNS_MEASURES];
};

struct nsc_runs {
    struct kept *kept; /* sorted by nsc_same_function_compare() */
    size_t count;
    uint32_t runs;
    struct tally whole[NSC_RUNS_MEASURES];
};

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Add a run's value to the statistics of @runs earlier runs. */
static void add_value(struct tally *t, uint32_t runs, uint64_t value)
{
    double distance = (double)value - t->mean;

    t->mean += distance / (runs + 1);
    t->squares += distance * ((double)value - t->mean);
    t->min = runs == 0 || value < t->min ? value : t->min;
    t->max = value > t->max ? value : t->max;
}

/* Merge the statistics of @more other runs into those of @runs runs. */
static void join(struct tally *t, uint32_t runs, const struct tally *other, uint32_t more)
{
    double all = (double)runs + more, distance = other->mean - t->mean;

    if (more == 0)
        return;
    t->squares += other->squares + distance * distance * runs * more / all;
    t->mean += distance * more / all;
    t->min = runs == 0 || other->min < t->min ? other->min : t->min;
    t->max = other->max > t->max ? other->max : t->max;
}

static struct nsc_runs_value value_of(const struct tally *t, uint32_t runs)
{
    return (struct nsc_runs_value){.mean = t->mean,
                                   .spread = runs > 1 ? sqrt(t->squares / (runs - 1)) : 0,
                                   .min = t->min,
                                   .max = t->max};
}

/* ---- Runs ------------------------------------------------------------------------------------ */

struct nsc_runs *nsc_runs_new(void)
{
    return calloc(1, sizeof(struct nsc_runs));
}

void nsc_runs_free(struct nsc_runs *runs)
{
    for (size_t i = 0; runs != NULL && i < runs->count; i++)
        free(runs->kept[i].texts);
    if (runs != NULL)
        free(runs->kept);
    free(runs);
}

/* Create the entry of a function that no earlier run had. */
static int keep(struct kept *new, const struct nsc_same_function *who)
{
    size_t name = strlen(who->name) + 1, module = strlen(who->module) + 1;
    size_t file = strlen(who->file) + 1;
    char *texts = malloc(name + module + file);

    if (texts == NULL)
        return -ENOMEM;
    memcpy(texts, who->name, name);
    memcpy(texts + name, who->module, module);
    memcpy(texts + name + module, who->file, file);
    *new = (struct kept){.who = {texts, texts + name, texts + name + module}, .texts = texts};
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const struct nsc_runs_entry *x = a, *y = b;

    return nsc_same_function_compare(&x->who, &y->who);
}

static bool same_name(const struct nsc_same_function *x, const struct nsc_same_function *y)
{
    return strcmp(x->name, y->name) == 0;
}

/* Add up entries of the same function. Returns the number of entries left. @ambiguous: receives one
 * flag for each of these. */
static size_t add_up(struct nsc_runs_entry *entries, size_t count, bool *ambiguous)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        const struct nsc_same_function *who = &entries[i].who;
        bool several = (i > 0 && same_name(&entries[i - 1].who, who)) ||
                       (i + 1 < count && same_name(&entries[i + 1].who, who));

        if (left > 0 && nsc_same_function_compare(&entries[left - 1].who, who) == 0) {
            for (unsigned m = 0; m < NSC_RUNS_MEASURES; m++)
                entries[left - 1].values[m] += entries[i].values[m];
            continue;
        }
        entries[left] = entries[i];
        ambiguous[left++] = several;
    }
    return left;
}

/* Merge the sorted entries of a run into the sorted list of kept functions. */
static int merge(struct nsc_runs *runs, const struct nsc_runs_entry *entries, const bool *ambiguous,
                 size_t count)
{
    struct kept *all = calloc(runs->count + count + 1, sizeof(*all));
    size_t old = 0, n = 0;
    int error = 0;

    if (all == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count && error == 0; i++) {
        int order = -1;

        while (old < runs->count &&
               (order = nsc_same_function_compare(&runs->kept[old].who, &entries[i].who)) < 0)
            all[n++] = runs->kept[old++];
        if (old < runs->count && order == 0)
            all[n] = runs->kept[old++];
        else
            error = keep(&all[n], &entries[i].who);
        if (error != 0)
            break;
        for (unsigned m = 0; m < NSC_RUNS_MEASURES; m++)
            add_value(&all[n].values[m], all[n].runs, entries[i].values[m]);
        all[n].runs++;
        all[n++].ambiguous |= ambiguous[i];
    }
    while (old < runs->count)
        all[n++] = runs->kept[old++];
    free(runs->kept);
    runs->kept = all;
    runs->count = n;
    return error;
}

int nsc_runs_add(struct nsc_runs *runs, struct nsc_runs_entry *entries, size_t count)
{
    bool *ambiguous = calloc(count + 1, sizeof(*ambiguous));
    uint64_t whole[NSC_RUNS_MEASURES] = {0};
    int error = -ENOMEM;

    if (count > 0)
        qsort(entries, count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < count; i++)
        for (unsigned m = 0; m < NSC_RUNS_MEASURES; m++)
            whole[m] += entries[i].values[m];
    if (ambiguous != NULL)
        error = merge(runs, entries, ambiguous, add_up(entries, count, ambiguous));
    free(ambiguous);
    if (error != 0)
        return error;
    for (unsigned m = 0; m < NSC_RUNS_MEASURES; m++)
        add_value(&runs->whole[m], runs->runs, whole[m]);
    runs->runs++;
    return 0;
}

int nsc_runs_add_report(struct nsc_runs *runs, const struct nsc_trace *t,
                        const struct nsc_report *r)
{
    struct nsc_runs_entry *entries = calloc(r->row_count + 1, sizeof(*entries));
    const char **modules = nsc_same_function_modules(t);
    size_t count = 0;
    int error = -ENOMEM;

    for (size_t i = 0; entries != NULL && modules != NULL && i < r->row_count; i++) {
        const struct nsc_report_row *row = &r->rows[i];

        if (row->calls > 0)
            entries[count++] =
                (struct nsc_runs_entry){.who = nsc_same_function_find(t, modules, row->function),
                                        .values = {[NSC_RUNS_CALLS] = row->calls,
                                                   [NSC_RUNS_TOTAL] = row->total_ns,
                                                   [NSC_RUNS_SELF] = row->self_ns}};
    }
    if (entries != NULL && modules != NULL)
        error = nsc_runs_add(runs, entries, count);
    free(entries);
    free(modules);
    return error;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Make one row for @count functions of one name, or of one name and place, starting with @first. */
static void make_row(const struct nsc_runs *runs, const struct kept *first, size_t count,
                     struct nsc_runs_row *row)
{
    static const struct tally nothing;
    struct tally values[NSC_RUNS_MEASURES] = {0};

    *row = (struct nsc_runs_row){
        .name = first->who.name, .module = first->who.module, .file = first->who.file};
    for (size_t i = 0; i < count; i++) {
        for (unsigned m = 0; m < NSC_RUNS_MEASURES; m++)
            join(&values[m], row->runs, &first[i].values[m], first[i].runs);
        row->runs += first[i].runs;
    }
    for (unsigned m = 0; m < NSC_RUNS_MEASURES; m++) {
        join(&values[m], row->runs, &nothing, runs->runs - row->runs);
        row->values[m] = value_of(&values[m], runs->runs);
    }
}

/* Make the rows of the @count functions of one name. Returns the number of rows. */
static size_t make_rows(const struct nsc_runs *runs, const struct kept *first, size_t count,
                        struct nsc_runs_row *rows)
{
    bool ambiguous = false;

    for (size_t i = 0; i < count; i++)
        ambiguous |= first[i].ambiguous;
    if (!ambiguous) {
        make_row(runs, first, count, &rows[0]);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        make_row(runs, &first[i], 1, &rows[i]);
        rows[i].shared = count > 1;
    }
    return count;
}

static double weight(const struct nsc_runs_row *row, const struct nsc_runs_order *order)
{
    const struct nsc_runs_value *value = &row->values[order->measure];

    return order->by_spread ? value->spread : value->mean;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct nsc_runs_row *x = a, *y = b;
    const struct nsc_runs_order *order = context;
    struct nsc_same_function who[] = {{x->name, x->module, x->file}, {y->name, y->module, y->file}};

    if (order->measure < NSC_RUNS_MEASURES && weight(x, order) != weight(y, order))
        return weight(x, order) > weight(y, order) ? -1 : 1;
    return nsc_same_function_compare(&who[0], &who[1]);
}

int nsc_runs_rows(const struct nsc_runs *runs, struct nsc_runs_order order,
                  struct nsc_runs_row **rows, size_t *count)
{
    struct nsc_runs_row *all = calloc(runs->count + 1, sizeof(*all));
    size_t n = 0;

    if (all == NULL)
        return -ENOMEM;
    for (size_t i = 0, end; i < runs->count; i = end) {
        for (end = i + 1; end < runs->count && same_name(&runs->kept[i].who, &runs->kept[end].who);)
            end++;
        n += make_rows(runs, &runs->kept[i], end - i, &all[n]);
    }
    nsc_sort(all, n, sizeof(*all), compare_rows, &order);
    *rows = all;
    *count = n;
    return 0;
}

struct nsc_runs_value nsc_runs_whole(const struct nsc_runs *runs, enum nsc_runs_measure measure)
{
    return value_of(&runs->whole[measure], runs->runs);
}
