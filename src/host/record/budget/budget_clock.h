/*
 * budget_clock.h - estimate how much of a program's processor time was its own, where recording
 * took most of it. Pure arithmetic.
 *
 * Called by budget_policy.c. In a window with all functions enabled, processor time minus the cost
 * of the calls is a small difference of two large numbers. The calls of functions that are always
 * enabled ("steady" calls) serve as a second clock. docs/adr/012-budget.md explains it.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_CLOCK_H
#define NSC_RECORD_BUDGET_BUDGET_CLOCK_H

/* Measurements of the program over some time. */
struct nsc_budget_tally {
    double cpu_ns, doubt_ns; /* cpu_ns and its uncertainty */
    double calls, steady;    /* calls of all functions; steady calls */
    double lost;             /* lost calls */
};

struct nsc_budget_clock {
    double call_ns;           /* cost of recording a call while little else runs, in warm caches */
    double uneven, uneven_ns; /* of steady calls: variance / mean; over this time */
};

/* An estimated time with bounds at one standard error. */
struct nsc_budget_time {
    double ns, least, most;
};

void nsc_budget_clock_add(struct nsc_budget_tally *to, const struct nsc_budget_tally *more);

/* Updates the variance of steady calls by a measurement outside of windows: @steady calls were seen
 * in @plain_ns, @expected were expected. */
void nsc_budget_clock_watch(struct nsc_budget_clock *c, double steady, double expected,
                            double plain_ns);

/* Estimates the program's own time. @steady_rate: steady calls per ns just before; 0: there is no
 * second clock. */
struct nsc_budget_time nsc_budget_clock_read(const struct nsc_budget_clock *c,
                                             const struct nsc_budget_tally *t, double steady_rate);

/* Returns the lower bound of a rate that was measured under the assumption that a call costs
 * @call_ns. With little own time left beside that cost, the rate may be far too high. */
double nsc_budget_clock_least_rate(const struct nsc_budget_clock *c, double rate, double call_ns);

#endif
