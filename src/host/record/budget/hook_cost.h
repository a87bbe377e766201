/*
 * hook_cost.h - what a recorded call costs on this machine: measured with a program that does
 * nothing else. Called by recorder_end.c when a recording is over.
 */
#ifndef NSC_RECORD_BUDGET_HOOK_COST_H
#define NSC_RECORD_BUDGET_HOOK_COST_H

struct nsc_hook_ticks {
    double call;  /* ticks that a call and its return cost the program */
    double inner; /* of them, between the two readings of the timer */
};

/**
 * nsc_hook_cost_measure - measure.
 * @program: nanoscope-calibrate.
 * Takes some milliseconds. Returns 0 or -errno: it cannot be run, or took no part.
 */
int nsc_hook_cost_measure(const char *program, struct nsc_hook_ticks *ticks);

#endif
