/*
 * rate_estimate.h - what the program calls at this moment, from the newest events of each thread.
 *
 * Called by budget.c, which cannot wait until all that was recorded before has been read. Reads the
 * live chunks and takes nothing from them. What it reads is hostile.
 */
#ifndef NSC_RECORD_BUDGET_RATE_ESTIMATE_H
#define NSC_RECORD_BUDGET_RATE_ESTIMATE_H

#include "record/drain/tracee.h"

/* What nsc_rate_estimate_look() saw. */
struct nsc_rate_estimate {
    double calls;   /* a ns, of all threads together, by time that passes */
    double threads; /* that it saw calling */
};

/**
 * nsc_rate_estimate_look - look at the newest events of the threads that have any.
 * @ticks_a_ns: of the event timer.
 * @saw: told of each entry: the function's id in the trace, and how many calls a ns that one
 *       stands for.
 * Cost: some 20 us where one thread is busy.
 */
struct nsc_rate_estimate nsc_rate_estimate_look(struct nsc_tracees *all, double ticks_a_ns,
                                                void (*saw)(void *context, uint32_t function,
                                                            double rate),
                                                void *context);

#endif
