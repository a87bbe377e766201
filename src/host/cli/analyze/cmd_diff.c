/* cmd_diff.c - nanoscope diff: what got slower or faster from one trace to another. */
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/trace_diff.h"
#include "cli/common/categories.h"
#include "cli/common/export_own.h"
#include "cli/common/reader_rights.h"
#include "cli/common/view.h"
#include "cli/diff_options.h"
#include "cli/progress.h"
#include "util/path.h"
#include "util/text/escape.h"
#include "util/text/units.h"

#define PATHS      10u  /* shown by default */
#define SHARE_MOST 1e6  /* of --min-change: 100,000,000 % */
#define RATIO_MOST 1e15 /* thousandths */

struct settings {
    struct nsc_cli_view views[NSC_DIFF_SIDES];
    enum nsc_table_format format;
    bool page; /* write an HTML page instead of tables */
    const char *output;
    const char *categories; /* file of rules, or NULL */
    bool for_tables;        /* an option was given that applies to tables only */
    unsigned sort;          /* enum nsc_diff_key */
    uint64_t top, paths;
    uint64_t min_change_ns;
    double min_change_share; /* fraction of the value in A */
};

/* Parse --min-change: a time, or a percentage with %. */
static int read_min_change(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                           struct settings *s)
{
    if (strchr(given->value, '%') != NULL)
        return nsc_cli_share(args, given, SHARE_MOST, &s->min_change_share);
    if (nsc_units_parse_ns(given->value, &s->min_change_ns) == 0)
        return 0;
    return nsc_cli_usage(args,
                         "--min-change wants a time such as 10us or a share such as 5%%, "
                         "not '%s'",
                         given->value);
}

/* Parse --format: "html", or a format that all commands have. */
static int read_format(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    static const char *const formats[] = {[NSC_TABLE_ALIGNED] = "table",
                                          [NSC_TABLE_CSV] = "csv",
                                          [NSC_TABLE_JSON] = "json",
                                          "html",
                                          NULL};
    unsigned choice = NSC_TABLE_ALIGNED;
    int status = nsc_cli_choice(args, given, formats, &choice);

    s->page = choice > NSC_TABLE_JSON;
    if (!s->page)
        s->views[0].format = (enum nsc_table_format)choice;
    return status;
}

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    /* In the order of enum nsc_diff_key. */
    static const char *const keys[] = {"self", "total", "calls", "name", NULL};

    s->for_tables |= given->id == NSC_DIFF_OPT_SORT || given->id == NSC_DIFF_OPT_TOP ||
                     given->id == NSC_DIFF_OPT_PATHS || given->id == NSC_DIFF_OPT_MIN_CHANGE;
    switch (given->id) {
    case NSC_DIFF_OPT_FORMAT:
        return read_format(args, given, s);
    case NSC_DIFF_OPT_OUTPUT:
        s->output = given->value;
        return 0;
    case NSC_DIFF_OPT_CATEGORIES:
        s->categories = given->value;
        return 0;
    case NSC_DIFF_OPT_SORT:
        return nsc_cli_choice(args, given, keys, &s->sort);
    case NSC_DIFF_OPT_TOP:
        return nsc_cli_count(args, given, &s->top);
    case NSC_DIFF_OPT_PATHS:
        return nsc_cli_count(args, given, &s->paths);
    case NSC_DIFF_OPT_MIN_CHANGE:
        return read_min_change(args, given, s);
    case NSC_DIFF_OPT_FROM_B:
    case NSC_DIFF_OPT_TO_B:
    case NSC_DIFF_OPT_THREAD_B:
    case NSC_DIFF_OPT_PROCESS_B:
        return 0; /* see open_side() */
    default:
        return nsc_cli_view_option(args, given, &s->views[0]);
    }
}

/* ---- The traces ------------------------------------------------------------------------------ */

/* The shared option that @given overrides for B: "from" for "from-b"; NULL for other options. */
static const char *name_for_b(const struct nsc_cli_given *given)
{
    switch (given->id) {
    case NSC_DIFF_OPT_FROM_B:
        return "from";
    case NSC_DIFF_OPT_TO_B:
        return "to";
    case NSC_DIFF_OPT_THREAD_B:
        return "thread";
    case NSC_DIFF_OPT_PROCESS_B:
        return "process";
    default:
        return NULL;
    }
}

/* Whether an option for B only overrides @given. */
static bool is_replaced(const struct nsc_cli_args *args, const struct nsc_cli_given *given)
{
    for (size_t i = 0; i < args->option_count; i++) {
        const char *name = name_for_b(&args->options[i]);

        if (name != NULL && strcmp(name, given->name) == 0)
            return true;
    }
    return false;
}

/* Open one trace with the options that apply to it. Returns 0 or an exit status after a message. */
static int open_side(const struct nsc_cli_args *args, unsigned side, struct nsc_cli_view *view)
{
    struct nsc_cli_args own = *args;
    int status;

    own.options = calloc(args->option_count + 1, sizeof(*own.options));
    if (own.options == NULL)
        return nsc_cli_error("out of memory");
    own.option_count = 0;
    for (size_t i = 0; i < args->option_count; i++) {
        struct nsc_cli_given given = args->options[i];
        const char *name = name_for_b(&given);

        if (side == 0 ? name != NULL : name == NULL && is_replaced(args, &given))
            continue;
        if (name != NULL)
            given.name = name;
        own.options[own.option_count++] = given;
    }
    status = nsc_cli_view_open(&own, side, view);
    free(own.options);
    if (status != 0)
        return status;
    status = nsc_cli_view_find_gaps(view);
    if (status != 0)
        nsc_cli_view_close(view);
    return status;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static const struct nsc_table_column columns[] = {
    {"function", "FUNCTION", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"module", "", NSC_TABLE_TEXT, NSC_TABLE_NO_HUMAN},
    {"calls_a", "CALLS A", NSC_TABLE_COUNT, 0},
    {"calls_b", "CALLS B", NSC_TABLE_COUNT, 0},
    {"total_a_ns", "TOTAL A", NSC_TABLE_NS, 0},
    {"total_b_ns", "TOTAL B", NSC_TABLE_NS, 0},
    {"self_a_ns", "SELF A", NSC_TABLE_NS, 0},
    {"self_b_ns", "SELF B", NSC_TABLE_NS, 0},
    {"self_change_ns", "CHANGE", NSC_TABLE_CHANGE_NS, 0},
    {"self_ratio", "RATIO", NSC_TABLE_RATIO, 0},
    {"total_change_ns", "CHANGE", NSC_TABLE_CHANGE_NS, 0},
    {"total_ratio", "RATIO", NSC_TABLE_RATIO, 0},
    {"calls_change", "CHANGE", NSC_TABLE_CHANGE, 0},
    {"calls_ratio", "RATIO", NSC_TABLE_RATIO, 0},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
enum { CHANGES_FIRST = 8 }; /* two columns of each key, in the order of enum nsc_diff_key */

/* The function, from the first trace that has it. @module: receives the module's path, or "". */
static const struct nsc_function *find_function(const struct settings *s,
                                                const struct nsc_diff_row *row, const char **module)
{
    unsigned side = row->functions[0] == NSC_NO_ID;
    const struct nsc_trace *t = s->views[side].trace;
    const struct nsc_function *f = nsc_trace_function(t, row->functions[side]);

    *module = f->module != NSC_NO_ID ? nsc_trace_module(t, f->module)->path : "";
    return f;
}

/* Add @lead and the name; in an aligned table with its location if others share the name: "init
 * [prog file.c]". */
static void add_name(const struct settings *s, struct nsc_table *table, const char *lead,
                     const struct nsc_diff_row *row)
{
    const char *module;
    const struct nsc_function *f = find_function(s, row, &module);
    const char *file = nsc_path_base_name(f->file);
    const char *gap = *module != '\0' && *file != '\0' ? " " : "";
    bool placed =
        s->format == NSC_TABLE_ALIGNED && row->shared && (*module != '\0' || *file != '\0');
    char *text;
    int length = placed ? asprintf(&text, "%s%s [%s%s%s]", lead, row->name,
                                   nsc_path_base_name(module), gap, file)
                        : asprintf(&text, "%s%s", lead, row->name);

    if (length < 0)
        text = NULL;
    nsc_table_add_text(table, text != NULL ? text : row->name);
    free(text);
}

static int64_t change(uint64_t a, uint64_t b)
{
    return (int64_t)(b - a);
}

static void add_ratio(struct nsc_table *table, uint64_t a, uint64_t b)
{
    double ratio = a > 0 ? (double)b * 1000 / (double)a + 0.5 : 0;

    if (a > 0 && ratio < RATIO_MOST)
        nsc_table_add(table, (uint64_t)ratio);
    else
        nsc_table_add_nothing(table);
}

/* Add a value of both traces; an empty cell where the function was not called. */
static void add_both(struct nsc_table *table, const struct nsc_diff_sums *sums,
                     enum nsc_diff_key key)
{
    for (int side = 0; side < NSC_DIFF_SIDES; side++) {
        if (sums[side].calls > 0)
            nsc_table_add(table, nsc_diff_value(&sums[side], key));
        else
            nsc_table_add_nothing(table);
    }
}

static void add_row(const struct settings *s, struct nsc_table *table,
                    const struct nsc_diff_row *row)
{
    const char *module;

    add_name(s, table, "", row);
    find_function(s, row, &module);
    if (*module != '\0')
        nsc_table_add_text(table, module);
    else
        nsc_table_add_nothing(table);
    add_both(table, row->sums, NSC_DIFF_BY_CALLS);
    add_both(table, row->sums, NSC_DIFF_BY_TOTAL);
    add_both(table, row->sums, NSC_DIFF_BY_SELF);
    for (enum nsc_diff_key key = NSC_DIFF_BY_SELF; key <= NSC_DIFF_BY_CALLS; key++) {
        uint64_t a = nsc_diff_value(&row->sums[0], key), b = nsc_diff_value(&row->sums[1], key);

        nsc_table_add_change(table, change(a, b));
        add_ratio(table, a, b);
    }
}

/* Whether the change is at least --min-change. */
static bool is_wanted(const struct settings *s, const struct nsc_diff_sums *sums)
{
    enum nsc_diff_key key = (enum nsc_diff_key)s->sort;
    uint64_t distance = nsc_diff_distance(sums, key);

    return distance >= s->min_change_ns &&
           (double)distance >= s->min_change_share * (double)nsc_diff_value(&sums[0], key);
}

/* @left_out: receives the number of functions that changed less than --min-change. */
static struct nsc_table *make_table(const struct settings *s, const struct nsc_diff *d,
                                    const struct nsc_table_column *own_columns, size_t *left_out)
{
    uint32_t *order = nsc_diff_order(d, (enum nsc_diff_key)s->sort);
    struct nsc_table *table = order != NULL ? nsc_table_new(own_columns, COLUMNS) : NULL;

    *left_out = 0;
    for (uint32_t i = 0; table != NULL && i < d->row_count; i++) {
        const struct nsc_diff_row *row = &d->rows[order[i]];

        if (!is_wanted(s, row->sums))
            ++*left_out;
        else if (nsc_table_rows(table) < s->top)
            add_row(s, table, row);
    }
    free(order);
    return table;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static const struct nsc_table_column path_columns[] = {
    {"function", "PATH", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"depth", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
    {"calls_a", "CALLS A", NSC_TABLE_COUNT, 0},
    {"calls_b", "CALLS B", NSC_TABLE_COUNT, 0},
    {"total_a_ns", "TOTAL A", NSC_TABLE_NS, 0},
    {"total_b_ns", "TOTAL B", NSC_TABLE_NS, 0},
    {"total_change_ns", "CHANGE", NSC_TABLE_CHANGE_NS, 0},
    {"self_a_ns", "", NSC_TABLE_NS, NSC_TABLE_NO_HUMAN},
    {"self_b_ns", "", NSC_TABLE_NS, NSC_TABLE_NO_HUMAN},
    {"self_change_ns", "SELF CHANGE", NSC_TABLE_CHANGE_NS, 0},
};

/* Levels that are shown by indentation, two columns each; deeper paths show their level instead. */
#define INDENT_MOST 32u

static void add_path(const struct settings *s, struct nsc_table *table, const struct nsc_diff *d,
                     const struct nsc_diff_node *node)
{
    char lead[2 * INDENT_MOST + 32] = "";

    if (s->format == NSC_TABLE_ALIGNED && node->depth > INDENT_MOST)
        snprintf(lead, sizeof(lead), "%*s(level %u) ", (int)(2 * INDENT_MOST), "", node->depth);
    else if (s->format == NSC_TABLE_ALIGNED)
        snprintf(lead, sizeof(lead), "%*s", (int)(2 * node->depth), "");
    add_name(s, table, lead, &d->rows[node->row]);
    nsc_table_add(table, node->depth);
    add_both(table, node->sums, NSC_DIFF_BY_CALLS);
    add_both(table, node->sums, NSC_DIFF_BY_TOTAL);
    nsc_table_add_change(table, change(node->sums[0].total_ns, node->sums[1].total_ns));
    add_both(table, node->sums, NSC_DIFF_BY_SELF);
    nsc_table_add_change(table, change(node->sums[0].self_ns, node->sums[1].self_ns));
}

/* The paths that changed most, each below its callers. */
static struct nsc_table *make_paths(const struct settings *s, const struct nsc_diff *d)
{
    uint8_t *chosen = nsc_diff_choose(d, (enum nsc_diff_key)s->sort, s->paths, 0);
    struct nsc_table *table = NULL;

    if (chosen != NULL)
        table = nsc_table_new(path_columns, sizeof(path_columns) / sizeof(path_columns[0]));
    for (uint32_t i = 0; table != NULL && i < d->node_count; i++)
        if (chosen[i] != 0)
            add_path(s, table, d, &d->nodes[i]);
    free(chosen);
    return table;
}

/* ---- Output ---------------------------------------------------------------------------------- */

static int print_json(const struct settings *s, const struct nsc_diff *d,
                      const struct nsc_table *table, const struct nsc_table *paths)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, false);
    for (unsigned side = 0; side < NSC_DIFF_SIDES; side++) {
        nsc_json_open_object(&j, side == 0 ? "a" : "b");
        nsc_json_text(&j, "trace", nsc_trace_name(s->views[side].trace));
        nsc_json_u64(&j, "calls", d->sides[side].calls);
        nsc_json_u64(&j, "self_ns", d->sides[side].self_ns);
        nsc_json_u64(&j, "folded_calls", d->sides[side].folded_calls);
        nsc_json_u64(&j, "bounds", d->sides[side].bounds);
        nsc_cli_view_json_gaps(&s->views[side], &j);
        nsc_json_close_object(&j);
    }
    error = nsc_table_write_json(table, &j, "functions");
    if (error == 0)
        error = nsc_table_write_json(paths, &j, "paths");
    nsc_json_end(&j);
    return error;
}

/* Whether a trace's numbers are not exact. Only then does CSV come with remarks. */
static bool is_inexact(const struct nsc_cli_view *view, const struct nsc_diff_side *whole)
{
    bool left_out = view->left_out.all_functions > 0;

    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        left_out |= nsc_left_out_events(view->trace, i) > 0 || view->left_out.nothing_ns[i] > 0;
    return left_out || whole->bounds > 0 || whole->folded_calls > 0 || view->gaps.count > 0 ||
           view->gaps.lost > 0 || nsc_trace_info(view->trace)->exits_bound;
}

/* Print the totals of one trace, and why its numbers are not exact. */
static void tell_side(const struct settings *s, const struct nsc_diff *d, unsigned side)
{
    const struct nsc_cli_view *view = &s->views[side];
    const struct nsc_diff_side *whole = &d->sides[side];
    const char *prefix;
    FILE *out = nsc_cli_view_remarks(view, &prefix);
    char calls[NSC_UNITS_MAX], self[NSC_UNITS_MAX], folded[NSC_UNITS_MAX];

    if (out == NULL || (s->format == NSC_TABLE_CSV && !is_inexact(view, whole)))
        return;
    fprintf(out, "%s%c is ", prefix, "AB"[side]);
    nsc_text_put(out, nsc_trace_name(view->trace));
    fprintf(out, ": %s call%s, %s in them\n", nsc_units_format_count(calls, whole->calls),
            nsc_units_plural(whole->calls), nsc_units_format_ns(self, whole->self_ns));
    if (whole->folded_calls > 0)
        fprintf(out, "%s%s calls are too deep, or on too many paths, to be told among the paths\n",
                prefix, nsc_units_format_count(folded, whole->folded_calls));
    nsc_cli_view_footnotes(view, whole->bounds);
}

static void tell_functions(const struct settings *s, const struct nsc_diff *d, size_t left_out)
{
    size_t in[1 << NSC_DIFF_SIDES] = {0}, shown = d->row_count - left_out;
    char both[NSC_UNITS_MAX], only_a[NSC_UNITS_MAX], only_b[NSC_UNITS_MAX], count[NSC_UNITS_MAX];

    for (uint32_t i = 0; i < d->row_count; i++)
        in[(d->rows[i].functions[0] != NSC_NO_ID) | (d->rows[i].functions[1] != NSC_NO_ID) << 1]++;
    printf("\n%s function%s in both, %s only in A, %s only in B",
           nsc_units_format_count(both, in[3]), nsc_units_plural(in[3]),
           nsc_units_format_count(only_a, in[1]), nsc_units_format_count(only_b, in[2]));
    if (left_out > 0)
        printf("; %s changed less than --min-change", nsc_units_format_count(count, left_out));
    if (s->top < shown)
        printf("; %s shown", nsc_units_format_count(count, s->top));
    putchar('\n');
}

static int print(const struct settings *s, const struct nsc_diff *d)
{
    struct nsc_table_column own_columns[COLUMNS];
    unsigned compared = s->sort == NSC_DIFF_BY_NAME ? NSC_DIFF_BY_SELF : s->sort;
    struct nsc_table *table, *paths;
    size_t left_out;
    int error;

    memcpy(own_columns, columns, sizeof(columns));
    for (unsigned i = CHANGES_FIRST; i < COLUMNS; i++) /* aligned: the sort key only */
        if ((i - CHANGES_FIRST) / 2 != compared)
            own_columns[i].flags |= NSC_TABLE_NO_HUMAN;
    table = make_table(s, d, own_columns, &left_out);
    paths = make_paths(s, d);
    if (table == NULL || paths == NULL) {
        error = nsc_cli_error("out of memory");
    } else if (s->format == NSC_TABLE_JSON) {
        error = nsc_cli_table_status(print_json(s, d, table, paths));
    } else {
        error = nsc_table_write(table, s->format, stdout);
        if (s->format == NSC_TABLE_ALIGNED && nsc_table_rows(paths) > 0) {
            fputs("\nPaths that changed most, below their callers:\n", stdout);
            error = error != 0 ? error : nsc_table_write(paths, s->format, stdout);
        }
        error = nsc_cli_table_status(error);
        if (s->format == NSC_TABLE_ALIGNED)
            tell_functions(s, d, left_out);
        tell_side(s, d, 0);
        tell_side(s, d, 1);
    }
    nsc_table_free(table);
    nsc_table_free(paths);
    return error;
}

/* ---- The page -------------------------------------------------------------------------------- */

static void tick(void *context, uint64_t done, uint64_t total)
{
    nsc_progress_show(context, "writing", done, total);
}

static int write_page(const struct settings *s)
{
    const struct nsc_cli_page_part parts[] = {{s->views[0].trace, &s->views[0].selection},
                                              {s->views[1].trace, &s->views[1].selection}};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_progress progress;
    const struct nsc_formats_progress on_progress = {tick, &progress};
    char calls[NSC_UNITS_MAX], bytes[NSC_UNITS_MAX];
    struct nsc_export_result result;
    struct nsc_page_rules rules = {0};
    int error = s->categories != NULL
                    ? nsc_cli_read_rules_text(s->categories, &rules.text, &rules.bytes)
                    : 0;

    if (error != 0)
        return error;
    nsc_progress_begin(&progress);
    error =
        nsc_cli_export_page(parts, NSC_DIFF_SIDES, &rules, s->output, &on_progress, &result, &diag);
    nsc_progress_end(&progress);
    free(rules.text);
    if (error != 0)
        return nsc_cli_fail(&diag);
    for (uint32_t i = 0; i < result.notes.count; i++)
        nsc_cli_warn("%s", result.notes.line[i]);
    if (strcmp(s->output, "-") != 0) {
        nsc_text_put(stdout, s->output);
        printf(": %s call%s of two traces, %s\n", nsc_units_format_count(calls, result.calls),
               nsc_units_plural(result.calls), nsc_units_format_bytes(bytes, result.bytes));
    }
    return NSC_CLI_OK;
}

/* Check the options of a page and its output; a suffix .html of the output selects a page, too.
 * Returns 0 or an exit status after a message. */
static int check_page(const struct nsc_cli_args *args, struct settings *s)
{
    const char *guess = s->output != NULL ? nsc_cli_own_guess(s->output) : NULL;

    s->page |= guess != NULL && strcmp(guess, "html") == 0;
    if (!s->page && s->output != NULL)
        return nsc_cli_usage(args, "-o names a page (--format html); redirect what is printed");
    if (!s->page)
        return s->categories != NULL ? nsc_cli_usage(args, "--categories is for a page") : 0;
    if (s->for_tables)
        return nsc_cli_usage(args, "a page has all functions and paths: --sort, --top, --paths and "
                                   "--min-change are for what is printed");
    if (s->output == NULL)
        s->output = "-";
    if (strcmp(s->output, "-") == 0 && nsc_text_is_terminal(stdout))
        return nsc_cli_usage(args, "a page does not go to a terminal: redirect, or give -o");
    for (size_t i = 0; i < args->operand_count; i++)
        if (nsc_cli_is_input(args->operands[i], s->output))
            return nsc_cli_error("%s is one of the traces: name another output with -o", s->output);
    return 0;
}

static int run(const struct settings *s)
{
    struct nsc_trace *const traces[] = {s->views[0].trace, s->views[1].trace};
    const struct nsc_selection *const selections[] = {&s->views[0].selection,
                                                      &s->views[1].selection};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_diff d = {0};
    unsigned failed = 0;
    int status;

    if (s->page)
        return write_page(s);
    if (nsc_diff_make(traces, selections, &d, &failed, &diag) < 0)
        return nsc_cli_fail_in(nsc_trace_name(traces[failed]), &diag);
    status = print(s, &d);
    nsc_diff_free(&d);
    return status;
}

int nsc_cmd_diff(const struct nsc_cli_args *args)
{
    struct settings s = {.sort = NSC_DIFF_BY_SELF, .top = UINT64_MAX, .paths = PATHS};
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0 && s.sort == NSC_DIFF_BY_CALLS && s.min_change_ns > 0)
        status = nsc_cli_usage(args, "with --sort calls, --min-change wants a share such as 5%%");
    if (status == 0 && args->operand_count != NSC_DIFF_SIDES)
        status = nsc_cli_usage(args, "two traces are needed: diff BEFORE AFTER");
    if (status == 0 && strcmp(args->operands[0], "-") == 0 && strcmp(args->operands[1], "-") == 0)
        status = nsc_cli_usage(args, "only one of the traces can come from standard input");
    if (status == 0)
        status = check_page(args, &s);
    if (status != 0)
        return status;
    nsc_cli_confine(s.output);
    s.format = s.views[1].format = s.views[0].format;
    status = open_side(args, 0, &s.views[0]);
    if (status != 0)
        return status;
    status = open_side(args, 1, &s.views[1]);
    if (status == 0) {
        status = run(&s);
        nsc_cli_view_close(&s.views[1]);
    }
    nsc_cli_view_close(&s.views[0]);
    return status;
}
