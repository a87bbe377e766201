/*
 * spawn.c (Linux) - nsc_sys_spawn(): starts another program without side effects in this process.
 * Called when the program itself starts a recording.
 *
 * The new program is a grandchild, so that init adopts it. Neither child sends a signal when it
 * ends. Both share this process's memory and stack until they execute another program or exit, and
 * this thread is suspended for that time (CLONE_VFORK). So nothing is copied, however large the
 * program is.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <linux/wait.h>

#include "linux/sys/sys.h"
#include "linux/sys/syscall.h"

enum { FIRST_OTHER = 5, DESCRIPTORS_TO_TRY = 4096, FOLDER_BYTES = 1024 };

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
        nsc_sys_close(fd);
}

/* Standard error stays open: the recorder reports late errors there, when it no longer has a
 * client. */
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
    const char *named;
    const char *const *paths, *const *argv, *const *environment;
    const int *fds;
    volatile long error;
};

/* Return 1 if @name belongs to root and is not writable by others. */
static int is_roots(int folder, const char *name, unsigned kind)
{
    struct statx st;

    return nsc_syscall6(SYS_statx, folder, (long)name,
                        name[0] == 0 ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
                        (long)&st, 0) == 0 &&
           (st.stx_mode & S_IFMT) == kind && st.stx_uid == 0 && (st.stx_mode & 022) == 0;
}

/*
 * The caller of a setuid-root program may have set its environment. So the named file must lie in a
 * folder where only root can write. It is executed relative to the descriptor of the checked
 * folder.
 */
static long become_as_root(const struct spawn *s)
{
    char folder[FOLDER_BYTES];
    const char *name = s->named;
    long place, error = -EPERM;
    size_t i;

    for (i = 0; s->named[i] != 0; i++) {
        if (i == FOLDER_BYTES)
            return -ENAMETOOLONG;
        folder[i] = s->named[i];
        if (s->named[i] == '/')
            name = s->named + i + 1;
    }
    if (s->named[0] != '/' || name[0] == 0)
        return -EPERM;
    folder[name - s->named] = 0;
    place =
        nsc_syscall6(SYS_openat, AT_FDCWD, (long)folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
    if (place < 0)
        return place;
    if (is_roots((int)place, "", S_IFDIR) && is_roots((int)place, name, S_IFREG))
        error = nsc_syscall6(SYS_execveat, place, (long)name, (long)s->argv, (long)s->environment,
                             AT_SYMLINK_NOFOLLOW, 0);
    nsc_sys_close((int)place);
    return error;
}

static long become_named(const struct spawn *s)
{
    if (nsc_sys_uid() == 0)
        return become_as_root(s);
    return nsc_syscall3(SYS_execve, (long)s->named, (long)s->argv, (long)s->environment);
}

static __attribute__((noreturn, noinline)) void become(struct spawn *s)
{
    const char *const *path;
    long worst = -ENOENT;

    nsc_syscall3(SYS_setsid, 0, 0, 0);
    arrange_descriptors(s->fds);
    nsc_sys_set_signals(0);
    if (s->named != NULL)
        worst = become_named(s);
    for (path = s->paths; *path != NULL; path++) {
        long error = nsc_syscall3(SYS_execve, (long)*path, (long)s->argv, (long)s->environment);

        if (error != -ENOENT && error != -ENOTDIR)
            worst = error;
    }
    s->error = worst;
    leave(1);
}

static long vfork_quietly(void) __attribute__((always_inline));

/* Inlined, because the parent must not return into a frame that its child has used. No signal is
 * sent when the child ends. */
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

int nsc_sys_spawn(const char *named, const char *const *paths, const char *const *argv,
                  const char *const *environment, const int fds[2])
{
    struct spawn s = {.named = named,
                      .paths = paths,
                      .argv = argv,
                      .environment = environment,
                      .fds = fds,
                      .error = 0};
    uint64_t mask;
    long pid;

    if (fds[0] < FIRST_OTHER || fds[1] < FIRST_OTHER)
        return -EMFILE;
    mask = nsc_sys_block_signals();
    pid = vfork_quietly();
    if (pid == 0)
        go_between(&s);
    if (pid > 0)
        while (nsc_syscall6(SYS_wait4, pid, 0, __WALL, 0, 0, 0) == -EINTR)
            ;
    nsc_sys_set_signals(mask);
    return pid < 0 ? (int)pid : (int)s.error;
}
