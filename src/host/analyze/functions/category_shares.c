/* category_shares.c - see category_shares.h. */
#include "analyze/functions/category_shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/sort.h"

/* Add up the rows of one process (or of all) into @sums. In a report per process, the rows of a
 * process are adjacent. */
static size_t add_up(const struct nsc_report *r, size_t first, const struct nsc_categories *c,
                     struct nsc_share *sums)
{
    uint32_t process = r->per_process ? r->rows[first].process : NSC_NO_ID;
    size_t i = first;

    for (uint32_t k = 0; k < c->count; k++)
        sums[k] = (struct nsc_share){.category = k, .process = process};
    for (; i < r->row_count && (!r->per_process || r->rows[i].process == process); i++) {
        const struct nsc_report_row *row = &r->rows[i];
        struct nsc_share *sum = &sums[c->of_function[row->function]];

        sum->functions += row->calls > 0;
        sum->calls += row->calls;
        sum->bounds += row->bounds;
        sum->self_ns += row->self_ns;
    }
    return i;
}

int nsc_shares_make(const struct nsc_report *r, const struct nsc_categories *categories,
                    struct nsc_shares *out)
{
    struct nsc_shares shares = {0};
    size_t at = 0;

    while (at < r->row_count) {
        struct nsc_share *grown =
            reallocarray(shares.rows, shares.count + categories->count, sizeof(*grown));
        struct nsc_share *sums;

        if (!grown) {
            nsc_shares_free(&shares);
            return -ENOMEM;
        }
        shares.rows = grown;
        sums = &grown[shares.count];
        at = add_up(r, at, categories, sums);
        for (uint32_t k = 0; k < categories->count; k++) {
            if (sums[k].calls == 0)
                continue;
            shares.self_ns += sums[k].self_ns;
            shares.rows[shares.count++] = sums[k];
        }
    }
    nsc_shares_sort(&shares, categories, NSC_SHARES_BY_SELF);
    *out = shares;
    return 0;
}

void nsc_shares_free(struct nsc_shares *shares)
{
    free(shares->rows);
    *shares = (struct nsc_shares){0};
}

struct order {
    const struct nsc_categories *categories;
    enum nsc_shares_key key;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct nsc_share *x = a, *y = b;
    uint64_t kx = 0, ky = 0;
    int names =
        strcmp(order->categories->names[x->category], order->categories->names[y->category]);

    if (order->key == NSC_SHARES_BY_SELF) {
        kx = x->self_ns;
        ky = y->self_ns;
    } else if (order->key == NSC_SHARES_BY_CALLS) {
        kx = x->calls;
        ky = y->calls;
    }
    if (kx != ky)
        return kx > ky ? -1 : 1;
    return names != 0 ? names : (x->process > y->process) - (x->process < y->process);
}

void nsc_shares_sort(struct nsc_shares *shares, const struct nsc_categories *categories,
                     enum nsc_shares_key key)
{
    struct order order = {categories, key};

    if (shares->count > 0)
        nsc_sort(shares->rows, shares->count, sizeof(*shares->rows), compare, &order);
}
