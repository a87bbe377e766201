/* cpu_time.c - see cpu_time.h. */
#include "record/budget/cpu_time.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Each clock is read at each step: further threads are covered by their process's clock only. */
#define OPEN_MAX 32

struct nsc_cpu_time_process {
    const struct nsc_tracee_process *process;
    uint64_t threads_ns; /* by the clocks of its threads, each since it was opened */
    uint64_t rest_ns;    /* maximum of the process's clock beyond threads_ns */
    uint64_t last_ns;
};

struct nsc_cpu_time_thread {
    const struct nsc_tracee_thread *thread; /* NULL: none; only for comparison */
    pid_t tid;
    int fd; /* -1: it has no clock */
    uint64_t last_ns;
};

int nsc_cpu_time_init(struct nsc_cpu_time *c, const struct nsc_tracees *tracees)
{
    const struct nsc_record_session *s = tracees->session;

    *c = (struct nsc_cpu_time){.tracees = tracees};
    c->processes = calloc(s->processes_max, sizeof *c->processes);
    c->threads = calloc(s->threads_max, sizeof *c->threads);
    if (c->processes != NULL && c->threads != NULL)
        return 0;
    nsc_cpu_time_free(c);
    return -ENOMEM;
}

static void forget(struct nsc_cpu_time *c, struct nsc_cpu_time_thread *t)
{
    if (t->thread != NULL && t->fd >= 0) {
        close(t->fd);
        c->open--;
    }
    *t = (struct nsc_cpu_time_thread){.fd = -1};
}

void nsc_cpu_time_free(struct nsc_cpu_time *c)
{
    uint32_t i;

    for (i = 0; c->threads != NULL && i < c->tracees->session->threads_max; i++)
        forget(c, &c->threads[i]);
    free(c->threads);
    free(c->processes);
    *c = (struct nsc_cpu_time){0};
}

/* Opens the clock of a thread; returns a descriptor, or -1. The clock counts user and kernel mode
 * whatever is requested, but unprivileged callers may request only user mode. */
static int open_clock(pid_t tid)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};

    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void meet(struct nsc_cpu_time *c, struct nsc_cpu_time_thread *t,
                 const struct nsc_tracee_thread *thread)
{
    forget(c, t);
    t->thread = thread;
    t->tid = thread->tid;
    if (c->open < OPEN_MAX && nsc_tracee_is_measurable(thread))
        t->fd = open_clock(thread->tid);
    c->open += t->fd >= 0;
}

/* Adds the time that a thread has used since the last reading. */
static void ask_thread(struct nsc_cpu_time *c, uint32_t slot)
{
    const struct nsc_tracee_thread *thread = c->tracees->threads[slot];
    struct nsc_cpu_time_thread *t = &c->threads[slot];
    uint64_t ns;

    if (thread == NULL || thread->process->left_out) {
        forget(c, t);
        return;
    }
    if (t->thread != thread || t->tid != thread->tid)
        meet(c, t, thread);
    if (t->fd < 0 || read(t->fd, &ns, sizeof ns) != (ssize_t)sizeof ns || ns < t->last_ns)
        return;
    c->processes[thread->process->slot].threads_ns += ns - t->last_ns;
    t->last_ns = ns;
}

/* Returns the time that a process has used since the last reading. */
static uint64_t ask_process(struct nsc_cpu_time_process *p,
                            const struct nsc_tracee_process *process)
{
    uint64_t ns, taken, before = p->last_ns;
    struct timespec t;
    clockid_t id;

    if (clock_getcpuclockid(process->pid, &id) != 0 || clock_gettime(id, &t) != 0)
        return 0;
    ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (p->process != process)
        *p = (struct nsc_cpu_time_process){
            .process = process, .rest_ns = ns, .last_ns = before = ns};
    /* The process's clock may lag, but never shows too much: its maximum excess is time of other
     * threads. */
    else if (ns > p->threads_ns + p->rest_ns)
        p->rest_ns = ns - p->threads_ns;
    taken = p->threads_ns + p->rest_ns;
    p->last_ns = taken;
    return taken - before;
}

uint64_t nsc_cpu_time_since(struct nsc_cpu_time *c)
{
    const struct nsc_tracees *all = c->tracees;
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < all->thread_high; i++)
        ask_thread(c, i);
    for (i = 0; i < all->process_high; i++)
        if (all->processes[i] != NULL && !all->processes[i]->dead && !all->processes[i]->left_out)
            sum += ask_process(&c->processes[i], all->processes[i]);
    return sum;
}
