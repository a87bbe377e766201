/*
 * calls THREADS MS - calls of many lengths in some threads, interrupted by signals whose handler
 * makes calls, too. Prints how many events that makes: two a call, but one for calls that a jump
 * leaves.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile uint64_t events;
static volatile int stop;
static __thread volatile uint64_t sum;

/* In each traced function. */
#define COUNT() __atomic_fetch_add(&events, 2, __ATOMIC_RELAXED)

__attribute__((noinline)) static void leaf(void)
{
    COUNT();
    sum++;
}

__attribute__((noinline)) static void spin(unsigned n)
{
    COUNT();
    while (n-- > 0)
        __asm__ volatile("");
}

/* A tree of calls, short and long. */
__attribute__((noinline)) static void tree(unsigned depth)
{
    COUNT();
    leaf();
    if (depth > 0) {
        tree(depth - 1);
        spin(depth % 3 == 0 ? 2000 : 3);
        tree(depth - 1);
    }
    leaf();
}

__attribute__((noinline)) static int tail(unsigned n)
{
    COUNT();
    if (n == 0)
        return 1;
    return tail(n - 1) + 1;
}

__attribute__((noinline)) static void jump(jmp_buf *to, int depth)
{
    __atomic_fetch_add(&events, 1, __ATOMIC_RELAXED);
    if (depth == 0)
        longjmp(*to, 1);
    jump(to, depth - 1);
    sum++;
}

__attribute__((noinline)) static void jumps(void)
{
    jmp_buf here;

    COUNT();
    if (setjmp(here) == 0)
        jump(&here, 3);
    leaf();
}

__attribute__((noinline)) static void on_signal(int number)
{
    COUNT();
    (void)number;
    leaf();
    tail(2);
}

__attribute__((noinline)) static void *work(void *argument)
{
    COUNT();
    while (!stop) {
        tree(6);
        tail(5);
        jumps();
    }
    return argument;
}

__attribute__((noinline)) int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, i;
    long ms = argc > 2 ? atol(argv[2]) : 100;
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct timespec now, end;
    pthread_t thread[64];

    COUNT();
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (i = 1; i < threads && i < 64; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    do {
        tree(5);
        jumps();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - end.tv_sec) * 1000 + (now.tv_nsec - end.tv_nsec) / 1000000 < ms);
    stop = 1;
    for (i = 1; i < threads && i < 64; i++)
        pthread_join(thread[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%llu\n", (unsigned long long)events);
    return 0;
}
