/*
 * progress.h - a progress line for a long job, on stderr. Prints nothing if that is no terminal.
 *
 * Used by commands only. The line appears after 0.25 s, is rewritten in place at most ten times a
 * second, and is removed at the end of the job.
 */
#ifndef NSC_CLI_PROGRESS_H
#define NSC_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct nsc_progress {
    bool on;    /* stderr is a terminal with control sequences */
    bool shown; /* the line is on the terminal */
    uint64_t begun_ns, next_ns;
};

void nsc_progress_begin(struct nsc_progress *p);
/**
 * nsc_progress_show - update the line if the interval has passed.
 * @what: "naming functions", "writing perfetto".
 * @done, @total: in any unit; @total 0 = unknown: only @what is shown.
 * Context: reads the clock at each call: cheap enough for thousands of calls, not for millions.
 */
void nsc_progress_show(struct nsc_progress *p, const char *what, uint64_t done, uint64_t total);
/* Remove the line. Call it before any message, too. */
void nsc_progress_end(struct nsc_progress *p);

#endif
