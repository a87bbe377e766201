/* command_server.c - the recorder's half of command_server.h. */
#include "record/control/command_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "abi/control.h"
#include "process/find/endpoint_client.h"
#include "process/find/user_folder.h"

#define MS            1000000ull
/* Time between checks for clients; short enough to go unnoticed, at negligible cost. */
#define LOOK_NS       (2 * MS)
/* A client that has not sent its request by then is disconnected. */
#define PATIENCE_NS   (1000 * MS)
/* Length of the queue of clients to be accepted. */
#define BACKLOG       16
#define SOCKET_SUFFIX ".rec"

static int system_error(struct nsc_diag *diag, int error, const char *what, const char *path)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot %s %s: %s", what, path,
                        strerror(error));
}

int nsc_command_directory(struct nsc_diag *diag)
{
    char path[NSC_USER_FOLDER_MAX];

    return nsc_user_folder_open(path, diag);
}

/* Addresses the socket through the opened directory, even if others rename it. */
static void socket_address(int directory, const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%.64s", directory,
             name);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The caller holds the lock on the directory, so no recorder is between bind() and listen(). */
static bool is_stale(int directory, const char *name)
{
    struct sockaddr_un address;

    socket_address(directory, name, &address);
    return nsc_endpoint_is_left(address.sun_path);
}

/* Removes the sockets of recorders that were killed. */
static void sweep(int directory)
{
    int copy = fcntl(directory, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;

    if (dir == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }
    rewinddir(dir); /* the copy shares its offset with the original */
    while ((entry = readdir(dir)) != NULL) {
        const char *dot = strrchr(entry->d_name, '.');

        if (dot != NULL && strcmp(dot, SOCKET_SUFFIX) == 0 && is_stale(directory, entry->d_name))
            unlinkat(directory, entry->d_name, 0);
    }
    closedir(dir);
}

/* Reports which recorder already records the program. */
static int say_busy(const char *folder, const char *name, pid_t pid, struct nsc_diag *diag)
{
    struct nsc_command_reply *reply = malloc(sizeof *reply);
    char path[NSC_USER_FOLDER_MAX + 32];
    int error;

    snprintf(path, sizeof path, "%s/%.30s", folder, name);
    if (reply != NULL &&
        nsc_command_call(path, NSC_COMMAND_STATUS, NULL, 0, NULL, NULL, reply, NULL) == 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBUSY,
                             "process %ld is being recorded by nanoscope %ld into %.300s; "
                             "`nanoscope stop -p %ld` ends that",
                             (long)pid, (long)reply->recorder_pid, reply->output, (long)pid);
    else
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBUSY,
                             "process %ld is being recorded by another nanoscope, which does not "
                             "answer (%s)",
                             (long)pid, name);
    free(reply);
    return error;
}

static int listen_at(int directory, const char *name, struct nsc_diag *diag)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;
    struct sockaddr_un address;
    mode_t mask;

    if (fd < 0)
        return system_error(diag, errno, "make", "a socket");
    socket_address(directory, name, &address);
    mask = umask(0177);
    error = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    umask(mask);
    if (error == 0 && listen(fd, BACKLOG) != 0)
        error = errno;
    if (error == 0)
        return fd;
    close(fd);
    return error == EADDRINUSE ? -error : system_error(diag, error, "listen at", name);
}

static void socket_name(char name[32], pid_t pid)
{
    snprintf(name, 32, "%ld" SOCKET_SUFFIX, (long)pid);
}

int nsc_command_open(pid_t pid, struct nsc_command_server *server, struct nsc_diag *diag)
{
    char folder[NSC_USER_FOLDER_MAX];
    int directory = nsc_user_folder_open(folder, diag), fd;
    char name[32];
    size_t i;

    server->fd = -1;
    if (directory < 0)
        return directory;
    socket_name(name, pid);
    flock(directory, LOCK_EX);
    sweep(directory);
    fd = listen_at(directory, name, diag);
    flock(directory, LOCK_UN);
    if (fd < 0) {
        fd = fd == -EADDRINUSE ? say_busy(folder, name, pid, diag) : fd;
        close(directory);
        return fd;
    }
    *server = (struct nsc_command_server){.fd = fd, .directory = directory};
    memcpy(server->name, name, sizeof name);
    memcpy(server->folder, folder, sizeof folder);
    for (i = 0; i < NSC_COMMAND_CLIENTS_MAX; i++)
        server->clients[i].fd = -1;
    return 0;
}

int nsc_command_rename(struct nsc_command_server *server, pid_t pid, struct nsc_diag *diag)
{
    char name[32];
    int error = 0;

    if (server->fd < 0)
        return 0;
    socket_name(name, pid);
    flock(server->directory, LOCK_EX);
    if (faccessat(server->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_stale(server->directory, name))
        unlinkat(server->directory, name, 0);
    if (linkat(server->directory, server->name, server->directory, name, 0) != 0)
        error = errno;
    else
        unlinkat(server->directory, server->name, 0);
    flock(server->directory, LOCK_UN);
    if (error == EEXIST)
        return say_busy(server->folder, name, pid, diag);
    if (error != 0)
        return system_error(diag, error, "name", name);
    memcpy(server->name, name, sizeof name);
    return 0;
}

void nsc_command_close(struct nsc_command_server *server)
{
    size_t i;

    if (server->fd < 0)
        return;
    if (!server->gone)
        unlinkat(server->directory, server->name, 0);
    close(server->fd);
    close(server->directory);
    for (i = 0; i < NSC_COMMAND_CLIENTS_MAX; i++)
        if (server->clients[i].fd >= 0)
            close(server->clients[i].fd);
    server->fd = -1;
}

/* ---- Clients --------------------------------------------------------------------------------- */

static void let_go(struct nsc_command_client *client)
{
    close(client->fd);
    client->fd = -1;
}

static bool is_welcome(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* Accepts waiting clients, up to the maximum. */
static void let_in(struct nsc_command_server *server, uint64_t now_ns)
{
    size_t i;

    for (i = 0; i < NSC_COMMAND_CLIENTS_MAX; i++) {
        int fd;

        if (server->clients[i].fd >= 0)
            continue;
        fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        if (is_welcome(fd))
            server->clients[i] = (struct nsc_command_client){.fd = fd, .since_ns = now_ns};
        else
            close(fd);
    }
}

/* True if a waiting client has disconnected; it sends no more requests. */
static bool has_gone(const struct nsc_command_client *client)
{
    struct pollfd set = {.fd = client->fd, .events = POLLRDHUP};

    return poll(&set, 1, 0) > 0 && (set.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Reads a client's request. Disconnects the client if it sends anything else, or is slow. */
static bool read_request(struct nsc_command_client *client, uint64_t now_ns,
                         struct nsc_command *command)
{
    struct nsc_command_request request;
    struct iovec parts[] = {{&request, sizeof request}, {command->text, sizeof command->text}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t got = recvmsg(client->fd, &message, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR) && now_ns - client->since_ns < PATIENCE_NS)
        return false;
    if (got < (ssize_t)sizeof request || (message.msg_flags & MSG_TRUNC) != 0 ||
        request.magic != NSC_COMMAND_MAGIC || request.text_bytes != (size_t)got - sizeof request) {
        let_go(client);
        return false;
    }
    command->client = client;
    command->verb = request.verb;
    command->text_bytes = request.text_bytes;
    return true;
}

bool nsc_command_next(struct nsc_command_server *server, uint64_t now_ns,
                      struct nsc_command *command)
{
    size_t i;

    if (server->fd < 0 || now_ns - server->looked_ns < LOOK_NS)
        return false;
    let_in(server, now_ns);
    for (i = 0; i < NSC_COMMAND_CLIENTS_MAX; i++) {
        struct nsc_command_client *client = &server->clients[i];

        if (client->fd < 0)
            continue;
        if (!client->waits && read_request(client, now_ns, command))
            return true;
        if (client->waits && has_gone(client))
            let_go(client);
    }
    server->looked_ns = now_ns;
    return false;
}

/* Returns false if the client does not read its replies; the caller then disconnects it. */
static bool send_reply(const struct nsc_command_client *client,
                       const struct nsc_command_reply *reply)
{
    return send(client->fd, reply, sizeof *reply, MSG_DONTWAIT | MSG_NOSIGNAL) ==
           (ssize_t)sizeof *reply;
}

static bool waits_for_end(uint32_t verb)
{
    return verb == NSC_COMMAND_STOP || verb == NSC_COMMAND_SNAPSHOT;
}

void nsc_command_answer(struct nsc_command_server *server, const struct nsc_command *command,
                        const struct nsc_command_reply *reply)
{
    struct nsc_command_client *client = command->client;

    (void)server;
    client->waits = send_reply(client, reply) && waits_for_end(command->verb) &&
                    reply->error == 0 && reply->phase != NSC_COMMAND_DONE;
    if (!client->waits)
        let_go(client);
}

void nsc_command_tell(struct nsc_command_server *server, const struct nsc_command_reply *reply)
{
    size_t i;

    /* Remove the name first: a client may start another recording as soon as it reads DONE. */
    if (server->fd >= 0 && reply->phase == NSC_COMMAND_DONE) {
        unlinkat(server->directory, server->name, 0);
        server->gone = true;
    }
    for (i = 0; i < NSC_COMMAND_CLIENTS_MAX; i++) {
        struct nsc_command_client *client = &server->clients[i];

        if (client->fd < 0 || !client->waits)
            continue;
        if (!send_reply(client, reply) || reply->phase == NSC_COMMAND_DONE)
            let_go(client);
    }
}

void nsc_command_hand_over(const struct nsc_command *command)
{
    let_go(command->client);
}

void nsc_command_take_over(struct nsc_command_server *server, const struct nsc_command *command)
{
    size_t i;

    for (i = 0; i < NSC_COMMAND_CLIENTS_MAX; i++)
        if (server->clients[i].fd >= 0 && &server->clients[i] != command->client)
            let_go(&server->clients[i]);
    command->client->waits = true;
    close(server->fd);
    close(server->directory);
    server->fd = -1;
}
