/* report_runs.c - see report_runs.h. One trace is open at a time. */
#include "cli/analyze/report_runs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions/category_shares.h"
#include "cli/common/categories.h"
#include "util/text/escape.h"
#include "util/text/units.h"

#define THOUSANDTHS  1000.0
#define VALUE_MOST   1.8e19 /* below 2^64 */
#define CALLS_FEW    1000
#define INEXACT_TOLD 10u /* traces whose missing data is listed below the table */

/* The data that is kept of a closed trace. */
struct run {
    const char *name; /* the operand */
    uint64_t calls, self_ns, bounds, lost, gaps;
    uint32_t left_out;
    bool exits_bound;
};

struct folding {
    const struct nsc_cli_runs *options;
    struct nsc_runs *runs;
    struct run *each;
    size_t count;
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Add the categories of a report as a run. */
static int add_categories(const struct folding *f, const struct nsc_trace *t,
                          const struct nsc_report *r)
{
    struct nsc_categories categories = {0};
    struct nsc_shares shares = {0};
    struct nsc_runs_entry *entries = NULL;
    int status = nsc_cli_sort_functions(f->options->rules, t, &categories);
    bool fits = status == 0 && nsc_shares_make(r, &categories, &shares) == 0;

    if (fits)
        entries = calloc(shares.count + 1, sizeof(*entries));
    for (size_t i = 0; entries != NULL && i < shares.count; i++)
        entries[i] = (struct nsc_runs_entry){
            .who = {categories.names[shares.rows[i].category], "", ""},
            .values = {
                [NSC_RUNS_CALLS] = shares.rows[i].calls, [NSC_RUNS_SELF] = shares.rows[i].self_ns}};
    if (status == 0 && (entries == NULL || nsc_runs_add(f->runs, entries, shares.count) != 0))
        status = nsc_cli_error("out of memory");
    free(entries);
    nsc_shares_free(&shares);
    nsc_categories_free(&categories);
    return status;
}

static void note_run(struct folding *f, const struct nsc_cli_view *view, const char *name,
                     const struct nsc_report *r)
{
    struct run *run = &f->each[f->count++];

    *run = (struct run){.name = name,
                        .calls = r->calls,
                        .bounds = r->bounds,
                        .lost = view->gaps.lost,
                        .gaps = view->gaps.count,
                        .left_out = view->left_out.all_functions,
                        .exits_bound = nsc_trace_info(view->trace)->exits_bound};
    for (size_t i = 0; i < r->row_count; i++)
        run->self_ns += r->rows[i].self_ns;
}

static int add_view(struct folding *f, struct nsc_cli_view *view, const char *name)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_report r = {0};
    int status = nsc_cli_view_find_gaps(view);

    if (status == 0 && f->options->compensate)
        status = nsc_cli_view_compensate(view);
    if (f->options->exact)
        view->selection.index = NSC_SELECTION_INDEX_NEVER;
    if (status == 0 && nsc_report_make(view->trace, &view->selection, false, &r, &diag) < 0)
        status = nsc_cli_fail_in(nsc_trace_name(view->trace), &diag);
    if (status == 0 && f->options->by_category)
        status = add_categories(f, view->trace, &r);
    else if (status == 0 && nsc_runs_add_report(f->runs, view->trace, &r) != 0)
        status = nsc_cli_error("out of memory");
    if (status == 0)
        note_run(f, view, name, &r);
    nsc_report_free(&r);
    return status;
}

static int add_trace(struct folding *f, const struct nsc_cli_args *args, size_t operand)
{
    struct nsc_cli_view view = {.format = f->options->format};
    int status = nsc_cli_view_open(args, operand, &view);

    if (status != 0)
        return status;
    status = add_view(f, &view, args->operands[operand]);
    nsc_cli_view_close(&view);
    return status;
}

/* ---- The table ------------------------------------------------------------------------------- */

static const struct nsc_table_column columns[] = {
    {"function", "FUNCTION", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"module", "", NSC_TABLE_TEXT, NSC_TABLE_NO_HUMAN},
    {"runs", "RUNS", NSC_TABLE_COUNT, 0},
    {"", "CALLS", NSC_TABLE_TEXT, NSC_TABLE_RIGHT | NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
    {"calls_mean", "", NSC_TABLE_RATIO, NSC_TABLE_NO_HUMAN},
    {"", "SPREAD", NSC_TABLE_TEXT, NSC_TABLE_RIGHT | NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
    {"calls_stddev", "", NSC_TABLE_RATIO, NSC_TABLE_NO_HUMAN},
    {"calls_min", "MIN", NSC_TABLE_COUNT, 0},
    {"calls_max", "MAX", NSC_TABLE_COUNT, 0},
    {"total_mean_ns", "TOTAL", NSC_TABLE_NS, 0},
    {"", "SPREAD", NSC_TABLE_TEXT, NSC_TABLE_RIGHT | NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
    {"total_stddev_ns", "", NSC_TABLE_NS, NSC_TABLE_NO_HUMAN},
    {"total_min_ns", "MIN", NSC_TABLE_NS, 0},
    {"total_max_ns", "MAX", NSC_TABLE_NS, 0},
    {"self_mean_ns", "SELF", NSC_TABLE_NS, 0},
    {"", "SPREAD", NSC_TABLE_TEXT, NSC_TABLE_RIGHT | NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
    {"self_stddev_ns", "", NSC_TABLE_NS, NSC_TABLE_NO_HUMAN},
    {"self_min_ns", "MIN", NSC_TABLE_NS, 0},
    {"self_max_ns", "MAX", NSC_TABLE_NS, 0},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* First of the MIN and MAX columns of each measure. Aligned tables show those of one measure. */
static const size_t extremes[NSC_RUNS_MEASURES] = {7, 12, 17};
enum { TOTAL_FIRST = 9, TOTAL_LAST = 13, MODULE = 1 };

static uint64_t whole_number(double value)
{
    return value >= VALUE_MOST ? UINT64_MAX : (uint64_t)(value + 0.5);
}

static void add_relative(struct nsc_table *table, const struct nsc_runs_value *value)
{
    char text[32];

    if (value->mean > 0) {
        snprintf(text, sizeof(text), "%.1f %%", 100 * value->spread / value->mean);
        nsc_table_add_text(table, text);
    } else {
        nsc_table_add_nothing(table);
    }
}

/* Format a mean number of calls: a small one that is not whole gets one decimal. */
static const char *format_mean_calls(char text[NSC_UNITS_MAX], double mean)
{
    uint64_t whole = whole_number(mean);

    if (mean >= CALLS_FEW || fabs(mean - (double)whole) < 0.05)
        return nsc_units_format_count(text, whole);
    snprintf(text, NSC_UNITS_MAX, "%.1f", mean);
    return text;
}

static void add_calls(struct nsc_table *table, const struct nsc_runs_value *value)
{
    char text[NSC_UNITS_MAX];

    nsc_table_add_text(table, format_mean_calls(text, value->mean));
    nsc_table_add(table, whole_number(value->mean * THOUSANDTHS));
    add_relative(table, value);
    nsc_table_add(table, whole_number(value->spread * THOUSANDTHS));
    nsc_table_add(table, value->min);
    nsc_table_add(table, value->max);
}

static void add_time(struct nsc_table *table, const struct nsc_runs_value *value)
{
    nsc_table_add(table, whole_number(value->mean));
    add_relative(table, value);
    nsc_table_add(table, whole_number(value->spread));
    nsc_table_add(table, value->min);
    nsc_table_add(table, value->max);
}

/* Add the name; in an aligned table with its location if others share it: "init [prog file.c]". */
static void add_name(const struct folding *f, struct nsc_table *table,
                     const struct nsc_runs_row *row)
{
    const char *gap = *row->module != '\0' && *row->file != '\0' ? " " : "";
    bool placed = f->options->format == NSC_TABLE_ALIGNED && row->shared &&
                  (*row->module != '\0' || *row->file != '\0');
    char *text = NULL;

    if (placed && asprintf(&text, "%s [%s%s%s]", row->name, row->module, gap, row->file) < 0)
        text = NULL;
    nsc_table_add_text(table, text != NULL ? text : row->name);
    free(text);
}

static void choose_columns(const struct folding *f, struct nsc_table_column own[COLUMNS])
{
    enum nsc_runs_measure seen = f->options->order.measure;

    if (seen == NSC_RUNS_MEASURES)
        seen = f->options->by_category ? NSC_RUNS_SELF : NSC_RUNS_TOTAL;
    memcpy(own, columns, sizeof(columns));
    for (unsigned m = 0; m < NSC_RUNS_MEASURES; m++)
        for (size_t i = 0; m != seen && i < 2; i++)
            own[extremes[m] + i].flags |= NSC_TABLE_NO_HUMAN;
    if (!f->options->by_category)
        return;
    own[0].key = "category";
    own[0].title = "CATEGORY";
    own[MODULE].flags |= NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON;
    for (size_t i = TOTAL_FIRST; i <= TOTAL_LAST; i++)
        own[i].flags |= NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON;
}

static struct nsc_table *make_table(const struct folding *f, const struct nsc_table_column *own,
                                    const struct nsc_runs_row *rows, size_t count)
{
    struct nsc_table *table = nsc_table_new(own, COLUMNS);

    for (size_t i = 0; table != NULL && i < count && i < f->options->top; i++) {
        const struct nsc_runs_row *row = &rows[i];

        add_name(f, table, row);
        if (*row->module != '\0')
            nsc_table_add_text(table, row->module);
        else
            nsc_table_add_nothing(table);
        nsc_table_add(table, row->runs);
        add_calls(table, &row->values[NSC_RUNS_CALLS]);
        add_time(table, &row->values[NSC_RUNS_TOTAL]);
        add_time(table, &row->values[NSC_RUNS_SELF]);
    }
    return table;
}

/* ---- Output ---------------------------------------------------------------------------------- */

static int print_json(const struct folding *f, const struct nsc_table *table)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, false);
    nsc_json_open_array(&j, "runs");
    for (size_t i = 0; i < f->count; i++) {
        const struct run *run = &f->each[i];

        nsc_json_open_object(&j, NULL);
        nsc_json_text(&j, "trace", run->name);
        nsc_json_u64(&j, "calls", run->calls);
        nsc_json_u64(&j, "self_ns", run->self_ns);
        nsc_json_u64(&j, "bounds", run->bounds);
        nsc_json_u64(&j, "lost", run->lost);
        nsc_json_u64(&j, "gaps", run->gaps);
        nsc_json_u64(&j, "left_out_functions", run->left_out);
        nsc_json_bool(&j, "ends_are_bounds", run->exits_bound);
        nsc_json_close_object(&j);
    }
    nsc_json_close_array(&j);
    error = nsc_table_write_json(table, &j, f->options->by_category ? "categories" : "functions");
    nsc_json_end(&j);
    return error;
}

struct fact {
    uint64_t count;
    const char *one, *many; /* text after the count */
    const char *plain;      /* text without a count, or NULL */
};

/* Print why the numbers of a trace are not exact: "b.nst: 12 events were lost, 3 calls have no seen
 * start or end". @out: NULL prints nothing. Returns whether there is anything to print. */
static bool tell_inexact(const struct run *run, const char *prefix, FILE *out)
{
    const struct fact facts[] = {
        {run->lost, "event was lost", "events were lost", NULL},
        {run->lost == 0 && run->gaps > 0, NULL, NULL, "events were lost, it is not known how many"},
        {run->exits_bound ? 0 : run->bounds, "call has no seen start or end",
         "calls have no seen start or end", NULL},
        {run->left_out, "function was left out", "functions were left out", NULL},
        {run->exits_bound, NULL, NULL, "only entries were timed"},
    };
    bool any = false;
    char count[NSC_UNITS_MAX];

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const struct fact *fact = &facts[i];

        if (fact->count > 0 && out != NULL) {
            if (!any) {
                fputs(prefix, out);
                nsc_text_put(out, run->name);
            }
            fputs(any ? ", " : ": ", out);
            if (fact->plain != NULL)
                fputs(fact->plain, out);
            else
                fprintf(out, "%s %s", nsc_units_format_count(count, fact->count),
                        fact->count == 1 ? fact->one : fact->many);
        }
        any |= fact->count > 0;
    }
    if (any && out != NULL)
        putc('\n', out);
    return any;
}

static void tell(const struct folding *f, const struct nsc_runs_row *rows, size_t count)
{
    struct nsc_runs_value calls = nsc_runs_whole(f->runs, NSC_RUNS_CALLS);
    struct nsc_runs_value self = nsc_runs_whole(f->runs, NSC_RUNS_SELF);
    const char *one = f->options->by_category ? "category" : "function";
    const char *many = f->options->by_category ? "categories" : "functions";
    char text[NSC_UNITS_MAX], time[NSC_UNITS_MAX];
    size_t everywhere = 0;

    for (size_t i = 0; i < count; i++)
        everywhere += rows[i].runs == f->count;
    printf("\n%zu traces, of each %s calls (+-%.1f %%) and %s in them (+-%.1f %%)\n", f->count,
           format_mean_calls(text, calls.mean),
           calls.mean > 0 ? 100 * calls.spread / calls.mean : 0,
           nsc_units_format_ns(time, whole_number(self.mean)),
           self.mean > 0 ? 100 * self.spread / self.mean : 0);
    printf("%s %s in all of them", nsc_units_format_count(text, everywhere),
           everywhere == 1 ? one : many);
    if (everywhere < count)
        printf(", %s in some only, which count as 0 in the others",
               nsc_units_format_count(text, count - everywhere));
    if (f->options->top < count)
        printf("; %s shown", nsc_units_format_count(text, f->options->top));
    putchar('\n');
}

/* Print why the numbers are not exact, one line per trace: below a table, or on stderr with CSV. */
static void tell_all_inexact(const struct folding *f)
{
    bool beside = f->options->format == NSC_TABLE_CSV;
    const char *prefix = beside ? "nanoscope: " : "";
    FILE *out = beside ? stderr : stdout;
    size_t told = 0, more = 0;

    for (size_t i = 0; i < f->count; i++) {
        if (told < INEXACT_TOLD)
            told += tell_inexact(&f->each[i], prefix, out);
        else
            more += tell_inexact(&f->each[i], prefix, NULL);
    }
    if (more > 0)
        fprintf(out, "%s%zu more traces are not exact, --json tells how\n", prefix, more);
}

static int print(const struct folding *f)
{
    struct nsc_table_column own[COLUMNS];
    struct nsc_runs_row *rows;
    struct nsc_table *table;
    size_t count;
    int error;

    if (nsc_runs_rows(f->runs, f->options->order, &rows, &count) != 0)
        return nsc_cli_error("out of memory");
    choose_columns(f, own);
    table = make_table(f, own, rows, count);
    if (table == NULL)
        error = -ENOMEM;
    else if (f->options->format == NSC_TABLE_JSON)
        error = print_json(f, table);
    else
        error = nsc_table_write(table, f->options->format, stdout);
    if (error == 0 && f->options->format == NSC_TABLE_ALIGNED)
        tell(f, rows, count);
    if (error == 0 && f->options->format != NSC_TABLE_JSON)
        tell_all_inexact(f);
    nsc_table_free(table);
    free(rows);
    return nsc_cli_table_status(error);
}

int nsc_cli_runs_report(const struct nsc_cli_args *args, const struct nsc_cli_runs *options)
{
    struct folding f = {.options = options,
                        .runs = nsc_runs_new(),
                        .each = calloc(args->operand_count + 1, sizeof(*f.each))};
    int status = 0;

    if (f.runs == NULL || f.each == NULL)
        status = nsc_cli_error("out of memory");
    for (size_t i = 0; i < args->operand_count && status == 0; i++)
        status = add_trace(&f, args, i);
    if (status == 0)
        status = print(&f);
    nsc_runs_free(f.runs);
    free(f.each);
    return status;
}
