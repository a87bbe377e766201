/*
 * crash FILE CALLS THREADS - prints its pid, waits for FILE, makes CALLS calls; then THREADS
 * threads, one after the other, make 1000 each; then two that are the last, and it aborts.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile long sum;

__attribute__((noinline)) static void step(long i)
{
    sum += i;
}

__attribute__((noinline)) static void last_words(void)
{
    sum++;
}

__attribute__((noinline)) static void crash(void)
{
    abort();
}

static void *work(void *argument)
{
    long i;

    for (i = 0; i < 1000; i++)
        step(i);
    return argument;
}

int main(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    pthread_t thread;
    long i;

    if (argc != 4)
        return 2;
    printf("%ld\n", (long)getpid());
    fflush(stdout);
    while (access(argv[1], F_OK) != 0)
        nanosleep(&pause, NULL);
    for (i = 0; i < atol(argv[2]); i++)
        step(i);
    for (i = 0; i < atol(argv[3]); i++) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    last_words();
    crash();
    return 0;
}
