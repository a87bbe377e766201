/*
 * budget_policy.h - choose the functions to record, so that recording costs no more than a share of
 * the program's own time. Pure arithmetic.
 *
 * Knows nothing of processes, sleds or traces. budget.c passes measurements and applies the
 * decisions; a unit test does the same for simulated programs. docs/adr/012-budget.md explains the
 * policy.
 *
 * Times are processor time of the program in ns, all of its threads together. "Plain" time excludes
 * the cost of recording: the time that the program would take without it. A function is "off" if it
 * is disabled. A "window" is a short time in which functions that are off are recorded as samples.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_POLICY_H
#define NSC_RECORD_BUDGET_BUDGET_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "record/budget/budget_clock.h"
#include "record/budget/budget_strata.h"

struct nsc_policy_function {
    bool off;
    bool fixed;    /* cannot be disabled */
    bool sampled;  /* off, but enabled in the open window */
    bool touched;  /* in the list `touched` of the present step */
    double rate;   /* calls per plain ns, long-term mean */
    double weight; /* plain ns over which the mean was taken */
    double recent; /* calls per plain ns in the last few ms */
    double hold;   /* plain ns that it stays off at least */
    double retry_at, on_since;
    double calls, total_ticks, self_ticks; /* in the present step */
    double glimpse;                        /* calls per ns, by the present quick estimate */
    bool leaving;                          /* disabled in the present step, by a quick estimate */
    double in_window[3];                   /* calls, total and self ticks in the open window */
    /* While off, except in windows. Calls are estimated over plain time, ticks over processor time.
     */
    double off_ticks;            /* ticks available to the threads */
    struct nsc_strata strata[3]; /* of calls, total and self ticks */
    double missed[3];            /* estimates for calls lost while on */
    double seen[3];              /* recorded calls and times that are plausible */
    double peak;                 /* calls per plain ns when it was last disabled */
};

/* A function to be enabled or disabled. */
struct nsc_policy_change {
    uint32_t function;
    bool on;
};

struct nsc_policy {
    double share;   /* maximum share of the program's plain time for recording */
    double call_ns; /* cost of recording a call: entry and exit */
    struct nsc_policy_function *functions;
    uint32_t count, room;
    uint32_t *touched;
    uint32_t touched_count;
    struct nsc_policy_change *changes; /* decisions of the last step */
    uint32_t change_count;
    uint32_t *scratch;
    double plain_ns, cpu_ns, spent_ns; /* totals */
    double credit_ns; /* amount that may be spent in addition to the share; negative: debt */
    double window_credit_ns, whole_credit_ns; /* accounts of windows, and of whole windows */
    double *window_account;                   /* the account that pays for the open window */
    bool window_open, window_whole;           /* whole: all functions are enabled in it */
    double window_plain, window_cpu, window_spent;
    double window_rate; /* rate of steady calls before the window */
    struct nsc_budget_clock clock;
    struct nsc_budget_tally step, window; /* of the present step and window */
    double window_length, window_cost;    /* planned values; cost as a share of plain time */
    double window_wait; /* extra credit for the next one, as a fraction of its cost */
    uint64_t random;
    double within_ns; /* plain time at the end of the last 100 ms that exceeded the share */
    double block_plain, block_spent;
    uint32_t windows, off_count;
};

/* Measurements of a step, besides the calls. */
struct nsc_policy_step {
    double cpu_ns;       /* of the program */
    double cpu_doubt_ns; /* possible offset between the times of measuring cpu_ns and the calls */
    double charged_ns;   /* of the recorder, as far as it delayed the program */
    double lost_calls;   /* calls of all functions that were lost for lack of room */
    double ticks;        /* available to threads, running or not; 0: unknown */
    bool moving; /* sleds were switched meanwhile: counts as cost, but rates are not updated */
};

/* Estimates of the calls that were not recorded; errors are standard errors. */
struct nsc_policy_estimate {
    bool known, self_known;
    double value[3], error[3]; /* calls, total ticks, self ticks */
};

/* @share: for example 0.1. @call_ns: cost of a recorded call. */
void nsc_policy_init(struct nsc_policy *p, double share, double call_ns);
void nsc_policy_free(struct nsc_policy *p);

/* Adds a function, which is on. Functions are numbered from 0. Returns 0 or -ENOMEM. */
int nsc_policy_add(struct nsc_policy *p, bool fixed);

/* Adds calls of a function that ended in the present step. */
void nsc_policy_saw(struct nsc_policy *p, uint32_t function, double calls, double total_ticks,
                    double self_ticks);

/**
 * nsc_policy_step - end a step, and decide.
 *
 * p->changes receives the functions to be switched now. If there are any, a step with @moving must
 * follow at once.
 */
void nsc_policy_step(struct nsc_policy *p, const struct nsc_policy_step *step);

/* Adds to a function's quick estimate: calls per ns of wall time, at this time. */
void nsc_policy_glimpse(struct nsc_policy *p, uint32_t function, double rate);

/**
 * nsc_policy_glance - decide from the quick estimates whether functions must be disabled at once.
 * @threads: number of running threads in wall time, including the time spent recording their calls.
 *
 * Used before a step, which first has to read the recorded events. Disables functions that cost so
 * much that the account cannot bear them until the next step. p->changes receives them; the next
 * step accounts for their recorded calls.
 */
void nsc_policy_glance(struct nsc_policy *p, double threads);

/* Returns the processor time of the program, in ns, that may pass until the next step. */
double nsc_policy_patience_ns(const struct nsc_policy *p);

/* Returns the quota: how much recording may cost until the next step, in ns, however late that
 * comes. */
double nsc_policy_ration_ns(const struct nsc_policy *p);

struct nsc_policy_estimate nsc_policy_estimate(const struct nsc_policy *p, uint32_t function);

#endif
