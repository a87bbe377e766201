/*
 * cmd_record.c - nanoscope record: run a program and record its calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/record_options.h"
#include "nanoscope/live.h"
#include "record/record.h"
#include "record/spawn.h"
#include "util/units.h"

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

#define BUFFER_MIN_BYTES  (64ull << 10)
#define BUFFER_MAX_BYTES  (1ull << 30)
/* Fewer events than this are lost when a thread is killed, not for want of memory. */
#define FEW_LOST          1000
/* A recording that is over in no time needs no progress line. */
#define PROGRESS_AFTER_NS 1000000000ull

struct settings {
    struct nsc_record_options options;
    char *output; /* when not given */
    size_t includes, excludes;
    bool quiet, progress_shown;
};

static int add_pattern(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct nsc_match ***list, size_t *count)
{
    struct nsc_match **longer = realloc(*list, (*count + 2) * sizeof(struct nsc_match *));
    struct nsc_diag diag;

    if (longer == NULL) {
        nsc_cli_error("out of memory");
        return NSC_CLI_RECORD;
    }
    *list = longer;
    longer[*count] = NULL;
    if (nsc_match_compile(given->value, &longer[*count], &diag) != 0)
        return nsc_cli_usage(args, "--%s: %s", given->name, diag.message);
    longer[++*count] = NULL;
    return 0;
}

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    static const char *const modes[] = {"stream", "buffer", "ring", NULL};
    struct nsc_record_options *o = &s->options;
    unsigned mode;
    int status;

    switch ((enum nsc_record_option)given->id) {
    case NSC_RECORD_OPT_OUTPUT:
        o->output = given->value;
        return 0;
    case NSC_RECORD_OPT_ONLY:
        return add_pattern(args, given, &o->filter.include, &s->includes);
    case NSC_RECORD_OPT_EXCEPT:
        return add_pattern(args, given, &o->filter.exclude, &s->excludes);
    case NSC_RECORD_OPT_MODE:
        status = nsc_cli_choice(args, given, modes, &mode);
        if (status == 0)
            o->mode = (enum nsc_record_mode)mode;
        return status;
    case NSC_RECORD_OPT_BUFFER:
        if (nsc_units_parse_bytes(given->value, &o->buffer_bytes) != 0 ||
            o->buffer_bytes < BUFFER_MIN_BYTES || o->buffer_bytes > BUFFER_MAX_BYTES)
            return nsc_cli_usage(args, "--buffer: a size from 64K to 1G is needed, not \"%s\"",
                                 given->value);
        return 0;
    case NSC_RECORD_OPT_COMPRESS:
        o->compress = true;
        return 0;
    case NSC_RECORD_OPT_NO_CHILDREN:
        o->no_children = true;
        return 0;
    case NSC_RECORD_OPT_UNTIL_EXIT:
        o->until_main = true;
        return 0;
    case NSC_RECORD_OPT_QUIET:
        s->quiet = true;
        return 0;
    }
    return 0;
}

static int default_output(struct settings *s, const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash != NULL ? slash + 1 : program;

    if (asprintf(&s->output, "%s.nst", *name != 0 ? name : "trace") < 0) {
        s->output = NULL;
        nsc_cli_error("out of memory");
        return NSC_CLI_RECORD;
    }
    s->options.output = s->output;
    return 0;
}

static void show_progress(void *context, const struct nsc_record_progress *progress)
{
    struct settings *s = context;
    char calls[NSC_UNITS_MAX], size[NSC_UNITS_MAX];

    if (progress->elapsed_ns < PROGRESS_AFTER_NS)
        return;
    s->progress_shown = true;
    fprintf(stderr, "\r\033[Knanoscope: %s calls, %s, %llu s%s",
            nsc_units_format_count(calls, progress->calls),
            nsc_units_format_bytes(size, progress->file_bytes),
            (unsigned long long)(progress->elapsed_ns / 1000000000u),
            progress->waiting_for > 0 ? "; the program has ended, its children go on (Ctrl-C ends)"
                                      : "");
    fflush(stderr);
}

static void hide_progress(const struct settings *s)
{
    if (s->progress_shown)
        fputs("\r\033[K", stderr);
}

static void warn_problems(const struct settings *s, const struct nsc_record_result *result)
{
    if (result->lost > FEW_LOST && s->options.mode == NSC_RECORD_STREAM)
        nsc_cli_warn("the recorder could not keep up: give it a larger --buffer or a processor, or "
                     "leave busy functions out with -N");
    if ((result->problems & NSC_LIVE_PROBLEM_MPROTECT) != 0)
        nsc_cli_warn("some code could not be made writable: its calls are not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_FAR) != 0)
        nsc_cli_warn("some functions are out of reach of their hooks: they are not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_FILTER_TIMEOUT) != 0)
        nsc_cli_warn("a module got no answer on the filter in time: it is not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_STATE) != 0)
        nsc_cli_warn("a process could not be recorded on this kernel");
    if ((result->problems & NSC_LIVE_PROBLEM_STALLED) != 0)
        nsc_cli_warn("the recorder stood still for minutes; a process gave it up, and what it did "
                     "after that is neither recorded nor counted");
    if (result->clamped > 0)
        nsc_cli_warn("the timer ran backwards %llu times; times around these places are wrong",
                     (unsigned long long)result->clamped);
}

/* A trace without a call has a reason, which the user would have to guess. */
static void warn_no_calls(const struct settings *s, const struct nsc_record_result *result)
{
    if (result->calls > 0 || result->lost > 0)
        return;
    if (s->includes > 0 || s->excludes > 0)
        nsc_cli_warn("no call was recorded: -F and -N leave no function that ran");
    else
        nsc_cli_warn("no call was recorded: no function that ran has hooks; are the sources "
                     "compiled with `nanoscope cc` or `nanoscope c++`, not only linked?");
}

static void summarise(const struct settings *s, const struct nsc_record_result *result)
{
    char calls[NSC_UNITS_MAX], lost[NSC_UNITS_MAX], size[NSC_UNITS_MAX], time[NSC_UNITS_MAX];
    char processes[NSC_UNITS_MAX + 16] = "";

    if (result->processes > 1)
        snprintf(processes, sizeof processes, "%u processes, ", result->processes);
    fprintf(stderr, "nanoscope: %s call%s, %s%u thread%s, %s lost, %s, %s -> %s\n",
            nsc_units_format_count(calls, result->calls), nsc_units_plural(result->calls),
            processes, result->threads, nsc_units_plural(result->threads),
            nsc_units_format_count(lost, result->lost),
            nsc_units_format_bytes(size, result->file_bytes),
            nsc_units_format_ns(time, result->elapsed_ns), s->options.output);
    warn_problems(s, result);
    warn_no_calls(s, result);
}

/* No process took part: it was not built for it, or could not reach us. */
static void warn_nothing(const struct settings *s, const struct nsc_record_result *result)
{
    if (result->built)
        nsc_cli_warn("nothing was recorded: %s is built for tracing, but did not join. Was it "
                     "built with this nanoscope, and may it open the recorder's memory in "
                     "/proc (not in another user namespace, nor as another user)?",
                     s->options.argv[0]);
    else
        nsc_cli_warn("nothing was recorded: %s is not built for tracing with this nanoscope; build "
                     "it with `nanoscope cc` or `nanoscope c++`. (If it starts programs that are: "
                     "in another user namespace, or as another user, they cannot open the "
                     "recorder's memory in /proc)",
                     s->options.argv[0]);
}

static int finish(const struct settings *s, int error, const struct nsc_record_result *result,
                  const struct nsc_diag *diag)
{
    int status = nsc_spawn_exit_code(result->status);

    hide_progress(s);
    if (error != 0) {
        nsc_cli_fail(diag);
        if (result->no_program)
            return error == -ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
        if (result->started)
            nsc_cli_warn("the program itself ended with status %d", status);
        return NSC_CLI_RECORD;
    }
    if (!result->recorded)
        warn_nothing(s, result);
    else if (!s->quiet)
        summarise(s, result);
    return status;
}

static void free_patterns(struct nsc_match **list)
{
    size_t i;

    for (i = 0; list != NULL && list[i] != NULL; i++)
        nsc_match_free(list[i]);
    free(list);
}

int nsc_cmd_record(const struct nsc_cli_args *args)
{
    struct settings s = {.options = {.size = sizeof s.options}};
    struct nsc_record_result result;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status = 0, error;
    size_t i;

    for (i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0 && args->operand_count == 0)
        status = nsc_cli_usage(args, "a program to record is needed");
    if (status == 0 && s.options.output == NULL)
        status = default_output(&s, args->operands[0]);
    if (status == 0) {
        s.options.argv = args->operands;
        if (!s.quiet && isatty(STDERR_FILENO)) {
            s.options.progress = show_progress;
            s.options.context = &s;
        }
        error = nsc_record_run(&s.options, &result, &diag);
        status = finish(&s, error, &result, &diag);
    }
    free_patterns(s.options.filter.include);
    free_patterns(s.options.filter.exclude);
    free(s.output);
    return status;
}
