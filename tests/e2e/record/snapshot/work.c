/*
 * work FILE - prints its pid, calls functions in two threads until FILE exists, prints "done".
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *file;
static volatile long sum;

__attribute__((noinline)) static long leaf(long i)
{
    sum += i;
    return sum;
}

__attribute__((noinline)) static long middle(long i)
{
    long all = 0, k;

    for (k = 0; k < 20; k++)
        all += leaf(i + k);
    return all;
}

/* Pauses, so that the ring turns over slowly enough for a busy machine. */
static void *work(void *argument)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    long i;

    while (access(file, F_OK) != 0) {
        for (i = 0; i < 100; i++)
            middle(i);
        nanosleep(&pause, NULL);
    }
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t other;

    if (argc != 2)
        return 2;
    file = argv[1];
    printf("%ld\n", (long)getpid());
    fflush(stdout);
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    puts("done");
    return 0;
}
