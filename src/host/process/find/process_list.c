/* process_list.c - list processes, and find one by pid or name; see process_find.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "process/find/process_find.h"
#include "process/procfs/process_walk.h"
#include "process/procfs/procfs.h"
#include "util/array.h"

#define YOUNG_MS 1000
#define LOOK_NS  5000000

static bool is_number(const char *text)
{
    size_t length = strspn(text, "0123456789");

    return length > 0 && text[length] == 0;
}

static bool belongs_to(pid_t pid, uid_t wanted)
{
    char status[NSC_PROCFS_STATUS_MAX];
    uint64_t user;

    return nsc_procfs_read(pid, "status", status, sizeof status) > 0 &&
           nsc_procfs_field(status, "Uid", 10, &user) && user == wanted;
}

static bool is_ours(pid_t pid)
{
    return geteuid() == 0 || belongs_to(pid, geteuid());
}

static int by_pid(const void *a, const void *b)
{
    const struct nsc_process_target *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Call @take for every process for which @examine returns true. Returns 1 if some did not reply. */
static int each_process(bool (*examine)(const void *context, pid_t pid),
                        int (*take)(void *context, pid_t pid), void *context, struct nsc_diag *diag)
{
    const struct nsc_process_walk walk = {
        .examine = examine, .take = take, .context = context, .deadline_ns = UINT64_MAX};
    int error = nsc_process_walk(&walk);

    if (error == -ENOENT)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EIO,
                            "/proc is needed: mount -t proc proc /proc");
    if (error < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -error, "cannot examine the processes: %s",
                            strerror(-error));
    return error;
}

/* ---- All that can be traced ------------------------------------------------------------------ */

struct listing {
    struct nsc_process_search search;
    struct nsc_process_target *at;
    uint32_t count, room;
};

/* Return true for processes of this user (root: of all users) whose memory can be asked about. */
static bool answers(const void *context, pid_t pid)
{
    FILE *maps = is_ours(pid) ? nsc_procfs_open_maps(pid) : NULL;

    (void)context;
    if (maps != NULL)
        fclose(maps);
    return maps != NULL;
}

static int list_one(void *context, pid_t pid)
{
    struct listing *l = context;
    struct nsc_process_target target, *at;

    if (nsc_process_find_next(&l->search, pid, &target, NULL) != 0)
        return 0; /* it has just ended */
    if (!target.built && !target.endpoint) {
        nsc_process_target_free(&target);
        return 0;
    }
    at = nsc_array_grow(l->at, &l->room, l->count, sizeof *at);
    if (at == NULL) {
        nsc_process_target_free(&target);
        return -ENOMEM;
    }
    l->at = at;
    l->at[l->count++] = target;
    return 0;
}

int nsc_process_list(struct nsc_process_target **list, size_t *count, struct nsc_diag *diag)
{
    struct listing l = {.count = 0};
    int error;

    nsc_process_search_begin(&l.search);
    error = each_process(answers, list_one, &l, diag);
    nsc_process_search_end(&l.search);
    if (error < 0) {
        nsc_process_list_free(l.at, l.count);
        return error;
    }
    if (l.count > 0)
        qsort(l.at, l.count, sizeof *l.at, by_pid);
    *list = l.at;
    *count = l.count;
    return error;
}

void nsc_process_list_free(struct nsc_process_target *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        nsc_process_target_free(&list[i]);
    free(list);
}

/* ---- By name --------------------------------------------------------------------------------- */

struct search {
    const char *name;
    pid_t pids[8];
    size_t count;
    bool own; /* they are this user's own */
};

static bool is_called(pid_t pid, const char *name)
{
    char path[64], file[4096], comm[64];
    const char *slash;
    ssize_t length;
    size_t wanted = strlen(name);

    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    length = readlink(path, file, sizeof file - 1);
    if (length > 0) {
        file[length] = 0;
        slash = strrchr(file, '/');
        if (slash != NULL && strncmp(slash + 1, name, wanted) == 0 &&
            (slash[1 + wanted] == 0 || strcmp(slash + 1 + wanted, " (deleted)") == 0))
            return true;
    }
    if (nsc_procfs_read(pid, "comm", comm, sizeof comm) <= 0)
        return false;
    comm[strcspn(comm, "\n")] = 0;
    return strcmp(comm, name) == 0;
}

static bool is_wanted(const void *context, pid_t pid)
{
    const struct search *s = context;

    return is_ours(pid) && is_called(pid, s->name);
}

/* Another user's processes do not count beside one of this user's: they may have any name. */
static int search_one(void *context, pid_t pid)
{
    struct search *s = context;
    bool own = belongs_to(pid, geteuid());

    if (s->own && !own)
        return 0;
    if (own && !s->own)
        s->count = 0;
    s->own = own;
    if (s->count < sizeof s->pids / sizeof s->pids[0])
        s->pids[s->count] = pid;
    s->count++;
    return 0;
}

/* Choose among several processes of the same name: ignores those that are not built for tracing. */
static int choose(const struct search *s, struct nsc_process_target *target, struct nsc_diag *diag)
{
    size_t kept = sizeof s->pids / sizeof s->pids[0], candidates = 0, length = 0, i;
    struct nsc_process_search search;
    struct nsc_process_target found;
    char pids[160] = "";

    nsc_process_search_begin(&search);
    for (i = 0; i < s->count && i < kept; i++) {
        if (nsc_process_find_next(&search, s->pids[i], &found, NULL) != 0)
            continue;
        if (!found.built && !found.endpoint) {
            nsc_process_target_free(&found);
            continue;
        }
        if (candidates++ > 0)
            nsc_process_target_free(target);
        *target = found;
        length += (size_t)snprintf(pids + length, sizeof pids - length, "%s%ld",
                                   candidates > 1 ? ", " : "", (long)s->pids[i]);
    }
    nsc_process_search_end(&search);
    if (candidates == 1 && s->count <= kept)
        return 0;
    if (candidates > 0)
        nsc_process_target_free(target);
    if (candidates == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ESRCH,
                            "%zu processes are called %s, none of them built for tracing: build "
                            "it with `nanoscope cc` or `nanoscope c++`",
                            s->count, s->name);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTUNIQ,
                        "several processes are called %s: say which by its number (%s%s)", s->name,
                        pids, s->count > kept ? ", ..." : "");
}

/* A new process first runs its parent's program, until it executes its own and loads its libraries.
 * Examine it repeatedly before reporting it as not built for tracing. */
static int find_ready(pid_t pid, struct nsc_process_target *target, struct nsc_diag *diag)
{
    const struct timespec moment = {.tv_nsec = LOOK_NS};
    char stat[512];
    int error;

    for (;;) {
        error = nsc_process_find(pid, target, diag);
        if (error != 0 || target->built || target->endpoint ||
            nsc_procfs_read(pid, "stat", stat, sizeof stat) <= 0 || nsc_procfs_is_exiting(stat) ||
            nsc_procfs_age_ms(stat) >= YOUNG_MS)
            return error;
        nsc_process_target_free(target);
        nanosleep(&moment, NULL);
    }
}

int nsc_process_resolve(const char *text, struct nsc_process_target *target, struct nsc_diag *diag)
{
    struct search s = {.name = text};
    int incomplete;

    if (is_number(text)) {
        unsigned long pid = strtoul(text, NULL, 10);

        if (pid == 0 || pid > INT32_MAX)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ESRCH, "there is no process %s", text);
        return find_ready((pid_t)pid, target, diag);
    }
    incomplete = each_process(is_wanted, search_one, &s, diag);
    if (incomplete < 0)
        return incomplete;
    if (s.count == 0)
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, ESRCH,
            "no process%s is called \"%s\"%s; `nanoscope ps` lists what can be traced",
            geteuid() == 0 ? "" : " of this user", text,
            incomplete ? ", among those that the kernel tells about in time" : "");
    if (s.count == 1)
        return find_ready(s.pids[0], target, diag);
    return choose(&s, target, diag);
}
