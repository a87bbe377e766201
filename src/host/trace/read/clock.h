/*
 * clock.h - convert timer ticks to nanoseconds and back, by the trace's calibration points.
 *
 * Created by the reader; used by everything that shows times. The conversion is piecewise linear
 * between the points, continuous and monotonic, and exact to a nanosecond or two over the whole
 * 64-bit range.
 */
#ifndef NSC_TRACE_READ_CLOCK_H
#define NSC_TRACE_READ_CLOCK_H

#include "trace/format/model.h"

__extension__ typedef unsigned __int128 nsc_clock_wide;

/* Conversion from `ticks` up to the next segment: ns + (t - ticks) * factor / 2^shift. */
struct nsc_clock_segment {
    uint64_t ticks;
    uint64_t ns; /* since the origin */
    uint64_t factor;
    uint32_t shift;
};

struct nsc_clock {
    /* Time zero: the first event or the first clock point, whichever is earlier. 0 when ticks are
     * nanoseconds: the conversion is then the identity. */
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
 * nsc_clock_build - build the conversion from calibration points.
 * @points, @count: as stored; points that run backwards are skipped. Without points and @frequency
 *        ticks are nanoseconds.
 * @frequency: nominal ticks per second or 0; used if the points span less than 10 ms.
 * @first_event: ticks of the first event, or UINT64_MAX.
 * Returns 0 or -ENOMEM. Release with nsc_clock_release().
 */
int nsc_clock_build(struct nsc_clock *clock, const struct nsc_clock_point *points, uint32_t count,
                    uint64_t frequency, uint64_t first_event);
void nsc_clock_release(struct nsc_clock *clock);

/* ns since the origin; ticks before the origin give 0. Saturates at UINT64_MAX. */
uint64_t nsc_clock_ns(const struct nsc_clock *clock, uint64_t ticks);

/*
 * A cached segment of a clock: a fast path for converting many ticks that are close to each other,
 * like those of a chunk. Begin with nsc_clock_run_begin(). nsc_clock_run_ns() returns exactly the
 * result of nsc_clock_ns().
 */
struct nsc_clock_run {
    const struct nsc_clock *clock;
    /* Private: ticks - from_ticks <= last: ns + (ticks - from_ticks) * factor / 2^shift. */
    uint64_t from_ticks, last;
    uint64_t ns, factor;
    uint32_t shift;
};

/* Begin a run. Looks nothing up: no cost if no conversion follows. */
static inline void nsc_clock_run_begin(struct nsc_clock_run *run, const struct nsc_clock *clock)
{
    *run = (struct nsc_clock_run){.clock = clock, .from_ticks = clock->origin_ticks};
}

/* Slow path: return nsc_clock_ns() and move the run to the segment of @ticks. */
uint64_t nsc_clock_run_move(struct nsc_clock_run *run, uint64_t ticks);

/* Cost: one multiplication while @ticks stay between two points of the clock. */
static inline uint64_t nsc_clock_run_ns(struct nsc_clock_run *run, uint64_t ticks)
{
    uint64_t in = ticks - run->from_ticks;

    if (__builtin_expect(in > run->last, 0))
        return nsc_clock_run_move(run, ticks);
    return run->ns + (uint64_t)((nsc_clock_wide)in * run->factor >> run->shift);
}

/* Convert a duration (difference of two ticks) to ns by the average rate, rounded to the nearest,
 * so that sums of many short durations have no bias. */
uint64_t nsc_clock_span_ns(const struct nsc_clock *clock, uint64_t ticks);
/* The first tick at or after an instant given in ns since the origin. */
uint64_t nsc_clock_ticks(const struct nsc_clock *clock, uint64_t ns);

#endif
