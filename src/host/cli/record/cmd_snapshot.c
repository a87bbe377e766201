/*
 * cmd_snapshot.c - nanoscope snapshot: write the buffers of a recording in ring mode to a trace.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/common/reader_rights.h"
#include "cli/progress.h"
#include "cli/record/deliver.h"
#include "cli/record/recording.h"
#include "cli/record/running.h"
#include "cli/snapshot_options.h"
#include "util/path.h"

struct snapshot {
    const char *process, *output;
    uint64_t last_ns;
    bool quiet;
};

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct snapshot *s)
{
    switch ((enum nsc_snapshot_option)given->id) {
    case NSC_SNAPSHOT_OPT_PROCESS:
        s->process = given->value;
        return 0;
    case NSC_SNAPSHOT_OPT_OUTPUT:
        s->output = given->value;
        return 0;
    case NSC_SNAPSHOT_OPT_LAST:
        return nsc_cli_time(args, given, &s->last_ns);
    case NSC_SNAPSHOT_OPT_QUIET:
        s->quiet = true;
        return 0;
    }
    return 0;
}

/* The absolute path of the output, as the recorder works in another directory. The caller frees it;
 * NULL after a message. */
static char *output_path(const struct snapshot *s, const char *program)
{
    char directory[PATH_MAX], when[32] = "", *path = NULL;
    time_t now = time(NULL);
    struct tm local;
    int n;

    if (getcwd(directory, sizeof directory) == NULL) {
        nsc_cli_error("cannot tell the working directory: %s", strerror(errno));
        return NULL;
    }
    if (localtime_r(&now, &local) != NULL)
        strftime(when, sizeof when, "%Y%m%d-%H%M%S", &local);
    if (s->output == NULL)
        n = asprintf(&path, "%s/%s-%s.nst", directory, nsc_path_base_name(program), when);
    else if (s->output[0] == '/')
        n = asprintf(&path, "%s", s->output);
    else
        n = asprintf(&path, "%s/%s", directory, s->output);
    if (n < 0) {
        nsc_cli_error("out of memory");
        return NULL;
    }
    /* The recorder opens it later, by this path. */
    if (s->output == NULL && nsc_cli_begin_made_output(NULL, path, NSC_CLI_REPLACE_NOTHING) != 0) {
        free(path);
        return NULL;
    }
    return path;
}

static void show(void *context, const struct nsc_command_reply *reply)
{
    nsc_progress_show(context,
                      reply->phase == NSC_COMMAND_NAMING ? "naming functions"
                                                         : "writing what is in memory",
                      0, 0);
}

/* @trace: the .nst file that the recorder writes; @path: the output to convert it to. */
static int take(const struct snapshot *s, const struct nsc_command_entry *entry, const char *trace,
                const char *path)
{
    struct nsc_command_reply reply;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_progress progress;
    struct nsc_recording recording;
    char *text;
    int error, bytes = asprintf(&text, "%llu %s", (unsigned long long)s->last_ns, trace);

    if (bytes < 0)
        return nsc_cli_error("out of memory");
    nsc_progress_begin(&progress);
    error = nsc_command_call(entry->path, NSC_COMMAND_SNAPSHOT, text, (size_t)bytes, show,
                             &progress, &reply, &diag);
    nsc_progress_end(&progress);
    free(text);
    if (error != 0)
        return nsc_cli_fail(&diag);
    if (reply.error != 0)
        return nsc_cli_error("%s", reply.message);
    if (!reply.result.recorded)
        return nsc_cli_error("no program has taken part yet: there is nothing to write");
    /* The file was written by a recorder that may be another user's. */
    nsc_cli_confine(path);
    if (nsc_deliver(-1, trace, path, s->quiet, &reply.result.file_bytes, &diag) != 0)
        return nsc_cli_fail(&diag);
    nsc_recording_begin(&recording);
    snprintf(recording.remark, sizeof recording.remark, "%s", diag.message);
    recording.options.output = path;
    recording.options.mode = NSC_RECORD_RING;
    recording.filtered = reply.filtered != 0;
    if (!s->quiet)
        nsc_recording_summarise(&recording, &reply.result);
    return NSC_CLI_OK;
}

int nsc_cmd_snapshot(const struct nsc_cli_args *args)
{
    struct nsc_command_entry entry;
    struct snapshot s = {0};
    struct nsc_diag diag;
    char *path, *trace;
    int status = 0;
    size_t i;

    for (i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0 && args->operand_count != 0)
        status = nsc_cli_usage(args,
                               "\"%s\" is not expected: name the process with -p, the trace "
                               "with -o",
                               args->operands[0]);
    if (status == 0)
        status = nsc_cli_running(s.process, &entry);
    if (status != 0)
        return status;
    path = output_path(&s, entry.status.program);
    if (path == NULL)
        return NSC_CLI_FAILED;
    trace = nsc_deliver_from(path);
    if (trace == NULL)
        status = nsc_cli_error("out of memory");
    else if (nsc_deliver_check(path, &diag) != 0)
        status = nsc_cli_fail(&diag);
    else
        status = take(&s, &entry, trace, path);
    free(trace);
    free(path);
    return status;
}
