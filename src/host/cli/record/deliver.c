/* deliver.c - see deliver.h. */
#include "cli/record/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/progress.h"
#include "formats/formats.h"
#include "record/recorder/trace_output.h"
#include "util/os/partial_name.h"

static bool ends_with(const char *path, const char *suffix)
{
    size_t bytes = strlen(path), n = strlen(suffix);

    return bytes >= n && strcmp(path + bytes - n, suffix) == 0;
}

const char *nsc_deliver_format(const char *path)
{
    const char *format;

    if (ends_with(path, ".nst") || strcmp(path, "-") == 0)
        return NULL;
    format = nsc_formats_guess(path);
    return format != NULL ? format : "nanoscope";
}

int nsc_deliver_check(const char *path, struct nsc_diag *diag)
{
    const char *format = nsc_deliver_format(path);

    if (ends_with(path, ".nst.gz"))
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, EINVAL,
            "%s: a .nst file is not packed by gzip; use --compress, and a name that "
            "ends in .nst",
            path);
    if (format != NULL) {
        int error = nsc_formats_export_check(format, path, false, diag);

        if (error != 0)
            return error;
    }
    if (format != NULL && nsc_output_check(path, NULL) != 0 && nsc_formats_is_of(path, format))
        return 0;
    return nsc_output_check(path, diag);
}

char *nsc_deliver_from(const char *path)
{
    return nsc_deliver_format(path) == NULL ? strdup(path) : nsc_partial_make(path, "partial");
}

int nsc_deliver_keep(const char *trace, const char *path, int error, struct nsc_diag *diag)
{
    const struct nsc_diag why = *diag;
    char *name;

    if (asprintf(&name, "%s%s", path, ends_with(path, ".nst") ? "" : ".nst") < 0)
        name = NULL;
    if (name != NULL && renameat2(AT_FDCWD, trace, AT_FDCWD, name, RENAME_NOREPLACE) == 0)
        trace = name;
    nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s; the recording is kept in %s", why.message,
                 trace);
    free(name);
    return error;
}

static void tick(void *context, uint64_t done, uint64_t total)
{
    nsc_progress_show(context, "exporting", done, total);
}

/* Join all notes into one line in @diag. */
static void put_remark(const struct nsc_notes *notes, struct nsc_diag *diag)
{
    size_t used = 0;

    diag->message[0] = 0;
    for (uint32_t i = 0; i < notes->count && used < sizeof diag->message; i++)
        used += (size_t)snprintf(diag->message + used, sizeof diag->message - used, "%s%s",
                                 i > 0 ? "; " : "", notes->line[i]);
    if (used >= sizeof diag->message || notes->dropped > 0)
        snprintf(diag->message + sizeof diag->message - 4, 4, "...");
}

static int convert(const char *trace, const char *path, bool quiet, uint64_t *bytes,
                   struct nsc_diag *diag)
{
    struct nsc_progress progress = {.on = false};
    struct nsc_export_options options = {.size = sizeof options, .progress = {tick, &progress}};
    struct nsc_export_result result;
    struct nsc_trace *t;
    int error = nsc_trace_open(trace, 0, &t, diag);

    if (error != 0)
        return error;
    if (!quiet)
        nsc_progress_begin(&progress);
    error = nsc_formats_export(t, nsc_deliver_format(path), path, &options, &result, diag);
    nsc_progress_end(&progress);
    nsc_trace_close(t);
    if (error != 0)
        return error;
    *bytes = result.bytes;
    put_remark(&result.notes, diag);
    return 0;
}

int nsc_deliver(const char *trace, const char *path, bool quiet, uint64_t *bytes,
                struct nsc_diag *diag)
{
    struct stat st;
    int error;

    if (strcmp(trace, path) == 0) {
        diag->message[0] = 0;
        return 0;
    }
    if (nsc_deliver_format(path) != NULL) {
        error = convert(trace, path, quiet, bytes, diag);
        if (error == 0)
            unlink(trace);
    } else {
        error = nsc_output_move(trace, path, diag);
        if (error == 0 && stat(path, &st) == 0)
            *bytes = (uint64_t)st.st_size;
    }
    return error != 0 ? nsc_deliver_keep(trace, path, error, diag) : 0;
}
