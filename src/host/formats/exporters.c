/* exporters.c - choose an exporter and run it; see formats.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/left_out.h"
#include "formats/export/export.h"
#include "formats/formats.h"
#include "util/os/gzip_input.h"
#include "util/text/units.h"

/* Where two of them fit a file name, the first one is meant. */
static const struct nsc_exporter *const exporters[] = {
    /* clang-format off */
    &nsc_nanoscope_exporter,
    &nsc_perfetto_exporter,
    &nsc_speedscope_exporter,
    &nsc_firefox_exporter,
    &nsc_chrome_exporter,
    &nsc_folded_exporter,
    &nsc_pprof_exporter,
    &nsc_callgrind_exporter,
    &nsc_ctf_exporter,
    &nsc_uftrace_exporter,
    &nsc_tau_exporter,
    &nsc_parquet_exporter,
    &nsc_pdf_exporter,
    /* clang-format on */
};

#define EXPORTER_COUNT (sizeof exporters / sizeof exporters[0])

const char *nsc_formats_export_name(unsigned index)
{
    return index < EXPORTER_COUNT ? exporters[index]->name : NULL;
}

static bool has_suffix(const char *path, size_t bytes, const char *suffix)
{
    size_t n = strlen(suffix);

    return bytes > n && memcmp(path + bytes - n, suffix, n) == 0;
}

const char *nsc_formats_guess(const char *path)
{
    size_t bytes = strlen(path);

    if (has_suffix(path, bytes, ".gz"))
        bytes -= 3;
    for (size_t i = 0; i < EXPORTER_COUNT; i++)
        for (const char *const *s = exporters[i]->suffixes; *s != NULL; s++)
            if (has_suffix(path, bytes, *s))
                return exporters[i]->name;
    return NULL;
}

static const struct nsc_exporter *find_exporter(const char *format)
{
    for (size_t i = 0; i < EXPORTER_COUNT; i++)
        if (strcmp(exporters[i]->name, format) == 0)
            return exporters[i];
    return NULL;
}

bool nsc_formats_is_of(const char *path, const char *format)
{
    const struct nsc_exporter *exporter = find_exporter(format);
    struct nsc_input *in;
    const uint8_t *bytes;
    size_t count;
    bool is = false;

    if (exporter == NULL || exporter->sniff == NULL || nsc_input_open(path, &in, NULL) != 0)
        return false;
    if (nsc_input_peek(in, &bytes, &count, NULL) == 0)
        is = count == 0 || exporter->sniff(bytes, count);
    nsc_input_close(in);
    return is;
}

const char *nsc_formats_export_suffix(const char *format)
{
    const struct nsc_exporter *exporter = find_exporter(format);

    return exporter != NULL ? exporter->suffixes[0] : NULL;
}

bool nsc_formats_export_is_binary(const char *format)
{
    const struct nsc_exporter *exporter = find_exporter(format);

    return exporter != NULL && exporter->form != NSC_FORM_TEXT;
}

int nsc_formats_export_check(const char *format, const char *path, bool gzip, struct nsc_diag *diag)
{
    const struct nsc_exporter *exporter = find_exporter(format);

    if (exporter == NULL || exporter->form != NSC_FORM_FOLDER)
        return 0;
    if (strcmp(path, "-") == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "%s is a folder of files: name one with -o", format);
    if (gzip || has_suffix(path, strlen(path), ".gz"))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "%s is a folder of files, which is not compressed", format);
    return 0;
}

char *nsc_formats_output_name(const char *path, const char *suffix)
{
    static const char *const known[] = {
        ".gz",      ".nst",  ".txt",    ".nanoscope",      ".uftrace",
        ".ctf",     ".data", ".trace",  ".perfetto-trace", ".perfetto",
        ".pftrace", ".json", ".folded", ".collapsed",      NULL};
    size_t bytes = strlen(path);
    const char *base;
    char *name;

    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    for (base = path + bytes; base > path && base[-1] != '/';)
        base--;
    bytes -= (size_t)(base - path);

    for (const char *const *s = known; *s != NULL; s++)
        if (has_suffix(base, bytes, *s))
            bytes -= strlen(*s);
    return asprintf(&name, "%.*s%s", (int)bytes, base, suffix) < 0 ? NULL : name;
}

/* What the recording lost without knowing where, or in threads of which nothing is left. */
static uint64_t lost_elsewhere(const struct nsc_export *job)
{
    bool whole = job->options.from_ticks == 0 && job->options.to_ticks == UINT64_MAX &&
                 job->options.threads == NULL;

    return whole && job->info->lost > job->result->lost ? job->info->lost - job->result->lost : 0;
}

/* What ran and is not in the trace; no format has a place for that. */
static int note_missing(const struct nsc_export *job, struct nsc_diag *diag)
{
    struct nsc_selection selection = {.from_ticks = job->options.from_ticks,
                                      .to_ticks = job->options.to_ticks};
    struct nsc_left_out_list list;
    uint64_t events = 0;
    int error;

    /* A selection may be changed, but who reads with it does not. */
    memcpy(&selection.threads, &job->options.threads, sizeof selection.threads);
    memcpy(&selection.hidden, &job->options.hidden, sizeof selection.hidden);
    error = nsc_left_out_find(job->trace, &selection, &list, diag);

    if (error != 0)
        return error;
    for (uint32_t i = NSC_LEFT_OUT_FILTER; i < NSC_LEFT_OUT_REASONS; i++)
        if (list.functions[i] == 0 || i == NSC_LEFT_OUT_BUDGET)
            events += nsc_left_out_events(job->trace, i);
    if (list.all_functions > 0)
        nsc_job_notes_add(&job->result->notes,
                          "calls of %u function%s were left out of the recording, by its budget or "
                          "filter (see nanoscope info --left-out)",
                          list.all_functions, nsc_units_plural(list.all_functions));
    if (events > 0)
        nsc_job_notes_add(&job->result->notes,
                          "%s event%s of calls %s left out of the recording (see nanoscope info)",
                          nsc_units_count(events).text, nsc_units_plural(events),
                          events == 1 ? "was" : "were");
    nsc_left_out_free(&list);
    return 0;
}

static bool is_empty(const struct nsc_export_result *r)
{
    uint64_t written = r->calls;

    for (int kind = 0; kind < NSC_NOTE_KINDS; kind++)
        written += r->others[kind];
    return written == 0;
}

static void note_rest(const struct nsc_export *job)
{
    struct nsc_export_result *r = job->result;
    uint64_t lost = lost_elsewhere(job);

    if (job->info->exits_bound)
        nsc_job_notes_add(&r->notes,
                          "only entries were timed: calls may have ended earlier than they "
                          "seem to");
    if (is_empty(r))
        nsc_job_notes_add(&r->notes,
                          "there is nothing to write: no calls, samples, states, marks or "
                          "counters");
    if (lost > 0)
        nsc_job_notes_add(&r->notes, "%s event%s that the recording lost %s no place in time",
                          nsc_units_count(lost).text, nsc_units_plural(lost),
                          lost == 1 ? "has" : "have");
    if (r->clipped > 0)
        nsc_job_notes_add(&r->notes, "%s call%s beyond the window and %s clipped to it",
                          nsc_units_count(r->clipped).text,
                          r->clipped == 1 ? " reaches" : "s reach", r->clipped == 1 ? "is" : "are");
}

static int run(struct nsc_export *job, struct nsc_diag *diag)
{
    int error;

    job->info = nsc_trace_info(job->trace);
    job->clock = nsc_trace_clock(job->trace);
    job->cooked = calloc((size_t)job->info->function_count + 1, sizeof *job->cooked);
    job->used = calloc((size_t)job->info->function_count + 1, sizeof *job->used);
    if (job->cooked != NULL && job->used != NULL)
        error = job->exporter->run(job, diag);
    else
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < job->used_count; i++)
        free(job->cooked[job->used[i]].text);
    free(job->used);
    free(job->cooked);
    return error;
}

int nsc_formats_export(struct nsc_trace *t, const char *format, const char *path,
                       const struct nsc_export_options *options, struct nsc_export_result *result,
                       struct nsc_diag *diag)
{
    struct nsc_export_result done = {0};
    struct nsc_export job = {
        .trace = t,
        .exporter = find_exporter(format),
        .path = path,
        .gzip = has_suffix(path, strlen(path), ".gz"),
        .result = &done,
        .last_thread = NSC_NO_ID,
    };
    int error;

    if (job.exporter == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "unknown export format %s", format);
    if (options != NULL)
        job.options = *options;
    job.gzip = job.gzip || job.options.gzip || job.exporter->form == NSC_FORM_PACKED;
    error = nsc_formats_export_check(format, path, job.gzip, diag);
    if (error != 0)
        return error;
    if (job.options.to_ticks == 0)
        job.options.to_ticks = UINT64_MAX;
    if (job.options.max_depth == 0)
        job.options.max_depth = 1024;
    done.format = job.exporter->name;
    error = run(&job, diag);
    if (error == 0)
        error = note_missing(&job, diag);
    if (error != 0)
        return error;
    note_rest(&job);
    *result = done;
    return 0;
}
