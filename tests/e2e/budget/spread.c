/*
 * spread.c - a program that calls a small function every 60 ns or so, between other work: what
 * recording a call costs is another thing here than in a row of calls. Says at its end how often.
 *
 * usage: spread ROUNDS   of some 35 us each
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline))

static uint64_t hot_calls, warm_calls, cool_calls;

static inline uint64_t work(uint64_t x, int steps)
{
    for (int i = 0; i < steps; i++)
        x = x * 6364136223846793005u + 1;
    return x;
}

KEEP uint64_t hot(uint64_t x)
{
    hot_calls++;
    return work(x, 8);
}

KEEP uint64_t warm(uint64_t x)
{
    warm_calls++;
    for (int i = 0; i < 5; i++)
        x = hot(work(x, 50));
    return x;
}

KEEP uint64_t cool(uint64_t x)
{
    cool_calls++;
    for (int i = 0; i < 100; i++)
        x = warm(x);
    return x;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000, x = 1;

    for (uint64_t i = 0; i < rounds; i++)
        x = cool(x);
    printf("hot %llu\nwarm %llu\ncool %llu\n", (unsigned long long)hot_calls,
           (unsigned long long)warm_calls, (unsigned long long)cool_calls);
    return x == 0;
}
