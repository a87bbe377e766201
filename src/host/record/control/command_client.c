/* command_client.c - the client's half of command_server.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/find/user_folder.h"
#include "record/control/command_server.h"
#include "util/now.h"

enum {
    PATIENCE_MS = 5000, /* for the first reply; in a listing, for all recorders together */
    /* Until a trace is complete: the recorder is known to run, and may need long to write. */
    OWN_END_MS = 24 * 60 * 60000,
    FOREIGN_END_MS = 10 * 60000, /* a recorder of another user may be hostile */
};

static int fail(struct nsc_diag *diag, int error, const char *path, const char *what)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s: %s", path, what);
}

/* The socket, its folder and the listening process must belong to one user: this one, or any if
 * this is root. */
static int connect_to(const char *path, uid_t *owner, struct nsc_diag *diag)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    int place, fd;

    *owner = geteuid() == 0 ? NSC_USER_FOLDER_ANY : geteuid();
    place = nsc_user_folder_socket(0, path, owner);
    if (place < 0)
        return fail(diag, -place, path,
                    place == -EACCES ? "not a recorder of this user" : strerror(-place));
    fd = nsc_user_folder_connect(place);
    close(place);
    if (fd >= 0 &&
        (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.uid != *owner)) {
        close(fd);
        fd = -EACCES;
    }
    if (fd >= 0)
        return fd;
    if (fd == -EAGAIN)
        return fail(diag, ETIMEDOUT, path, "the recorder has too many clients");
    return fail(diag, -fd, path, fd == -EACCES ? "not a recorder of this user" : strerror(-fd));
}

static int send_request(int fd, const char *path, enum nsc_command_verb verb, const char *text,
                        size_t text_bytes, struct nsc_diag *diag)
{
    struct nsc_command_request request = {
        .magic = NSC_COMMAND_MAGIC, .verb = verb, .text_bytes = (uint32_t)text_bytes};
    char copy[NSC_COMMAND_TEXT_MAX];
    struct iovec parts[] = {{&request, sizeof request}, {copy, text_bytes}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    if (text_bytes > sizeof copy)
        return fail(diag, E2BIG, path, "the filter is too long");
    if (text_bytes > 0)
        memcpy(copy, text, text_bytes);
    return sendmsg(fd, &message, MSG_NOSIGNAL) >= 0 ? 0 : fail(diag, errno, path, strerror(errno));
}

static int receive_reply(int fd, const char *path, int timeout_ms, struct nsc_command_reply *reply,
                         struct nsc_diag *diag)
{
    struct pollfd set = {.fd = fd, .events = POLLIN};
    ssize_t got;
    int ready;

    do
        ready = poll(&set, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        return fail(diag, ETIMEDOUT, path, "the recorder does not answer");
    got = recv(fd, reply, sizeof *reply, MSG_TRUNC);
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return fail(diag, ECONNRESET, path, "the recorder ended without an answer");
    if (got != (ssize_t)sizeof *reply || reply->magic != NSC_COMMAND_MAGIC ||
        (unsigned)reply->result.metrics.source > NSC_METRICS_PROC)
        return fail(diag, EPROTO, path, "the recorder is of another version");
    reply->program[sizeof reply->program - 1] = 0;
    reply->output[sizeof reply->output - 1] = 0;
    reply->message[sizeof reply->message - 1] = 0;
    return 0;
}

/* Requests the status of the recorder at @path within @timeout_ms. Returns 0 or -errno. */
static int ask_status(const char *path, int timeout_ms, struct nsc_command_reply *reply)
{
    uid_t owner;
    int fd = connect_to(path, &owner, NULL), error;

    if (fd < 0)
        return fd;
    error = send_request(fd, path, NSC_COMMAND_STATUS, NULL, 0, NULL);
    if (error == 0)
        error = receive_reply(fd, path, timeout_ms, reply, NULL);
    close(fd);
    return error != 0 ? error : reply->error;
}

int nsc_command_call(const char *path, enum nsc_command_verb verb, const char *text,
                     size_t text_bytes,
                     void (*progress)(void *context, const struct nsc_command_reply *reply),
                     void *context, struct nsc_command_reply *reply, struct nsc_diag *diag)
{
    uid_t owner;
    int fd = connect_to(path, &owner, diag), error;
    uint64_t begun_ns = nsc_now_ns(), end_ns = begun_ns + PATIENCE_MS * 1000000ull, now_ns;
    uint64_t complete_ms = owner == geteuid() ? OWN_END_MS : FOREIGN_END_MS;

    if (fd < 0)
        return fd;
    error = send_request(fd, path, verb, text, text_bytes, diag);
    while (error == 0) {
        now_ns = nsc_now_ns();
        error = receive_reply(fd, path, now_ns < end_ns ? (int)((end_ns - now_ns) / 1000000) : 0,
                              reply, diag);
        if (error != 0 || reply->error != 0 ||
            (verb != NSC_COMMAND_STOP && verb != NSC_COMMAND_SNAPSHOT) ||
            reply->phase == NSC_COMMAND_DONE)
            break;
        end_ns = begun_ns + complete_ms * 1000000ull;
        if (progress != NULL)
            progress(context, reply);
    }
    close(fd);
    return error;
}

int nsc_command_list(enum nsc_command_owner owner, struct nsc_command_entry **list, size_t *count)
{
    struct nsc_command_entry *entries;
    struct nsc_user_files found;
    uint64_t end_ms = nsc_now_ns() / 1000000 + PATIENCE_MS, now_ms;
    size_t n = *count;
    uint32_t i;
    int error = nsc_user_folder_find(owner != NSC_COMMAND_OWN, ".rec", &found);

    if (error != 0)
        return error;
    entries = realloc(*list, (n + found.count + 1) * sizeof *entries);
    for (i = 0; entries != NULL && i < found.count; i++) {
        const char *path = found.paths[i];
        struct nsc_command_entry *entry = &entries[n];

        if (strlen(path) >= sizeof entry->path)
            continue;
        *entry = (struct nsc_command_entry){.path = ""};
        memcpy(entry->path, path, strlen(path) + 1);
        now_ms = nsc_now_ns() / 1000000;
        n += ask_status(entry->path, now_ms < end_ms ? (int)(end_ms - now_ms) : 0,
                        &entry->status) == 0;
    }
    nsc_user_files_free(&found);
    if (entries == NULL)
        return -ENOMEM;
    *list = entries;
    *count = n;
    return 0;
}
