/*
 * spawn.c (Linux) - nsc_os_spawn(): another program, without a trace of it in this process. Called
 * when the program itself begins a recording.
 *
 * Twice the child of a child, so that it is init's and not ours; neither ends with a signal to us.
 * Both share our memory, and this stack, until they are other programs or gone, and we stand still
 * so long: nothing is copied, however large the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "os/linux/syscall.h"
#include "os/os.h"

enum { FIRST_OTHER = 5, DESCRIPTORS_TO_TRY = 4096 };

static __attribute__((noreturn)) void leave(int status)
{
    for (;;)
        nsc_syscall3(SYS_exit_group, status, 0, 0);
}

static void close_others(void)
{
    int fd;

    if (nsc_syscall3(SYS_close_range, FIRST_OTHER, -1, 0) == 0)
        return;
    for (fd = FIRST_OTHER; fd < DESCRIPTORS_TO_TRY; fd++) /* before Linux 5.9 */
        nsc_os_close(fd);
}

/* Standard error stays: the recorder says there what went wrong at the end, when nobody listens
 * any more. */
static void arrange_descriptors(const int fds[2])
{
    long null = nsc_syscall6(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0);

    if (null >= 0) {
        nsc_syscall3(SYS_dup3, null, 0, 0);
        nsc_syscall3(SYS_dup3, null, 1, 0);
    }
    nsc_syscall3(SYS_dup3, fds[0], 3, 0);
    nsc_syscall3(SYS_dup3, fds[1], 4, 0);
    close_others();
}

struct spawn {
    const char *const *paths, *const *argv, *const *environment;
    const int *fds;
    volatile long error;
};

static __attribute__((noreturn, noinline)) void become(struct spawn *s)
{
    const char *const *path;
    long worst = -ENOENT;

    nsc_syscall3(SYS_setsid, 0, 0, 0);
    arrange_descriptors(s->fds);
    nsc_os_set_signals(0);
    for (path = s->paths; *path != NULL; path++) {
        long error = nsc_syscall3(SYS_execve, (long)*path, (long)s->argv, (long)s->environment);

        if (error != -ENOENT && error != -ENOTDIR)
            worst = error;
    }
    s->error = worst;
    leave(1);
}

static long vfork_quietly(void) __attribute__((always_inline));

/* Inlined, as the parent must not return into a frame that its child has used. No signal at the
 * child's end. */
static inline long vfork_quietly(void)
{
    return nsc_syscall6(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0, 0);
}

static __attribute__((noreturn, noinline)) void go_between(struct spawn *s)
{
    long pid = vfork_quietly();

    if (pid == 0)
        become(s);
    if (pid < 0)
        s->error = pid;
    leave(0);
}

int nsc_os_spawn(const char *const *paths, const char *const *argv, const char *const *environment,
                 const int fds[2])
{
    struct spawn s = {
        .paths = paths, .argv = argv, .environment = environment, .fds = fds, .error = 0};
    uint64_t mask;
    long pid;

    if (fds[0] < FIRST_OTHER || fds[1] < FIRST_OTHER)
        return -EMFILE;
    mask = nsc_os_block_signals();
    pid = vfork_quietly();
    if (pid == 0)
        go_between(&s);
    if (pid > 0)
        while (nsc_syscall6(SYS_wait4, pid, 0, __WALL, 0, 0, 0) == -EINTR)
            ;
    nsc_os_set_signals(mask);
    return pid < 0 ? (int)pid : (int)s.error;
}
