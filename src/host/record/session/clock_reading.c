/* clock_reading.c - see clock_reading.h. */
#include "record/session/clock_reading.h"

#include <time.h>

uint64_t nsc_clock_reading_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0; /* no hook supports this machine */
#endif
}

uint64_t nsc_clock_reading_frequency(void)
{
#if defined(__aarch64__)
    uint64_t frequency;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency;
#else
    return 0;
#endif
}

static uint64_t read_ns(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct nsc_clock_point nsc_clock_reading_read(void)
{
    struct nsc_clock_point best = {0};
    uint64_t best_width = UINT64_MAX;
    int i;

    /* The narrowest of a few readings was not interrupted. */
    for (i = 0; i < 8; i++) {
        struct nsc_clock_point point;
        uint64_t before = nsc_clock_reading_ticks(), width;

        point.monotonic_ns = read_ns(CLOCK_MONOTONIC);
        width = nsc_clock_reading_ticks() - before;
        point.ticks = before + width / 2;
        point.boottime_ns = read_ns(CLOCK_BOOTTIME);
        point.realtime_ns = read_ns(CLOCK_REALTIME);
        if (width < best_width) {
            best_width = width;
            best = point;
        }
    }
    return best;
}

uint64_t nsc_clock_reading_rate(void)
{
    static const struct timespec pause = {.tv_nsec = 10000000};
    static uint64_t rate;
    struct nsc_clock_point from, to;
    uint64_t ns;

    if (rate == 0)
        rate = nsc_clock_reading_frequency();
    if (rate != 0)
        return rate;
    from = nsc_clock_reading_read();
    nanosleep(&pause, NULL);
    to = nsc_clock_reading_read();
    ns = to.monotonic_ns - from.monotonic_ns;
    rate = ns != 0 ? (uint64_t)((double)(to.ticks - from.ticks) * 1e9 / (double)ns) : 0;
    if (rate == 0)
        rate = 1000000000u;
    return rate;
}
