/* metrics.c - see metrics.h: the list of threads, and how much each poll may do for them. */
#include "metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "metrics/metrics_state.h"
#include "trace/write/writer.h"
#include "util/array.h"
#include "util/now.h"

enum {
    VISITS_A_ROUND = 512, /* about 0.1 us each if there is nothing new */
    LOOKS_A_ROUND = 2,    /* readings of what a thread waits for: about 25 us each */
    READS_A_ROUND = 8,    /* of counters: 2 to 10 us each */
    FDS_A_THREAD = NSC_METRICS_COUNTERS,
    FDS_KEPT = 128, /* for everything else */
    THREADS_MIN = 16,
};

/* Opening a thread takes about 0.2 ms. Each poll may spend OPENING_NS on it, or a quarter of the
 * time since the previous poll if that is more, up to OPENING_MAX_NS. At least one thread is opened
 * in each poll. */
#define OPENING_NS     500000u
#define OPENING_MAX_NS 10000000u
/* For /proc, where each reading takes about 20 us: an eighth of the time at most. */
#define LOOKING_NS     250000u
#define SECOND_NS      1000000000u
/* Threads that call malloc but no traced function are found only by sweeping. */
#define SWEEP_NS       100000000u

/* Use at most half of the descriptor limit; the rest is for processes and files. */
static uint32_t threads_by_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT32_MAX;
    if (limit.rlim_cur < FDS_KEPT + FDS_A_THREAD * THREADS_MIN)
        return THREADS_MIN;
    return (uint32_t)((limit.rlim_cur - FDS_KEPT) / 2 / FDS_A_THREAD);
}

int nsc_metrics_open(struct nsc_writer *writer, const struct nsc_metrics_options *options,
                     const struct nsc_clock_point *now, struct nsc_metrics **out)
{
    static const enum nsc_metrics_source sources[] = {
        [NSC_PERF_NONE] = NSC_METRICS_PROC,
        [NSC_PERF_USER] = NSC_METRICS_PERF_USER,
        [NSC_PERF_ALL] = NSC_METRICS_PERF,
    };
    struct nsc_metrics *m = calloc(1, sizeof *m);

    if (m == NULL)
        return -ENOMEM;
    m->writer = writer;
    m->heap = options->heap;
    m->access = nsc_perf_probe(&m->sum.perf_error);
    m->sum.source = sources[m->access];
    m->sum.interval_ns = options->interval_ns;
    m->sum.by_program = options->by_program;
    m->older = m->newer = *now;
    m->open_max = threads_by_limit();
    *out = m;
    return 0;
}

/* ---- Threads and their processes ------------------------------------------------------------- */

static struct nsc_metrics_process *find_process(struct nsc_metrics *m, pid_t pid)
{
    struct nsc_metrics_process *p;

    for (p = m->processes; p != NULL; p = p->next)
        if (p->pid == pid)
            return p;
    p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->pid = pid;
    p->memory_fd = -1;
    p->next = m->processes;
    m->processes = p;
    return p;
}

static void release_process(struct nsc_metrics *m, struct nsc_metrics_process *p)
{
    struct nsc_metrics_process **at = &m->processes;

    if (--p->threads > 0)
        return;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    if (p->memory_fd >= 0)
        close(p->memory_fd);
    free(p);
}

static bool make_room(struct nsc_metrics *m)
{
    struct nsc_metrics_thread **threads =
        nsc_array_grow(m->threads, &m->room, m->count, sizeof(struct nsc_metrics_thread *));

    if (threads != NULL)
        m->threads = threads;
    return threads != NULL;
}

struct nsc_metrics_thread *nsc_metrics_add(struct nsc_metrics *m, pid_t pid, pid_t tid, uint32_t id)
{
    struct nsc_metrics_process *process;
    struct nsc_metrics_thread *t;

    if (!make_room(m))
        return NULL;
    t = calloc(1, sizeof *t);
    process = t != NULL ? find_process(m, pid) : NULL;
    if (process == NULL) {
        free(t);
        return NULL;
    }
    process->threads++;
    t->all = m;
    t->process = process;
    t->tid = tid;
    t->id = id;
    t->heap_slot = NSC_NO_ID;
    t->index = m->count;
    m->threads[m->count++] = t;
    return t;
}

void nsc_metrics_began(struct nsc_metrics_thread *t, uint64_t ticks)
{
    const struct nsc_metrics *m = t->all;
    struct nsc_note note = {.kind = NSC_NOTE_SAMPLE, .owner = t->id, .ticks = ticks};

    note.sample.known = 1u << NSC_SAMPLE_CPU_NS | 1u << NSC_SAMPLE_MAJOR_FAULTS |
                        1u << NSC_SAMPLE_MINOR_FAULTS | 1u << NSC_SAMPLE_SWITCHES;
    nsc_writer_note(m->writer, &note);
    t->began = true;
}

void nsc_metrics_miss(struct nsc_metrics *m)
{
    m->sum.missed++;
}

void nsc_metrics_count_sample(struct nsc_metrics_thread *t)
{
    if (t != NULL)
        t->taken++;
}

void nsc_metrics_remove(struct nsc_metrics_thread *t, bool ended)
{
    struct nsc_metrics *m;

    if (t == NULL)
        return;
    m = t->all;
    nsc_metrics_thread_close(t, ended, nsc_now_ns());
    m->threads[t->index] = m->threads[--m->count];
    m->threads[t->index]->index = t->index;
    if (ended && m->heap != NULL)
        nsc_malloc_samples_release(m->heap, t->heap_slot, t->process->pid, t->tid);
    release_process(m, t->process);
    free(t);
}

/* ---- Polling --------------------------------------------------------------------------------- */

/* A line over about a second: long enough to be straight, short enough to follow the clock. */
static void take_clock(struct nsc_metrics *m, const struct nsc_clock_point *now)
{
    if (now->ticks <= m->newer.ticks || now->monotonic_ns <= m->newer.monotonic_ns)
        return;
    if (m->newer.monotonic_ns - m->older.monotonic_ns >= SECOND_NS)
        m->older = m->newer;
    m->newer = *now;
}

/* Time that this poll may spend opening threads; @away_ns: time since the last poll. */
static uint64_t opening_ns(uint64_t away_ns)
{
    if (away_ns / 4 < OPENING_NS)
        return OPENING_NS;
    return away_ns / 4 < OPENING_MAX_NS ? away_ns / 4 : OPENING_MAX_NS;
}

void nsc_metrics_poll(struct nsc_metrics *m, const struct nsc_clock_point *now)
{
    uint64_t begin_ns = nsc_now_ns(), now_ns = begin_ns;
    uint64_t may_open_ns = opening_ns(now->monotonic_ns - m->newer.monotonic_ns);
    uint32_t visits = m->count < VISITS_A_ROUND ? m->count : VISITS_A_ROUND;

    take_clock(m, now);
    m->looks = LOOKS_A_ROUND;
    m->reads = READS_A_ROUND;
    while (visits-- > 0) {
        struct nsc_metrics_thread *t;

        if (m->next >= m->count)
            m->next = 0;
        t = m->threads[m->next++];
        if (t->way == NSC_METRICS_WAITING && now_ns - begin_ns < may_open_ns)
            nsc_metrics_thread_open(t);
        else if (t->way == NSC_METRICS_BY_PERF ||
                 (t->way == NSC_METRICS_BY_PROC && now_ns - begin_ns < LOOKING_NS))
            nsc_metrics_thread_poll(t, now_ns);
        else
            continue;
        now_ns = nsc_now_ns();
    }
    if (m->heap != NULL && now_ns - m->swept_ns >= SWEEP_NS) {
        m->swept_ns = now_ns;
        nsc_malloc_samples_sweep(m->heap);
    }
}

uint64_t nsc_metrics_pause_ns(const struct nsc_metrics *m)
{
    return m->access == NSC_PERF_ALL ? UINT64_MAX : m->sum.interval_ns;
}

void nsc_metrics_summary(const struct nsc_metrics *m, struct nsc_metrics_summary *summary)
{
    *summary = m->sum;
}

void nsc_metrics_close(struct nsc_metrics *m)
{
    if (m == NULL)
        return;
    free(m->threads);
    free(m);
}
