/*
 * admission.h - which processes the recorder may touch.
 *
 * The shared memory names processes by number, and whoever maps it can write any number there. A
 * process is admitted if it maps the session's memory itself and holds nothing that the recorded
 * program does not hold: what the recorder then does to it, the recorded program could do as well.
 * Without this, a recorder with privileges would patch any process that a hostile program names.
 *
 * Asked before a process's memory is opened, a function called in it, or its threads are measured.
 * Private to record/. Must not change any process.
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
    struct nsc_credentials target; /* those of the program that the user asked to record */
};

/* For a program with the credentials of this process: one that it starts itself, or that asked for
 * its recording. Another program's go into admission->target afterwards. */
void nsc_admission_init(struct nsc_admission *admission, const struct nsc_record_session *session);

/* Is process @pid admitted at this moment? It may change in the next; nsc_admission_open_memory()
 * gives a descriptor that stays with the program. Reads all of the process's maps. */
bool nsc_admission_allows(const struct nsc_admission *admission, pid_t pid);

/**
 * nsc_admission_open_memory - open the memory of an admitted process, to read and write.
 * The descriptor stays with the program that the process executes now: after exec or its end it
 * reaches nothing.
 * Returns the descriptor, close-on-exec, or -errno with @diag (may be NULL): -ESRCH (no such
 * process, or one that does not map the session's memory), -EACCES or -EPERM (the system forbids
 * it), -EXDEV (it has other privileges than the recorded program).
 */
int nsc_admission_open_memory(const struct nsc_admission *admission, pid_t pid,
                              struct nsc_diag *diag);

/* Whether a process is admitted, as it was found a second ago at most (or ten times as long as the
 * look at its maps took: a program can make them long). Zero: not asked yet. */
struct nsc_admission_verdict {
    uint64_t expires_ns; /* nsc_now_ns() */
    bool allowed;
};

/* The same as nsc_admission_allows(), as of @verdict's time. */
bool nsc_admission_allows_cached(const struct nsc_admission *admission,
                                 struct nsc_admission_verdict *verdict, pid_t pid);

/* Is @tid a thread of process @pid, which is admitted? @verdict: that of the process, so that many
 * threads cost one look at its maps a second. */
bool nsc_admission_allows_thread(const struct nsc_admission *admission,
                                 struct nsc_admission_verdict *verdict, pid_t pid, pid_t tid);

#endif
