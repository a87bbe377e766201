/*
 * child.h - wait for a child process's output and exit, with time limits.
 *
 * Used for children that access untrusted files and file systems, or parse untrusted data: they
 * must not block their parent.
 */
#ifndef NSC_UTIL_PRIVILEGES_CHILD_H
#define NSC_UTIL_PRIVILEGES_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/* Wait until a pipe or socket from @child is readable, at most until @end_ns (nsc_now_ns());
 * signals do not prolong the wait. A user whose credentials the child has assumed can stop it: ends
 * the wait. Returns 0, -ETIMEDOUT, or poll(2)'s -errno. */
int nsc_child_wait_readable(pid_t child, int fd, uint64_t end_ns);

/**
 * nsc_child_end - wait for a child that has finished its work, and kill it if it does not exit.
 * @child: process id.
 * @grace_ms: time to exit by itself, in ms.
 *
 * Waits at most @grace_ms plus one second. A child that waits for a file system (FUSE) cannot be
 * killed before that answers; it then stays a zombie until this process ends.
 * Returns the status of waitpid(2), or -1 if it is not known.
 */
int nsc_child_end(pid_t child, unsigned grace_ms);

#endif
