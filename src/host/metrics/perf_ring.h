/*
 * perf_ring.h - records out of a ring of perf_event_open: samples and context switches of one
 * thread.
 *
 * Called by perf_event.c. Knows the layout only for the attributes that perf_event.c asks for.
 * Takes nothing for granted: a record that cannot be is an error, never read beyond.
 */
#ifndef NSC_METRICS_PERF_RING_H
#define NSC_METRICS_PERF_RING_H

#include <stdint.h>

/* The counters of a thread, in the order of the events of its group. */
enum nsc_metrics_counter {
    NSC_METRICS_CPU_NS,
    NSC_METRICS_FAULTS_MINOR,
    NSC_METRICS_FAULTS_MAJOR,
    NSC_METRICS_SWITCHES,
    NSC_METRICS_COUNTERS,
};

/* A ring as mapped: @bytes is a power of two; @tail and @head count bytes and never wrap. */
struct nsc_ring {
    const uint8_t *data;
    uint64_t bytes;
    uint64_t tail, head;
};

enum nsc_ring_kind {
    NSC_RING_OTHER,     /* of no interest */
    NSC_RING_SAMPLE,    /* ns and counters */
    NSC_RING_IN,        /* ns: got a processor */
    NSC_RING_PREEMPTED, /* ns: had to leave it, and would have gone on */
    NSC_RING_OUT,       /* ns: left it to wait */
    NSC_RING_LOST,      /* lost: that many records found no room */
};

struct nsc_ring_record {
    enum nsc_ring_kind kind;
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint64_t lost;
    uint64_t counters[NSC_METRICS_COUNTERS];
};

/**
 * nsc_ring_next - take the next record and move @ring->tail behind it.
 * Returns 1, 0 (the ring is empty) or -EBADMSG: what is left is no sequence of records; the tail is
 * then at the head.
 */
int nsc_ring_next(struct nsc_ring *ring, struct nsc_ring_record *record);

#endif
