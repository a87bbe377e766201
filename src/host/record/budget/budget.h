/*
 * budget.h - keep the cost of recording within a share of the program's time, at run time.
 *
 * Called by recorder.c in its loop. Measures calls per function (from the writer) and processor
 * time (from the kernel). Asks budget_policy.c for decisions, switches functions by hook_switch.c,
 * and records in the trace what was left out. docs/adr/012-budget.md.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_H
#define NSC_RECORD_BUDGET_BUDGET_H

#include "record/budget/budget_policy.h"
#include "record/budget/cpu_time.h"
#include "record/drain/drain.h"
#include "record/options/recording_options.h"

struct nsc_budget_function;

struct nsc_budget {
    double share; /* 0: no budget, and the fields below are unused */
    struct nsc_tracees *tracees;
    struct nsc_drain *drain;
    struct nsc_policy policy;
    struct nsc_budget_function *functions; /* same indexes as in the policy */
    uint32_t function_room;
    uint32_t *index;     /* by function id of the trace: index in the policy */
    uint32_t **by_sleds; /* by file and function of nsc_module_sleds(): index in the policy */
    uint32_t file_count;
    struct nsc_writer_sum *before, *now;
    uint32_t id_count, id_room;
    struct nsc_cpu_time cputime;
    uint64_t due_ns, glance_ns, step_ns, own_ns;
    uint64_t lost;       /* lost events of the live threads */
    double look_ns;      /* mean duration of a step */
    double ticks_a_ns;   /* event timer ticks per ns */
    double owed_ns;      /* processor time that counts for the next step */
    double busy;         /* mean number of running threads in the last step */
    unsigned processors; /* processors available to the recorder and, most likely, the program */
    struct nsc_sled_switch_stats flips;
    int error; /* error when switching sleds; 0: none */
    struct nsc_diag diag;
};

/**
 * nsc_budget_init - initialize, before the first event.
 * @share: of the program's own processor time; 0: no budget, and the other functions do nothing.
 * @entry_timing: exits do not read the timer.
 * The writer of @tracees must keep sums. Measures the cost of reading the timer, which takes 0.1
 * ms.
 * Returns 0 or -ENOMEM.
 */
int nsc_budget_init(struct nsc_budget *budget, double share, bool entry_timing,
                    struct nsc_tracees *tracees, struct nsc_drain *drain);
void nsc_budget_free(struct nsc_budget *budget);

/* Run one round, after each pass of the drain. Returns the maximum delay until the next round, in
 * ns. */
uint64_t nsc_budget_round(struct nsc_budget *budget, uint64_t now_ns);

/* After all threads are finished: write to the trace and to @result what was left out. */
void nsc_budget_end(struct nsc_budget *budget, struct nsc_record_result *result);

#endif
