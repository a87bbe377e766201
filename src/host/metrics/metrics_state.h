/*
 * metrics_state.h - internal state of this room, shared by metrics.c (polling) and thread_sampler.c
 * (one thread).
 */
#ifndef NSC_METRICS_METRICS_STATE_H
#define NSC_METRICS_METRICS_STATE_H

#include "metrics/malloc_samples.h"
#include "metrics/metrics_summary.h"
#include "metrics/perf_event.h"
#include "metrics/proc_thread.h"

/* A process with observed threads; `threads` is their number. */
struct nsc_metrics_process {
    struct nsc_metrics_process *next;
    pid_t pid;
    uint32_t threads;
    int memory_fd;
    uint64_t memory_bytes, memory_ns; /* resident memory, and when it or `heap` was read */
    struct nsc_malloc_counts heap;
};

enum nsc_metrics_way {
    NSC_METRICS_WAITING, /* not opened yet */
    NSC_METRICS_BY_PERF,
    NSC_METRICS_BY_PROC,
    NSC_METRICS_NOT, /* cannot be observed, or has ended */
};

struct nsc_metrics_thread {
    struct nsc_metrics *all;
    struct nsc_metrics_process *process;
    uint32_t index; /* in all->threads */
    pid_t tid;
    uint32_t id;
    enum nsc_metrics_way way;
    struct nsc_perf perf;
    struct nsc_proc proc;
    uint64_t base[NSC_METRICS_COUNTERS]; /* counts from before the observation began */
    uint64_t last[NSC_METRICS_COUNTERS]; /* counters of the latest sample, without base */
    uint64_t begin_cpu_ns;               /* without base, when the observation began */
    uint64_t last_ns;                    /* when the latest record or reading was taken */
    uint64_t sample_ns;                  /* time of the latest sample, or start of observation */
    uint64_t state_ns;                   /* when its state last changed */
    uint64_t waited_ns;                  /* /proc only: waited for a processor, not stored yet */
    uint64_t waited_all_ns;              /* /proc only: the same in total, as last read */
    uint64_t taken;
    uint64_t switched;  /* user mode only: context switches counted from the ring */
    uint64_t rebase_ns; /* user mode only: CPU time at which to correct base */
    enum nsc_thread_state state;
    uint32_t heap_slot; /* cached slot for nsc_malloc_samples_thread() */
    bool began;         /* its counters were 0 at its start in the trace */
    bool explained;     /* /proc only: the reason of the current sleep has been read */
    uint64_t asleep_ns; /* start of a sleep with unknown reason; 0: none */
};

struct nsc_metrics {
    struct nsc_writer *writer;
    struct nsc_metrics_summary sum;
    enum nsc_perf_access access;
    struct nsc_malloc_samples *heap; /* NULL: calls of malloc are not counted */
    uint64_t swept_ns;
    struct nsc_metrics_thread **threads;
    uint32_t count, room, next; /* next: index of the next thread to poll */
    uint32_t open, open_max;    /* threads with open descriptors, and their limit */
    struct nsc_metrics_process *processes;
    struct nsc_clock_point older, newer; /* the line through both converts ns to ticks */
    uint32_t looks, reads;               /* what remains of this poll's limits */
};

/* Begin to observe a thread; sets its way. */
void nsc_metrics_thread_open(struct nsc_metrics_thread *t);
/* Store what has happened to the thread up to @now_ns. */
void nsc_metrics_thread_poll(struct nsc_metrics_thread *t, uint64_t now_ns);
/* Store what remains, and close the thread; @ended: it has ended. */
void nsc_metrics_thread_close(struct nsc_metrics_thread *t, bool ended, uint64_t now_ns);

#endif
