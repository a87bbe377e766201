/*
 * folded_export.c - write a trace as folded stacks, `main;work;sort 1234`, for flamegraph.pl and
 * similar tools. Called through exporters.c. Memory grows with the number of distinct stacks, not
 * with the number of calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/call_paths.h"
#include "formats/export/export.h"
#include "util/text/name_text.h"

struct folded {
    struct nsc_export *job;
    struct nsc_output *out;
    struct nsc_paths paths;
};

/* Replaces characters that are separators in the format: ';' between frames, line ends between
 * stacks. Spaces may stay: flamegraph.pl takes the last one as the separator of the weight. */
static char *cook_frame(const char *name, size_t *bytes)
{
    return nsc_names_visible(name[0] != '\0' ? name : "(no name)", ";", ':', bytes);
}

static int put_frame(struct folded *f, const struct nsc_path *n)
{
    const struct nsc_cooked *name;
    char *text, *clean;
    size_t bytes;

    if (!n->is_thread) {
        name = nsc_export_name(f->job, n->function);
        if (name == NULL)
            return -ENOMEM;
        nsc_output_put(f->out, name->text, name->bytes);
        return 0;
    }
    if (asprintf(&text, "%s (%u)", nsc_trace_thread(f->job->trace, n->function)->name,
                 nsc_trace_thread(f->job->trace, n->function)->tid) < 0)
        return -ENOMEM;
    clean = cook_frame(text, &bytes);
    free(text);
    if (clean == NULL)
        return -ENOMEM;
    nsc_output_put(f->out, clean, bytes);
    free(clean);
    return 0;
}

static int put_stack(struct folded *f, uint32_t stack, uint64_t weight)
{
    const uint32_t *path;
    uint32_t depth = nsc_paths_outward(&f->paths, stack, &path);

    if (depth == 0)
        return -ENOMEM;
    while (depth > 0) {
        if (put_frame(f, &f->paths.all[path[--depth]]) != 0)
            return -ENOMEM;
        *nsc_output_room(f->out, 1) = depth > 0 ? ';' : ' ';
        f->out->at++;
    }
    nsc_output_u64(f->out, weight);
    *nsc_output_room(f->out, 1) = '\n';
    f->out->at++;
    return 0;
}

static int put_stacks(struct folded *f, struct nsc_diag *diag)
{
    for (uint32_t i = 0; i < f->paths.count && nsc_output_error(f->out) == 0; i++) {
        const struct nsc_path *stack = &f->paths.all[i];
        uint64_t weight = f->job->options.weight == NSC_WEIGHT_CALLS
                              ? stack->calls
                              : nsc_clock_span_ns(f->job->clock, stack->self_ticks);

        if (weight > 0 && put_stack(f, i, weight) != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    return 0;
}

static int export_folded(struct nsc_export *job, struct nsc_diag *diag)
{
    struct folded f = {.job = job, .paths.max_depth = job->options.max_depth};
    int error = nsc_output_create(job->path, job->gzip, &f.out, diag);

    if (error != 0)
        return error;
    error = nsc_paths_take_all(&f.paths, job, diag);
    if (error == 0)
        error = put_stacks(&f, diag);
    nsc_paths_note_deep(&f.paths, job);
    nsc_export_note_unmarked(job, "the folded format");
    nsc_export_note_left_out(job, "folded stacks", ~0u);
    nsc_paths_free(&f.paths);
    return nsc_export_publish(job, f.out, error, diag);
}

/* The first line must be a stack, a blank and a number. */
static bool sniff_folded(const uint8_t *bytes, size_t count)
{
    const uint8_t *line_end = memchr(bytes, '\n', count);
    size_t end = line_end != NULL ? (size_t)(line_end - bytes) : count, at = end;

    if (memchr(bytes, 0, end) != NULL)
        return false;
    if (line_end == NULL) /* the line is longer than the bytes at hand: a deep stack */
        return memchr(bytes, ';', count) != NULL;
    while (at > 0 && bytes[at - 1] >= '0' && bytes[at - 1] <= '9')
        at--;
    return at > 1 && at < end && bytes[at - 1] == ' ';
}

static const char *const folded_suffixes[] = {".folded", ".collapsed", NULL};

const struct nsc_exporter nsc_folded_exporter = {
    .name = "folded",
    .suffixes = folded_suffixes,
    .sniff = sniff_folded,
    .cook = cook_frame,
    .run = export_folded,
};
