/*
 * child.h - children that must not hold up their parent: wait for their answer and for their end.
 *
 * Used for children that touch what is not to be trusted: files, file systems, parsers.
 */
#ifndef NSC_UTIL_PRIVILEGES_CHILD_H
#define NSC_UTIL_PRIVILEGES_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/* Waits until a pipe or socket can be read, or until @end_ns (nsc_now_ns()); signals do not prolong
 * it. Returns 0, -ETIMEDOUT, or what poll() says. */
int nsc_child_wait_readable(int fd, uint64_t end_ns);

/**
 * nsc_child_end - wait for a child that has done its work, and kill it if it does not exit.
 * @child: process number.
 * @grace_ms: how long it may take to exit by itself.
 *
 * Takes at most @grace_ms and a second: a child that waits for a file system (FUSE) cannot be
 * killed before that has answered, and then stays a zombie until this process ends.
 * Returns the status as of waitpid(), or -1 where it is not known.
 */
int nsc_child_end(pid_t child, unsigned grace_ms);

#endif
