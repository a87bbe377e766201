/*
 * metrics.h - samples and states of traced threads: the one entry to this room.
 *
 * Called by record/, which says which threads there are and comes round every millisecond or two.
 * Looks at the threads from outside and writes what it sees into the trace; never touches them.
 * docs/adr/011-metrics.md says why it is done so.
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
    bool by_program;      /* threads take their samples themselves: only states are stored */
    struct nsc_malloc_samples
        *heap; /* where programs count their calls of malloc, or NULL; the caller's */
};

/**
 * nsc_metrics_open - find out what is permitted, and begin.
 * @writer: receives samples and states; the caller's.
 * @options: copied.
 * @now: a reading of the clocks.
 * Returns 0 or -ENOMEM. What is not permitted is no failure: see the summary.
 */
int nsc_metrics_open(struct nsc_writer *writer, const struct nsc_metrics_options *options,
                     const struct nsc_clock_point *now, struct nsc_metrics **out);

/**
 * nsc_metrics_add - look at a thread from the next round on.
 * @pid, @tid: as this process sees them.
 * @id: its entry in the trace.
 * Returns NULL without memory. Release with nsc_metrics_remove().
 */
struct nsc_metrics_thread *nsc_metrics_add(struct nsc_metrics *metrics, pid_t pid, pid_t tid,
                                           uint32_t id);
/* The thread began at @ticks and the recording was there: its counters are 0 then. Said at once
 * after nsc_metrics_add(); of others, what they had is found out when they are looked at first. */
void nsc_metrics_began(struct nsc_metrics_thread *thread, uint64_t ticks);
/* A thread that cannot be added, because it is over or unknown to this process; counts it. */
void nsc_metrics_miss(struct nsc_metrics *metrics);
/* The thread has taken a sample of itself. May be NULL. */
void nsc_metrics_count_sample(struct nsc_metrics_thread *thread);
/* No more of this thread; @ended: it exists no longer. May be NULL. */
void nsc_metrics_remove(struct nsc_metrics_thread *thread, bool ended);

/* One round: store what has come, look at what is due. Bounded work, about a millisecond. */
void nsc_metrics_poll(struct nsc_metrics *metrics, const struct nsc_clock_point *now);

/* How long to stay away at most. */
uint64_t nsc_metrics_pause_ns(const struct nsc_metrics *metrics);

/* Threads that were removed are in it, others are not. */
void nsc_metrics_summary(const struct nsc_metrics *metrics, struct nsc_metrics_summary *summary);
/* All threads must be removed. */
void nsc_metrics_close(struct nsc_metrics *metrics);

#endif
