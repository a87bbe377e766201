/* watchdog.c - see watchdog.h. */
#include "record/session/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 15

static pthread_t thread;
static bool runs;

static bool is_signal_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

static void *watch(void *context)
{
    static const char line[] =
        "nanoscope: given up, as another process keeps the system from answering; `nanoscope "
        "recover` makes a trace of what was recorded\n";
    const struct timespec second = {.tv_sec = 1};
    int seconds = 0;

    while (seconds < PATIENCE_S) {
        (void)nanosleep(&second, NULL); /* where nsc_watchdog_end() cancels the thread */
        seconds = is_signal_pending() ? seconds + 1 : 0;
    }
    (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(1);
    return context;
}

void nsc_watchdog_begin(void)
{
    sigset_t all, before;

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
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}
