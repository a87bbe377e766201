/* cmd_report.c - nanoscope report: statistics per function. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions/report.h"
#include "cli/analyze/report_runs.h"
#include "cli/analyze/report_shares.h"
#include "cli/analyze/report_usage.h"
#include "cli/common/categories.h"
#include "cli/common/labels.h"
#include "cli/common/reader_rights.h"
#include "cli/common/view.h"
#include "cli/report_options.h"
#include "util/text/units.h"

#define SORT_SPREAD (NSC_REPORT_BY_NAME + 1u)

struct settings {
    struct nsc_cli_view view;
    unsigned sort; /* enum nsc_report_key, or SORT_SPREAD */
    bool sorted;   /* --sort was given */
    uint64_t top;
    bool per_process;
    bool threads;
    bool compensate;
    bool exact;
    bool by_category;
    bool print_rules;
    const char *rules;
};

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    static const char *const keys[] = {"total", "self", "calls", "min",    "p50", "p90",
                                       "p99",   "max",  "name",  "spread", NULL};
    static const char *const kinds[] = {"function", "category", NULL};
    unsigned choice = 0;
    int status = 0;

    switch (given->id) {
    case NSC_REPORT_OPT_SORT:
        s->sorted = true;
        return nsc_cli_choice(args, given, keys, &s->sort);
    case NSC_REPORT_OPT_BY:
        status = nsc_cli_choice(args, given, kinds, &choice);
        s->by_category = choice == 1;
        return status;
    case NSC_REPORT_OPT_CATEGORIES:
        s->rules = given->value;
        return 0;
    case NSC_REPORT_OPT_PRINT_RULES:
        s->print_rules = true;
        return 0;
    case NSC_REPORT_OPT_TOP:
        return nsc_cli_top(args, given, &s->top);
    case NSC_REPORT_OPT_PER_PROCESS:
        s->per_process = true;
        return 0;
    case NSC_REPORT_OPT_COMPENSATE:
        s->compensate = true;
        return 0;
    case NSC_REPORT_OPT_EXACT:
        s->exact = true;
        return 0;
    case NSC_REPORT_OPT_THREADS:
        s->threads = true;
        return 0;
    default:
        return nsc_cli_view_option(args, given, &s->view);
    }
}

static const struct nsc_table_column columns[] = {
    {"function", "FUNCTION", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"calls", "CALLS", NSC_TABLE_COUNT, 0},
    {"total_ns", "TOTAL", NSC_TABLE_NS, 0},
    {"self_ns", "SELF", NSC_TABLE_NS, 0},
    {"min_ns", "MIN", NSC_TABLE_NS, 0},
    {"p50_ns", "P50", NSC_TABLE_NS, 0},
    {"p90_ns", "P90", NSC_TABLE_NS, 0},
    {"p99_ns", "P99", NSC_TABLE_NS, 0},
    {"max_ns", "MAX", NSC_TABLE_NS, 0},
    {"bounds", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"module", "", NSC_TABLE_TEXT, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"source", "", NSC_TABLE_TEXT, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"left_out", "", NSC_TABLE_TEXT, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"more_calls", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"more_calls_error", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"more_total_ns", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"more_total_error_ns", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"more_self_ns", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"more_self_error_ns", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN | NSC_TABLE_NO_CSV},
    {"process", "PROCESS", NSC_TABLE_TEXT, NSC_TABLE_NO_CSV},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Indices of columns. CSV has BOUNDS only if exits were not timed. JSON has the columns on left-out
 * calls only if there are some. */
enum { BOUNDS = 9, LEFT_OUT_FIRST = 12, LEFT_OUT_LAST = 18 };

/* Add the location of a function: its module, and its source file and line. */
static void add_place(struct nsc_table *table, const struct nsc_trace *t, uint32_t function)
{
    const struct nsc_function *f = nsc_trace_function(t, function);
    char *source = NULL;

    if (f->module != NSC_NO_ID)
        nsc_table_add_text(table, nsc_trace_module(t, f->module)->path);
    else
        nsc_table_add_nothing(table);
    if (f->file[0] != '\0' && asprintf(&source, "%s:%u", f->file, f->line) >= 0) {
        nsc_table_add_text(table, source);
        free(source);
    } else {
        nsc_table_add_nothing(table);
    }
}

/* Whether the budget left out calls without an estimate of them. @which: NSC_LEFT_OUT_* bits. */
static bool lacks(const struct nsc_report_row *row, uint32_t which)
{
    return (row->left_out >> NSC_LEFT_OUT_BUDGET & 1) != 0 && (row->more_known & which) == 0;
}

/* Add a recorded number. An aligned table adds the estimate of left-out calls, or marks a lower
 * bound. */
static void add_sum(const struct settings *s, struct nsc_table *table,
                    const struct nsc_report_row *row, uint64_t recorded, uint32_t which,
                    const struct nsc_estimate *more)
{
    bool shown = s->view.format == NSC_TABLE_ALIGNED;

    if (shown && (row->more_estimated & which) != 0)
        nsc_table_add_estimate(table, recorded + more->value);
    else if (shown && lacks(row, which))
        nsc_table_add_least(table, recorded);
    else
        nsc_table_add(table, recorded + (shown ? more->value : 0));
}

static void add_more(struct nsc_table *table, const struct nsc_report_row *row, uint32_t which,
                     const struct nsc_estimate *more)
{
    bool known = (row->more_known & which) != 0;

    for (int i = 0; i < 2; i++) {
        if (known)
            nsc_table_add(table, i == 0 ? more->value : more->error);
        else
            nsc_table_add_nothing(table);
    }
}

/* Add the reasons why calls of the function were left out, and the estimates of these calls. */
static void add_left_out(struct nsc_table *table, const struct nsc_report_row *row)
{
    char text[64] = "";

    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        if ((row->left_out >> i & 1) != 0) {
            size_t used = strlen(text);

            snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "," : "",
                     nsc_model_left_out_reason_name(i));
        }
    if (row->left_out != 0)
        nsc_table_add_text(table, text);
    else
        nsc_table_add_nothing(table);
    add_more(table, row, NSC_LEFT_OUT_CALLS, &row->more_calls);
    add_more(table, row, NSC_LEFT_OUT_TOTAL, &row->more_total_ns);
    add_more(table, row, NSC_LEFT_OUT_SELF, &row->more_self_ns);
}

static void add_numbers(const struct settings *s, struct nsc_table *table,
                        const struct nsc_report_row *row)
{
    const uint64_t durations[] = {row->min_ns, row->p50_ns, row->p90_ns, row->p99_ns, row->max_ns};

    add_sum(s, table, row, row->calls, NSC_LEFT_OUT_CALLS, &row->more_calls);
    add_sum(s, table, row, row->total_ns, NSC_LEFT_OUT_TOTAL, &row->more_total_ns);
    add_sum(s, table, row, row->self_ns, NSC_LEFT_OUT_SELF, &row->more_self_ns);
    for (size_t n = 0; n < sizeof(durations) / sizeof(durations[0]); n++) {
        if (row->calls > 0)
            nsc_table_add(table, durations[n]);
        else
            nsc_table_add_nothing(table);
    }
    nsc_table_add(table, row->bounds);
}

static struct nsc_table *make_table(const struct settings *s, const struct nsc_report *r,
                                    const struct nsc_table_column *own_columns)
{
    const struct nsc_trace *t = s->view.trace;
    bool several = s->per_process || nsc_trace_info(t)->process_count > 1;
    struct nsc_table *table = nsc_table_new(own_columns, several ? COLUMNS : COLUMNS - 1);
    struct nsc_cli_labels labels;

    nsc_cli_labels_init(&labels, t);
    for (size_t i = 0; table && i < r->row_count && i < s->top; i++) {
        const struct nsc_report_row *row = &r->rows[i];
        char process[128];

        nsc_table_add_text(table, s->view.format == NSC_TABLE_ALIGNED
                                      ? nsc_cli_label(&labels, row->function)
                                      : nsc_trace_function(t, row->function)->name);
        add_numbers(s, table, row);
        add_place(table, t, row->function);
        add_left_out(table, row);
        if (!several)
            continue;
        if (row->process == NSC_NO_ID)
            nsc_table_add_text(table, "several");
        else
            nsc_table_add_text(table,
                               nsc_cli_process_label(t, row->process, process, sizeof(process)));
    }
    nsc_cli_labels_free(&labels);
    return table;
}

static int compare_ids(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The number of functions with recorded calls in the rows. With --per-process, several rows may
 * belong to one function. If memory runs out, the number of rows. */
static size_t count_functions(const struct nsc_report *r)
{
    uint32_t *ids = calloc(r->row_count + 1, sizeof *ids);
    size_t rows = 0, count = 0;

    if (!ids)
        return r->row_count;
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].calls > 0)
            ids[rows++] = r->rows[i].function;
    qsort(ids, rows, sizeof *ids, compare_ids);
    for (size_t i = 0; i < rows; i++)
        count += i == 0 || ids[i] != ids[i - 1];
    free(ids);
    return count;
}

static int print_json(const struct settings *s, const struct nsc_table *table,
                      const struct nsc_report *r)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, false);
    nsc_json_u64(&j, "calls", r->calls);
    nsc_json_u64(&j, "threads", r->threads);
    nsc_json_u64(&j, "functions_total", count_functions(r));
    nsc_json_u64(&j, "bounds", r->bounds);
    if (r->coarse)
        nsc_json_bool(&j, "quantiles_rough", true);
    nsc_cli_view_json_gaps(&s->view, &j);
    error = nsc_table_write_json(table, &j, "functions");
    nsc_json_end(&j);
    return error;
}

static void print_summary(const struct settings *s, const struct nsc_report *r)
{
    char calls[NSC_UNITS_MAX], functions[NSC_UNITS_MAX], rows[NSC_UNITS_MAX];
    size_t function_count = count_functions(r);

    printf("\n%s call%s of %s function%s in %u thread%s", nsc_units_format_count(calls, r->calls),
           nsc_units_plural(r->calls), nsc_units_format_count(functions, function_count),
           nsc_units_plural(function_count), r->threads, nsc_units_plural(r->threads));
    if (s->top < r->row_count && s->per_process)
        printf("; %s of %s lines shown", nsc_units_format_count(functions, s->top),
               nsc_units_format_count(rows, r->row_count));
    else if (s->top < r->row_count)
        printf("; %s shown", nsc_units_format_count(functions, s->top));
    puts(s->view.gaps.lost == 0 && s->view.gaps.count == 0 ? "; no events lost" : "");
    if (r->coarse)
        puts("quantiles are within 6.3 %, from the index; --exact reads all events");
    if (s->compensate)
        printf("the cost of recording is taken out: %.1f ns a call\n",
               (double)nsc_clock_span_ns(
                   nsc_trace_clock(s->view.trace),
                   (s->view.selection.cost.inner + s->view.selection.cost.outer) * 100ull) /
                   25600);
}

static int print_report(const struct settings *s, const struct nsc_report *r)
{
    struct nsc_table_column own_columns[COLUMNS];
    struct nsc_table *table;
    int error;

    memcpy(own_columns, columns, sizeof(columns));
    if (s->per_process)
        own_columns[COLUMNS - 1].flags = 0; /* in CSV too, whose columns are otherwise fixed */
    if (nsc_trace_info(s->view.trace)->exits_bound)
        own_columns[BOUNDS].flags &= ~(unsigned)NSC_TABLE_NO_CSV;
    for (size_t i = LEFT_OUT_FIRST; i <= LEFT_OUT_LAST && s->view.left_out.all_functions == 0; i++)
        own_columns[i].flags |= NSC_TABLE_NO_JSON;
    table = make_table(s, r, own_columns);
    if (!table)
        return nsc_cli_error("out of memory");
    if (s->view.format == NSC_TABLE_JSON)
        error = print_json(s, table, r);
    else
        error = nsc_table_write(table, s->view.format, stdout);
    if (s->view.format == NSC_TABLE_ALIGNED)
        print_summary(s, r);
    nsc_cli_view_footnotes(&s->view, r->bounds);
    nsc_table_free(table);
    return nsc_cli_table_status(error);
}

/* Add the estimates of left-out calls. Not for CSV, whose columns are fixed. Returns 0 or an exit
 * status after a message. */
static int add_estimates(struct settings *s, struct nsc_report *r)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (s->view.format == NSC_TABLE_CSV)
        return 0;
    if (nsc_report_add_left_out(r, &s->view.left_out, &diag) < 0)
        return nsc_cli_fail(&diag);
    for (size_t i = 0; i < r->row_count; i++) {
        s->view.shows_estimates |= r->rows[i].more_estimated != 0;
        s->view.shows_least |= lacks(&r->rows[i], NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL) ||
                               lacks(&r->rows[i], NSC_LEFT_OUT_SELF);
    }
    return 0;
}

static int report(struct settings *s)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_report r = {0};
    int status = nsc_cli_view_find_gaps(&s->view);

    if (status == 0 && s->compensate)
        status = nsc_cli_view_compensate(&s->view);
    if (s->exact)
        s->view.selection.index = NSC_SELECTION_INDEX_NEVER;
    if (status == 0 &&
        nsc_report_make(s->view.trace, &s->view.selection, s->per_process, &r, &diag) < 0)
        status = nsc_cli_fail_in(nsc_trace_name(s->view.trace), &diag);
    if (status == 0)
        status = add_estimates(s, &r);
    if (status == 0) {
        nsc_report_sort(&r, s->view.trace, (enum nsc_report_key)s->sort);
        status = print_report(s, &r);
    }
    nsc_report_free(&r);
    return status;
}

/* Print a row per category. Returns an exit status. */
static int report_categories(struct settings *s)
{
    struct nsc_cli_shares options = {.rules = s->rules,
                                     .sort = NSC_SHARES_BY_SELF,
                                     .top = s->top,
                                     .per_process = s->per_process};
    int status = nsc_cli_view_find_gaps(&s->view);

    if (status == 0 && s->compensate)
        status = nsc_cli_view_compensate(&s->view);
    if (s->sorted && s->sort == NSC_REPORT_BY_CALLS)
        options.sort = NSC_SHARES_BY_CALLS;
    else if (s->sorted && s->sort == NSC_REPORT_BY_NAME)
        options.sort = NSC_SHARES_BY_NAME;
    return status == 0 ? nsc_cli_shares_report(&s->view, &options) : status;
}

/* Reject options that do not apply to several traces. Returns 0 or NSC_CLI_USAGE. */
static int check_several(const struct nsc_cli_args *args, const struct settings *s)
{
    size_t inputs = 0;

    for (size_t i = 0; i < args->operand_count; i++)
        inputs += strcmp(args->operands[i], "-") == 0;
    if (inputs > 1)
        return nsc_cli_usage(args, "only one of the traces can come from standard input");
    if (s->threads || s->per_process)
        return nsc_cli_usage(args,
                             "--%s is for one trace: threads and processes of several are not "
                             "known to be the same",
                             s->threads ? "threads" : "per-process");
    if (s->sort >= NSC_REPORT_BY_MIN && s->sort <= NSC_REPORT_BY_MAX)
        return nsc_cli_usage(args,
                             "several traces are sorted by total, self, calls, spread or name");
    return 0;
}

static int check(const struct nsc_cli_args *args, const struct settings *s)
{
    if (s->threads && (s->per_process || s->by_category))
        return nsc_cli_usage(args, s->per_process ? "--threads or --per-process, not both"
                                                  : "--threads or --by category, not both");
    if (s->threads && s->compensate)
        return nsc_cli_usage(args, "--threads has no times of calls to --compensate");
    if (s->sort == SORT_SPREAD && args->operand_count < 2)
        return nsc_cli_usage(args, "--sort spread needs several traces");
    if (s->by_category && s->sorted && s->sort != SORT_SPREAD && s->sort != NSC_REPORT_BY_SELF &&
        s->sort != NSC_REPORT_BY_CALLS && s->sort != NSC_REPORT_BY_NAME)
        return nsc_cli_usage(args, "categories%s",
                             args->operand_count > 1
                                 ? " of several traces are sorted by self, calls, spread or name"
                                 : " are sorted by self, calls or name");
    if (s->rules != NULL && !s->by_category && !s->print_rules)
        return nsc_cli_usage(args, "--categories is for --by category");
    return args->operand_count > 1 ? check_several(args, s) : 0;
}

/* Print statistics over all traces. Returns an exit status. */
static int report_several(const struct nsc_cli_args *args, const struct settings *s)
{
    struct nsc_cli_runs options = {.format = s->view.format,
                                   .order = {.measure = NSC_RUNS_TOTAL},
                                   .top = s->top,
                                   .by_category = s->by_category,
                                   .rules = s->rules,
                                   .compensate = s->compensate,
                                   .exact = s->exact};

    if (s->by_category || (s->sorted && s->sort == NSC_REPORT_BY_SELF))
        options.order.measure = NSC_RUNS_SELF;
    if (s->sorted && s->sort == NSC_REPORT_BY_CALLS)
        options.order.measure = NSC_RUNS_CALLS;
    else if (s->sorted && s->sort == NSC_REPORT_BY_NAME)
        options.order.measure = NSC_RUNS_MEASURES;
    options.order.by_spread = s->sorted && s->sort == SORT_SPREAD;
    return nsc_cli_runs_report(args, &options);
}

int nsc_cmd_report(const struct nsc_cli_args *args)
{
    struct settings s = {.sort = NSC_REPORT_BY_TOTAL, .top = UINT64_MAX};
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0)
        status = check(args, &s);
    if (status == 0 && s.print_rules)
        return nsc_cli_print_rules(s.rules);
    if (status != 0)
        return status;
    nsc_cli_confine(NULL);
    if (args->operand_count > 1)
        return report_several(args, &s);
    status = nsc_cli_view_open_only(args, &s.view);
    if (status)
        return status;
    if (s.threads)
        status = nsc_cli_usage_report(&s.view);
    else
        status = s.by_category ? report_categories(&s) : report(&s);
    nsc_cli_view_close(&s.view);
    return status;
}
