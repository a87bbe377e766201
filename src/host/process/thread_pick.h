/*
 * thread_pick.h - which thread of a process to call in: the one that notices least. Private to
 * reach/.
 */
#ifndef NSC_PROCESS_THREAD_PICK_H
#define NSC_PROCESS_THREAD_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "process/regs.h"

enum nsc_pick_rank {
    NSC_PICK_WAITS, /* in a system call that the kernel begins again, with what is left of its time
                     */
    NSC_PICK_RUNS,  /* or is stopped by a job's signal */
    NSC_PICK_REPEATS, /* in one that we have to begin again, its timeout anew */
    NSC_PICK_OTHER,   /* in one that nothing is known of */
    NSC_PICK_PARTIAL, /* in one that gives up half-way, as a write does, which the program sees */
};

struct nsc_pick {
    pid_t tid;
    bool confined; /* not every system call may be made there */
    enum nsc_pick_rank rank;
    struct nsc_regs_waits waits;
};

/* What is known of a system call that a thread waits in. */
enum nsc_pick_rank nsc_pick_rank(const struct nsc_regs_waits *waits);
/* Read a line of /proc/PID/task/TID/syscall; number -1 where it tells of no system call. */
void nsc_pick_parse(const char *text, struct nsc_regs_waits *waits);

/**
 * nsc_pick_threads - threads to call in, best first: those that are not confined.
 * @picks: receives at most @max; of a process with very many threads not all are looked at.
 * Returns how many, perhaps 0 (all wait uninterruptibly just now), or -ESRCH.
 */
int nsc_pick_threads(pid_t pid, struct nsc_pick *picks, size_t max);

#endif
