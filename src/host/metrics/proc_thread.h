/*
 * proc_thread.h - what /proc says about a thread and about a process's memory.
 *
 * Called by thread_sampler.c. Files that are read again and again stay open. The parsers take any
 * text: a program chooses its threads' names, which stand in the middle of `stat`.
 */
#ifndef NSC_METRICS_PROC_THREAD_H
#define NSC_METRICS_PROC_THREAD_H

#include <stdint.h>
#include <sys/types.h>

#include "metrics/perf_ring.h"
#include "trace/format/model.h"

struct nsc_proc {
    int stat_fd, schedstat_fd; /* schedstat: -1 where the kernel has none */
};

/* One look at a thread. */
struct nsc_proc_look {
    uint64_t counters[NSC_METRICS_COUNTERS]; /* SWITCHES: how often it got a processor */
    enum nsc_thread_state state;             /* running stands for runnable, too */
    uint64_t waited_ns; /* runnable, without a processor, since its start; 0: not told */
};

/* Returns 0 or -errno (-ENOENT, -ESRCH: there is no such thread; -EMFILE). */
int nsc_proc_open(struct nsc_proc *proc, pid_t pid, pid_t tid);
void nsc_proc_close(struct nsc_proc *proc);

/* CPU time, processors given and the waiting for them: enough to see whether the thread has run.
 * Returns 0, or -errno
 * (-ENOENT: the kernel does not tell). */
int nsc_proc_ran(const struct nsc_proc *proc, uint64_t *cpu_ns, uint64_t *turns,
                 uint64_t *waited_ns);
/* Everything. Returns 0 or -errno (-ESRCH: the thread has ended). */
int nsc_proc_look(const struct nsc_proc *proc, struct nsc_proc_look *look);

/* A look at a thread whose files are not open; SWITCHES are context switches of both sorts. Returns
 * 0 or -errno. */
int nsc_proc_look_once(pid_t pid, pid_t tid, struct nsc_proc_look *look);

/* What a thread that has been asleep for a while waits for: NSC_STATE_BLOCKED_*, STOPPED or
 * SLEEPING; RUNNING if it does not sleep any more, UNKNOWN if that cannot be said. */
enum nsc_thread_state nsc_proc_wait(pid_t pid, pid_t tid);

/* A process's memory that is resident. */
int nsc_proc_open_memory(pid_t pid);          /* a descriptor or -errno */
int nsc_proc_memory(int fd, uint64_t *bytes); /* 0 or -errno (-ESRCH: it is at its end) */

/* ---- The parsers; @text ends with NUL. Return 0 or -EBADMSG. ---- */

/* `stat`: state, faults, and CPU time in whole clock ticks of @tick_ns. */
int nsc_proc_parse_stat(const char *text, uint64_t tick_ns, struct nsc_proc_look *look);
int nsc_proc_parse_schedstat(const char *text, uint64_t *cpu_ns, uint64_t *turns,
                             uint64_t *waited_ns);
int nsc_proc_parse_switches(const char *text, uint64_t *switches);
/* `syscall`: what a thread within this system call waits for; SLEEPING if nothing known. */
enum nsc_thread_state nsc_proc_parse_syscall(const char *text);

#endif
