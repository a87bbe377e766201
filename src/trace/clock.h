/*
 * clock.h - from timer ticks to nanoseconds and back, by the trace's calibration points.
 *
 * Made by the reader; used by everything that shows times. The conversion is piecewise linear
 * between the points, continuous and monotone, exact to a nanosecond or two over the whole 64-bit
 * range.
 */
#ifndef NSC_TRACE_CLOCK_H
#define NSC_TRACE_CLOCK_H

#include "trace/model.h"

/* From `ticks` on: ns + (t - ticks) * factor / 2^shift, up to the next segment. */
struct nsc_clock_segment {
    uint64_t ticks;
    uint64_t ns; /* since the origin */
    uint64_t factor;
    uint32_t shift;
};

struct nsc_clock {
    /* Time zero: the first event or the first clock point, whichever is earlier. 0 when ticks are
     * nanoseconds: then the conversion changes nothing. */
    uint64_t origin_ticks;
    double
        ns_per_tick; /* over the whole trace; exactly 1.0 for traces whose ticks are nanoseconds */
    bool identity;   /* ticks are ns; conversion is exact */
    /* Private to clock.c; segments[0].ticks is the origin. */
    struct nsc_clock_segment whole; /* the average: for spans */
    struct nsc_clock_segment *segments;
    uint32_t segment_count;
};

/**
 * nsc_clock_build - make the conversion from calibration points.
 * @points, @count: as stored; unusable ones (running backwards) are passed over. None at all and
 *        no @frequency: ticks are nanoseconds.
 * @frequency: nominal ticks a second or 0; used when the points span less than 10 ms.
 * @first_event: ticks of the first event, or UINT64_MAX.
 * Returns 0 or -ENOMEM. Release with nsc_clock_release().
 */
int nsc_clock_build(struct nsc_clock *clock, const struct nsc_clock_point *points, uint32_t count,
                    uint64_t frequency, uint64_t first_event);
void nsc_clock_release(struct nsc_clock *clock);

/* ns since the origin; ticks before the origin give 0. Saturates at UINT64_MAX. */
uint64_t nsc_clock_ns(const struct nsc_clock *clock, uint64_t ticks);
/* Length of a span in ns (the difference of two ticks), by the average rate, to the nearest: sums
 * of many short ones are not short themselves. */
uint64_t nsc_clock_span_ns(const struct nsc_clock *clock, uint64_t ticks);
/* The first tick at or after an instant given in ns since the origin. */
uint64_t nsc_clock_ticks(const struct nsc_clock *clock, uint64_t ns);

#endif
