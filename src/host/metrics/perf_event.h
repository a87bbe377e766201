/*
 * perf_event.h - the events of one thread, as perf_event_open counts and samples them.
 *
 * Called by thread_sampler.c. Only software events, which need no hardware counters and work in
 * virtual machines. Knows nothing of traces.
 */
#ifndef NSC_METRICS_PERF_EVENT_H
#define NSC_METRICS_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "metrics/perf_ring.h"

/* What the system lets us see. */
enum nsc_perf_access {
    NSC_PERF_NONE,
    NSC_PERF_USER, /* user mode only: no switches counted, no faults within system calls */
    NSC_PERF_ALL,
};

struct nsc_perf {
    int fds[NSC_METRICS_COUNTERS]; /* the first leads the group */
    void *map;                     /* page of the kernel's, then the ring */
    size_t map_bytes;
};

/**
 * nsc_perf_probe - what may we open on threads of our own user's?
 * @error: receives why not everything, as a negative errno; 0 with NSC_PERF_ALL.
 * Context: opens an event on the calling thread and closes it.
 */
enum nsc_perf_access nsc_perf_probe(int *error);

/**
 * nsc_perf_open - begin to count and to sample a thread.
 * @tid: in our own namespace.
 * @interval_ns: CPU time from sample to sample; 0: no samples.
 * @access: as nsc_perf_probe() says; not NSC_PERF_NONE.
 * @ring_pages: wanted size of the ring, a power of two; smaller if that much cannot be locked.
 *
 * Returns 0 or -errno: -ESRCH (no such thread any more), -EACCES or -EPERM (not ours to look at, or
 * no memory may be locked), -EMFILE. Nothing is open then.
 */
int nsc_perf_open(struct nsc_perf *perf, pid_t tid, uint64_t interval_ns,
                  enum nsc_perf_access access, unsigned ring_pages);
void nsc_perf_close(struct nsc_perf *perf);

/* What is in the ring now; give the space back with nsc_perf_done() when it has been read. */
struct nsc_ring nsc_perf_ring(const struct nsc_perf *perf);
void nsc_perf_done(struct nsc_perf *perf, const struct nsc_ring *ring);

/* The counters just now; also of a thread that has ended. Returns 0 or -errno. Interrupts the
 * processor that the thread runs on, if it does. */
int nsc_perf_read(const struct nsc_perf *perf, uint64_t counters[NSC_METRICS_COUNTERS]);

#endif
