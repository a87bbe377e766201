/*
 * report_runs.h - `nanoscope report A B C ...`: statistics over several traces.
 */
#ifndef NSC_CLI_ANALYZE_REPORT_RUNS_H
#define NSC_CLI_ANALYZE_REPORT_RUNS_H

#include "analyze/compare/run_statistics.h"
#include "cli/common/view.h"

struct nsc_cli_runs {
    enum nsc_table_format format;
    struct nsc_runs_order order;
    uint64_t top;
    bool by_category;
    const char *rules; /* file of category rules, or NULL */
    bool compensate;
    bool exact;
};

/* Print the statistics over all traces in the operands. Returns an exit status. */
int nsc_cli_runs_report(const struct nsc_cli_args *args, const struct nsc_cli_runs *options);

#endif
