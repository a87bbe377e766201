/* usage: threads N AT_ONCE CALLS: N threads, some at once, each makes CALLS calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void step(volatile long *count)
{
    ++*count;
}

static long calls;

__attribute__((noinline)) static void *work(void *arg)
{
    volatile long count = 0;

    for (long i = 0; i < calls; i++)
        step(&count);
    return arg;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10, at_once = argc > 2 ? atol(argv[2]) : 4;
    pthread_t *ids = calloc((size_t)at_once, sizeof(*ids));
    pthread_attr_t small;

    calls = argc > 3 ? atol(argv[3]) : 10;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (long done = 0; done < n; done += at_once) {
        for (long i = 0; i < at_once; i++)
            if (pthread_create(&ids[i], &small, work, NULL) != 0)
                return 1;
        for (long i = 0; i < at_once; i++)
            pthread_join(ids[i], NULL);
    }
    return 0;
}
