/*
 * category_shares.h - the share of a selection's time that each category of functions takes.
 *
 * Called by cli/ and viewer/engine/. Sums up a report, and therefore always agrees with it.
 */
#ifndef NSC_ANALYZE_FUNCTIONS_CATEGORY_SHARES_H
#define NSC_ANALYZE_FUNCTIONS_CATEGORY_SHARES_H

#include "analyze/functions/category.h"
#include "analyze/functions/report.h"

struct nsc_share {
    uint32_t category;
    uint32_t process;   /* as in the report's rows if they are per process; else NSC_NO_ID */
    uint32_t functions; /* with at least one call */
    uint64_t calls, bounds;
    uint64_t self_ns;
};

struct nsc_shares {
    struct nsc_share *rows; /* categories with calls; largest self time first, then by name */
    size_t count;
    uint64_t self_ns; /* of all rows: the selected threads' time in calls */
};

/**
 * nsc_shares_make - add up the rows of a report by category.
 * @r: a report as nsc_report_make() returns it, not sorted.
 * @out: filled on success; free with nsc_shares_free().
 * Returns 0 or -ENOMEM.
 */
int nsc_shares_make(const struct nsc_report *r, const struct nsc_categories *categories,
                    struct nsc_shares *out);
void nsc_shares_free(struct nsc_shares *shares);

enum nsc_shares_key { NSC_SHARES_BY_SELF, NSC_SHARES_BY_CALLS, NSC_SHARES_BY_NAME };

/* Sort by the key: largest first, names in alphabetical order. */
void nsc_shares_sort(struct nsc_shares *shares, const struct nsc_categories *categories,
                     enum nsc_shares_key key);

#endif
