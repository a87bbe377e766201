/* watchdog.c - see watchdog.h. */
#include "record/session/watchdog.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 15

static timer_t timer;
static volatile sig_atomic_t exists, runs;

/* In a thread of its own. That the process exits ends the waits of all its threads. */
static void give_up(union sigval value)
{
    static const char line[] =
        "nanoscope: given up, as another process keeps the system from answering; `nanoscope "
        "recover` makes a trace of what was recorded\n";

    (void)value;
    (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(1);
}

void nsc_watchdog_create(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = give_up};

    runs = 0;
    exists = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

static void set(time_t seconds)
{
    const struct itimerspec at = {.it_value.tv_sec = seconds};

    (void)timer_settime(timer, 0, &at, NULL);
}

void nsc_watchdog_start(void)
{
    if (!exists || runs)
        return;
    runs = 1;
    set(PATIENCE_S);
}

void nsc_watchdog_stop(void)
{
    if (!exists || !runs)
        return;
    set(0);
    runs = 0;
}

void nsc_watchdog_delete(void)
{
    if (!exists)
        return;
    exists = 0;
    (void)timer_delete(timer);
}
