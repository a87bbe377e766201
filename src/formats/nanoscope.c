/*
 * nanoscope.c - Nanoscope's text format, in and out: `[timestamp ns]:[signature | POP]`, an event a
 * line, a thread a file. See docs/formats.md for every corner of it. Called through import.c and
 * export.c.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/export.h"
#include "formats/import.h"
#include "formats/names.h"
#include "formats/samples.h"
#include "trace/encode.h"
#include "util/units.h"

#define TIMESTAMP_LIMIT (1ull << 62) /* 146 years of ns; above it, differences would not encode */
#define DEPTH_LIMIT     (1u << 24)   /* open calls; a file that goes deeper is damaged */
#define PROGRESS_LINES  65536u
#define UNKNOWN_CALL    "(unknown)" /* a POP with no open call: its begin is not in the file */

/* ---- Lines -------------------------------------------------------------------------------- */

/*
 * Split `digits:rest` at the first colon. Returns NULL and sets @timestamp and @rest, or says
 * what is wrong with the line.
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

/* ---- Import ------------------------------------------------------------------------------- */

struct text_import {
    struct nsc_import *job;
    struct nsc_names names;
    uint32_t process;
};

/* What came of one file. */
struct text_file {
    uint64_t first, last, events;       /* those that were kept */
    uint64_t backwards, backwards_line; /* timestamps raised to the one before, the first of them */
    uint64_t blank, blank_line;         /* empty lines, the first of them */
};

/* A further thread's file, "FILE.TID" or "FILE.TID.STACK". */
struct sibling {
    char *path;
    uint32_t tid, stack;
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

/* A call begins, or with @pop one returns that had begun before the file. */
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

/* All lines of one file. Damage behind the first event is a note. */
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
        nsc_notes_add(t->job->notes,
                      "%s: line %llu goes back in time, as do %llu in all; read as the time before",
                      name, (unsigned long long)file->backwards_line,
                      (unsigned long long)file->backwards);
    if (file->blank > 0)
        nsc_notes_add(t->job->notes, "%s: empty lines skipped: %llu, the first is line %llu", name,
                      (unsigned long long)file->blank, (unsigned long long)file->blank_line);
}

static void split_path(const char *path, bool gzip, size_t *folder_bytes, size_t *base_bytes);

/* The samples and states that lie beside a thread's text. */
static int import_samples(struct text_import *t, const char *path, uint32_t thread,
                          struct nsc_diag *diag)
{
    static const enum nsc_note_kind kinds[] = {NSC_NOTE_SAMPLE, NSC_NOTE_STATE};
    size_t folder_bytes, base_bytes;
    int error = 0;

    if (strcmp(path, "-") == 0)
        return 0;
    split_path(path, nsc_input_is_gzip(t->job->in), &folder_bytes, &base_bytes);
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

/* Whether @tail is ".TID" or ".TID.STACK", followed by @suffix. */
static bool parse_tail(const char *tail, const char *suffix, struct sibling *s)
{
    int used = 0;

    s->stack = 0;
    if (tail[0] != '.' || tail[1] < '0' || tail[1] > '9' ||
        sscanf(tail, ".%9u%n", &s->tid, &used) != 1)
        return false;
    tail += used;
    used = 0;
    if (tail[0] == '.' && tail[1] >= '0' && tail[1] <= '9') {
        if (sscanf(tail, ".%9u%n", &s->stack, &used) != 1)
            return false;
        tail += used;
    }
    return strcmp(tail, suffix) == 0;
}

static int compare_siblings(const void *a, const void *b)
{
    const struct sibling *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static void free_siblings(struct sibling *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(all[i].path);
    free(all);
}

/* Where the name of @path begins, and how many of its bytes count: all, less a ".gz". */
static void split_path(const char *path, bool gzip, size_t *folder_bytes, size_t *base_bytes)
{
    const char *slash = strrchr(path, '/');
    size_t bytes = strlen(path);

    if (gzip && bytes > 3 && strcmp(path + bytes - 3, ".gz") == 0)
        bytes -= 3;
    *folder_bytes = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    *base_bytes = bytes;
}

static int find_siblings(const char *path, bool gzip, struct sibling **out, size_t *out_count)
{
    struct sibling *all = NULL;
    size_t count = 0, capacity = 0, folder_bytes, base_bytes;
    struct dirent *entry;
    char *folder;
    DIR *dir;
    int error = 0;

    split_path(path, gzip, &folder_bytes, &base_bytes);
    folder = folder_bytes > 0 ? strndup(path, folder_bytes) : strdup(".");
    dir = folder != NULL ? opendir(folder) : NULL;
    free(folder);
    while (dir != NULL && error == 0 && (entry = readdir(dir)) != NULL) {
        size_t name_bytes = base_bytes - folder_bytes;
        struct sibling s;

        if (strncmp(entry->d_name, path + folder_bytes, name_bytes) != 0 ||
            !parse_tail(entry->d_name + name_bytes, gzip ? ".gz" : "", &s))
            continue;
        if (count == capacity) {
            struct sibling *more = reallocarray(all, capacity = capacity * 2 + 16, sizeof *all);

            if (more == NULL) {
                error = -ENOMEM;
                break;
            }
            all = more;
        }
        if (asprintf(&s.path, "%.*s%s", (int)folder_bytes, path, entry->d_name) < 0)
            error = -ENOMEM;
        else
            all[count++] = s;
    }
    if (dir != NULL)
        closedir(dir);
    if (error != 0) {
        free_siblings(all, count);
        return error;
    }
    if (count > 0)
        qsort(all, count, sizeof *all, compare_siblings);
    *out = all;
    *out_count = count;
    return 0;
}

/* A further thread. What does not look like text beside the file is somebody else's. */
static int import_sibling(struct text_import *t, const struct sibling *s, struct nsc_diag *diag)
{
    struct nsc_diag fault;
    struct nsc_input *in;
    const uint8_t *bytes;
    size_t count;
    int error = nsc_input_open(s->path, &in, &fault);

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
        nsc_notes_add(t->job->notes, "%s; left out", fault.message);
    return 0;
}

static int import_text(struct nsc_import *job, struct nsc_diag *diag)
{
    struct text_import t = {.job = job};
    struct nsc_process process = {
        .pid = 1, .parent = NSC_NO_ID, .name = job->name, .exit_status = -1};
    struct sibling *siblings = NULL;
    size_t count = 0;
    int error = 0;

    if (strcmp(job->path, "-") != 0)
        error = find_siblings(job->path, nsc_input_is_gzip(job->in), &siblings, &count);
    /* The format has no id for the traced thread: the smallest one that no sibling has. */
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
    free_siblings(siblings, count);
    nsc_names_free(&t.names);
    return error;
}

const struct nsc_importer nsc_nanoscope_importer = {
    .name = "nanoscope",
    .what = "Nanoscope text",
    .sniff = sniff_text,
    .run = import_text,
};

/* ---- Export ------------------------------------------------------------------------------- */

struct text_export {
    struct nsc_export *job;
    struct nsc_output **files; /* of the set, waiting to be published; [0] is FILE */
    size_t file_count, file_capacity;
    struct nsc_names taken; /* "TID" -> how many files of the thread there are */
    uint32_t first_tid;     /* of the thread in FILE */
    uint64_t late;
    uint8_t *written; /* a byte per thread id: it has a file */
    uint32_t unknown; /* values that samples do not know, as bits */
};

/* What stands behind FILE in the names of a thread's files: nothing, ".TID" or ".TID.1". */
#define SUFFIX_MAX 48

/* "POP" is the format's own word, and a line end would end the event. */
static char *cook_text(const char *name, size_t *bytes)
{
    if (strcmp(name, "POP") == 0)
        name = "POP()";
    return nsc_names_replace(name, "\r\n", '?', bytes);
}

/* Begin a further file of the set: FILE for the first thread, then FILE.TID, FILE.TID.1, ... */
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
    split_path(path, true, &folder_bytes, &base_bytes);
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
    e->id++; /* from UINT32_MAX to 0 */
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
 * Calls that are open at the end have no POP in this format, so ends without a return wait until
 * something follows them: a later event, or an end later than the last line.
 */
struct waiting {
    uint64_t ticks, count;
    uint64_t line_ticks; /* of the last line */
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
        (w->count == 0 || e->ticks == w->ticks)) {
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

/* A thread's samples or states. */
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

/* As Nanoscope, FILE has both beside it in any case, empty when sampling was off; further threads
 * only if it was on. */
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
            break; /* nsc_output_finish() says what it was */
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

/* A thread without calls (in the window) has an empty file if it has samples or states. */
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

/* All is empty: there is nothing to tell. */
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
        nsc_notes_add(&x->job->result->notes,
                      "%llu returns of calls that began before the trace are POPs without a call",
                      (unsigned long long)x->late);
    if (strcmp(x->job->path, "-") == 0)
        nsc_export_note_left_out(x->job, "one file of text", ~0u);
    else
        nsc_export_note_left_out(x->job, "the text format",
                                 1u << NSC_NOTE_MARK | 1u << NSC_NOTE_COUNTER);
    nsc_samples_note_unknown(x->job, x->unknown);
}

/* Files of an earlier export with more threads would be read as part of this one. */
static void note_strangers(struct text_export *x)
{
    struct sibling *all;
    size_t count, strangers = 0, first = 0;

    if (find_siblings(x->job->path, x->job->gzip, &all, &count) != 0)
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
        nsc_notes_add(&x->job->result->notes,
                      "%s is not of this export but would be read with it%s: remove it",
                      all[first].path, strangers > 1 ? ", as would others" : "");
    free_siblings(all, count);
}

/* All are whole: give them their names, FILE last, so that who waits for it finds the set. */
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

/* Stricter than an import: notes that begin with the time of day are no trace. */
static bool sniff_written(const uint8_t *bytes, size_t count)
{
    const uint8_t *end = bytes + count, *line = bytes;

    while (line < end) {
        const uint8_t *colon = line, *line_end = memchr(line, '\n', (size_t)(end - line));

        if (line_end == NULL) /* cut by our reading */
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
