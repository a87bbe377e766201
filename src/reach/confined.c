/* confined.c - see confined.h. */
#include "reach/confined.h"

#include <stddef.h>
#include <unistd.h>

#include "reach/procfs.h"

enum { GENERATIONS = 64 };

/* Ends with 0, which stands for whatever is outside of our pid namespace. */
struct line {
    pid_t pids[GENERATIONS];
    size_t count;
};

static bool read_status(pid_t tid, struct nsc_confined *to, uint64_t *parent)
{
    char status[NSC_PROCFS_STATUS_MAX];

    *to = (struct nsc_confined){0};
    if (nsc_procfs_read(tid, "status", status, sizeof status) <= 0)
        return false;
    nsc_procfs_field(status, "Seccomp", 10, &to->mode);
    nsc_procfs_field(status, "Seccomp_filters", 10, &to->filters);
    return nsc_procfs_field(status, "PPid", 10, parent);
}

bool nsc_confined_read(pid_t tid, struct nsc_confined *to)
{
    uint64_t parent;

    return read_status(tid, to, &parent);
}

/* The process and its ancestors, as far as they have @filters. */
static void trace_line(pid_t pid, uint64_t filters, struct line *line)
{
    struct nsc_confined at;
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

bool nsc_confined_alike(pid_t pid, const struct nsc_confined *thread)
{
    struct line theirs, ours;

    if (thread->filters == 0) /* a kernel that does not tell */
        return false;
    trace_line(pid, thread->filters, &theirs);
    trace_line(getpid(), thread->filters, &ours);
    return meet(&theirs, &ours);
}
