/* cmd_calls.c - nanoscope calls: the slowest calls of a function. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/calls.h"
#include "analyze/report.h"
#include "cli/calls_options.h"
#include "cli/selection.h"
#include "util/units.h"

#define TOP_MAX 10000000u /* calls kept in memory, 80 bytes each */

struct settings {
    enum nsc_table_format format;
    enum nsc_calls_key sort;
    uint64_t top;
};

static const struct nsc_cli_selection_ids selection_ids = {
    .from = NSC_CALLS_OPT_FROM,
    .to = NSC_CALLS_OPT_TO,
    .thread = NSC_CALLS_OPT_THREAD,
    .process = NSC_CALLS_OPT_PROCESS,
};

static int parse_options(const struct nsc_cli_args *args, struct settings *s)
{
    static const char *const keys[] = {"duration", "self", "start", NULL};
    static const char *const formats[] = {"table", "csv", "json", NULL};
    unsigned choice = 0;
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++) {
        const struct nsc_cli_given *given = &args->options[i];

        switch ((enum nsc_calls_option)given->id) {
        case NSC_CALLS_OPT_SORT:
            status = nsc_cli_choice(args, given, keys, &choice);
            s->sort = (enum nsc_calls_key)choice;
            break;
        case NSC_CALLS_OPT_TOP:
            status = nsc_cli_count(args, given, &s->top);
            if (status == 0 && s->top > TOP_MAX)
                status = nsc_cli_usage(args, "--%s can be %u at most", given->name, TOP_MAX);
            break;
        case NSC_CALLS_OPT_FORMAT:
            status = nsc_cli_choice(args, given, formats, &choice);
            s->format = (enum nsc_table_format)choice;
            break;
        case NSC_CALLS_OPT_JSON:
            s->format = NSC_TABLE_JSON;
            break;
        case NSC_CALLS_OPT_FROM:
        case NSC_CALLS_OPT_TO:
        case NSC_CALLS_OPT_THREAD:
        case NSC_CALLS_OPT_PROCESS:
            break; /* nsc_cli_select() */
        }
    }
    return status;
}

static const struct nsc_table_column columns[] = {
    {"function", "FUNCTION", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"start_ns", "START", NSC_TABLE_TIME, 0},
    {"duration_ns", "DURATION", NSC_TABLE_NS, 0},
    {"self_ns", "SELF", NSC_TABLE_NS, 0},
    {"bound", "BOUND", NSC_TABLE_TEXT, 0},
    {"depth", "DEPTH", NSC_TABLE_NUMBER, 0},
    {"", "THREAD", NSC_TABLE_TEXT, NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
    {"pid", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
    {"tid", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
    {"stack", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
    {"caller", "CALLER", NSC_TABLE_TEXT, NSC_TABLE_LAST},
};

static const char *bound_name(uint32_t bound)
{
    static const char *const names[] = {NULL, "end", "start", "both"};

    return names[bound & (NSC_BOUND_START | NSC_BOUND_END)];
}

static void add_text_or_nothing(struct nsc_table *table, const char *text)
{
    if (text)
        nsc_table_add_text(table, text);
    else
        nsc_table_add_nothing(table);
}

static void add_call(struct nsc_table *table, const struct nsc_trace *t, const struct nsc_call *c)
{
    const struct nsc_clock *clock = nsc_trace_clock(t);
    const struct nsc_thread *thread = nsc_trace_thread(t, c->thread);
    char label[128];

    nsc_table_add_text(table, nsc_trace_function(t, c->function)->name);
    nsc_table_add(table, nsc_clock_ns(clock, c->start_ticks));
    nsc_table_add(table, nsc_clock_span_ns(clock, c->end_ticks - c->start_ticks));
    nsc_table_add(table, nsc_clock_span_ns(clock, c->self_ticks));
    add_text_or_nothing(table, bound_name(c->bound));
    nsc_table_add(table, c->depth);
    nsc_table_add_text(table, nsc_cli_thread_label(t, c->thread, label, sizeof(label)));
    nsc_table_add(table, nsc_trace_process(t, thread->process)->pid);
    nsc_table_add(table, thread->tid);
    nsc_table_add(table, thread->stack);
    add_text_or_nothing(table,
                        c->caller == NSC_NO_ID ? NULL : nsc_trace_function(t, c->caller)->name);
}

static int print_json(const struct nsc_table *table, const struct nsc_calls_top *top, uint64_t lost)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, false);
    nsc_json_open_object(&j, NULL);
    nsc_json_u64(&j, "calls_total", top->seen);
    nsc_json_u64(&j, "bounds", top->bounds);
    nsc_json_u64(&j, "lost", lost);
    error = nsc_table_write_json(table, &j, "calls");
    nsc_json_close_object(&j);
    nsc_json_end(&j);
    return error;
}

static int print_calls(const struct nsc_trace *t, const struct nsc_calls_top *top,
                       enum nsc_table_format format, uint64_t lost)
{
    struct nsc_table *table = nsc_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    char seen[NSC_UNITS_MAX], count[NSC_UNITS_MAX];
    int error;

    if (!table)
        return nsc_cli_error("out of memory");
    for (size_t i = 0; i < top->count; i++)
        add_call(table, t, &top->calls[i]);
    if (format == NSC_TABLE_JSON)
        error = print_json(table, top, lost);
    else
        error = nsc_table_write(table, format, stdout);
    if (format == NSC_TABLE_ALIGNED) {
        printf("\n%s of %s calls\n", nsc_units_format_count(count, top->count),
               nsc_units_format_count(seen, top->seen));
        nsc_cli_footnotes(stdout, "", top->bounds, lost);
    } else if (format == NSC_TABLE_CSV) {
        nsc_cli_footnotes(stderr, "nanoscope: ", top->bounds, lost);
    }
    nsc_table_free(table);
    return nsc_cli_table_status(error);
}

static int run(const struct nsc_cli_args *args, struct nsc_trace *t, const char *pattern,
               const struct settings *s)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_calls_top top = {0};
    struct nsc_selection selection;
    uint8_t *wanted = NULL;
    int status = nsc_cli_select(args, &selection_ids, t, &selection);

    if (status == 0)
        status = nsc_cli_functions(t, pattern, &wanted);
    if (status == 0 && nsc_calls_top_init(&top, s->sort, s->top) < 0)
        status = nsc_cli_error("out of memory");
    if (status == 0 && nsc_calls_scan(t, &selection, NSC_CALLS_BY_THREAD, wanted,
                                      nsc_calls_top_offer, &top, &diag) < 0)
        status = nsc_cli_fail_in(nsc_trace_name(t), &diag);
    if (status == 0) {
        nsc_calls_top_sort(&top);
        status = print_calls(t, &top, s->format, nsc_report_lost(t, &selection));
    }
    nsc_calls_top_free(&top);
    free(wanted);
    nsc_selection_free(&selection);
    return status;
}

static bool ends_in_nst(const char *path)
{
    size_t length = strlen(path);

    return length >= 4 && strcmp(path + length - 4, ".nst") == 0;
}

/* Which operand is the trace, both orders being natural: the one that exists. A program may lie
 * beside its trace and be called as the function is: then the name decides. */
static size_t find_trace(const struct nsc_cli_args *args)
{
    char **operands = args->operands;

    if (access(operands[1], F_OK) != 0)
        return 0;
    return access(operands[0], F_OK) != 0 ||
           (ends_in_nst(operands[1]) && !ends_in_nst(operands[0]));
}

int nsc_cmd_calls(const struct nsc_cli_args *args)
{
    struct settings s = {.format = NSC_TABLE_ALIGNED, .sort = NSC_CALLS_KEY_DURATION, .top = 20};
    struct nsc_trace *t;
    size_t trace;
    int status = parse_options(args, &s);

    if (status)
        return status;
    if (args->operand_count != 2)
        return nsc_cli_usage(args, "a trace and a function are needed");
    trace = find_trace(args);
    status = nsc_cli_open_trace(args, trace, &t);
    if (status)
        return status;
    status = run(args, t, args->operands[1 - trace], &s);
    nsc_trace_close(t);
    return status;
}
