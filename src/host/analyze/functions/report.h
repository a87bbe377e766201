/*
 * report.h - statistics per function: how often, how long, how unevenly.
 *
 * Called by cli/. One pass, memory by the number of functions (duration_dist.h says how much), not
 * of calls.
 *
 * Of each function:
 * - calls: all that overlap the window.
 * - total: time inside its calls. A call inside another one of the same function (recursion) adds
 *   nothing: that time is counted already. Each thread, and each stack of a thread, counts by
 * itself.
 * - self: total of all its calls minus the time in their callees.
 * - min, quantiles, max: of the calls' whole durations, recursion included. A quantile is exact for
 *   up to 256 calls of a function, else within 1/64 (1.6 %). Where the trace's index is used
 *   (selection.h), it is within 1/16 (6.3 %); all else is the same.
 * - bounds: calls whose start or end was not seen; their durations are estimates. A call whose
 * entry was not seen counts from where recording (or the window) began or the last gap was.
 */
#ifndef NSC_ANALYZE_FUNCTIONS_REPORT_H
#define NSC_ANALYZE_FUNCTIONS_REPORT_H

#include "analyze/calls/left_out.h"

struct nsc_report_row {
    uint32_t function;
    uint32_t process; /* index; NSC_NO_ID if its calls are in several (never when per process) */
    uint64_t calls, bounds;
    uint64_t total_ns, self_ns;
    uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    /* Of its calls that were left out, once nsc_report_add_left_out() was called: why, what is
     * known (NSC_LEFT_OUT_*) and what of that is estimated. */
    uint32_t left_out, more_known, more_estimated;
    struct nsc_estimate more_calls, more_total_ns, more_self_ns;
};

struct nsc_report {
    struct nsc_report_row *rows; /* functions with at least one call, or one that was left out */
    bool per_process;
    bool coarse; /* some quantiles come from the index: within 1/16 */
    size_t row_count;
    uint64_t calls, bounds; /* of all rows */
    uint32_t threads;       /* with at least one call */
};

enum nsc_report_key {
    NSC_REPORT_BY_TOTAL,
    NSC_REPORT_BY_SELF,
    NSC_REPORT_BY_CALLS,
    NSC_REPORT_BY_MIN,
    NSC_REPORT_BY_P50,
    NSC_REPORT_BY_P90,
    NSC_REPORT_BY_P99,
    NSC_REPORT_BY_MAX,
    NSC_REPORT_BY_NAME,
};

/**
 * nsc_report_make - gather the statistics.
 * @per_process: a row per process and function instead of one per function.
 * @out: filled on success; free with nsc_report_free(). Rows in order of function id.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_report_make(struct nsc_trace *t, const struct nsc_selection *selection, bool per_process,
                    struct nsc_report *out, struct nsc_diag *diag);
void nsc_report_free(struct nsc_report *r);

/**
 * nsc_report_add_left_out - add what is known of calls that were left out.
 * Functions of which no call was recorded get rows too, if anything is known of them. To be called
 * before nsc_report_sort(), which from then on sorts by the sums of both.
 * Returns 0 or -ENOMEM with @diag.
 */
int nsc_report_add_left_out(struct nsc_report *r, const struct nsc_left_out_list *list,
                            struct nsc_diag *diag);

/* Sort: largest first, names in alphabetical order; equal rows by name. */
void nsc_report_sort(struct nsc_report *r, const struct nsc_trace *t, enum nsc_report_key key);

#endif
