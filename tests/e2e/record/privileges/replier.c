/*
 * replier.c - a false recorder: listens at a path, and answers every request with texts full of
 * control characters. usage: replier SOCKET PROGRAM_PID [TRACE]
 *
 * With TRACE, a snapshot succeeds: it is a copy of that file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/control/command_server.h"

#define EVIL                                                                                       \
    "\033]0;owned\007\033[2J\r\xc2\x9b"                                                            \
    "31m"

/* @text: of the request; the path follows the blank. Returns 0 or -1. */
static int copy_to_snapshot(const char *trace, const char *text)
{
    const char *path = strchr(text, ' ');
    int from = open(trace, O_RDONLY), to;
    struct stat st;
    ssize_t bytes;

    if (path == NULL || fstat(from, &st) != 0)
        return -1;
    to = open(path + 1, O_WRONLY | O_CREAT | O_EXCL, 0644);
    bytes = sendfile(to, from, NULL, (size_t)st.st_size);
    close(from);
    close(to);
    return bytes == st.st_size ? 0 : -1;
}

int main(int argc, char **argv)
{
    static struct nsc_command_reply reply = {
        .magic = NSC_COMMAND_MAGIC, .program = EVIL, .output = "/tmp/" EVIL, .message = EVIL};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static char request[65536];
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), client;

    if (argc < 3)
        return 2;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[1]);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0) {
        perror(argv[1]);
        return 1;
    }
    reply.program_pid = atoi(argv[2]);
    reply.recorder_pid = getpid();
    puts("ready");
    fflush(stdout);
    while ((client = accept(fd, NULL, NULL)) >= 0) {
        ssize_t bytes;

        while ((bytes = recv(client, request, sizeof request - 1, 0)) > 0) {
            const struct nsc_command_request *asked = (const struct nsc_command_request *)request;

            request[bytes] = 0;
            reply.error = asked->verb == NSC_COMMAND_STATUS ? 0 : -1;
            if (asked->verb == NSC_COMMAND_SNAPSHOT && argc > 3) {
                reply.error = copy_to_snapshot(argv[3], request + sizeof *asked);
                reply.phase = NSC_COMMAND_DONE;
                reply.result.recorded = true;
            }
            send(client, &reply, sizeof reply, MSG_NOSIGNAL);
        }
        close(client);
    }
    return 0;
}
