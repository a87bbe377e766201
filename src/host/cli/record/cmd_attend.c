/*
 * cmd_attend.c - nanoscope attend: the recorder of a program that starts its own recording.
 * The runtime (src/target/linux/control/self_record.c) starts it, in the program's directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attend_options.h"
#include "cli/command.h"
#include "cli/record/deliver.h"
#include "cli/record/recording.h"
#include "process/find/process_find.h"
#include "record/recorder/attach.h"

/* Descriptors inherited from the program. */
enum { MEMORY = 3, ANSWER = 4 };

struct attend {
    struct nsc_recording recording;
    struct nsc_attach_options attach;
    bool answered;
    struct nsc_attach_result end;
    char *later; /* default name of the trace; NULL: the operands have one */
};

/* Send the result of the start to the waiting program: 0 or a negative errno. */
static void answer(struct attend *a, int error)
{
    int32_t said = error;

    if (a->answered)
        return;
    a->answered = true;
    (void)!write(ANSWER, &said, sizeof said); /* the program may have exited */
    close(ANSWER);
}

static void begun(void *context, pid_t pid)
{
    (void)pid;
    answer(context, 0);
}

/* Choose a provisional and a default name for the trace. Returns an exit status. */
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

/* Convert the trace to its final name: the program may set that until the recording ends. */
static int deliver(void *context, int fd, const char *trace, uint64_t *bytes, struct nsc_diag *diag)
{
    const struct attend *a = context;
    const char *output = a->recording.options.output, *to = output;
    int error;

    if (a->end.output[0] != 0)
        to = a->end.output;
    else if (a->later != NULL)
        to = a->later;
    error = nsc_deliver_check(to, diag);
    return error != 0 ? nsc_deliver_keep(trace, output, error, diag)
                      : nsc_deliver(fd, trace, to, true, bytes, diag);
}

static int record(struct attend *a)
{
    struct nsc_record_result result;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error;

    a->attach.size = sizeof a->attach;
    a->attach.memory = MEMORY;
    a->attach.begun = begun;
    a->attach.context = a;
    a->recording.options.deliver = deliver;
    a->recording.options.context = a;
    error = nsc_record_attach(&a->recording.options, &a->attach, &result, &a->end, &diag);
    answer(a, error); /* unless begun() did */
    if (error != 0)
        return nsc_cli_fail(&diag);
    if (!result.recorded)
        return nsc_cli_error("nothing was recorded: process %ld did not join",
                             (long)a->attach.target->pid);
    return NSC_CLI_OK;
}

static int attend(struct attend *a, const char *process, const char *trace)
{
    struct nsc_process_target target;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status = NSC_CLI_OK, error = 0;

    if (trace != NULL)
        error = nsc_deliver_check(trace, &diag);
    if (error == 0)
        error = nsc_process_find((pid_t)strtol(process, NULL, 10), &target, &diag);
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
    nsc_process_target_free(&target);
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
