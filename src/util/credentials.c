/* credentials.c - see credentials.h. */
#include "util/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/child.h"

#define FUSE_SUPER_MAGIC 0x65735546 /* no header of the C library's defines it */

enum { STATUS_BYTES_MAX = 16384, OPEN_TIMEOUT_MS = 2000 };

/* ---- Reading --------------------------------------------------------------------------------- */

/* What follows "\n@key:", or NULL. */
static const char *field(const char *status, const char *key)
{
    char label[32];
    const char *found;

    snprintf(label, sizeof label, "\n%s:", key);
    found = strstr(status, label);
    return found != NULL ? found + strlen(label) : NULL;
}

/* The four ids of a line: real, effective, saved, file system. */
static bool read_ids(const char *status, const char *key, uint32_t *effective, bool *mixed)
{
    const char *line = field(status, key);
    unsigned real, saved, file, used;

    if (line == NULL || sscanf(line, "%u %u %u %u", &real, &used, &saved, &file) != 4)
        return false;
    *effective = used;
    *mixed |= real != used || saved != used || file != used;
    return true;
}

static int read_groups(const char *status, struct nsc_credentials *c)
{
    const char *at = field(status, "Groups");

    if (at == NULL)
        return -EBADMSG;
    for (;;) {
        char *end;

        at += strspn(at, " \t");
        if (*at < '0' || *at > '9')
            return 0;
        if (c->group_count == NSC_CREDENTIALS_GROUPS_MAX)
            return -E2BIG;
        c->groups[c->group_count++] = (gid_t)strtoul(at, &end, 10);
        at = end;
    }
}

int nsc_credentials_parse(const char *status, struct nsc_credentials *out)
{
    struct nsc_credentials c = {0};
    const char *permitted = field(status, "CapPrm");
    int error;

    if (permitted == NULL || !read_ids(status, "Uid", &c.uid, &c.mixed) ||
        !read_ids(status, "Gid", &c.gid, &c.mixed))
        return -EBADMSG;
    c.capabilities = strtoull(permitted, NULL, 16);
    error = read_groups(status, &c);
    if (error == 0)
        *out = c;
    return error;
}

int nsc_credentials_read(pid_t pid, struct nsc_credentials *out)
{
    char path[48] = "/proc/self/status", *text;
    size_t length = 0;
    ssize_t got = 0;
    int fd, error;

    if (pid != 0)
        snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -ESRCH;
    text = malloc(STATUS_BYTES_MAX);
    while (text != NULL && length < STATUS_BYTES_MAX - 1 &&
           (got = read(fd, text + length, STATUS_BYTES_MAX - 1 - length)) > 0)
        length += (size_t)got;
    close(fd);
    if (text == NULL)
        return -ENOMEM;
    text[length] = 0;
    error = length > 0 ? nsc_credentials_parse(text, out) : -ESRCH;
    free(text);
    return error;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

bool nsc_credentials_cover(const struct nsc_credentials *holder,
                           const struct nsc_credentials *process)
{
    if (holder->mixed || (process->capabilities & ~holder->capabilities) != 0)
        return false;
    return holder->uid == 0 ||
           (!process->mixed && holder->uid == process->uid && holder->gid == process->gid &&
            holder->group_count == process->group_count &&
            memcmp(holder->groups, process->groups, holder->group_count * sizeof(gid_t)) == 0);
}

bool nsc_credentials_are_foreign(const struct nsc_credentials *credentials)
{
    struct nsc_credentials own;

    return geteuid() == 0 && (credentials->uid != 0 || nsc_credentials_read(0, &own) != 0 ||
                              (own.capabilities & ~credentials->capabilities) != 0);
}

/* ---- Taking them on -------------------------------------------------------------------------- */

/* Root stays root: the capabilities that @c lacks go. */
static int keep_capabilities(const struct nsc_credentials *c)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (syscall(SYS_capget, &head, sets) != 0)
        return -errno;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets[i].permitted &= (uint32_t)(c->capabilities >> 32 * i);
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    return syscall(SYS_capset, &head, sets) == 0 ? 0 : -errno;
}

int nsc_credentials_assume(const struct nsc_credentials *c)
{
    if (nsc_credentials_are_foreign(c) &&
        (setgroups(c->group_count, c->groups) != 0 || setresgid(c->gid, c->gid, c->gid) != 0 ||
         setresuid(c->uid, c->uid, c->uid) != 0 || (c->uid == 0 && keep_capabilities(c) != 0)))
        return -errno;
    if (geteuid() != c->uid)
        return -EPERM;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno;
}

int nsc_open_regular(const char *path)
{
    int place = open(path, O_PATH | O_CLOEXEC), fd;
    char link[48];
    struct stat st;

    if (place < 0)
        return -errno;
    if (fstat(place, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(place);
        return -EINVAL;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", place);
    fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    fd = fd >= 0 ? fd : -errno;
    close(place);
    return fd;
}

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* The child's half: sends the descriptor, or the error. */
static void open_and_send(const struct nsc_credentials *credentials, const char *path, int socket)
{
    int fd = credentials != NULL ? nsc_credentials_assume(credentials) : 0;
    union control control = {0};
    struct iovec part = {.iov_base = &fd, .iov_len = sizeof fd};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    struct statfs fs;

    if (fd == 0)
        fd = nsc_open_regular(path);
    /* It would hold up whoever reads or closes it. */
    if (fd >= 0 && (fstatfs(fd, &fs) != 0 || fs.f_type == FUSE_SUPER_MAGIC))
        fd = -EOPNOTSUPP;
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    _exit(sendmsg(socket, &message, MSG_NOSIGNAL) < 0);
}

static int receive(int socket)
{
    struct pollfd readable = {.fd = socket, .events = POLLIN};
    union control control = {0};
    int result = -EIO, fd = -1, ready;
    struct iovec part = {.iov_base = &result, .iov_len = sizeof result};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    do
        ready = poll(&readable, 1, OPEN_TIMEOUT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return -ETIMEDOUT;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof result)
        return -EIO;
    if (message.msg_controllen >= sizeof control.head && control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    return fd >= 0 ? fd : result < 0 ? result : -EIO;
}

int nsc_credentials_open(const struct nsc_credentials *credentials, const char *path)
{
    int ends[2], fd;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    child = fork();
    if (child == 0)
        open_and_send(credentials, path, ends[1]);
    close(ends[1]);
    fd = child > 0 ? receive(ends[0]) : -EAGAIN;
    close(ends[0]);
    if (child > 0)
        (void)nsc_child_end(child, 0);
    return fd;
}
