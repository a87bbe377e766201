/*
 * procfs.h - read and parse small files of /proc/PID. Private to process/.
 */
#ifndef NSC_PROCESS_PROCFS_PROCFS_H
#define NSC_PROCESS_PROCFS_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Enough for any /proc/PID/status. */
#define NSC_PROCFS_STATUS_MAX 8192

/**
 * nsc_procfs_read - read the beginning of /proc/<pid>/<name> as text.
 * @text: receives at most @bytes - 1 bytes, NUL terminated.
 * Returns the length or -errno.
 */
int nsc_procfs_read(pid_t pid, const char *name, char *text, size_t bytes);

/**
 * nsc_procfs_field - parse a number of /proc/PID/status.
 * @status: the file's text. @key: such as "TracerPid". @base: 10 or 16.
 * Returns false if there is no such line; @value is untouched then.
 */
bool nsc_procfs_field(const char *status, const char *key, int base, uint64_t *value);

/* Return the state letter ('R') in the text of /proc/.../stat, or 0. The name of the thread, which
 * precedes it, may contain any characters. */
char nsc_procfs_state(const char *stat);
/* Return the age of the process in ms, at a resolution of 10 ms, from the text of /proc/PID/stat.
 * Counts from fork, not from exec. INT64_MAX if not known. */
int64_t nsc_procfs_age_ms(const char *stat);
/**
 * nsc_procfs_memory_thread - find a thread through which /proc shows the memory of process @pid.
 * Once the first thread of a process has ended, the files in /proc/PID about its memory are empty.
 * Returns @pid, or the tid of a living thread if the first one has ended.
 */
pid_t nsc_procfs_memory_thread(pid_t pid);
/* Store the path of file @name ("mem") of that thread. It goes by way of the process: should the
 * thread end, its number may be another process's. */
void nsc_procfs_memory_path(pid_t pid, const char *name, char *path, size_t bytes);
/**
 * nsc_procfs_open_maps - open /proc/PID/maps of a process whose first thread may have ended.
 * Returns a stream for fclose(), or NULL with errno; it is empty if the process has no memory (a
 * kernel thread).
 */
FILE *nsc_procfs_open_maps(pid_t pid);
/* Return true if process @pid has a thread @tid now. */
bool nsc_procfs_has_thread(pid_t pid, pid_t tid);
/* Return true if the thread of this /proc/.../stat has ended or is exiting. */
bool nsc_procfs_is_exiting(const char *stat);

#endif
