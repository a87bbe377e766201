/*
 * process_walk.h - examine all processes without waiting for one that blocks.
 *
 * Any user can make the kernel wait for ever when it is asked about the memory of a process of
 * theirs: the process holds the lock of its memory map while a file system of that user does not
 * reply. So a child process asks. If it waits for too long, it is killed, and another goes on with
 * the next process. Called by process_list.c and by record/.
 */
#ifndef NSC_PROCESS_PROCFS_PROCESS_WALK_H
#define NSC_PROCESS_PROCFS_PROCESS_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct nsc_process_walk {
    /* Runs in the child, which has no descriptors and no shared memory of this process. */
    bool (*examine)(const void *context, pid_t pid);
    /* Runs here for each process for which examine() returned true. Returns 0 to continue, or
     * -errno. */
    int (*take)(void *context, pid_t pid);
    void *context;
    uint64_t deadline_ns; /* nsc_now_ns(); UINT64_MAX: none */
};

/**
 * nsc_process_walk - examine every process except this one, in ascending order.
 *
 * A process that does not reply within one second is skipped; for ten seconds then, without asking.
 * After two such processes of a user other than root and this one, so are all of that user's.
 * Returns 0; 1 if processes were skipped, or not reached before the deadline or within ten seconds
 * of silence; what take() returned; or -errno of /proc, pipe2() or fork(). Context: forks; does not
 * affect other children.
 */
int nsc_process_walk(const struct nsc_process_walk *walk);

#endif
