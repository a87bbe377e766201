/*
 * seccomp_state.h - which system calls a thread may make: where a filter (seccomp) ends the program
 * for one, we must not have it made. Private to reach/.
 */
#ifndef NSC_PROCESS_SECCOMP_STATE_H
#define NSC_PROCESS_SECCOMP_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As /proc tells it; each thread has its own. */
struct nsc_seccomp_state {
    uint64_t mode; /* 0: not at all, 1: to read and write, 2: by filters */
    uint64_t filters;
};

/**
 * nsc_seccomp_state_read - how a thread is confined.
 * @tid: a thread, or a process, whose first thread is meant.
 * Returns false if there is no such thread.
 */
bool nsc_seccomp_state_read(pid_t tid, struct nsc_seccomp_state *to);

/**
 * nsc_seccomp_state_alike - whether the filters of a thread of @pid are the ones we live with
 * ourselves.
 *
 * The kernel tells how many there are, not which. Filters are inherited and never go away: so they
 * are taken for the same if there are as many, and a common ancestor has as many, too, with all
 * processes in between; as a common ancestor counts what is outside of a container that both are
 * in.
 */
bool nsc_seccomp_state_alike(pid_t pid, const struct nsc_seccomp_state *thread);

/* Why no thread of a process may be called, to follow the process's name. Root lifts filters for
 * its own processes only. */
#define NSC_SECCOMP_STATE_REASON                                                                   \
    "restricts its own system calls (seccomp), and might be killed: start it with "                \
    "`nanoscope run`, or try as root if it is a program of your own"

/* What forbids a call in any thread of a process. */
enum nsc_seccomp_state_refusal {
    NSC_SECCOMP_STATE_NOT,      /* some thread may, or nobody can tell before it is tried */
    NSC_SECCOMP_STATE_STRICTLY, /* to read and write: nothing else may be done there */
    NSC_SECCOMP_STATE_BY_FILTERS,
};

/**
 * nsc_seccomp_state_refuses - whether a call in any thread of @pid is out of the question.
 *
 * By filters only where it is certain that we may not suspend them: that takes CAP_SYS_ADMIN
 * outside of any user namespace, and no filter of our own. Of very many threads not all are looked
 * at.
 */
enum nsc_seccomp_state_refusal nsc_seccomp_state_refuses(pid_t pid);

#endif
