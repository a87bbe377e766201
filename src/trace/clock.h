/*
 * clock.h - from timer ticks to nanoseconds and back, by the trace's calibration points.
 */
#ifndef NSC_TRACE_CLOCK_H
#define NSC_TRACE_CLOCK_H

#include "trace/model.h"

struct nsc_clock {
    uint64_t origin_ticks; /* time zero of the trace: its first event or its first clock point */
    double ns_per_tick;    /* exact 1.0 for traces whose ticks are nanoseconds */
    /* further fields belong to clock.c: fixed-point factor, points */
    uint64_t factor; /* ns per tick as 32.32 fixed point... see clock.c for the range argument */
    uint32_t shift;
    bool identity; /* ticks are ns; conversion is exact */
};

/* ns since the origin; ticks before the origin give 0. */
uint64_t nsc_clock_ns(const struct nsc_clock *clock, uint64_t ticks);
/* Length of a span in ns (the difference of two ticks). */
uint64_t nsc_clock_span_ns(const struct nsc_clock *clock, uint64_t ticks);
/* ticks of an instant given in ns since the origin. */
uint64_t nsc_clock_ticks(const struct nsc_clock *clock, uint64_t ns);

#endif
