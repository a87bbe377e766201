/* process_walk.c - see process_walk.h. */
#include "process/procfs/process_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/now.h"
#include "util/os/write_all.h"
#include "util/privileges/child.h"
#include "util/privileges/confine.h"

#define REPLY_NS  1000000000ull
#define SILENT_NS 10000000000ull

enum { SILENT_MAX = 64, CHILD_BYTES_MAX = 64 << 20, CHILD_CPU_S = 60, STALLS_MAX = 3 };

/* ---- Processes that did not reply ------------------------------------------------------------ */

static struct {
    pid_t pid;
    uint64_t until_ns;
} silent[SILENT_MAX];
static size_t silent_next;

static void note_silent(pid_t pid)
{
    silent[silent_next].pid = pid;
    silent[silent_next].until_ns = nsc_now_ns() + SILENT_NS;
    silent_next = (silent_next + 1) % SILENT_MAX;
}

static bool is_silent(pid_t pid, uint64_t now_ns)
{
    for (size_t i = 0; i < SILENT_MAX; i++)
        if (silent[i].pid == pid && now_ns < silent[i].until_ns)
            return true;
    return false;
}

/* ---- In the child ---------------------------------------------------------------------------- */

/* A message: the process that is examined next, or minus its number if the answer is yes; 0 at the
 * end. */
static void say(int pipe, pid_t message)
{
    if (nsc_write_all(pipe, &message, sizeof message) != 0)
        _exit(1);
}

/* Examines the processes after @last. */
__attribute__((noreturn)) static void examine_all(const struct nsc_process_walk *walk, pid_t last,
                                                  pid_t parent, int pipe)
{
    const struct nsc_confine confine = {
        .keep = {pipe, -1, -1, -1}, .memory_bytes = CHILD_BYTES_MAX, .cpu_seconds = CHILD_CPU_S};
    uint64_t now_ns = nsc_now_ns();
    const struct dirent *entry;
    DIR *processes;

    (void)nsc_confine_enter(&confine);
    processes = opendir("/proc");
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid <= last || pid == parent || pid == getpid() || is_silent(pid, now_ns))
            continue;
        say(pipe, pid);
        if (walk->examine(walk->context, pid))
            say(pipe, -pid);
    }
    say(pipe, 0);
    _exit(0);
}

/* ---- Here ------------------------------------------------------------------------------------ */

/* Receive the child's messages. @last: receives the process that was examined last. Returns 0 at
 * the end, 1 if the process @last does not reply, -errno, or what take() returned. */
static int follow(const struct nsc_process_walk *walk, pid_t child, int pipe, pid_t *last)
{
    pid_t messages[512];
    ssize_t got;
    int error;

    for (;;) {
        uint64_t reply_ns = nsc_now_ns() + REPLY_NS;

        error = nsc_child_wait_readable(
            child, pipe, reply_ns < walk->deadline_ns ? reply_ns : walk->deadline_ns);
        if (error != 0)
            return nsc_now_ns() >= walk->deadline_ns ? -ETIMEDOUT : 1;
        got = read(pipe, messages, sizeof messages);
        if (got <= 0)
            return -EIO;
        for (size_t i = 0; i < (size_t)got / sizeof *messages; i++) {
            if (messages[i] == 0)
                return 0;
            if (messages[i] > 0)
                *last = messages[i];
            else if ((error = walk->take(walk->context, -messages[i])) != 0)
                return error;
        }
    }
}

/* Examine the processes after @last, until one does not reply. As follow(). */
static int walk_on(const struct nsc_process_walk *walk, pid_t *last)
{
    pid_t parent = getpid(), child;
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    child = fork();
    if (child == 0)
        examine_all(walk, *last, parent, ends[1]);
    error = child < 0 ? -errno : 0;
    close(ends[1]);
    if (error == 0)
        error = follow(walk, child, ends[0], last);
    close(ends[0]);
    if (child > 0)
        (void)nsc_child_end(child, 0);
    return error;
}

int nsc_process_walk(const struct nsc_process_walk *walk)
{
    pid_t last = 0, before = 0;
    int stalls = 0, error;

    if (access("/proc/self", F_OK) != 0)
        return -errno;
    while ((error = walk_on(walk, &last)) == 1) {
        stalls = last == before ? stalls + 1 : 0;
        if (stalls == STALLS_MAX) /* children do not get to run */
            return -ETIMEDOUT;
        before = last;
        note_silent(last);
    }
    return error;
}
