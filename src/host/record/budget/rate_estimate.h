/*
 * rate_estimate.h - estimate of call rates from the newest events of each thread.
 *
 * Called by budget.c, which cannot wait until all earlier events have been read. Reads the live
 * chunks, and consumes nothing. The chunks are untrusted input.
 */
#ifndef NSC_RECORD_BUDGET_RATE_ESTIMATE_H
#define NSC_RECORD_BUDGET_RATE_ESTIMATE_H

#include "record/drain/tracee.h"

/* Result of nsc_rate_estimate_look(). */
struct nsc_rate_estimate {
    double calls;   /* calls per ns of wall time, of all threads together */
    double threads; /* number of threads with calls */
};

/**
 * nsc_rate_estimate_look - read the newest events of the threads that have any.
 * @ticks_a_ns: ticks of the event timer per ns.
 * @saw: called for each entry with the function's id in the trace and the rate, in calls per ns,
 * that this entry represents.
 * Cost: about 20 us with one busy thread.
 */
struct nsc_rate_estimate nsc_rate_estimate_look(struct nsc_tracees *all, double ticks_a_ns,
                                                void (*saw)(void *context, uint32_t function,
                                                            double rate),
                                                void *context);

#endif
