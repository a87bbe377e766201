/*
 * uftrace_import.c - read a data folder of uftrace: `info`, and the records of each thread,
 * TID.dat. Called through importers.c. uftrace_names.c looks up functions; uftrace_perf.c reads the
 * kernel's events.
 *
 * Each record has the depth of its call. An entry ends all open calls at its depth or deeper; an
 * exit ends those that are deeper.
 * Source: uftrace 0.13, its headers and what it records.
 */
#include "formats/uftrace/uftrace_import.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "trace/write/lane.h"
#include "util/array.h"
#include "util/text/units.h"

#define MAGIC          "Ftrace!"
#define HEADER_BYTES   40u
#define VERSION_FIRST  3u
#define VERSION_LAST   4u
#define FEATURE_RELAT  (1u << 5) /* symbol addresses are relative to their module */
#define INFO_MAX       ((size_t)16 << 20)
#define FILES_MAX      65536u
#define RECORD_BYTES   16u
#define RECORD_MAGIC   5u
#define ARGUMENTS_MAX  1040u      /* bytes of arguments after a record */
#define LOST_MAX       (1u << 24) /* lost events in one plausible record after arguments */
#define LENGTH_MAX_NS  ((uint64_t)365 * 24 * 3600 * 1000000000)
#define EARLY_MAX_NS   1000000000u /* an event may be this much earlier than the record before it */
#define PROGRESS_EVERY 65536u
#define TIME_MAX       ((uint64_t)1 << 62)

enum { RECORD_ENTRY = 0, RECORD_EXIT = 1, RECORD_LOST = 2, RECORD_EVENT = 3 };

struct record {
    uint64_t ns;
    uint64_t address; /* RECORD_EVENT: event id; RECORD_LOST: number of lost records */
    uint32_t type, depth;
    bool more; /* arguments or event data follow */
};

/* One TID.dat. */
struct reading {
    struct uft *u;
    struct nsc_paged_file *file;
    struct nsc_lane *lane;
    struct uft_thread *thread;
    uint32_t pid;
    uint64_t at; /* of the next record */
    uint64_t last_ns, records;
    uint64_t backwards, backwards_at;
};

/* ---- Records ------------------------------------------------------------------------------ */

static bool parse_record(const uint8_t *at, struct record *r)
{
    uint64_t word = nsc_span_get64(at + 8);

    r->ns = nsc_span_get64(at);
    r->type = word & 3;
    r->more = (word >> 2 & 1) != 0;
    r->depth = word >> 6 & 0x3ff;
    r->address = word >> 16;
    return (word >> 3 & 7) == RECORD_MAGIC && r->ns < TIME_MAX;
}

static uint32_t open_depth(struct nsc_lane *lane)
{
    const struct nsc_lane_frame *top = nsc_lane_top(lane);

    return top != NULL ? (uint32_t)top->position + 1 : 0;
}

/*
 * Returns whether @r is plausible as the next record. Arguments after a record have no length
 * field, so their end is found by looking for the next plausible record. A false match would need
 * two 8-byte argument values: one that is a valid current time, and one with a fitting depth and
 * call address. Programs practically never have such arguments.
 */
static bool fits(const struct reading *f, const struct record *r)
{
    if (r->ns + EARLY_MAX_NS < f->last_ns || r->ns > f->u->last_ns)
        return false;
    switch (r->type) {
    case RECORD_ENTRY:
        return r->ns >= f->last_ns && r->depth <= open_depth(f->lane) &&
               nsc_uftrace_names_maps(f->u, f->pid, r->ns, r->address);
    case RECORD_EXIT:
        return r->ns >= f->last_ns && r->depth + 1 == open_depth(f->lane) &&
               nsc_uftrace_names_maps(f->u, f->pid, r->ns, r->address);
    case RECORD_EVENT:
        return r->depth == 0 && r->address >= 100000 && r->address < 3000000;
    default:
        return r->ns >= f->last_ns && r->depth == 0 && !r->more && r->address > 0 &&
               r->address < LOST_MAX;
    }
}

/* Returns whether plausible records are at @offset and directly after it. */
static bool plausible(const struct reading *f, uint64_t offset)
{
    const uint8_t *at = nsc_paged_file_get(f->file, offset, RECORD_BYTES);
    struct record r, next;

    if (at == NULL || !parse_record(at, &r) || !fits(f, &r))
        return false;
    at = nsc_paged_file_get(f->file, offset + RECORD_BYTES, RECORD_BYTES);
    if (r.more || at == NULL)
        return true;
    return parse_record(at, &next) && next.ns + EARLY_MAX_NS >= r.ns && next.ns <= f->u->last_ns;
}

/* Skips the arguments after a call's record. Returns false if their end is not found. */
static bool skip_arguments(struct reading *f)
{
    uint64_t left = f->file->size - f->at;

    for (uint64_t bytes = 8; bytes <= ARGUMENTS_MAX && bytes <= left; bytes += 8) {
        if (bytes == left || plausible(f, f->at + bytes)) {
            f->at += bytes;
            return true;
        }
    }
    return false;
}

static void enter(struct reading *f, const struct record *r, uint32_t function)
{
    while (open_depth(f->lane) > r->depth)
        nsc_lane_unwind(f->lane, r->ns);
    nsc_lane_enter(f->lane, r->ns, function, r->depth);
}

/* Exits a call. If another function is open at that depth, the exit belongs to a call whose entry
 * was lost: a late exit. */
static void leave(struct reading *f, const struct record *r, uint32_t function)
{
    while (open_depth(f->lane) > r->depth + 1)
        nsc_lane_unwind(f->lane, r->ns);
    if (open_depth(f->lane) == r->depth + 1) {
        const struct nsc_lane_frame *top = nsc_lane_top(f->lane);

        if (top != NULL && top->function == function) {
            nsc_lane_exit(f->lane, r->ns);
            return;
        }
        nsc_lane_unwind(f->lane, r->ns);
    }
    nsc_lane_late_exit(f->lane, r->ns, function);
}

static int take_call(struct reading *f, const struct record *r)
{
    uint32_t function;
    int error = nsc_uftrace_names_find(f->u, f->pid, r->ns, r->address, &function);

    if (error != 0)
        return error;
    if (r->type == RECORD_ENTRY)
        enter(f, r, function);
    else
        leave(f, r, function);
    return 0;
}

/* ---- Events ------------------------------------------------------------------------------- */

/* Events that uftrace itself records; their values have 8 bytes each. */
static const struct {
    uint32_t number;
    const char *values[3];
} built_in[] = {
    {100001, {"vmsize KiB", "vmrss KiB", "shared KiB"}},
    {100002, {"major faults", "minor faults", NULL}},
    {100003, {"vmsize KiB, difference", "vmrss KiB, difference", "shared KiB, difference"}},
    {100004, {"major faults, difference", "minor faults, difference", NULL}},
    {100005, {"cycles", "instructions", NULL}},
    {100006, {"cycles, difference", "instructions, difference", NULL}},
    {100007, {"cache references", "cache misses", NULL}},
    {100008, {"cache references, difference", "cache misses, difference", NULL}},
    {100009, {"branches", "branch misses", NULL}},
    {100010, {"branches, difference", "branch misses, difference", NULL}},
};

#define EVENT_CPU 100011u /* CPU that the thread runs on, in 4 bytes */

int nsc_uftrace_note(struct uft *u, const struct nsc_note *note)
{
    if (note->ticks < u->first_note_ns && note->ticks + EARLY_MAX_NS >= u->first_ns)
        u->first_note_ns = note->ticks;
    return nsc_writer_note(u->job->writer, note);
}

static int add_counter(struct reading *f, uint64_t ns, const char *name, uint64_t value)
{
    struct nsc_note note = {.ticks = ns,
                            .kind = NSC_NOTE_COUNTER,
                            .owner = f->thread->id,
                            .counter = {.name = name, .integer = (int64_t)value}};

    return nsc_uftrace_note(f->u, &note);
}

static int take_event(struct reading *f, const struct record *r)
{
    const uint8_t *data = NULL;
    size_t bytes = 0;

    if (r->more) {
        const uint8_t *length = nsc_paged_file_get(f->file, f->at, 2);

        if (length == NULL)
            return -EBADMSG;
        bytes = (size_t)length[0] | (size_t)length[1] << 8;
        data = nsc_paged_file_get(f->file, f->at, (bytes + 2 + 7) / 8 * 8);
        if (data == NULL)
            return -EBADMSG;
        f->at += (bytes + 2 + 7) / 8 * 8;
    }
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++) {
        if (built_in[i].number != r->address)
            continue;
        for (size_t k = 0; k < 3 && built_in[i].values[k] != NULL && (k + 1) * 8 <= bytes; k++) {
            int error =
                add_counter(f, r->ns, built_in[i].values[k], nsc_span_get64(data + 2 + k * 8));

            if (error != 0)
                return error;
        }
        return 0;
    }
    if (r->address == EVENT_CPU && bytes >= 4)
        return add_counter(f, r->ns, "processor", nsc_span_get32(data + 2));
    f->u->others++;
    return 0;
}

/* ---- A thread ----------------------------------------------------------------------------- */

static int damaged(const struct reading *f, const char *what, struct nsc_diag *diag)
{
    if (f->file->error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, f->file->error, "cannot read %s: %s",
                            f->file->path, strerror(-f->file->error));
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: byte %llu: %s", f->file->path,
                        (unsigned long long)f->at, what);
}

/* Reads and processes the next record. Returns 1, 0 at the end, or -errno with @diag. */
static int take_record(struct reading *f, struct nsc_diag *diag)
{
    struct record r;
    const uint8_t *at;
    int error = 0;

    if (f->at == f->file->size)
        return 0;
    at = nsc_paged_file_get(f->file, f->at, RECORD_BYTES);
    if (at == NULL)
        return damaged(f, "a record that is cut", diag);
    if (!parse_record(at, &r))
        return damaged(f, "no record of uftrace", diag);
    if (r.type != RECORD_EVENT && r.ns < f->last_ns) {
        if (f->backwards++ == 0)
            f->backwards_at = f->at;
        r.ns = f->last_ns;
    }
    f->at += RECORD_BYTES;
    if (r.type == RECORD_EVENT) {
        error = take_event(f, &r);
        if (error == -EBADMSG)
            return damaged(f, "an event that is cut", diag);
    } else if (r.type == RECORD_LOST) {
        nsc_lane_lost(f->lane, r.ns, r.address);
        f->thread->about.lost += r.address;
    } else {
        error = take_call(f, &r);
    }
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep what %s holds: %s",
                            f->file->path, strerror(-error));
    if (r.type != RECORD_EVENT)
        f->last_ns = r.ns;
    f->records++;
    if (r.type < RECORD_LOST && r.more && !skip_arguments(f))
        return damaged(f, "arguments of a call whose end cannot be told", diag);
    return 1;
}

static void tell_progress(const struct reading *f)
{
    const struct nsc_formats_progress *progress = f->u->job->progress;

    if (progress->tick != NULL)
        progress->tick(progress->context, f->u->bytes_done + f->at, f->u->bytes_total);
}

/* Reads all records of a file. Damage ends the file with a note for the user. */
static int take_records(struct reading *f, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    int more;

    while ((more = take_record(f, &fault)) > 0)
        if (f->records % PROGRESS_EVERY == 0)
            tell_progress(f);
    if (f->backwards > 0)
        nsc_job_notes_add(f->u->job->notes,
                          "%s: the record at byte %llu goes back in time, as do %s in all; read as "
                          "the time before",
                          f->file->path, (unsigned long long)f->backwards_at,
                          nsc_units_count(f->backwards).text);
    if (more == -EBADMSG || more == -EIO) {
        nsc_job_notes_add(f->u->job->notes, "%s; kept what comes before it: %s record%s",
                          fault.message, nsc_units_count(f->records).text,
                          nsc_units_plural(f->records));
        more = 0;
    }
    if (more != 0 && diag != NULL)
        *diag = fault;
    return more;
}

static int need_process(struct uft *u, uint32_t pid, uint32_t *id, struct nsc_diag *diag)
{
    struct nsc_process process = {.pid = pid, .parent = NSC_NO_ID, .exit_status = -1};
    uint32_t fork = nsc_id_map_get(&u->by_fork, pid);
    int error;

    *id = nsc_id_map_get(&u->processes, pid);
    if (*id != NSC_ID_MAP_NEW)
        return 0;
    process.name = nsc_uftrace_names_program(u, pid);
    if (fork != NSC_ID_MAP_NEW)
        process.parent = nsc_id_map_get(&u->processes, u->tasks[fork].parent_pid);
    if (u->processes.count == 0)
        process.exit_status = u->exit_status;
    error = nsc_writer_add_process(u->job->writer, &process, id);
    if (error == 0)
        error = nsc_id_map_put(&u->processes, pid, *id);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot add a process: %s",
                            strerror(-error));
    return 0;
}

static uint32_t process_of(const struct uft *u, uint32_t tid)
{
    uint32_t task = nsc_id_map_get(&u->by_tid, tid);

    return task != NSC_ID_MAP_NEW ? u->tasks[task].pid : tid;
}

static int begin_thread(struct reading *f, uint32_t tid, struct nsc_diag *diag)
{
    struct uft *u = f->u;
    struct uft_thread *all =
        nsc_array_grow(u->threads, &u->thread_room, u->thread_count, sizeof *all);
    struct uft_thread *t;
    uint32_t process = 0;
    int error;

    if (all == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    u->threads = all;
    f->pid = process_of(u, tid);
    error = need_process(u, f->pid, &process, diag);
    if (error != 0)
        return error;
    t = &all[u->thread_count++];
    *t = (struct uft_thread){
        .tid = tid, .pid = f->pid, .about = {.process = process, .tid = tid, .name = ""}};
    f->thread = t;
    error = nsc_writer_add_thread(u->job->writer, &t->about, &t->id, &f->lane);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot add a thread: %s",
                            strerror(-error));
    nsc_uftrace_names_begin(u);
    return 0;
}

static int read_thread(struct uft *u, struct nsc_paged_file *file, uint32_t tid,
                       struct nsc_diag *diag)
{
    struct reading f = {.u = u, .file = file};
    const uint8_t *first = nsc_paged_file_get(file, 0, RECORD_BYTES);
    struct record r;
    int error = begin_thread(&f, tid, diag);

    if (error != 0)
        return error;
    if (first != NULL && parse_record(first, &r)) {
        f.thread->about.start_ticks = r.ns;
        f.last_ns = r.ns > EARLY_MAX_NS ? r.ns - EARLY_MAX_NS : 0;
    }
    error = take_records(&f, diag);
    nsc_lane_close(f.lane, f.last_ns);
    f.thread->about.end_ticks = f.last_ns;
    u->job->threads += f.records > 0;
    u->bytes_done += file->size;
    if (error == 0)
        error = nsc_writer_set_thread(u->job->writer, f.thread->id, &f.thread->about);
    return error;
}

/* ---- The folder --------------------------------------------------------------------------- */

static bool is_record_file(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    return digits > 0 && digits < 10 && strcmp(name + digits, ".dat") == 0;
}

static bool is_kernel_file(const char *name)
{
    return strncmp(name, "kernel-", 7) == 0;
}

static int compare_tids(const void *a, const void *b)
{
    unsigned long x = strtoul(*(char *const *)a, NULL, 10),
                  y = strtoul(*(char *const *)b, NULL, 10);

    return (x > y) - (x < y);
}

/* Finds the earliest record of all files and adds up their sizes. */
static void survey(struct uft *u, char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct nsc_paged_file *b;
        const uint8_t *at;
        struct record r;

        if (nsc_paged_file_open(u->folder, names[i], &b, NULL) != 0)
            continue; /* reported when the file is read */
        u->bytes_total += b->size;
        at = nsc_paged_file_get(b, 0, RECORD_BYTES);
        if (at != NULL && parse_record(at, &r) && r.ns < u->first_ns)
            u->first_ns = r.ns;
        nsc_paged_file_close(b);
    }
    if (u->first_ns == UINT64_MAX)
        u->first_ns = 0;
    u->last_ns = u->first_ns + u->length_ns;
}

/* Writes the trace's clock; uftrace's times are CLOCK_MONOTONIC. */
static int write_clock(struct uft *u, struct nsc_diag *diag)
{
    struct nsc_clock_point point = {.ticks = u->first_ns, .monotonic_ns = u->first_ns};

    return nsc_import_clock(u->job, &point, u->first_note_ns, diag);
}

static int read_threads(struct uft *u, struct nsc_diag *diag)
{
    char **names;
    size_t count;
    int error = nsc_paged_file_list(u->folder, is_record_file, FILES_MAX, &names, &count, diag);

    if (error != 0)
        return error;
    if (count > 0)
        qsort(names, count, sizeof *names, compare_tids);
    survey(u, names, count);
    for (size_t i = 0; i < count && error == 0; i++) {
        struct nsc_paged_file *b;
        struct nsc_diag why;

        error = nsc_paged_file_open(u->folder, names[i], &b, &why);
        if (error == 0) {
            if (b->size > 0)
                error = read_thread(u, b, (uint32_t)strtoul(names[i], NULL, 10), diag);
            nsc_paged_file_close(b);
        } else if (error != -ENOMEM) {
            nsc_job_notes_add(u->job->notes, "%s; left out", why.message);
            error = 0;
        }
    }
    nsc_paged_file_free_list(names, count);
    return error;
}

static int read_rest(struct uft *u, struct nsc_diag *diag)
{
    char **names;
    size_t count;
    int error = nsc_paged_file_list(u->folder, is_kernel_file, FILES_MAX, &names, &count, diag);

    if (error != 0)
        return error;
    nsc_paged_file_free_list(names, count);
    if (count > 0)
        nsc_job_notes_add(u->job->notes, "functions of the kernel (%zu files) are not read", count);
    error = nsc_uftrace_perf(u, diag);
    if (error == 0)
        error = nsc_uftrace_extern(u, diag);
    if (error == 0)
        error = write_clock(u, diag);
    if (error == 0 && u->others > 0)
        nsc_job_notes_add(u->job->notes, "%s event%s of uftrace have no place in a trace of calls",
                          nsc_units_count(u->others).text, nsc_units_plural(u->others));
    if (error == 0)
        error = nsc_uftrace_names_finish(u);
    if (error == 0 && u->command != NULL)
        error = nsc_writer_meta(u->job->writer, "command", u->command);
    return error;
}

/* ---- info --------------------------------------------------------------------------------- */

static char *info_value(const char *text, const char *key)
{
    size_t bytes = strlen(key);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, bytes) == 0 && line[bytes] == ':')
            return strndup(line + bytes + 1, strcspn(line + bytes + 1, "\n"));
    }
    return NULL;
}

static int take_info(struct uft *u, const char *text, size_t bytes, struct nsc_diag *diag)
{
    const uint8_t *head = (const uint8_t *)text;
    uint32_t version;
    size_t header;
    char *status, *length;
    double seconds;

    if (bytes < HEADER_BYTES || memcmp(text, MAGIC, sizeof MAGIC) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "%s/info does not begin as uftrace's do", u->folder);
    if (head[14] != 1)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "%s was recorded on a big-endian machine, which is not read",
                            u->folder);
    version = nsc_span_get32(head + 8);
    if (version < VERSION_FIRST || version > VERSION_LAST)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "%s has version %u of uftrace's format; %u to %u "
                            "are read",
                            u->folder, version, VERSION_FIRST, VERSION_LAST);
    header = (size_t)head[12] | (size_t)head[13] << 8;
    u->relative = (nsc_span_get64(head + 16) & FEATURE_RELAT) != 0;
    if (header < HEADER_BYTES || header > bytes)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s/info: its header is cut",
                            u->folder);
    u->exename = info_value(text + header, "exename");
    u->command = info_value(text + header, "cmdline");
    status = info_value(text + header, "exit_status");
    u->exit_status =
        status != NULL && isdigit((unsigned char)*status) ? (int32_t)strtoul(status, NULL, 10) : -1;
    free(status);
    length = info_value(text + header, "elapsed_time");
    seconds = length != NULL ? strtod(length, NULL) : 0;
    free(length);
    u->length_ns =
        seconds > 0 && seconds < 1e7 ? (uint64_t)(seconds * 1e9) + EARLY_MAX_NS : LENGTH_MAX_NS;
    return 0;
}

static int import_uftrace(struct nsc_import *job, struct nsc_diag *diag)
{
    struct uft *u = calloc(1, sizeof *u);
    size_t bytes;
    char *text;
    int error;

    if (u == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    u->job = job;
    u->folder = job->path;
    u->first_ns = u->first_note_ns = UINT64_MAX;
    error = nsc_paged_file_text(u->folder, "info", INFO_MAX, &text, &bytes, diag);
    if (error == 0) {
        error = take_info(u, text, bytes, diag);
        free(text);
    }
    if (error == 0)
        error = nsc_uftrace_names_open(u, diag);
    if (error == 0)
        error = read_threads(u, diag);
    if (error == 0)
        error = read_rest(u, diag);
    nsc_uftrace_names_close(u);
    nsc_id_map_free(&u->processes);
    free(u->threads);
    free(u->exename);
    free(u->command);
    free(u);
    return error;
}

static bool sniff_folder(const char *path)
{
    struct nsc_paged_file *b;
    const uint8_t *head;
    bool is;

    if (nsc_paged_file_open(path, "info", &b, NULL) != 0)
        return false;
    head = nsc_paged_file_get(b, 0, sizeof MAGIC);
    is = head != NULL && memcmp(head, MAGIC, sizeof MAGIC) == 0;
    nsc_paged_file_close(b);
    return is;
}

const struct nsc_importer nsc_uftrace_importer = {
    .name = "uftrace",
    .what = "folders of uftrace",
    .sniff_folder = sniff_folder,
    .run = import_uftrace,
};
