/*
 * cpu_time.h - the processor time that the traced processes have taken, exact to the moment.
 *
 * Called by budget.c. The kernel brings a process's own clock up to date when a thread leaves its
 * processor, and at its tick: up to 10 ms late. The clocks of threads that perf_event_open gives
 * are exact; where they are not to be had, the process's clock is all there is.
 */
#ifndef NSC_RECORD_BUDGET_CPU_TIME_H
#define NSC_RECORD_BUDGET_CPU_TIME_H

#include <stdint.h>

#include "record/drain/tracee.h"

struct nsc_cpu_time_process;
struct nsc_cpu_time_thread;

struct nsc_cpu_time {
    const struct nsc_tracees *tracees;
    struct nsc_cpu_time_process *processes; /* by slot */
    struct nsc_cpu_time_thread *threads;    /* by slot */
    uint32_t open;                          /* descriptors */
};

/* Returns 0 or -ENOMEM. */
int nsc_cpu_time_init(struct nsc_cpu_time *cputime, const struct nsc_tracees *tracees);
void nsc_cpu_time_free(struct nsc_cpu_time *cputime);

/* What all of them together have taken since the last call, in ns. Context: interrupts the
 * processors on which their threads run. */
uint64_t nsc_cpu_time_since(struct nsc_cpu_time *cputime);

#endif
