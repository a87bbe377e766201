/* snapshot.c - see snapshot.h. */
#include "record/snapshot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/clockpoint.h"
#include "record/output.h"

struct request {
    uint64_t last_ns; /* 0: all there is */
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

static void drop_older(struct nsc_recorder *r, uint64_t last_ns)
{
    double ticks = (double)last_ns * (double)nsc_clockpoint_rate() / 1e9;
    uint64_t now = nsc_clockpoint_ticks();

    nsc_drain_pass(&r->drain, NSC_DRAIN_FULL, nsc_recorder_now_ns());
    if (ticks < (double)now)
        nsc_drain_drop_before(&r->drain, now - (uint64_t)ticks);
}

static int write_snapshot(struct nsc_recorder *r, const struct request *request,
                          struct nsc_record_result *result, struct nsc_diag *diag)
{
    int error = nsc_session_freeze(&r->session);

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

/* The recorder's child: the whole of it is a copy, but for what is open. */
static __attribute__((noreturn)) void run_child(struct nsc_recorder *r,
                                                const struct request *request)
{
    static struct nsc_record_options options;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_record_result result = {0};
    struct nsc_command_reply reply;
    int error;

    signal(SIGINT, SIG_IGN); /* it ends the recording, not what is written of it */
    nsc_command_take_over(&r->commands, &r->command);
    options = *r->options;
    options.output = request->path;
    r->options = &options;
    error = write_snapshot(r, request, &result, &diag);
    if (error != 0) {
        nsc_recorder_reply(r, &reply);
        reply.phase = NSC_COMMAND_DONE;
        reply.error = error;
        snprintf(reply.message, sizeof reply.message, "%s", diag.message);
        nsc_command_tell(&r->commands, &reply);
    }
    _exit(error != 0); /* without cleaning up: that is the parent's */
}

/* Where another child can be remembered; those that have ended are forgotten. */
static pid_t *free_place(struct nsc_recorder *r)
{
    pid_t *place = NULL;
    size_t i;

    for (i = 0; i < NSC_SNAPSHOTS_MAX; i++) {
        if (r->snapshots[i] != 0 && waitpid(r->snapshots[i], NULL, WNOHANG) != 0)
            r->snapshots[i] = 0;
        if (r->snapshots[i] == 0)
            place = &r->snapshots[i];
    }
    return place;
}

int nsc_snapshot_take(struct nsc_recorder *r, struct nsc_diag *diag)
{
    struct request request;
    pid_t pid, *place;
    int error = read_request(&r->command, &request, diag);

    if (error != 0)
        return error;
    if (r->options->mode != NSC_RECORD_RING || !r->has_session)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "only a recording with --mode ring keeps events to take a snapshot of");
    place = free_place(r);
    if (place == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBUSY,
                            "%d snapshots are just being written: wait for one", NSC_SNAPSHOTS_MAX);
    error = nsc_output_check(request.path, diag);
    if (error != 0)
        return error;
    error = nsc_writer_sync(r->writer);
    pid = error == 0 ? fork() : 0;
    if (error == 0 && pid == 0)
        run_child(r, &request);
    if (error != 0 || pid < 0) {
        error = error != 0 ? error : -errno;
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -error, "cannot take a snapshot: %s",
                            strerror(-error));
    }
    *place = pid;
    nsc_command_hand_over(&r->command);
    return 0;
}
