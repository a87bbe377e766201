/*
 * inherited.h - give up what a forked child has from its parent.
 *
 * Called by confine.c, child_open.c and process/call/ptrace_call.c, in single-threaded children.
 */
#ifndef NSC_UTIL_PRIVILEGES_INHERITED_H
#define NSC_UTIL_PRIVILEGES_INHERITED_H

#include <stddef.h>

/**
 * nsc_inherited_drop - close descriptors, and unmap shared memory.
 * @keep: @count descriptors that stay open; negative: none.
 * @shared: start of the only shared mapping to keep; NULL: keep none.
 *
 * Connects 0 to 2 to /dev/null. A child that the kernel keeps from ending, or that another user has
 * taken over, must neither keep a pipe or a recording open nor change the data of other processes.
 */
void nsc_inherited_drop(const int *keep, size_t count, const void *shared);

#endif
