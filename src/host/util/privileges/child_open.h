/*
 * child_open.h - take over a descriptor from a child process.
 *
 * Used where to open, inspect or close a file may block: its file system may belong to another
 * user. Called by credentials.c and control_call.c. Must not print.
 */
#ifndef NSC_UTIL_PRIVILEGES_CHILD_OPEN_H
#define NSC_UTIL_PRIVILEGES_CHILD_OPEN_H

/**
 * nsc_child_open - have a forked child open a file.
 * @open: runs in the child, which is single-threaded and has no other descriptors of this process;
 *        returns a descriptor or -errno.
 * @keep: a descriptor that stays open in the child; negative: none.
 * Returns the descriptor, close-on-exec, or -errno: from @open, -ETIMEDOUT after two seconds,
 * -EAGAIN (no child), -EIO (it has crashed).
 */
int nsc_child_open(int (*open)(const void *context), const void *context, int keep);

#endif
