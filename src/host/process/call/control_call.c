/* control_call.c - see control_call.h. */
#include "process/call/control_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/call/ptrace_call.h"
#include "process/find/endpoint_client.h"
#include "process/procfs/maps.h"
#include "util/now.h"
#include "util/privileges/child_open.h"

/* Wait for another recorder's call in the same process to end. */
#define BUSY_NS       2000000000
#define BUSY_PAUSE_NS 5000000

struct nsc_process_access {
    enum nsc_process_how how;
    struct nsc_process_target target; /* without the members that are freed */
    struct nsc_credentials credentials;
    struct nsc_call_limit own_limit; /* of a target without one: of each call */
    int pidfd;
    int memory;         /* endpoint: descriptor, here, of the memory file until JOIN; or -1 */
    int64_t descriptor; /* ptrace: descriptor, in the process, of that file; or -1 */
};

static int fail(const struct nsc_process_access *r, struct nsc_diag *diag, int error,
                const char *what)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "process %ld (%s) %s", (long)r->target.pid,
                        r->target.name, what);
}

static int call_once(struct nsc_process_access *r, uint64_t verb, uint64_t argument, int fd,
                     int64_t *result, struct nsc_diag *diag)
{
    const struct nsc_process_target *t = &r->target;

    if (r->how == NSC_PROCESS_ENDPOINT)
        return nsc_endpoint_call(
            &(struct nsc_endpoint_target){t->pid, t->uid, r->credentials.user.effective, t->limit},
            verb, argument, fd, result, diag);
    return nsc_ptrace_call(&(struct nsc_ptrace_target){.pid = t->pid,
                                                       .pidfd = r->pidfd,
                                                       .control = t->control,
                                                       .note = t->note,
                                                       .credentials = &r->credentials,
                                                       .limit = t->limit},
                           verb, argument, result, diag);
}

static int call(struct nsc_process_access *r, uint64_t verb, uint64_t argument, int fd,
                int64_t *result, struct nsc_diag *diag)
{
    const struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
    uint64_t begun_ns = nsc_now_ns();
    struct pollfd ended = {.fd = r->pidfd, .events = POLLIN};
    int64_t got = 0;
    int error;

    if (r->target.limit == &r->own_limit)
        nsc_call_limit_begin(&r->own_limit);
    while (nsc_now_ns() - begun_ns < BUSY_NS && !nsc_call_limit_is_over(r->target.limit)) {
        if (poll(&ended, 1, 0) != 0)
            return fail(r, diag, ESRCH, "has ended");
        error = call_once(r, verb, argument, fd, &got, diag);
        if (error != 0)
            return error;
        if (got != -EAGAIN) {
            *result = got;
            return 0;
        }
        nanosleep(&pause, NULL);
    }
    return fail(r, diag, ETIMEDOUT,
                nsc_call_limit_is_over(r->target.limit)
                    ? "took too long, or a signal has ended the call"
                    : "is busy with another call like this");
}

static int greet(struct nsc_process_access *r, struct nsc_diag *diag)
{
    int64_t version;
    int error = call(r, NSC_CONTROL_HELLO, 0, -1, &version, diag);

    if (error == 0 && version != NSC_CONTROL_VERSION)
        return fail(r, diag, EPROTO,
                    "is built with another version of nanoscope: build it again with this one");
    return error;
}

int nsc_process_open(const struct nsc_process_target *target, struct nsc_process_access **reach,
                     struct nsc_diag *diag)
{
    struct nsc_process_access *r = calloc(1, sizeof *r);
    int error;

    if (r == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    r->target = *target;
    r->target.output = NULL;
    if (target->limit == NULL)
        r->target.limit = &r->own_limit;
    r->memory = -1;
    r->descriptor = -1;
    r->how = target->endpoint ? NSC_PROCESS_ENDPOINT : NSC_PROCESS_PTRACE;
    r->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
    if (target->reason[0] != 0) {
        error = target->built || target->endpoint ? EPERM : ENOEXEC;
        error = target->refuses ? ENOTSUP : error;
        error = fail(r, diag, error, target->reason);
    } else if (r->pidfd < 0) {
        error = fail(r, diag, errno, errno == ESRCH ? "has ended" : strerror(errno));
    } else if (nsc_credentials_read(target->pid, &r->credentials) != 0) {
        error = fail(r, diag, ESRCH, "does not show whose it is in /proc");
    } else if (target->within != NULL && !nsc_credentials_cover(target->within, &r->credentials)) {
        error = fail(r, diag, EXDEV, "has other privileges than the recorded program");
    } else {
        error = greet(r, diag);
        if (error != 0 && r->how == NSC_PROCESS_ENDPOINT && target->built && target->ptrace) {
            r->how = NSC_PROCESS_PTRACE;
            error = greet(r, diag);
        }
    }
    if (error != 0) {
        nsc_process_close(r);
        return error;
    }
    *reach = r;
    return 0;
}

void nsc_process_close(struct nsc_process_access *reach)
{
    int64_t result;

    if (reach == NULL)
        return;
    if (reach->descriptor >= 0)
        call(reach, NSC_CONTROL_DROP, (uint64_t)reach->descriptor, -1, &result, NULL);
    if (reach->memory >= 0)
        close(reach->memory);
    if (reach->pidfd >= 0)
        close(reach->pidfd);
    free(reach);
}

enum nsc_process_how nsc_process_how(const struct nsc_process_access *reach)
{
    return reach->how;
}

int nsc_process_pidfd(const struct nsc_process_access *reach)
{
    return reach->pidfd;
}

const struct nsc_credentials *nsc_process_credentials(const struct nsc_process_access *reach)
{
    return &reach->credentials;
}

int nsc_process_call(struct nsc_process_access *reach, uint64_t verb, uint64_t argument,
                     int64_t *result, struct nsc_diag *diag)
{
    return call(reach, verb, argument, -1, result, diag);
}

/* ---- The memory file ------------------------------------------------------------------------- */

static int memory_of_ours(struct nsc_process_access *r, int *fd, struct nsc_diag *diag)
{
    int copy, made = memfd_create(NSC_MAPS_MEMORY_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    char path[48];

    /* Reopened by name: for leases, the kernel counts only such opens; see nsc_session_alone(). */
    snprintf(path, sizeof path, "/proc/self/fd/%d", made);
    r->memory = made >= 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (made >= 0)
        close(made);
    /* For the check that it is the program's own. */
    if (r->memory >= 0 && r->credentials.user.file_system != geteuid())
        (void)fchown(r->memory, r->credentials.user.file_system, (gid_t)-1);
    copy = r->memory >= 0 ? fcntl(r->memory, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot make a memory file: %s",
                            strerror(errno));
    *fd = copy;
    return 0;
}

static int take(const struct nsc_process_access *r)
{
    int fd = (int)syscall(SYS_pidfd_getfd, r->pidfd, (int)r->descriptor, 0);

    return fd >= 0 ? fd : -errno;
}

/* In a child: not only to use a file of another user's file system may block, but to close it, too.
 * So only a descriptor of a file that is in memory, as its seals show, is passed on. */
static int take_memory(const void *context)
{
    int fd = take(context);

    return fd < 0 || fcntl(fd, F_GET_SEALS) >= 0 ? fd : -EMEDIUMTYPE;
}

static int memory_of_theirs(struct nsc_process_access *r, int *fd, struct nsc_diag *diag)
{
    int64_t made;
    int taken, error = call(r, NSC_CONTROL_MEMORY, 0, -1, &made, diag);

    if (error != 0)
        return error;
    if (made < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, (int)-made,
                            "process %ld (%s) cannot make a memory file: %s", (long)r->target.pid,
                            r->target.name, strerror((int)-made));
    r->descriptor = made;
    taken = nsc_credentials_are_foreign(&r->credentials) ? nsc_child_open(take_memory, r, r->pidfd)
                                                         : take(r);
    if (taken == -EMEDIUMTYPE)
        return fail(r, diag, EPERM, "returned a descriptor that is no empty memory file");
    if (taken < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -taken,
                            "cannot take over a memory file from process %ld (%s): %s",
                            (long)r->target.pid, r->target.name,
                            taken == -ENOSYS ? "Linux 5.6 or newer is needed" : strerror(-taken));
    *fd = taken;
    return 0;
}

int nsc_process_memory(struct nsc_process_access *reach, int *fd, struct nsc_diag *diag)
{
    if (reach->memory >= 0 || reach->descriptor >= 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "a memory file is waiting already");
    return reach->how == NSC_PROCESS_ENDPOINT ? memory_of_ours(reach, fd, diag)
                                              : memory_of_theirs(reach, fd, diag);
}

int nsc_process_join(struct nsc_process_access *reach, struct nsc_diag *diag)
{
    int64_t result;
    int error;

    if (reach->memory < 0 && reach->descriptor < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "no memory file yet");
    error =
        call(reach, NSC_CONTROL_JOIN, (uint64_t)reach->descriptor, reach->memory, &result, diag);
    if (error != 0)
        return error;
    if (result == -EBUSY)
        return fail(reach, diag, EBUSY, "is being recorded already");
    if (result < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, (int)-result,
                            "process %ld (%s) cannot take part in a recording: %s",
                            (long)reach->target.pid, reach->target.name, strerror((int)-result));
    reach->descriptor = -1; /* JOIN closed it */
    if (reach->memory >= 0)
        close(reach->memory);
    reach->memory = -1;
    return 0;
}
