/*
 * handle_analyses.c - statistics of a selection: /api/report, /api/tree, /api/sandwich,
 * /api/histogram and /api/shares.
 *
 * All numbers come from analyze/ and agree with the command line.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/gaps.h"
#include "analyze/functions/category_shares.h"
#include "analyze/functions/duration_dist.h"
#include "analyze/functions/report.h"
#include "analyze/paths/inverted_tree.h"
#include "analyze/paths/sandwich.h"
#include "viewer/engine/handlers.h"

#define REPORT_ROWS     200u
#define REPORT_ROWS_MAX 10000u
#define TREE_NODES      5000u
#define TREE_NODES_MAX  100000u
#define SANDWICH_ROWS   1000u /* on each side */
#define LONGEST         20u
#define LONGEST_MAX     1000u

static uint64_t span_ns(const struct nsc_engine_context *ask, uint64_t ticks)
{
    return nsc_clock_span_ns(nsc_trace_clock(ask->trace), ticks);
}

/* ---- /api/report ----------------------------------------------------------------------------- */

struct report {
    struct nsc_report report;
    struct nsc_left_out_list left_out;
    struct nsc_gaps gaps;
};

static void free_report(struct report *r)
{
    nsc_report_free(&r->report);
    nsc_left_out_free(&r->left_out);
}

static int make_report(struct nsc_engine_context *ask, const struct nsc_selection *s,
                       struct report *r)
{
    int error = nsc_report_make(ask->trace, s, false, &r->report, &ask->diag);

    if (error == 0)
        error = nsc_left_out_find(ask->trace, s, &r->left_out, &ask->diag);
    if (error == 0)
        error = nsc_report_add_left_out(&r->report, &r->left_out, &ask->diag);
    if (error == 0)
        error = nsc_gaps_find(ask->trace, s, NULL, NULL, &r->gaps, &ask->diag);
    return error;
}

static void put_estimate(struct nsc_json *j, const char *key, bool known,
                         const struct nsc_estimate *e)
{
    if (!known)
        return;
    nsc_json_open_array(j, key);
    nsc_json_u64(j, NULL, e->value);
    nsc_json_u64(j, NULL, e->error);
    nsc_json_close_array(j);
}

/* Write the reasons why calls of a function were left out, separated by commas. */
static void put_reasons(struct nsc_json *j, uint32_t reasons)
{
    char text[128];
    int used = 0;

    if (reasons == 0) {
        nsc_json_null(j, "left_out");
        return;
    }
    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        if ((reasons >> i & 1) != 0)
            used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s", used > 0 ? "," : "",
                             nsc_model_left_out_reason_name(i));
    nsc_json_text(j, "left_out", text);
}

static void put_report_row(struct nsc_json *j, const struct nsc_report_row *row)
{
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "function", row->function);
    nsc_json_u64(j, "calls", row->calls);
    nsc_json_u64(j, "total", row->total_ns);
    nsc_json_u64(j, "self", row->self_ns);
    /* A function whose calls were all left out has no durations. */
    nsc_json_u64_or_null(j, "min", row->calls > 0, row->min_ns);
    nsc_json_u64_or_null(j, "p50", row->calls > 0, row->p50_ns);
    nsc_json_u64_or_null(j, "p90", row->calls > 0, row->p90_ns);
    nsc_json_u64_or_null(j, "p99", row->calls > 0, row->p99_ns);
    nsc_json_u64_or_null(j, "max", row->calls > 0, row->max_ns);
    nsc_json_u64(j, "bounds", row->bounds);
    put_reasons(j, row->left_out);
    put_estimate(j, "more_calls", (row->more_known & NSC_LEFT_OUT_CALLS) != 0, &row->more_calls);
    put_estimate(j, "more_total", (row->more_known & NSC_LEFT_OUT_TOTAL) != 0, &row->more_total_ns);
    put_estimate(j, "more_self", (row->more_known & NSC_LEFT_OUT_SELF) != 0, &row->more_self_ns);
    nsc_json_close_object(j);
}

static int put_report(struct nsc_engine_context *ask, const struct nsc_selection *s,
                      const struct report *r, size_t limit)
{
    bool windowed = s->from_ticks != 0 || s->to_ticks != UINT64_MAX;
    struct nsc_json *j = nsc_context_json(ask);
    size_t shown = r->report.row_count < limit ? r->report.row_count : limit;

    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "calls", r->report.calls);
    nsc_json_u64(j, "bounds", r->report.bounds);
    /* With a window, count only losses that are known to lie in it. */
    nsc_json_u64(j, "lost", windowed ? r->gaps.placed : r->gaps.lost);
    nsc_json_u64(j, "functions", r->report.row_count);
    nsc_json_bool(j, "rough", r->report.coarse);
    nsc_json_u64(j, "more", r->report.row_count - shown);
    nsc_json_open_array(j, "rows");
    for (size_t i = 0; i < shown; i++)
        put_report_row(j, &r->report.rows[i]);
    nsc_json_close_array(j);
    nsc_json_close_object(j);
    return 0;
}

int nsc_engine_report(struct nsc_engine_context *ask)
{
    /* In the order of enum nsc_report_key. */
    static const char *const keys[] = {"total", "self", "calls", "min", "p50",
                                       "p90",   "p99",  "max",   "name"};
    uint32_t key = nsc_context_word(ask, "sort", keys, sizeof(keys) / sizeof(keys[0]), 0);
    uint64_t limit = nsc_context_number(ask, "limit", REPORT_ROWS, REPORT_ROWS_MAX);
    struct report r = {0};
    struct nsc_selection s;
    int error = nsc_context_selection(ask, &s);

    if (error == 0)
        error = nsc_context_check(ask);
    if (error == 0)
        error = make_report(ask, &s, &r);
    if (error == 0) {
        nsc_report_sort(&r.report, ask->trace, (enum nsc_report_key)key);
        error = put_report(ask, &s, &r, (size_t)limit);
    }
    free_report(&r);
    nsc_selection_free(&s);
    return error;
}

/* ---- /api/shares ----------------------------------------------------------------------------- */

static int put_shares(struct nsc_engine_context *ask, const struct nsc_shares *shares)
{
    struct nsc_json *j = nsc_context_json(ask);

    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "total", shares->self_ns);
    nsc_json_open_array(j, "rows");
    for (size_t i = 0; i < shares->count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, "category", shares->rows[i].category);
        nsc_json_u64(j, "calls", shares->rows[i].calls);
        nsc_json_u64(j, "self", shares->rows[i].self_ns);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_close_object(j);
    return 0;
}

int nsc_engine_shares(struct nsc_engine_context *ask)
{
    const struct nsc_categories *categories = NULL;
    struct nsc_shares shares = {0};
    struct nsc_report r = {0};
    struct nsc_selection s;
    int error = nsc_context_selection(ask, &s);

    if (error == 0)
        error = nsc_context_check(ask);
    if (error == 0 && (categories = nsc_context_categories(ask)) == NULL)
        error = -ENOMEM;
    if (error == 0)
        error = nsc_report_make(ask->trace, &s, false, &r, &ask->diag);
    if (error == 0 && nsc_shares_make(&r, categories, &shares) != 0)
        error = nsc_context_no_memory(ask);
    if (error == 0)
        error = put_shares(ask, &shares);
    nsc_shares_free(&shares);
    nsc_report_free(&r);
    nsc_selection_free(&s);
    return error;
}

/* ---- /api/tree ------------------------------------------------------------------------------- */

/* A node with its depth, for choosing the heaviest nodes. */
struct weighed {
    uint64_t ticks;
    uint32_t node, depth;
};

/* Heaviest first; of equal ones the outer first, so that a node's parent is chosen before it. */
static int compare_weights(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* One byte per node, 1 for the @limit heaviest; NULL if out of memory. Where recursion adds no
 * time, a child may be heavier than its parent: put_tree() omits it if its parent is not chosen. */
static uint8_t *choose_nodes(const struct nsc_tree *tree, uint32_t limit)
{
    struct weighed *all = reallocarray(NULL, tree->count, sizeof(*all));
    uint8_t *chosen = calloc(tree->count + 1u, 1);
    uint32_t depth = 0, n = 0;

    if (all == NULL || chosen == NULL) {
        free(all);
        free(chosen);
        return NULL;
    }
    for (uint32_t at = nsc_tree_next(tree, 0, true, &depth); at != 0;
         at = nsc_tree_next(tree, at, true, &depth))
        all[n++] = (struct weighed){tree->nodes[at].total_ticks, at, depth};
    if (n > limit)
        qsort(all, n, sizeof(*all), compare_weights);
    for (uint32_t i = 0; i < n && i < limit; i++)
        chosen[all[i].node] = 1;
    free(all);
    return chosen;
}

static void put_node(struct nsc_engine_context *ask, const struct nsc_tree_node *node,
                     uint32_t depth)
{
    struct nsc_json *j = &ask->json;

    nsc_json_open_array(j, NULL);
    nsc_json_u64(j, NULL, node->function);
    nsc_json_u64(j, NULL, depth);
    nsc_json_u64(j, NULL, node->calls);
    nsc_json_u64(j, NULL, span_ns(ask, node->total_ticks));
    nsc_json_u64(j, NULL, span_ns(ask, nsc_tree_self_ticks(node)));
    nsc_json_close_array(j);
}

static int put_tree(struct nsc_engine_context *ask, const struct nsc_tree *tree, uint32_t limit)
{
    uint8_t *chosen = choose_nodes(tree, limit);
    struct nsc_json *j = chosen != NULL ? nsc_context_json(ask) : NULL;
    uint32_t depth = 0, shown = 0;
    bool down = true;

    if (j == NULL) {
        free(chosen);
        return nsc_context_no_memory(ask);
    }
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "total", span_ns(ask, tree->nodes[0].total_ticks));
    nsc_json_open_array(j, "nodes");
    for (uint32_t at = nsc_tree_next(tree, 0, true, &depth); at != 0;
         at = nsc_tree_next(tree, at, down, &depth)) {
        down = chosen[at];
        if (!down)
            continue;
        put_node(ask, &tree->nodes[at], depth - 1);
        shown++;
    }
    nsc_json_close_array(j);
    nsc_json_u64(j, "folded", tree->count - 1 - shown);
    nsc_json_u64(j, "folded_calls", tree->folded_calls);
    nsc_json_close_object(j);
    free(chosen);
    return 0;
}

/* Make the requested tree; @function NSC_NO_ID: of all functions. */
static int make_tree(struct nsc_engine_context *ask, const struct nsc_selection *s,
                     uint32_t function, bool invert, struct nsc_tree *out)
{
    uint8_t *wanted = NULL;
    struct nsc_tree_options options = {0};
    int error;

    if (function != NSC_NO_ID) {
        wanted = calloc(nsc_trace_info(ask->trace)->function_count + 1u, 1);
        if (wanted == NULL)
            return nsc_context_no_memory(ask);
        wanted[function] = 1;
    }
    options.roots = invert ? NULL : wanted;
    error = nsc_tree_make(ask->trace, s, &options, out, &ask->diag);
    if (error == 0 && invert) {
        struct nsc_tree tree = *out;

        *out = (struct nsc_tree){0};
        error = nsc_tree_invert(&tree, ask->trace, wanted, out);
        if (error != 0)
            nsc_context_no_memory(ask);
        nsc_tree_free(&tree);
    }
    free(wanted);
    return error;
}

int nsc_engine_tree(struct nsc_engine_context *ask)
{
    uint32_t limit = (uint32_t)nsc_context_number(ask, "limit", TREE_NODES, TREE_NODES_MAX);
    uint32_t functions = nsc_trace_info(ask->trace)->function_count;
    uint64_t root = nsc_context_number(ask, "root", NSC_NO_ID, functions > 0 ? functions - 1 : 0);
    bool invert = nsc_context_number(ask, "invert", 0, 1) != 0;
    struct nsc_tree tree = {0};
    struct nsc_selection s;
    int error = nsc_context_selection(ask, &s);

    if (root != NSC_NO_ID && root >= functions)
        nsc_context_refuse(ask, "there is no function %llu", (unsigned long long)root);
    if (error == 0)
        error = nsc_context_check(ask);
    if (error == 0)
        error = make_tree(ask, &s,
                          root != NSC_NO_ID ? nsc_trace_canonical(ask->trace, (uint32_t)root)
                                            : NSC_NO_ID,
                          invert, &tree);
    if (error == 0)
        error = put_tree(ask, &tree, limit);
    nsc_tree_free(&tree);
    nsc_selection_free(&s);
    return error;
}

/* ---- /api/sandwich --------------------------------------------------------------------------- */

static void put_side(struct nsc_engine_context *ask, const char *key, const char *more_key,
                     const struct nsc_sandwich_row *rows, uint32_t count)
{
    struct nsc_json *j = &ask->json;
    uint32_t shown = count < SANDWICH_ROWS ? count : SANDWICH_ROWS;

    nsc_json_open_array(j, key);
    for (uint32_t i = 0; i < shown; i++) {
        nsc_json_open_array(j, NULL);
        nsc_context_put_id(j, NULL, rows[i].function);
        nsc_json_u64(j, NULL, rows[i].calls);
        nsc_json_u64(j, NULL, span_ns(ask, rows[i].total_ticks));
        nsc_json_close_array(j);
    }
    nsc_json_close_array(j);
    nsc_json_u64(j, more_key, count - shown);
}

int nsc_engine_sandwich(struct nsc_engine_context *ask)
{
    uint32_t function = nsc_context_function(ask, "function");
    struct nsc_sandwich sandwich = {0};
    struct nsc_selection s;
    struct nsc_json *j = NULL;
    int error = nsc_context_selection(ask, &s);

    if (error == 0)
        error = nsc_context_check(ask);
    if (error == 0)
        error = nsc_sandwich_make(ask->trace, &s, function, &sandwich, &ask->diag);
    if (error == 0 && (j = nsc_context_json(ask)) == NULL)
        error = -ENOMEM;
    if (error == 0) {
        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, "calls", sandwich.calls);
        nsc_json_u64(j, "total", span_ns(ask, sandwich.total_ticks));
        nsc_json_u64(j, "self", span_ns(ask, sandwich.self_ticks));
        put_side(ask, "callers", "more_callers", sandwich.callers, sandwich.caller_count);
        put_side(ask, "callees", "more_callees", sandwich.callees, sandwich.callee_count);
        nsc_json_close_object(j);
    }
    nsc_sandwich_free(&sandwich);
    nsc_selection_free(&s);
    return error;
}

/* ---- /api/histogram -------------------------------------------------------------------------- */

struct histogram {
    struct nsc_dist dist;
    struct nsc_calls_top top;
    bool no_memory;
};

static bool take_call(void *context, const struct nsc_call *call)
{
    struct histogram *h = context;

    h->no_memory = nsc_dist_add(&h->dist, call->end_ticks - call->start_ticks) < 0;
    return !h->no_memory && nsc_calls_top_offer(&h->top, call);
}

static int gather_histogram(struct nsc_engine_context *ask, const struct nsc_selection *s,
                            uint32_t function, struct histogram *h)
{
    uint8_t *wanted = calloc(nsc_trace_info(ask->trace)->function_count + 1u, 1);
    int error;

    if (wanted == NULL)
        return nsc_context_no_memory(ask);
    wanted[function] = 1;
    error = nsc_calls_scan(ask->trace, s, NSC_CALLS_BY_THREAD, wanted, take_call, h, &ask->diag);
    free(wanted);
    if (error == 0 && h->no_memory)
        error = nsc_context_no_memory(ask);
    nsc_calls_top_sort(&h->top);
    return error;
}

/* Write a bar. Bars are in whole ticks; each begins where the previous one ends. */
static void put_bar(void *context, uint64_t from, uint64_t to, uint64_t count)
{
    struct nsc_engine_context *ask = context;
    struct nsc_json *j = &ask->json;

    nsc_json_open_array(j, NULL);
    nsc_json_u64(j, NULL, span_ns(ask, from));
    nsc_json_u64(j, NULL, span_ns(ask, to < UINT64_MAX ? to + 1 : to));
    nsc_json_u64(j, NULL, count);
    nsc_json_close_array(j);
}

static int put_histogram(struct nsc_engine_context *ask, struct histogram *h)
{
    struct nsc_json *j = nsc_context_json(ask);
    bool any = h->dist.count > 0;

    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "calls", h->dist.count);
    nsc_json_u64(j, "min", any ? span_ns(ask, h->dist.min) : 0);
    nsc_json_u64(j, "p50", span_ns(ask, nsc_dist_quantile(&h->dist, 50)));
    nsc_json_u64(j, "p90", span_ns(ask, nsc_dist_quantile(&h->dist, 90)));
    nsc_json_u64(j, "p99", span_ns(ask, nsc_dist_quantile(&h->dist, 99)));
    nsc_json_u64(j, "max", span_ns(ask, h->dist.max));
    nsc_json_open_array(j, "buckets");
    nsc_dist_each_bar(&h->dist, put_bar, ask);
    nsc_json_close_array(j);
    nsc_json_open_array(j, "longest");
    for (size_t i = 0; i < h->top.count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_engine_put_call(ask, &h->top.calls[i], &h->top.calls[i].children);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_close_object(j);
    return 0;
}

int nsc_engine_histogram(struct nsc_engine_context *ask)
{
    uint32_t function = nsc_context_function(ask, "function");
    uint64_t limit = nsc_context_number(ask, "limit", LONGEST, LONGEST_MAX);
    struct histogram h = {0};
    struct nsc_selection s;
    int error = nsc_context_selection(ask, &s);

    nsc_dist_init(&h.dist);
    if (error == 0)
        error = nsc_context_check(ask);
    if (error == 0 && nsc_calls_top_init(&h.top, NSC_CALLS_KEY_DURATION, (size_t)limit) < 0)
        error = nsc_context_no_memory(ask);
    if (error == 0)
        error = gather_histogram(ask, &s, function, &h);
    if (error == 0)
        error = put_histogram(ask, &h);
    nsc_dist_free(&h.dist);
    nsc_calls_top_free(&h.top);
    nsc_selection_free(&s);
    return error;
}
