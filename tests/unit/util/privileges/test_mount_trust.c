/* Mounts: one's own, those of a process in another mount namespace, those of another user's. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "util/privileges/credentials.h"
#include "util/privileges/mount_trust.h"

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

/* In a child: namespaces of its own, with a new file system on /tmp that holds /tmp/file. */
static bool enter_namespaces(int flags)
{
    bool in_user_namespace = (flags & CLONE_NEWUSER) != 0;
    char users[32], groups[32];

    snprintf(users, sizeof users, "0 %u 1", geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", getegid());
    return unshare(flags) == 0 &&
           (!in_user_namespace || (write_text("/proc/self/uid_map", users) &&
                                   write_text("/proc/self/setgroups", "deny") &&
                                   write_text("/proc/self/gid_map", groups))) &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0 && write_text("/tmp/file", "x");
}

/* Start a child in namespaces of its own. Returns its pid; 0: they are not permitted here. */
static pid_t start_child(int flags)
{
    int ends[2];
    char byte = 0;
    pid_t child;

    if (pipe(ends) != 0)
        return 0;
    child = fork();
    if (child == 0) {
        byte = enter_namespaces(flags) ? 'y' : 'n';
        (void)!write(ends[1], &byte, 1);
        pause();
        _exit(0);
    }
    (void)!read(ends[0], &byte, 1);
    close(ends[0]);
    close(ends[1]);
    if (byte == 'y')
        return child;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}

static bool is_trusted(pid_t child, const char *file, pid_t pid)
{
    char path[64];
    bool trusted;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/root%s", (int)child, file);
    fd = open(path, O_PATH | O_CLOEXEC);
    trusted = nsc_mount_is_trusted(fd, pid);
    if (fd >= 0)
        close(fd);
    return trusted;
}

static int open_error(pid_t child, pid_t pid)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%d/root/tmp/file", (int)child);
    fd = nsc_credentials_open(NULL, pid, path);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

static void test_other(int flags, const char *what, bool trusted)
{
    pid_t child = start_child(flags);

    if (child == 0) {
        printf("ok %d - %s # skip not permitted here\n", ++t_count, what);
        return;
    }
    CHECK(!is_trusted(child, "/tmp/file", 0));
    CHECK(is_trusted(child, "/tmp/file", child) == trusted);
    CHECK(open_error(child, 0) == -EOPNOTSUPP);
    CHECK(open_error(child, child) == (trusted ? 0 : -EOPNOTSUPP));
    CHECK(!is_trusted(child, "/usr", 0)); /* a copy of one of our mounts */
    CHECK(is_trusted(child, "/usr", child));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

enum { IS_OWN, IS_NOT, NOT_PERMITTED };

/* In a child: mount a FUSE that user @server serves, whose source is @source, and ask. */
static int ask_fuse(const char *source, unsigned server)
{
    char options[96];
    int device, fd;

    if (!enter_namespaces(CLONE_NEWNS))
        return NOT_PERMITTED;
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device, server,
             server);
    if (device < 0 || mkdir("/tmp/fuse", 0755) != 0 ||
        mount(source, "/tmp/fuse", "fuse", MS_NOSUID | MS_NODEV, options) != 0)
        return NOT_PERMITTED;
    fd = open("/tmp/fuse", O_PATH | O_CLOEXEC);
    return fd < 0 ? NOT_PERMITTED : nsc_mount_is_own(fd) ? IS_OWN : IS_NOT;
}

static void check_answer(pid_t child, const char *what, int expected)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_PERMITTED)
        printf("ok %d - %s # skip not permitted here\n", ++t_count, what);
    else
        CHECK(WEXITSTATUS(status) == expected);
}

static void test_fuse(const char *source, unsigned server, int expected)
{
    pid_t child = fork();

    if (child == 0)
        _exit(ask_fuse(source, server));
    check_answer(child, "FUSE", expected);
}

/* In a child: make a folder that is no mount point the root, and ask. */
static int ask_in_chroot(void)
{
    int fd;

    if (!enter_namespaces(CLONE_NEWNS) || mkdir("/tmp/root", 0755) != 0 ||
        mkdir("/tmp/root/proc", 0755) != 0 ||
        mount("/proc", "/tmp/root/proc", NULL, MS_BIND | MS_REC, NULL) != 0 ||
        chroot("/tmp/root") != 0 || chdir("/") != 0)
        return NOT_PERMITTED;
    fd = open("/", O_PATH | O_CLOEXEC);
    return nsc_mount_is_own(fd) && nsc_mount_is_trusted(fd, 0) ? IS_OWN : IS_NOT;
}

static void test_chroot(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(ask_in_chroot());
    check_answer(child, "a root that is no mount point", IS_OWN);
}

int main(void)
{
    int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);

    test_fuse("plain", geteuid(), IS_OWN);
    test_fuse("plain", 65533, IS_NOT);
    test_fuse("user_id=0", 65533, IS_NOT);
    test_fuse("a b,user_id=0 rw,user_id=0", 65533, IS_NOT);
    test_chroot();
    CHECK(nsc_mount_is_own(fd));

    CHECK(nsc_mount_is_trusted(fd, 0));
    CHECK(nsc_mount_is_trusted(fd, getpid()));
    close(fd);
    CHECK(!nsc_mount_is_trusted(fd, 0)); /* not open */
    test_other(CLONE_NEWNS, "a mount namespace of the same user namespace", true);
    test_other(CLONE_NEWUSER | CLONE_NEWNS, "a mount namespace of another user's", false);
    return t_done();
}
