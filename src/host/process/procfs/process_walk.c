/* process_walk.c - see process_walk.h. */
#include "process/procfs/process_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/procfs/procfs.h"
#include "util/now.h"
#include "util/os/write_all.h"
#include "util/privileges/child.h"
#include "util/privileges/confine.h"

#define REPLY_NS  1000000000ull
#define SILENT_NS 10000000000ull

/* At most SILENCES_MAX in one walk. */
enum { SILENCES_MAX = 10, SILENT_MAX = 64, PER_USER_MAX = 2 };
enum { CHILD_BYTES_MAX = 64 << 20, CHILD_CPU_S = 60 };

/* ---- Processes that did not reply ------------------------------------------------------------ */

static struct {
    pid_t pid;
    uid_t user;
    uint64_t until_ns;
} silent[SILENT_MAX];
static size_t silent_next;

/* Return the real user of a process, as the kernel always tells it. 0 if it has ended. */
static uid_t user_of(pid_t pid)
{
    char status[NSC_PROCFS_STATUS_MAX];
    uint64_t user = 0;

    if (nsc_procfs_read(pid, "status", status, sizeof status) > 0)
        nsc_procfs_field(status, "Uid", 10, &user);
    return (uid_t)user;
}

static void note_silent(pid_t pid)
{
    silent[silent_next].pid = pid;
    silent[silent_next].user = user_of(pid);
    silent[silent_next].until_ns = nsc_now_ns() + SILENT_NS;
    silent_next = (silent_next + 1) % SILENT_MAX;
}

static bool is_silent(pid_t pid, uint64_t now_ns)
{
    uid_t user = silent[0].until_ns != 0 ? user_of(pid) : 0;
    int of_user = 0;

    for (size_t i = 0; i < SILENT_MAX; i++) {
        if (now_ns >= silent[i].until_ns)
            continue;
        if (silent[i].pid == pid)
            return true;
        of_user += silent[i].user == user;
    }
    return user != 0 && user != getuid() && of_user >= PER_USER_MAX;
}

/* ---- In the child ---------------------------------------------------------------------------- */

/* Messages: the process that is examined next, or minus its number if the answer is yes. At the
 * end one of these: */
enum { ALL_EXAMINED = 0, SOME_SKIPPED = INT_MIN };

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
    bool skipped = false;
    DIR *processes;

    (void)nsc_confine_enter(&confine);
    processes = opendir("/proc");
    if (processes == NULL)
        _exit(1);
    while ((entry = readdir(processes)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid <= last || pid == parent || pid == getpid())
            continue;
        if (is_silent(pid, now_ns)) {
            skipped = true;
            continue;
        }
        say(pipe, pid);
        if (walk->examine(walk->context, pid))
            say(pipe, -pid);
    }
    say(pipe, skipped ? SOME_SKIPPED : ALL_EXAMINED);
    _exit(0);
}

/* ---- Here ------------------------------------------------------------------------------------ */

/* How far a walk has come. */
struct progress {
    pid_t last; /* process that was examined last */
    bool skipped;
    bool ended;
};

/* Receive the child's messages until the end, or until a process does not reply or the child has
 * died over it. Returns 0, -errno, or what take() returned. */
static int follow(const struct nsc_process_walk *walk, pid_t child, int pipe, struct progress *p)
{
    pid_t messages[512];
    ssize_t got;
    int error;

    for (;;) {
        uint64_t reply_ns = nsc_now_ns() + REPLY_NS;

        error = nsc_child_wait_readable(
            child, pipe, reply_ns < walk->deadline_ns ? reply_ns : walk->deadline_ns);
        got = error == 0 ? read(pipe, messages, sizeof messages) : 0;
        if (got <= 0)
            return 0;
        for (size_t i = 0; i < (size_t)got / sizeof *messages; i++) {
            if (messages[i] == ALL_EXAMINED || messages[i] == SOME_SKIPPED) {
                p->ended = true;
                p->skipped |= messages[i] == SOME_SKIPPED;
                return 0;
            }
            if (messages[i] > 0)
                p->last = messages[i];
            else if ((error = walk->take(walk->context, -messages[i])) != 0)
                return error;
        }
    }
}

/* Examine the processes after the last one. As follow(). */
static int walk_on(const struct nsc_process_walk *walk, struct progress *p)
{
    pid_t parent = getpid(), child;
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    child = fork();
    if (child == 0)
        examine_all(walk, p->last, parent, ends[1]);
    error = child < 0 ? -errno : 0;
    close(ends[1]);
    if (error == 0)
        error = follow(walk, child, ends[0], p);
    close(ends[0]);
    if (child > 0)
        (void)nsc_child_end(child, 0);
    return error;
}

int nsc_process_walk(const struct nsc_process_walk *walk)
{
    struct progress p = {.last = 0};
    int error;

    if (access("/proc/self", F_OK) != 0)
        return -errno;
    for (int silences = 0; silences < SILENCES_MAX; silences++) {
        error = walk_on(walk, &p);
        if (error != 0 || p.ended)
            return error != 0 ? error : p.skipped;
        p.skipped = true;
        if (nsc_now_ns() >= walk->deadline_ns)
            break;
        note_silent(p.last);
    }
    return 1;
}
