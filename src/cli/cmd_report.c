/* cmd_report.c - nanoscope report: statistics per function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report.h"
#include "cli/labels.h"
#include "cli/report_options.h"
#include "cli/view.h"
#include "util/units.h"

struct settings {
    struct nsc_cli_view view;
    enum nsc_report_key sort;
    uint64_t top;
    bool per_process;
};

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    static const char *const keys[] = {"total", "self", "calls", "min",  "p50",
                                       "p90",   "p99",  "max",   "name", NULL};
    unsigned choice = 0;
    int status = 0;

    switch (given->id) {
    case NSC_REPORT_OPT_SORT:
        status = nsc_cli_choice(args, given, keys, &choice);
        s->sort = (enum nsc_report_key)choice;
        return status;
    case NSC_REPORT_OPT_TOP:
        return nsc_cli_count(args, given, &s->top);
    case NSC_REPORT_OPT_PER_PROCESS:
        s->per_process = true;
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
    {"process", "PROCESS", NSC_TABLE_TEXT, NSC_TABLE_NO_CSV},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Where the function is: its program or library, and its line of source. */
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
        const uint64_t numbers[] = {row->calls,  row->total_ns, row->self_ns,
                                    row->min_ns, row->p50_ns,   row->p90_ns,
                                    row->p99_ns, row->max_ns,   row->bounds};
        char process[128];

        nsc_table_add_text(table, s->view.format == NSC_TABLE_ALIGNED
                                      ? nsc_cli_label(&labels, row->function)
                                      : nsc_trace_function(t, row->function)->name);
        for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
            nsc_table_add(table, numbers[n]);
        add_place(table, t, row->function);
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

/* How many functions the rows are of: with --per-process several rows are of one. Without memory
 * to find out, how many rows there are. */
static size_t count_functions(const struct settings *s, const struct nsc_report *r)
{
    uint32_t *ids = s->per_process ? calloc(r->row_count + 1, sizeof *ids) : NULL;
    size_t count = 0;

    if (!ids)
        return r->row_count;
    for (size_t i = 0; i < r->row_count; i++)
        ids[i] = r->rows[i].function;
    qsort(ids, r->row_count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < r->row_count; i++)
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
    nsc_json_open_object(&j, NULL);
    nsc_json_u64(&j, "calls", r->calls);
    nsc_json_u64(&j, "threads", r->threads);
    nsc_json_u64(&j, "functions_total", count_functions(s, r));
    nsc_json_u64(&j, "bounds", r->bounds);
    nsc_cli_view_json_gaps(&s->view, &j);
    error = nsc_table_write_json(table, &j, "functions");
    nsc_json_close_object(&j);
    nsc_json_end(&j);
    return error;
}

static void print_summary(const struct settings *s, const struct nsc_report *r)
{
    char calls[NSC_UNITS_MAX], functions[NSC_UNITS_MAX], rows[NSC_UNITS_MAX];
    size_t function_count = count_functions(s, r);

    printf("\n%s call%s of %s function%s in %u thread%s", nsc_units_format_count(calls, r->calls),
           nsc_units_plural(r->calls), nsc_units_format_count(functions, function_count),
           nsc_units_plural(function_count), r->threads, nsc_units_plural(r->threads));
    if (s->top < r->row_count && s->per_process)
        printf("; %s of %s lines shown", nsc_units_format_count(functions, s->top),
               nsc_units_format_count(rows, r->row_count));
    else if (s->top < r->row_count)
        printf("; %s shown", nsc_units_format_count(functions, s->top));
    puts(s->view.gaps.lost == 0 && s->view.gaps.count == 0 ? "; no events lost" : "");
}

static int print_report(const struct settings *s, const struct nsc_report *r)
{
    struct nsc_table_column own_columns[COLUMNS];
    struct nsc_table *table;
    int error;

    memcpy(own_columns, columns, sizeof(columns));
    if (s->per_process)
        own_columns[COLUMNS - 1].flags = 0; /* in CSV too, whose columns are else the same always */
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

int nsc_cmd_report(const struct nsc_cli_args *args)
{
    struct settings s = {.sort = NSC_REPORT_BY_TOTAL, .top = UINT64_MAX};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_report report = {0};
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0)
        status = nsc_cli_view_open_only(args, &s.view);
    if (status)
        return status;
    status = nsc_cli_view_find_gaps(&s.view);
    if (status == 0 &&
        nsc_report_make(s.view.trace, &s.view.selection, s.per_process, &report, &diag) < 0)
        status = nsc_cli_fail_in(args->operands[0], &diag);
    if (status == 0) {
        nsc_report_sort(&report, s.view.trace, s.sort);
        status = print_report(&s, &report);
    }
    nsc_report_free(&report);
    nsc_cli_view_close(&s.view);
    return status;
}
