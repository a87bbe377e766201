/* export.c - what all exporters share; see export.h. */
#include "formats/export/export.h"

#include <stdio.h>
#include <string.h>

#include "util/text/units.h"

bool nsc_export_wants(const struct nsc_export *job, uint32_t thread)
{
    if (job->options.threads != NULL && job->options.threads[thread] == 0)
        return false;
    return nsc_trace_thread(job->trace, thread)->recorded > 0;
}

bool nsc_export_wants_notes(const struct nsc_export *job, uint32_t thread)
{
    uint64_t count = 0;

    if (job->options.threads != NULL && job->options.threads[thread] == 0)
        return false;
    for (int kind = 0; kind < NSC_NOTE_KINDS; kind++)
        count += nsc_trace_note_count(job->trace, (enum nsc_note_kind)kind, thread, false);
    return count > 0;
}

bool nsc_export_wants_process(const struct nsc_export *job, uint32_t process)
{
    for (uint32_t i = 0; job->options.threads != NULL && i < job->info->thread_count; i++)
        if (nsc_trace_thread(job->trace, i)->process == process && job->options.threads[i] != 0)
            return true;
    return job->options.threads == NULL;
}

int nsc_export_notes(struct nsc_export *job, enum nsc_note_kind kind, uint32_t owner,
                     bool of_process, int (*put)(void *context, const struct nsc_note *note),
                     void *context, struct nsc_diag *diag)
{
    struct nsc_note_cursor *cursor;
    struct nsc_note note;
    int more = 0, error = nsc_note_cursor_open(job->trace, kind, owner, of_process,
                                               job->options.from_ticks, &cursor, diag);

    if (error != 0)
        return error;
    while (error == 0 && (more = nsc_note_cursor_next(cursor, &note, diag)) > 0 &&
           note.ticks < job->options.to_ticks) {
        job->result->others[kind]++;
        error = put(context, &note);
    }
    nsc_note_cursor_close(cursor);
    return error != 0 ? error : more < 0 ? more : 0;
}

void nsc_export_note_left_out(struct nsc_export *job, const char *format, uint32_t kinds)
{
    static const char *const names[NSC_NOTE_KINDS] = {"samples", "thread states", "marks",
                                                      "counters"};
    char text[64] = "";

    for (uint32_t i = 0; i < NSC_NOTE_KINDS; i++)
        if ((kinds >> i & 1) != 0 && job->info->notes[i] > 0) {
            size_t used = strlen(text);

            snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "", names[i]);
        }
    if (text[0] != '\0')
        nsc_job_notes_add(&job->result->notes, "there is no place in %s for: %s", format, text);
}

const struct nsc_cooked *nsc_export_name(struct nsc_export *job, uint32_t function)
{
    struct nsc_cooked *c = &job->cooked[function];

    if (c->text != NULL)
        return c;
    c->text = job->exporter->cook(nsc_trace_function(job->trace, function)->name, &c->bytes);
    if (c->text == NULL)
        return NULL;
    c->number = job->used_count;
    job->used[job->used_count++] = function;
    return c;
}

int nsc_export_walk(struct nsc_export *job, uint32_t thread, bool raw_late, struct nsc_walk **out,
                    struct nsc_diag *diag)
{
    struct nsc_walk_options options = {
        .from_ticks = job->options.from_ticks,
        .to_ticks = job->options.to_ticks,
        .hidden = job->options.hidden,
        .raw_late = raw_late,
    };

    return nsc_walk_open(job->trace, thread, &options, out, diag);
}

int nsc_export_next(struct nsc_export *job, uint32_t thread, struct nsc_walk *walk,
                    struct nsc_walk_event *event, struct nsc_diag *diag)
{
    struct nsc_export_result *r = job->result;
    int more = nsc_walk_next(walk, event, diag);

    if (more <= 0)
        return more;
    switch ((enum nsc_walk_kind)event->kind) {
    case NSC_WALK_BEGIN:
        r->calls++;
        if (job->last_thread != thread) {
            job->last_thread = thread;
            r->threads += nsc_trace_thread(job->trace, thread)->stack == 0;
        }
        if (job->options.progress.tick != NULL && r->calls % 65536 == 0)
            job->options.progress.tick(job->options.progress.context,
                                       job->events_done + nsc_walk_events_read(walk),
                                       job->info->events);
        break;
    case NSC_WALK_END:
        r->bounds += (event->bound & (NSC_BOUND_START | NSC_BOUND_END)) != 0;
        r->clipped += (event->bound & (NSC_WALK_CUT_START | NSC_WALK_CUT_END)) != 0;
        break;
    case NSC_WALK_LOST:
        r->lost += event->value;
        break;
    case NSC_WALK_LATE:
        break;
    }
    return more;
}

void nsc_export_walked(struct nsc_export *job, struct nsc_walk *walk)
{
    job->events_done += nsc_walk_events_read(walk);
    nsc_walk_close(walk);
}

static void note_unmarked(struct nsc_export *job, const char *format, uint64_t bounds,
                          uint64_t losses)
{
    char bounded[64] = "", lost[64] = "";

    if (bounds > 0)
        snprintf(bounded, sizeof bounded, "%llu call%s", (unsigned long long)bounds,
                 bounds == 1 ? " whose duration is an estimate"
                             : "s whose durations are estimates");
    if (losses > 0)
        snprintf(lost, sizeof lost, "%llu lost event%s", (unsigned long long)losses,
                 nsc_units_plural(losses));
    if (bounds > 0 || losses > 0)
        nsc_job_notes_add(&job->result->notes, "%s cannot mark %s%s%s", format, bounded,
                          bounds > 0 && losses > 0 ? " and " : "", lost);
}

void nsc_export_note_unmarked(struct nsc_export *job, const char *format)
{
    note_unmarked(job, format, job->result->bounds, job->result->lost);
}

void nsc_export_note_bounds(struct nsc_export *job, const char *format)
{
    note_unmarked(job, format, job->result->bounds, 0);
}

void nsc_export_note_losses(struct nsc_export *job, const char *format)
{
    note_unmarked(job, format, 0, job->result->lost);
}

int nsc_export_publish(struct nsc_export *job, struct nsc_output *out, int error,
                       struct nsc_diag *diag)
{
    if (error == 0)
        error = nsc_output_finish(out, diag);
    if (error != 0) {
        nsc_output_abandon(out);
        return error;
    }
    job->result->bytes = nsc_output_bytes(out);
    job->result->files = 1;
    return nsc_output_publish(out, diag);
}
