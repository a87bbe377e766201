/* budget_clock.c - see budget_clock.h. */
#include "record/budget/budget_clock.h"

#include <float.h>
#include <math.h>

/* Relative error of the cost of recording a call: processors overlap it with other work. */
#define COST_DOUBT    0.25
/* Cost of a lost call, entry and exit, in ns; and its error. */
#define LOST_NS       3
#define LOST_NS_DOUBT 3
/* Lost calls are taken to be of the same functions as the others; relative error of that. */
#define LOST_DOUBT    0.3
/* Minimum own time of a call, in ns: a jump, a return and two sleds. */
#define OWN_LEAST     0.8
/* Clocks that differ by more than this number of standard errors contradict each other. */
#define APART         2.5
/* Time over which the variance of steady calls is measured. */
#define UNEVEN_NS     30e6

static double square(double x)
{
    return x * x;
}

void nsc_budget_clock_add(struct nsc_budget_tally *to, const struct nsc_budget_tally *more)
{
    to->cpu_ns += more->cpu_ns;
    to->calls += more->calls;
    to->steady += more->steady;
    to->lost += more->lost;
}

void nsc_budget_clock_watch(struct nsc_budget_clock *c, double steady, double expected,
                            double plain_ns)
{
    double uneven;

    if (expected <= 0)
        return;
    /* Divide by the larger number: nothing is expected of what has just begun. */
    uneven = square(steady - expected) / fmax(steady, expected);
    c->uneven_ns = fmin(c->uneven_ns + plain_ns, UNEVEN_NS);
    c->uneven += (uneven - c->uneven) * fmin(plain_ns / c->uneven_ns, 1);
}

/* A time and its variance. */
struct reading {
    double ns, variance;
};

/* The first clock: processor time without the cost of the calls. */
static struct reading by_cost(const struct nsc_budget_clock *c, const struct nsc_budget_tally *t)
{
    return (struct reading){
        .ns = t->cpu_ns - t->calls * c->call_ns - t->lost * LOST_NS,
        .variance = square(t->calls * c->call_ns * COST_DOUBT) + square(t->lost * LOST_NS_DOUBT) +
                    square(t->doubt_ns),
    };
}

/* The second clock: the time that the steady calls represent. */
static struct reading by_steady(const struct nsc_budget_clock *c, const struct nsc_budget_tally *t,
                                double rate)
{
    double scale = (1 + t->lost / fmax(t->calls, 1)) / rate, ns = t->steady * scale;
    double lost = LOST_DOUBT * t->lost / fmax(t->calls + t->lost, 1);

    return (struct reading){
        .ns = ns,
        .variance = c->uneven * (t->steady + c->uneven) * square(scale) + square(ns * lost),
    };
}

/*
 * Weights each clock by its certainty. If they contradict each other, the program does something
 * new, and the steady calls no longer are steady.
 */
static struct reading together(struct reading cost, struct reading steady)
{
    double both = cost.variance + steady.variance;

    if (both < DBL_MIN || square(cost.ns - steady.ns) > square(APART) * both)
        return cost;
    return (struct reading){
        .ns = (cost.ns * steady.variance + steady.ns * cost.variance) / both,
        .variance = cost.variance * steady.variance / both,
    };
}

struct nsc_budget_time nsc_budget_clock_read(const struct nsc_budget_clock *c,
                                             const struct nsc_budget_tally *t, double steady_rate)
{
    struct reading r = by_cost(c, t);
    double least, ns, error;

    if (steady_rate > 0)
        r = together(r, by_steady(c, t, steady_rate));
    least = fmax(fmin((t->calls + t->lost) * OWN_LEAST, t->cpu_ns / 2), t->cpu_ns / 200);
    ns = fmin(fmax(r.ns, least), t->cpu_ns);
    error = sqrt(r.variance);
    return (struct nsc_budget_time){ns, fmax(ns - error, least), fmin(ns + error, t->cpu_ns)};
}

double nsc_budget_clock_least_rate(const struct nsc_budget_clock *c, double rate, double call_ns)
{
    double by_cpu = rate / (1 + rate * call_ns);

    return by_cpu / (1 - by_cpu * fmin(c->call_ns * (1 - COST_DOUBT), call_ns));
}
