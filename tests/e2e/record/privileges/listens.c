/*
 * listens.c - a process that listens as an endpoint, and executes another program: a child of it
 * answers for that one. usage: listens PROGRAM ARGUMENT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "abi/control.h"

/* Answers every request as a runtime that needs nothing. */
static void serve(int fd)
{
    const struct nsc_control_reply reply = {.magic = NSC_CONTROL_MAGIC};
    struct nsc_control_request request;
    int client;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while ((client = accept(fd, NULL, NULL)) >= 0) {
        while (recv(client, &request, sizeof request, 0) > 0) {
            struct nsc_control_reply copy = reply;

            copy.result = request.verb == NSC_CONTROL_HELLO ? NSC_CONTROL_VERSION : 0;
            send(client, &copy, sizeof copy, MSG_NOSIGNAL);
        }
        close(client);
    }
    exit(1);
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    char folder[64];

    if (argc < 3)
        return 2;
    snprintf(folder, sizeof folder, NSC_CONTROL_DIRECTORY "%u", (unsigned)geteuid());
    mkdir(folder, 0700);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%ld.sock", folder, (long)getpid());
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0) {
        perror(address.sun_path);
        return 1;
    }
    if (fork() == 0)
        serve(fd);
    puts("ready");
    fflush(stdout);
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 1;
}
