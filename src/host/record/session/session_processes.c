/* session_processes.c - see session_processes.h. */
#include "record/session/session_processes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "process/procfs/maps.h"
#include "process/procfs/process_walk.h"
#include "process/procfs/procfs.h"
#include "util/array.h"
#include "util/now.h"

#define MS            1000000ull
#define LOOK_AGAIN_NS (MS / 2)
/* Wait if the kernel does not report run times: a few time slices on a busy machine. */
#define BLIND_NS      (50 * MS)
/* Any user can have many processes with long maps. */
#define SEARCH_MAX_NS (5000 * MS)

/* ---- Processes that map the memory ---------------------------------------------------------- */

static bool is_known(const struct nsc_session_processes *members, pid_t pid)
{
    uint32_t i;

    for (i = 0; i < members->count; i++)
        if (members->pids[i] == pid)
            return true;
    return false;
}

/* The session's memory file, and the processes found. */
struct search {
    struct stat memory;
    bool (*matters)(pid_t pid);
    struct nsc_session_processes *members;
};

static bool has_mapped(const void *context, pid_t pid)
{
    const struct search *s = context;

    return !is_known(s->members, pid) && (s->matters == NULL || s->matters(pid)) &&
           nsc_maps_have_memory(pid, s->memory.st_dev, s->memory.st_ino);
}

static int add(void *context, pid_t pid)
{
    struct nsc_session_processes *members = ((struct search *)context)->members;
    pid_t *pids = nsc_array_grow(members->pids, &members->capacity, members->count, sizeof *pids);

    if (pids == NULL)
        return -ENOMEM;
    members->pids = pids;
    members->pids[members->count++] = pid;
    return 0;
}

bool nsc_session_processes_find(const struct nsc_record_session *session,
                                bool (*matters)(pid_t pid), struct nsc_session_processes *members)
{
    struct search search = {.matters = matters, .members = members};
    const struct nsc_process_walk walk = {.examine = has_mapped,
                                          .take = add,
                                          .context = &search,
                                          .deadline_ns = nsc_now_ns() + SEARCH_MAX_NS};

    if (session->fd < 0) /* from a core dump */
        return true;
    return fstat(session->fd, &search.memory) == 0 && nsc_process_walk(&walk) == 0;
}

bool nsc_session_processes_exist(const struct nsc_record_session *session)
{
    struct nsc_session_processes members = {0};
    bool any = !nsc_session_processes_find(session, NULL, &members) || members.count > 0;

    nsc_session_processes_free(&members);
    return any;
}

void nsc_session_processes_free(struct nsc_session_processes *members)
{
    free(members->pids);
    *members = (struct nsc_session_processes){0};
}

/* ---- Waiting for threads to leave hooks ----------------------------------------------------- */

/* A thread that was running, or runnable, when the wait began. */
struct busy {
    pid_t pid, tid;
    uint64_t ran_ns; /* run time at the last check */
    uint32_t turns;  /* number of checks at which it had grown */
};

struct busy_list {
    struct busy *threads;
    uint32_t count, capacity;
};

/*
 * True if the thread runs, or waits for a processor or for a page. Hooks make no system calls, so a
 * thread that sleeps is outside of them.
 */
static bool is_busy(pid_t pid, pid_t tid)
{
    char name[48], stat[256], state;

    snprintf(name, sizeof name, "task/%ld/stat", (long)tid);
    if (nsc_procfs_read(pid, name, stat, sizeof stat) <= 0)
        return false;
    state = nsc_procfs_state(stat);
    return state == 'R' || state == 'D';
}

/* Reads the thread's run time in ns; false if the kernel does not report it. */
static bool ran_for(pid_t pid, pid_t tid, uint64_t *ns)
{
    char name[48], text[96];

    snprintf(name, sizeof name, "task/%ld/schedstat", (long)tid);
    if (nsc_procfs_read(pid, name, text, sizeof text) <= 0)
        return false;
    *ns = strtoull(text, NULL, 10);
    return true;
}

static void list_busy(struct busy_list *list, pid_t pid)
{
    char path[48];
    const struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    tasks = opendir(path);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        struct busy busy = {.pid = pid, .tid = (pid_t)strtol(entry->d_name, NULL, 10)};
        struct busy *threads;

        if (busy.tid <= 0 || !ran_for(pid, busy.tid, &busy.ran_ns) || !is_busy(pid, busy.tid))
            continue;
        threads = nsc_array_grow(list->threads, &list->capacity, list->count, sizeof *threads);
        if (threads == NULL)
            break;
        list->threads = threads;
        list->threads[list->count++] = busy;
    }
    if (tasks != NULL)
        closedir(tasks);
}

/*
 * True if the thread has left any hook that it was executing at the start. The kernel updates run
 * times at its ticks and when a thread leaves its processor. So the first increase may be time from
 * before the start.
 */
static bool has_run_on(struct busy *busy)
{
    uint64_t ran_ns;

    if (!is_busy(busy->pid, busy->tid) || !ran_for(busy->pid, busy->tid, &ran_ns))
        return true;
    if (ran_ns != busy->ran_ns)
        busy->turns++;
    busy->ran_ns = ran_ns;
    return busy->turns >= 2;
}

static void drop_settled(struct busy_list *list)
{
    uint32_t i, kept = 0;

    for (i = 0; i < list->count; i++)
        if (!has_run_on(&list->threads[i]))
            list->threads[kept++] = list->threads[i];
    list->count = kept;
}

bool nsc_session_processes_settle(const struct nsc_session_processes *members, uint64_t patience_ns)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS}, blind_pause = {.tv_nsec = BLIND_NS};
    uint64_t start_ns = nsc_now_ns();
    struct busy_list list = {0};
    bool settled;
    uint32_t i;

    if (access("/proc/self/schedstat", R_OK) != 0) {
        nanosleep(&blind_pause, NULL);
        return true;
    }
    for (i = 0; i < members->count; i++)
        list_busy(&list, members->pids[i]);
    for (;;) {
        drop_settled(&list);
        settled = list.count == 0;
        if (settled || nsc_now_ns() - start_ns >= patience_ns)
            break;
        nanosleep(&pause, NULL);
    }
    free(list.threads);
    return settled;
}
