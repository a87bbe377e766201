/*
 * uftrace_export.c - write a trace as a data folder of uftrace: TID.dat with 16 bytes per begin or
 * end, and the files that name the functions. Called through exporters.c.
 *
 * All functions go into one module at synthetic addresses, in the order of their first calls.
 * Source: uftrace 0.13, its headers and what it records.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "formats/export/export.h"
#include "formats/export/folder_output.h"
#include "util/id_map.h"
#include "util/path.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

#define FILE_VERSION   4
#define HEADER_BYTES   40
#define FEATURES       (1u << 1 | 1u << 5 | 1u << 6) /* sessions, relative symbols, max_stack */
#define INFOS          (1u << 0 | 1u << 7)           /* exename, taskinfo */
#define RECORD_MAGIC   5u
#define DEPTHS         1024u /* a record has 10 bits for the depth */
#define MAP_START      0x400000u
#define FUNCTION_BYTES 16u
#define STACK_SHIFT    22          /* the kernel's thread ids are below 2^22 */
#define TIDS_MAX       1000000000u /* nine digits: uftrace keeps ids in 31 bits */
#define MODULE_MAX     200u

enum { RECORD_ENTRY = 0, RECORD_EXIT = 1, RECORD_LOST = 2 };

struct uftrace {
    struct nsc_export *job;
    struct nsc_folder folder;
    uint64_t offset_ns;      /* from trace time to CLOCK_MONOTONIC; 0 if unknown */
    uint64_t too_deep;       /* calls left out */
    uint32_t *tids;          /* by thread id: tid in the output; 0 = not written */
    struct nsc_id_map taken; /* the tids in `tids` */
    uint32_t next_tid;       /* all tids from 2^STACK_SHIFT up to here are taken */
    uint32_t renamed;        /* threads whose tid in the output is not their own */
    char *module;            /* file name of the program */
};

/* ---- Events ------------------------------------------------------------------------------- */

static int put_record(struct uftrace *u, struct nsc_output *out, const struct nsc_walk_event *e)
{
    uint8_t *at = nsc_output_room(out, 16);
    const struct nsc_cooked *name;
    uint64_t type = RECORD_LOST, address = e->value + e->left_out, depth = 0;

    if (e->kind != NSC_WALK_LOST) {
        if (e->depth >= DEPTHS) {
            u->too_deep += e->kind == NSC_WALK_BEGIN;
            return 0;
        }
        name = nsc_export_name(u->job, e->function);
        if (name == NULL)
            return -ENOMEM;
        type = e->kind == NSC_WALK_BEGIN ? RECORD_ENTRY : RECORD_EXIT;
        address = MAP_START + (name->number + 1ull) * FUNCTION_BYTES;
        depth = e->depth;
    }
    nsc_span_put64(at, u->offset_ns + nsc_clock_ns(u->job->clock, e->ticks));
    nsc_span_put64(at + 8, type | RECORD_MAGIC << 3 | depth << 6 | address << 16);
    out->at = at + 16;
    return nsc_output_error(out);
}

static bool is_free(const struct uftrace *u, uint64_t tid)
{
    return tid > 0 && tid < TIDS_MAX && nsc_id_map_get(&u->taken, tid) == NSC_ID_MAP_NEW;
}

/* Chooses an unused tid for a thread. First choice is its own tid, for a further stack combined
 * with the stack's number; otherwise the next free number. Returns 0 or -errno. */
static int choose_tid(struct uftrace *u, uint32_t id)
{
    const struct nsc_thread *thread = nsc_trace_thread(u->job->trace, id);
    uint64_t tid = thread->tid + ((uint64_t)thread->stack << STACK_SHIFT);

    if (!is_free(u, tid)) {
        while (u->next_tid < TIDS_MAX && !is_free(u, u->next_tid))
            u->next_tid++;
        tid = u->next_tid;
    }
    if (tid == TIDS_MAX)
        return -EOVERFLOW;
    u->tids[id] = (uint32_t)tid;
    u->renamed += tid != thread->tid;
    return nsc_id_map_put(&u->taken, tid, id);
}

static int open_thread(struct uftrace *u, uint32_t id, struct nsc_output **out,
                       struct nsc_diag *diag)
{
    char name[32];
    int error = choose_tid(u, id);

    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot number the threads: %s",
                            strerror(-error));
    snprintf(name, sizeof name, "%u.dat", u->tids[id]);
    return nsc_folder_open(&u->folder, name, out, diag);
}

static int export_thread(struct uftrace *u, uint32_t id, struct nsc_diag *diag)
{
    struct nsc_walk_event event;
    struct nsc_output *out = NULL;
    struct nsc_walk *walk;
    int more = 0, error = nsc_export_walk(u->job, id, false, &walk, diag);

    if (error != 0)
        return error;
    while (error == 0 && (more = nsc_export_next(u->job, id, walk, &event, diag)) > 0) {
        if (out == NULL)
            error = open_thread(u, id, &out, diag);
        if (error == 0)
            error = put_record(u, out, &event);
    }
    nsc_export_walked(u->job, walk);
    if (out == NULL)
        return error != 0 ? error : more;
    if (error == -ENOMEM && nsc_output_error(out) == 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else
        error = more < 0 ? more : 0; /* nsc_output_finish() reports output errors */
    return nsc_folder_close(&u->folder, out, error, diag);
}

/* ---- Symbols, maps, tasks and info -------------------------------------------------------- */

/* Makes a file name of the program's name. Returns 0 or -ENOMEM. */
static int choose_module(struct uftrace *u)
{
    const char *path =
        u->job->info->process_count > 0 ? nsc_trace_process(u->job->trace, 0)->name : "";
    size_t bytes;
    char *line = nsc_names_line(nsc_path_base_name(path), &bytes);

    if (line == NULL)
        return -ENOMEM;
    line[nsc_names_fit(line, bytes, MODULE_MAX)] = '\0';
    u->module = nsc_names_replace(line[0] != '\0' ? line : "program", " \"/", '_', &bytes);
    free(line);
    return u->module != NULL ? 0 : -ENOMEM;
}

static void put_line(struct nsc_output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_line(struct nsc_output *out, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    nsc_output_text(out, text);
}

static int put_symbols(struct uftrace *u, struct nsc_output *out)
{
    const struct nsc_export *job = u->job;

    put_line(out, "# symbols: %u\n# path name: /nanoscope/%s\n", job->used_count + 1, u->module);
    for (uint32_t i = 0; i < job->used_count; i++) {
        put_line(out, "%016llx T ", (i + 1ull) * FUNCTION_BYTES);
        nsc_output_text(out, job->cooked[job->used[i]].text);
        nsc_output_text(out, "\n");
    }
    put_line(out, "%016llx ? __sym_end\n", (job->used_count + 1ull) * FUNCTION_BYTES);
    return 0;
}

static int put_map(struct uftrace *u, struct nsc_output *out)
{
    uint64_t end =
        MAP_START + ((u->job->used_count + 2ull) * FUNCTION_BYTES + 0xfff) / 0x1000 * 0x1000;

    put_line(out, "%012llx-%012llx r-xp 00000000 00:00 0 %25s/nanoscope/%s\n",
             (unsigned long long)MAP_START, (unsigned long long)end, "", u->module);
    put_line(out, "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 %25s[stack]\n", "");
    return 0;
}

/* Writes a session for each process, and its threads. All begin at the start of the trace. */
static int put_tasks(struct uftrace *u, struct nsc_output *out)
{
    uint8_t *begun = calloc((size_t)u->job->info->process_count + 1, 1); /* by process */
    uint64_t ns = u->offset_ns;
    char when[48];

    if (begun == NULL)
        return -ENOMEM;
    snprintf(when, sizeof when, "timestamp=%llu.%09llu", (unsigned long long)(ns / 1000000000),
             (unsigned long long)(ns % 1000000000));
    for (uint32_t i = 0; i < u->job->info->thread_count; i++) {
        const struct nsc_thread *thread = nsc_trace_thread(u->job->trace, i);
        uint32_t pid = nsc_trace_process(u->job->trace, thread->process)->pid;

        if (u->tids[i] == 0)
            continue;
        if (begun[thread->process] == 0)
            put_line(out, "SESS %s pid=%u sid=%016x exename=\"/nanoscope/%s\"\n", when, pid, 1u,
                     u->module);
        begun[thread->process] = 1;
        put_line(out, "TASK %s tid=%u pid=%u\n", when, u->tids[i], pid);
    }
    free(begun);
    return 0;
}

static int put_info(struct uftrace *u, struct nsc_output *out)
{
    uint8_t *at = nsc_output_room(out, HEADER_BYTES);
    uint32_t count = 0;

    memset(at, 0, HEADER_BYTES);
    memcpy(at, "Ftrace!", 8);
    nsc_span_put32(at + 8, FILE_VERSION);
    at[12] = HEADER_BYTES;
    at[14] = 1; /* little endian */
    at[15] = 2; /* 64 bits */
    nsc_span_put64(at + 16, FEATURES);
    nsc_span_put64(at + 24, INFOS);
    nsc_span_put32(at + 32, DEPTHS);
    out->at = at + HEADER_BYTES;
    put_line(out, "exename:/nanoscope/%s\ntaskinfo:lines=2\n", u->module);
    for (uint32_t i = 0; i < u->job->info->thread_count; i++)
        count += u->tids[i] != 0;
    put_line(out, "taskinfo:nr_tid=%u\ntaskinfo:tids=", count);
    for (uint32_t i = 0; i < u->job->info->thread_count; i++)
        if (u->tids[i] != 0)
            put_line(out, "%u%s", u->tids[i], --count > 0 ? "," : "\n");
    return 0;
}

static int put_file(struct uftrace *u, const char *name,
                    int (*put)(struct uftrace *u, struct nsc_output *out), struct nsc_diag *diag)
{
    struct nsc_output *out;
    int error = nsc_folder_open(&u->folder, name, &out, diag);

    return error != 0 ? error : nsc_folder_close(&u->folder, out, put(u, out), diag);
}

static int put_files(struct uftrace *u, struct nsc_diag *diag)
{
    char name[MODULE_MAX + 8];
    int error;

    if (choose_module(u) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    snprintf(name, sizeof name, "%s.sym", u->module);
    error = put_file(u, name, put_symbols, diag);
    if (error == 0)
        error = put_file(u, "sid-0000000000000001.map", put_map, diag);
    if (error == 0)
        error = put_file(u, "task.txt", put_tasks, diag);
    return error != 0 ? error : put_file(u, "info", put_info, diag);
}

static void note_lost(const struct uftrace *u)
{
    struct nsc_export *job = u->job;

    if (u->too_deep > 0)
        nsc_job_notes_add(&job->result->notes,
                          "uftrace has no place for calls below %s others: %s are left out",
                          nsc_units_count(DEPTHS).text, nsc_units_count(u->too_deep).text);
    if (u->renamed > 0)
        nsc_job_notes_add(
            &job->result->notes,
            "uftrace knows threads by their ids only: %u stacks or threads with an id "
            "that is taken have made-up ones",
            u->renamed);
    nsc_export_note_bounds(job, "uftrace's format");
    nsc_export_note_left_out(job, "uftrace's format", ~0u);
}

static char *cook_name(const char *name, size_t *bytes)
{
    return nsc_names_line(name[0] != '\0' ? name : "(no name)", bytes);
}

static int export_uftrace(struct nsc_export *job, struct nsc_diag *diag)
{
    struct uftrace u = {.job = job, .next_tid = 1u << STACK_SHIFT};
    const struct nsc_clock_point *point =
        job->info->clock_count > 0 ? nsc_trace_clock_point(job->trace, 0) : NULL;
    int error = nsc_folder_create(&u.folder, job, diag);

    if (error != 0)
        return error;
    if (point != NULL)
        u.offset_ns = point->monotonic_ns - nsc_clock_ns(job->clock, point->ticks);
    u.tids = calloc((size_t)job->info->thread_count + 1, sizeof *u.tids);
    if (u.tids == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(job, i))
            error = export_thread(&u, i, diag);
    if (error == 0)
        error = put_files(&u, diag);
    note_lost(&u);
    nsc_id_map_free(&u.taken);
    free(u.tids);
    free(u.module);
    return nsc_folder_publish(&u.folder, error, diag);
}

static const char *const uftrace_suffixes[] = {".uftrace", NULL};

const struct nsc_exporter nsc_uftrace_exporter = {
    .name = "uftrace",
    .suffixes = uftrace_suffixes,
    .form = NSC_FORM_FOLDER,
    .cook = cook_name,
    .run = export_uftrace,
};
