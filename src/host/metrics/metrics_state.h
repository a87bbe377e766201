/*
 * metrics_state.h - inside of this room: what metrics.c (the round) and thread_sampler.c (one
 * thread) share.
 */
#ifndef NSC_METRICS_METRICS_STATE_H
#define NSC_METRICS_METRICS_STATE_H

#include "metrics/malloc_samples.h"
#include "metrics/metrics_summary.h"
#include "metrics/perf_event.h"
#include "metrics/proc_thread.h"

/* A process whose threads are looked at; counts them. */
struct nsc_metrics_process {
    struct nsc_metrics_process *next;
    pid_t pid;
    uint32_t threads;
    int memory_fd;
    uint64_t memory_bytes, memory_ns; /* and when that was read, or: */
    struct nsc_malloc_counts heap;
};

enum nsc_metrics_way {
    NSC_METRICS_WAITING, /* to be opened */
    NSC_METRICS_BY_PERF,
    NSC_METRICS_BY_PROC,
    NSC_METRICS_NOT, /* cannot be looked at, or is no more */
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
    uint64_t base[NSC_METRICS_COUNTERS]; /* what was counted before we did */
    uint64_t last[NSC_METRICS_COUNTERS]; /* of the latest sample, without base */
    uint64_t begin_cpu_ns;               /* without base, when we began */
    uint64_t last_ns;                    /* when the thread was last heard of */
    uint64_t sample_ns;                  /* when its latest sample was taken, or we began */
    uint64_t state_ns;                   /* when its state changed last */
    uint64_t waited_ns;     /* by /proc only: waited for a processor, and not stored as such */
    uint64_t waited_all_ns; /* the same since its start, as of the last look */
    uint64_t taken;
    uint64_t switched;  /* user mode only: switches as the ring tells them */
    uint64_t rebase_ns; /* user mode only: CPU time at which base is to be put right */
    enum nsc_thread_state state;
    uint32_t heap_slot; /* its hint for nsc_malloc_samples_thread() */
    bool began;         /* its counters were 0 when the trace says that it began */
    bool explained;     /* by /proc only: what it sleeps for has been asked */
    uint64_t asleep_ns; /* since then, and what for is not known yet; 0: no */
};

struct nsc_metrics {
    struct nsc_writer *writer;
    struct nsc_metrics_summary sum;
    enum nsc_perf_access access;
    struct nsc_malloc_samples *heap; /* NULL: nobody counts calls of malloc */
    uint64_t swept_ns;
    struct nsc_metrics_thread **threads;
    uint32_t count, room, next; /* next: whose turn it is */
    uint32_t open, open_max;    /* threads that hold descriptors */
    struct nsc_metrics_process *processes;
    struct nsc_clock_point older, newer; /* the line from one to the other gives ticks */
    uint32_t looks, reads;               /* what is left of this round's allowance */
};

/* Begin to look at a thread; sets its way. */
void nsc_metrics_thread_open(struct nsc_metrics_thread *t);
/* Store what has happened to it, as of @now_ns. */
void nsc_metrics_thread_poll(struct nsc_metrics_thread *t, uint64_t now_ns);
/* Store what is left, and close; @ended: it is over. */
void nsc_metrics_thread_close(struct nsc_metrics_thread *t, bool ended, uint64_t now_ns);

#endif
