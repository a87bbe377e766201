/* budget_strata.c - see budget_strata.h. */
#include "record/budget/budget_strata.h"

#include <math.h>

/* Student's t at one standard deviation is at most 1 + T_MORE / n for n degrees of freedom. */
#define T_MORE   0.84
/* The cost of a window delays the next one, so changes of rates are not spread evenly over spans.
 * The maximum error, half of each difference, may therefore have the same sign in all spans. */
#define SAME_WAY 0.5

void nsc_strata_pass(struct nsc_strata *s, double time)
{
    s->span += time;
    s->left_out += time;
}

/* Ends a span with a window at one end. Estimates it by that window's rate; the error is the
 * difference between neighbouring windows. */
static void end_loose(struct nsc_strata *s)
{
    double square = s->span * s->span;

    s->value += s->span * s->rate;
    s->shared += s->span * s->rate * s->doubt;
    s->loose += square;
    s->loose_fourth += square * square;
    s->span = 0;
}

/*
 * Ends a span between two windows. Estimates it by the mean of their rates. Half the square of the
 * difference is the variance of a window among its neighbours; a program that changes once in the
 * span differs by less.
 */
static void end_between(struct nsc_strata *s, double rate, double doubt)
{
    double difference = rate - s->rate;
    double variance = s->span * s->span * difference * difference / 2;

    s->value += s->span * (s->rate + rate) / 2;
    s->shared += s->span * ((s->rate * s->doubt + rate * doubt) / 2 + SAME_WAY * fabs(difference));
    s->squares += variance;
    s->fourth += variance * variance;
    s->differences += difference * difference;
    s->pairs++;
    s->span = 0;
}

void nsc_strata_window(struct nsc_strata *s, double value, double time, double doubt)
{
    double rate = value / time;

    end_between(s, rate, doubt);
    s->windows++;
    s->sum += value;
    s->time += time;
    s->rate = rate;
    s->doubt = doubt;
}

void nsc_strata_start(struct nsc_strata *s, double rate, double doubt)
{
    s->rate = rate;
    s->doubt = doubt;
}

void nsc_strata_end(struct nsc_strata *s)
{
    end_loose(s);
}

void nsc_strata_estimate(const struct nsc_strata *s, double peak, double least, double *value,
                         double *error)
{
    struct nsc_strata end = *s;
    double mean = s->sum / s->time, pooled, variance, fourth, freedom, missed, counted;

    end_loose(&end);
    /* A single rate is known only to its order of magnitude. */
    pooled = end.pairs > 0 ? end.differences / end.pairs : mean * mean;
    variance = end.squares + end.loose * pooled;
    fourth = end.fourth + end.loose_fourth * pooled * pooled;
    freedom = fourth > 0 ? variance * variance / fourth : end.windows;
    freedom = fmax(fmin(freedom, end.windows - 1), 0.5);
    variance *= (1 + T_MORE / freedom) * (1 + T_MORE / freedom);
    /* The rate when last enabled may have recurred between windows, or no calls at all may have
     * happened: of n + 1 windows, one might have met it. */
    missed = fmax(peak - mean, mean) / (end.windows + 1) * end.left_out;
    counted = fmax(end.sum, least) * least / (end.time * end.time) * end.left_out * end.left_out;
    *value = end.value;
    *error = sqrt(fmax(fmax(variance, missed * missed), counted) + end.shared * end.shared);
}
