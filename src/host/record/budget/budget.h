/*
 * budget.h - keep the cost of recording within a share of the program's time, while it runs.
 *
 * Called by recorder.c in its loop. Measures (calls by function from the writer, processor time
 * from the kernel), asks budget_policy.c what to do, switches functions by hook_switch.c and writes
 * down in the trace what was left out. docs/adr/012-budget.md.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_H
#define NSC_RECORD_BUDGET_BUDGET_H

#include "record/budget/budget_policy.h"
#include "record/budget/cpu_time.h"
#include "record/drain/drain.h"
#include "record/options/recording_options.h"

struct nsc_budget_function;

struct nsc_budget {
    double share; /* 0: there is no budget, and nothing below is in use */
    struct nsc_tracees *tracees;
    struct nsc_drain *drain;
    struct nsc_policy policy;
    struct nsc_budget_function *functions; /* as in the policy */
    uint32_t function_room;
    uint32_t *index;     /* by function id of the trace: in the policy */
    uint32_t **by_sleds; /* by file and function of nsc_module_sleds(): in the policy */
    uint32_t file_count;
    struct nsc_writer_sum *before, *now;
    uint32_t id_count, id_room;
    struct nsc_cpu_time cputime;
    uint64_t due_ns, glance_ns, step_ns, own_ns;
    uint64_t lost;       /* events, of the threads that live */
    double look_ns;      /* what a step takes, in the mean */
    double ticks_a_ns;   /* of the event timer */
    double owed_ns;      /* processor time that is the next step's */
    double busy;         /* threads that ran, in the mean of the last step */
    unsigned processors; /* that the recorder and, most likely, the program may use */
    struct nsc_sled_switch_stats flips;
    int error; /* sleds could not be switched; 0 = they could */
    struct nsc_diag diag;
};

/**
 * nsc_budget_init - begin, before the first event.
 * @share: of the program's own processor time; 0: no budget, then all else does nothing.
 * @entry_timing: exits do not read the timer.
 * The writer of @tracees must keep sums. Measures the cost of the timer: 0.1 ms.
 * Returns 0 or -ENOMEM.
 */
int nsc_budget_init(struct nsc_budget *budget, double share, bool entry_timing,
                    struct nsc_tracees *tracees, struct nsc_drain *drain);
void nsc_budget_free(struct nsc_budget *budget);

/* One round, after each pass of the drain. Returns how long the next may be put off at most, in ns.
 */
uint64_t nsc_budget_round(struct nsc_budget *budget, uint64_t now_ns);

/* All threads are finished: say in the trace and in @result what was left out. */
void nsc_budget_end(struct nsc_budget *budget, struct nsc_record_result *result);

#endif
