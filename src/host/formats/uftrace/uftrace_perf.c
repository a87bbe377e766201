/*
 * uftrace_perf.c - read the files beside uftrace's records: context switches and thread names of
 * the kernel (perf-cpuN.dat), and marks of external programs (extern.dat). Called by
 * uftrace_import.c.
 *
 * A thread's context switches are in the files of all CPUs that it ran on. These files are merged
 * by time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "formats/uftrace/uftrace_import.h"
#include "util/search.h"
#include "util/text/units.h"

#define FILES_MAX  4096u
#define HEAD_BYTES 8u
#define ID_BYTES   16u /* pid, tid and time, at the end of each record */
#define COMM_BYTES 16u

#define EXTERN_MAX ((size_t)64 << 20)

enum { PERF_LOST = 2, PERF_COMM = 3, PERF_SWITCH = 14 };
#define SWITCH_OUT     0x2000u
#define SWITCH_PREEMPT 0x4000u

/* The file of a CPU, with its next relevant record (context switch or thread name). */
struct cpu {
    struct nsc_paged_file *file;
    uint64_t at;
    uint64_t ns;
    uint32_t tid, type, misc;
    char name[COMM_BYTES + 1];
};

struct perf {
    struct uft *u;
    struct cpu *cpus;
    size_t count;
    uint64_t lost;
    uint32_t *states; /* current NSC_STATE_* by index of threads */
};

static struct uft_thread *find_thread(const struct uft *u, uint32_t tid)
{
    uint32_t at = NSC_PARTITION_POINT(i, u->thread_count, u->threads[i].tid < tid);

    return at < u->thread_count && u->threads[at].tid == tid ? &u->threads[at] : NULL;
}

/* Reads the next relevant record. Returns false at the end, or if the file is damaged. */
static bool advance(struct perf *p, struct cpu *c)
{
    for (;;) {
        const uint8_t *at = nsc_paged_file_get(c->file, c->at, HEAD_BYTES);
        size_t bytes;

        if (at == NULL)
            return false;
        c->type = nsc_span_get32(at);
        c->misc = (uint32_t)at[4] | (uint32_t)at[5] << 8;
        bytes = (size_t)at[6] | (size_t)at[7] << 8;
        if (bytes < HEAD_BYTES || (at = nsc_paged_file_get(c->file, c->at, bytes)) == NULL)
            return false;
        c->at += bytes;
        if (bytes < HEAD_BYTES + ID_BYTES)
            continue;
        c->tid = nsc_span_get32(at + bytes - ID_BYTES + 4);
        c->ns = nsc_span_get64(at + bytes - ID_BYTES + 8);
        if (c->type == PERF_LOST && bytes >= HEAD_BYTES + 16 + ID_BYTES)
            p->lost += nsc_span_get64(at + HEAD_BYTES + 8);
        if (c->type == PERF_COMM && bytes >= HEAD_BYTES + 8 + 8 + ID_BYTES) {
            size_t room = bytes - HEAD_BYTES - 8 - ID_BYTES;

            c->tid = nsc_span_get32(at + HEAD_BYTES + 4);
            memset(c->name, 0, sizeof c->name);
            memcpy(c->name, at + HEAD_BYTES + 8, room < COMM_BYTES ? room : COMM_BYTES);
            return true;
        }
        if (c->type == PERF_SWITCH)
            return true;
    }
}

static int take_switch(struct perf *p, const struct cpu *c, const struct uft_thread *t)
{
    uint32_t *state = &p->states[t - p->u->threads];
    struct nsc_note note = {.ticks = c->ns, .kind = NSC_NOTE_STATE, .owner = t->id};

    note.state.old_state = *state;
    if ((c->misc & SWITCH_OUT) == 0)
        *state = NSC_STATE_RUNNING;
    else
        *state = (c->misc & SWITCH_PREEMPT) != 0 ? NSC_STATE_RUNNABLE : NSC_STATE_SLEEPING;
    note.state.new_state = *state;
    return nsc_uftrace_note(p->u, &note);
}

static int take_next(struct perf *p, struct cpu *c)
{
    struct uft_thread *t = find_thread(p->u, c->tid);

    if (t == NULL)
        return 0;
    if (c->type == PERF_SWITCH)
        return take_switch(p, c, t);
    snprintf(t->name, sizeof t->name, "%s", c->name);
    return 0;
}

/* Writes the thread names. A thread without a name gets that of the main thread of its process. */
static int write_names(const struct uft *u)
{
    int error = 0;

    for (uint32_t i = 0; i < u->thread_count && error == 0; i++) {
        const struct uft_thread *first = find_thread(u, u->threads[i].pid);
        struct nsc_thread about = u->threads[i].about;

        about.name = u->threads[i].name;
        if (about.name[0] == '\0' && first != NULL)
            about.name = first->name;
        if (about.name[0] != '\0')
            error = nsc_writer_set_thread(u->job->writer, u->threads[i].id, &about);
    }
    return error;
}

/* Returns the file with the earliest next record, or NULL. */
static struct cpu *earliest(const struct perf *p)
{
    struct cpu *first = NULL;

    for (size_t i = 0; i < p->count; i++)
        if (p->cpus[i].file != NULL && (first == NULL || p->cpus[i].ns < first->ns))
            first = &p->cpus[i];
    return first;
}

static void end_file(struct perf *p, struct cpu *c)
{
    if (c->at < c->file->size)
        nsc_job_notes_add(p->u->job->notes,
                          "%s: byte %llu: no record of the kernel's; the rest is "
                          "left out",
                          c->file->path, (unsigned long long)c->at);
    nsc_paged_file_close(c->file);
    c->file = NULL;
}

static int merge(struct perf *p, struct nsc_diag *diag)
{
    struct cpu *c;
    int error = 0;

    while (error == 0 && (c = earliest(p)) != NULL) {
        error = take_next(p, c);
        if (!advance(p, c))
            end_file(p, c);
    }
    if (error == 0)
        error = write_names(p->u);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the states: %s",
                            strerror(-error));
    if (p->lost > 0)
        nsc_job_notes_add(p->u->job->notes, "the kernel lost %s of its notes on when threads ran",
                          nsc_units_count(p->lost).text);
    return 0;
}

static bool is_perf_file(const char *name)
{
    return strncmp(name, "perf-cpu", 8) == 0 && strstr(name, ".dat") != NULL;
}

int nsc_uftrace_perf(struct uft *u, struct nsc_diag *diag)
{
    struct perf p = {.u = u};
    struct nsc_diag why;
    char **names;
    int error = nsc_paged_file_list(u->folder, is_perf_file, FILES_MAX, &names, &p.count, diag);

    if (error != 0)
        return error;
    p.cpus = calloc(p.count + 1, sizeof *p.cpus);
    p.states = calloc((size_t)u->thread_count + 1, sizeof *p.states);
    for (size_t i = 0; p.cpus != NULL && i < p.count; i++) {
        struct cpu *c = &p.cpus[i];

        if (nsc_paged_file_open(u->folder, names[i], &c->file, &why) != 0)
            nsc_job_notes_add(u->job->notes, "%s; left out", why.message);
        else if (!advance(&p, c))
            end_file(&p, c);
    }
    if (p.cpus == NULL || p.states == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else
        error = merge(&p, diag);
    for (size_t i = 0; p.cpus != NULL && i < p.count; i++)
        nsc_paged_file_close(p.cpus[i].file);
    free(p.cpus);
    free(p.states);
    nsc_paged_file_free_list(names, p.count);
    return error;
}

/* ---- Marks of external programs ----------------------------------------------------------- */

/* Parses a mark, "seconds.nanoseconds text". Lines of another form are ignored. */
static int take_mark(struct uft *u, char *line)
{
    struct nsc_note note = {.kind = NSC_NOTE_MARK, .owner = u->threads[0].id};
    char *at;
    uint64_t s = strtoull(line, &at, 10);

    if (at == line || *at != '.' || s > UINT64_MAX / 2000000000)
        return 0;
    note.ticks = s * 1000000000 + strtoull(at + 1, &at, 10) % 1000000000;
    at += strspn(at, " \t");
    if (*at == '\0')
        return 0;
    note.mark.name = at;
    note.mark.metadata = "";
    return nsc_uftrace_note(u, &note);
}

int nsc_uftrace_extern(struct uft *u, struct nsc_diag *diag)
{
    char *text, *at, *end;
    size_t bytes;
    int error;

    if (u->thread_count == 0 ||
        nsc_paged_file_text(u->folder, "extern.dat", EXTERN_MAX, &text, &bytes, NULL) != 0)
        return 0; /* extern.dat is optional */
    for (at = text; *at != '\0'; at = end) {
        end = at + strcspn(at, "\n");
        if (*end != '\0')
            *end++ = '\0';
        at += strspn(at, " \t");
        error = take_mark(u, at);
        if (error != 0) {
            free(text);
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the marks: %s",
                                strerror(-error));
        }
    }
    free(text);
    return 0;
}
