/*
 * perf_event.h - one thread's software events, counted and sampled by perf_event_open.
 *
 * Called by thread_sampler.c. Uses only software events, which need no hardware counters and work
 * in virtual machines. Does not depend on traces.
 */
#ifndef NSC_METRICS_PERF_EVENT_H
#define NSC_METRICS_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "metrics/perf_ring.h"

/* What the system permits. */
enum nsc_perf_access {
    NSC_PERF_NONE,
    NSC_PERF_USER, /* user mode only: no switches counted, no faults inside system calls */
    NSC_PERF_ALL,
};

struct nsc_perf {
    int fds[NSC_METRICS_COUNTERS]; /* the first is the group leader */
    void *map;                     /* the kernel's control page, then the ring */
    size_t map_bytes;
};

/**
 * nsc_perf_probe - find out which events may be opened on threads of the same user.
 * @error: receives why not all, as a negative errno; 0 with NSC_PERF_ALL.
 * Context: opens an event on the calling thread and closes it.
 */
enum nsc_perf_access nsc_perf_probe(int *error);

/**
 * nsc_perf_open - begin to count and sample a thread.
 * @tid: in this process's PID namespace.
 * @interval_ns: CPU time between samples; 0: no samples.
 * @access: result of nsc_perf_probe(), not NSC_PERF_NONE.
 * @ring_pages: size of the ring, a power of two; smaller if that much cannot be locked.
 *
 * Returns 0 or -errno: -ESRCH (the thread has ended), -EACCES or -EPERM (not permitted for this
 * thread, or no memory may be locked), -EMFILE. On error nothing is open.
 */
int nsc_perf_open(struct nsc_perf *perf, pid_t tid, uint64_t interval_ns,
                  enum nsc_perf_access access, unsigned ring_pages);
void nsc_perf_close(struct nsc_perf *perf);

/* nsc_perf_ring() returns the unread records of the ring; after reading them, release their space
 * with nsc_perf_done(). */
struct nsc_ring nsc_perf_ring(const struct nsc_perf *perf);
void nsc_perf_done(struct nsc_perf *perf, const struct nsc_ring *ring);

/* Read the current counters; works for a thread that has ended, too. Returns 0 or -errno.
 * Interrupts the processor on which the thread is running, if any. */
int nsc_perf_read(const struct nsc_perf *perf, uint64_t counters[NSC_METRICS_COUNTERS]);

#endif
