/*
 * proc_thread.h - a thread's state and counters, and a process's memory, read from /proc.
 *
 * Called by thread_sampler.c. Files that are read repeatedly stay open. The parsers accept any
 * text: a program chooses its threads' names, which are in the middle of `stat`.
 */
#ifndef NSC_METRICS_PROC_THREAD_H
#define NSC_METRICS_PROC_THREAD_H

#include <stdint.h>
#include <sys/types.h>

#include "metrics/perf_ring.h"
#include "trace/format/model.h"

struct nsc_proc {
    int stat_fd, schedstat_fd; /* schedstat: -1 if the kernel has none */
};

/* One reading of a thread. */
struct nsc_proc_look {
    uint64_t counters[NSC_METRICS_COUNTERS]; /* SWITCHES: how often it was given a processor */
    enum nsc_thread_state state;             /* running includes runnable */
    uint64_t waited_ns; /* total time runnable without a processor; 0: unknown */
};

/* Open the files of a thread. Returns 0 or -errno (-ENOENT, -ESRCH: no such thread; -EMFILE). */
int nsc_proc_open(struct nsc_proc *proc, pid_t pid, pid_t tid);
void nsc_proc_close(struct nsc_proc *proc);

/* Read CPU time, number of time slices (@turns) and time waited for a processor: enough to see
 * whether the thread has run. Returns 0, or -errno (-ENOENT: the kernel has no schedstat). */
int nsc_proc_ran(const struct nsc_proc *proc, uint64_t *cpu_ns, uint64_t *turns,
                 uint64_t *waited_ns);
/* Read everything. Returns 0 or -errno (-ESRCH: the thread has ended). */
int nsc_proc_look(const struct nsc_proc *proc, struct nsc_proc_look *look);

/* Read a thread whose files are not open; SWITCHES is the sum of voluntary and involuntary context
 * switches. Returns 0 or -errno. */
int nsc_proc_look_once(pid_t pid, pid_t tid, struct nsc_proc_look *look);

/* What a thread that has been asleep for a while waits for: NSC_STATE_BLOCKED_*, STOPPED or
 * SLEEPING. RUNNING if it no longer sleeps, UNKNOWN if that cannot be read. */
enum nsc_thread_state nsc_proc_wait(pid_t pid, pid_t tid);

/* Resident memory of a process. */
int nsc_proc_open_memory(pid_t pid);          /* returns a descriptor or -errno */
int nsc_proc_memory(int fd, uint64_t *bytes); /* returns 0 or -errno (-ESRCH: it is exiting) */

/* ---- The parsers; @text ends with NUL. They return 0 or -EBADMSG. ---------------------------- */

/* `stat`: state, faults, and CPU time in whole clock ticks of @tick_ns. */
int nsc_proc_parse_stat(const char *text, uint64_t tick_ns, struct nsc_proc_look *look);
int nsc_proc_parse_schedstat(const char *text, uint64_t *cpu_ns, uint64_t *turns,
                             uint64_t *waited_ns);
int nsc_proc_parse_switches(const char *text, uint64_t *switches);
/* `syscall`: what a thread inside this system call waits for; SLEEPING if that is unknown. */
enum nsc_thread_state nsc_proc_parse_syscall(const char *text);

#endif
