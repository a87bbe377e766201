/*
 * clock.c - see clock.h.
 *
 * Range: factor < 2^63 and shift <= 60 with factor / 2^shift = ns per tick, so (ticks * factor)
 * fits 128 bits for any 64-bit ticks, and the relative error of the factor is below 2^-60 for
 * clocks from 1 Hz up: less than a nanosecond in 30 years.
 */
#include "trace/read/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/search.h"

#define NS_PER_S      1000000000u
#define SHORT_SPAN_NS 10000000u /* over less, the nominal frequency is more accurate */
#define FACTOR_LIMIT  ((uint64_t)1 << 63)
#define SHIFT_MAX     60u

typedef nsc_clock_wide wide;

/* Set the slope ns / ticks, limited to less than 2^63 ns per tick. */
static void set_slope(struct nsc_clock_segment *s, uint64_t ns, uint64_t ticks)
{
    uint32_t shift = SHIFT_MAX;

    if (ticks == 0)
        ticks = 1;
    while (shift > 0 && ((wide)ns << shift) / ticks >= FACTOR_LIMIT)
        shift--;
    s->shift = shift;
    s->factor = (uint64_t)((((wide)ns << shift) + ticks - 1) / ticks); /* up: exact at the points */
    if (s->factor >= FACTOR_LIMIT)
        s->factor = FACTOR_LIMIT - 1;
}

/* Convert ticks to ns. @rest: added before rounding down, in units of 2^-shift ns. */
static uint64_t scale(const struct nsc_clock_segment *s, uint64_t ticks, uint64_t rest)
{
    wide ns = ((wide)ticks * s->factor + rest) >> s->shift;

    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static uint64_t at_segment(const struct nsc_clock_segment *s, uint64_t ticks)
{
    uint64_t ns = s->ns + scale(s, ticks - s->ticks, 0);

    return ns < s->ns ? UINT64_MAX : ns;
}

/* Add a segment that begins at @ticks, at the ns where the last one arrives. */
static struct nsc_clock_segment *add_segment(struct nsc_clock *clock, uint64_t ticks)
{
    struct nsc_clock_segment *s = &clock->segments[clock->segment_count];

    s->ticks = ticks;
    s->ns = clock->segment_count == 0 ? 0 : at_segment(s - 1, ticks);
    clock->segment_count++;
    return s;
}

/* Add a segment for each point after the first that runs forward. Returns the last usable point. */
static const struct nsc_clock_point *add_points(struct nsc_clock *clock,
                                                const struct nsc_clock_point *points,
                                                uint32_t count)
{
    const struct nsc_clock_point *from = &points[0];

    for (uint32_t i = 1; i < count; i++) {
        const struct nsc_clock_point *to = &points[i];
        uint64_t begin = clock->segment_count == 0 ? clock->origin_ticks : from->ticks;

        if (to->ticks <= from->ticks || to->monotonic_ns <= from->monotonic_ns)
            continue;
        set_slope(add_segment(clock, begin), to->monotonic_ns - from->monotonic_ns,
                  to->ticks - from->ticks);
        from = to;
    }
    return from;
}

static void be_linear(struct nsc_clock *clock, uint64_t ns, uint64_t ticks)
{
    clock->segment_count = 0;
    set_slope(add_segment(clock, clock->origin_ticks), ns, ticks);
}

int nsc_clock_build(struct nsc_clock *clock, const struct nsc_clock_point *points, uint32_t count,
                    uint64_t frequency, uint64_t first_event)
{
    const struct nsc_clock_point *last = NULL;
    uint64_t ns = 0, ticks = 0;

    memset(clock, 0, sizeof *clock);
    clock->ns_per_tick = 1.0;
    clock->identity = count == 0 && frequency == 0;
    if (clock->identity)
        return 0;
    clock->segments = calloc((size_t)count + 1, sizeof *clock->segments);
    if (clock->segments == NULL)
        return -ENOMEM;
    clock->origin_ticks = first_event == UINT64_MAX ? 0 : first_event;
    if (count > 0 && (points[0].ticks < first_event || first_event == UINT64_MAX))
        clock->origin_ticks = points[0].ticks;
    if (count > 0)
        last = add_points(clock, points, count);
    if (last != NULL) {
        ns = last->monotonic_ns - points[0].monotonic_ns;
        ticks = last->ticks - points[0].ticks;
    }
    if (frequency != 0 && ns < SHORT_SPAN_NS) {
        ns = NS_PER_S;
        ticks = frequency;
        be_linear(clock, ns, ticks);
    } else if (clock->segment_count == 0 || ticks == 0) {
        ns = ticks = 1; /* one point and no frequency: assume 1 ns per tick */
        be_linear(clock, ns, ticks);
    }
    set_slope(&clock->whole, ns, ticks);
    clock->ns_per_tick = (double)ns / (double)ticks;
    return 0;
}

void nsc_clock_release(struct nsc_clock *clock)
{
    free(clock->segments);
    clock->segments = NULL;
    clock->segment_count = 0;
}

/* Find the last segment that begins at or before @value (ticks, or ns if @by_ns), or the first. A
 * long recording has one segment per second. */
static const struct nsc_clock_segment *find_segment(const struct nsc_clock *clock, uint64_t value,
                                                    bool by_ns)
{
    const struct nsc_clock_segment *s = clock->segments;
    uint32_t next =
        NSC_PARTITION_POINT(i, clock->segment_count, (by_ns ? s[i].ns : s[i].ticks) <= value);

    return next > 0 ? &s[next - 1] : s;
}

uint64_t nsc_clock_ns(const struct nsc_clock *clock, uint64_t ticks)
{
    if (clock->identity)
        return ticks;
    if (ticks <= clock->origin_ticks)
        return 0;
    return at_segment(find_segment(clock, ticks, false), ticks);
}

/* A run ends where the next segment begins or where ns would exceed 64 bits, so sums within it
 * cannot overflow. Ticks before the origin are in no run. */
uint64_t nsc_clock_run_move(struct nsc_clock_run *run, uint64_t ticks)
{
    const struct nsc_clock *clock = run->clock;
    const struct nsc_clock_segment *s;
    wide most;

    if (clock->identity) {
        *run = (struct nsc_clock_run){.clock = clock, .last = UINT64_MAX, .factor = 1};
        return ticks;
    }
    if (ticks <= clock->origin_ticks)
        return 0;
    s = find_segment(clock, ticks, false);
    most = s->factor == 0 ? UINT64_MAX : ((wide)(UINT64_MAX - s->ns) << s->shift) / s->factor;
    if (s + 1 < clock->segments + clock->segment_count && s[1].ticks - 1 - s->ticks < most)
        most = s[1].ticks - 1 - s->ticks;
    else if (UINT64_MAX - s->ticks < most)
        most = UINT64_MAX - s->ticks;
    *run = (struct nsc_clock_run){.clock = clock,
                                  .from_ticks = s->ticks,
                                  .last = (uint64_t)most,
                                  .ns = s->ns,
                                  .factor = s->factor,
                                  .shift = s->shift};
    return at_segment(s, ticks);
}

uint64_t nsc_clock_span_ns(const struct nsc_clock *clock, uint64_t ticks)
{
    const struct nsc_clock_segment *whole = &clock->whole;

    return clock->identity ? ticks : scale(whole, ticks, (1ull << whole->shift) >> 1);
}

uint64_t nsc_clock_ticks(const struct nsc_clock *clock, uint64_t ns)
{
    const struct nsc_clock_segment *s;
    wide ticks;

    if (clock->identity)
        return ns;
    s = find_segment(clock, ns, true);
    if (s->factor == 0)
        return s->ticks;
    ticks = ((((wide)(ns - s->ns)) << s->shift) + s->factor - 1) / s->factor + s->ticks;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}
