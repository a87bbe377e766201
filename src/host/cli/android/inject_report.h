/*
 * inject_report.h - what `nanoscope inject` did, for people and as JSON.
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

/* A few lines; with @all everything. Returns an exit status, after a message if it is no success.
 */
int nsc_cli_inject_show(const struct nsc_cli_inject *done, bool all);
/* One JSON object. */
void nsc_cli_inject_json(const struct nsc_cli_inject *done);

#endif
