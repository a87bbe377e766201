/*
 * cmd_record.c - nanoscope record: run a program and record its calls.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "abi/malloc_counts.h"
#include "cli/command.h"
#include "cli/record/recording.h"
#include "cli/record_options.h"
#include "record/session/spawn_program.h"

/* --memory: set the path of the malloc library, in the folder of the other libraries. Returns 0 or
 * an exit status after a message. */
static int count_memory(struct nsc_recording *r)
{
    static char library[PATH_MAX + sizeof NSC_MALLOC_LIBRARY];
    char folder[PATH_MAX];
    int error = nsc_cli_libdir(folder, sizeof folder);

    if (error != 0) {
        nsc_cli_error("cannot find %s: %s", NSC_MALLOC_LIBRARY, strerror(-error));
        return NSC_CLI_RECORD;
    }
    snprintf(library, sizeof library, "%s/%s", folder, NSC_MALLOC_LIBRARY);
    r->options.heap_library = library;
    return 0;
}

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct nsc_recording *r)
{
    switch ((enum nsc_record_option)given->id) {
    case NSC_RECORD_OPT_OUTPUT:
    case NSC_RECORD_OPT_ONLY:
    case NSC_RECORD_OPT_EXCEPT:
    case NSC_RECORD_OPT_FILE:
    case NSC_RECORD_OPT_NO_FILE:
    case NSC_RECORD_OPT_MODULE:
    case NSC_RECORD_OPT_NO_MODULE:
    case NSC_RECORD_OPT_TRIGGER:
    case NSC_RECORD_OPT_STOPPER:
    case NSC_RECORD_OPT_UNDER:
    case NSC_RECORD_OPT_DEPTH:
    case NSC_RECORD_OPT_MIN_DURATION:
    case NSC_RECORD_OPT_THREAD:
    case NSC_RECORD_OPT_MODE:
    case NSC_RECORD_OPT_BUFFER:
    case NSC_RECORD_OPT_BUDGET:
    case NSC_RECORD_OPT_EXT:
    case NSC_RECORD_OPT_INTERVAL:
    case NSC_RECORD_OPT_TIMING:
    case NSC_RECORD_OPT_COMPRESS:
    case NSC_RECORD_OPT_NO_CHILDREN:
    case NSC_RECORD_OPT_QUIET:
        return nsc_recording_option(args, given, r);
    case NSC_RECORD_OPT_MEMORY:
        return count_memory(r);
    case NSC_RECORD_OPT_UNTIL_EXIT:
        r->options.until_main = true;
        return 0;
    }
    return 0;
}

/* Explain why no process joined: it was not built for tracing, or could not open the session. */
static void warn_nothing(const struct nsc_recording *r, const struct nsc_record_result *result)
{
    if (result->built)
        nsc_cli_warn("nothing was recorded: %s is built for tracing, but did not join. Was it "
                     "built with this nanoscope, and may it open the recorder's memory in "
                     "/proc (not in another user namespace, nor as another user)?",
                     r->options.argv[0]);
    else
        nsc_cli_warn("nothing was recorded: %s is not built for tracing with this nanoscope; build "
                     "it with `nanoscope cc` or `nanoscope c++`. (If it starts programs that are: "
                     "in another user namespace, or as another user, they cannot open the "
                     "recorder's memory in /proc)",
                     r->options.argv[0]);
}

static int finish(struct nsc_recording *r, int error, const struct nsc_record_result *result,
                  const struct nsc_diag *diag)
{
    int status = nsc_spawn_exit_code(result->status);

    nsc_recording_hide_progress(r);
    if (error != 0) {
        nsc_cli_fail(diag);
        if (result->no_program)
            return error == -ENOENT ? NSC_CLI_NOT_FOUND : NSC_CLI_NOT_EXECUTABLE;
        if (result->started)
            nsc_cli_warn("the program itself ended with status %d", status);
        return NSC_CLI_RECORD;
    }
    if (!result->recorded)
        warn_nothing(r, result);
    else if (!r->quiet)
        nsc_recording_summarise(r, result);
    return status;
}

int nsc_cmd_record(const struct nsc_cli_args *args)
{
    struct nsc_recording r;
    struct nsc_record_result result;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status = 0, error;
    size_t i;

    nsc_recording_begin(&r);
    for (i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &r);
    if (status == 0 && args->operand_count == 0)
        status = nsc_cli_usage(args, "a program to record is needed");
    if (r.options.heap_library != NULL && r.options.sample_ns == 0)
        r.options.sample_ns = NSC_METRICS_INTERVAL_NS;
    if (status == 0 && r.options.heap_library != NULL && r.options.cpu_timer)
        status = nsc_cli_usage(args, "--memory does not go with --ext cpu_timer");
    if (status == 0)
        status = nsc_recording_check(args, &r);
    if (status == 0 && nsc_recording_name(&r, args->operands[0]) != 0)
        status = NSC_CLI_RECORD;
    if (status == 0) {
        r.options.argv = args->operands;
        nsc_recording_show_progress(&r);
        error = nsc_record_run(&r.options, &result, &diag);
        status = finish(&r, error, &result, &diag);
    }
    nsc_recording_free(&r);
    return status;
}
