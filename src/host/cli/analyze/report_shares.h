/*
 * report_shares.h - `nanoscope report --by category`: a row per category instead of per function,
 * and the CPU load of processes and threads.
 */
#ifndef NSC_CLI_ANALYZE_REPORT_SHARES_H
#define NSC_CLI_ANALYZE_REPORT_SHARES_H

#include "analyze/functions/category_shares.h"
#include "cli/common/view.h"

struct nsc_cli_shares {
    const char *rules; /* file of category rules, or NULL */
    enum nsc_shares_key sort;
    uint64_t top;
    bool per_process;
};

/* Print the shares of the categories in the view's selection. Returns an exit status. */
int nsc_cli_shares_report(struct nsc_cli_view *view, const struct nsc_cli_shares *options);

#endif
