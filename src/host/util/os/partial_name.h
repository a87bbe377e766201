/*
 * partial_name.h - temporary names of incomplete files: "app.nst.4711.0f3a91c2.partial".
 *
 * The number is the pid of the process that writes the file. The eight hexadecimal digits are
 * random, so that another user of a shared folder cannot create the file first. Older versions
 * wrote names without them: "app.nst.4711.partial".
 */
#ifndef NSC_UTIL_OS_PARTIAL_NAME_H
#define NSC_UTIL_OS_PARTIAL_NAME_H

#include <stddef.h>
#include <sys/types.h>

/* Make a new temporary name for @path that ends in ".@ending". Returns a malloc'ed string, or NULL
 * if there is no memory or no random numbers. */
char *nsc_partial_make(const char *path, const char *ending);

/**
 * nsc_partial_length - find the final name in a temporary name.
 * @pid: receives the pid of the process that writes or wrote the file; may be NULL.
 * Returns the length of @name without ".PID.RANDOM.partial" or ".PID.partial", or 0 if it has no
 * such ending.
 */
size_t nsc_partial_length(const char *name, pid_t *pid);

/**
 * nsc_partial_publish - rename a complete file to its final name, unless that name is taken.
 * @from, @folder: descriptors of the folders of @partial and @name, or AT_FDCWD.
 * Returns 0 or -errno: -EEXIST, and those of renameat2(2) and openat(2).
 */
int nsc_partial_publish(int from, const char *partial, int folder, const char *name);

/* As nsc_partial_publish(), with paths. Each folder is opened once: another user who exchanges a
 * part of a path meanwhile cannot bring in a file from elsewhere. */
int nsc_partial_publish_path(const char *partial, const char *path);

#endif
