/*
 * A timer that fires as fast as it can, with a handler that makes calls of its own, over code that
 * does nothing but call. Prints `emitted N`: the number of hooks that must have run.
 *
 * usage: signals [plain | altstack | deep | jump]
 *   altstack  the handler has its own stack
 *   deep      the handler uses 300 KiB of stack, beyond the reach of an anchor
 *   jump      the handler leaves by siglongjmp; only `safe` is counted, it runs with signals
 * blocked
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long fibs, handlers, leaves;
static volatile int jumping, deep;
static sigjmp_buf back;

NOINLINE static void leaf(volatile char *at)
{
    at[0] = 1;
    leaves++;
}

NOINLINE static void handler(int number)
{
    (void)number;
    handlers++;
    if (deep) {
        volatile char big[300 * 1024];

        leaf(big);
    } else {
        volatile char small[8];

        leaf(small);
    }
    if (jumping)
        siglongjmp(back, 1);
}

NOINLINE static int fib(int n)
{
    fibs++;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOINLINE static void safe(void)
{
    static volatile unsigned long count;

    count++;
}

NOINLINE static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Blocks or unblocks the timer's signal, which is harder to get wrong than stopping the timer. */
NOINLINE static void block(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(how, &set, NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "plain";
    struct sigaction action = {.sa_handler = handler};
    struct itimerval fast = {{0, 20}, {0, 20}};
    static char stack[1 << 20];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    double end = seconds() + 0.7;
    volatile unsigned long rounds = 0;

    if (strcmp(mode, "altstack") == 0) {
        action.sa_flags = SA_ONSTACK;
        sigaltstack(&alternate, NULL);
    }
    deep = strcmp(mode, "deep") == 0;
    jumping = strcmp(mode, "jump") == 0;
    sigaction(SIGALRM, &action, NULL);
    block(SIG_BLOCK);
    setitimer(ITIMER_REAL, &fast, NULL);
    while (seconds() < end) {
        safe();
        rounds++;
        if (jumping && sigsetjmp(back, 1))
            continue;
        block(SIG_UNBLOCK);
        fib(12);
        block(SIG_BLOCK);
    }
    fast = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &fast, NULL);
    signal(SIGALRM, SIG_IGN);
    if (jumping)
        printf("safe %lu\n", rounds);
    else /* the calls of main, seconds() and block() too */
        printf("emitted %lu\n", 2 * (fibs + handlers + leaves + rounds + 1) + 2 * (rounds + 2) +
                                    2 * (2 * rounds + 1));
    printf("handlers %lu\n", handlers);
    return 0;
}
