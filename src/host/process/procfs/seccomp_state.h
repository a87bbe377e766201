/*
 * seccomp_state.h - seccomp restrictions of a thread. A filter may kill the program for a system
 * call of the control function. So threads whose filters are neither known nor suspended must not
 * be called. Private to process/.
 */
#ifndef NSC_PROCESS_PROCFS_SECCOMP_STATE_H
#define NSC_PROCESS_PROCFS_SECCOMP_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From /proc/PID/status; each thread has its own. */
struct nsc_seccomp_state {
    uint64_t mode;    /* 0: none, 1: strict (read and write only), 2: filters */
    uint64_t filters; /* number of filters; 0 on kernels that do not report it */
};

/**
 * nsc_seccomp_state_read - read the seccomp state of a thread.
 * @tid: a thread id, or a process id for its main thread.
 * Returns false if there is no such thread.
 */
bool nsc_seccomp_state_read(pid_t tid, struct nsc_seccomp_state *to);

/**
 * nsc_seccomp_state_alike - check that a thread of @pid has the same filters as this process.
 *
 * The kernel reports the number of filters, not their content. Filters are inherited and cannot be
 * removed. So they count as the same if both processes have a common ancestor, and it and all
 * processes in between have the same number of filters. The parent outside the pid namespace of a
 * container counts as a common ancestor of the processes inside.
 */
bool nsc_seccomp_state_alike(pid_t pid, const struct nsc_seccomp_state *thread);

/* Message, after the process's name, if no thread of it may be called. Root suspends filters only
 * for processes of root. */
#define NSC_SECCOMP_STATE_REASON                                                                   \
    "restricts its own system calls (seccomp), and might be killed: start it with "                \
    "`nanoscope run`, or try as root if it is a program of your own"

/* Reason why no thread of a process may be called. */
enum nsc_seccomp_state_refusal {
    NSC_SECCOMP_STATE_NOT,      /* none: a thread may be called, or it must be tried */
    NSC_SECCOMP_STATE_STRICTLY, /* strict mode: read and write only */
    NSC_SECCOMP_STATE_BY_FILTERS,
};

/**
 * nsc_seccomp_state_refuses - check whether seccomp rules out a call in every thread of @pid.
 *
 * Returns NSC_SECCOMP_STATE_BY_FILTERS only if this process certainly cannot suspend the filters.
 * Suspending them needs CAP_SYS_ADMIN in the initial user namespace, and no filter on this process.
 * Filters of other users' processes are not suspended. Checks at most 256 threads.
 */
enum nsc_seccomp_state_refusal nsc_seccomp_state_refuses(pid_t pid);

#endif
