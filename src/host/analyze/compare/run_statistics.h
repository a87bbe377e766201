/*
 * run_statistics.h - statistics over many recordings of one program: mean number of calls and mean
 * times per function, and their spread between the recordings.
 *
 * Called by cli/. Takes the sums of one recording after the other (report.h, category_shares.h) and
 * keeps running statistics. Memory grows with the number of functions, not of recordings.
 * same_function.h defines which functions are the same.
 */
#ifndef NSC_ANALYZE_COMPARE_RUN_STATISTICS_H
#define NSC_ANALYZE_COMPARE_RUN_STATISTICS_H

#include "analyze/compare/same_function.h"
#include "analyze/functions/report.h"

/* A value over all runs; it counts as 0 in runs without a call. */
struct nsc_runs_value {
    double mean;
    double spread; /* sample standard deviation (n - 1); 0 for one run */
    uint64_t min, max;
};

enum nsc_runs_measure { NSC_RUNS_CALLS, NSC_RUNS_TOTAL, NSC_RUNS_SELF, NSC_RUNS_MEASURES };

/* The values of a function or category in one run. */
struct nsc_runs_entry {
    struct nsc_same_function who; /* copied */
    uint64_t values[NSC_RUNS_MEASURES];
};

struct nsc_runs_row {
    const char *name, *module, *file; /* see same_function.h; owned by the statistic */
    bool shared;                      /* other rows have the same name */
    uint32_t runs;                    /* number of runs with a call of it */
    struct nsc_runs_value values[NSC_RUNS_MEASURES];
};

struct nsc_runs;

/* Create an empty statistic; NULL if out of memory. */
struct nsc_runs *nsc_runs_new(void);
void nsc_runs_free(struct nsc_runs *runs);

/**
 * nsc_runs_add - add one run.
 * @entries: @count functions or categories with calls in this run. They are sorted in place;
 *           entries that cannot be told apart are added up.
 * Returns 0 or -ENOMEM, after which the statistic can only be freed.
 */
int nsc_runs_add(struct nsc_runs *runs, struct nsc_runs_entry *entries, size_t count);

/* Add the functions of a report of @t as a run. Returns as nsc_runs_add(). */
int nsc_runs_add_report(struct nsc_runs *runs, const struct nsc_trace *t,
                        const struct nsc_report *r);

/* Order of rows: NSC_RUNS_MEASURES sorts by name, other measures by the greatest mean first. */
struct nsc_runs_order {
    enum nsc_runs_measure measure;
    bool by_spread; /* by the spread of the measure instead of its mean */
};

/**
 * nsc_runs_rows - make one row per function over all added runs.
 * @rows: receives an array of *@count rows, to be released with free(); its strings live as long as
 *        the statistic.
 * Returns 0 or -ENOMEM.
 */
int nsc_runs_rows(const struct nsc_runs *runs, struct nsc_runs_order order,
                  struct nsc_runs_row **rows, size_t *count);

/* One measure, summed over all functions, over the runs. */
struct nsc_runs_value nsc_runs_whole(const struct nsc_runs *runs, enum nsc_runs_measure measure);

#endif
