/*
 * proc_wait.h - tell which process this one waits for in /proc.
 *
 * The kernel answers questions about a process only while that process lets it. Called by
 * record/session/watchdog.c, from a thread that asks no such questions.
 */
#ifndef NSC_PROCESS_PROCFS_PROC_WAIT_H
#define NSC_PROCESS_PROCFS_PROC_WAIT_H

#include <sys/types.h>

/* Return the process whose files in /proc a thread of this process opens or reads just now. 0:
 * none, or the kernel does not tell what its threads do. */
pid_t nsc_proc_wait_find(void);

#endif
