/* seccomp_state.c - see seccomp_state.h. */
#include "process/procfs/seccomp_state.h"

#include <dirent.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/procfs/procfs.h"
#include "util/privileges/credentials.h"

enum { GENERATIONS = 64, THREADS = 256 };

/* A process and its ancestors. Pid 0 stands for the parent outside this pid namespace. */
struct line {
    pid_t pids[GENERATIONS];
    size_t count;
};

static bool read_status(pid_t tid, struct nsc_seccomp_state *to, uint64_t *parent)
{
    char status[NSC_PROCFS_STATUS_MAX];

    *to = (struct nsc_seccomp_state){0};
    if (nsc_procfs_read(tid, "status", status, sizeof status) <= 0)
        return false;
    nsc_procfs_field(status, "Seccomp", 10, &to->mode);
    nsc_procfs_field(status, "Seccomp_filters", 10, &to->filters);
    return nsc_procfs_field(status, "PPid", 10, parent);
}

bool nsc_seccomp_state_read(pid_t tid, struct nsc_seccomp_state *to)
{
    uint64_t parent;

    return read_status(tid, to, &parent);
}

/* Collect the process and its ancestors, up to the first without exactly @filters filters. */
static void trace_line(pid_t pid, uint64_t filters, struct line *line)
{
    struct nsc_seccomp_state at;
    uint64_t parent = (uint64_t)pid;

    line->count = 0;
    while (line->count < GENERATIONS) {
        pid = (pid_t)parent;
        if (pid != 0 && (!read_status(pid, &at, &parent) || at.filters != filters))
            return;
        line->pids[line->count++] = pid;
        if (pid == 0)
            return;
    }
}

static bool meet(const struct line *a, const struct line *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (a->pids[i] == b->pids[k])
                return true;
    return false;
}

bool nsc_seccomp_state_alike(pid_t pid, const struct nsc_seccomp_state *thread)
{
    struct line theirs, ours;

    if (thread->filters == 0) /* a kernel that does not report the number */
        return false;
    trace_line(pid, thread->filters, &theirs);
    trace_line(getpid(), thread->filters, &ours);
    return meet(&theirs, &ours);
}

/* Return true if this process is in the initial user namespace: it maps all users to themselves. */
static bool maps_all_users(void)
{
    unsigned long long from = 1, to = 1, count = 0;
    char text[256];

    if (nsc_procfs_read(getpid(), "uid_map", text, sizeof text) <= 0)
        return true; /* a kernel without user namespaces */
    return sscanf(text, "%llu %llu %llu", &from, &to, &count) == 3 && from == 0 && to == 0 &&
           count == UINT32_MAX;
}

/* Return false if the kernel certainly refuses PTRACE_O_SUSPEND_SECCOMP. */
static bool may_suspend(void)
{
    char status[NSC_PROCFS_STATUS_MAX];
    uint64_t capabilities = 0, mode = 0;

    if (nsc_procfs_read(getpid(), "status", status, sizeof status) <= 0)
        return true;
    nsc_procfs_field(status, "CapEff", 16, &capabilities);
    nsc_procfs_field(status, "Seccomp", 10, &mode);
    return mode == 0 && (capabilities >> CAP_SYS_ADMIN & 1) != 0 && maps_all_users();
}

static enum nsc_seccomp_state_refusal refuses(pid_t pid, pid_t tid, bool suspends)
{
    struct nsc_seccomp_state thread;

    if (!nsc_seccomp_state_read(tid, &thread) || thread.mode == 0)
        return NSC_SECCOMP_STATE_NOT;
    if (thread.mode == 1)
        return NSC_SECCOMP_STATE_STRICTLY;
    return suspends || nsc_seccomp_state_alike(pid, &thread) ? NSC_SECCOMP_STATE_NOT
                                                             : NSC_SECCOMP_STATE_BY_FILTERS;
}

enum nsc_seccomp_state_refusal nsc_seccomp_state_refuses(pid_t pid)
{
    struct nsc_credentials theirs;
    /* Suspending would free a program of another user from its restrictions during the call. */
    bool suspends = may_suspend() && nsc_credentials_read(pid, &theirs) == 0 &&
                    !nsc_credentials_are_foreign(&theirs);
    enum nsc_seccomp_state_refusal refusal = refuses(pid, pid, suspends);
    const struct dirent *entry;
    char path[64];
    DIR *tasks;

    if (refusal == NSC_SECCOMP_STATE_NOT)
        return NSC_SECCOMP_STATE_NOT;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    tasks = opendir(path);
    for (int i = 0; tasks != NULL && i < THREADS && (entry = readdir(tasks)) != NULL; i++) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (tid > 0 && refuses(pid, tid, suspends) == NSC_SECCOMP_STATE_NOT)
            refusal = NSC_SECCOMP_STATE_NOT;
    }
    if (tasks != NULL)
        closedir(tasks);
    return refusal;
}
