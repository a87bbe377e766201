/*
 * watchdog.h - end the recorder if another process keeps it from noticing a signal.
 *
 * The kernel answers questions about a process only while that process lets it: a hostile one can
 * hold the lock of its memory map for ever. A thread that waits for it runs no signal handler. A
 * second thread looks what the others wait for. It prints one line, then ends the process, and with
 * it all waits that the kernel lets a process end.
 */
#ifndef NSC_RECORD_SESSION_WATCHDOG_H
#define NSC_RECORD_SESSION_WATCHDOG_H

#include <signal.h>

/* Begin to watch. Once SIGINT, SIGTERM or SIGHUP have been pending, or *@requests not 0, for 15 s
 * while a thread waited for another process's files in /proc, the process exits with status 1.
 * Without memory for the thread nothing is watched. */
void nsc_watchdog_begin(const volatile sig_atomic_t *requests);
/* End it; without effect if it has not begun. */
void nsc_watchdog_end(void);

#endif
