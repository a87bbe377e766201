/*
 * progress.h - one line on stderr that says how far a long job is; nothing unless that is a
 * terminal.
 *
 * Used by commands only. The line is rewritten in place at most ten times a second, appears after
 * a quarter of a second, and is gone when the job is done.
 */
#ifndef NSC_CLI_PROGRESS_H
#define NSC_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct nsc_progress {
    bool on;    /* stderr is a terminal that can be drawn on */
    bool shown; /* there is a line to remove */
    uint64_t begun_ns, next_ns;
};

void nsc_progress_begin(struct nsc_progress *p);
/**
 * nsc_progress_show - say how far it is, if it is time to.
 * @what: "naming functions", "writing perfetto".
 * @done, @total: in any unit; @total 0 = unknown, then only @what is shown.
 * Context: cheap enough for each of thousands of steps; not for each of millions.
 */
void nsc_progress_show(struct nsc_progress *p, const char *what, uint64_t done, uint64_t total);
/* Remove the line. Also to be called before any message. */
void nsc_progress_end(struct nsc_progress *p);

#endif
