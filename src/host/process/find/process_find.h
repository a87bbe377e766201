/*
 * process_find.h - find processes that can be traced, and how they can be reached.
 *
 * Reads /proc and does not change any process. Called by control_call.c and by cli/. Names, maps
 * and memory of processes are untrusted input. Must not print.
 */
#ifndef NSC_PROCESS_FIND_PROCESS_FIND_H
#define NSC_PROCESS_FIND_PROCESS_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/call_limit.h"
#include "process/procfs/process_recorder.h"
#include "util/diag.h"

#define NSC_PROCESS_NAME_MAX 256

struct nsc_process_target {
    pid_t pid;
    uid_t uid;
    uint32_t threads;
    char name[NSC_PROCESS_NAME_MAX]; /* file name of its program */
    bool built;                      /* contains the runtime */
    bool endpoint;                   /* its endpoint accepts connections */
    bool ptrace;                     /* ptrace is permitted and no other tracer is attached */
    bool refuses;                    /* but a call by ptrace would harm it: see reason */
    /* Run-time addresses of the control function and of the data of its ELF note; 0 when not
     * built. */
    uint64_t control, note;
    pid_t recorder; /* process that records it now; 0: none, or not visible to this user */
    char *output;   /* the trace that the recorder writes; NULL if not known */
    /* The process is called only if these credentials cover its own (nsc_credentials_cover());
     * NULL: no check. Set by callers that know the process only by its pid. */
    const struct nsc_credentials *within;
    /* Of the calls, begun by the caller; NULL: each call has a limit of its own. Kept. */
    struct nsc_call_limit *limit;
    /* Why it cannot be reached and what to do, one line; empty if it can be reached. */
    char reason[320];
};

/**
 * nsc_process_find - examine one process.
 * @target: filled on success, even if the process cannot be traced (then @target->reason says
 *          why); release with nsc_process_target_free().
 * Returns 0 or -errno with @diag: -ESRCH (no such process), -ENOMEM, -EIO (no /proc).
 */
int nsc_process_find(pid_t pid, struct nsc_process_target *target, struct nsc_diag *diag);
void nsc_process_target_free(struct nsc_process_target *target);

/* What the examination of many processes shares: see nsc_process_find_next(). */
struct nsc_process_search {
    struct nsc_recorder_list recorders;
    uint64_t deadline_ns; /* for endpoints that do not accept connections at once */
};

/* Begin and end a search. Private to process/. */
void nsc_process_search_begin(struct nsc_process_search *search);
void nsc_process_search_end(struct nsc_process_search *search);
/* As nsc_process_find(), for one of many processes. Private to process/. */
int nsc_process_find_next(struct nsc_process_search *search, pid_t pid,
                          struct nsc_process_target *target, struct nsc_diag *diag);

/**
 * nsc_process_list - list the processes that contain the runtime or have an endpoint: those of this
 * user, or, for root, of all users.
 * @list: receives a malloc'ed array of @count, sorted by pid; release with nsc_process_list_free().
 * Returns 0, 1 if processes that do not reply may be missing, or -errno with @diag (-ENOMEM, -EIO).
 */
int nsc_process_list(struct nsc_process_target **list, size_t *count, struct nsc_diag *diag);
void nsc_process_list_free(struct nsc_process_target *list, size_t count);

/**
 * nsc_process_resolve - find the process that the user named.
 * @text: a process id, or the file name of a program (or the name of its main thread). Root's own
 * processes come before those of other users, which may have any name.
 *
 * If the process is not built for tracing but younger than one second, waits until it is, or until
 * that age: it may not have executed its program yet.
 * Returns 0, or -errno with @diag: -ESRCH (no such process), -ENOTUNIQ (several; the message lists
 * them), and as nsc_process_find().
 */
int nsc_process_resolve(const char *text, struct nsc_process_target *target, struct nsc_diag *diag);

/* Return kernel.yama.ptrace_scope: 0 (no restriction, or no Yama) to 3 (no ptrace at all). */
int nsc_process_yama_scope(void);

#endif
