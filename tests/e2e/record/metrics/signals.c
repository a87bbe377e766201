/*
 * signals.c - what a program may do with signals, stacks, timers and system calls, and notices if
 * samples that a timer takes in it get into its way. Prints the same whether it is sampled or not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned sink;
static volatile sig_atomic_t profiled, handled;

__attribute__((noinline)) static void leaf(unsigned n)
{
    sink += n;
}

__attribute__((noinline)) static void busy_us(unsigned us)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (unsigned i = 0; i < 200; i++)
            leaf(i);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/* Busy, then in a system call that waits for a moment, over and over; how many were cut short? */
static unsigned waits(void)
{
    struct timespec moment = {.tv_nsec = 300000}, until;
    int fds[2], epoll = epoll_create1(EPOLL_CLOEXEC);
    unsigned cut = 0;
    char byte = 'x';
    sem_t sem;

    if (pipe(fds) != 0)
        return 1;
    sem_init(&sem, 0, 0);
    for (int i = 0; i < 150; i++) {
        struct timeval time = {.tv_usec = 300};
        struct pollfd set = {.fd = fds[0], .events = POLLIN};
        struct epoll_event event;

        busy_us(900);
        cut += nanosleep(&moment, NULL) != 0;
        busy_us(300);
        cut += poll(&set, 1, 1) != 0;
        busy_us(300);
        cut += epoll_wait(epoll, &event, 1, 1) != 0;
        busy_us(300);
        cut += select(0, NULL, NULL, NULL, &time) != 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 300000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        busy_us(100);
        cut += sem_timedwait(&sem, &until) != -1 || errno != ETIMEDOUT;
        cut += write(fds[1], &byte, 1) != 1 || read(fds[0], &byte, 1) != 1;
    }
    close(fds[0]);
    close(fds[1]);
    close(epoll);
    return cut;
}

/* A reader that waits for a writer which is slow. */
static void *slow_writer(void *fd)
{
    for (int i = 0; i < 20; i++) {
        busy_us(1000);
        usleep(1000);
        if (write(*(int *)fd, "x", 1) != 1)
            exit(1);
    }
    return NULL;
}

static unsigned reads(void)
{
    unsigned cut = 0;
    pthread_t writer;
    int fds[2];
    char byte;

    if (pipe(fds) != 0)
        return 1;
    pthread_create(&writer, NULL, slow_writer, &fds[1]);
    for (int i = 0; i < 20; i++) {
        busy_us(500);
        cut += read(fds[0], &byte, 1) != 1;
    }
    pthread_join(writer, NULL);
    return cut;
}

static unsigned keeps_errno(void)
{
    unsigned changed = 0;

    for (int i = 0; i < 200; i++) {
        errno = 1000 + i;
        for (unsigned k = 0; k < 20000; k++)
            leaf(k);
        changed += errno != 1000 + i;
    }
    return changed;
}

static unsigned keeps_numbers(void)
{
    volatile double want = 0;
    unsigned wrong = 0;

    for (int round = 0; round < 100; round++) {
        double sum = 0;

        for (unsigned k = 1; k < 20000; k++) {
            leaf(k);
            sum += 1.0 / k;
        }
        if (round == 0)
            want = sum;
        wrong += sum != want;
    }
    return wrong;
}

static void on_profile(int signal)
{
    (void)signal;
    profiled++;
}

static void on_user(int signal)
{
    (void)signal;
    handled++;
    busy_us(5000);
}

static sigjmp_buf out;

static void on_leave(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

/* Handlers on an alternate stack, and some that do not return. */
static void handlers(void)
{
    struct sigaction action = {.sa_handler = on_user, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    volatile int left = 0;

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_leave;
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 10; i++) {
        raise(SIGUSR1);
        busy_us(1000);
        if (sigsetjmp(out, 1) == 0)
            raise(SIGUSR2);
        else
            left++;
    }
    printf("handled %d, left %d\n", (int)handled, left);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
}

static ucontext_t home, other;

static void coroutine(void)
{
    for (;;) {
        busy_us(2000);
        swapcontext(&other, &home);
    }
}

static void coroutines(void)
{
    enum { BYTES = 32768 };

    getcontext(&other);
    other.uc_stack.ss_sp = malloc(BYTES);
    other.uc_stack.ss_size = BYTES;
    makecontext(&other, coroutine, 0);
    for (int i = 0; i < 20; i++) {
        busy_us(500);
        swapcontext(&home, &other);
    }
}

/* SIGPROF is the program's own. */
static void profile(void)
{
    struct itimerval every = {.it_interval = {.tv_usec = 5000}, .it_value = {.tv_usec = 5000}};

    signal(SIGPROF, on_profile);
    setitimer(ITIMER_PROF, &every, NULL);
    for (int i = 0; i < 500 && profiled == 0; i++)
        busy_us(10000);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_PROF, &every, NULL);
    printf("SIGPROF: %s\n", profiled > 0 ? "some" : "none");
}

static volatile sig_atomic_t over;

static void *keep_busy(void *argument)
{
    while (!over)
        busy_us(1000);
    return argument;
}

/* Sleeps, which end early if a handler runs in this thread; how many did? */
static void *sleep_often(void *cut)
{
    const struct timespec moment = {.tv_nsec = 3000000};

    for (int i = 0; i < 150; i++) {
        *(unsigned *)cut += nanosleep(&moment, NULL) != 0;
        *(unsigned *)cut += poll(NULL, 0, 3) != 0;
    }
    return NULL;
}

/*
 * Signals to the whole process, by timers of its CPU time: the kernel gives them to the thread that
 * runs, so that those that sleep never notice. The first thread waits for others meanwhile, which
 * goes on after any handler.
 */
static void process_signals(void)
{
    enum { SLEEPERS = 3 };
    struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec twice = {.it_interval = {.tv_nsec = 8000000}, .it_value = {.tv_nsec = 1}};
    struct itimerval every = {.it_interval = {.tv_usec = 8000}, .it_value = {.tv_usec = 8000}};
    pthread_t worker, sleepers[SLEEPERS];
    unsigned cut[SLEEPERS] = {0}, sum = 0;
    timer_t timer;

    sigaction(SIGPROF, &action, NULL);
    sigaction(SIGRTMIN, &action, NULL);
    pthread_create(&worker, NULL, keep_busy, NULL);
    for (int i = 0; i < SLEEPERS; i++)
        pthread_create(&sleepers[i], NULL, sleep_often, &cut[i]);
    setitimer(ITIMER_PROF, &every, NULL);
    timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
    timer_settime(timer, 0, &twice, NULL);
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(sleepers[i], NULL);
        sum += cut[i];
    }
    timer_delete(timer);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_PROF, &every, NULL);
    over = 1;
    pthread_join(worker, NULL);
    printf("sleeps cut short by signals to the process: %u\n", sum);
}

static sigjmp_buf again;

static void on_jump(int signal)
{
    (void)signal;
    busy_us(100);
    siglongjmp(again, 1);
}

/* A handler that takes a while and does not return, at any instant, and often at that at which
 * another timer's does; afterwards nothing is blocked. */
static void jumps(void)
{
    struct sigaction action = {.sa_handler = on_jump, .sa_flags = SA_NODEFER};
    struct itimerval every = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
    volatile int count = 0, blocked = 0;
    sigset_t set;

    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    if (sigsetjmp(again, 0) != 0)
        count++; /* the mask stays as it was in the handler */
    while (count < 60)
        busy_us(500);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_PROF, &every, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    for (int i = 1; i < NSIG; i++)
        blocked += sigismember(&set, i) == 1;
    signal(SIGPROF, SIG_DFL);
    printf("jumped, %d blocked\n", blocked);
}

static void children(void)
{
    int status = 0;

    for (int i = 0; i < 5; i++) {
        fflush(stdout);
        if (fork() == 0) {
            busy_us(20000);
            _exit(3);
        }
        while (wait(&status) < 0)
            printf("wait was cut short\n");
        printf("child: %d\n", WEXITSTATUS(status));
    }
}

static void *worker(void *argument)
{
    busy_us(5000);
    return argument;
}

static void threads(void)
{
    pthread_t all[8];

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++)
            pthread_create(&all[i], NULL, worker, NULL);
        for (int i = 0; i < 8; i++)
            pthread_join(all[i], NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) /* what daemons do at their start: all signals as they were */
        for (int i = 1; i < NSIG; i++)
            signal(i, SIG_DFL);
    printf("waits cut short: %u\n", waits());
    printf("reads cut short: %u\n", reads());
    printf("errno changed: %u\n", keeps_errno());
    printf("sums wrong: %u\n", keeps_numbers());
    handlers();
    coroutines();
    profile();
    process_signals();
    jumps();
    children();
    threads();
    printf("%s\n", argc > 1 ? argv[1] : "done");
    return 0;
}
