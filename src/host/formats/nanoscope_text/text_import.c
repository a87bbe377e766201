/*
 * text_import.c - read Nanoscope's text format; see text_export.c. Called through importers.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import/import.h"
#include "formats/nanoscope_text/text_files.h"
#include "formats/nanoscope_text/text_samples.h"
#include "trace/write/lane.h"
#include "util/text/name_text.h"

#define TIMESTAMP_LIMIT (1ull << 62) /* 146 years of ns; larger differences cannot be encoded */
#define DEPTH_LIMIT     (1u << 24)   /* open calls; more count as damage */
#define PROGRESS_LINES  65536u
#define UNKNOWN_CALL    "(unknown)" /* for a POP without an open call */

/* ---- Lines -------------------------------------------------------------------------------- */

/*
 * Splits `digits:rest` at the first colon. Returns NULL and sets @timestamp and @rest, or returns
 * an error message for the line.
 */
static const char *split_line(const struct nsc_line *line, uint64_t *timestamp, size_t *rest)
{
    uint64_t value = 0;
    size_t i = 0;

    for (; i < line->bytes && line->text[i] >= '0' && line->text[i] <= '9'; i++) {
        value = value * 10 + (uint64_t)(line->text[i] - '0');
        if (value >= TIMESTAMP_LIMIT)
            return "has a timestamp beyond 2^62 ns";
    }
    if (i == 0 || i == line->bytes || line->text[i] != ':')
        return "is not \"timestamp:signature\" or \"timestamp:POP\"";
    if (i + 1 == line->bytes)
        return "has no signature";
    if (memchr(line->text, '\0', line->bytes) != NULL)
        return "holds a NUL byte";
    *timestamp = value;
    *rest = i + 1;
    return NULL;
}

static bool sniff_text(const uint8_t *bytes, size_t count)
{
    size_t at = 0, digits;

    while (at < count && (bytes[at] == '\n' || bytes[at] == '\r'))
        at++;
    for (digits = at; at < count && bytes[at] >= '0' && bytes[at] <= '9'; at++)
        ;
    return at > digits && at - digits <= 20 && at < count && bytes[at] == ':';
}

/* ---- Threads ------------------------------------------------------------------------------ */

struct text_import {
    struct nsc_import *job;
    struct nsc_names names;
    uint32_t process;
};

/* Result of reading one file. */
struct text_file {
    uint64_t first, last, events;       /* times and number of the events kept */
    uint64_t backwards, backwards_line; /* timestamps raised to the previous one; first such line */
    uint64_t blank, blank_line;         /* empty lines; line of the first */
};

static int intern(struct text_import *t, const char *name, size_t bytes, uint32_t *id,
                  struct nsc_diag *diag)
{
    struct nsc_names_entry *e;
    int error = nsc_names_find(&t->names, name, bytes, &e);

    if (error == 0 && e->id == UINT32_MAX) {
        struct nsc_function f = {
            .name = e->text, .symbol = e->text, .file = "", .module = NSC_NO_ID};

        error = nsc_writer_add_function(t->job->writer, &f, &e->id);
    }
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the names: %s",
                            strerror(-error));
    *id = e->id;
    return 0;
}

/* Enters a call; with @pop, writes a late exit for a call that began before the file. */
static int take_call(struct text_import *t, struct nsc_lane *lane, uint64_t timestamp, bool pop,
                     const char *name, size_t bytes, struct nsc_diag *diag)
{
    uint32_t function = 0;
    int error = pop ? intern(t, UNKNOWN_CALL, strlen(UNKNOWN_CALL), &function, diag)
                    : intern(t, name, bytes, &function, diag);

    if (error != 0)
        return error;
    if (pop)
        nsc_lane_late_exit(lane, timestamp, function);
    else
        nsc_lane_enter(lane, timestamp, function, 0);
    return 0;
}

static int damaged(const struct nsc_input *in, const struct nsc_line *line, const char *what,
                   struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: line %llu %s", nsc_input_name(in),
                        (unsigned long long)line->number, what);
}

/* Returns 0, -EBADMSG when the line is damaged, or another -errno; @diag filled. */
static int take_line(struct text_import *t, const struct nsc_input *in, struct nsc_lane *lane,
                     const struct nsc_line *line, struct text_file *file, struct nsc_diag *diag)
{
    uint64_t timestamp = 0;
    size_t rest = 0;
    const char *wrong = split_line(line, &timestamp, &rest);
    bool pop;
    int error = 0;

    if (wrong != NULL)
        return damaged(in, line, wrong, diag);
    if (timestamp < file->last) {
        if (file->backwards++ == 0)
            file->backwards_line = line->number;
        timestamp = file->last;
    }
    pop = line->bytes - rest == 3 && memcmp(line->text + rest, "POP", 3) == 0;
    if (!pop && nsc_lane_depth(lane) >= DEPTH_LIMIT)
        return damaged(in, line, "opens more than 16777216 calls", diag);
    if (pop && nsc_lane_depth(lane) > 0)
        nsc_lane_exit(lane, timestamp);
    else
        error = take_call(t, lane, timestamp, pop, line->text + rest, line->bytes - rest, diag);
    if (error == 0 && file->events++ == 0)
        file->first = timestamp;
    file->last = timestamp;
    return error;
}

/* Reads all lines of one file. Damage after the first event ends the file with a note for the
 * user. */
static int import_lines(struct text_import *t, struct nsc_input *in, struct nsc_lane *lane,
                        struct text_file *file, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_line line;
    int more, error = 0;

    while (error == 0 && (more = nsc_input_line(in, &line, &fault)) != 0) {
        if (more < 0)
            error = more;
        else if (line.bytes > 0)
            error = take_line(t, in, lane, &line, file, &fault);
        else if (file->blank++ == 0)
            file->blank_line = line.number;
        if (line.number % PROGRESS_LINES == 0)
            nsc_import_progress(t->job, in);
    }
    error = nsc_import_judge(t->job, error, file->events, "event", &fault);
    if (error != 0 && diag != NULL)
        *diag = fault;
    return error != 0 ? error : nsc_writer_error(t->job->writer);
}

static void note_mended(struct text_import *t, const char *name, const struct text_file *file)
{
    if (file->backwards > 0)
        nsc_job_notes_add(
            t->job->notes,
            "%s: line %llu goes back in time, as do %llu in all; read as the time before", name,
            (unsigned long long)file->backwards_line, (unsigned long long)file->backwards);
    if (file->blank > 0)
        nsc_job_notes_add(t->job->notes, "%s: empty lines skipped: %llu, the first is line %llu",
                          name, (unsigned long long)file->blank,
                          (unsigned long long)file->blank_line);
}

/* Reads the samples and states of a thread from the files beside its text. */
static int import_samples(struct text_import *t, const char *path, uint32_t thread,
                          struct nsc_diag *diag)
{
    static const enum nsc_note_kind kinds[] = {NSC_NOTE_SAMPLE, NSC_NOTE_STATE};
    size_t folder_bytes, base_bytes;
    int error = 0;

    if (strcmp(path, "-") == 0)
        return 0;
    nsc_text_split_path(path, nsc_input_is_gzip(t->job->in), &folder_bytes, &base_bytes);
    for (int i = 0; i < 2 && error == 0; i++) {
        char *name;

        if (asprintf(&name, "%.*s%s%s", (int)base_bytes, path, nsc_samples_suffix(kinds[i]),
                     path + base_bytes) < 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        error = nsc_samples_read(t->job, kinds[i], thread, name, diag);
        free(name);
    }
    return error;
}

static int import_thread(struct text_import *t, struct nsc_input *in, const char *path,
                         uint32_t tid, uint32_t stack, struct nsc_diag *diag)
{
    struct nsc_thread thread = {
        .process = t->process, .tid = tid, .stack = stack, .name = t->job->name};
    struct text_file file = {0};
    struct nsc_lane *lane;
    uint32_t id;
    int error = nsc_writer_add_thread(t->job->writer, &thread, &id, &lane);

    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot add a thread: %s",
                            strerror(-error));
    error = import_lines(t, in, lane, &file, diag);
    nsc_lane_close(lane, file.last);
    thread.start_ticks = file.first;
    thread.end_ticks = file.last;
    t->job->threads += file.events > 0 && thread.stack == 0;
    note_mended(t, nsc_input_name(in), &file);
    if (error == 0)
        error = nsc_writer_set_thread(t->job->writer, id, &thread);
    return error == 0 ? import_samples(t, path, id, diag) : error;
}

/* Reads the file of a further thread or stack. A file that does not look like Nanoscope text is
 * left out, with a note for the user. */
static int import_sibling(struct text_import *t, const struct nsc_text_sibling *s,
                          struct nsc_diag *diag)
{
    struct nsc_diag fault;
    struct nsc_input *in;
    const uint8_t *bytes;
    size_t count;
    int error = nsc_input_open_beside(s->path, &in, &fault);

    if (error == 0) {
        error = nsc_input_peek(in, &bytes, &count, &fault);
        if (error == 0 && count > 0 && !sniff_text(bytes, count))
            error = nsc_diag_set(&fault, NSC_DIAG_NO_OFFSET, EPROTO, "%s is not Nanoscope text",
                                 s->path);
        if (error == 0)
            error = import_thread(t, in, s->path, s->tid, s->stack, &fault);
        nsc_input_close(in);
    }
    if (error == -ENOMEM || nsc_writer_error(t->job->writer) != 0) {
        if (diag != NULL)
            *diag = fault;
        return error;
    }
    if (error != 0)
        nsc_job_notes_add(t->job->notes, "%s; left out", fault.message);
    return 0;
}

static int import_text(struct nsc_import *job, struct nsc_diag *diag)
{
    struct text_import t = {.job = job};
    struct nsc_process process = {
        .pid = 1, .parent = NSC_NO_ID, .name = job->name, .exit_status = -1};
    struct nsc_text_sibling *siblings = NULL;
    size_t count = 0;
    int error = 0;

    if (strcmp(job->path, "-") != 0)
        error = nsc_text_find_siblings(job->path, nsc_input_is_gzip(job->in), &siblings, &count);
    /* The format has no tid for the thread in FILE: use the smallest one that no sibling has. */
    for (size_t i = 0; i < count; i++)
        process.pid += siblings[i].tid == process.pid;
    if (error == 0)
        error = nsc_writer_add_process(job->writer, &process, &t.process);
    if (error != 0)
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot begin: %s", strerror(-error));
    else
        error = import_thread(&t, job->in, job->path, process.pid, 0, diag);
    for (size_t i = 0; i < count && error == 0; i++)
        error = import_sibling(&t, &siblings[i], diag);
    nsc_text_free_siblings(siblings, count);
    nsc_names_free(&t.names);
    return error;
}

const struct nsc_importer nsc_nanoscope_importer = {
    .name = "nanoscope",
    .what = "Nanoscope text",
    .sniff = sniff_text,
    .run = import_text,
};
