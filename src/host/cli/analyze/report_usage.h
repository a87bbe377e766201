/*
 * report_usage.h - `report --threads`: a table of the resources that each thread used.
 *
 * Called by cmd_report.c.
 */
#ifndef NSC_CLI_ANALYZE_REPORT_USAGE_H
#define NSC_CLI_ANALYZE_REPORT_USAGE_H

#include "cli/common/view.h"

/* Print the table. Returns an exit status, after a message on failure. */
int nsc_cli_usage_report(const struct nsc_cli_view *view);

#endif
