/*
 * The recorder's socket: commands and their answers, and clients that send something else, nothing,
 * or that are a thousand. Everything in one process: nothing blocks, so both halves can take turns.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/control.h"
#include "record/control/command_server.h"
#include "tap.h"

/* No process has this pid: it is above the kernel's highest. */
enum { PID = 4194304 + 1 };
#define MS 1000000ull

static struct nsc_command_server server;
static struct nsc_command command;

static void path_of(char *path, size_t bytes)
{
    snprintf(path, bytes, NSC_CONTROL_DIRECTORY "%lu/%d.rec", (unsigned long)geteuid(), PID);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int connect_raw(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    path_of(address.sun_path, sizeof address.sun_path);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static struct nsc_command_reply reply_of(enum nsc_command_phase phase)
{
    struct nsc_command_reply reply = {
        .magic = NSC_COMMAND_MAGIC, .phase = phase, .recorder_pid = getpid(), .program_pid = PID};

    snprintf(reply.output, sizeof reply.output, "/somewhere/a.nst");
    return reply;
}

/* A recorder that serves until it is told to stop; the second thread. */
static void *serve(void *context)
{
    bool stop = false;

    (void)context;
    while (!stop) {
        while (nsc_command_next(&server, now_ns(), &command)) {
            struct nsc_command_reply reply = reply_of(NSC_COMMAND_RECORDING);

            stop |= command.verb == NSC_COMMAND_STOP;
            if (command.verb == NSC_COMMAND_FILTER) {
                reply.error = -EINVAL;
                snprintf(reply.message, sizeof reply.message, "%u bytes: %.20s", command.text_bytes,
                         command.text);
            }
            nsc_command_answer(&server, &command, &reply);
        }
        usleep(200);
    }
    for (unsigned phase = NSC_COMMAND_ENDING; phase <= NSC_COMMAND_DONE; phase++) {
        struct nsc_command_reply reply = reply_of((enum nsc_command_phase)phase);

        reply.result.calls = phase;
        nsc_command_tell(&server, &reply);
    }
    return NULL;
}

static void count(void *context, const struct nsc_command_reply *reply)
{
    (void)reply;
    ++*(int *)context;
}

static void asks_and_stops(void)
{
    struct nsc_command_reply reply;
    struct nsc_command_entry *list = NULL;
    struct nsc_diag diag;
    pthread_t thread;
    char path[64];
    size_t listed = 0, i;
    int replies = 0;
    bool found = false;

    path_of(path, sizeof path);
    CHECK(nsc_command_open(PID, &server, &diag) == 0);
    pthread_create(&thread, NULL, serve, NULL);
    CHECK(nsc_command_call(path, NSC_COMMAND_STATUS, NULL, 0, NULL, NULL, &reply, &diag) == 0);
    CHECK(reply.phase == NSC_COMMAND_RECORDING && reply.recorder_pid == getpid());
    CHECK_STR(reply.output, "/somewhere/a.nst");
    CHECK(nsc_command_call(path, NSC_COMMAND_FILTER, "only=x", 7, NULL, NULL, &reply, &diag) == 0);
    CHECK(reply.error == -EINVAL);
    CHECK_STR(reply.message, "7 bytes: only=x");
    CHECK(nsc_command_list(NSC_COMMAND_OWN, &list, &listed) == 0);
    for (i = 0; i < listed; i++)
        found |= strcmp(list[i].path, path) == 0 && list[i].status.program_pid == PID;
    CHECK(found);
    free(list);
    /* A second recorder of the same program hears who is there. */
    {
        struct nsc_command_server second;

        CHECK(nsc_command_open(PID, &second, &diag) == -EBUSY);
        CHECK(strstr(diag.message, "/somewhere/a.nst") != NULL);
        CHECK(second.fd == -1);
    }
    CHECK(nsc_command_call(path, NSC_COMMAND_STOP, NULL, 0, count, &replies, &reply, &diag) == 0);
    CHECK(reply.phase == NSC_COMMAND_DONE);
    CHECK_U64(reply.result.calls, NSC_COMMAND_DONE);
    CHECK_U64((unsigned)replies, 3); /* the answer itself, two phases */
    pthread_join(thread, NULL);
    nsc_command_close(&server);
    CHECK(nsc_command_call(path, NSC_COMMAND_STATUS, NULL, 0, NULL, NULL, &reply, &diag) ==
          -ENOENT);
}

static bool is_closed(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void refuses_nonsense(void)
{
    struct {
        struct nsc_command_request request;
        char text[64];
    } packet = {.request = {.magic = NSC_COMMAND_MAGIC, .verb = NSC_COMMAND_FILTER}};
    static char large[sizeof(struct nsc_command_request) + NSC_COMMAND_TEXT_MAX + 1];
    uint64_t at = 10000 * MS;
    int fd[6], i;

    if (!CHECK(nsc_command_open(PID, &server, NULL) == 0))
        return;
    for (i = 0; i < 6; i++)
        fd[i] = connect_raw();
    send(fd[0], "?", 1, 0);
    send(fd[1], &packet, sizeof packet, 0); /* text that was not announced */
    packet.request.text_bytes = 100;
    send(fd[2], &packet, sizeof packet, 0); /* less text than announced */
    packet.request.magic = 1;
    send(fd[3], &packet, sizeof packet, 0);
    packet.request.magic = NSC_COMMAND_MAGIC;
    packet.request.text_bytes = NSC_COMMAND_TEXT_MAX;
    memcpy(large, &packet.request, sizeof packet.request);
    send(fd[4], large, sizeof large, 0);
    CHECK(!nsc_command_next(&server, at, &command));
    for (i = 0; i < 5; i++)
        CHECK(is_closed(fd[i]));
    /* The sixth says nothing, and has its time for that. */
    CHECK(!is_closed(fd[5]));
    CHECK(!nsc_command_next(&server, at + 900 * MS, &command) && !is_closed(fd[5]));
    CHECK(!nsc_command_next(&server, at + 1100 * MS, &command) && is_closed(fd[5]));
    for (i = 0; i < 6; i++)
        close(fd[i]);
    nsc_command_close(&server);
}

static void bears_a_thousand(void)
{
    struct nsc_command_request request = {.magic = NSC_COMMAND_MAGIC, .verb = NSC_COMMAND_STATUS};
    uint64_t at = 20000 * MS;
    int fd[1000], connected = 0, answered = 0, i;

    if (!CHECK(nsc_command_open(PID, &server, NULL) == 0))
        return;
    for (i = 0; i < 1000; i++) {
        fd[i] = connect_raw();
        connected += fd[i] >= 0;
    }
    CHECK(connected >= NSC_COMMAND_CLIENTS_MAX && connected < 100);
    CHECK(!nsc_command_next(&server, at, &command));
    /* They keep others out for their second, no longer. */
    for (i = 0; i < 100 && answered == 0; i++) {
        int late = connect_raw();

        at += 100 * MS;
        if (late >= 0)
            send(late, &request, sizeof request, 0);
        while (nsc_command_next(&server, at, &command)) {
            struct nsc_command_reply reply = reply_of(NSC_COMMAND_RECORDING);

            nsc_command_answer(&server, &command, &reply);
            answered++;
        }
        if (late >= 0)
            close(late);
    }
    CHECK(answered > 0 && i < 50);
    for (i = 0; i < 1000; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    nsc_command_close(&server);
}

/* A recorder that was killed leaves its socket; the next one takes its place. */
static void outlives_the_killed(void)
{
    struct nsc_command_server killed;
    struct stat st;
    char path[64];

    path_of(path, sizeof path);
    if (!CHECK(nsc_command_open(PID, &killed, NULL) == 0))
        return;
    close(killed.fd);
    close(killed.directory);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(nsc_command_open(PID + 1, &server, NULL) == 0);
    CHECK(stat(path, &st) != 0);
    CHECK(nsc_command_rename(&server, PID, NULL) == 0);
    CHECK(stat(path, &st) == 0);
    nsc_command_close(&server);
    CHECK(stat(path, &st) != 0);
}

int main(void)
{
    asks_and_stops();
    refuses_nonsense();
    bears_a_thousand();
    outlives_the_killed();
    return t_done();
}
