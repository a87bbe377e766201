/* cmd_report.c - nanoscope report: statistics per function. */
#include <stdio.h>
#include <string.h>

#include "analyze/report.h"
#include "cli/report_options.h"
#include "cli/selection.h"
#include "util/units.h"

struct settings {
    enum nsc_table_format format;
    enum nsc_report_key sort;
    uint64_t top;
    bool per_process;
};

static const struct nsc_cli_selection_ids selection_ids = {
    .from = NSC_REPORT_OPT_FROM,
    .to = NSC_REPORT_OPT_TO,
    .thread = NSC_REPORT_OPT_THREAD,
    .process = NSC_REPORT_OPT_PROCESS,
    .only = NSC_REPORT_OPT_ONLY,
    .except = NSC_REPORT_OPT_EXCEPT,
};

static int parse_options(const struct nsc_cli_args *args, struct settings *s)
{
    static const char *const keys[] = {"total", "self", "calls", "min",  "p50",
                                       "p90",   "p99",  "max",   "name", NULL};
    static const char *const formats[] = {"table", "csv", "json", NULL};
    unsigned choice = 0;
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++) {
        const struct nsc_cli_given *given = &args->options[i];

        switch ((enum nsc_report_option)given->id) {
        case NSC_REPORT_OPT_SORT:
            status = nsc_cli_choice(args, given, keys, &choice);
            s->sort = (enum nsc_report_key)choice;
            break;
        case NSC_REPORT_OPT_TOP:
            status = nsc_cli_count(args, given, &s->top);
            break;
        case NSC_REPORT_OPT_PER_PROCESS:
            s->per_process = true;
            break;
        case NSC_REPORT_OPT_FORMAT:
            status = nsc_cli_choice(args, given, formats, &choice);
            s->format = (enum nsc_table_format)choice;
            break;
        case NSC_REPORT_OPT_JSON:
            s->format = NSC_TABLE_JSON;
            break;
        case NSC_REPORT_OPT_FROM:
        case NSC_REPORT_OPT_TO:
        case NSC_REPORT_OPT_THREAD:
        case NSC_REPORT_OPT_PROCESS:
        case NSC_REPORT_OPT_ONLY:
        case NSC_REPORT_OPT_EXCEPT:
            break; /* nsc_cli_select() */
        }
    }
    return status;
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
    {"process", "PROCESS", NSC_TABLE_TEXT, NSC_TABLE_NO_CSV},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static struct nsc_table *make_table(const struct nsc_trace *t, const struct nsc_report *r,
                                    const struct settings *s,
                                    const struct nsc_table_column *own_columns)
{
    bool several = s->per_process || nsc_trace_info(t)->process_count > 1;
    struct nsc_table *table = nsc_table_new(own_columns, several ? COLUMNS : COLUMNS - 1);

    for (size_t i = 0; table && i < r->row_count && i < s->top; i++) {
        const struct nsc_report_row *row = &r->rows[i];
        const uint64_t numbers[] = {row->calls,  row->total_ns, row->self_ns,
                                    row->min_ns, row->p50_ns,   row->p90_ns,
                                    row->p99_ns, row->max_ns,   row->bounds};
        char process[128];

        nsc_table_add_text(table, nsc_trace_function(t, row->function)->name);
        for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
            nsc_table_add(table, numbers[n]);
        if (!several)
            continue;
        if (row->process == NSC_NO_ID)
            nsc_table_add_text(table, "several");
        else
            nsc_table_add_text(table,
                               nsc_cli_process_label(t, row->process, process, sizeof(process)));
    }
    return table;
}

static int print_json(const struct nsc_table *table, const struct nsc_report *r)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, false);
    nsc_json_open_object(&j, NULL);
    nsc_json_u64(&j, "calls", r->calls);
    nsc_json_u64(&j, "threads", r->threads);
    nsc_json_u64(&j, "functions_total", r->row_count);
    nsc_json_u64(&j, "bounds", r->bounds);
    nsc_json_u64(&j, "lost", r->lost);
    error = nsc_table_write_json(table, &j, "functions");
    nsc_json_close_object(&j);
    nsc_json_end(&j);
    return error;
}

static void print_summary(const struct nsc_report *r, const struct settings *s)
{
    char calls[NSC_UNITS_MAX], functions[NSC_UNITS_MAX];

    printf("\n%s call%s of %s function%s in %u thread%s", nsc_units_format_count(calls, r->calls),
           nsc_units_plural(r->calls), nsc_units_format_count(functions, r->row_count),
           nsc_units_plural(r->row_count), r->threads, nsc_units_plural(r->threads));
    if (s->top < r->row_count)
        printf("; %s shown", nsc_units_format_count(functions, s->top));
    puts(r->lost == 0 ? "; no events lost" : "");
    nsc_cli_footnotes(stdout, "", r->bounds, r->lost);
}

static int print_report(const struct nsc_trace *t, const struct nsc_report *r,
                        const struct settings *s)
{
    struct nsc_table_column own_columns[COLUMNS];
    struct nsc_table *table;
    int error;

    memcpy(own_columns, columns, sizeof(columns));
    if (s->per_process)
        own_columns[COLUMNS - 1].flags = 0; /* in CSV too, whose columns are else the same always */
    table = make_table(t, r, s, own_columns);
    if (!table)
        return nsc_cli_error("out of memory");
    if (s->format == NSC_TABLE_JSON)
        error = print_json(table, r);
    else
        error = nsc_table_write(table, s->format, stdout);
    if (s->format == NSC_TABLE_ALIGNED)
        print_summary(r, s);
    else if (s->format == NSC_TABLE_CSV)
        nsc_cli_footnotes(stderr, "nanoscope: ", r->bounds, r->lost);
    nsc_table_free(table);
    return nsc_cli_table_status(error);
}

int nsc_cmd_report(const struct nsc_cli_args *args)
{
    struct settings s = {
        .format = NSC_TABLE_ALIGNED, .sort = NSC_REPORT_BY_TOTAL, .top = UINT64_MAX};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_selection selection;
    struct nsc_report report = {0};
    struct nsc_trace *t;
    int status = parse_options(args, &s);

    if (status)
        return status;
    if (args->operand_count != 1)
        return nsc_cli_usage(args, "one trace is needed");
    status = nsc_cli_open_trace(args, 0, &t);
    if (status)
        return status;
    status = nsc_cli_select(args, &selection_ids, t, &selection);
    if (status == 0 && nsc_report_make(t, &selection, s.per_process, &report, &diag) < 0)
        status = nsc_cli_fail_in(args->operands[0], &diag);
    if (status == 0) {
        nsc_report_sort(&report, t, s.sort);
        status = print_report(t, &report, &s);
    }
    nsc_report_free(&report);
    nsc_selection_free(&selection);
    nsc_trace_close(t);
    return status;
}
