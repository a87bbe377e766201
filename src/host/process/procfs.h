/*
 * procfs.h - small files of /proc/PID. Private to reach/.
 */
#ifndef NSC_PROCESS_PROCFS_H
#define NSC_PROCESS_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Enough for any /proc/PID/status. */
#define NSC_PROCFS_STATUS_MAX 8192

/**
 * nsc_procfs_read - the beginning of /proc/<pid>/<name> as text.
 * @text: receives at most @bytes - 1 of it, NUL terminated.
 * Returns the length or -errno.
 */
int nsc_procfs_read(pid_t pid, const char *name, char *text, size_t bytes);

/**
 * nsc_procfs_field - a number out of /proc/PID/status.
 * @key: "TracerPid"; @base: 10 or 16.
 * Returns 0 where there is no such line; @value is untouched then. Else 1.
 */
bool nsc_procfs_field(const char *status, const char *key, int base, uint64_t *value);

/* The letter of the state in the text of a /proc/.../stat ("R"), or 0. A thread's name may hold
 * anything. */
char nsc_procfs_state(const char *stat);
/* Milliseconds since the process of that text began (as a fork: a program it executes later does
 * not count), to the hundredth of a second; INT64_MAX if not known. */
int64_t nsc_procfs_age_ms(const char *stat);
/* Has process @pid a thread @tid at this moment? */
bool nsc_procfs_has_thread(pid_t pid, pid_t tid);
/* Has that thread ended, or is about to? */
bool nsc_procfs_is_exiting(const char *stat);

#endif
