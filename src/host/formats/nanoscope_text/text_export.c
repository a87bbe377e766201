/*
 * text_export.c - write a trace in Nanoscope's text format: one file per thread, one line per
 * event, `[timestamp ns]:[signature | POP]`. Called through exporters.c. The format is described in
 * docs/formats.md; text_import.c reads it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/export/export.h"
#include "formats/nanoscope_text/text_files.h"
#include "formats/nanoscope_text/text_samples.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

struct text_export {
    struct nsc_export *job;
    struct nsc_output **files; /* all files, not yet published; [0] is FILE */
    size_t file_count, file_capacity;
    struct nsc_names taken; /* ".TID" -> number of the thread's last file, from 0 */
    uint32_t first_tid;     /* of the thread in FILE */
    uint64_t late;
    uint8_t *written; /* a byte per thread id, nonzero = it has a file */
    uint32_t unknown; /* values that samples lack: bits 1 << enum nsc_sample_field */
};

/* Bytes for the part after FILE in the names of a thread's files: "", ".TID" or ".TID.1". */
#define SUFFIX_MAX 48

/* A function named "POP" would be read as an exit, and a line end would end the event. */
static char *cook_text(const char *name, size_t *bytes)
{
    if (strcmp(name, "POP") == 0)
        name = "POP()";
    return nsc_names_replace(name, "\r\n", '?', bytes);
}

/* Creates the next file: FILE for the first thread, then FILE.TID, FILE.TID.1, ... */
static int add_file(struct text_export *x, const char *suffix, struct nsc_output **out,
                    struct nsc_diag *diag)
{
    const char *path = x->job->path;
    size_t folder_bytes, base_bytes;
    char *name;
    int error;

    if (x->file_count == x->file_capacity) {
        size_t capacity = x->file_capacity * 2 + 8;
        struct nsc_output **files = reallocarray(x->files, capacity, sizeof(struct nsc_output *));

        if (files == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        x->files = files;
        x->file_capacity = capacity;
    }
    nsc_text_split_path(path, true, &folder_bytes, &base_bytes);
    if (asprintf(&name, "%.*s%s%s", (int)base_bytes, path, suffix, path + base_bytes) < 0)
        name = NULL;
    if (name == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_output_create(name, x->job->gzip, out, diag);
    free(name);
    if (error == 0)
        x->files[x->file_count++] = *out;
    return error;
}

static int thread_file(struct text_export *x, uint32_t thread, char suffix[SUFFIX_MAX],
                       struct nsc_output **out, struct nsc_diag *diag)
{
    const struct nsc_thread *th = nsc_trace_thread(x->job->trace, thread);
    struct nsc_names_entry *e;
    int bytes = snprintf(suffix, SUFFIX_MAX, ".%u", th->tid);

    x->written[thread] = 1;
    if (nsc_names_find(&x->taken, suffix, (size_t)bytes, &e) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    e->id++; /* UINT32_MAX, a new name, becomes 0 */
    if (x->file_count == 0) {
        x->first_tid = th->tid;
        suffix[0] = '\0';
        return add_file(x, suffix, out, diag);
    }
    if (strcmp(x->job->path, "-") == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "Nanoscope text is one file a thread: choose one with --thread, or "
                            "name an output file");
    if (e->id > 0)
        snprintf(suffix + bytes, SUFFIX_MAX - (size_t)bytes, ".%u", e->id);
    return add_file(x, suffix, out, diag);
}

static void put_line(struct nsc_output *out, uint64_t timestamp, const char *name, size_t bytes)
{
    uint8_t *at = nsc_output_digits(nsc_output_room(out, 32), timestamp);

    *at++ = ':';
    out->at = at;
    nsc_output_put(out, name, bytes);
    *nsc_output_room(out, 1) = '\n';
    out->at++;
}

/*
 * Delayed POPs. Calls that are open at the thread's end have no POP in this format. So ends without
 * a return are written only when a later event follows, or when they are later than the last line.
 */
struct waiting {
    uint64_t ticks, count;
    uint64_t line_ticks; /* time of the last line written */
    bool any_line;
};

static void put_waiting(struct text_export *x, struct nsc_output *out, struct waiting *w)
{
    for (; w->count > 0; w->count--) {
        put_line(out, nsc_clock_ns(x->job->clock, w->ticks), "POP", 3);
        w->line_ticks = w->ticks;
    }
}

static int put_event(struct text_export *x, struct nsc_output *out, const struct nsc_walk_event *e,
                     struct waiting *w, struct nsc_diag *diag)
{
    const struct nsc_cooked *name;

    if (e->kind == NSC_WALK_LOST)
        return 0;
    if (e->kind == NSC_WALK_END && (e->bound & (NSC_BOUND_END | NSC_WALK_CUT_END)) != 0 &&
        (e->bound & NSC_WALK_UNTIMED) == 0 && (w->count == 0 || e->ticks == w->ticks)) {
        w->ticks = e->ticks;
        w->count++;
        return 0;
    }
    put_waiting(x, out, w);
    w->line_ticks = e->ticks;
    w->any_line = true;
    x->late += e->kind == NSC_WALK_LATE;
    if (e->kind != NSC_WALK_BEGIN) {
        put_line(out, nsc_clock_ns(x->job->clock, e->ticks), "POP", 3);
        return 0;
    }
    name = nsc_export_name(x->job, e->function);
    if (name == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    put_line(out, nsc_clock_ns(x->job->clock, e->ticks), name->text, name->bytes);
    return 0;
}

/* Writes the file of a thread's samples or states. */
static int add_samples(struct text_export *x, enum nsc_note_kind kind, uint32_t thread,
                       const char *suffix, struct nsc_diag *diag)
{
    char name[SUFFIX_MAX + 16];
    struct nsc_output *out;
    int error;

    snprintf(name, sizeof name, "%s%s", suffix, nsc_samples_suffix(kind));
    error = add_file(x, name, &out, diag);
    if (error == 0)
        error = nsc_samples_write(x->job, kind, thread, out, &x->unknown, diag);
    return error != 0 ? error : nsc_output_finish(out, diag);
}

/* Writes the `.timer` and `.state` files of a thread. As with Nanoscope, FILE always has both,
 * empty if sampling was disabled. Further threads have them only if the trace has samples or
 * states. */
static int add_both(struct text_export *x, uint32_t thread, const char *suffix,
                    struct nsc_diag *diag)
{
    const uint64_t *notes = x->job->info->notes;
    int error;

    if (strcmp(x->job->path, "-") == 0 ||
        (suffix[0] != '\0' && notes[NSC_NOTE_SAMPLE] + notes[NSC_NOTE_STATE] == 0))
        return 0;
    error = add_samples(x, NSC_NOTE_SAMPLE, thread, suffix, diag);
    return error != 0 ? error : add_samples(x, NSC_NOTE_STATE, thread, suffix, diag);
}

static int export_thread(struct text_export *x, uint32_t thread, struct nsc_diag *diag)
{
    char suffix[SUFFIX_MAX] = "";
    struct nsc_output *out = NULL;
    struct waiting waiting = {0};
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    int more = 0, error = nsc_export_walk(x->job, thread, true, &walk, diag);

    if (error != 0)
        return error;
    while (error == 0 && (more = nsc_export_next(x->job, thread, walk, &event, diag)) > 0) {
        if (out == NULL && event.kind != NSC_WALK_LOST)
            error = thread_file(x, thread, suffix, &out, diag);
        if (error == 0)
            error = put_event(x, out, &event, &waiting, diag);
        if (error == 0 && out != NULL && nsc_output_error(out) != 0)
            break; /* nsc_output_finish() reports the error */
    }
    nsc_export_walked(x->job, walk);
    if (more < 0 || error != 0)
        return more < 0 ? more : error;
    if (out == NULL)
        return 0;
    if (waiting.ticks > waiting.line_ticks || !waiting.any_line)
        put_waiting(x, out, &waiting);
    error = nsc_output_finish(out, diag);
    return error != 0 ? error : add_both(x, thread, suffix, diag);
}

/* Writes an empty file for a thread that has samples or states but no calls in the window. */
static int export_quiet_thread(struct text_export *x, uint32_t thread, struct nsc_diag *diag)
{
    const struct nsc_trace *t = x->job->trace;
    char suffix[SUFFIX_MAX];
    struct nsc_output *out;
    int error;

    if (x->written[thread] || !nsc_export_wants_notes(x->job, thread) ||
        nsc_trace_note_count(t, NSC_NOTE_SAMPLE, thread, false) +
                nsc_trace_note_count(t, NSC_NOTE_STATE, thread, false) ==
            0)
        return 0;
    error = thread_file(x, thread, suffix, &out, diag);
    if (error == 0)
        error = nsc_output_finish(out, diag);
    return error != 0 ? error : add_both(x, thread, suffix, diag);
}

/* Writes empty files for a trace without calls, samples and states. */
static int add_nothing(struct text_export *x, struct nsc_diag *diag)
{
    static const char *const suffixes[] = {"", ".timer", ".state"};
    int count = strcmp(x->job->path, "-") == 0 ? 1 : 3;
    int error = 0;

    for (int i = 0; i < count && error == 0; i++) {
        struct nsc_output *out;

        error = add_file(x, suffixes[i], &out, diag);
        if (error == 0)
            error = nsc_output_finish(out, diag);
    }
    return error;
}

static void note_losses(struct text_export *x)
{
    nsc_export_note_unmarked(x->job, "the text format");
    if (x->late > 0)
        nsc_job_notes_add(&x->job->result->notes,
                          "%s returns of calls that began before the trace are POPs without a call",
                          nsc_units_count(x->late).text);
    if (strcmp(x->job->path, "-") == 0)
        nsc_export_note_left_out(x->job, "one file of text", ~0u);
    else
        nsc_export_note_left_out(x->job, "the text format",
                                 1u << NSC_NOTE_MARK | 1u << NSC_NOTE_COUNTER);
    nsc_samples_note_unknown(x->job, x->unknown);
}

/* Adds a note for the user on files of an earlier export with more threads: an import would read
 * them as part of this one. */
static void note_strangers(struct text_export *x)
{
    struct nsc_text_sibling *all;
    size_t count, strangers = 0, first = 0;

    if (nsc_text_find_siblings(x->job->path, x->job->gzip, &all, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        char suffix[32];
        struct nsc_names_entry *e;
        int bytes = snprintf(suffix, sizeof suffix, ".%u", all[i].tid);

        if (nsc_names_find(&x->taken, suffix, (size_t)bytes, &e) != 0)
            break;
        if (e->id != UINT32_MAX && all[i].stack <= e->id &&
            (all[i].stack > 0 || all[i].tid != x->first_tid))
            continue;
        if (strangers++ == 0)
            first = i;
    }
    if (strangers > 0)
        nsc_job_notes_add(&x->job->result->notes,
                          "%s is not of this export but would be read with it%s: remove it",
                          all[first].path, strangers > 1 ? ", as would others" : "");
    nsc_text_free_siblings(all, count);
}

/* Renames the finished files to their final names. FILE is last, so that it appears only when all
 * others exist. */
static int publish(struct text_export *x, struct nsc_diag *diag)
{
    int error = 0;

    for (size_t i = x->file_count; i > 0 && error == 0; i--) {
        struct nsc_output *out = x->files[i - 1];

        x->job->result->bytes += nsc_output_bytes(out);
        x->job->result->files++;
        x->files[i - 1] = NULL;
        error = nsc_output_publish(out, diag);
    }
    return error;
}

static int export_files(struct text_export *x, struct nsc_diag *diag)
{
    const struct nsc_export *job = x->job;
    int error = 0;

    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(job, i))
            error = export_thread(x, i, diag);
    if (strcmp(job->path, "-") != 0)
        for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
            error = export_quiet_thread(x, i, diag);
    if (error == 0 && x->file_count == 0)
        error = add_nothing(x, diag);
    return error != 0 ? error : publish(x, diag);
}

static int export_text(struct nsc_export *job, struct nsc_diag *diag)
{
    struct text_export x = {.job = job};
    int error;

    x.written = calloc((size_t)job->info->thread_count + 1, 1);
    if (x.written == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = export_files(&x, diag);
    if (error == 0) {
        note_losses(&x);
        if (strcmp(job->path, "-") != 0)
            note_strangers(&x);
    }
    for (size_t i = 0; i < x.file_count; i++)
        nsc_output_abandon(x.files[i]);
    free(x.files);
    free(x.written);
    nsc_names_free(&x.taken);
    return error;
}

/* Stricter than the importer's sniff_text(): user text with lines like "10:30 lunch" must not be
 * taken for a trace, because a recording may replace a file of its format. */
static bool sniff_written(const uint8_t *bytes, size_t count)
{
    const uint8_t *end = bytes + count, *line = bytes;

    while (line < end) {
        const uint8_t *colon = line, *line_end = memchr(line, '\n', (size_t)(end - line));

        if (line_end == NULL) /* only the first bytes of the file were read */
            return line > bytes;
        while (*colon >= '0' && *colon <= '9')
            colon++;
        if (colon == line || *colon != ':' ||
            (colon[1] >= '0' && colon[1] <= '9' && colon[2] != 'x'))
            return false;
        line = line_end + 1;
    }
    return true;
}

static const char *const text_suffixes[] = {".txt", ".nanoscope", NULL};

const struct nsc_exporter nsc_nanoscope_exporter = {
    .name = "nanoscope",
    .suffixes = text_suffixes,
    .sniff = sniff_written,
    .cook = cook_text,
    .run = export_text,
};
