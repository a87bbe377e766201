/*
 * partial_name.h - names of files that are not complete yet: "app.nst.4711.0f3a91c2.partial".
 *
 * The number is the process that writes the file. The eight hexadecimal digits are random, so that
 * another user of a shared folder cannot put something there first. Files of before have no such
 * digits: "app.nst.4711.partial".
 */
#ifndef NSC_UTIL_OS_PARTIAL_NAME_H
#define NSC_UTIL_OS_PARTIAL_NAME_H

#include <stddef.h>
#include <sys/types.h>

/* A new temporary name for @path that ends in ".@ending". Returns a malloc'ed string, or NULL (no
 * memory, or no random numbers). */
char *nsc_partial_make(const char *path, const char *ending);

/**
 * nsc_partial_length - what a temporary name is a name for.
 * @pid: receives the process that writes or wrote it; may be NULL.
 * Returns the length of @name without ".PID.RANDOM.partial" or ".PID.partial", or 0 when it does
 * not end so.
 */
size_t nsc_partial_length(const char *name, pid_t *pid);

#endif
