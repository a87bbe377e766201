/* thread_sampler.c - see metrics_state.h: turns the kernel's data about one thread into samples and
 * states. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "metrics/metrics_state.h"
#include "trace/write/writer.h"
#include "util/now.h"

/* A shorter wait for a processor is added to the next one. */
#define WAITED_NS     20000u
/* The reason of a sleep is read after this time. */
#define ASLEEP_NS     1000000u
/* User mode only: CPU time between readings of /proc for what perf does not count. */
#define REBASE_CPU_NS 100000000u

enum {
    /* Pages of the ring: 16 hold 1,000 samples or 1,400 switches. */
    RING_PAGES = 16,
    RING_PAGES_SOME = 4,
    RING_PAGES_MANY = 1,
    FEW_THREADS = 16,
    SOME_THREADS = 64,
    SLOTS_A_LOOK = 256, /* malloc slots, about 2 us */
};

/* ---- Writing to the trace -------------------------------------------------------------------- */

/* Convert monotonic ns to ticks. */
static uint64_t ticks_at(const struct nsc_metrics *m, uint64_t ns)
{
    double rate;

    if (m->newer.monotonic_ns == m->older.monotonic_ns)
        return m->newer.ticks;
    rate = (double)(m->newer.ticks - m->older.ticks) /
           (double)(m->newer.monotonic_ns - m->older.monotonic_ns);
    if (ns >= m->newer.monotonic_ns)
        return m->newer.ticks + (uint64_t)((double)(ns - m->newer.monotonic_ns) * rate);
    return m->newer.ticks - (uint64_t)((double)(m->newer.monotonic_ns - ns) * rate);
}

static void set_state(struct nsc_metrics_thread *t, uint64_t ns, enum nsc_thread_state state)
{
    struct nsc_note note = {.kind = NSC_NOTE_STATE, .owner = t->id};

    if (state == t->state)
        return;
    note.ticks = ticks_at(t->all, ns);
    note.state.old_state = t->state;
    note.state.new_state = state;
    nsc_writer_note(t->all->writer, &note);
    t->state = state;
    t->state_ns = ns;
}

/* End a sleep whose reason is unknown: store it as SLEEPING. */
static void settle_sleep(struct nsc_metrics_thread *t)
{
    if (t->asleep_ns != 0)
        set_state(t, t->asleep_ns, NSC_STATE_SLEEPING);
    t->asleep_ns = 0;
}

/* Read the resident memory. Returns false if it is unknown. */
static bool read_memory(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    struct nsc_metrics_process *p = t->process;

    if (p->memory_ns != 0 && now_ns - p->memory_ns < t->all->sum.interval_ns)
        return p->memory_bytes != 0;
    p->memory_ns = now_ns;
    if (p->memory_fd == -1)
        p->memory_fd = nsc_proc_open_memory(p->pid);
    if (p->memory_fd < 0 || nsc_proc_memory(p->memory_fd, &p->memory_bytes) != 0)
        return p->memory_bytes != 0; /* keep the last known value */
    return true;
}

static void set_field(struct nsc_sample *sample, enum nsc_sample_field field, uint64_t value)
{
    sample->values[field] = value;
    sample->known |= 1u << field;
}

/* Read the counts of the whole process, at most once per interval, less often if there are many
 * slots. */
static void read_heap(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    struct nsc_metrics_process *p = t->process;
    struct nsc_metrics *m = t->all;
    uint64_t pause_ns =
        m->sum.interval_ns * (1 + nsc_malloc_samples_in_use(m->heap) / SLOTS_A_LOOK);

    if (p->memory_ns != 0 && now_ns - p->memory_ns < pause_ns)
        return;
    p->memory_ns = now_ns;
    nsc_malloc_samples_process(m->heap, t->heap_slot, &p->heap);
}

/* Memory received from another process's thread may be counted only when it is freed. */
static uint64_t alive(uint64_t allocated, uint64_t freed)
{
    return allocated > freed ? allocated - freed : 0;
}

static void add_heap(struct nsc_metrics_thread *t, uint64_t now_ns, struct nsc_sample *sample)
{
    const struct nsc_malloc_counts *all = &t->process->heap;
    struct nsc_malloc_counts own;

    if (!nsc_malloc_samples_thread(t->all->heap, &t->heap_slot, t->process->pid, t->tid, &own))
        return; /* it has not called malloc, or its program does not count calls */
    set_field(sample, NSC_SAMPLE_ALLOCATED_BYTES, own.allocated_bytes);
    set_field(sample, NSC_SAMPLE_FREED_BYTES, own.freed_bytes);
    read_heap(t, now_ns);
    set_field(sample, NSC_SAMPLE_PROCESS_BYTES, alive(all->allocated_bytes, all->freed_bytes));
    set_field(sample, NSC_SAMPLE_PROCESS_OBJECTS,
              alive(all->allocated_objects, all->freed_objects));
}

/* Store a sample. @counters: without base. */
static void put_sample(struct nsc_metrics_thread *t, uint64_t ns, uint64_t now_ns,
                       const uint64_t counters[NSC_METRICS_COUNTERS])
{
    static const enum nsc_sample_field fields[NSC_METRICS_COUNTERS] = {
        [NSC_METRICS_CPU_NS] = NSC_SAMPLE_CPU_NS,
        [NSC_METRICS_FAULTS_MINOR] = NSC_SAMPLE_MINOR_FAULTS,
        [NSC_METRICS_FAULTS_MAJOR] = NSC_SAMPLE_MAJOR_FAULTS,
        [NSC_METRICS_SWITCHES] = NSC_SAMPLE_SWITCHES,
    };
    struct nsc_note note = {.kind = NSC_NOTE_SAMPLE, .owner = t->id};

    note.ticks = ticks_at(t->all, ns);
    for (unsigned i = 0; i < NSC_METRICS_COUNTERS; i++) {
        set_field(&note.sample, fields[i], t->base[i] + counters[i]);
        t->last[i] = counters[i];
    }
    t->sample_ns = ns;
    if (t->all->sum.by_program)
        return;
    if (t->all->heap != NULL)
        add_heap(t, now_ns, &note.sample);
    else if (read_memory(t, now_ns))
        set_field(&note.sample, NSC_SAMPLE_PROCESS_BYTES, t->process->memory_bytes);
    nsc_writer_note(t->all->writer, &note);
}

/* ---- perf ------------------------------------------------------------------------------------ */

static bool is_user_only(const struct nsc_metrics_thread *t)
{
    return t->all->access == NSC_PERF_USER;
}

/* Read the counters. In user mode only, the kernel counts no switches: use those from the ring. */
static bool read_counters(const struct nsc_metrics_thread *t,
                          uint64_t counters[NSC_METRICS_COUNTERS])
{
    if (nsc_perf_read(&t->perf, counters) != 0)
        return false;
    if (is_user_only(t))
        counters[NSC_METRICS_SWITCHES] = t->switched;
    return true;
}

/* Set base to what was counted before, or is not counted by perf; it never decreases. Returns the
 * current state of the thread. */
static enum nsc_thread_state rebase(struct nsc_metrics_thread *t)
{
    uint64_t counters[NSC_METRICS_COUNTERS];
    struct nsc_proc_look look;

    if (nsc_proc_look_once(t->process->pid, t->tid, &look) != 0 || !read_counters(t, counters))
        return NSC_STATE_UNKNOWN;
    for (unsigned i = 0; i < NSC_METRICS_COUNTERS; i++)
        if (look.counters[i] > counters[i] && look.counters[i] - counters[i] > t->base[i])
            t->base[i] = look.counters[i] - counters[i];
    return look.state;
}

static void take_record(struct nsc_metrics_thread *t, struct nsc_ring_record *record,
                        uint64_t now_ns)
{
    switch (record->kind) {
    case NSC_RING_SAMPLE:
        settle_sleep(t);
        set_state(t, record->ns, NSC_STATE_RUNNING);
        if (is_user_only(t))
            record->counters[NSC_METRICS_SWITCHES] = t->switched;
        put_sample(t, record->ns, now_ns, record->counters);
        t->taken++; /* never if by_program: no samples are requested then */
        break;
    case NSC_RING_IN:
        settle_sleep(t);
        set_state(t, record->ns, NSC_STATE_RUNNING);
        break;
    case NSC_RING_PREEMPTED:
        settle_sleep(t);
        set_state(t, record->ns, NSC_STATE_RUNNABLE);
        t->switched++;
        break;
    case NSC_RING_OUT:
        settle_sleep(t);
        t->asleep_ns = record->ns;
        t->switched++;
        break;
    case NSC_RING_LOST:
        t->all->sum.lost += record->lost;
        t->rebase_ns = 0; /* some of them may have been switches */
        return;
    case NSC_RING_OTHER:
        return;
    }
    t->last_ns = record->ns;
}

static void drain_ring(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    struct nsc_ring ring = nsc_perf_ring(&t->perf);
    struct nsc_ring_record record;
    int more;

    while ((more = nsc_ring_next(&ring, &record)) > 0)
        take_record(t, &record, now_ns);
    t->all->sum.lost += more < 0;
    nsc_perf_done(&t->perf, &ring);
}

/*
 * Read why the thread has been asleep for a while, and its counters at the start of the sleep. Both
 * are valid only if it was not woken in the meantime.
 */
static void look_at_sleep(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    enum nsc_thread_state state = nsc_proc_wait(t->process->pid, t->tid);
    uint64_t counters[NSC_METRICS_COUNTERS], asleep_ns = t->asleep_ns;
    bool known = read_counters(t, counters);
    struct nsc_ring ring = nsc_perf_ring(&t->perf);

    t->all->looks--;
    if (ring.head != ring.tail || state == NSC_STATE_RUNNING || state == NSC_STATE_DEAD)
        return;
    set_state(t, asleep_ns, state == NSC_STATE_UNKNOWN ? NSC_STATE_SLEEPING : state);
    t->asleep_ns = 0;
    if (known && counters[NSC_METRICS_CPU_NS] > t->last[NSC_METRICS_CPU_NS])
        put_sample(t, asleep_ns, now_ns, counters);
}

/* User mode only: a sample is overdue, as the timer expired inside a system call. */
static void read_overdue(struct nsc_metrics_thread *t)
{
    uint64_t counters[NSC_METRICS_COUNTERS], interval_ns = t->all->sum.interval_ns, ns;

    t->all->reads--;
    if (!read_counters(t, counters) ||
        counters[NSC_METRICS_CPU_NS] - t->last[NSC_METRICS_CPU_NS] < interval_ns)
        return;
    ns = nsc_now_ns();
    put_sample(t, ns, ns, counters);
    t->taken += !t->all->sum.by_program;
}

static void poll_perf(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    struct nsc_metrics *m = t->all;

    drain_ring(t, now_ns);
    if (t->asleep_ns != 0) {
        if (m->looks > 0 && now_ns > t->asleep_ns && now_ns - t->asleep_ns >= ASLEEP_NS)
            look_at_sleep(t, now_ns);
        return;
    }
    if (!is_user_only(t) || m->sum.by_program || t->state != NSC_STATE_RUNNING || m->reads == 0)
        return;
    if (now_ns > t->sample_ns && now_ns - t->sample_ns >= m->sum.interval_ns)
        read_overdue(t);
    if (t->last[NSC_METRICS_CPU_NS] >= t->rebase_ns) {
        rebase(t);
        t->rebase_ns = t->last[NSC_METRICS_CPU_NS] + REBASE_CPU_NS;
    }
}

static int open_perf(struct nsc_metrics_thread *t)
{
    struct nsc_metrics *m = t->all;
    unsigned pages = m->open < FEW_THREADS    ? RING_PAGES
                     : m->open < SOME_THREADS ? RING_PAGES_SOME
                                              : RING_PAGES_MANY;
    uint64_t interval_ns = m->sum.by_program ? 0 : m->sum.interval_ns;
    int error = nsc_perf_open(&t->perf, t->tid, interval_ns, m->access, pages);
    uint64_t counters[NSC_METRICS_COUNTERS];
    enum nsc_thread_state state;
    struct nsc_ring ring;

    if (error != 0)
        return error;
    t->way = NSC_METRICS_BY_PERF;
    t->rebase_ns = REBASE_CPU_NS;
    state = rebase(t);
    if (!t->began && read_counters(t, counters))
        put_sample(t, t->last_ns, t->last_ns, counters);
    /* Before its first switch, no record states what it does. */
    ring = nsc_perf_ring(&t->perf);
    if (ring.head != ring.tail)
        return 0;
    if (state == NSC_STATE_RUNNING)
        set_state(t, t->last_ns, state);
    else if (state != NSC_STATE_UNKNOWN)
        t->asleep_ns = t->last_ns;
    return 0;
}

/* ---- /proc ----------------------------------------------------------------------------------- */

static int open_proc(struct nsc_metrics_thread *t)
{
    struct nsc_proc_look look, first;
    int error = nsc_proc_look_once(t->process->pid, t->tid, &first);

    if (error == 0)
        error = nsc_proc_open(&t->proc, t->process->pid, t->tid);
    if (error != 0)
        return error;
    if (nsc_proc_look(&t->proc, &look) != 0) {
        nsc_proc_close(&t->proc);
        return -ESRCH;
    }
    t->way = NSC_METRICS_BY_PROC;
    memcpy(t->last, look.counters, sizeof t->last);
    t->begin_cpu_ns = look.counters[NSC_METRICS_CPU_NS];
    /* The number of time slices: continues the number of context switches. */
    t->base[NSC_METRICS_SWITCHES] =
        first.counters[NSC_METRICS_SWITCHES] - look.counters[NSC_METRICS_SWITCHES];
    t->waited_all_ns = look.waited_ns;
    if (!t->began)
        put_sample(t, t->last_ns, t->last_ns, look.counters);
    set_state(t, t->last_ns, look.state);
    return 0;
}

/* It has not run since the last reading: read the reason of its sleep only once. */
static void explain_sleep(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    enum nsc_thread_state state;

    if (t->explained || t->state != NSC_STATE_SLEEPING || t->all->looks == 0)
        return;
    t->all->looks--;
    t->explained = true;
    state = nsc_proc_wait(t->process->pid, t->tid);
    if (state == NSC_STATE_BLOCKED_IO || state == NSC_STATE_BLOCKED_LOCK)
        set_state(t, now_ns, state);
}

/*
 * /proc reports a thread that waits for a processor as running, and states the time waited only
 * after the wait. That time is subtracted from the preceding running state, as far as it goes. A
 * wait after a sleep whose end was not seen remains part of the sleep.
 */
static void tell_waiting(struct nsc_metrics_thread *t, uint64_t now_ns, uint64_t waited_all_ns)
{
    uint64_t room_ns = now_ns > t->state_ns ? now_ns - t->state_ns : 0, waited_ns;

    if (waited_all_ns > t->waited_all_ns) {
        t->waited_ns += waited_all_ns - t->waited_all_ns;
        t->waited_all_ns = waited_all_ns;
    }
    if (t->state != NSC_STATE_RUNNING)
        t->waited_ns = 0;
    waited_ns = t->waited_ns < room_ns ? t->waited_ns : room_ns;
    if (waited_ns < WAITED_NS)
        return;
    set_state(t, now_ns - waited_ns, NSC_STATE_RUNNABLE);
    set_state(t, now_ns, NSC_STATE_RUNNING);
    t->waited_ns -= waited_ns;
}

static void poll_proc(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    uint64_t cpu_ns, turns, waited_ns;
    struct nsc_proc_look look;

    if (now_ns - t->last_ns < t->all->sum.interval_ns)
        return;
    t->last_ns = now_ns;
    if (t->state != NSC_STATE_RUNNING && nsc_proc_ran(&t->proc, &cpu_ns, &turns, &waited_ns) == 0 &&
        cpu_ns == t->last[NSC_METRICS_CPU_NS] && turns == t->last[NSC_METRICS_SWITCHES]) {
        explain_sleep(t, now_ns);
        return;
    }
    if (nsc_proc_look(&t->proc, &look) != 0)
        return; /* it has ended; the caller will remove it */
    t->explained = false;
    tell_waiting(t, now_ns, look.waited_ns);
    set_state(t, now_ns, look.state);
    if (look.counters[NSC_METRICS_CPU_NS] != t->last[NSC_METRICS_CPU_NS]) {
        put_sample(t, now_ns, now_ns, look.counters);
        t->taken += !t->all->sum.by_program;
    }
}

/* ---- Opening, polling and closing a thread --------------------------------------------------- */

void nsc_metrics_thread_open(struct nsc_metrics_thread *t)
{
    struct nsc_metrics *m = t->all;
    int error = -EMFILE;

    t->way = NSC_METRICS_NOT;
    t->last_ns = t->sample_ns = nsc_now_ns();
    if (m->open < m->open_max && m->access != NSC_PERF_NONE)
        error = open_perf(t);
    /* Perhaps only this thread may not be observed, or too much memory is locked. */
    if (m->open < m->open_max &&
        (m->access == NSC_PERF_NONE || error == -EACCES || error == -EPERM))
        error = open_proc(t);
    if (error == 0) {
        m->open++;
        m->sum.threads++;
    } else if (error == -ESRCH || error == -ENOENT ||
               syscall(SYS_tgkill, t->process->pid, t->tid, 0) != 0) {
        m->sum.missed++; /* has ended or is ending */
    } else {
        m->sum.refused++;
        m->sum.refused_error = error;
    }
}

void nsc_metrics_thread_poll(struct nsc_metrics_thread *t, uint64_t now_ns)
{
    if (t->way == NSC_METRICS_BY_PERF)
        poll_perf(t, now_ns);
    else
        poll_proc(t, now_ns);
}

/* Store the last sample, with counters read after the end. The end time is estimated from the CPU
 * time. */
static void finish_perf(struct nsc_metrics_thread *t, bool ended, uint64_t now_ns)
{
    uint64_t counters[NSC_METRICS_COUNTERS], rest_ns, end_ns = now_ns;

    drain_ring(t, now_ns);
    settle_sleep(t);
    if (!read_counters(t, counters))
        return;
    rest_ns = counters[NSC_METRICS_CPU_NS] - t->last[NSC_METRICS_CPU_NS];
    if (ended && t->state == NSC_STATE_RUNNING && t->sample_ns + rest_ns < now_ns)
        end_ns = t->sample_ns + rest_ns > t->last_ns ? t->sample_ns + rest_ns : t->last_ns;
    if (rest_ns > 0)
        put_sample(t, end_ns, now_ns, counters);
    if (ended)
        set_state(t, end_ns, NSC_STATE_DEAD);
}

void nsc_metrics_thread_close(struct nsc_metrics_thread *t, bool ended, uint64_t now_ns)
{
    struct nsc_metrics *m = t->all;

    switch (t->way) {
    case NSC_METRICS_BY_PERF:
        finish_perf(t, ended, now_ns);
        nsc_perf_close(&t->perf);
        break;
    case NSC_METRICS_BY_PROC:
        if (ended)
            set_state(t, now_ns, NSC_STATE_DEAD);
        nsc_proc_close(&t->proc);
        break;
    case NSC_METRICS_WAITING:
        m->sum.missed++;
        return;
    case NSC_METRICS_NOT:
        return;
    }
    m->open--;
    m->sum.taken += t->taken;
    m->sum.due += (t->last[NSC_METRICS_CPU_NS] - t->begin_cpu_ns) / m->sum.interval_ns;
}
