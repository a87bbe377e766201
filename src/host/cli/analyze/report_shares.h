/*
 * report_shares.h - `nanoscope report --by category`: a line per category instead of per function,
 * and how busy the processors were meanwhile.
 */
#ifndef NSC_CLI_ANALYZE_REPORT_SHARES_H
#define NSC_CLI_ANALYZE_REPORT_SHARES_H

#include "analyze/functions/category_shares.h"
#include "cli/common/view.h"

struct nsc_cli_shares {
    const char *rules; /* the file, or NULL */
    enum nsc_shares_key sort;
    uint64_t top;
    bool per_process;
};

/* Print the shares of what the view selects. Returns an exit status. */
int nsc_cli_shares_report(struct nsc_cli_view *view, const struct nsc_cli_shares *options);

#endif
