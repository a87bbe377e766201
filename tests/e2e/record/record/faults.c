/*
 * faults MODE [N] - a program that ends, multiplies and misbehaves in many ways; test_record and
 * test_record_faults record it. How many calls each mode makes is known to the tests.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Counts as one call, at any optimisation. */
#define CALL __attribute__((noipa))

extern char **environ;

static volatile unsigned sink;
static const char *self;

CALL void leaf(unsigned i)
{
    sink += i;
}

/* 1 + n calls. */
CALL void node(unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++)
        leaf(i);
}

/* 1 + n calls. */
CALL void deep(unsigned n)
{
    if (n > 0)
        deep(n - 1);
    sink++;
}

CALL void *deep_main(void *n)
{
    deep((unsigned)(uintptr_t)n);
    return NULL;
}

/* 3 + n calls, on a stack that has room for them. */
CALL void deep_thread(int n)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)n * 256 + (1 << 20)) != 0 ||
        pthread_create(&thread, &attributes, deep_main, (void *)(uintptr_t)n) != 0)
        abort();
    pthread_join(thread, NULL);
}

CALL void *thread_main(void *calls)
{
    node((unsigned)(uintptr_t)calls);
    return NULL;
}

/* 1 + 12 n calls, at most 50 threads at a time. */
CALL void threads(int n)
{
    pthread_t thread[50];
    int done, i, k;

    for (done = 0; done < n; done += k) {
        for (k = 0; k < 50 && done + k < n; k++)
            if (pthread_create(&thread[k], NULL, thread_main, (void *)10) != 0)
                abort();
        for (i = 0; i < k; i++)
            pthread_join(thread[i], NULL);
    }
}

CALL void *pausing_main(void *calls)
{
    thread_main(calls);
    usleep(300000);
    return thread_main(calls);
}

/* 6 + 2 n calls: a second thread, silent for so long that the recorder asks whether it lives. */
CALL void pauses(int n)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, pausing_main, (void *)(uintptr_t)n) == 0)
        pthread_join(thread, NULL);
}

/* 2^(n+1) - 1 processes: one call in each, and 11 more in the 2^n leaves. */
CALL void forks(int n)
{
    pid_t child[2];
    int i;

    if (n == 0) {
        node(10);
        return;
    }
    for (i = 0; i < 2; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            forks(n - 1);
            _exit(0);
        }
    }
    for (i = 0; i < 2; i++)
        waitpid(child[i], NULL, 0);
}

CALL char **again(const char *mode, int n)
{
    static char number[16];
    static char *argv[4];

    snprintf(number, sizeof number, "%d", n);
    argv[0] = (char *)self;
    argv[1] = (char *)mode;
    argv[2] = number;
    return argv;
}

CALL void become(const char *mode, int n)
{
    execv(self, again(mode, n));
    _exit(99);
}

CALL void spawn(int n)
{
    pid_t child;

    if (posix_spawn(&child, self, NULL, NULL, again("node", n), environ) == 0)
        waitpid(child, NULL, 0);
}

CALL void vfork_exec(int n)
{
    char **argv = again("node", n);
    pid_t child = vfork();

    if (child == 0) {
        execv(self, argv);
        _exit(99);
    }
    waitpid(child, NULL, 0);
}

/* Leaves its parent, its terminal and all its descriptors. */
CALL void daemonise(int n)
{
    int fd;

    if (fork() != 0)
        _exit(0);
    setsid();
    for (fd = 0; fd < 1024; fd++)
        close(fd);
    usleep(200000);
    node((unsigned)n);
    _exit(0);
}

/* Calls for so many seconds; says how many events the program emits in all. */
CALL void seconds(int n)
{
    struct timespec from, now;
    unsigned long rounds = 0;

    clock_gettime(CLOCK_MONOTONIC, &from);
    do {
        node(1000);
        rounds++;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - from.tv_sec < n);
    printf("%lu\n", 2 * (2 + rounds * 1001));
}

static void on_interrupt(int number)
{
    (void)number;
    _exit(66);
}

/* Says what a program can see of how it was started. */
static void show_world(void)
{
    sigset_t mask;
    int number, fd;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (number = 1; number < 32; number++) {
        struct sigaction action;

        if (sigaction(number, NULL, &action) == 0 &&
            (action.sa_handler != SIG_DFL || sigismember(&mask, number)))
            printf("signal %d: %s%s\n", number, action.sa_handler == SIG_IGN ? "ignored" : "-",
                   sigismember(&mask, number) ? " blocked" : "");
    }
    for (fd = 0; fd < 64; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("descriptor %d\n", fd);
    printf("group %s\n", getpgrp() == getpgid(getppid()) ? "of the parent" : "other");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "node";
    int n = argc > 2 ? atoi(argv[2]) : 1000;

    self = argv[0];
    if (strcmp(mode, "threads") == 0)
        threads(n);
    else if (strcmp(mode, "forks") == 0)
        forks(n);
    else if (strcmp(mode, "deep") == 0)
        deep_thread(n);
    else if (strcmp(mode, "world") == 0)
        show_world();
    else if (strcmp(mode, "memory") == 0)
        puts(malloc((size_t)n << 20) != NULL ? "enough" : "too little");
    else if (strcmp(mode, "seconds") == 0)
        seconds(n);
    else if (strcmp(mode, "pauses") == 0)
        pauses(n);
    else
        node((unsigned)n);

    if (strcmp(mode, "kill9") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(mode, "segv") == 0)
        *(volatile int *)(uintptr_t)8 = 1;
    else if (strcmp(mode, "abort") == 0)
        abort();
    else if (strcmp(mode, "_exit") == 0)
        _exit(7);
    else if (strcmp(mode, "quick_exit") == 0)
        quick_exit(8);
    else if (strcmp(mode, "exit") == 0)
        exit(9);
    else if (strcmp(mode, "exec") == 0 && n > 0)
        become("exec", n - 1);
    else if (strcmp(mode, "spawn") == 0)
        spawn(n);
    else if (strcmp(mode, "vfork") == 0)
        vfork_exec(n);
    else if (strcmp(mode, "daemon") == 0)
        daemonise(n);
    else if (strcmp(mode, "wait") == 0) {
        signal(SIGINT, on_interrupt);
        fputs("ready\n", stdout);
        fflush(stdout);
        for (;;)
            pause();
    } else if (strcmp(mode, "loop") == 0)
        for (;;)
            node(1000);
    else if (strcmp(mode, "system") == 0) {
        char command[4096];

        snprintf(command, sizeof command, "%s node %d", self, n);
        return system(command);
    }
    return 0;
}
