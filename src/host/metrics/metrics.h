/*
 * metrics.h - samples and states of traced threads: the only interface of this room.
 *
 * Called by record/, which adds the threads and polls every millisecond or two. Observes the
 * threads from outside and writes what it finds to the trace; never modifies them.
 * docs/adr/011-metrics.md gives the reasons.
 */
#ifndef NSC_METRICS_METRICS_H
#define NSC_METRICS_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "metrics/metrics_summary.h"
#include "trace/format/model.h"
#include "util/diag.h"

struct nsc_malloc_samples;
struct nsc_metrics;
struct nsc_metrics_thread;
struct nsc_writer;

#define NSC_METRICS_INTERVAL_NS     1000000ull
#define NSC_METRICS_INTERVAL_MIN_NS 100000ull
#define NSC_METRICS_INTERVAL_MAX_NS 1000000000ull

struct nsc_metrics_options {
    uint64_t interval_ns; /* between NSC_METRICS_INTERVAL_MIN_NS and _MAX_NS */
    bool by_program;      /* threads sample themselves: only states are stored */
    /* counts of malloc calls, or NULL; owned by the caller */
    struct nsc_malloc_samples *heap;
};

/**
 * nsc_metrics_open - find out what the system permits, and begin.
 * @writer: receives samples and states; owned by the caller.
 * @options: copied.
 * @now: a reading of the clocks.
 * Returns 0 or -ENOMEM. Missing permissions are not an error: see the summary.
 */
int nsc_metrics_open(struct nsc_writer *writer, const struct nsc_metrics_options *options,
                     const struct nsc_clock_point *now, struct nsc_metrics **out);

/**
 * nsc_metrics_add - observe a thread from the next poll on.
 * @pid, @tid: as this process sees them.
 * @id: its index in the trace.
 * Returns NULL if out of memory. Release with nsc_metrics_remove().
 */
struct nsc_metrics_thread *nsc_metrics_add(struct nsc_metrics *metrics, pid_t pid, pid_t tid,
                                           uint32_t id);
/* Record that the thread began at @ticks, during the recording: its counters are 0 at that time.
 * Call it immediately after nsc_metrics_add(). For other threads, the earlier counts are read when
 * they are first sampled. */
void nsc_metrics_began(struct nsc_metrics_thread *thread, uint64_t ticks);
/* Count a thread that cannot be added because it has ended or is unknown to this process. */
void nsc_metrics_miss(struct nsc_metrics *metrics);
/* Count a sample that the thread has taken of itself. @thread may be NULL. */
void nsc_metrics_count_sample(struct nsc_metrics_thread *thread);
/* Stop observing a thread; @ended: it no longer exists. @thread may be NULL. */
void nsc_metrics_remove(struct nsc_metrics_thread *thread, bool ended);

/* Poll: store new records and read the threads that are due. Bounded work: about a millisecond, up
 * to 10 ms of opening threads after a long pause. */
void nsc_metrics_poll(struct nsc_metrics *metrics, const struct nsc_clock_point *now);

/* Maximum time until the next poll. */
uint64_t nsc_metrics_pause_ns(const struct nsc_metrics *metrics);

/* Get the summary. `due` and `taken` include only threads that have been removed. */
void nsc_metrics_summary(const struct nsc_metrics *metrics, struct nsc_metrics_summary *summary);
/* Close. All threads must have been removed. */
void nsc_metrics_close(struct nsc_metrics *metrics);

#endif
