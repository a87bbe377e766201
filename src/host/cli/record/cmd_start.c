/*
 * cmd_start.c - nanoscope start: record a running program, or one that starts later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/common/enter_key.h"
#include "cli/record/recording.h"
#include "cli/start_options.h"
#include "process/find/process_find.h"
#include "record/recorder/attach.h"
#include "util/text/escape.h"
#include "util/text/units.h"

struct start {
    struct nsc_recording recording;
    struct nsc_attach_options attach;
    const char *process;
    bool detach;
    bool watches_input; /* a line on standard input ends the recording */
    int parent;         /* with --detach: pipe to the parent, which waits for the start; else -1 */
};

/* ---- Options --------------------------------------------------------------------------------- */

/* Reject 0: the recorder takes it as no limit, which the user does not expect. */
static int read_duration(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                         struct start *s)
{
    int status = nsc_cli_time(args, given, &s->attach.duration_ns);

    if (status == 0 && s->attach.duration_ns == 0)
        return nsc_cli_usage(args, "--duration: more than 0 is needed; without it the recording "
                                   "goes on until you end it");
    return status;
}

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct start *s)
{
    switch ((enum nsc_start_option)given->id) {
    case NSC_START_OPT_PROCESS:
        s->process = given->value;
        return 0;
    case NSC_START_OPT_NAME:
        s->attach.name = given->value;
        return 0;
    case NSC_START_OPT_DURATION:
        return read_duration(args, given, s);
    case NSC_START_OPT_DELAY:
        return nsc_cli_time(args, given, &s->attach.delay_ns);
    case NSC_START_OPT_DETACH:
        s->detach = true;
        return 0;
    case NSC_START_OPT_OUTPUT:
    case NSC_START_OPT_ONLY:
    case NSC_START_OPT_EXCEPT:
    case NSC_START_OPT_FILE:
    case NSC_START_OPT_NO_FILE:
    case NSC_START_OPT_MODULE:
    case NSC_START_OPT_NO_MODULE:
    case NSC_START_OPT_TRIGGER:
    case NSC_START_OPT_STOPPER:
    case NSC_START_OPT_UNDER:
    case NSC_START_OPT_DEPTH:
    case NSC_START_OPT_MIN_DURATION:
    case NSC_START_OPT_THREAD:
    case NSC_START_OPT_MODE:
    case NSC_START_OPT_BUFFER:
    case NSC_START_OPT_BUDGET:
    case NSC_START_OPT_EXT:
    case NSC_START_OPT_INTERVAL:
    case NSC_START_OPT_TIMING:
    case NSC_START_OPT_COMPRESS:
    case NSC_START_OPT_NO_CHILDREN:
    case NSC_START_OPT_QUIET:
        return nsc_recording_option(args, given, &s->recording);
    }
    return 0;
}

static int check(const struct nsc_cli_args *args, const struct start *s)
{
    if (args->operand_count != 0)
        return nsc_cli_usage(args, "\"%s\" is not expected: `nanoscope record` starts programs",
                             args->operands[0]);
    if ((s->process == NULL) == (s->attach.name == NULL))
        return nsc_cli_usage(args, "a program is needed: -p PID or NAME for one that runs, or "
                                   "--name NAME for one that is to come");
    if (s->attach.name != NULL && s->attach.delay_ns != 0)
        return nsc_cli_usage(args, "--delay goes with -p: the recording of a program to come "
                                   "begins with its first call");
    return nsc_recording_check(args, &s->recording);
}

/* ---- While it records ------------------------------------------------------------------------ */

static bool wants_end(void *context)
{
    struct start *s = context;

    return nsc_cli_enter_pressed(&s->watches_input);
}

static void say_tracing(const struct start *s, pid_t pid)
{
    if (s->recording.quiet)
        return;
    if (s->watches_input)
        fputs("Tracing... (Press ENTER to stop)\n", stderr);
    else
        fprintf(stderr, "Tracing... (`nanoscope stop -p %ld` stops)\n", (long)pid);
}

static void begun(void *context, pid_t pid)
{
    struct start *s = context;

    if (s->parent >= 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        /* Ignore errors: the parent may have exited. */
        (void)!write(s->parent, &pid, sizeof pid);
        close(s->parent);
        s->parent = -1;
        if (null >= 0) {
            dup2(null, STDIN_FILENO);
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
            close(null);
        }
        return;
    }
    if (s->detach)
        return;
    if (pid == 0 && !s->recording.quiet) {
        fputs("Waiting for ", stderr);
        nsc_text_put(stderr, s->attach.name);
        fputs(" to start... (Press ENTER to give up)\n", stderr);
    }
    if (pid != 0)
        say_tracing(s, pid);
}

/* ---- The result ------------------------------------------------------------------------------ */

static int say_nothing_recorded(const struct start *s, const struct nsc_attach_result *end)
{
    if (s->attach.name != NULL && end->pid == 0)
        return nsc_cli_error("nothing was recorded: no program named %s has started, or it is not "
                             "built for tracing",
                             s->attach.name);
    if (end->end == NSC_ATTACH_EXITED)
        return nsc_cli_error("nothing was recorded: the program has ended");
    return nsc_cli_error("nothing was recorded");
}

static int finish(struct start *s, int error, const struct nsc_record_result *result,
                  const struct nsc_attach_result *end, const struct nsc_diag *diag)
{
    nsc_recording_hide_progress(&s->recording);
    if (error != 0)
        return nsc_cli_fail(diag);
    if (end->warning[0] != 0)
        nsc_cli_warn("%s", end->warning);
    if (!result->recorded)
        return say_nothing_recorded(s, end);
    if (s->recording.quiet)
        return NSC_CLI_OK;
    if (end->end == NSC_ATTACH_EXITED)
        fprintf(stderr, "nanoscope: process %ld has ended, and the recording with it\n",
                (long)end->pid);
    if (end->end == NSC_ATTACH_EXEC)
        nsc_cli_warn("process %ld runs another program now, which is not recorded", (long)end->pid);
    nsc_recording_summarise(&s->recording, result);
    return NSC_CLI_OK;
}

static int record(struct start *s)
{
    struct nsc_record_result result;
    struct nsc_attach_result end;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error;

    s->attach.size = sizeof s->attach;
    s->attach.wants_end = wants_end;
    s->attach.begun = begun;
    s->attach.context = s;
    error = nsc_record_attach(&s->recording.options, &s->attach, &result, &end, &diag);
    return finish(s, error, &result, &end, &diag);
}

/* ---- In the background ----------------------------------------------------------------------- */

static void say_detached(const struct start *s, pid_t pid, pid_t recorder)
{
    if (s->recording.quiet)
        return;
    if (pid != 0)
        nsc_cli_say("recording process %ld into %s, by process %ld; "
                    "`nanoscope stop -p %ld` ends it",
                    (long)pid, s->recording.options.output, (long)recorder, (long)pid);
    else
        nsc_cli_say("waiting for %s to start, to record it into %s, by process %ld; "
                    "`nanoscope stop -p %ld` gives up",
                    s->attach.name, s->recording.options.output, (long)recorder, (long)recorder);
}

/* Close all inherited descriptors except stdio and @fd: a script may wait for the end of a pipe.
 * Returns the new number of @fd. */
static int keep_only(int fd)
{
    if (fd != STDERR_FILENO + 1)
        dup3(fd, STDERR_FILENO + 1, O_CLOEXEC);
    close_range(STDERR_FILENO + 2, ~0u, 0);
    return STDERR_FILENO + 1;
}

/* Record in a child process with its own session. Returns when the recording has begun. */
static int record_detached(struct start *s)
{
    int report[2], status;
    pid_t recorder, pid;
    ssize_t got;

    if (pipe2(report, O_CLOEXEC) != 0)
        return nsc_cli_error("cannot make a pipe: %s", strerror(errno));
    recorder = fork();
    if (recorder < 0)
        return nsc_cli_error("cannot start a process: %s", strerror(errno));
    if (recorder == 0) {
        s->parent = keep_only(report[1]);
        setsid();
        return record(s);
    }
    close(report[1]);
    do
        got = read(report[0], &pid, sizeof pid);
    while (got < 0 && errno == EINTR);
    close(report[0]);
    if (got == (ssize_t)sizeof pid) {
        say_detached(s, pid, recorder);
        return NSC_CLI_OK;
    }
    if (waitpid(recorder, &status, 0) == recorder && WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return WEXITSTATUS(status); /* it has printed the reason */
    return nsc_cli_error("the recorder ended before it recorded anything");
}

/* Whether a line on standard input ends the recording. Standard input that is no terminal may
 * belong to a script: it is read only without --duration. */
static bool may_watch_input(const struct start *s)
{
    return !s->detach && (isatty(STDIN_FILENO) != 0 || s->attach.duration_ns == 0);
}

int nsc_cmd_start(const struct nsc_cli_args *args)
{
    struct start s = {.parent = -1};
    struct nsc_process_target target;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status = 0;
    size_t i;

    nsc_recording_begin(&s.recording);
    for (i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0)
        status = check(args, &s);
    if (status == 0 && s.process != NULL) {
        if (nsc_process_resolve(s.process, &target, &diag) != 0)
            status = nsc_cli_fail(&diag);
        else
            s.attach.target = &target;
    }
    if (status == 0)
        status =
            nsc_recording_name_new(&s.recording, s.process != NULL ? target.name : s.attach.name);
    if (status == 0) {
        s.watches_input = may_watch_input(&s);
        if (!s.detach)
            nsc_recording_show_progress(&s.recording);
        status = s.detach ? record_detached(&s) : record(&s);
    }
    if (s.attach.target != NULL)
        nsc_process_target_free(&target);
    nsc_recording_free(&s.recording);
    return status;
}
