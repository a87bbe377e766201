/* proc_thread.c - see proc_thread.h. */
#include "metrics/proc_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    /* `status` is the longest: about 1,200 bytes, with switches at its end */
    TEXT_BYTES = 2048
};

#define NS_PER_S 1000000000u

/* ---- Parsers --------------------------------------------------------------------------------- */

/* Parse the number at *@text and advance past it; false if there is none. */
static bool take_number(const char **text, uint64_t *value)
{
    char *end;

    while (**text == ' ' || **text == '\t')
        (*text)++;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* Advance *@text past @count words. */
static void skip_words(const char **text, unsigned count)
{
    while (count-- > 0) {
        *text += strspn(*text, " ");
        *text += strcspn(*text, " ");
    }
}

static enum nsc_thread_state state_of(char letter)
{
    switch (letter) {
    case 'R':
        return NSC_STATE_RUNNING;
    case 'S':
    case 'I':
        return NSC_STATE_SLEEPING;
    case 'D':
        return NSC_STATE_BLOCKED_IO;
    case 'T':
    case 't':
        return NSC_STATE_STOPPED;
    case 'Z':
    case 'X':
        return NSC_STATE_DEAD;
    default:
        return NSC_STATE_UNKNOWN;
    }
}

int nsc_proc_parse_stat(const char *text, uint64_t tick_ns, struct nsc_proc_look *look)
{
    const char *at = strrchr(text, ')'); /* the name before it may contain any bytes */
    uint64_t minor, major, user, kernel;
    char letter;

    if (at == NULL || at[1] != ' ')
        return -EBADMSG;
    letter = at[2];
    at += 2;
    skip_words(&at, 7); /* state, parent, group, session, terminal, its group, flags */
    if (!take_number(&at, &minor))
        return -EBADMSG;
    skip_words(&at, 1); /* faults of children */
    if (!take_number(&at, &major))
        return -EBADMSG;
    skip_words(&at, 1);
    if (!take_number(&at, &user) || !take_number(&at, &kernel))
        return -EBADMSG;
    look->state = state_of(letter);
    look->counters[NSC_METRICS_FAULTS_MINOR] = minor;
    look->counters[NSC_METRICS_FAULTS_MAJOR] = major;
    look->counters[NSC_METRICS_CPU_NS] = (user + kernel) * tick_ns;
    return 0;
}

int nsc_proc_parse_schedstat(const char *text, uint64_t *cpu_ns, uint64_t *turns,
                             uint64_t *waited_ns)
{
    uint64_t cpu, waited, count;

    if (!take_number(&text, &cpu) || !take_number(&text, &waited) || !take_number(&text, &count))
        return -EBADMSG;
    *cpu_ns = cpu;
    *turns = count;
    *waited_ns = waited;
    return 0;
}

int nsc_proc_parse_switches(const char *text, uint64_t *switches)
{
    static const char *const keys[] = {"\nvoluntary_ctxt_switches:",
                                       "\nnonvoluntary_ctxt_switches:"};
    uint64_t sum = 0, value;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *at = strstr(text, keys[i]);

        if (at == NULL)
            return -EBADMSG;
        at += strlen(keys[i]);
        if (!take_number(&at, &value))
            return -EBADMSG;
        sum += value;
    }
    *switches = sum;
    return 0;
}

/* System calls that wait for input or output, on the processor this is built for. */
static bool is_io(uint64_t number)
{
    static const uint16_t calls[] = {
        SYS_read,           SYS_write,       SYS_readv,           SYS_writev,          SYS_pread64,
        SYS_pwrite64,       SYS_preadv,      SYS_pwritev,         SYS_preadv2,         SYS_pwritev2,
        SYS_sendto,         SYS_recvfrom,    SYS_sendmsg,         SYS_recvmsg,         SYS_sendmmsg,
        SYS_recvmmsg,       SYS_accept,      SYS_accept4,         SYS_connect,         SYS_sendfile,
        SYS_splice,         SYS_tee,         SYS_fsync,           SYS_fdatasync,       SYS_openat,
        SYS_ioctl,          SYS_epoll_pwait, SYS_fallocate,       SYS_copy_file_range, SYS_syncfs,
        SYS_sync,           SYS_msync,       SYS_sync_file_range, SYS_io_getevents,    SYS_vmsplice,
#ifdef SYS_open
        SYS_open,
#endif
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
        SYS_epoll_pwait2,
#endif
#ifdef SYS_io_uring_enter
        SYS_io_uring_enter,
#endif
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i] == number)
            return true;
    return false;
}

/* System calls that wait for descriptors; without descriptors they just sleep. @count receives the
 * index of the argument that is their number. */
static bool is_poll(uint64_t number, unsigned *count)
{
    bool select = number == SYS_pselect6, poll = number == SYS_ppoll;

#ifdef SYS_select
    select = select || number == SYS_select;
#endif
#ifdef SYS_poll
    poll = poll || number == SYS_poll;
#endif
    *count = poll ? 1 : 0;
    return select || poll;
}

enum nsc_thread_state nsc_proc_parse_syscall(const char *text)
{
    unsigned argument;
    uint64_t number;

    if (strncmp(text, "running", 7) == 0)
        return NSC_STATE_RUNNING;
    if (!take_number(&text, &number)) /* -1: not inside a system call */
        return NSC_STATE_SLEEPING;
    if (number == SYS_futex)
        return NSC_STATE_BLOCKED_LOCK;
    if (is_poll(number, &argument)) {
        skip_words(&text, argument);
        return strtoull(text, NULL, 16) > 0 ? NSC_STATE_BLOCKED_IO : NSC_STATE_SLEEPING;
    }
    return is_io(number) ? NSC_STATE_BLOCKED_IO : NSC_STATE_SLEEPING;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int open_file(pid_t pid, pid_t tid, const char *name)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/%s", (long)pid, (long)tid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

/* Read a file from its start and terminate it with NUL. Returns 0 or -errno. */
static int read_file(int fd, char text[TEXT_BYTES])
{
    ssize_t got = pread(fd, text, TEXT_BYTES - 1, 0);

    if (got < 0)
        return -errno;
    text[got] = 0;
    return got > 0 ? 0 : -ESRCH;
}

static int read_named(pid_t pid, pid_t tid, const char *name, char text[TEXT_BYTES])
{
    int fd = open_file(pid, tid, name), error;

    if (fd < 0)
        return fd;
    error = read_file(fd, text);
    close(fd);
    return error;
}

int nsc_proc_open(struct nsc_proc *proc, pid_t pid, pid_t tid)
{
    struct nsc_proc p = {.stat_fd = open_file(pid, tid, "stat")};

    if (p.stat_fd < 0)
        return p.stat_fd;
    p.schedstat_fd = open_file(pid, tid, "schedstat");
    if (p.schedstat_fd == -EMFILE) {
        close(p.stat_fd);
        return -EMFILE;
    }
    *proc = p;
    return 0;
}

void nsc_proc_close(struct nsc_proc *proc)
{
    close(proc->stat_fd);
    if (proc->schedstat_fd >= 0)
        close(proc->schedstat_fd);
}

int nsc_proc_ran(const struct nsc_proc *proc, uint64_t *cpu_ns, uint64_t *turns,
                 uint64_t *waited_ns)
{
    char text[TEXT_BYTES];
    int error = proc->schedstat_fd >= 0 ? read_file(proc->schedstat_fd, text) : -ENOENT;

    return error == 0 ? nsc_proc_parse_schedstat(text, cpu_ns, turns, waited_ns) : error;
}

int nsc_proc_look(const struct nsc_proc *proc, struct nsc_proc_look *look)
{
    uint64_t tick_ns = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK), cpu_ns, turns, waited_ns;
    struct nsc_proc_look found = {.state = NSC_STATE_UNKNOWN};
    char text[TEXT_BYTES];
    int error = read_file(proc->stat_fd, text);

    if (error == 0)
        error = nsc_proc_parse_stat(text, tick_ns, &found);
    if (error != 0)
        return error;
    if (nsc_proc_ran(proc, &cpu_ns, &turns, &waited_ns) == 0) {
        found.counters[NSC_METRICS_CPU_NS] = cpu_ns;
        found.counters[NSC_METRICS_SWITCHES] = turns;
        found.waited_ns = waited_ns;
    }
    *look = found;
    return 0;
}

int nsc_proc_look_once(pid_t pid, pid_t tid, struct nsc_proc_look *look)
{
    struct nsc_proc_look found;
    char text[TEXT_BYTES];
    struct nsc_proc proc = {.stat_fd = -1, .schedstat_fd = -1};
    int error = nsc_proc_open(&proc, pid, tid);

    if (error != 0)
        return error;
    error = nsc_proc_look(&proc, &found);
    nsc_proc_close(&proc);
    if (error == 0)
        error = read_named(pid, tid, "status", text);
    if (error == 0)
        error = nsc_proc_parse_switches(text, &found.counters[NSC_METRICS_SWITCHES]);
    if (error == 0)
        *look = found;
    return error;
}

enum nsc_thread_state nsc_proc_wait(pid_t pid, pid_t tid)
{
    struct nsc_proc_look look;
    char text[TEXT_BYTES];

    if (read_named(pid, tid, "stat", text) != 0 || nsc_proc_parse_stat(text, 1, &look) != 0)
        return NSC_STATE_UNKNOWN;
    /* `syscall` may be unreadable, if ptrace of this thread is not permitted: then it counts as
     * asleep. */
    if (look.state != NSC_STATE_SLEEPING || read_named(pid, tid, "syscall", text) != 0)
        return look.state;
    return nsc_proc_parse_syscall(text);
}

int nsc_proc_open_memory(pid_t pid)
{
    return open_file(pid, pid, "statm");
}

int nsc_proc_memory(int fd, uint64_t *bytes)
{
    uint64_t size, resident;
    char text[TEXT_BYTES];
    const char *at = text;
    int error = read_file(fd, text);

    if (error != 0)
        return error;
    if (!take_number(&at, &size) || !take_number(&at, &resident))
        return -EBADMSG;
    if (resident == 0) /* it has just released all memory */
        return -ESRCH;
    *bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
    return 0;
}
