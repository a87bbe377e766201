/*
 * calls_by.h - `nanoscope calls --by`: the calls of a function, grouped by caller, callee or
 * duration.
 */
#ifndef NSC_CLI_ANALYZE_CALLS_BY_H
#define NSC_CLI_ANALYZE_CALLS_BY_H

#include "cli/common/view.h"

enum nsc_cli_calls_by {
    NSC_CLI_CALLS_SINGLE, /* no groups; cmd_calls.c prints them */
    NSC_CLI_CALLS_BY_CALLER,
    NSC_CLI_CALLS_BY_CALLEE,
    NSC_CLI_CALLS_BY_DURATION,
};

/**
 * nsc_cli_calls_by - print the grouped calls of the view's selection.
 * @wanted: a byte per function; 1 = include its calls.
 * @top: maximum number of rows of callers or callees. With an aligned table, a line states how many
 * of them are shown.
 *
 * The numbers are the same as in the viewer's panels. Returns an exit status.
 */
int nsc_cli_calls_by(struct nsc_cli_view *view, enum nsc_cli_calls_by by, const uint8_t *wanted,
                     uint64_t top);

#endif
