/*
 * fib.c - the call-heaviest program there is: what does a pair of entry and exit cost?
 *
 * usage: fib RESULT RUNS [SECONDS]   runs fib(24) RUNS times, or for SECONDS, and writes one line
 * to the file RESULT: "pairs floor_ns min_ns median_ns mean_ns", per pair; the floor is two timer
 * reads. Built plain and with each hook by bench/run.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNTRACED __attribute__((no_instrument_function))
#define ARGUMENT 24
#define PAIRS    150049 /* calls that fib(24) makes, itself included */
#define RUNS_MAX 200000

static double ns_per_pair[RUNS_MAX];

__attribute__((noinline)) int fib(int n);
int fib(int n)
{
    int a, b;

    if (n < 2)
        return n;
    /* The empty statements keep compilers from turning a call into a loop. */
    a = fib(n - 1);
    __asm__ volatile("" : "+r"(a));
    b = fib(n - 2);
    __asm__ volatile("" : "+r"(b));
    return a + b;
}

UNTRACED static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

UNTRACED static inline uint64_t timer(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return now_ns();
#endif
}

/* Two timer reads, the least of many tries. */
UNTRACED static double floor_ns(void)
{
    double least = 1e9;

    for (int try = 0; try < 200; try++) {
        uint64_t start = now_ns();
        volatile uint64_t sink;

        for (int i = 0; i < 10000; i++) {
            sink = timer();
            sink = timer();
        }
        (void)sink;
        double each = (double)(now_ns() - start) / 10000;

        if (each < least)
            least = each;
    }
    return least;
}

UNTRACED static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

UNTRACED int main(int argc, char **argv)
{
    long runs = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    double seconds = argc > 3 ? strtod(argv[3], NULL) : 0, sum = 0;
    uint64_t begin = now_ns();
    volatile int result = 0;
    long done = 0;
    FILE *out;

    if (runs < 1 || runs > RUNS_MAX)
        return 2;
    double lowest = floor_ns();

    while (done < runs || (double)(now_ns() - begin) < seconds * 1e9) {
        uint64_t start = now_ns();

        result = fib(ARGUMENT);
        double each = (double)(now_ns() - start) / PAIRS;

        if (done < RUNS_MAX)
            ns_per_pair[done] = each;
        sum += each;
        done++;
    }
    (void)result;
    long kept = done < RUNS_MAX ? done : RUNS_MAX;

    qsort(ns_per_pair, (size_t)kept, sizeof ns_per_pair[0], compare);
    out = fopen(argv[1], "w");
    if (out == NULL)
        return 1;
    fprintf(out, "%ld %.4f %.4f %.4f %.4f\n", done * PAIRS, lowest, ns_per_pair[0],
            ns_per_pair[kept / 2], sum / (double)done);
    return fclose(out) == 0 ? 0 : 1;
}
