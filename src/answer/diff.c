/*
 * diff.c - /api/diff: two traces compared.
 *
 * All numbers are those of analyze/diff.h, which the command line shows too.
 */
#include "analyze/diff.h"

#include <stdlib.h>

#include "answer/handlers.h"

#define ROWS      1000u
#define ROWS_MAX  10000u
#define NODES     5000u
#define NODES_MAX 100000u

static void put_pair(struct nsc_json *j, const char *key, const struct nsc_diff_sums *sums,
                     enum nsc_diff_key what)
{
    nsc_json_open_array(j, key);
    for (unsigned side = 0; side < NSC_DIFF_SIDES; side++)
        nsc_json_u64(j, NULL, nsc_diff_value(&sums[side], what));
    nsc_json_close_array(j);
}

static void put_rows(struct nsc_json *j, const struct nsc_diff *d, const uint32_t *order,
                     uint32_t count)
{
    nsc_json_open_array(j, "rows");
    for (uint32_t i = 0; i < count; i++) {
        const struct nsc_diff_row *row = &d->rows[order[i]];

        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "name", row->name);
        nsc_json_open_array(j, "function");
        for (unsigned side = 0; side < NSC_DIFF_SIDES; side++)
            nsc_ask_put_id(j, NULL, row->functions[side]);
        nsc_json_close_array(j);
        put_pair(j, "calls", row->sums, NSC_DIFF_BY_CALLS);
        put_pair(j, "total", row->sums, NSC_DIFF_BY_TOTAL);
        put_pair(j, "self", row->sums, NSC_DIFF_BY_SELF);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
}

/* The chosen nodes; returns how many. */
static uint32_t put_nodes(struct nsc_json *j, const struct nsc_diff *d, const uint8_t *chosen)
{
    static const enum nsc_diff_key told[] = {NSC_DIFF_BY_CALLS, NSC_DIFF_BY_TOTAL,
                                             NSC_DIFF_BY_SELF};
    uint32_t shown = 0;

    nsc_json_open_array(j, "nodes");
    for (uint32_t i = 0; i < d->node_count; i++) {
        const struct nsc_diff_node *n = &d->nodes[i];

        if (chosen[i] == 0)
            continue;
        nsc_json_open_array(j, NULL);
        nsc_json_text(j, NULL, d->rows[n->row].name);
        nsc_json_u64(j, NULL, n->depth);
        for (size_t k = 0; k < sizeof(told) / sizeof(told[0]); k++) {
            nsc_json_u64(j, NULL, nsc_diff_value(&n->sums[0], told[k]));
            nsc_json_u64(j, NULL, nsc_diff_value(&n->sums[1], told[k]));
        }
        nsc_json_close_array(j);
        shown++;
    }
    nsc_json_close_array(j);
    return shown;
}

static int put_diff(struct nsc_answer_ask *ask, const struct nsc_diff *d, enum nsc_diff_key key,
                    uint32_t limit, uint32_t paths)
{
    uint32_t *order = nsc_diff_order(d, key);
    uint8_t *chosen = nsc_diff_choose(d, key, paths);
    uint32_t rows = d->row_count < limit ? d->row_count : limit, shown;
    struct nsc_json *j = order != NULL && chosen != NULL ? nsc_ask_json(ask) : NULL;

    if (j != NULL) {
        nsc_json_open_object(j, NULL);
        put_rows(j, d, order, rows);
        nsc_json_u64(j, "more", d->row_count - rows);
        shown = put_nodes(j, d, chosen);
        nsc_json_u64(j, "folded", d->node_count - shown);
        nsc_json_open_array(j, "folded_calls");
        for (unsigned side = 0; side < NSC_DIFF_SIDES; side++)
            nsc_json_u64(j, NULL, d->sides[side].folded_calls);
        nsc_json_close_array(j);
        nsc_json_close_object(j);
    }
    free(order);
    free(chosen);
    return j != NULL ? 0 : nsc_ask_no_memory(ask);
}

int nsc_answer_diff(struct nsc_answer_ask *ask)
{
    /* In the order of enum nsc_diff_key. */
    static const char *const keys[] = {"self", "total", "calls", "name"};
    struct nsc_trace *const traces[] = {ask->sources[0].trace, ask->sources[1].trace};
    enum nsc_diff_key key =
        (enum nsc_diff_key)nsc_ask_word(ask, "sort", keys, sizeof(keys) / sizeof(keys[0]), 0);
    uint32_t limit = (uint32_t)nsc_ask_number(ask, "limit", ROWS, ROWS_MAX);
    uint32_t paths = (uint32_t)nsc_ask_number(ask, "nodes", NODES, NODES_MAX);
    struct nsc_selection s[NSC_DIFF_SIDES];
    const struct nsc_selection *const selections[] = {&s[0], &s[1]};
    struct nsc_diff d = {0};
    int error = nsc_ask_selections(ask, s);

    if (error == 0)
        error = nsc_ask_check(ask);
    if (error == 0)
        error = nsc_diff_make(traces, selections, &d, NULL, &ask->diag);
    if (error == 0)
        error = put_diff(ask, &d, key, limit, paths);
    nsc_diff_free(&d);
    nsc_selection_free(&s[0]);
    nsc_selection_free(&s[1]);
    return error;
}
