/*
 * cmd_stop.c - nanoscope stop: end a recording and wait for its trace.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/record/recording.h"
#include "cli/record/running.h"
#include "cli/stop_options.h"

static void show(void *context, const struct nsc_command_reply *reply)
{
    const char *what = reply->phase == NSC_COMMAND_NAMING       ? "naming functions"
                       : reply->phase == NSC_COMMAND_CONVERTING ? "exporting"
                       : reply->phase == NSC_COMMAND_ENDING     ? "writing what is in memory"
                                                                : "stopping";

    nsc_progress_show(context, what, 0, 0);
}

static int stop(const struct nsc_command_entry *entry, bool quiet)
{
    struct nsc_command_reply reply;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_progress progress;
    struct nsc_recording recording;
    int error;

    nsc_progress_begin(&progress);
    error =
        nsc_command_call(entry->path, NSC_COMMAND_STOP, NULL, 0, show, &progress, &reply, &diag);
    nsc_progress_end(&progress);
    if (error != 0)
        return nsc_cli_fail(&diag);
    if (reply.error != 0)
        return nsc_cli_error("%s", reply.message);
    if (!reply.result.recorded)
        return nsc_cli_error("the recording has ended: %s", reply.message);
    nsc_recording_begin(&recording);
    recording.options.output = reply.output;
    recording.options.mode = (enum nsc_record_mode)reply.mode;
    recording.filtered = reply.filtered != 0;
    snprintf(recording.remark, sizeof recording.remark, "%s", reply.message);
    if (!quiet)
        nsc_recording_summarise(&recording, &reply.result);
    return NSC_CLI_OK;
}

int nsc_cmd_stop(const struct nsc_cli_args *args)
{
    struct nsc_command_entry entry;
    const char *process = NULL;
    bool quiet = false;
    int status;
    size_t i;

    for (i = 0; i < args->option_count; i++) {
        switch ((enum nsc_stop_option)args->options[i].id) {
        case NSC_STOP_OPT_PROCESS:
            process = args->options[i].value;
            break;
        case NSC_STOP_OPT_QUIET:
            quiet = true;
            break;
        }
    }
    if (args->operand_count != 0)
        return nsc_cli_usage(args, "\"%s\" is not expected: name the process with -p",
                             args->operands[0]);
    status = nsc_cli_running(process, &entry);
    return status != 0 ? status : stop(&entry, quiet);
}
