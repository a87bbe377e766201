/*
 * budget_clock.h - how much of a program's processor time was its own, where recording took most of
 * it: the arithmetic alone.
 *
 * Called by budget_policy.c. In a window with everything on, what is left after the cost of the
 * calls is a small difference of two large numbers. The functions that are always on are a second
 * clock. docs/adr/012-budget.md explains.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_CLOCK_H
#define NSC_RECORD_BUDGET_BUDGET_CLOCK_H

/* What was seen of the program for a while. */
struct nsc_budget_tally {
    double cpu_ns, doubt_ns; /* by how much that may be wrong */
    double calls, steady;    /* of whatever functions; of those that are always on */
    double lost;             /* calls that found no room */
};

struct nsc_budget_clock {
    double call_ns;           /* what recording a call costs where little else is called */
    double uneven, uneven_ns; /* of steady calls: variance by mean, and from how much time */
};

/* A time; what it is at the least and at the most, by a standard error. */
struct nsc_budget_time {
    double ns, least, most;
};

void nsc_budget_clock_add(struct nsc_budget_tally *to, const struct nsc_budget_tally *more);

/* There were so many steady calls in a while out of windows, where so many were expected. */
void nsc_budget_clock_watch(struct nsc_budget_clock *c, double steady, double expected,
                            double plain_ns);

/* The program's own time. @steady_rate: steady calls a ns just before; 0: there is no such clock.
 */
struct nsc_budget_time nsc_budget_clock_read(const struct nsc_budget_clock *c,
                                             const struct nsc_budget_tally *t, double steady_rate);

/* What a rate, told where a call was taken to cost @call_ns, is at the least: with little time left
 * beside that it may be far too high. */
double nsc_budget_clock_least_rate(const struct nsc_budget_clock *c, double rate, double call_ns);

#endif
