/*
 * budget_policy.h - which functions to record so that recording costs no more than a share of the
 * program's own time: the arithmetic alone.
 *
 * Pure: knows nothing of processes, sleds or traces. budget.c tells it what was seen and does what
 * it says; a unit test does the same for programs that it makes up. docs/adr/012-budget.md
 * explains.
 *
 * Time is processor time of the program in ns, all of its threads together. "Plain" time is what
 * is left of it without the cost of recording: what the program would have taken by itself.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_POLICY_H
#define NSC_RECORD_BUDGET_BUDGET_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "record/budget/budget_clock.h"
#include "record/budget/budget_strata.h"

struct nsc_policy_function {
    bool off;
    bool fixed;    /* cannot be switched */
    bool sampled;  /* off, but on in the window that is open */
    bool touched;  /* in the list of the present step */
    double rate;   /* calls a plain ns, in the mean of the last while */
    double weight; /* plain ns that the mean rests on */
    double recent; /* calls a plain ns in the last few ms */
    double hold;   /* plain ns until it is tried again, when it has been switched off */
    double retry_at, on_since;
    double calls, total_ticks, self_ticks; /* in the present step */
    double glimpse;                        /* calls a ns, by the glance that is under way */
    bool leaving;                          /* went in the present step, at a glance */
    double in_window[3];                   /* the same in the window that is open */
    /* While off, windows excepted: */
    double off_ticks;            /* that threads had */
    struct nsc_strata strata[3]; /* of calls, by plain time; of total and self ticks, by time */
    double missed[3];            /* while on, but turned away */
    double seen[3];              /* calls and times that were recorded and make sense */
    double peak;                 /* calls a plain ns when it was last switched off */
};

/* A function is to be switched. */
struct nsc_policy_change {
    uint32_t function;
    bool on;
};

struct nsc_policy {
    double share;   /* of the program's plain time that recording may take */
    double call_ns; /* what recording a call costs: entry and exit */
    struct nsc_policy_function *functions;
    uint32_t count, room;
    uint32_t *touched;
    uint32_t touched_count;
    struct nsc_policy_change *changes; /* what the last step decided */
    uint32_t change_count;
    uint32_t *scratch;
    double plain_ns, cpu_ns, spent_ns; /* in all */
    double credit_ns;                  /* what may be spent beside the share; negative: debt */
    double window_credit_ns, whole_credit_ns; /* of windows, and of those that have all */
    double *window_account;                   /* which of them pays for the one that is open */
    bool window_open, window_whole;           /* whole: nothing is off in it */
    double window_plain, window_cpu, window_spent;
    double window_rate; /* of the steady calls, before it */
    struct nsc_budget_clock clock;
    struct nsc_budget_tally step, window; /* the present ones */
    double window_length, window_cost;    /* as planned; the cost as a share of plain time */
    double window_wait; /* of what the next one costs, what must be there beside that */
    uint64_t random;
    double within_ns; /* plain time at the end of the last 100 ms that cost more than the share */
    double block_plain, block_spent;
    uint32_t windows, off_count;
};

/* What a step saw beside the calls. */
struct nsc_policy_step {
    double cpu_ns;       /* of the program */
    double cpu_doubt_ns; /* how far its end and that of the calls may be apart */
    double charged_ns;   /* of the recorder, as far as the program had to wait for it */
    double lost_calls;   /* of whatever functions: the program ran out of room for them */
    double ticks;        /* that threads had, running or not; 0: not known */
    bool moving;         /* sleds were switched in it: it costs, but tells nothing of rates */
};

/* What is estimated of the calls that were not recorded; errors are standard errors. */
struct nsc_policy_estimate {
    bool known, self_known;
    double value[3], error[3]; /* calls, total ticks, self ticks */
};

/* @share: e.g. 0.1. @call_ns: cost of a recorded call. */
void nsc_policy_init(struct nsc_policy *p, double share, double call_ns);
void nsc_policy_free(struct nsc_policy *p);

/* A function that has appeared; it is on. Functions are counted from 0. 0 or -ENOMEM. */
int nsc_policy_add(struct nsc_policy *p, bool fixed);

/* Calls of a function that ended in the step under way. */
void nsc_policy_saw(struct nsc_policy *p, uint32_t function, double calls, double total_ticks,
                    double self_ticks);

/**
 * nsc_policy_step - a step is over: decide.
 *
 * p->changes tells what is to be switched now. Afterwards a step with @moving must follow at once,
 * if there is any change.
 */
void nsc_policy_step(struct nsc_policy *p, const struct nsc_policy_step *step);

/* What a function is called at this moment: calls a ns. */
void nsc_policy_glimpse(struct nsc_policy *p, uint32_t function, double rate);

/**
 * nsc_policy_glance - the glimpses are all: must anything be switched at once?
 * @threads: that run, by time that passes; with the cost of what they call.
 *
 * In place of a step, where that would have to read first what it is about: what costs so much that
 * the account cannot bear it until the next step goes. p->changes tells; the next step knows what
 * was recorded of it.
 */
void nsc_policy_glance(struct nsc_policy *p, double threads);

/* How much of the program's time may go by until the next step should come. */
double nsc_policy_patience_ns(const struct nsc_policy *p);

/* How much recording may cost until the next step, however late that comes. */
double nsc_policy_ration_ns(const struct nsc_policy *p);

struct nsc_policy_estimate nsc_policy_estimate(const struct nsc_policy *p, uint32_t function);

#endif
