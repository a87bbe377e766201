/*
 * available_memory.h - how much memory there is to be had, so that a recording does not take it
 * from the program: in a small container, running out means that the kernel kills one of them.
 *
 * Called by session.c when a session begins. Only reads small files of /proc and /sys.
 */
#ifndef NSC_RECORD_SESSION_AVAILABLE_MEMORY_H
#define NSC_RECORD_SESSION_AVAILABLE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * nsc_memory_available - bytes that this process and its children may still take.
 * @root: what to put before every path: "" (a test has files of its own).
 *
 * The least of what the kernel calls available and what the limits of our control group and those
 * above it leave; cache that the kernel would give back counts as left. UINT64_MAX if nothing can
 * be found out.
 */
uint64_t nsc_memory_available(const char *root);

/**
 * nsc_memory_promised - may memory be touched that was not allocated before? Not under strict
 * accounting (vm.overcommit_memory = 2), where a page of shared memory that exceeds the limit is
 * SIGBUS for whoever touches it.
 */
bool nsc_memory_promised(const char *root);

#endif
