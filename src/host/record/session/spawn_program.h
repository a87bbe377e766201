/*
 * spawn_program.h - start the program to record, and handle the terminal's signals for it.
 *
 * The program runs in the same environment as without nanoscope: terminal, process group, signal
 * mask and dispositions, limits and descriptors. Only one environment variable is added, with @heap
 * three (NSC_LIVE_ENV; NSC_MALLOC_ENV and LD_PRELOAD).
 */
#ifndef NSC_RECORD_SESSION_SPAWN_PROGRAM_H
#define NSC_RECORD_SESSION_SPAWN_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/diag.h"

struct nsc_child {
    pid_t pid;
    bool ended;
    int status; /* wait(2) status once ended */
};

/* What a program needs for counting its malloc calls (src/shared/abi/malloc_counts.h). */
struct nsc_spawn_heap {
    const char *library; /* library to preload; no space nor colon in its path */
    const char *memory;  /* path that opens the memory for the counts */
};

/**
 * nsc_spawn_find - find a program's file, searching as execvp() does.
 * @path: receives a malloc'ed path.
 * Returns 0 or -errno with @diag: -ENOENT, -EACCES, -EPERM (set-user-ID, set-group-ID or file
 * capabilities: the kernel starts these in secure mode, where tracing would be a security hole),
 * -ENOMEM.
 */
int nsc_spawn_find(const char *program, char **path, struct nsc_diag *diag);

/**
 * nsc_spawn - start the program.
 * @path: the file; @argv: as for execv().
 * @live_path: value for NSC_LIVE_ENV.
 * @heap: to count malloc calls; NULL: they are not counted.
 *
 * Until nsc_spawn_restore(), SIGINT, SIGQUIT and the terminal's stop signals neither end nor stop
 * this process, and SIGTERM and SIGHUP are forwarded to the program.
 * Returns 0 or -errno with @diag (the error of fork or exec).
 */
int nsc_spawn(const char *path, char *const *argv, const char *live_path,
              const struct nsc_spawn_heap *heap, struct nsc_child *child, struct nsc_diag *diag);

/**
 * nsc_spawn_look - check whether the child has ended. Never blocks.
 * If the terminal has stopped the child, stops this process too, as a shell expects of a job.
 * Returns true if the child has ended (now or before).
 */
bool nsc_spawn_look(struct nsc_child *child);

/* Restore the default action of SIGCHLD, so that this process can wait for its children even if its
 * parent ignored the signal. The program gets the original action. */
void nsc_spawn_own_children(void);
/* Number of SIGINT, SIGTERM and SIGHUP received since the child ended. */
unsigned nsc_spawn_interrupts(void);
void nsc_spawn_restore(void);

/* The exit status that a shell reports for a wait(2) status: the code, or 128 + signal. */
int nsc_spawn_exit_code(int status);

#endif
