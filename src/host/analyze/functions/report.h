/*
 * report.h - statistics per function: number of calls, total and self time, quantiles of durations.
 *
 * Called by cli/, viewer/engine/, libreader/ and compare/. One pass; memory grows with the number
 * of functions (see duration_dist.h), not of calls.
 *
 * For each function:
 * - calls: all calls that overlap the window.
 * - total: time inside its calls. A call inside another call of the same function (recursion) adds
 *   nothing, as its time is already counted. Each thread, and each stack of a thread, counts
 *   separately.
 * - self: time of all its calls, including recursive ones, minus the time in their callees.
 * - min, quantiles, max: of the calls' whole durations, including recursive calls. A quantile is
 *   exact for up to 256 calls of a function, else within 1/64 (1.6 %). If the trace's index is used
 *   (selection.h), quantiles are within 1/16 (6.3 %); all other values are the same.
 * - bounds: number of calls whose start or end was not recorded; their durations are estimates. A
 *   call without a recorded entry counts from the start of the recording or window, or from the
 *   last gap.
 */
#ifndef NSC_ANALYZE_FUNCTIONS_REPORT_H
#define NSC_ANALYZE_FUNCTIONS_REPORT_H

#include "analyze/calls/left_out.h"

struct nsc_report_row {
    uint32_t function;
    uint32_t process; /* index; NSC_NO_ID if its calls are in several (never if per process) */
    uint64_t calls, bounds;
    uint64_t total_ns, self_ns;
    uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    /* Calls that were left out, after nsc_report_add_left_out(): the reasons, which sums are valid
     * (NSC_LEFT_OUT_*) and which of these are estimates. */
    uint32_t left_out, more_known, more_estimated;
    struct nsc_estimate more_calls, more_total_ns, more_self_ns;
};

struct nsc_report {
    struct nsc_report_row *rows; /* functions with at least one call, recorded or left out */
    bool per_process;
    bool coarse; /* some quantiles come from the index: within 1/16 */
    size_t row_count;
    uint64_t calls, bounds; /* of all rows */
    uint32_t threads;       /* threads with at least one call */
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
 * nsc_report_make - compute the statistics.
 * @per_process: one row per process and function instead of one per function.
 * @out: filled on success; free with nsc_report_free(). Rows are in order of function id (within
 *       each process).
 * Returns 0 or -errno with @diag filled.
 */
int nsc_report_make(struct nsc_trace *t, const struct nsc_selection *selection, bool per_process,
                    struct nsc_report *out, struct nsc_diag *diag);
void nsc_report_free(struct nsc_report *r);

/**
 * nsc_report_add_left_out - add what is known about calls that were left out.
 * A function without recorded calls gets a row as well if anything is known about its calls. Call
 * this before nsc_report_sort(), which then sorts by the sum of recorded and left-out calls.
 * Returns 0 or -ENOMEM with @diag.
 */
int nsc_report_add_left_out(struct nsc_report *r, const struct nsc_left_out_list *list,
                            struct nsc_diag *diag);

/* Sort: largest first, names in alphabetical order; equal rows by name. */
void nsc_report_sort(struct nsc_report *r, const struct nsc_trace *t, enum nsc_report_key key);

#endif
