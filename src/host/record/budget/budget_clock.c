/* budget_clock.c - see budget_clock.h. */
#include "record/budget/budget_clock.h"

#include <float.h>
#include <math.h>

/* What recording a call costs may be so much less or more: processors do other things meanwhile. */
#define COST_DOUBT    0.25
/* A call that finds no room, entry and exit; and how wrong that may be. */
#define LOST_NS       3
#define LOST_NS_DOUBT 3
/* Calls that are lost are taken to be of the same functions as the others, which may be so wrong.
 */
#define LOST_DOUBT    0.3
/* Of the program's own time, a call takes no less: it is a jump, a return and two sleds. */
#define OWN_LEAST     0.8
/* Two clocks that differ by more than so many standard errors do not tell of the same thing. */
#define APART         2.5
/* How uneven steady calls come is known from so much time. */
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
    /* By the larger one: what has just begun is not expected at all. */
    uneven = square(steady - expected) / fmax(steady, expected);
    c->uneven_ns = fmin(c->uneven_ns + plain_ns, UNEVEN_NS);
    c->uneven += (uneven - c->uneven) * fmin(plain_ns / c->uneven_ns, 1);
}

/* A time with the square of its error. */
struct reading {
    double ns, variance;
};

/* What is left after the cost of the calls. */
static struct reading by_cost(const struct nsc_budget_clock *c, const struct nsc_budget_tally *t)
{
    return (struct reading){
        .ns = t->cpu_ns - t->calls * c->call_ns - t->lost * LOST_NS,
        .variance = square(t->calls * c->call_ns * COST_DOUBT) + square(t->lost * LOST_NS_DOUBT) +
                    square(t->doubt_ns),
    };
}

/* What the steady calls stand for. */
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
 * Each clock counts for as much as it is sure. If they contradict each other, the program has begun
 * something new, and the functions that were steady are not.
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
