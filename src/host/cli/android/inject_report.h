/*
 * inject_report.h - print the result of `nanoscope inject` as text or as JSON.
 *
 * Called by cmd_inject.c.
 */
#ifndef NSC_CLI_ANDROID_INJECT_REPORT_H
#define NSC_CLI_ANDROID_INJECT_REPORT_H

#include "android/instrument/instrument.h"

struct nsc_cli_inject {
    const struct nsc_instrument_options *options;
    const struct nsc_instrument_report *report;
};

/* Print a summary. With @all, add the DEX files and the methods that are not fully recorded.
 * Returns an exit status, after a message on failure. */
int nsc_cli_inject_show(const struct nsc_cli_inject *done, bool all);
/* Print the result as one JSON object. */
void nsc_cli_inject_json(const struct nsc_cli_inject *done);

#endif
