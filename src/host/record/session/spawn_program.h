/*
 * spawn_program.h - start the program to record, and stand between it and the signals of the
 * terminal.
 *
 * The program sees what it would see without us: same terminal, process group, signal mask and
 * dispositions, limits and descriptors; one more environment variable.
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

/* What a program needs that counts its calls of malloc (src/shared/abi/malloc_counts.h). */
struct nsc_spawn_heap {
    const char *library; /* to be loaded first; no space nor colon in its path */
    const char *memory;  /* path that opens the memory for the counts */
};

/**
 * nsc_spawn_find - the file that a program name stands for, searched as execvp() does.
 * @path: receives a malloc'ed path.
 * Returns 0 or -errno with @diag: -ENOENT, -EACCES, -EPERM (set-user-ID, set-group-ID or file
 * capabilities: the kernel starts these in secure mode, where tracing would be a hole), -ENOMEM.
 */
int nsc_spawn_find(const char *program, char **path, struct nsc_diag *diag);

/**
 * nsc_spawn - start it.
 * @path: the file; @argv: as for execv().
 * @live_path: value for NSC_LIVE_ENV.
 * @heap: to count calls of malloc; NULL: they are not counted.
 *
 * On return this process ignores SIGINT, SIGQUIT and the terminal's stop signals, and passes
 * SIGTERM and SIGHUP on, until nsc_spawn_restore().
 * Returns 0 or -errno with @diag (what fork or exec said).
 */
int nsc_spawn(const char *path, char *const *argv, const char *live_path,
              const struct nsc_spawn_heap *heap, struct nsc_child *child, struct nsc_diag *diag);

/**
 * nsc_spawn_look - has the child ended? Never blocks.
 * When the terminal has stopped the child, stops this process too, as a shell expects of a job.
 * Returns true when the child has ended (now or before).
 */
bool nsc_spawn_look(struct nsc_child *child);

/* Children of this process are to be waited for, even if whoever started it ignored SIGCHLD; the
 * program gets that back as it was. */
void nsc_spawn_own_children(void);
/* How often SIGINT (or SIGTERM, SIGHUP) came since the child ended. */
unsigned nsc_spawn_interrupts(void);
void nsc_spawn_restore(void);

/* The status that a shell gives for a wait(2) status: the code, or 128 + signal. */
int nsc_spawn_exit_code(int status);

#endif
