/*
 * watchdog.h - end the recorder if it does not notice a signal.
 *
 * The kernel answers questions about a process only while that process lets it: a hostile one can
 * hold the lock of its memory map for ever. A thread that waits for it runs no signal handler. A
 * second thread looks whether SIGINT, SIGTERM or SIGHUP stay pending; it prints one line, then ends
 * the process, and with it all waits that the kernel lets a process end.
 */
#ifndef NSC_RECORD_SESSION_WATCHDOG_H
#define NSC_RECORD_SESSION_WATCHDOG_H

/* Begin to watch. Once one of the signals has been pending for 15 s, the process exits with
 * status 1. Without memory for the thread nothing is watched. */
void nsc_watchdog_begin(void);
/* End it; without effect if it has not begun. */
void nsc_watchdog_end(void);

#endif
