/*
 * perf_ring.h - decode records of a perf_event_open ring: samples and context switches of one
 * thread.
 *
 * Called by perf_event.c and thread_sampler.c. Knows the record layout only for the attributes that
 * perf_event.c sets. Trusts nothing: an invalid record is an error, and nothing beyond it is read.
 */
#ifndef NSC_METRICS_PERF_RING_H
#define NSC_METRICS_PERF_RING_H

#include <stdint.h>

/* The counters of a thread, in the order of the events in its group. */
enum nsc_metrics_counter {
    NSC_METRICS_CPU_NS,
    NSC_METRICS_FAULTS_MINOR,
    NSC_METRICS_FAULTS_MAJOR,
    NSC_METRICS_SWITCHES,
    NSC_METRICS_COUNTERS,
};

/* A mapped ring: @bytes is a power of two; @tail and @head count bytes and never wrap. */
struct nsc_ring {
    const uint8_t *data;
    uint64_t bytes;
    uint64_t tail, head;
};

enum nsc_ring_kind {
    NSC_RING_OTHER,     /* not used */
    NSC_RING_SAMPLE,    /* ns and counters are valid */
    NSC_RING_IN,        /* ns: switched in */
    NSC_RING_PREEMPTED, /* ns: preempted while runnable */
    NSC_RING_OUT,       /* ns: switched out to wait */
    NSC_RING_LOST,      /* lost: number of records lost as the ring was full */
};

struct nsc_ring_record {
    enum nsc_ring_kind kind;
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint64_t lost;
    uint64_t counters[NSC_METRICS_COUNTERS];
};

/**
 * nsc_ring_next - decode the next record and advance @ring->tail past it.
 * Returns 1, 0 (the ring is empty) or -EBADMSG: the rest is not a valid sequence of records, and
 * the tail is set to the head.
 */
int nsc_ring_next(struct nsc_ring *ring, struct nsc_ring_record *record);

#endif
