/* admission.c - see admission.h. */
#include "record/modules/admission.h"

#include <errno.h>
#include <unistd.h>

#include "process/procfs/procfs.h"
#include "record/modules/sled_switch.h"
#include "record/session/session_processes.h"
#include "util/now.h"

#define VERDICT_NS   1000000000ull
/* A user and group that may read only what all may. */
#define OWNS_NOTHING ((uid_t)-2)

void nsc_admission_init(struct nsc_admission *admission, const struct nsc_record_session *session)
{
    *admission = (struct nsc_admission){.session = session};
    (void)nsc_credentials_read(0, &admission->target); /* on failure it covers no process */
}

/* Remembers the credentials of a process of the session, if they are fewer than root's target has.
 */
static void note_less(struct nsc_admission *admission, const struct nsc_credentials *theirs)
{
    if (admission->has_less || !nsc_credentials_are_foreign(theirs) ||
        nsc_credentials_are_foreign(&admission->target))
        return;
    admission->least = *theirs;
    admission->has_less = true;
}

static int check(struct nsc_admission *admission, pid_t pid)
{
    struct nsc_credentials theirs;

    if (pid <= 0 || pid == getpid() || !nsc_session_is_mapped(admission->session, pid) ||
        nsc_credentials_read(pid, &theirs) != 0)
        return -ESRCH;
    if (!nsc_credentials_cover(&admission->target, &theirs))
        return -EXDEV;
    note_less(admission, &theirs);
    return 0;
}

bool nsc_admission_allows(struct nsc_admission *admission, pid_t pid)
{
    return check(admission, pid) == 0;
}

int nsc_admission_open_memory(struct nsc_admission *admission, pid_t pid, struct nsc_diag *diag)
{
    int fd = -1, error = check(admission, pid);

    if (error == 0) {
        fd = nsc_sled_switch_open(pid, diag);
        if (fd < 0)
            return fd;
        /* Check again: after an exec in between, the descriptor refers to the memory of a program
         * that has ended. */
        error = check(admission, pid);
    }
    if (error == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    if (error == -ESRCH)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ESRCH,
                            "process %ld takes no part in this recording", (long)pid);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EXDEV,
                        "process %ld has other privileges than the recorded program: it is left "
                        "alone",
                        (long)pid);
}

bool nsc_admission_allows_cached(struct nsc_admission *admission,
                                 struct nsc_admission_verdict *verdict, pid_t pid)
{
    uint64_t begun_ns = nsc_now_ns(), ended_ns, took_ns;

    if (begun_ns < verdict->expires_ns)
        return verdict->allowed;
    verdict->allowed = nsc_admission_allows(admission, pid);
    ended_ns = nsc_now_ns();
    took_ns = ended_ns - begun_ns;
    verdict->expires_ns = ended_ns + (10 * took_ns > VERDICT_NS ? 10 * took_ns : VERDICT_NS);
    return verdict->allowed;
}

bool nsc_admission_allows_thread(struct nsc_admission *admission,
                                 struct nsc_admission_verdict *verdict, pid_t pid, pid_t tid)
{
    return nsc_admission_allows_cached(admission, verdict, pid) && nsc_procfs_has_thread(pid, tid);
}

static bool is_foreign(pid_t pid)
{
    struct nsc_credentials theirs;

    return nsc_credentials_read(pid, &theirs) != 0 || nsc_credentials_are_foreign(&theirs);
}

/* Notes the first process of the session that has fewer privileges. Returns false if one with
 * unknown privileges may take part. */
static bool search_less(struct nsc_admission *admission)
{
    struct nsc_session_processes members = {0};
    bool complete = nsc_session_processes_find(admission->session, is_foreign, &members);
    struct nsc_credentials theirs;
    uint32_t i;

    for (i = 0; i < members.count; i++)
        if (nsc_credentials_read(members.pids[i], &theirs) != 0)
            complete &= !nsc_session_is_mapped(admission->session, members.pids[i]); /* has ended */
        else if (nsc_credentials_cover(&admission->target, &theirs))
            note_less(admission, &theirs);
    nsc_session_processes_free(&members);
    return complete;
}

const struct nsc_credentials *nsc_admission_least(struct nsc_admission *admission)
{
    uint64_t begun_ns = nsc_now_ns();

    if (admission->has_less)
        return &admission->least;
    /* If no process has the memory, as when a program has ended, neighbours take part in nothing.
     */
    if (geteuid() != 0 || nsc_credentials_are_foreign(&admission->target) ||
        nsc_session_surely_alone(admission->session))
        return &admission->target;
    if (begun_ns < admission->least_expires_ns)
        return &admission->least;
    admission->least = admission->target;
    if (!search_less(admission) && !admission->has_less &&
        !nsc_session_surely_alone(admission->session)) /* meanwhile */
        admission->least = nsc_credentials_of_user(OWNS_NOTHING, OWNS_NOTHING);
    admission->least_expires_ns = nsc_now_ns() + (nsc_now_ns() - begun_ns);
    return &admission->least;
}
