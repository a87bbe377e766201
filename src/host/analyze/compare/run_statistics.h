/*
 * run_statistics.h - many recordings of one program as one statistic: per function, how often and
 * how long it was called in the mean, and how far the recordings are apart.
 *
 * Called by cli/. Takes the sums of one recording after the other (report.h, category_shares.h) and
 * keeps what they add up to: memory by the number of functions, not of recordings. same_function.h
 * says which functions are the same.
 */
#ifndef NSC_ANALYZE_COMPARE_RUN_STATISTICS_H
#define NSC_ANALYZE_COMPARE_RUN_STATISTICS_H

#include "analyze/compare/same_function.h"
#include "analyze/functions/report.h"

/* A number over all runs; 0 in those without a call. */
struct nsc_runs_value {
    double mean;
    double spread; /* standard deviation of a sample (n - 1); 0 for one run */
    uint64_t min, max;
};

enum nsc_runs_measure { NSC_RUNS_CALLS, NSC_RUNS_TOTAL, NSC_RUNS_SELF, NSC_RUNS_MEASURES };

/* What one run has of a function or category. */
struct nsc_runs_entry {
    struct nsc_same_function who; /* copied */
    uint64_t values[NSC_RUNS_MEASURES];
};

struct nsc_runs_row {
    const char *name, *module, *file; /* of same_function.h; owned by the statistic */
    bool shared;                      /* other rows have the same name */
    uint32_t runs;                    /* that have a call of it */
    struct nsc_runs_value values[NSC_RUNS_MEASURES];
};

struct nsc_runs;

/* NULL if there is no memory. */
struct nsc_runs *nsc_runs_new(void);
void nsc_runs_free(struct nsc_runs *runs);

/**
 * nsc_runs_add - add one run.
 * @entries: @count of what was called in it; they are sorted, and those that nothing tells apart
 *           are added up.
 * Returns 0 or -ENOMEM, after which the statistic can only be freed.
 */
int nsc_runs_add(struct nsc_runs *runs, struct nsc_runs_entry *entries, size_t count);

/* Add the functions of a report of @t as a run. Returns as nsc_runs_add(). */
int nsc_runs_add_report(struct nsc_runs *runs, const struct nsc_trace *t,
                        const struct nsc_report *r);

/* In which order rows are: NSC_RUNS_MEASURES sorts by name, else the greatest mean is first. */
struct nsc_runs_order {
    enum nsc_runs_measure measure;
    bool by_spread; /* of the measure, instead of by its mean */
};

/**
 * nsc_runs_rows - what the runs that were added have in common.
 * @rows: receives an array of *@count rows for free(); its texts live as long as the statistic.
 * Returns 0 or -ENOMEM.
 */
int nsc_runs_rows(const struct nsc_runs *runs, struct nsc_runs_order order,
                  struct nsc_runs_row **rows, size_t *count);

/* One measure of all functions together, over the runs. */
struct nsc_runs_value nsc_runs_whole(const struct nsc_runs *runs, enum nsc_runs_measure measure);

#endif
