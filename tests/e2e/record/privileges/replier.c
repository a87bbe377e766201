/*
 * replier.c - a false recorder: listens at a path, and answers every request with texts full of
 * control characters. usage: replier SOCKET PROGRAM_PID
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/control/command_server.h"

#define EVIL                                                                                       \
    "\033]0;owned\007\033[2J\r\xc2\x9b"                                                            \
    "31m"

int main(int argc, char **argv)
{
    static struct nsc_command_reply reply = {
        .magic = NSC_COMMAND_MAGIC, .program = EVIL, .output = "/tmp/" EVIL, .message = EVIL};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char request[65536];
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
        while (recv(client, request, sizeof request, 0) > 0) {
            const struct nsc_command_request *asked = (const struct nsc_command_request *)request;

            reply.error = asked->verb == NSC_COMMAND_STATUS ? 0 : -1;
            send(client, &reply, sizeof reply, MSG_NOSIGNAL);
        }
        close(client);
    }
    return 0;
}
