/* cmd_calls.c - nanoscope calls: the slowest calls of a function, or all its calls in groups. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/calls/calls.h"
#include "cli/analyze/calls_by.h"
#include "cli/calls_options.h"
#include "cli/common/labels.h"
#include "cli/common/reader_rights.h"
#include "cli/common/view.h"
#include "util/text/units.h"

#define TOP_MAX 10000000u /* calls kept in memory, 80 bytes each */

struct settings {
    struct nsc_cli_view view;
    enum nsc_cli_calls_by by;
    enum nsc_calls_key sort;
    bool sorts; /* --sort was given */
    uint64_t top;
};

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    static const char *const keys[] = {"duration", "self", "start", NULL};
    static const char *const sides[] = {"call", "caller", "callee", "duration", NULL};
    unsigned choice = 0;
    int status = 0;

    switch (given->id) {
    case NSC_CALLS_OPT_BY:
        status = nsc_cli_choice(args, given, sides, &choice);
        s->by = (enum nsc_cli_calls_by)choice;
        return status;
    case NSC_CALLS_OPT_SORT:
        status = nsc_cli_choice(args, given, keys, &choice);
        s->sorts = true;
        s->sort = (enum nsc_calls_key)choice;
        return status;
    case NSC_CALLS_OPT_TOP:
        status = nsc_cli_top(args, given, &s->top);
        if (status == 0 && s->top > TOP_MAX)
            status = nsc_cli_usage(args, "--%s can be %u at most", given->name, TOP_MAX);
        return status;
    default:
        return nsc_cli_view_option(args, given, &s->view);
    }
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

static void add_text_or_nothing(struct nsc_table *table, const char *text)
{
    if (text)
        nsc_table_add_text(table, text);
    else
        nsc_table_add_nothing(table);
}

/* @labels: NULL for names only. */
static const char *function_text(const struct nsc_trace *t, struct nsc_cli_labels *labels,
                                 uint32_t function)
{
    return labels ? nsc_cli_label(labels, function) : nsc_trace_function(t, function)->name;
}

static void add_call(struct nsc_table *table, const struct nsc_trace *t,
                     struct nsc_cli_labels *labels, const struct nsc_call *c)
{
    const struct nsc_clock *clock = nsc_trace_clock(t);
    const struct nsc_thread *thread = nsc_trace_thread(t, c->thread);
    char label[128];

    nsc_table_add_text(table, function_text(t, labels, c->function));
    nsc_table_add(table, nsc_clock_ns(clock, c->start_ticks));
    nsc_table_add(table, nsc_clock_span_ns(clock, c->end_ticks - c->start_ticks));
    nsc_table_add(table, nsc_clock_span_ns(clock, c->self_ticks));
    add_text_or_nothing(table, nsc_model_bound_name(c->bound));
    nsc_table_add(table, c->depth);
    nsc_table_add_text(table, nsc_cli_thread_label(t, c->thread, label, sizeof(label)));
    nsc_table_add(table, nsc_trace_process(t, thread->process)->pid);
    nsc_table_add(table, thread->tid);
    nsc_table_add(table, thread->stack);
    add_text_or_nothing(table, c->caller == NSC_NO_ID ? NULL : function_text(t, labels, c->caller));
}

static int print_json(const struct settings *s, const struct nsc_table *table,
                      const struct nsc_calls_top *top)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, false);
    nsc_json_u64(&j, "calls_total", top->seen);
    nsc_json_u64(&j, "bounds", top->bounds);
    nsc_cli_view_json_gaps(&s->view, &j);
    error = nsc_table_write_json(table, &j, "calls");
    nsc_json_end(&j);
    return error;
}

static int print_calls(const struct settings *s, const struct nsc_calls_top *top)
{
    struct nsc_table *table = nsc_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    bool aligned = s->view.format == NSC_TABLE_ALIGNED;
    char seen[NSC_UNITS_MAX], count[NSC_UNITS_MAX];
    struct nsc_cli_labels labels;
    int error;

    if (!table)
        return nsc_cli_error("out of memory");
    nsc_cli_labels_init(&labels, s->view.trace);
    for (size_t i = 0; i < top->count; i++)
        add_call(table, s->view.trace, aligned ? &labels : NULL, &top->calls[i]);
    nsc_cli_labels_free(&labels);
    if (s->view.format == NSC_TABLE_JSON)
        error = print_json(s, table, top);
    else
        error = nsc_table_write(table, s->view.format, stdout);
    if (aligned)
        printf("\n%s of %s call%s\n", nsc_units_format_count(count, top->count),
               nsc_units_format_count(seen, top->seen), nsc_units_plural(top->seen));
    nsc_cli_view_footnotes(&s->view, top->bounds);
    nsc_table_free(table);
    return nsc_cli_table_status(error);
}

static int run(struct settings *s, const char *pattern)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_trace *t = s->view.trace;
    struct nsc_calls_top top = {0};
    uint8_t *wanted = NULL;
    int status = nsc_cli_view_find_gaps(&s->view);

    if (status == 0)
        status = nsc_cli_functions(t, pattern, &wanted);
    if (status == 0 && s->by != NSC_CLI_CALLS_SINGLE) {
        status = nsc_cli_calls_by(&s->view, s->by, wanted, s->top);
        free(wanted);
        return status;
    }
    if (status == 0 && nsc_calls_top_init(&top, s->sort, s->top) < 0)
        status = nsc_cli_error("out of memory");
    if (status == 0 && nsc_calls_scan(t, &s->view.selection, NSC_CALLS_BY_THREAD, wanted,
                                      nsc_calls_top_offer, &top, &diag) < 0)
        status = nsc_cli_fail_in(nsc_trace_name(t), &diag);
    if (status == 0) {
        nsc_calls_top_sort(&top);
        status = print_calls(s, &top);
    }
    nsc_calls_top_free(&top);
    free(wanted);
    return status;
}

static bool ends_in_nst(const char *path)
{
    size_t length = strlen(path);

    return length >= 4 && strcmp(path + length - 4, ".nst") == 0;
}

/* The index of the operand that is the trace; both orders are accepted. It is the one that exists.
 * If both exist, e.g. a program with the name of the function, the suffix .nst decides. */
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
    struct settings s = {.sort = NSC_CALLS_KEY_DURATION, .top = 20};
    size_t trace;
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0 && args->operand_count != 2)
        status = nsc_cli_usage(args, "a trace and a function are needed");
    if (status == 0 && s.sorts && s.by != NSC_CLI_CALLS_SINGLE)
        status = nsc_cli_usage(args, "--sort is for single calls, not for --by");
    if (status)
        return status;
    if (access(args->operands[0], F_OK) != 0 && access(args->operands[1], F_OK) != 0)
        return nsc_cli_error("one of %s and %s must be a trace, and neither is there",
                             args->operands[0], args->operands[1]);
    trace = find_trace(args);
    nsc_cli_confine(NULL);
    status = nsc_cli_view_open(args, trace, &s.view);
    if (status)
        return status;
    status = run(&s, args->operands[1 - trace]);
    nsc_cli_view_close(&s.view);
    return status;
}
