/*
 * crash FILE CALLS THREADS [nest | jump] - prints its pid, waits for FILE, makes CALLS calls; then
 * THREADS threads, one after the other, make 1000 each; then two that are the last, and it aborts.
 * With nest, signals come meanwhile, whose handler makes 50 more calls a time; it prints how many.
 * With jump, the handler leaves by siglongjmp.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
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

static sigjmp_buf way_out;
static volatile sig_atomic_t jumps;
static volatile long nested;

__attribute__((no_instrument_function)) static void on_alarm(int number)
{
    long i;

    (void)number;
    if (jumps)
        siglongjmp(way_out, 1);
    for (i = 0; i < 50; i++)
        step(i);
    nested += i;
}

static void *work(void *argument)
{
    long i;

    for (i = 0; i < 1000; i++)
        step(i);
    return argument;
}

static void signals(long microseconds)
{
    const struct itimerval often = {.it_interval.tv_usec = microseconds,
                                    .it_value.tv_usec = microseconds};

    signal(SIGALRM, microseconds != 0 ? on_alarm : SIG_IGN);
    setitimer(ITIMER_REAL, &often, NULL);
}

/* A frame of its own: what siglongjmp leaves is below it. */
__attribute__((noinline)) static void make_calls(long calls)
{
    static volatile long i;

    sigsetjmp(way_out, 1);
    while (i < calls) {
        i++;
        step(i);
    }
}

int main(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    pthread_t thread;
    long i;

    if (argc < 4)
        return 2;
    printf("%ld\n", (long)getpid());
    fflush(stdout);
    while (access(argv[1], F_OK) != 0)
        nanosleep(&pause, NULL);
    jumps = argc > 4 && strcmp(argv[4], "jump") == 0;
    if (argc > 4)
        signals(200);
    make_calls(atol(argv[2]));
    signals(0);
    if (argc > 4) {
        printf("%ld\n", nested);
        fflush(stdout);
    }
    for (i = 0; i < atol(argv[3]); i++) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
    }
    last_words();
    crash();
    return 0;
}
