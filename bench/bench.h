/* bench.h - what the benchmarks of the host world share: a clock and cheap random numbers. */
#ifndef NSC_BENCH_BENCH_H
#define NSC_BENCH_BENCH_H

#include <stdint.h>
#include <time.h>

/* Seconds: of CLOCK_PROCESS_CPUTIME_ID what one core can do, whatever else the machine is doing; of
 * CLOCK_MONOTONIC what somebody waits for. */
static inline double bench_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The same numbers in every run. */
static inline uint32_t bench_random(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

#endif
