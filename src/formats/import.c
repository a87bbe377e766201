/* import.c - find out what a file is and read it as a trace. See formats.h and import.h. */
#include "formats/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format.h"

static const struct nsc_importer *const importers[] = {
    &nsc_nanoscope_importer,
};

#define IMPORTER_COUNT (sizeof importers / sizeof importers[0])
#define TEMPORARY      "a temporary file (TMPDIR chooses the folder)"
#define ACCEPTED       ".nst or Nanoscope text, plain or gzip" /* one name a line of the table */

void nsc_notes_add(struct nsc_notes *notes, const char *format, ...)
{
    va_list ap;

    if (notes->count == NSC_NOTES_MAX) {
        notes->dropped++;
        return;
    }
    va_start(ap, format);
    vsnprintf(notes->line[notes->count++], sizeof notes->line[0], format, ap);
    va_end(ap);
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
        {"uftrace!", "uftrace data", 8},
        {"SQLite format 3", "an SQLite database", 15},
    };

    if (count == 0)
        return "empty";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (count >= known[i].bytes && memcmp(bytes, known[i].magic, known[i].bytes) == 0)
            return known[i].what;
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == 0)
            return "binary data";
    return "other text";
}

static int find_importer(struct nsc_input *in, const struct nsc_importer **importer,
                         struct nsc_diag *diag)
{
    const uint8_t *bytes;
    size_t count;
    int error = nsc_input_peek(in, &bytes, &count, diag);

    if (error != 0)
        return error;
    for (size_t i = 0; i < IMPORTER_COUNT; i++) {
        if (importers[i]->sniff(bytes, count)) {
            *importer = importers[i];
            return 0;
        }
    }
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPROTO, "%s is no trace (%s); accepted: %s",
                        nsc_input_name(in), looks_like(bytes, count), ACCEPTED);
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

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (strcmp(path, "-") == 0)
        return "stdin";
    return slash != NULL ? slash + 1 : path;
}

/* The notes stay in the trace, so that `info` can show them later. */
static int add_meta(struct nsc_writer *w, const struct nsc_importer *importer,
                    const struct nsc_import *job)
{
    int error = nsc_writer_meta(w, "import.format", importer->name);

    if (error == 0)
        error = nsc_writer_meta(w, "import.file", base_name(job->path));
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
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot import %s: %s",
                     nsc_input_name(job->in), strerror(-error));
    return error;
}

/*
 * Import @path into the file @out_path, or if that is NULL into @out_fd. @diag is not NULL and its
 * message is empty.
 */
static int import_to(const char *path, const char *out_path, int out_fd,
                     const struct nsc_import_options *options, struct nsc_import_result *result,
                     struct nsc_diag *diag)
{
    struct nsc_writer_options writer_options = {.size = sizeof writer_options,
                                                .overwrite = options->overwrite,
                                                .compress = options->compress};
    struct nsc_import job = {
        .path = path,
        .name = options->name != NULL ? options->name : base_name(path),
        .notes = &result->notes,
        .progress = &options->progress,
    };
    const char *out_name = out_path != NULL ? out_path : TEMPORARY;
    const struct nsc_importer *importer = NULL;
    int error = nsc_input_open(path, &job.in, diag);

    if (error != 0)
        return error;
    error = find_importer(job.in, &importer, diag);
    if (error == 0)
        error = out_path != NULL
                    ? nsc_writer_create(out_path, &writer_options, &job.writer, diag)
                    : nsc_writer_create_fd(out_fd, out_name, &writer_options, &job.writer, diag);
    if (error == 0)
        error = run_import(&job, importer, out_name, result, diag);
    nsc_input_close(job.in);
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

/* An empty file without a name in $TMPDIR. Returns a descriptor or -errno. */
static int temporary_file(struct nsc_diag *diag)
{
    const char *folder = getenv("TMPDIR");
    char *name;
    int fd;

    if (folder == NULL || folder[0] != '/')
        folder = "/tmp";
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) { /* not every file system can */
        if (asprintf(&name, "%s/nanoscope-XXXXXX", folder) < 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0)
            unlink(name);
        free(name);
    }
    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno,
                            "cannot make a temporary file in %s: %s", folder, strerror(errno));
    return fd;
}

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
    int error, fd = temporary_file(diag);

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
