/* importers.c - find out what a file is and read it as a trace; see formats.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/import/import.h"
#include "formats/nanoscope_text/text_files.h"
#include "trace/format/format.h"
#include "util/path.h"
#include "util/text/units.h"

static const struct nsc_importer *const importers[] = {
    &nsc_nanoscope_importer, &nsc_android_importer,  &nsc_app_importer,    &nsc_ctf_importer,
    &nsc_uftrace_importer,   &nsc_perfetto_importer, &nsc_chrome_importer, &nsc_folded_importer,
};

#define IMPORTER_COUNT (sizeof importers / sizeof importers[0])

const char *nsc_formats_import_name(unsigned index)
{
    return index < IMPORTER_COUNT ? importers[index]->name : NULL;
}

/* ---- What a file is ----------------------------------------------------------------------- */

/* What people are likely to give by mistake. */
static const char *looks_like(const uint8_t *bytes, size_t count)
{
    static const struct {
        const char *magic, *what;
        size_t bytes;
    } known[] = {
        {"\x7f"
         "ELF",
         "an ELF program or library", 4},
        {NSC_FORMAT_MAGIC, "a .nst trace in a pipe: give its file", NSC_FORMAT_MAGIC_BYTES},
        {"\x28\xb5\x2f\xfd", "zstd data: unpack it first", 4},
        {"PK\x03\x04", "a zip archive", 4},
        {"{", "JSON", 1},
        {"[", "JSON", 1},
        {"\x0a", "perhaps a Perfetto trace", 1},
        {"Ftrace!", "a part of uftrace's data: name the folder", 8},
        {"SQLite format 3", "an SQLite database", 15},
    };

    if (count == 0)
        return "empty";
    /* Of its first field, a ValueType, both members are numbers. */
    if (count > 5 && bytes[0] == 0x0a && bytes[1] == 4 && bytes[2] == 0x08 && bytes[4] == 0x10)
        return "perhaps a profile for pprof";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (count >= known[i].bytes && memcmp(bytes, known[i].magic, known[i].bytes) == 0)
            return known[i].what;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == 0)
            return "binary data";
    return "other text";
}

/* What is read, for messages. */
static const char *accepted(char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, ".nst");

    for (size_t i = 0; i < IMPORTER_COUNT && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s",
                                 i + 1 < IMPORTER_COUNT ? ", " : " or ", importers[i]->what);
    return text;
}

static int find_by_name(const char *name, bool folder, const struct nsc_importer **importer,
                        struct nsc_diag *diag)
{
    for (size_t i = 0; i < IMPORTER_COUNT; i++) {
        if (strcmp(importers[i]->name, name) != 0)
            continue;
        if (folder ? importers[i]->sniff_folder == NULL : importers[i]->sniff == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "%s is a %s, not a %s", name,
                                folder ? "file" : "folder of files", folder ? "folder" : "file");
        *importer = importers[i];
        return 0;
    }
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "unknown import format %s", name);
}

static int find_for_folder(const char *path, const struct nsc_importer **importer,
                           struct nsc_diag *diag)
{
    char list[256];

    for (size_t i = 0; i < IMPORTER_COUNT; i++) {
        if (importers[i]->sniff_folder != NULL && importers[i]->sniff_folder(path)) {
            *importer = importers[i];
            return 0;
        }
    }
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EISDIR,
                        "%s is a folder that holds no trace; accepted: %s", path,
                        accepted(list, sizeof list));
}

static int find_importer(struct nsc_input *in, const char *path,
                         const struct nsc_importer **importer, struct nsc_diag *diag)
{
    char list[256];
    const uint8_t *bytes;
    size_t count;
    int error = nsc_input_peek(in, &bytes, &count, diag);

    if (error != 0)
        return error;
    for (size_t i = 0; i < IMPORTER_COUNT; i++) {
        if (importers[i]->sniff != NULL && importers[i]->sniff(bytes, count)) {
            *importer = importers[i];
            return 0;
        }
    }
    /* Text of which no thread has a call. */
    if (count == 0 && strcmp(path, "-") != 0 && nsc_text_has_timer(path, nsc_input_is_gzip(in))) {
        *importer = &nsc_nanoscope_importer;
        return 0;
    }
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPROTO, "%s is no trace (%s); accepted: %s",
                        nsc_input_name(in), looks_like(bytes, count), accepted(list, sizeof list));
}

/* Every .nst file begins with the same bytes (docs/format.md). Returns 1, 0 or -errno. */
static int is_nst(const char *path, struct nsc_diag *diag)
{
    char head[NSC_FORMAT_MAGIC_BYTES];
    struct stat st;
    ssize_t n;
    int fd;

    /* A pipe is opened once only: its writer must not meet a reader that goes away. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", path,
                            strerror(errno));
    n = read(fd, head, sizeof head);
    close(fd);
    return n == (ssize_t)sizeof head && memcmp(head, NSC_FORMAT_MAGIC, sizeof head) == 0;
}

/* ---- Import ------------------------------------------------------------------------------- */

static const char *input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : nsc_path_base_name(path);
}

/* The notes stay in the trace, so that `info` can show them later. */
static int add_meta(struct nsc_writer *w, const struct nsc_importer *importer,
                    const struct nsc_import *job)
{
    int error = nsc_writer_meta(w, "import.format", importer->name);

    if (error == 0)
        error = nsc_writer_meta(w, "import.file", input_name(job->path));
    for (uint32_t i = 0; i < job->notes->count && error == 0; i++) {
        char key[32];

        snprintf(key, sizeof key, "import.note%u", i + 1);
        error = nsc_writer_meta(w, key, job->notes->line[i]);
    }
    return error;
}

/* Read @job->in into @job->writer and finish that; it is gone in any case. @out_name: for messages.
 */
static int run_import(struct nsc_import *job, const struct nsc_importer *importer,
                      const char *out_name, struct nsc_import_result *result, struct nsc_diag *diag)
{
    int written, error = importer->run(job, diag);

    if (error == 0)
        error = add_meta(job->writer, importer, job);
    written = nsc_writer_error(job->writer);
    if (error == 0 && written == 0) {
        result->format = importer->name;
        result->threads = job->threads;
        result->calls = nsc_writer_calls(job->writer);
        return nsc_writer_finish(job->writer, diag);
    }
    nsc_writer_abandon(job->writer);
    if (written != 0) /* what the importer says then is a consequence */
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, written, "cannot write %s: %s", out_name,
                            strerror(-written));
    if (diag->message[0] == '\0')
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot import %s: %s", job->path,
                     strerror(-error));
    return error;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Open the input, unless it is a folder, and find out who reads it. @format: NULL, or who shall. */
static int begin_import(struct nsc_import *job, const char *format,
                        const struct nsc_importer **importer, struct nsc_diag *diag)
{
    bool folder = is_folder(job->path);
    int error = folder ? 0 : nsc_input_open(job->path, &job->in, diag);

    if (error != 0)
        return error;
    if (format != NULL)
        return find_by_name(format, folder, importer, diag);
    return folder ? find_for_folder(job->path, importer, diag)
                  : find_importer(job->in, job->path, importer, diag);
}

/*
 * Import @path into the file @out_path, or if that is NULL into @out_fd. @diag is not NULL and its
 * message is empty.
 */
static int import_path(const char *path, const char *out_path, int out_fd,
                       const struct nsc_import_options *options, struct nsc_import_result *result,
                       struct nsc_diag *diag)
{
    struct nsc_writer_options writer_options = {.size = sizeof writer_options,
                                                .overwrite = options->overwrite,
                                                .compress = options->compress};
    struct nsc_import job = {
        .path = path,
        .name = options->name != NULL ? options->name : input_name(path),
        .methods = options->methods,
        .notes = &result->notes,
        .progress = &options->progress,
    };
    const char *out_name = out_path != NULL ? out_path : NSC_IMPORT_TEMPORARY;
    const struct nsc_importer *importer = NULL;
    int error = begin_import(&job, options->format, &importer, diag);

    if (error == 0 && options->methods != NULL && !importer->takes_methods)
        error =
            nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                         "%s is no recording of an app: a table of methods is not for it", path);
    if (error == 0)
        error = out_path != NULL
                    ? nsc_writer_create(out_path, &writer_options, &job.writer, diag)
                    : nsc_writer_create_fd(out_fd, out_name, &writer_options, &job.writer, diag);
    if (error == 0)
        error = run_import(&job, importer, out_name, result, diag);
    nsc_input_close(job.in);
    return error;
}

/* As import_path(), whatever slashes the name of a folder ends with. */
static int import_to(const char *path, const char *out_path, int out_fd,
                     const struct nsc_import_options *options, struct nsc_import_result *result,
                     struct nsc_diag *diag)
{
    size_t bytes = strlen(path);
    char *trimmed;
    int error;

    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    trimmed = strndup(path, bytes);
    if (trimmed == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = import_path(trimmed, out_path, out_fd, options, result, diag);
    free(trimmed);
    return error;
}

int nsc_formats_import(const char *path, const char *out_path,
                       const struct nsc_import_options *options, struct nsc_import_result *result,
                       struct nsc_diag *diag)
{
    static const struct nsc_import_options defaults = {.size = sizeof defaults};
    struct nsc_import_result done = {0};
    struct nsc_diag local = {.offset = NSC_DIAG_NO_OFFSET};
    struct stat st;
    int error = strcmp(path, "-") == 0 ? 0 : is_nst(path, &local);

    if (error > 0)
        error = nsc_diag_set(&local, NSC_DIAG_NO_OFFSET, EINVAL,
                             "%s is a .nst trace already: nothing to import", path);
    if (error == 0)
        error = import_to(path, out_path, -1, options != NULL ? options : &defaults, &done, &local);
    if (error != 0) {
        if (diag != NULL)
            *diag = local;
        return error;
    }
    if (stat(out_path, &st) == 0)
        done.bytes = (uint64_t)st.st_size;
    *result = done;
    return 0;
}

/* ---- Open --------------------------------------------------------------------------------- */

static void first_note(const struct nsc_notes *notes, struct nsc_diag *diag)
{
    *diag = (struct nsc_diag){.offset = NSC_DIAG_NO_OFFSET};
    if (notes->count == 1)
        snprintf(diag->message, sizeof diag->message, "%s", notes->line[0]);
    else if (notes->count > 1)
        snprintf(diag->message, sizeof diag->message, "%s (and %u more remarks)", notes->line[0],
                 notes->count - 1 + notes->dropped);
}

/* Import @path into a temporary file; @out receives its descriptor. */
static int import_temporary(const char *path, const struct nsc_formats_progress *progress, int *out,
                            struct nsc_diag *diag)
{
    struct nsc_import_options options = {.size = sizeof options};
    struct nsc_import_result result = {0};
    int error, fd = nsc_import_temporary(diag);

    if (fd < 0)
        return fd;
    if (progress != NULL)
        options.progress = *progress;
    error = import_to(path, NULL, fd, &options, &result, diag);
    if (error != 0) {
        close(fd);
        return error;
    }
    first_note(&result.notes, diag);
    *out = fd;
    return 0;
}

static int open_imported(const char *path, struct nsc_trace **out, struct nsc_diag *diag)
{
    struct nsc_diag failure;
    int fd = -1, error = import_temporary(path, NULL, &fd, diag);

    if (error != 0)
        return error;
    error = nsc_trace_open_fd(fd, path, 0, out, &failure);
    if (error != 0)
        *diag = failure;
    return error;
}

int nsc_formats_file(const char *path, const struct nsc_formats_progress *progress, int *out,
                     struct nsc_diag *diag)
{
    struct nsc_diag local = {.offset = NSC_DIAG_NO_OFFSET};
    int error = strcmp(path, "-") == 0 ? 0 : is_nst(path, &local);

    if (error == 0) {
        error = import_temporary(path, progress, out, &local);
    } else if (error > 0) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        error = 0;
        if (fd >= 0)
            *out = fd;
        else
            error = nsc_diag_set(&local, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", path,
                                 strerror(errno));
    }
    if (diag != NULL)
        *diag = local;
    return error;
}

int nsc_formats_open(const char *path, unsigned flags, struct nsc_trace **out,
                     struct nsc_diag *diag)
{
    struct nsc_diag local = {.offset = NSC_DIAG_NO_OFFSET};
    int error = strcmp(path, "-") == 0 ? 0 : is_nst(path, &local);

    if (error > 0) {
        error = nsc_trace_open(path, flags, out, &local);
        if (error == 0) {
            local = (struct nsc_diag){.offset = NSC_DIAG_NO_OFFSET};
            snprintf(local.message, sizeof local.message, "%s", nsc_trace_info(*out)->warning);
        }
    } else if (error == 0) {
        error = open_imported(path, out, &local);
    }
    if (diag != NULL)
        *diag = local;
    return error;
}
