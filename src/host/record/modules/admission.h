/*
 * admission.h - which processes the recorder may modify or measure.
 *
 * The shared memory identifies processes by number, and every process that maps it can write any
 * number there. A process is admitted if it maps the session's memory and has no privilege that the
 * recorded program lacks. Then the recorded program itself could do to it what the recorder does.
 * Without this check, a privileged recorder would patch any process that a hostile program names.
 *
 * Checked before the recorder opens a process's memory, calls a function in it or measures its
 * threads. Private to record/. Must not change any process.
 */
#ifndef NSC_RECORD_MODULES_ADMISSION_H
#define NSC_RECORD_MODULES_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/session/session.h"
#include "util/diag.h"
#include "util/privileges/credentials.h"

struct nsc_admission {
    const struct nsc_record_session *session;
    struct nsc_credentials target; /* credentials of the program that the user asked to record */
    struct nsc_credentials least;  /* see nsc_admission_least() */
    bool has_less;                 /* `least` are fewer than those of `target`, for good */
    uint64_t least_expires_ns;     /* nsc_now_ns(); 0: not searched yet */
};

/* Initialize for a program with the credentials of this process: one that it starts, or that
 * requested its own recording. For another program, set admission->target afterwards. */
void nsc_admission_init(struct nsc_admission *admission, const struct nsc_record_session *session);

/* True if process @pid is admitted now. The answer may be outdated at once;
 * nsc_admission_open_memory() returns a descriptor that stays with the program. Cost: reads all of
 * the process's maps. */
bool nsc_admission_allows(struct nsc_admission *admission, pid_t pid);

/**
 * nsc_admission_open_memory - open the memory of an admitted process, to read and write.
 * The descriptor stays with the program that the process executes now. After exec or exit, access
 * through it fails.
 * Returns the descriptor, close-on-exec, or -errno with @diag (may be NULL): -ESRCH (no such
 * process, or it does not map the session's memory), -EACCES or -EPERM (the system forbids it),
 * -EXDEV (it has other privileges than the recorded program).
 */
int nsc_admission_open_memory(struct nsc_admission *admission, pid_t pid, struct nsc_diag *diag);

/* A cached admission. It is valid for a second, or for ten times the duration of the check if that
 * is longer: a program can make its maps long. Zero: not checked yet. */
struct nsc_admission_verdict {
    uint64_t expires_ns; /* nsc_now_ns() */
    bool allowed;
};

/* As nsc_admission_allows(), cached in @verdict. */
bool nsc_admission_allows_cached(struct nsc_admission *admission,
                                 struct nsc_admission_verdict *verdict, pid_t pid);

/* True if @tid is a thread of process @pid, which is admitted. @verdict: the cache of the process,
 * so that many threads cause one check of its maps per second. */
bool nsc_admission_allows_thread(struct nsc_admission *admission,
                                 struct nsc_admission_verdict *verdict, pid_t pid, pid_t tid);

/**
 * nsc_admission_least - find the credentials for opening a file that the session names, but that no
 * process has mapped: any process of the session can have named it.
 * Returns the recorded program's credentials. If the recorder is root and a process with fewer
 * privileges maps the session's memory, or was ever admitted, returns those of that process, from
 * then on; if the search is incomplete (a process of another user does not reply, or it takes too
 * long), credentials that can open only what all users may read. Valid until the next call.
 * Cost: reads all maps of other users' processes. The result is valid for as long as that took, so
 * that many calls spend at most half of their time on it.
 */
const struct nsc_credentials *nsc_admission_least(struct nsc_admission *admission);

#endif
