/*
 * watchdog.h - end the recorder if, after a signal, it still waits in the kernel.
 *
 * The kernel answers questions about a process only while that process lets it: a hostile one can
 * hold the lock of its memory map for ever. Such a wait ends for no signal that has a handler.
 * Started by the handlers of SIGINT, SIGTERM and SIGHUP, stopped by each pass of the recorder's
 * loop. Prints one line before it ends the process.
 */
#ifndef NSC_RECORD_SESSION_WATCHDOG_H
#define NSC_RECORD_SESSION_WATCHDOG_H

/* Create the watchdog, not started. Without memory for it there is none. Context: starts a thread,
 * in which signals are blocked. */
void nsc_watchdog_create(void);
/* If it is not stopped within 15 s, the process ends with status 1. Does nothing if it is started,
 * or deleted. Context: async-signal-safe. */
void nsc_watchdog_start(void);
void nsc_watchdog_stop(void);
/* From now on starts have no effect: the recorder only completes its file. */
void nsc_watchdog_delete(void);

#endif
