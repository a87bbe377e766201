/*
 * cpu_time.h - processor time of the traced processes, accurate at the time of the call.
 *
 * Called by budget.c. The kernel updates a process's clock when a thread leaves its processor and
 * at its tick, up to 10 ms late. The thread clocks of perf_event_open are exact. Where they are not
 * available, the process's clock is used alone.
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
    uint32_t open;                          /* open descriptors */
};

/* Returns 0 or -ENOMEM. */
int nsc_cpu_time_init(struct nsc_cpu_time *cputime, const struct nsc_tracees *tracees);
void nsc_cpu_time_free(struct nsc_cpu_time *cputime);

/* Returns the time that all traced processes together have used since the last call, in ns.
 * Context: interrupts the processors that run their threads. */
uint64_t nsc_cpu_time_since(struct nsc_cpu_time *cputime);

#endif
