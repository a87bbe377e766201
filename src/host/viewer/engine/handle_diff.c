/*
 * handle_diff.c - /api/diff: compares two traces.
 *
 * All numbers come from analyze/compare/trace_diff.h and agree with the command line.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/trace_diff.h"
#include "util/path.h"
#include "viewer/engine/handlers.h"

#define ROWS      1000u
#define ROWS_MAX  10000u
#define NODES     5000u
#define NODES_MAX 100000u

/* State of the answer. Functions are numbered in order of first use; NSC_NO_ID in @number means
 * that a row has no number yet. */
struct telling {
    struct nsc_engine_context *ask;
    const struct nsc_diff *diff;
    struct nsc_json *json;
    uint32_t *number; /* by row */
    uint32_t *rows;   /* by number */
    uint32_t count;
};

static uint32_t number_of(struct telling *t, uint32_t row)
{
    if (t->number[row] == NSC_NO_ID) {
        t->rows[t->count] = row;
        t->number[row] = t->count++;
    }
    return t->number[row];
}

static void put_sums(struct nsc_json *j, const struct nsc_diff_sums *sums)
{
    static const enum nsc_diff_key told[] = {NSC_DIFF_BY_CALLS, NSC_DIFF_BY_TOTAL,
                                             NSC_DIFF_BY_SELF};

    for (size_t k = 0; k < sizeof(told) / sizeof(told[0]); k++)
        for (unsigned side = 0; side < NSC_DIFF_SIDES; side++)
            nsc_json_u64(j, NULL, nsc_diff_value(&sums[side], told[k]));
}

static void put_rows(struct telling *t, const uint32_t *order, uint32_t count)
{
    nsc_json_open_array(t->json, "rows");
    for (uint32_t i = 0; i < count; i++) {
        nsc_json_open_array(t->json, NULL);
        nsc_json_u64(t->json, NULL, number_of(t, order[i]));
        put_sums(t->json, t->diff->rows[order[i]].sums);
        nsc_json_close_array(t->json);
    }
    nsc_json_close_array(t->json);
    nsc_json_u64(t->json, "more", t->diff->row_count - count);
}

static void put_nodes(struct telling *t, const uint8_t *chosen)
{
    uint32_t shown = 0;

    nsc_json_open_array(t->json, "nodes");
    for (uint32_t i = 0; i < t->diff->node_count; i++) {
        const struct nsc_diff_node *n = &t->diff->nodes[i];

        if (chosen[i] == 0)
            continue;
        nsc_json_open_array(t->json, NULL);
        nsc_json_u64(t->json, NULL, number_of(t, n->row));
        nsc_json_u64(t->json, NULL, n->depth);
        put_sums(t->json, n->sums);
        nsc_json_close_array(t->json);
        shown++;
    }
    nsc_json_close_array(t->json);
    nsc_json_u64(t->json, "folded", t->diff->node_count - shown);
}

/* Write the place of a function that shares its name with others: "libz.so inflate.c". */
static void put_place(struct telling *t, const struct nsc_diff_row *row)
{
    unsigned side = row->functions[0] == NSC_NO_ID;
    const struct nsc_trace *trace = t->ask->sources[side].trace;
    const struct nsc_function *f = nsc_trace_function(trace, row->functions[side]);
    const char *file = nsc_path_base_name(f->file), *module = "";
    char *text;

    if (f->module != NSC_NO_ID)
        module = nsc_path_base_name(nsc_trace_module(trace, f->module)->path);
    if (!row->shared ||
        asprintf(&text, "%s%s%s", module, *module != '\0' && *file != '\0' ? " " : "", file) < 0) {
        nsc_json_null(t->json, NULL);
        return;
    }
    nsc_json_text(t->json, NULL, text);
    free(text);
}

static void put_functions(struct telling *t)
{
    nsc_json_open_array(t->json, "functions");
    for (uint32_t i = 0; i < t->count; i++) {
        const struct nsc_diff_row *row = &t->diff->rows[t->rows[i]];

        nsc_json_open_array(t->json, NULL);
        nsc_json_text(t->json, NULL, row->name);
        put_place(t, row);
        for (unsigned side = 0; side < NSC_DIFF_SIDES; side++)
            nsc_context_put_id(t->json, NULL, row->functions[side]);
        nsc_json_close_array(t->json);
    }
    nsc_json_close_array(t->json);
}

static void put_sides(struct telling *t)
{
    nsc_json_open_array(t->json, "sides");
    for (unsigned i = 0; i < NSC_DIFF_SIDES; i++) {
        const struct nsc_diff_side *side = &t->diff->sides[i];

        nsc_json_open_object(t->json, NULL);
        nsc_json_text(t->json, "name", nsc_trace_name(t->ask->sources[i].trace));
        nsc_json_u64(t->json, "calls", side->calls);
        nsc_json_u64(t->json, "self", side->self_ns);
        nsc_json_u64(t->json, "bounds", side->bounds);
        nsc_json_u64(t->json, "folded_calls", side->folded_calls);
        nsc_json_close_object(t->json);
    }
    nsc_json_close_array(t->json);
}

static int put_diff(struct nsc_engine_context *ask, const struct nsc_diff *d, const uint32_t *order,
                    uint32_t rows, const uint8_t *chosen)
{
    struct telling t = {.ask = ask,
                        .diff = d,
                        .number = reallocarray(NULL, d->row_count + 1u, sizeof(*t.number)),
                        .rows = calloc(d->row_count + 1u, sizeof(*t.rows))};

    if (order != NULL && chosen != NULL && t.number != NULL && t.rows != NULL)
        t.json = nsc_context_json(ask);
    if (t.json != NULL) {
        memset(t.number, 0xff, d->row_count * sizeof(*t.number));
        nsc_json_open_object(t.json, NULL);
        put_sides(&t);
        put_rows(&t, order, rows);
        put_nodes(&t, chosen);
        put_functions(&t);
        nsc_json_close_object(t.json);
    }
    free(t.number);
    free(t.rows);
    return t.json != NULL ? 0 : nsc_context_no_memory(ask);
}

/* Parameters of the request. */
struct wanted {
    enum nsc_diff_key key;
    uint32_t rows, nodes, longest;
};

static int tell(struct nsc_engine_context *ask, const struct nsc_diff *d,
                const struct wanted *wanted)
{
    uint32_t *order = nsc_diff_order(d, wanted->key);
    uint8_t *chosen = nsc_diff_choose(d, wanted->key, wanted->nodes, wanted->longest);
    int error =
        put_diff(ask, d, order, d->row_count < wanted->rows ? d->row_count : wanted->rows, chosen);

    free(order);
    free(chosen);
    return error;
}

int nsc_engine_diff(struct nsc_engine_context *ask)
{
    /* In the order of enum nsc_diff_key. */
    static const char *const keys[] = {"self", "total", "calls", "name"};
    struct nsc_trace *const traces[] = {ask->sources[0].trace, ask->sources[1].trace};
    const struct wanted wanted = {
        .key = (enum nsc_diff_key)nsc_context_word(ask, "sort", keys,
                                                   sizeof(keys) / sizeof(keys[0]), 0),
        .rows = (uint32_t)nsc_context_number(ask, "limit", ROWS, ROWS_MAX),
        .nodes = (uint32_t)nsc_context_number(ask, "nodes", NODES, NODES_MAX),
        .longest = (uint32_t)nsc_context_number(ask, "longest", 0, NODES_MAX),
    };
    struct nsc_selection s[NSC_DIFF_SIDES];
    const struct nsc_selection *const selections[] = {&s[0], &s[1]};
    struct nsc_diff d = {0};
    int error = nsc_context_selections(ask, s);

    if (error == 0)
        error = nsc_context_check(ask);
    if (error == 0)
        error = nsc_diff_make(traces, selections, &d, NULL, &ask->diag);
    if (error == 0)
        error = tell(ask, &d, &wanted);
    nsc_diff_free(&d);
    nsc_selection_free(&s[0]);
    nsc_selection_free(&s[1]);
    return error;
}
