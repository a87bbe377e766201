/* watchdog.c - see watchdog.h. */
#include "record/session/watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "process/procfs/proc_wait.h"
#include "util/os/partial_name.h"
#include "util/text/escape.h"

#define PATIENCE_S 15

static pthread_t thread;
static bool runs;
static const volatile sig_atomic_t *counter; /* of requests to end */
static sem_t over;

static bool is_signal_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

/* Write the name of the incomplete trace, if one is open. */
static void put_partial(FILE *out)
{
    DIR *files = opendir("/proc/self/fd");
    const struct dirent *entry;
    char path[4096];

    while (files != NULL && (entry = readdir(files)) != NULL) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, path, sizeof path - 1);

        path[length > 0 ? length : 0] = 0;
        if (nsc_partial_length(path, NULL) > 0) {
            fputs("; `nanoscope recover` makes a trace of ", out);
            (void)nsc_text_put(out, path);
            break;
        }
    }
    if (files != NULL)
        closedir(files);
}

static void give_up(pid_t pid)
{
    /* Not stderr, whose lock another thread may hold for ever. */
    FILE *out = fdopen(STDERR_FILENO, "w");

    if (out != NULL) {
        fprintf(out, "nanoscope: given up: process %ld keeps the system from telling about it",
                (long)pid);
        put_partial(out);
        fputc('\n', out);
        (void)fflush(out);
    }
    _exit(1);
}

/* Wait a second; true: nsc_watchdog_end() was called. */
static bool is_over(void)
{
    struct timespec until;
    int waited;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    do
        waited = sem_clockwait(&over, CLOCK_MONOTONIC, &until);
    while (waited != 0 && errno == EINTR);
    return waited == 0;
}

static void *watch(void *context)
{
    pid_t pid = 0, before;
    int seconds = 0;

    while (seconds < PATIENCE_S) {
        if (is_over())
            return context;
        before = pid;
        pid = *counter != 0 || is_signal_pending() ? nsc_proc_wait_find() : 0;
        seconds = pid == 0 ? 0 : pid == before ? seconds + 1 : 1;
    }
    give_up(pid);
    return context;
}

void nsc_watchdog_begin(const volatile sig_atomic_t *requests)
{
    sigset_t all, before;

    counter = requests;
    sem_init(&over, 0, 0);
    /* In this thread they stay blocked: so it sees those that wait for another thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    runs = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void nsc_watchdog_end(void)
{
    if (!runs)
        return;
    runs = false;
    sem_post(&over);
    pthread_join(thread, NULL);
}
