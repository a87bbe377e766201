/*
 * switch.c - 2,000 functions, so 4,000 sleds, and 8 threads that call them: what starting and
 * stopping a recording is measured on.
 *
 * usage: switch          goes on until standard input ends
 *        switch COMMAND  first does a fixed piece of work in one thread, again and again, and
 * prints the seconds that the fastest took; then, for each line of standard input, the same once
 * more
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { FUNCTIONS = 2000, THREADS = 8, ROUNDS = 400, TRIES = 15 };

#define NOINLINE __attribute__((noinline))
#ifdef __clang__
#define NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define NO_UNROLL
#endif

#define F(n)                                                                                       \
    static NOINLINE uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        NO_UNROLL                                                                                  \
        for (int i = 0; i < 12; i++)                                                               \
            x = (x ^ x >> 29) * 6364136223846793005u + 1##n;                                       \
        return x;                                                                                  \
    }
#define NAME(n)   f##n,
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define HUNDRED(m, n)                                                                              \
    TEN(m, n##0)                                                                                   \
    TEN(m, n##1)                                                                                   \
    TEN(m, n##2)                                                                                   \
    TEN(m, n##3)                                                                                   \
    TEN(m, n##4) TEN(m, n##5) TEN(m, n##6) TEN(m, n##7) TEN(m, n##8) TEN(m, n##9)
#define THOUSAND(m, n)                                                                             \
    HUNDRED(m, n##0)                                                                               \
    HUNDRED(m, n##1)                                                                               \
    HUNDRED(m, n##2)                                                                               \
    HUNDRED(m, n##3)                                                                               \
    HUNDRED(m, n##4)                                                                               \
    HUNDRED(m, n##5) HUNDRED(m, n##6) HUNDRED(m, n##7) HUNDRED(m, n##8) HUNDRED(m, n##9)

THOUSAND(F, 1)
THOUSAND(F, 2)

static uint64_t (*const functions[FUNCTIONS])(uint64_t) = {THOUSAND(NAME, 1) THOUSAND(NAME, 2)};
static atomic_bool over;

static uint64_t work(uint64_t x)
{
    for (int i = 0; i < FUNCTIONS; i++)
        x = functions[(i * 7 + x % 3) % FUNCTIONS](x);
    return x;
}

static void *busy(void *sum)
{
    while (!atomic_load(&over))
        *(uint64_t *)sum = work(*(uint64_t *)sum);
    return NULL;
}

static double seconds(void)
{
    double best = 0;
    uint64_t x = 1;

    for (int try = 0; try < TRIES; try++) {
        struct timespec from, to;
        double took;

        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < ROUNDS; i++)
            x = work(x);
        clock_gettime(CLOCK_MONOTONIC, &to);
        took = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        if (try == 0 || took < best)
            best = took;
    }
    return x != 0 ? best : 0;
}

int main(int argc, char **argv)
{
    static uint64_t sums[THREADS];
    pthread_t ids[THREADS];
    int c;

    (void)argv;
    if (argc > 1) {
        do {
            printf("%.9f\n", seconds());
            fflush(stdout);
            while ((c = getchar()) != EOF && c != '\n')
                ;
        } while (c != EOF);
        return 0;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, busy, &sums[i]);
    while (getchar() != EOF)
        ;
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
