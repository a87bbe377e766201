/*
 * socket.c (Linux) - local sockets, and checks of file ownership, for the control endpoint and for
 * starting a recording by name; see linux/sys/sys.h. Part of the traced program: compiled without
 * libc and vector registers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/stat.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "linux/sys/sys.h"
#include "linux/sys/syscall.h"

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

#define BACKLOG 16

uint32_t nsc_sys_uid(void)
{
    return (uint32_t)nsc_syscall3(SYS_geteuid, 0, 0, 0);
}

void nsc_sys_set_thread_name(const char *name)
{
    nsc_syscall3(SYS_prctl, PR_SET_NAME, (long)name, 0);
}

/* Does not ask the server of a file system: that of a user need not answer. */
static int look_at(int fd, const char *path, struct statx *to)
{
    return (int)nsc_syscall6(SYS_statx, fd, (long)path,
                             AT_STATX_DONT_SYNC | (path[0] == 0 ? AT_EMPTY_PATH : 0),
                             STATX_BASIC_STATS, (long)to, 0);
}

int nsc_sys_owner(int fd, uint32_t *uid)
{
    struct statx st;
    int error = look_at(fd, "", &st);

    if (error == 0)
        *uid = st.stx_uid;
    return error;
}

int nsc_sys_is_own_memory(int fd, const uint64_t *inode)
{
    struct statx st;

    return look_at(fd, "", &st) == 0 && (st.stx_mode & S_IFMT) == S_IFREG && st.stx_nlink == 0 &&
           (st.stx_uid == 0 || st.stx_uid == nsc_sys_uid()) &&
           (inode == NULL || st.stx_ino == *inode);
}

int nsc_sys_open_link(const char *path)
{
    return (int)nsc_syscall6(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
                             0, 0);
}

int nsc_sys_read_link(int fd, char *to, size_t bytes)
{
    long n = nsc_syscall6(SYS_readlinkat, fd, (long)"", (long)to, (long)bytes - 1, 0, 0);

    if (n < 0)
        return (int)n;
    to[n] = 0;
    return (size_t)n < bytes - 1 ? 0 : -ENAMETOOLONG;
}

void nsc_sys_make_directory(const char *path)
{
    nsc_syscall3(SYS_mkdirat, AT_FDCWD, (long)path, 0700);
}

int nsc_sys_own_directory(const char *path, uint32_t uid)
{
    struct statx st;
    int fd, error;

    fd = (int)nsc_syscall6(SYS_openat, AT_FDCWD, (long)path,
                           O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return fd;
    error = look_at(fd, "", &st);
    nsc_sys_close(fd);
    if (error < 0)
        return error;
    return st.stx_uid == uid && (st.stx_mode & 077) == 0 ? 0 : -EPERM;
}

/* Create a socket that preserves messages, and fill @address from @path. */
static int open_socket(const char *path, struct sockaddr_un *address)
{
    size_t i = 0;

    address->sun_family = AF_UNIX;
    do {
        if (i == sizeof(address->sun_path))
            return -ENAMETOOLONG;
        address->sun_path[i] = path[i];
    } while (path[i++] != 0);
    return (int)nsc_syscall3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int nsc_sys_connect(const char *path)
{
    struct sockaddr_un address;
    int fd = open_socket(path, &address);
    long error;

    if (fd < 0)
        return fd;
    error = nsc_syscall3(SYS_connect, fd, (long)&address, sizeof(address));
    if (error == 0)
        return fd;
    nsc_sys_close(fd);
    return (int)error;
}

int nsc_sys_listen(const char *path)
{
    struct sockaddr_un address;
    long fd = open_socket(path, &address), error;

    if (fd < 0)
        return (int)fd;
    fd = nsc_sys_raise_fd((int)fd);
    nsc_sys_remove(path); /* left by an earlier process with the same pid */
    /* bind() creates the file with the socket's mode, less the umask, which the program
     * controls. */
    error = nsc_syscall3(SYS_fchmod, fd, 0600, 0);
    if (error == 0)
        error = nsc_syscall3(SYS_bind, fd, (long)&address, sizeof(address));
    if (error == 0)
        error = nsc_syscall3(SYS_listen, fd, BACKLOG, 0);
    if (error == 0)
        return (int)fd;
    nsc_sys_close((int)fd);
    return (int)error;
}

void nsc_sys_remove(const char *path)
{
    nsc_syscall3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
}

uint64_t nsc_sys_socket_cookie(int fd)
{
    uint64_t cookie = 0;
    uint32_t bytes = sizeof(cookie);
    long error =
        nsc_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, (long)&cookie, (long)&bytes, 0);

    return error == 0 ? cookie : 0;
}

int nsc_sys_accept(int fd, uint32_t *uid)
{
    struct ucred peer;
    uint32_t bytes = sizeof(peer);
    long client = nsc_syscall6(SYS_accept4, fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0);
    long error;

    if (client < 0)
        return (int)client;
    client = nsc_sys_raise_fd((int)client);
    error =
        nsc_syscall6(SYS_getsockopt, client, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&bytes, 0);
    if (error < 0) {
        nsc_sys_close((int)client);
        return (int)error;
    }
    *uid = peer.uid;
    return (int)client;
}

/* Return the descriptor that a message carries; -1: none, -EPROTO: several. */
static int take_descriptor(struct msghdr *message)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    const int *fds;
    size_t count, i;

    if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return -1;
    fds = (const int *)(const void *)CMSG_DATA(head);
    count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(*fds);
    if (count == 1)
        return nsc_sys_raise_fd(fds[0]);
    for (i = 0; i < count; i++)
        nsc_sys_close(fds[i]);
    return -EPROTO;
}

int nsc_sys_receive(int fd, void *to, size_t bytes, int *passed)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = to, .iov_len = bytes};
    struct msghdr message;
    long n;

    message.msg_name = NULL;
    message.msg_namelen = 0;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    message.msg_flags = 0;
    /* The fields are set one by one: for an initialiser the compiler would call memset. */
    n = nsc_syscall3(SYS_recvmsg, fd, (long)&message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    *passed = n >= 0 ? take_descriptor(&message) : -1;
    return n == (long)bytes && *passed >= -1 && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0
               ? 0
               : -EPROTO;
}

long nsc_sys_send(int fd, const void *from, size_t bytes)
{
    return nsc_syscall6(SYS_sendto, fd, (long)from, (long)bytes, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
}

/* Return the state of the process's main thread, a letter as in proc(5); 0 if unknown. */
static char first_threads_state(void)
{
    char text[64]; /* `pid (name) state ...`; a name has at most 15 bytes */
    int fd = nsc_sys_open("/proc/self/stat", 0);
    long n, i;

    if (fd < 0)
        return 0;
    n = nsc_sys_read(fd, text, sizeof(text));
    nsc_sys_close(fd);
    for (i = n - 3; i > 0; i--)
        if (text[i] == ')')
            return text[i + 2];
    return 0;
}

enum nsc_sys_others nsc_sys_other_threads(void)
{
    struct statx st;

    if (first_threads_state() != 'Z')
        return NSC_SYS_OTHERS_RUN;
    /* Links of the directory: itself, its parent, and one per thread. */
    if (look_at(AT_FDCWD, "/proc/self/task", &st) == 0 && st.stx_nlink == 4)
        return NSC_SYS_OTHERS_OVER;
    return NSC_SYS_OTHERS_WITHOUT_FIRST;
}
