/* process_find.c - examine one process; see process_find.h. */
#include "process/find/process_find.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "process/find/control_find.h"
#include "process/find/endpoint_client.h"
#include "process/procfs/mapped_file.h"
#include "process/procfs/maps.h"
#include "process/procfs/procfs.h"
#include "process/procfs/seccomp_state.h"
#include "util/now.h"

#define RUNTIME_FILE "libnanoscope.so"
#define MOMENT_NS    5000000

/* Findings that explain why a process cannot be reached. */
struct clues {
    int maps_error;
    int mem_error;
    bool zombie, is_32_bit, other_version, unreadable;
    pid_t tracer;
    bool ignores_segv;
    enum nsc_seccomp_state_refusal confined;
};

static bool is_runtime(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && strcmp(slash + 1, RUNTIME_FILE) == 0;
}

static void find_control(struct nsc_process_target *t, int mem, const struct nsc_maps *maps,
                         const char *program, struct clues *clues)
{
    struct nsc_control_place place;

    nsc_control_find(t->pid, mem, maps, program, &place);
    t->built = place.control != 0;
    t->control = place.control;
    t->note = place.note;
    clues->is_32_bit = place.is_32_bit;
    clues->unreadable = place.unreadable;
    for (size_t i = 0; i < maps->count && !t->built; i++)
        clues->other_version |= is_runtime(maps->at[i].path);
}

/* ---- What it is ------------------------------------------------------------------------------ */

static void read_name(struct nsc_process_target *t, const char *program)
{
    const char *slash = strrchr(program, '/');
    int length;

    if (slash != NULL) {
        snprintf(t->name, sizeof t->name, "%.*s", (int)sizeof t->name - 1, slash + 1);
        return;
    }
    length = nsc_procfs_read(t->pid, "comm", t->name, sizeof t->name);
    t->name[length > 0 ? strcspn(t->name, "\n") : 0] = 0;
}

/* Return the tracer of a process, or 0. A tracer that detaches within milliseconds is ignored: it
 * may be another nanoscope. */
static pid_t find_tracer(pid_t pid)
{
    const struct timespec moment = {.tv_nsec = MOMENT_NS};
    char status[NSC_PROCFS_STATUS_MAX];
    uint64_t tracer = 0;

    for (int i = 0; i < 3; i++) {
        if (nsc_procfs_read(pid, "status", status, sizeof status) <= 0 ||
            !nsc_procfs_field(status, "TracerPid", 10, &tracer) || tracer == 0)
            return 0;
        nanosleep(&moment, NULL);
    }
    return (pid_t)tracer;
}

static int read_status(struct nsc_process_target *t, struct clues *clues, struct nsc_diag *diag)
{
    uint64_t user = 0, threads = 0, ignored = 0;
    char status[NSC_PROCFS_STATUS_MAX], stat[512];
    int got = nsc_procfs_read(t->pid, "status", status, sizeof status);

    if (got == -ENOENT && access("/proc/self/stat", R_OK) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EIO,
                            "/proc is needed: mount -t proc proc /proc");
    if (got <= 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ESRCH, "there is no process %ld",
                            (long)t->pid);
    nsc_procfs_field(status, "Uid", 10, &user);
    nsc_procfs_field(status, "Threads", 10, &threads);
    nsc_procfs_field(status, "SigIgn", 16, &ignored);
    clues->ignores_segv = (ignored >> (SIGSEGV - 1) & 1) != 0;
    t->uid = (uid_t)user;
    t->threads = (uint32_t)threads;
    clues->tracer = find_tracer(t->pid);
    clues->zombie =
        nsc_procfs_read(t->pid, "stat", stat, sizeof stat) > 0 && nsc_procfs_state(stat) == 'Z';
    return 0;
}

/* Opening /proc/PID/mem needs the same permission as ptrace. */
static int open_memory(pid_t pid, int *error)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/mem", (long)pid);
    fd = open(path, O_RDWR | O_CLOEXEC);
    *error = fd < 0 ? errno : 0;
    return fd;
}

/* ---- Why it cannot be reached ---------------------------------------------------------------- */

int nsc_process_yama_scope(void)
{
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int scope = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%d", &scope) != 1)
        scope = 0;
    fclose(file);
    return scope;
}

static void explain_denied(struct nsc_process_target *t, const struct clues *clues)
{
    int scope = nsc_process_yama_scope();

    if (clues->tracer != 0)
        snprintf(t->reason, sizeof t->reason,
                 "is being traced by process %ld already (a debugger, or strace): only one can",
                 (long)clues->tracer);
    else if (scope >= 3)
        snprintf(t->reason, sizeof t->reason,
                 "cannot be traced: the system forbids it to everybody until it is booted again "
                 "(kernel.yama.ptrace_scope=%d); start it with `nanoscope run` instead",
                 scope);
    else if (t->uid != geteuid())
        snprintf(t->reason, sizeof t->reason, "is another user's: try sudo");
    else if (scope > 0)
        snprintf(t->reason, sizeof t->reason,
                 "cannot be traced: kernel.yama.ptrace_scope=%d lets only %s; try sudo, or `sudo "
                 "sysctl kernel.yama.ptrace_scope=0`, or start it with `nanoscope run`",
                 scope, scope == 1 ? "a parent trace its child" : "root trace");
    else
        snprintf(t->reason, sizeof t->reason,
                 "cannot be traced (%s): it has privileges of its own, or this container lacks "
                 "CAP_SYS_PTRACE; try sudo, or start it with `nanoscope run`",
                 strerror(clues->mem_error));
}

/* Explain why ptrace_call.c refuses a process that the system permits to trace. */
static void explain_refused(struct nsc_process_target *t, const struct clues *clues)
{
    const char *why = NULL;

    if (clues->ignores_segv)
        why = "ignores SIGSEGV, which would be changed by a call from outside: start it with "
              "`nanoscope run`";
    else if (clues->confined == NSC_SECCOMP_STATE_STRICTLY)
        why = "is confined to read and write (seccomp)";
    else if (clues->confined == NSC_SECCOMP_STATE_BY_FILTERS)
        why = NSC_SECCOMP_STATE_REASON;
    t->refuses = why != NULL;
    if (why != NULL)
        snprintf(t->reason, sizeof t->reason, "%s", why);
}

static void explain(struct nsc_process_target *t, const struct clues *clues)
{
    t->reason[0] = 0;
    if (clues->zombie)
        snprintf(t->reason, sizeof t->reason, "has ended, its parent has not noticed yet");
    else if (t->endpoint)
        return;
    else if (t->built && t->ptrace)
        explain_refused(t, clues);
    else if (clues->is_32_bit)
        snprintf(t->reason, sizeof t->reason,
                 "is a 32-bit program: only 64-bit ones can be traced");
    else if (t->built || clues->maps_error != 0)
        explain_denied(t, clues);
    else if (clues->other_version)
        snprintf(t->reason, sizeof t->reason,
                 "is built with another version of nanoscope, which cannot be reached: build it "
                 "again");
    else if (clues->unreadable)
        snprintf(t->reason, sizeof t->reason,
                 "is another user's, and so is the file system of its program: record it as that "
                 "user");
    else
        snprintf(t->reason, sizeof t->reason,
                 "is not built for tracing: build it with `nanoscope cc` or `nanoscope c++`");
}

/* ---- All of it ------------------------------------------------------------------------------- */

void nsc_process_search_begin(struct nsc_process_search *search)
{
    *search = (struct nsc_process_search){.deadline_ns = nsc_now_ns() + NSC_ENDPOINT_CONNECT_NS};
}

void nsc_process_search_end(struct nsc_process_search *search)
{
    nsc_recorder_list_free(&search->recorders);
}

int nsc_process_find(pid_t pid, struct nsc_process_target *target, struct nsc_diag *diag)
{
    struct nsc_process_search search;
    int error;

    nsc_process_search_begin(&search);
    error = nsc_process_find_next(&search, pid, target, diag);
    nsc_process_search_end(&search);
    return error;
}

int nsc_process_find_next(struct nsc_process_search *search, pid_t pid,
                          struct nsc_process_target *target, struct nsc_diag *diag)
{
    struct nsc_process_target t = {.pid = pid};
    struct clues clues = {0};
    struct nsc_maps maps;
    char program[4096];
    int mem, error = read_status(&t, &clues, diag);

    if (error != 0)
        return error;
    nsc_mapped_program(pid, program, sizeof program);
    read_name(&t, program);
    clues.maps_error = nsc_maps_read(pid, &maps);
    if (clues.maps_error == -ENOMEM)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    mem = open_memory(pid, &clues.mem_error);
    t.ptrace = mem >= 0 && clues.tracer == 0;
    find_control(&t, mem, &maps, program, &clues);
    if (mem >= 0)
        close(mem);
    if (t.built && t.ptrace)
        clues.confined = nsc_seccomp_state_refuses(pid);
    if (!clues.zombie)
        t.endpoint = nsc_endpoint_listens(pid, t.uid, search->deadline_ns);
    nsc_process_recorder(&search->recorders, pid, &maps, &t.recorder, &t.output);
    nsc_maps_free(&maps);
    explain(&t, &clues);
    *target = t;
    return 0;
}

void nsc_process_target_free(struct nsc_process_target *target)
{
    free(target->output);
    target->output = NULL;
}
