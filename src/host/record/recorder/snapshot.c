/* snapshot.c - see snapshot.h. */
#include "record/recorder/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/recorder/recorder_end.h"
#include "record/recorder/trace_output.h"
#include "record/session/clock_reading.h"
#include "util/now.h"

struct request {
    uint64_t last_ns; /* 0: all events */
    const char *path;
};

static int read_request(struct nsc_command *command, struct request *request, struct nsc_diag *diag)
{
    char *end;

    errno = 0;
    if (command->text_bytes > 0 && command->text_bytes < sizeof command->text &&
        memchr(command->text, 0, command->text_bytes) == NULL) {
        command->text[command->text_bytes] = 0;
        request->last_ns = strtoull(command->text, &end, 10);
        request->path = end + 1;
        if (errno == 0 && end != command->text && end[0] == ' ' && end[1] == '/')
            return 0;
    }
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "the request cannot be read");
}

static int cannot(int error, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot take a snapshot: %s",
                        strerror(error));
}

static void drop_older(struct nsc_recorder *r, uint64_t last_ns)
{
    double ticks = (double)last_ns * (double)nsc_clock_reading_rate() / 1e9;
    uint64_t now = nsc_clock_reading_ticks();

    nsc_drain_pass(&r->drain, NSC_DRAIN_FULL, nsc_now_ns());
    if (ticks < (double)now)
        nsc_drain_drop_before(&r->drain, now - (uint64_t)ticks);
}

static int write_snapshot(struct nsc_recorder *r, const struct request *request, int copied,
                          struct nsc_record_result *result, struct nsc_diag *diag)
{
    int error = nsc_session_freeze(&r->session);

    close(copied);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -error, "no memory for a copy of the ring");
    error = nsc_writer_branch(r->writer, request->path, diag);
    if (error != 0)
        return error;
    if (request->last_ns != 0)
        drop_older(r, request->last_ns);
    error = nsc_recorder_complete(r, result, diag);
    if (error == 0 && !result->recorded)
        nsc_writer_abandon(r->writer);
    return error;
}

/* Body of the recorder's child: its memory is a copy, only descriptors are shared. @copied: to be
 * closed when the ring has been copied. */
static __attribute__((noreturn)) void run_child(struct nsc_recorder *r,
                                                const struct request *request, int copied)
{
    static struct nsc_record_options options;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_record_result result = {0};
    struct nsc_command_reply reply;
    int error;

    signal(SIGINT, SIG_IGN); /* SIGINT ends the recording, not the writing of the snapshot */
    nsc_command_take_over(&r->commands, &r->command);
    options = *r->options;
    options.output = request->path;
    options.deliver = NULL; /* only for the output of the whole recording */
    r->options = &options;
    error = write_snapshot(r, request, copied, &result, &diag);
    if (error != 0) {
        nsc_recorder_reply(r, &reply);
        reply.phase = NSC_COMMAND_DONE;
        reply.error = error;
        snprintf(reply.message, sizeof reply.message, "%s", diag.message);
        nsc_command_tell(&r->commands, &reply);
    }
    _exit(error != 0); /* without cleaning up: the parent does that */
}

/* Return an unused place for a child; frees those of ended children. -1: none. */
static int free_place(struct nsc_recorder *r)
{
    int place = -1, i;

    for (i = 0; i < NSC_SNAPSHOTS_MAX; i++) {
        if (r->snapshots[i].pid != 0 && waitpid(r->snapshots[i].pid, NULL, WNOHANG) != 0)
            r->snapshots[i].pid = 0;
        if (r->snapshots[i].pid == 0)
            place = i;
    }
    return place;
}

/* Stop overwriting the ring until the child has copied it. */
static void remember(struct nsc_recorder *r, int place, pid_t pid, int copied)
{
    if (r->snapshots[place].copied >= 0)
        close(r->snapshots[place].copied);
    r->snapshots[place].pid = pid;
    r->snapshots[place].copied = copied;
    r->drain.hold = true;
}

void nsc_snapshot_look(struct nsc_recorder *r)
{
    bool hold = false;
    int i;

    for (i = 0; i < NSC_SNAPSHOTS_MAX && r->drain.hold; i++) {
        struct pollfd set = {.fd = r->snapshots[i].copied, .events = POLLIN};

        if (r->snapshots[i].copied < 0)
            continue;
        if (poll(&set, 1, 0) == 0) {
            hold = true;
            continue;
        }
        close(r->snapshots[i].copied);
        r->snapshots[i].copied = -1;
    }
    r->drain.hold = hold;
}

int nsc_snapshot_take(struct nsc_recorder *r, struct nsc_diag *diag)
{
    struct request request;
    int error = read_request(&r->command, &request, diag), place, copied[2];
    pid_t pid;

    if (error != 0)
        return error;
    if (r->options->mode != NSC_RECORD_RING || !r->has_session)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "only a recording with --mode ring keeps events to take a snapshot of");
    place = free_place(r);
    if (place < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBUSY,
                            "%d snapshots are just being written: wait for one", NSC_SNAPSHOTS_MAX);
    error = nsc_output_check(request.path, diag);
    if (error != 0)
        return error;
    error = nsc_writer_sync(r->writer);
    if (error == 0 && pipe2(copied, O_CLOEXEC) != 0)
        error = -errno;
    if (error != 0)
        return cannot(-error, diag);
    pid = fork();
    if (pid == 0)
        run_child(r, &request, copied[1]);
    close(copied[1]);
    if (pid < 0) {
        error = errno;
        close(copied[0]);
        return cannot(error, diag);
    }
    remember(r, place, pid, copied[0]);
    nsc_command_hand_over(&r->command);
    return 0;
}
