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
#include "util/path.h"
#include "util/privileges/own_path.h"
#include "util/text/escape.h"

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
    if (name != NULL && nsc_partial_publish_path(trace, name) == 0)
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

/* Opens @trace, which this user has just written, by its name. If another user can change the
 * folder, it could be any file by now that only this user may read. */
static int open_own(const char *trace, struct nsc_diag *diag)
{
    char *folder = nsc_path_folder(trace);
    int folder_fd, fd;

    if (folder == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0 || !nsc_own_path_keeps_names(folder_fd)) {
        fd = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPERM,
                          "other users can change %s: name an output that ends in .nst, or "
                          "another folder",
                          folder);
    } else {
        fd = openat(folder_fd, nsc_path_base_name(trace),
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            fd = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot read %s: %s", trace,
                              strerror(errno));
    }
    if (folder_fd >= 0)
        close(folder_fd);
    free(folder);
    return fd;
}

/* @fd: the trace. */
static int convert(int fd, const char *path, bool quiet, uint64_t *bytes, struct nsc_diag *diag)
{
    char trace[32];
    struct nsc_progress progress = {.on = false};
    struct nsc_export_options options = {.size = sizeof options, .progress = {tick, &progress}};
    struct nsc_export_result result;
    struct nsc_trace *t;
    int error;

    snprintf(trace, sizeof trace, "/proc/self/fd/%d", fd);
    error = nsc_trace_open(trace, 0, &t, diag);
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

int nsc_deliver(int fd, const char *trace, const char *path, bool quiet, uint64_t *bytes,
                struct nsc_diag *diag)
{
    struct stat st;
    int error, opened = -1;

    if (strcmp(trace, path) == 0) {
        diag->message[0] = 0;
        return 0;
    }
    if (nsc_deliver_format(path) != NULL) {
        if (fd < 0)
            fd = opened = open_own(trace, diag);
        error = fd < 0 ? fd : convert(fd, path, quiet, bytes, diag);
        if (opened >= 0)
            close(opened);
        if (error == 0)
            unlink(trace);
    } else {
        error = nsc_output_move(trace, path, diag);
        if (error == 0 && stat(path, &st) == 0)
            *bytes = (uint64_t)st.st_size;
    }
    return error != 0 ? nsc_deliver_keep(trace, path, error, diag) : 0;
}
