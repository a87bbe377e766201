/*
 * speedscope.c - write a trace as speedscope's own JSON: an "evented" profile (begins and ends) for
 * each thread, one event per line. Called through exporters.c.
 *
 * Source: speedscope's file-format-schema.json.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/export.h"
#include "util/text/name_text.h"

/* Maximum file size that speedscope can read. */
#define READABLE_BYTES 2000000000u

static const char file_start[] =
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n";

struct speedscope {
    struct nsc_export *job;
    struct nsc_output *out;
    bool any_profile, any_event; /* one has been written: the next one needs a comma */
    uint64_t first_ns, last_ns;  /* of the thread */
    uint64_t bytes;              /* of events, estimated */
};

static void put_text(struct speedscope *s, const char *text)
{
    nsc_output_text(s->out, text);
}

static int put_json(struct speedscope *s, const char *text)
{
    size_t bytes;
    char *json = nsc_names_json(text, &bytes);

    if (json == NULL)
        return -ENOMEM;
    nsc_output_put(s->out, json, bytes);
    free(json);
    return 0;
}

static int open_profile(struct speedscope *s, uint32_t id, uint64_t ns)
{
    const struct nsc_thread *thread = nsc_trace_thread(s->job->trace, id);
    const struct nsc_process *process = nsc_trace_process(s->job->trace, thread->process);
    char stack[32] = "", *name;
    int error;

    if (thread->stack > 0)
        snprintf(stack, sizeof stack, ", stack %u", thread->stack);
    if (asprintf(&name, "%s: %s (%u%s)", process->name, thread->name, thread->tid, stack) < 0)
        return -ENOMEM;
    put_text(s, s->any_profile ? ",\n" : "\n");
    put_text(s, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":");
    error = put_json(s, name);
    put_text(s, ",\"events\":[");
    free(name);
    s->any_profile = true;
    s->any_event = false;
    s->first_ns = ns;
    return error;
}

static void close_profile(struct speedscope *s)
{
    put_text(s, "\n],\"startValue\":");
    nsc_output_u64(s->out, s->first_ns);
    put_text(s, ",\"endValue\":");
    nsc_output_u64(s->out, s->last_ns);
    put_text(s, "}");
}

static int put_event(struct speedscope *s, const struct nsc_walk_event *e)
{
    const struct nsc_cooked *name = nsc_export_name(s->job, e->function);

    if (name == NULL)
        return -ENOMEM;
    put_text(s, s->any_event ? ",\n" : "\n");
    put_text(s, e->kind == NSC_WALK_BEGIN ? "{\"type\":\"O\",\"frame\":"
                                          : "{\"type\":\"C\",\"frame\":");
    nsc_output_u64(s->out, name->number);
    put_text(s, ",\"at\":");
    nsc_output_u64(s->out, s->last_ns);
    put_text(s, "}");
    s->any_event = true;
    s->bytes += 32;
    return nsc_output_error(s->out);
}

static int export_thread(struct speedscope *s, uint32_t thread, struct nsc_diag *diag)
{
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    bool open = false;
    int more = 0, error = nsc_export_walk(s->job, thread, false, &walk, diag);

    if (error != 0)
        return error;
    while (error == 0 && (more = nsc_export_next(s->job, thread, walk, &event, diag)) > 0) {
        if (event.kind != NSC_WALK_BEGIN && event.kind != NSC_WALK_END)
            continue;
        s->last_ns = nsc_clock_ns(s->job->clock, event.ticks);
        if (!open)
            error = open_profile(s, thread, s->last_ns);
        open = true;
        if (error == 0)
            error = put_event(s, &event);
    }
    nsc_export_walked(s->job, walk);
    if (open)
        close_profile(s);
    if (error == -ENOMEM && nsc_output_error(s->out) == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return more < 0 ? more : 0; /* nsc_output_finish() reports output errors */
}

/* Writes the table of the functions in use, ordered by number. */
static int put_frames(struct speedscope *s)
{
    int error = 0;

    put_text(s, "\n],\n\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < s->job->used_count && error == 0; i++) {
        const struct nsc_function *f = nsc_trace_function(s->job->trace, s->job->used[i]);
        const struct nsc_cooked *name = nsc_export_name(s->job, s->job->used[i]);

        put_text(s, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        nsc_output_put(s->out, name->text, name->bytes);
        if (f->file[0] != '\0') {
            put_text(s, ",\"file\":");
            error = put_json(s, f->file);
            if (f->line > 0) {
                put_text(s, ",\"line\":");
                nsc_output_u64(s->out, f->line);
            }
        }
        put_text(s, "}");
    }
    put_text(s, "\n]}}\n");
    return error;
}

static int export_speedscope(struct nsc_export *job, struct nsc_diag *diag)
{
    struct speedscope s = {.job = job};
    int error = nsc_output_create(job->path, job->gzip, &s.out, diag);

    if (error != 0)
        return error;
    put_text(&s, file_start);
    put_text(&s, "\"exporter\":\"nanoscope " NSC_VERSION "\",\n\"profiles\":[");
    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(job, i))
            error = export_thread(&s, i, diag);
    if (error == 0 && put_frames(&s) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (s.bytes > READABLE_BYTES)
        nsc_job_notes_add(&job->result->notes, "speedscope does not read files of more than 2 GB, "
                                               "which this is: give it a window (--from, --to)");
    nsc_export_note_unmarked(job, "speedscope's format");
    nsc_export_note_left_out(job, "speedscope's format", ~0u);
    return nsc_export_publish(job, s.out, error, diag);
}

static bool sniff_speedscope(const uint8_t *bytes, size_t count)
{
    return count >= sizeof file_start - 1 && memcmp(bytes, file_start, sizeof file_start - 1) == 0;
}

static const char *const speedscope_suffixes[] = {".speedscope.json", ".speedscope", NULL};

const struct nsc_exporter nsc_speedscope_exporter = {
    .name = "speedscope",
    .suffixes = speedscope_suffixes,
    .sniff = sniff_speedscope,
    .cook = nsc_names_json,
    .run = export_speedscope,
};
