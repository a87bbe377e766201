/* cmd_tree.c - nanoscope tree: print the merged call tree, with shares. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/selected_events.h"
#include "analyze/paths/call_tree.h"
#include "analyze/paths/inverted_tree.h"
#include "cli/common/labels.h"
#include "cli/common/reader_rights.h"
#include "cli/common/view.h"
#include "cli/tree_options.h"
#include "util/text/escape.h"
#include "util/text/units.h"

struct settings {
    struct nsc_cli_view view;
    const char *root; /* pattern, or NULL */
    uint8_t *roots;   /* a byte per function, 1 = matches root; NULL without root */
    double min_share; /* of the root's total; negative = not given */
    uint64_t depth;   /* levels shown */
    bool per_thread;
    bool fold_recursion;
    bool callers; /* inverted tree: callers below each function */
    struct nsc_cli_labels labels;
};

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    switch (given->id) {
    case NSC_TREE_OPT_ROOT:
        s->root = given->value;
        return 0;
    case NSC_TREE_OPT_MIN_SHARE:
        return nsc_cli_share(args, given, 1, &s->min_share);
    case NSC_TREE_OPT_DEPTH:
        return nsc_cli_count(args, given, &s->depth);
    case NSC_TREE_OPT_PER_THREAD:
        s->per_thread = true;
        return 0;
    case NSC_TREE_OPT_FOLD_RECURSION:
        s->fold_recursion = true;
        return 0;
    case NSC_TREE_OPT_CALLERS:
        s->callers = true;
        return 0;
    default:
        return nsc_cli_view_option(args, given, &s->view);
    }
}

/* One tree being printed. */
struct print {
    const struct nsc_trace *trace;
    const struct nsc_tree *tree;
    const struct settings *settings;
    struct nsc_cli_labels *labels; /* those of the settings */
    const char *const *strokes;    /* Unicode or ASCII */
    uint64_t whole_ticks;          /* 100 % */
    char *lead;                    /* prefix of a line's function: "| " for open branches */
    size_t lead_bytes, lead_max;
    uint64_t left_out; /* nodes not shown: too small or too deep */
    uint32_t thread;   /* NSC_NO_ID = all */
    /* For CSV and JSON: */
    struct nsc_table *table;
};

enum stroke { STROKE_BRANCH, STROKE_LAST, STROKE_THROUGH, STROKE_NONE };

static const char *const strokes_unicode[] = {"\xe2\x94\x9c\xe2\x94\x80 ",
                                              "\xe2\x94\x94\xe2\x94\x80 ", "\xe2\x94\x82  ", "   "};
static const char *const strokes_ascii[] = {"|- ", "`- ", "|  ", "   "};

static bool is_shown(const struct print *p, const struct nsc_tree_node *node, uint64_t level)
{
    return level < p->settings->depth &&
           (double)node->total_ticks >= p->settings->min_share * (double)p->whole_ticks;
}

static uint64_t to_ns(const struct print *p, uint64_t ticks)
{
    return nsc_clock_span_ns(nsc_trace_clock(p->trace), ticks);
}

static void print_line(const struct print *p, const struct nsc_tree_node *node)
{
    char total[NSC_UNITS_MAX], self[NSC_UNITS_MAX], calls[NSC_UNITS_MAX], share[NSC_UNITS_MAX];

    printf("%7s %12s %12s %13s  %s",
           nsc_units_format_share(share, node->total_ticks, p->whole_ticks),
           nsc_units_format_ns(total, to_ns(p, node->total_ticks)),
           nsc_units_format_ns(self, to_ns(p, nsc_tree_self_ticks(node))),
           nsc_units_format_count(calls, node->calls), p->lead);
    nsc_text_put(stdout, nsc_cli_label(p->labels, node->function));
    putchar('\n');
}

/* Set the prefix of a line from byte @at on. Returns its new length, or 0 if memory runs out. */
static size_t set_lead(struct print *p, size_t at, enum stroke stroke)
{
    const char *text = p->strokes[stroke];
    size_t bytes = strlen(text);

    if (at + bytes + 1 > p->lead_max) {
        size_t max = (at + bytes + 1) * 2;
        char *lead = realloc(p->lead, max);

        if (!lead)
            return 0;
        p->lead = lead;
        p->lead_max = max;
    }
    memcpy(p->lead + at, text, bytes + 1);
    return at + bytes;
}

/* Print the subtrees of a node's children. Recursion is at most NSC_TREE_DEPTH_MAX deep. Returns
 * false if memory runs out. */
static bool print_children(struct print *p, uint32_t parent, uint64_t level, size_t lead)
{
    uint32_t child = p->tree->nodes[parent].first_child, next;

    for (; child; child = next) {
        const struct nsc_tree_node *node = &p->tree->nodes[child];
        size_t below = lead;

        next = node->next_sibling;
        if (!is_shown(p, node, level)) {
            p->left_out++;
            continue;
        }
        /* Siblings are sorted: when the next one is too small, this is the last that is shown. */
        if (level > 0) {
            bool last = !next || !is_shown(p, &p->tree->nodes[next], level);

            if (!set_lead(p, lead, last ? STROKE_LAST : STROKE_BRANCH))
                return false;
            print_line(p, node);
            below = set_lead(p, lead, last ? STROKE_NONE : STROKE_THROUGH);
            if (!below)
                return false;
        } else {
            p->lead[0] = '\0';
            print_line(p, node);
        }
        if (ferror(stdout))
            return true;
        if (!print_children(p, child, level + 1, below))
            return false;
    }
    return true;
}

static int print_drawing(struct print *p)
{
    char label[128], count[NSC_UNITS_MAX];
    bool colour = nsc_text_wants_colour(stdout);
    bool done;

    p->strokes = nsc_text_wants_unicode() ? strokes_unicode : strokes_ascii;
    if (!set_lead(p, 0, STROKE_NONE))
        return nsc_cli_error("out of memory");
    if (p->thread != NSC_NO_ID) {
        fputs("thread ", stdout);
        nsc_text_put(stdout, nsc_cli_thread_label(p->trace, p->thread, label, sizeof(label)));
        putchar('\n');
    }
    printf("%s%7s %12s %12s %13s  %s%s\n", colour ? "\x1b[1m" : "", "SHARE", "TOTAL", "SELF",
           "CALLS", "FUNCTION", colour ? "\x1b[0m" : "");
    done = print_children(p, 0, 0, 0);
    free(p->lead);
    if (!done)
        return nsc_cli_error("out of memory");
    if (p->left_out > 0)
        printf("%s smaller or deeper %s not shown (see --min-share, --depth)\n",
               nsc_units_format_count(count, p->left_out),
               p->left_out == 1 ? "branch is" : "branches are");
    return 0;
}

static const struct nsc_table_column columns[] = {
    {"id", "", NSC_TABLE_NUMBER, 0},      {"parent", "", NSC_TABLE_NUMBER, 0},
    {"depth", "", NSC_TABLE_NUMBER, 0},   {"tid", "", NSC_TABLE_NUMBER, 0},
    {"stack", "", NSC_TABLE_NUMBER, 0},   {"function", "", NSC_TABLE_TEXT, 0},
    {"calls", "", NSC_TABLE_NUMBER, 0},   {"total_ns", "", NSC_TABLE_NUMBER, 0},
    {"self_ns", "", NSC_TABLE_NUMBER, 0}, {"bounds", "", NSC_TABLE_NUMBER, 0},
};

/* Add a number, or an empty cell if it is not known. */
static void add_or_not(struct nsc_table *table, bool known, uint64_t value)
{
    if (known)
        nsc_table_add(table, value);
    else
        nsc_table_add_nothing(table);
}

/* Add a row for each node below @parent, depth first. @id: the parent's row, 0 = none. */
static void list_children(struct print *p, uint32_t parent, uint64_t level, uint64_t id)
{
    uint32_t child = p->tree->nodes[parent].first_child;
    bool one = p->thread != NSC_NO_ID;
    const struct nsc_thread *thread = one ? nsc_trace_thread(p->trace, p->thread) : NULL;

    for (; child; child = p->tree->nodes[child].next_sibling) {
        const struct nsc_tree_node *node = &p->tree->nodes[child];
        uint64_t own = nsc_table_rows(p->table) + 1;

        if (!is_shown(p, node, level)) {
            p->left_out++;
            continue;
        }
        nsc_table_add(p->table, own);
        add_or_not(p->table, id > 0, id);
        nsc_table_add(p->table, level);
        add_or_not(p->table, one, one ? thread->tid : 0);
        add_or_not(p->table, one, one ? thread->stack : 0);
        nsc_table_add_text(p->table, nsc_trace_function(p->trace, node->function)->name);
        nsc_table_add(p->table, node->calls);
        nsc_table_add(p->table, to_ns(p, node->total_ticks));
        nsc_table_add(p->table, to_ns(p, nsc_tree_self_ticks(node)));
        nsc_table_add(p->table, node->bounds);
        list_children(p, child, level + 1, own);
    }
}

/* Sums over all trees of one command. */
struct sums {
    uint64_t folded_calls, bounds, left_out, total_ns;
};

static int print_tree(struct settings *s, const struct nsc_tree *tree, uint32_t thread,
                      struct nsc_table *table, struct sums *sums)
{
    struct print p = {.trace = s->view.trace,
                      .tree = tree,
                      .settings = s,
                      .labels = &s->labels,
                      .whole_ticks = tree->nodes[0].total_ticks,
                      .table = table,
                      .thread = thread};
    int status = 0;

    if (table)
        list_children(&p, 0, 0, 0);
    else
        status = print_drawing(&p);
    sums->folded_calls += tree->folded_calls;
    /* Includes nodes that are not shown. In an inverted tree, callers count the calls of the top
     * function again. */
    for (uint32_t i = 1; i < tree->count; i++)
        if (!s->callers || tree->nodes[i].parent == 0)
            sums->bounds += tree->nodes[i].bounds;
    sums->left_out += p.left_out;
    sums->total_ns += to_ns(&p, p.whole_ticks);
    return status;
}

/* Returns 0 or -errno with @diag. */
static int make_tree(const struct settings *s, const struct nsc_selection *selection,
                     struct nsc_tree *out, struct nsc_diag *diag)
{
    const struct nsc_tree_options options = {.roots = s->callers ? NULL : s->roots,
                                             .fold_recursion = s->fold_recursion};
    struct nsc_tree tree;
    int error = nsc_tree_make(s->view.trace, selection, &options, &tree, diag);

    if (error < 0)
        return error;
    if (!s->callers) {
        *out = tree;
        return 0;
    }
    error = nsc_tree_invert(&tree, s->view.trace, s->roots, out);
    nsc_tree_free(&tree);
    return error < 0 ? nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory") : 0;
}

/* Make and print one tree for each selected thread. */
static int print_threads(struct settings *s, struct nsc_table *table, struct sums *sums)
{
    struct nsc_trace *t = s->view.trace;
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct nsc_selection one = s->view.selection;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    bool first = true;
    int status = 0;

    one.threads = calloc(count + 1u, 1);
    if (!one.threads)
        return nsc_cli_error("out of memory");
    for (uint32_t i = 0; i < count && status == 0; i++) {
        struct nsc_tree tree;

        if (!nsc_selected_events_is_wanted(t, &s->view.selection, i))
            continue;
        one.threads[i] = 1;
        if (make_tree(s, &one, &tree, &diag) < 0) {
            status = nsc_cli_fail_in(nsc_trace_name(t), &diag);
        } else {
            if (tree.nodes[0].first_child) {
                if (!first && !table)
                    putchar('\n');
                status = print_tree(s, &tree, i, table, sums);
                first = false;
            }
            nsc_tree_free(&tree);
        }
        one.threads[i] = 0;
    }
    free(one.threads);
    return status;
}

static int print_all(struct settings *s, struct nsc_table *table, struct sums *sums)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_tree tree;
    int status;

    if (s->per_thread)
        return print_threads(s, table, sums);
    if (make_tree(s, &s->view.selection, &tree, &diag) < 0)
        return nsc_cli_fail_in(nsc_trace_name(s->view.trace), &diag);
    status = print_tree(s, &tree, NSC_NO_ID, table, sums);
    nsc_tree_free(&tree);
    return status;
}

static int write_table(const struct settings *s, const struct nsc_table *table,
                       const struct sums *sums)
{
    struct nsc_json j;
    int error;

    if (s->view.format == NSC_TABLE_CSV)
        return nsc_cli_table_status(nsc_table_write(table, NSC_TABLE_CSV, stdout));
    nsc_json_begin(&j, stdout, false);
    nsc_json_u64(&j, "total_ns", sums->total_ns);
    nsc_json_u64(&j, "left_out", sums->left_out);
    nsc_json_u64(&j, "folded_calls", sums->folded_calls);
    nsc_json_u64(&j, "bounds", sums->bounds);
    nsc_cli_view_json_gaps(&s->view, &j);
    error = nsc_table_write_json(table, &j, "nodes");
    nsc_json_end(&j);
    return nsc_cli_table_status(error);
}

static void print_footnotes(const struct settings *s, const struct sums *sums)
{
    const char *prefix;
    FILE *out = nsc_cli_view_remarks(&s->view, &prefix);
    char count[NSC_UNITS_MAX];

    if (out && sums->folded_calls > 0)
        fprintf(out,
                "%s%s calls lie deeper than %u levels or on more than %u paths: they are in no"
                " branch of their own, their time is left out of SELF\n",
                prefix, nsc_units_format_count(count, sums->folded_calls), NSC_TREE_DEPTH_MAX,
                NSC_TREE_NODES_MAX);
    nsc_cli_view_footnotes(&s->view, sums->bounds);
}

static int run(struct settings *s)
{
    struct nsc_table *table = NULL;
    struct sums sums = {0};
    int status = nsc_cli_view_find_gaps(&s->view);

    if (status == 0 && s->root)
        status = nsc_cli_functions(s->view.trace, s->root, &s->roots);
    if (status == 0 && s->view.format != NSC_TABLE_ALIGNED) {
        table = nsc_table_new(columns, sizeof(columns) / sizeof(columns[0]));
        if (!table)
            status = nsc_cli_error("out of memory");
    }
    if (status == 0)
        status = print_all(s, table, &sums);
    if (status == 0 && table)
        status = write_table(s, table, &sums);
    if (status == 0)
        print_footnotes(s, &sums);
    nsc_table_free(table);
    free(s->roots);
    return status;
}

int nsc_cmd_tree(const struct nsc_cli_args *args)
{
    struct settings s = {.min_share = -1, .depth = UINT64_MAX};
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    /* By default, aligned output omits small branches; CSV and JSON contain all. */
    if (s.min_share < 0)
        s.min_share = s.view.format == NSC_TABLE_ALIGNED ? 0.01 : 0;
    if (status == 0 && s.callers && s.fold_recursion)
        status = nsc_cli_usage(args, "--callers and --fold-recursion do not go together");
    setlocale(LC_CTYPE, ""); /* for the characters that the tree is drawn with */
    nsc_cli_confine(NULL);
    if (status == 0)
        status = nsc_cli_view_open_only(args, &s.view);
    if (status)
        return status;
    nsc_cli_labels_init(&s.labels, s.view.trace);
    status = run(&s);
    nsc_cli_labels_free(&s.labels);
    nsc_cli_view_close(&s.view);
    return status;
}
