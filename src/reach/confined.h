/*
 * confined.h - which system calls a thread may make: where a filter (seccomp) ends the program for
 * one, we must not have it made. Private to reach/.
 */
#ifndef NSC_REACH_CONFINED_H
#define NSC_REACH_CONFINED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As /proc tells it; each thread has its own. */
struct nsc_confined {
    uint64_t mode; /* 0: not at all, 1: to read and write, 2: by filters */
    uint64_t filters;
};

/**
 * nsc_confined_read - how a thread is confined.
 * @tid: a thread, or a process, whose first thread is meant.
 * Returns false if there is no such thread.
 */
bool nsc_confined_read(pid_t tid, struct nsc_confined *to);

/**
 * nsc_confined_alike - whether the filters of a thread of @pid are the ones we live with ourselves.
 *
 * The kernel tells how many there are, not which. Filters are inherited and never go away: so they
 * are taken for the same if there are as many, and a common ancestor has as many, too, with all
 * processes in between; as a common ancestor counts what is outside of a container that both are
 * in.
 */
bool nsc_confined_alike(pid_t pid, const struct nsc_confined *thread);

#endif
