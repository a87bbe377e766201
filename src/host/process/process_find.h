/*
 * process_find.h - which processes can be traced, and how: looks at /proc and touches no process.
 *
 * Called by control_call.c and by cli/. What processes map and write is hostile input. Must not
 * print.
 */
#ifndef NSC_PROCESS_PROCESS_FIND_H
#define NSC_PROCESS_PROCESS_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/diag.h"

#define NSC_PROCESS_NAME_MAX 256

struct nsc_process_target {
    pid_t pid;
    uid_t uid;
    uint32_t threads;
    char name[NSC_PROCESS_NAME_MAX]; /* file name of its program */
    bool built;                      /* holds the runtime */
    bool endpoint;                   /* its endpoint takes connections */
    bool ptrace;                     /* the system lets us call in it */
    bool refuses;                    /* but we would do it harm: reason says how */
    /* Run-time addresses of the control function and of the note's field that leads to it; 0 when
     * not built. */
    uint64_t control, note;
    pid_t recorder; /* who records it now; 0: nobody, or nobody that we may see */
    char *output;   /* the trace that the recorder writes; NULL if not known */
    /* It is called only as long as these hold all that it holds; NULL: whatever it holds. Set by
     * callers who know the process by its number alone. */
    const struct nsc_credentials *within;
    /* Why it cannot be reached and what to do, one line; empty if it can. */
    char reason[320];
};

/**
 * nsc_process_find - look at one process.
 * @target: filled on success, also when the process cannot be traced (then @target->reason says
 * why); release with nsc_process_target_free().
 * Returns 0 or -errno with @diag: -ESRCH (no such process), -ENOMEM, -EIO (no /proc).
 */
int nsc_process_find(pid_t pid, struct nsc_process_target *target, struct nsc_diag *diag);
void nsc_process_target_free(struct nsc_process_target *target);

/**
 * nsc_process_list - all processes that hold the runtime or listen: of this user, or, for root, of
 * everybody.
 * @list: receives a malloc'ed array of @count, by pid; release with nsc_process_list_free().
 * Returns 0 or -errno with @diag (-ENOMEM, -EIO).
 */
int nsc_process_list(struct nsc_process_target **list, size_t *count, struct nsc_diag *diag);
void nsc_process_list_free(struct nsc_process_target *list, size_t count);

/**
 * nsc_process_resolve - the process that a user means.
 * @text: a process id, or the name of a program's file (or of its main thread). A process that has
 * begun less than a second ago, and cannot be traced yet, is waited for that long.
 * Returns 0, or -errno with @diag: -ESRCH (nobody), -ENOTUNIQ (several; the message lists them),
 * and as nsc_process_find().
 */
int nsc_process_resolve(const char *text, struct nsc_process_target *target, struct nsc_diag *diag);

/* What kernel.yama.ptrace_scope is: 0 (no restriction, or no such thing) to 3 (nobody). */
int nsc_process_yama_scope(void);

#endif
