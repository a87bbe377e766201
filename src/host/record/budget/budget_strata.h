/*
 * budget_strata.h - what is estimated of a quantity that is seen in short windows only: the
 * arithmetic alone.
 *
 * Called by budget_policy.c. The time that was left out falls into spans, one between each two
 * neighbouring windows; each is estimated by the two rates at its ends, so that a phase of the
 * program counts by its length, however few or many windows fell into it. The error is told by how
 * much neighbouring windows differ. docs/adr/012-budget.md explains.
 */
#ifndef NSC_RECORD_BUDGET_BUDGET_STRATA_H
#define NSC_RECORD_BUDGET_BUDGET_STRATA_H

#include <stdbool.h>

struct nsc_strata {
    double windows, sum, time;  /* what was seen */
    double value;               /* of the spans that have ended */
    double squares, fourth;     /* of the errors of spans between two windows: variances, and their
                                 * squares */
    double loose, loose_fourth; /* of spans with a window at one end only: lengths squared, and to
                                 * the fourth */
    double differences, pairs;  /* of the rates of neighbouring windows, squared */
    double shared;              /* error that windows have in common: it does not cancel */
    double rate, doubt;         /* of the last window */
    double left_out, span;      /* time without, in all and since the last window */
};

/* From here on it is left out; until now there was so much a unit of time. */
void nsc_strata_start(struct nsc_strata *s, double rate, double doubt);

/* Time goes by without being seen. */
void nsc_strata_pass(struct nsc_strata *s, double time);

/* In @time there was so much; the rate may be wrong by the part @doubt, in all windows alike. */
void nsc_strata_window(struct nsc_strata *s, double value, double time, double doubt);

/* What comes from here on is recorded: the last span ends without a window. */
void nsc_strata_end(struct nsc_strata *s);

/**
 * nsc_strata_estimate - of all that was left out, with a standard error.
 * @peak: the rate when it was last seen outside of windows; tells what may have been missed.
 * @least: what a single event more would have been.
 * There must have been a window.
 */
void nsc_strata_estimate(const struct nsc_strata *s, double peak, double least, double *value,
                         double *error);

#endif
