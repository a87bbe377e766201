/*
 * thread_pick.h - choose the thread of a process to call in, so that the program is disturbed
 * least. Private to process/.
 */
#ifndef NSC_PROCESS_CALL_THREAD_PICK_H
#define NSC_PROCESS_CALL_THREAD_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "process/call/regs.h"

/* State of a thread; the first is the best. */
enum nsc_pick_rank {
    NSC_PICK_WAITS,   /* in a system call that restarts with its remaining timeout, or has none */
    NSC_PICK_RUNS,    /* running, or stopped by job control */
    NSC_PICK_REPEATS, /* in a call that nsc_regs_again() restarts, with its full timeout */
    NSC_PICK_OTHER,   /* in an unknown system call */
    NSC_PICK_PARTIAL, /* in a call such as write(2), which the stop cuts short; visible to it */
};

struct nsc_pick {
    pid_t tid;
    bool confined; /* restricted by seccomp */
    enum nsc_pick_rank rank;
    struct nsc_regs_waits waits;
};

/* Return the rank of a thread that waits in this system call. */
enum nsc_pick_rank nsc_pick_rank(const struct nsc_regs_waits *waits);
/* Parse a line of /proc/PID/task/TID/syscall; number -1 if the thread is in no system call. */
void nsc_pick_parse(const char *text, struct nsc_regs_waits *waits);

/**
 * nsc_pick_threads - list candidate threads, best first: unconfined ones, then by rank.
 * @picks: receives at most @max. In a process with more threads, not all are examined; the search
 *         ends at the first unconfined thread of the best rank.
 * Returns their number, or -ESRCH. 0: all threads are in uninterruptible waits now.
 */
int nsc_pick_threads(pid_t pid, struct nsc_pick *picks, size_t max);

#endif
