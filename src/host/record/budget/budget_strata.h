/*
 * budget_strata.h - estimate a quantity that is observed in short windows only. Pure arithmetic.
 *
 * Called by budget_policy.c. The time that was left out consists of spans, one between two
 * neighbouring windows each. A span is estimated by the rates in the windows at its ends. So a
 * phase of the program counts by its length, however few or many windows fall into it. The error
 * follows from the differences between neighbouring windows. docs/adr/012-budget.md explains it.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_STRATA_H
#define NSC_RECORD_BUDGET_BUDGET_STRATA_H

#include <stdbool.h>

struct nsc_strata {
    double windows, sum, time;  /* number of windows; observed quantity and time */
    double value;               /* estimate for the spans that have ended */
    double squares, fourth;     /* spans between two windows: sums of variances and their squares */
    double loose, loose_fourth; /* other spans: sums of length^2 and length^4 */
    double differences, pairs;  /* neighbouring windows: squared rate differences */
    double shared;              /* error common to all windows: it does not cancel */
    double rate, doubt;         /* rate in the last window, and its relative error */
    double left_out, span;      /* time without windows: in total, and since the last window */
};

/* Starts leaving the quantity out. @rate: amount per unit of time until now; @doubt: its relative
 * error. */
void nsc_strata_start(struct nsc_strata *s, double rate, double doubt);

/* Adds @time in which the quantity was not observed. */
void nsc_strata_pass(struct nsc_strata *s, double time);

/* Adds a window: @value in @time. @doubt: relative error of the rate, common to all windows. */
void nsc_strata_window(struct nsc_strata *s, double value, double time, double doubt);

/* Ends leaving out: the last span has no window at its end. */
void nsc_strata_end(struct nsc_strata *s);

/**
 * nsc_strata_estimate - estimate everything that was left out, with a standard error.
 * @peak: the last rate outside of windows; indicates what windows may have missed.
 * @least: the value of a single event.
 * Requires at least one window.
 */
void nsc_strata_estimate(const struct nsc_strata *s, double peak, double least, double *value,
                         double *error);

#endif
