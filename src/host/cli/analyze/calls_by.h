/*
 * calls_by.h - `nanoscope calls --by`: not single calls of a function, but who called it, what it
 * called, or how long its calls took.
 */
#ifndef NSC_CLI_ANALYZE_CALLS_BY_H
#define NSC_CLI_ANALYZE_CALLS_BY_H

#include "cli/common/view.h"

enum nsc_cli_calls_by {
    NSC_CLI_CALLS_SINGLE, /* not for this file */
    NSC_CLI_CALLS_BY_CALLER,
    NSC_CLI_CALLS_BY_CALLEE,
    NSC_CLI_CALLS_BY_DURATION,
};

/**
 * nsc_cli_calls_by - print that of what the view selects.
 * @wanted: a byte per function: those meant.
 * @top: rows at most, of callers or callees; for people a line tells what is not shown.
 * The numbers are those of the viewer's panels. Returns an exit status.
 */
int nsc_cli_calls_by(struct nsc_cli_view *view, enum nsc_cli_calls_by by, const uint8_t *wanted,
                     uint64_t top);

#endif
