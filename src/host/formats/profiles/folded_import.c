/*
 * folded_import.c - read folded stacks, `main;work;sort 1234`. Called through importers.c.
 *
 * Folded stacks are sums without times. Each distinct stack becomes one call whose self time is the
 * stack's number, in ns. Calls of one caller follow each other in the order of the input.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/call_paths.h"
#include "formats/import/import.h"
#include "trace/write/lane.h"
#include "util/text/name_text.h"

#define PROGRESS_LINES 65536u
#define WEIGHT_LIMIT   (1ull << 62) /* of all stacks together */

struct folded_import {
    struct nsc_import *job;
    struct nsc_names names;
    struct nsc_paths paths;
    uint64_t total, lines;
};

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* ---- Lines -------------------------------------------------------------------------------- */

/* Parses the number after the last blank, rounded to the nearest integer. Returns the end of the
 * stack, before the blanks, or NULL if the line has another form. */
static const char *split_line(const char *text, size_t bytes, uint64_t *weight)
{
    const char *end = text + bytes, *at = end, *point = NULL;
    uint64_t value = 0;

    while (at > text && ((at[-1] >= '0' && at[-1] <= '9') || (at[-1] == '.' && point == NULL))) {
        at--;
        point = *at == '.' ? at : point;
    }
    if (at == end || at == point || end - 1 == point || at == text || at[-1] != ' ')
        return NULL;
    for (const char *digit = at; digit < (point != NULL ? point : end); digit++) {
        value = value * 10 + (uint64_t)(*digit - '0');
        if (value >= WEIGHT_LIMIT)
            return NULL;
    }
    *weight = value + (point != NULL && point[1] >= '5');
    while (at > text && at[-1] == ' ')
        at--;
    return at > text ? at : NULL;
}

static int frame_path(struct folded_import *f, uint32_t parent, const char *name, size_t bytes,
                      uint32_t *path)
{
    struct nsc_names_entry *e;
    int error = nsc_names_find(&f->names, name, bytes, &e);

    if (error == 0 && e->id == UINT32_MAX) {
        struct nsc_function function = {
            .name = e->text, .symbol = e->text, .file = "", .module = NSC_NO_ID};

        error = nsc_writer_add_function(f->job->writer, &function, &e->id);
    }
    return error != 0 ? error : nsc_paths_find(&f->paths, parent, e->id, false, path);
}

static int take_line(struct folded_import *f, const struct nsc_line *line, struct nsc_diag *diag)
{
    uint64_t weight = 0;
    const char *end = split_line(line->text, line->bytes, &weight), *at = line->text;
    uint32_t path = NSC_PATHS_ROOT;

    if (end == NULL || memchr(line->text, '\0', line->bytes) != NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "%s: line %llu is not \"stack number\"", nsc_input_name(f->job->in),
                            (unsigned long long)line->number);
    if (weight >= WEIGHT_LIMIT - f->total)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "%s: line %llu brings the sum of all numbers to 2^62",
                            nsc_input_name(f->job->in), (unsigned long long)line->number);
    while (at < end) {
        const char *semicolon = memchr(at, ';', (size_t)(end - at));
        size_t bytes = (size_t)((semicolon != NULL ? semicolon : end) - at);

        if (bytes > 0 && frame_path(f, path, at, bytes, &path) != 0)
            return no_memory(diag);
        at += bytes + 1;
    }
    if (path == NSC_PATHS_ROOT)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: line %llu has no stack",
                            nsc_input_name(f->job->in), (unsigned long long)line->number);
    f->paths.all[path].self_ticks += weight;
    f->total += weight;
    f->lines++;
    return 0;
}

static int read_lines(struct folded_import *f, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_line line;
    int more, error = 0;

    while (error == 0 && (more = nsc_input_line(f->job->in, &line, &fault)) != 0) {
        if (more < 0)
            error = more;
        else if (line.bytes > 0)
            error = take_line(f, &line, &fault);
        if (line.number % PROGRESS_LINES == 0)
            nsc_import_progress(f->job, f->job->in);
    }
    error = nsc_import_judge(f->job, error, f->lines, "stack", &fault);
    if (error != 0 && diag != NULL)
        *diag = fault;
    return error;
}

/* ---- Calls -------------------------------------------------------------------------------- */

/* Links of a path: its first callee and its next sibling, as path index + 1; 0 = none. The last
 * entry of the array is that of the root. */
struct links {
    uint32_t callee, next;
};

static struct links *link_paths(const struct nsc_paths *paths)
{
    struct links *links = calloc((size_t)paths->count + 1, sizeof *links);

    /* Backwards, since each path is inserted at the head of its parent's list. */
    for (uint32_t i = paths->count; links != NULL && i-- > 0;) {
        uint32_t parent =
            paths->all[i].parent == NSC_PATHS_ROOT ? paths->count : paths->all[i].parent;

        links[i].next = links[parent].callee;
        links[parent].callee = i + 1;
    }
    return links;
}

/* Writes the calls of all paths; a path's self time comes before its callees. Returns the end of
 * the last call. */
static uint64_t put_calls(const struct folded_import *f, const struct links *links,
                          struct nsc_lane *lane)
{
    const struct nsc_paths *paths = &f->paths;
    uint32_t at = links[paths->count].callee;
    uint64_t ticks = 0;

    while (at != 0) {
        const struct nsc_path *path = &paths->all[at - 1];

        nsc_lane_enter(lane, ticks, path->function, 0);
        ticks += path->self_ticks;
        if (links[at - 1].callee != 0) {
            at = links[at - 1].callee;
            continue;
        }
        for (;;) {
            nsc_lane_exit(lane, ticks);
            if (links[at - 1].next != 0)
                break;
            path = &paths->all[at - 1];
            if (path->parent == NSC_PATHS_ROOT)
                return ticks;
            at = path->parent + 1;
        }
        at = links[at - 1].next;
    }
    return ticks;
}

static int write_thread(struct folded_import *f, struct nsc_diag *diag)
{
    struct nsc_process process = {
        .pid = 1, .parent = NSC_NO_ID, .name = f->job->name, .exit_status = -1};
    struct nsc_thread thread = {.tid = 1, .name = f->job->name};
    struct links *links = link_paths(&f->paths);
    struct nsc_lane *lane;
    uint32_t id;
    int error;

    if (links == NULL)
        return no_memory(diag);
    error = nsc_writer_add_process(f->job->writer, &process, &thread.process);
    if (error == 0)
        error = nsc_writer_add_thread(f->job->writer, &thread, &id, &lane);
    if (error == 0) {
        thread.end_ticks = put_calls(f, links, lane);
        nsc_lane_close(lane, thread.end_ticks);
        f->job->threads = f->paths.count > 0;
        error = nsc_writer_set_thread(f->job->writer, id, &thread);
    }
    free(links);
    return error;
}

static int import_folded(struct nsc_import *job, struct nsc_diag *diag)
{
    struct folded_import f = {.job = job};
    int error = read_lines(&f, diag);

    if (error == 0)
        error = write_thread(&f, diag);
    if (error == 0)
        nsc_job_notes_add(job->notes,
                          "folded stacks are sums: each stack is one call here, and the "
                          "order of calls is not that in time");
    nsc_names_free(&f.names);
    nsc_paths_free(&f.paths);
    return error;
}

/* The first line, and all others before a damaged one, must be a stack and a number. At least one
 * stack must have two frames; otherwise any list of words and numbers would be accepted. */
static bool sniff_folded(const uint8_t *bytes, size_t count)
{
    const char *at = (const char *)bytes, *end = at + count;
    bool stack = false;

    if (count == 0 || memchr(bytes, '\0', count) != NULL)
        return false;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        uint64_t weight;
        size_t length = (size_t)((line_end != NULL ? line_end : end) - at);

        length -= length > 0 && at[length - 1] == '\r';
        if (line_end == NULL && count >= 4096) /* the line continues after the bytes at hand */
            return stack || memchr(at, ';', length) != NULL;
        if (length > 0 && split_line(at, length, &weight) == NULL)
            return stack;
        stack = stack || memchr(at, ';', length) != NULL;
        at = line_end != NULL ? line_end + 1 : end;
    }
    return stack;
}

const struct nsc_importer nsc_folded_importer = {
    .name = "folded",
    .what = "folded stacks",
    .sniff = sniff_folded,
    .run = import_folded,
};
