/*
 * storm N ALIVE CALLS [AGAIN] - N threads, ALIVE of them at a time. Each makes CALLS calls at once
 * when it starts, and AGAIN more when all ALIVE are there. Says how many events that emits.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL __attribute__((noipa))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_there = PTHREAD_COND_INITIALIZER;
static long expected, there, go;
static long calls, again;
static volatile unsigned long sink;

CALL void leaf(long i)
{
    sink = sink + (unsigned long)i;
}

/* 1 + n calls. */
CALL void node(long n)
{
    long i;

    for (i = 0; i < n; i++)
        leaf(i);
}

/* Until as many have come as are started together. */
__attribute__((no_instrument_function)) static void meet(void)
{
    long round;

    pthread_mutex_lock(&lock);
    round = go;
    if (++there == expected) {
        there = 0;
        go++;
        pthread_cond_broadcast(&all_there);
    }
    while (round == go)
        pthread_cond_wait(&all_there, &lock);
    pthread_mutex_unlock(&lock);
}

CALL void *thread_main(void *unused)
{
    node(calls);
    meet();
    if (again > 0)
        node(again);
    return unused;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 100, alive = argc > 2 ? atol(argv[2]) : 10, done, i;
    pthread_t *threads = calloc((size_t)alive, sizeof *threads);
    pthread_attr_t small;

    calls = argc > 3 ? atol(argv[3]) : 100;
    again = argc > 4 ? atol(argv[4]) : 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (done = 0; done < n; done += expected) {
        expected = n - done < alive ? n - done : alive;
        for (i = 0; i < expected; i++)
            if (pthread_create(&threads[i], &small, thread_main, NULL) != 0) {
                perror("storm: pthread_create");
                _Exit(3);
            }
        for (i = 0; i < expected; i++)
            pthread_join(threads[i], NULL);
    }
    free(threads);
    printf("%ld\n", 2 * (1 + n * (1 + (1 + calls) + (again > 0 ? 1 + again : 0))));
    return 0;
}
