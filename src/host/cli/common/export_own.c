/* export_own.c - see export_own.h. */
#include "cli/common/export_own.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "formats/import/import.h"
#include "util/text/units.h"

static const struct {
    const char *name, *suffix;
} formats[] = {{"html", ".html"}, {"nst", ".nst"}};

#define FORMAT_COUNT (sizeof formats / sizeof *formats)

const char *nsc_cli_own_format(unsigned index)
{
    return index < FORMAT_COUNT ? formats[index].name : NULL;
}

const char *nsc_cli_own_guess(const char *path)
{
    const char *end = strrchr(path, '.');

    for (size_t i = 0; end != NULL && i < FORMAT_COUNT; i++)
        if (strcmp(end, formats[i].suffix) == 0)
            return formats[i].name;
    return NULL;
}

const char *nsc_cli_own_suffix(const char *format)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(format, formats[i].name) == 0)
            return formats[i].suffix;
    return NULL;
}

int nsc_cli_own_check(const char *format, const char *path, struct nsc_diag *diag)
{
    if (strcmp(format, "nst") != 0 || strcmp(path, "-") != 0)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                        "a .nst file is not written from one end to the other: name it with -o");
}

/* Write the selection with @w. Finishes @w, or abandons it on failure. */
static int cut(struct nsc_trace *t, const struct nsc_selection *selection, struct nsc_writer *w,
               const struct nsc_formats_progress *progress, struct nsc_export_result *result,
               struct nsc_diag *diag)
{
    struct nsc_nst_trim_result done;
    int error = nsc_nst_trim_write(t, selection, w, progress->tick, progress->context, &done, diag);

    if (error != 0) {
        nsc_writer_abandon(w);
        return error;
    }
    result->calls += done.calls;
    result->clipped += done.cut;
    result->lost += done.lost;
    result->threads += done.threads;
    result->files = 1;
    result->bytes = nsc_writer_bytes(w);
    return nsc_writer_finish(w, diag);
}

static void note_clipped(struct nsc_export_result *result)
{
    if (result->clipped > 0)
        nsc_job_notes_add(
            &result->notes, "%s call%s beyond the window, and %s marked there as a bound",
            nsc_units_count(result->clipped).text, result->clipped == 1 ? " reaches" : "s reach",
            result->clipped == 1 ? "is" : "are");
}

static int export_nst(struct nsc_trace *t, const struct nsc_selection *selection, const char *path,
                      const struct nsc_formats_progress *progress, struct nsc_export_result *result,
                      struct nsc_diag *diag)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_writer *w;
    int error;

    error = nsc_cli_own_check("nst", path, diag);
    if (error == 0)
        error = nsc_writer_create(path, &options, &w, diag);
    if (error == 0)
        error = cut(t, selection, w, progress, result, diag);
    note_clipped(result);
    return error;
}

/* Write the selection to a temporary file, so that the page contains nothing else of the trace.
 * @fd: receives the file. */
static int cut_aside(struct nsc_trace *t, const struct nsc_selection *selection,
                     const struct nsc_formats_progress *progress, int *fd,
                     struct nsc_export_result *result, struct nsc_diag *diag)
{
    struct nsc_writer *w;
    int error = nsc_import_temporary(diag);

    if (error < 0)
        return error;
    *fd = error;
    error = nsc_writer_create_fd(*fd, nsc_trace_name(t), NULL, &w, diag);
    if (error == 0)
        error = cut(t, selection, w, progress, result, diag);
    if (error != 0)
        close(*fd);
    return error;
}

/* Write a page from the temporary files of cut_aside(). */
static int write_page(const struct nsc_page_trace *traces, size_t count,
                      const struct nsc_page_rules *rules, const char *path,
                      struct nsc_export_result *result, struct nsc_diag *diag)
{
    struct nsc_output *out;
    int error = nsc_output_create(path, false, &out, diag);

    if (error != 0)
        return error;
    error = nsc_page_write(traces, count, rules, out, diag);
    if (error == 0)
        error = nsc_output_finish(out, diag);
    result->bytes = nsc_output_bytes(out);
    if (error == 0)
        error = nsc_output_publish(out, diag);
    else
        nsc_output_abandon(out);
    return error;
}

int nsc_cli_export_page(const struct nsc_cli_page_part *parts, size_t count,
                        const struct nsc_page_rules *rules, const char *path,
                        const struct nsc_formats_progress *progress,
                        struct nsc_export_result *result, struct nsc_diag *diag)
{
    struct nsc_page_trace traces[NSC_PAGE_TRACES_MAX];
    size_t n = 0;
    int error = 0;

    *result = (struct nsc_export_result){.format = "html"};
    if (!nsc_page_is_possible(diag))
        return -ENOSYS;
    while (n < count && n < NSC_PAGE_TRACES_MAX && error == 0) {
        traces[n].name = nsc_trace_name(parts[n].trace);
        error =
            cut_aside(parts[n].trace, parts[n].selection, progress, &traces[n].fd, result, diag);
        n += error == 0;
    }
    note_clipped(result);
    if (error == 0)
        error = write_page(traces, n, rules, path, result, diag);
    while (n > 0)
        close(traces[--n].fd);
    return error;
}

int nsc_cli_export_own(struct nsc_trace *t, const struct nsc_selection *selection,
                       const char *format, const struct nsc_page_rules *rules, const char *path,
                       const struct nsc_formats_progress *progress,
                       struct nsc_export_result *result, struct nsc_diag *diag)
{
    const struct nsc_cli_page_part part = {t, selection};

    if (strcmp(format, "nst") != 0)
        return nsc_cli_export_page(&part, 1, rules, path, progress, result, diag);
    *result = (struct nsc_export_result){.format = format};
    return export_nst(t, selection, path, progress, result, diag);
}

bool nsc_cli_is_input(const char *input, const char *output)
{
    struct stat in, out;

    return stat(input, &in) == 0 && stat(output, &out) == 0 && in.st_dev == out.st_dev &&
           in.st_ino == out.st_ino;
}
