/*
 * hook_cost.h - measure the cost of a recorded call on this machine, with a program that only makes
 * calls. Called by recorder_end.c at the end of a recording.
 */
#ifndef NSC_RECORD_BUDGET_HOOK_COST_H
#define NSC_RECORD_BUDGET_HOOK_COST_H

struct nsc_hook_ticks {
    double call;  /* ticks that a recorded call costs the program, entry and exit */
    double inner; /* part of them between the two readings of the timer */
};

/**
 * nsc_hook_cost_measure - run the program and measure.
 * @program: path of nanoscope-calibrate.
 * Takes some milliseconds. Returns 0 or -errno: the program cannot be run, or did not join.
 */
int nsc_hook_cost_measure(const char *program, struct nsc_hook_ticks *ticks);

#endif
