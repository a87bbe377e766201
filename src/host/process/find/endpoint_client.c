/* endpoint_client.c - see endpoint_client.h. */
#include "process/find/endpoint_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/control.h"
#include "process/find/user_folder.h"
#include "process/procfs/procfs.h"
#include "util/now.h"

/* Time limits to receive the reply; some verbs patch all sleds. */
#define REPLY_MS 2000
#define LOOK_MS  100 /* interval of looks at the limit */
#define RETRY_NS 2000000
/* A younger socket may be bound, but not listened at yet. */
#define BORN_S   10

static int fail(struct nsc_diag *diag, int error, pid_t pid, const char *what)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "the endpoint of process %ld: %s",
                        (long)pid, what);
}

/* Return the pid of the process in its own pid namespace, which the socket's name has. */
static unsigned long own_pid(pid_t pid)
{
    char status[NSC_PROCFS_STATUS_MAX], *line, *end;
    unsigned long number = (unsigned long)pid;

    if (nsc_procfs_read(pid, "status", status, sizeof status) <= 0)
        return number;
    line = strstr(status, "\nNSpid:");
    if (line == NULL)
        return number;
    for (line += strlen("\nNSpid:"); *line == '\t' || *line == ' '; line = end)
        number = strtoul(line, &end, 10); /* the innermost namespace is last */
    return number;
}

/* Return the number of user @uid in the user namespace of the process. */
static unsigned long own_uid(pid_t pid, uid_t uid)
{
    unsigned long inside, outside, count;
    char map[NSC_PROCFS_STATUS_MAX];
    const char *line = map;
    int length;

    if (nsc_procfs_read(pid, "uid_map", map, sizeof map) <= 0)
        return uid;
    while (sscanf(line, "%lu %lu %lu%n", &inside, &outside, &count, &length) == 3) {
        if (uid >= outside && uid - outside < count)
            return inside + (uid - outside);
        line += length;
    }
    return uid;
}

/* Open the socket of a process (O_PATH), in its mount namespace or in this one. Returns a
 * descriptor or -ENOENT. */
static int find_socket(pid_t pid, uid_t uid)
{
    unsigned long user = own_uid(pid, uid), number = own_pid(pid);
    char folder[NSC_USER_FOLDER_MAX], path[NSC_USER_FOLDER_MAX + 32];

    for (unsigned i = 0; i < 2 * NSC_CONTROL_FOLDERS; i++) {
        int fd;

        nsc_user_folder_path(user, i / 2, folder);
        snprintf(path, sizeof path, "%s/%lu.sock", folder, number);
        /* If /proc/PID/root is not accessible, the process is probably in this mount namespace. */
        fd = nsc_user_folder_socket(i % 2 == 0 ? pid : 0, path, &uid);
        if (fd >= 0)
            return fd;
    }
    return -ENOENT;
}

/* Connect to the endpoint; waits while its queue is full. @listener: receives the effective user
 * who began to listen; NULL: not wanted. Returns a socket or -errno with @diag. */
static int connect_to(pid_t pid, uid_t uid, uint64_t deadline_ns, uid_t *listener,
                      struct nsc_diag *diag)
{
    const struct timespec pause = {.tv_nsec = RETRY_NS};
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    int fd, place = find_socket(pid, uid);

    if (place < 0)
        return fail(diag, ENOENT, pid, "it has none");
    while ((fd = nsc_user_folder_connect(place)) == -EAGAIN || fd == -EINTR) {
        if (nsc_now_ns() >= deadline_ns)
            break;
        nanosleep(&pause, NULL);
    }
    close(place);
    if (fd == -EAGAIN)
        return fail(diag, ETIMEDOUT, pid, "too many others wait for it");
    if (fd < 0)
        return fail(diag, -fd, pid, strerror(-fd));
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.pid != pid) {
        close(fd);
        return fail(diag, ESRCH, pid, "another process listens there");
    }
    if (listener != NULL)
        *listener = peer.uid;
    return fd;
}

bool nsc_endpoint_listens(pid_t pid, uid_t uid, uint64_t deadline_ns)
{
    int fd = connect_to(pid, uid, deadline_ns, NULL, NULL);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int send_request(int socket, const struct nsc_control_request *request, int fd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct nsc_control_request copy = *request;
    struct iovec part = {.iov_base = &copy, .iov_len = sizeof copy};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof copy ? 0 : -errno;
}

static bool is_long(uint64_t verb)
{
    return verb == NSC_CONTROL_JOIN || verb == NSC_CONTROL_APPLY || verb == NSC_CONTROL_OFF;
}

/* @end_ns: limit for this reply. */
static int receive_reply(int socket, const struct nsc_endpoint_target *target, uint64_t end_ns,
                         int64_t *result, struct nsc_diag *diag)
{
    struct pollfd readable = {.fd = socket, .events = POLLIN};
    struct nsc_control_reply reply;
    pid_t pid = target->pid;
    ssize_t got;
    int ready;

    do
        ready = poll(&readable, 1, LOOK_MS);
    while (ready <= 0 && (ready == 0 || errno == EINTR) && nsc_now_ns() < end_ns &&
           !nsc_call_limit_is_over(target->limit));
    if (ready <= 0)
        return fail(diag, ETIMEDOUT, pid, "no reply");
    got = recv(socket, &reply, sizeof reply, MSG_TRUNC);
    if (got <= 0)
        return fail(diag, EACCES, pid,
                    "it refused the request: it serves its own user and root only, and programs "
                    "of this version");
    if (got != (ssize_t)sizeof reply || reply.magic != NSC_CONTROL_MAGIC)
        return fail(diag, EPROTO, pid, "the reply is none of this version");
    *result = reply.result;
    return 0;
}

int nsc_endpoint_call(const struct nsc_endpoint_target *target, uint64_t verb, uint64_t argument,
                      int fd, int64_t *result, struct nsc_diag *diag)
{
    const struct nsc_control_request request = {
        .magic = NSC_CONTROL_MAGIC, .verb = (uint32_t)verb, .argument = argument};
    uid_t listener;
    int socket = connect_to(target->pid, target->uid, nsc_now_ns() + NSC_ENDPOINT_CONNECT_NS,
                            &listener, diag);
    int error;

    if (socket < 0)
        return socket;
    /* A child of the process may serve the socket still, after it has executed a program with
     * rights that this child lacks. */
    if (listener != target->effective && listener != 0)
        error = fail(diag, ESRCH, target->pid, "it began to listen as another user");
    else if ((error = send_request(socket, &request, fd)) != 0)
        error = fail(diag, error, target->pid, strerror(-error));
    else
        error = receive_reply(socket, target,
                              is_long(verb) ? UINT64_MAX : nsc_now_ns() + REPLY_MS * 1000000ull,
                              result, diag);
    close(socket);
    return error;
}

/* ---- What killed programs left ----------------------------------------------------------------
 */

bool nsc_endpoint_is_left(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool left;
    int fd;

    if (strlen(path) >= sizeof address.sun_path)
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    left = connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 &&
           errno == ECONNREFUSED;
    close(fd);
    return left;
}

/* Return true if @path is a socket of this user's, and not new. */
static bool is_old(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid() &&
           time(NULL) - st.st_mtime >= BORN_S;
}

void nsc_endpoint_sweep(void)
{
    struct nsc_user_files found;

    if (nsc_user_folder_find(false, ".sock", &found) != 0)
        return;
    for (uint32_t i = 0; i < found.count; i++)
        if (is_old(found.paths[i]) && nsc_endpoint_is_left(found.paths[i]))
            unlink(found.paths[i]);
    nsc_user_files_free(&found);
}
