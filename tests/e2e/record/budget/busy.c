/*
 * busy.c - a program with a few small functions that are called all the time and many that are not;
 * says at its end how often each was called.
 *
 * usage: busy MS THREADS [fork | climb]   MS: milliseconds of processor time, of each thread. fork:
 * the half of it in a child, which says its own counts. climb: before that, a recursion is called
 * from a loop that calls nothing else; says how long one took at most.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

static __thread uint64_t hot_calls, warm_calls, cool_calls;

KEEP uint64_t hot(uint64_t x)
{
    hot_calls++;
    for (int i = 0; i < 5; i++)
        x = x * 6364136223846793005u + 1;
    return x;
}

KEEP uint64_t warm(uint64_t x)
{
    warm_calls++;
    for (int i = 0; i < 200; i++)
        x = hot(x);
    return x;
}

KEEP uint64_t cool(uint64_t x)
{
    cool_calls++;
    for (int i = 0; i < 100; i++)
        x = warm(x);
    return x;
}

/* Called at the start only: a parser, say. */
KEEP uint64_t early(uint64_t x)
{
    return x ^ x >> 7;
}

static uint64_t cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Some of its calls are open at any time. */
KEEP uint64_t rise(uint64_t x, int steps)
{
    return steps == 0 ? x + 1 : rise(rise(x, steps - 1) + 1, steps - 1) + 1;
}

static inline __attribute__((always_inline)) uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

KEEP uint64_t climb(uint64_t ms)
{
    uint64_t start = now_ns(), from = start, x = 1, longest = 0;

    while (from - start < ms * 1000000) {
        uint64_t to;

        x = rise(x, 12);
        to = now_ns();
        longest = to - from > longest ? to - from : longest;
        from = to;
    }
    printf("longest %llu\n", (unsigned long long)longest);
    return x;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hot_sum, warm_sum, cool_sum, result;

static void *work(void *argument)
{
    uint64_t until = cpu_ms() + *(uint64_t *)argument, x = 1;

    for (int i = 0; i < 20000; i++)
        x = early(x);
    while (cpu_ms() < until)
        x = cool(x);
    pthread_mutex_lock(&lock);
    hot_sum += hot_calls;
    warm_sum += warm_calls;
    cool_sum += cool_calls;
    result |= x;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t ids[16];
    pid_t child = 0;

    if (argc > 3 && strcmp(argv[3], "fork") == 0) {
        uint64_t half = ms / 2;

        work(&half);
        child = fork();
        hot_calls = warm_calls = cool_calls = 0;
        if (child == 0)
            hot_sum = warm_sum = cool_sum = 0;
        ms -= half;
    }
    if (argc > 3 && strcmp(argv[3], "climb") == 0)
        result |= climb(ms);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, &ms);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    if (child > 0)
        waitpid(child, NULL, 0);
    printf("hot %llu\nwarm %llu\ncool %llu\n", (unsigned long long)hot_sum,
           (unsigned long long)warm_sum, (unsigned long long)cool_sum);
    return result == 0;
}
