/*
 * trace_diff.c - compare two traces; see trace_diff.h.
 *
 * Called by cli/ and viewer/engine/. Each function of either trace is assigned a row. With row
 * numbers as function ids, both call trees can be merged into one.
 */
#include "analyze/compare/trace_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/same_function.h"
#include "analyze/functions/report.h"
#include "analyze/paths/call_tree.h"
#include "analyze/paths/tree_nodes.h"

struct side {
    struct nsc_trace *trace;
    struct nsc_report report;
    struct nsc_tree tree;
    uint32_t *row_of; /* by function id; NSC_NO_ID: no calls */
};

struct builder {
    struct side sides[NSC_DIFF_SIDES];
    struct nsc_diff *out;
    struct nsc_tree paths;                        /* merged paths of both; function ids are row
                                                   * numbers */
    struct nsc_diff_sums (*sums)[NSC_DIFF_SIDES]; /* sums of its nodes */
};

/* ---- Functions ------------------------------------------------------------------------------- */

/* A function of one trace. */
struct member {
    struct nsc_same_function who;
    uint32_t function, side;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = nsc_same_function_compare(&x->who, &y->who);

    if (order == 0)
        order = (x->side > y->side) - (x->side < y->side);
    return order != 0 ? order : (x->function > y->function) - (x->function < y->function);
}

/* Add the functions of one trace that have calls. Returns their number, or SIZE_MAX if out of
 * memory. */
static size_t add_members(const struct side *s, uint32_t side, struct member *members)
{
    const struct nsc_trace *t = s->trace;
    uint32_t functions = nsc_trace_info(t)->function_count;
    uint8_t *called = calloc(functions + 1u, 1);
    const char **names = nsc_same_function_modules(t);
    size_t count = 0;

    for (size_t i = 0; called != NULL && i < s->report.row_count; i++)
        called[s->report.rows[i].function] = 1;
    for (uint32_t i = 1; called != NULL && i < s->tree.count; i++)
        called[s->tree.nodes[i].function] = 1;
    for (uint32_t i = 0; called != NULL && names != NULL && i < functions; i++)
        if (called[i])
            members[count++] = (struct member){nsc_same_function_find(t, names, i), i, side};
    if (called == NULL || names == NULL)
        count = SIZE_MAX;
    free(called);
    free(names);
    return count;
}

/* Whether one of the traces has several functions among @count members of one name. */
static bool is_shared(const struct member *members, size_t count)
{
    size_t of[NSC_DIFF_SIDES] = {0};

    for (size_t i = 0; i < count; i++)
        of[members[i].side]++;
    return of[0] > 1 || of[1] > 1;
}

/* Make the rows of @count members of one name. */
static void make_rows(struct builder *b, const struct member *members, size_t count)
{
    struct nsc_diff *d = b->out;
    uint32_t first = d->row_count;
    bool split = is_shared(members, count);

    for (size_t i = 0; i < count; i++) {
        const struct member *m = &members[i];
        struct nsc_diff_row *row;

        if (i == 0 ||
            (split && nsc_same_function_compare_places(&members[i - 1].who, &m->who) != 0))
            d->rows[d->row_count++] =
                (struct nsc_diff_row){.name = m->who.name, .functions = {NSC_NO_ID, NSC_NO_ID}};
        row = &d->rows[d->row_count - 1];
        if (row->functions[m->side] > m->function)
            row->functions[m->side] = m->function;
        b->sides[m->side].row_of[m->function] = d->row_count - 1;
    }
    for (uint32_t i = first; i < d->row_count; i++)
        d->rows[i].shared = d->row_count - first > 1;
}

static void sum_rows(struct builder *b)
{
    for (unsigned side = 0; side < NSC_DIFF_SIDES; side++) {
        const struct nsc_report *r = &b->sides[side].report;
        struct nsc_diff_side *whole = &b->out->sides[side];

        whole->calls = r->calls;
        whole->bounds = r->bounds;
        for (size_t i = 0; i < r->row_count; i++) {
            uint32_t row = b->sides[side].row_of[r->rows[i].function];
            struct nsc_diff_sums *sums = &b->out->rows[row].sums[side];

            sums->calls += r->rows[i].calls;
            sums->total_ns += r->rows[i].total_ns;
            sums->self_ns += r->rows[i].self_ns;
            whole->self_ns += r->rows[i].self_ns;
        }
    }
}

static int match_functions(struct builder *b)
{
    size_t room = 1, count = 0;
    struct member *members;

    for (unsigned side = 0; side < NSC_DIFF_SIDES; side++) {
        uint32_t functions = nsc_trace_info(b->sides[side].trace)->function_count;

        b->sides[side].row_of = reallocarray(NULL, functions + 1u, sizeof(uint32_t));
        if (b->sides[side].row_of == NULL)
            return -ENOMEM;
        memset(b->sides[side].row_of, 0xff, functions * sizeof(uint32_t));
        room += functions;
    }
    members = calloc(room, sizeof(*members));
    for (uint32_t side = 0; members != NULL && side < NSC_DIFF_SIDES; side++) {
        size_t more = add_members(&b->sides[side], side, members + count);

        if (more == SIZE_MAX) {
            free(members);
            return -ENOMEM;
        }
        count += more;
    }
    b->out->rows = calloc(count + 1, sizeof(*b->out->rows));
    if (members == NULL || b->out->rows == NULL) {
        free(members);
        return -ENOMEM;
    }
    qsort(members, count, sizeof(*members), compare_members);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(members[end].who.name, members[i].who.name) == 0;)
            end++;
        make_rows(b, members + i, end - i);
    }
    free(members);
    sum_rows(b);
    return 0;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* Add the paths of one trace to the merged paths. */
static int add_paths(struct builder *b, unsigned side)
{
    const struct side *s = &b->sides[side];
    const struct nsc_tree *tree = &s->tree;
    const struct nsc_clock *clock = nsc_trace_clock(s->trace);
    uint32_t *place = calloc(tree->count, sizeof(*place)); /* index in b->paths; NSC_NO_ID: no
                                                            * node */
    uint32_t depth = 0;

    if (place == NULL)
        return -ENOMEM;
    b->out->sides[side].folded_calls = tree->folded_calls;
    for (uint32_t at = nsc_tree_next(tree, 0, true, &depth); at != 0;
         at = nsc_tree_next(tree, at, true, &depth)) {
        const struct nsc_tree_node *node = &tree->nodes[at];
        uint32_t above = place[node->parent];
        struct nsc_diff_sums *sums;

        place[at] =
            above != NSC_NO_ID ? nsc_nodes_child(&b->paths, above, s->row_of[node->function]) : 0;
        if (place[at] == NSC_NO_ID) {
            free(place);
            return -ENOMEM;
        }
        if (place[at] == 0) {
            b->out->sides[side].folded_calls += node->calls;
            place[at] = NSC_NO_ID;
            continue;
        }
        sums = &b->sums[place[at]][side];
        sums->calls += node->calls;
        sums->total_ns += nsc_clock_span_ns(clock, node->total_ticks);
        sums->self_ns += nsc_clock_span_ns(clock, nsc_tree_self_ticks(node));
    }
    free(place);
    return 0;
}

struct weighed {
    uint64_t total_ns;
    uint32_t row, node;
};

/* Smallest total first, names in reverse order. */
static int compare_weights(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;

    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? -1 : 1;
    return (x->row < y->row) - (x->row > y->row);
}

/* Relink all children, sorted by the longer of their two totals. */
static int sort_paths(struct builder *b)
{
    struct nsc_tree_node *nodes = b->paths.nodes;
    uint32_t count = b->paths.count;
    struct weighed *all = calloc(count, sizeof(*all));

    if (all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct nsc_diff_sums *sums = b->sums[i];

        all[i].node = i;
        all[i].row = nodes[i].function;
        all[i].total_ns = sums[sums[1].total_ns > sums[0].total_ns].total_ns;
        nodes[i].first_child = 0;
    }
    qsort(all, count, sizeof(*all), compare_weights);
    for (uint32_t i = 0; i < count; i++) {
        struct nsc_tree_node *node = &nodes[all[i].node];

        if (all[i].node == 0)
            continue;
        node->next_sibling = nodes[node->parent].first_child;
        nodes[node->parent].first_child = all[i].node;
    }
    free(all);
    return 0;
}

/* Convert the merged paths to the nodes of the result. */
static int list_paths(struct builder *b)
{
    struct nsc_diff *d = b->out;
    uint32_t *number = calloc(b->paths.count, sizeof(*number));
    uint32_t depth = 0;

    d->nodes = calloc(b->paths.count, sizeof(*d->nodes));
    if (number == NULL || d->nodes == NULL) {
        free(number);
        return -ENOMEM;
    }
    number[0] = NSC_NO_ID;
    for (uint32_t at = nsc_tree_next(&b->paths, 0, true, &depth); at != 0;
         at = nsc_tree_next(&b->paths, at, true, &depth)) {
        const struct nsc_tree_node *from = &b->paths.nodes[at];
        struct nsc_diff_node *to = &d->nodes[d->node_count];

        number[at] = d->node_count++;
        to->row = from->function;
        to->parent = number[from->parent];
        to->depth = depth - 1;
        memcpy(to->sums, b->sums[at], sizeof(to->sums));
    }
    free(number);
    return 0;
}

static int match_paths(struct builder *b)
{
    size_t room = 1;
    int error = nsc_nodes_init(&b->paths);

    for (unsigned side = 0; side < NSC_DIFF_SIDES; side++)
        room += b->sides[side].tree.count;
    b->sums = calloc(room, sizeof(*b->sums));
    if (error == 0 && b->sums == NULL)
        error = -ENOMEM;
    for (unsigned side = 0; side < NSC_DIFF_SIDES && error == 0; side++)
        error = add_paths(b, side);
    if (error == 0)
        error = sort_paths(b);
    return error == 0 ? list_paths(b) : error;
}

/* ---- The comparison -------------------------------------------------------------------------- */

static int read_side(struct side *s, const struct nsc_selection *selection, struct nsc_diag *diag)
{
    int error = nsc_report_make(s->trace, selection, false, &s->report, diag);

    return error == 0 ? nsc_tree_make(s->trace, selection, NULL, &s->tree, diag) : error;
}

int nsc_diff_make(struct nsc_trace *const traces[NSC_DIFF_SIDES],
                  const struct nsc_selection *const selections[NSC_DIFF_SIDES],
                  struct nsc_diff *out, unsigned *failed, struct nsc_diag *diag)
{
    struct nsc_diff d = {0};
    struct builder b = {.out = &d};
    unsigned side;
    int error = 0;

    for (side = 0; side < NSC_DIFF_SIDES && error == 0; side++) {
        b.sides[side].trace = traces[side];
        error = read_side(&b.sides[side], selections[side], diag);
    }
    if (error != 0 && failed != NULL)
        *failed = side - 1;
    if (error == 0) {
        error = match_functions(&b);
        if (error == 0)
            error = match_paths(&b);
        if (error != 0 && failed != NULL)
            *failed = 0;
        if (error != 0)
            nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the comparison");
    }
    for (side = 0; side < NSC_DIFF_SIDES; side++) {
        nsc_report_free(&b.sides[side].report);
        nsc_tree_free(&b.sides[side].tree);
        free(b.sides[side].row_of);
    }
    nsc_tree_free(&b.paths);
    free(b.sums);
    if (error == 0)
        *out = d;
    else
        nsc_diff_free(&d);
    return error;
}

void nsc_diff_free(struct nsc_diff *diff)
{
    free(diff->rows);
    free(diff->nodes);
    *diff = (struct nsc_diff){0};
}

/* ---- Largest differences --------------------------------------------------------------------- */

uint64_t nsc_diff_value(const struct nsc_diff_sums *sums, enum nsc_diff_key key)
{
    switch (key) {
    case NSC_DIFF_BY_TOTAL:
        return sums->total_ns;
    case NSC_DIFF_BY_CALLS:
        return sums->calls;
    case NSC_DIFF_BY_SELF:
    case NSC_DIFF_BY_NAME:
        break;
    }
    return sums->self_ns;
}

uint64_t nsc_diff_distance(const struct nsc_diff_sums sums[NSC_DIFF_SIDES], enum nsc_diff_key key)
{
    uint64_t a = nsc_diff_value(&sums[0], key), b = nsc_diff_value(&sums[1], key);

    return a > b ? a - b : b - a;
}

struct ranked {
    uint64_t distance;
    uint32_t index;
};

/* Largest difference first. Equal ones by index: rows by name, paths by depth-first order. */
static int compare_ranks(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance > y->distance ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

uint32_t *nsc_diff_order(const struct nsc_diff *diff, enum nsc_diff_key key)
{
    struct ranked *all = calloc(diff->row_count + 1u, sizeof(*all));
    uint32_t *order = calloc(diff->row_count + 1u, sizeof(*order));

    for (uint32_t i = 0; all != NULL && i < diff->row_count; i++) {
        all[i].index = i;
        if (key != NSC_DIFF_BY_NAME)
            all[i].distance = nsc_diff_distance(diff->rows[i].sums, key);
    }
    if (all == NULL || order == NULL) {
        free(all);
        free(order);
        return NULL;
    }
    qsort(all, diff->row_count, sizeof(*all), compare_ranks);
    for (uint32_t i = 0; i < diff->row_count; i++)
        order[i] = all[i].index;
    free(all);
    return order;
}

/* Mark the first @limit of @ranks, and their ancestors. */
static void mark_first(const struct nsc_diff *diff, struct ranked *ranks, size_t count,
                       size_t limit, uint8_t *chosen)
{
    qsort(ranks, count, sizeof(*ranks), compare_ranks);
    for (size_t i = 0; i < count && i < limit; i++) {
        chosen[ranks[i].index] = NSC_DIFF_CHOSEN;
        for (uint32_t at = diff->nodes[ranks[i].index].parent; at != NSC_NO_ID && chosen[at] == 0;
             at = diff->nodes[at].parent)
            chosen[at] = NSC_DIFF_ABOVE;
    }
}

uint8_t *nsc_diff_choose(const struct nsc_diff *diff, enum nsc_diff_key key, size_t limit,
                         size_t longest)
{
    struct ranked *all = calloc(diff->node_count + 1u, sizeof(*all));
    uint8_t *chosen = calloc(diff->node_count + 1u, 1);
    uint32_t count = 0;

    if (all == NULL || chosen == NULL) {
        free(all);
        free(chosen);
        return NULL;
    }
    for (uint32_t i = 0; i < diff->node_count; i++) {
        uint64_t distance = nsc_diff_distance(diff->nodes[i].sums, key);

        if (distance > 0)
            all[count++] = (struct ranked){distance, i};
    }
    mark_first(diff, all, count, limit, chosen);
    for (uint32_t i = 0; longest > 0 && i < diff->node_count; i++) {
        const struct nsc_diff_sums *sums = diff->nodes[i].sums;

        all[i].index = i;
        all[i].distance = sums[sums[1].total_ns > sums[0].total_ns].total_ns;
    }
    if (longest > 0)
        mark_first(diff, all, diff->node_count, longest, chosen);
    free(all);
    return chosen;
}
