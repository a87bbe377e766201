/*
 * available_memory.h - how much memory a recording may use. In a small container, exhausted memory
 * makes the kernel kill the program or the recorder.
 *
 * Called by session.c when a session begins. Only reads small files of /proc and /sys.
 */
#ifndef NSC_RECORD_SESSION_AVAILABLE_MEMORY_H
#define NSC_RECORD_SESSION_AVAILABLE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * nsc_memory_available - bytes that this process and its children may still allocate.
 * @root: prefix of every path: "" (tests pass a directory with their own files).
 *
 * Returns the minimum of MemAvailable and of what the limits of this process's control group and
 * its ancestors leave. Inactive file cache of a group counts as available. Returns UINT64_MAX if
 * nothing can be determined.
 */
uint64_t nsc_memory_available(const char *root);

/**
 * nsc_memory_promised - true if memory may be touched that was not allocated before.
 * False under strict accounting (vm.overcommit_memory = 2): there, touching a page of shared memory
 * beyond the limit raises SIGBUS. True if the setting cannot be read.
 */
bool nsc_memory_promised(const char *root);

#endif
