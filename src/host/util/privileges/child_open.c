/* child_open.c - see child_open.h. */
#include "util/privileges/child_open.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/now.h"
#include "util/privileges/child.h"
#include "util/privileges/inherited.h"

#define TIMEOUT_NS 2000000000ull

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* The child's part: sends the descriptor or the error. */
__attribute__((noreturn)) static void open_and_send(int (*open_file)(const void *context),
                                                    const void *context, int socket, int keep)
{
    union control control = {0};
    struct iovec part;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int fd;

    nsc_inherited_drop((const int[]){socket, keep}, 2, NULL);
    fd = open_file(context);
    part = (struct iovec){.iov_base = &fd, .iov_len = sizeof fd};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    _exit(sendmsg(socket, &message, MSG_NOSIGNAL) < 0);
}

static int receive(pid_t child, int socket)
{
    union control control = {0};
    int result = -EIO, fd = -1, error;
    struct iovec part = {.iov_base = &result, .iov_len = sizeof result};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    error = nsc_child_wait_readable(child, socket, nsc_now_ns() + TIMEOUT_NS);
    if (error != 0)
        return error;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof result)
        return -EIO;
    if (message.msg_controllen >= sizeof control.head && control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    return fd >= 0 ? fd : result < 0 ? result : -EIO;
}

int nsc_child_open(int (*open)(const void *context), const void *context, int keep)
{
    int ends[2], fd;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    child = fork();
    if (child == 0)
        open_and_send(open, context, ends[1], keep);
    close(ends[1]);
    fd = child > 0 ? receive(child, ends[0]) : -EAGAIN;
    close(ends[0]);
    if (child > 0)
        (void)nsc_child_end(child, 0);
    return fd;
}
