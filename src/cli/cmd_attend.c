/*
 * cmd_attend.c - nanoscope attend: the recorder of a program that begins its recording itself.
 * Started by the runtime (src/runtime/begin.c), in the program's directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attend_options.h"
#include "cli/command.h"
#include "cli/recording.h"
#include "reach/find.h"
#include "record/attach.h"
#include "record/output.h"

/* Descriptors that the program hands over. */
enum { MEMORY = 3, ANSWER = 4 };

struct attend {
    struct nsc_recording recording;
    struct nsc_attach_options attach;
    bool answered;
    char *later; /* what the trace is called if nobody says; NULL: somebody has */
};

/* The program waits for this: 0, or a negative errno. */
static void answer(struct attend *a, int error)
{
    int32_t said = error;

    if (a->answered)
        return;
    a->answered = true;
    (void)!write(ANSWER, &said, sizeof said); /* the program may be gone */
    close(ANSWER);
}

static void begun(void *context, pid_t pid)
{
    (void)pid;
    answer(context, 0);
}

/* A name for the trace while its own is not known. */
static int name_trace(struct attend *a, const char *program, long pid)
{
    struct nsc_recording *r = &a->recording;

    if (asprintf(&r->output, "%s.%ld.nst", program, pid) < 0) {
        r->output = NULL;
        return nsc_cli_error("out of memory");
    }
    r->options.output = r->output;
    if (asprintf(&a->later, "%s.nst", program) < 0) {
        a->later = NULL;
        return nsc_cli_error("out of memory");
    }
    return NSC_CLI_OK;
}

static int move_trace(const struct attend *a, const struct nsc_attach_result *end)
{
    const char *to = end->output[0] != 0 ? end->output : a->later;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (to == NULL || nsc_output_move(a->recording.options.output, to, &diag) == 0)
        return NSC_CLI_OK;
    return nsc_cli_fail(&diag);
}

static int record(struct attend *a)
{
    struct nsc_record_result result;
    struct nsc_attach_result end;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error;

    a->attach.size = sizeof a->attach;
    a->attach.memory = MEMORY;
    a->attach.begun = begun;
    a->attach.context = a;
    error = nsc_record_attach(&a->recording.options, &a->attach, &result, &end, &diag);
    answer(a, error); /* if it came to nothing */
    if (error != 0)
        return nsc_cli_fail(&diag);
    if (!result.recorded)
        return nsc_cli_error("nothing was recorded: process %ld did not join",
                             (long)a->attach.target->pid);
    return move_trace(a, &end);
}

static int attend(struct attend *a, const char *process, const char *trace)
{
    struct nsc_reach_target target;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status = NSC_CLI_OK, error;

    error = nsc_reach_resolve(process, &target, &diag);
    if (error != 0) {
        answer(a, error);
        return nsc_cli_fail(&diag);
    }
    a->attach.target = &target;
    a->recording.options.output = trace;
    if (trace == NULL)
        status = name_trace(a, target.name, (long)target.pid);
    if (status == NSC_CLI_OK)
        status = record(a);
    nsc_reach_target_free(&target);
    return status;
}

int nsc_cmd_attend(const struct nsc_cli_args *args)
{
    struct attend a = {.answered = false};
    int status;

    if (args->operand_count < 1 || args->operand_count > 2)
        return nsc_cli_usage(args, "a process id is needed, and perhaps a trace");
    if (fcntl(MEMORY, F_GETFD) < 0 || fcntl(ANSWER, F_GETFD) < 0)
        return nsc_cli_usage(args, "this is for programs: `nanoscope start -p %s` records one",
                             args->operands[0]);
    fcntl(MEMORY, F_SETFD, FD_CLOEXEC);
    fcntl(ANSWER, F_SETFD, FD_CLOEXEC);
    nsc_recording_begin(&a.recording);
    a.recording.quiet = true;
    status = attend(&a, args->operands[0], args->operand_count > 1 ? args->operands[1] : NULL);
    free(a.later);
    nsc_recording_free(&a.recording);
    return status;
}
