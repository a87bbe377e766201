/*
 * chrome_export.c - write a trace as Chrome's trace event JSON, one event per line. Called through
 * exporters.c.
 *
 * Writes begin and end events in time order instead of complete events, so that two calls that
 * begin in the same nanosecond keep their nesting. End events have a name because speedscope
 * requires it.
 * Source: "Trace Event Format" (the Chromium project's document).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/export.h"
#include "util/text/name_text.h"

struct chrome {
    struct nsc_export *job;
    struct nsc_output *out;
    bool any;   /* an event has been written: the next one needs a comma */
    bool begun; /* the labels of the current thread have been written */
    size_t ids_bytes;
    char ids[64];         /* `,"pid":1,"tid":2,"ts":` of the thread */
    char counter_ids[64]; /* same for counters: `,"pid":1,"id":"2","ts":`; without id: process */
};

static void put_text(struct chrome *c, const char *text)
{
    nsc_output_text(c->out, text);
}

static int put_json(struct chrome *c, const char *name)
{
    size_t bytes;
    char *text = nsc_names_json(name, &bytes);

    if (text == NULL)
        return -ENOMEM;
    nsc_output_put(c->out, text, bytes);
    free(text);
    return 0;
}

static void put_separator(struct chrome *c)
{
    put_text(c, c->any ? ",\n" : "\n");
    c->any = true;
}

/* Writes a time in microseconds with three decimals. */
static void put_time(struct chrome *c, uint64_t ns)
{
    uint8_t *at = nsc_output_digits(nsc_output_room(c->out, 32), ns / 1000);
    unsigned rest = (unsigned)(ns % 1000);

    *at++ = '.';
    *at++ = (uint8_t)('0' + rest / 100);
    *at++ = (uint8_t)('0' + rest / 10 % 10);
    *at++ = (uint8_t)('0' + rest % 10);
    c->out->at = at;
}

/* Writes a metadata event that names a process or thread. */
static int put_label(struct chrome *c, const char *kind, uint32_t pid, uint64_t tid,
                     const char *name)
{
    char head[128];
    int error;

    put_separator(c);
    snprintf(head, sizeof head,
             "{\"ph\":\"M\",\"pid\":%u,\"tid\":%llu,\"name\":\"%s\",\"args\":{\"name\":", pid,
             (unsigned long long)tid, kind);
    put_text(c, head);
    error = put_json(c, name);
    put_text(c, "}}");
    return error;
}

static void put_bound(struct chrome *c, uint32_t bound)
{
    const char *bound_sides = nsc_model_bound_name(bound);
    const char *cut_sides = nsc_model_bound_name(nsc_walk_clipped(bound));

    put_text(c, ",\"args\":{");
    if (bound_sides != NULL) {
        put_text(c, "\"bound\":\"");
        put_text(c, bound_sides);
        put_text(c, cut_sides != NULL ? "\"," : "\"");
    }
    if (cut_sides != NULL) {
        put_text(c, "\"clipped\":\"");
        put_text(c, cut_sides);
        put_text(c, "\"");
    }
    put_text(c, "}");
}

static int put_event(struct chrome *c, const struct nsc_walk_event *e)
{
    uint64_t ns = nsc_clock_ns(c->job->clock, e->ticks);
    const struct nsc_cooked *name;

    put_separator(c);
    if (e->kind == NSC_WALK_LOST) {
        put_text(c, "{\"ph\":\"i\",\"s\":\"t\"");
        nsc_output_put(c->out, c->ids, c->ids_bytes);
        put_time(c, ns);
        put_text(c,
                 e->left_out > 0 ? ",\"name\":\"events left out\"" : ",\"name\":\"events lost\"");
        put_text(c, ",\"args\":{\"count\":");
        nsc_output_u64(c->out, e->value + e->left_out);
        put_text(c, "}}");
        return nsc_output_error(c->out);
    }
    name = nsc_export_name(c->job, e->function);
    if (name == NULL)
        return -ENOMEM;
    put_text(c, e->kind == NSC_WALK_BEGIN ? "{\"ph\":\"B\"" : "{\"ph\":\"E\"");
    nsc_output_put(c->out, c->ids, c->ids_bytes);
    put_time(c, ns);
    nsc_output_put(c->out, ",\"name\":", 8);
    nsc_output_put(c->out, name->text, name->bytes);
    if (e->bound != 0)
        put_bound(c, e->bound);
    put_text(c, "}");
    return nsc_output_error(c->out);
}

/*
 * Threads of the format have one stack. A further stack becomes a thread of its own, with a tid
 * (stack number << 32) that no thread of the system has.
 */
static uint64_t tid_of(const struct nsc_thread *thread)
{
    return thread->tid + ((uint64_t)thread->stack << 32);
}

static int begin_thread(struct chrome *c, uint32_t id)
{
    const struct nsc_thread *thread = nsc_trace_thread(c->job->trace, id);
    const struct nsc_process *process = nsc_trace_process(c->job->trace, thread->process);
    int error = put_label(c, "process_name", process->pid, tid_of(thread), process->name);

    if (error == 0)
        error = put_label(c, "thread_name", process->pid, tid_of(thread), thread->name);
    snprintf(c->counter_ids, sizeof c->counter_ids,
             ",\"pid\":%u,\"id\":\"%u\",\"ts\":", process->pid, thread->tid);
    c->begun = true;
    c->ids_bytes =
        (size_t)snprintf(c->ids, sizeof c->ids, ",\"pid\":%u,\"tid\":%llu,\"ts\":", process->pid,
                         (unsigned long long)tid_of(thread));
    return error;
}

static int export_thread(struct chrome *c, uint32_t thread, struct nsc_diag *diag)
{
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    int more = 0, error = nsc_export_walk(c->job, thread, false, &walk, diag);

    if (error != 0)
        return error;
    while (error == 0 && (more = nsc_export_next(c->job, thread, walk, &event, diag)) > 0) {
        if (!c->begun)
            error = begin_thread(c, thread);
        if (error == 0)
            error = put_event(c, &event);
    }
    nsc_export_walked(c->job, walk);
    if (error == -ENOMEM && nsc_output_error(c->out) == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return more < 0 ? more : 0; /* nsc_output_finish() reports output errors */
}

/* ---- Samples, states, marks, counters ----------------------------------------------------- */

/* Starts an event of phase @phase at the note's time. The caller writes its name and arguments. */
static void open_note(struct chrome *c, const struct nsc_note *note, const char *phase,
                      const char *ids)
{
    put_separator(c);
    put_text(c, "{\"ph\":");
    put_text(c, phase);
    put_text(c, ids);
    put_time(c, nsc_clock_ns(c->job->clock, note->ticks));
    put_text(c, ",\"name\":");
}

static void put_value(struct chrome *c, const char *value)
{
    put_text(c, ",\"args\":{\"value\":");
    put_text(c, value);
    put_text(c, "}}");
}

static void put_sample(struct chrome *c, const struct nsc_note *note)
{
    char value[24];

    for (int i = 0; i < NSC_SAMPLE_FIELDS; i++) {
        if ((note->sample.known >> i & 1) == 0)
            continue;
        open_note(c, note, "\"C\"", c->counter_ids);
        put_text(c, "\"");
        put_text(c, nsc_model_sample_field_name((enum nsc_sample_field)i));
        put_text(c, "\"");
        snprintf(value, sizeof value, "%" PRIu64, note->sample.values[i]);
        put_value(c, value);
    }
}

static void put_state_name(struct chrome *c, const char *key, uint32_t state)
{
    const char *name = nsc_model_state_name(state);

    put_text(c, key);
    if (name != NULL)
        put_text(c, name);
    else
        nsc_output_u64(c->out, state);
    put_text(c, "\"");
}

static void put_state(struct chrome *c, const struct nsc_note *note)
{
    open_note(c, note, "\"i\",\"s\":\"t\"", c->ids);
    put_text(c, "\"state\",\"args\":{");
    put_state_name(c, "\"from\":\"", note->state.old_state);
    put_state_name(c, ",\"to\":\"", note->state.new_state);
    put_text(c, "}}");
}

static int put_mark(struct chrome *c, const struct nsc_note *note)
{
    int error;

    open_note(c, note, "\"i\",\"s\":\"t\"", c->ids);
    error = put_json(c, note->mark.name);
    if (error == 0 && note->mark.metadata[0] != '\0') {
        put_text(c, ",\"args\":{\"metadata\":");
        error = put_json(c, note->mark.metadata);
        put_text(c, note->mark.cut ? ",\"cut\":true}" : "}");
    } else if (note->mark.cut) {
        put_text(c, ",\"args\":{\"cut\":true}");
    }
    put_text(c, "}");
    return error;
}

static int put_counter(struct chrome *c, const struct nsc_note *note)
{
    const struct nsc_counter *counter = &note->counter;
    char value[32];
    int error;

    open_note(c, note, "\"C\"", c->counter_ids);
    error = put_json(c, counter->name);
    if (!counter->is_real)
        snprintf(value, sizeof value, "%" PRId64, counter->integer);
    else if (isfinite(counter->real)) /* ".0" marks a whole number as real */
        snprintf(value, sizeof value, "%.17g%s", counter->real,
                 counter->real == trunc(counter->real) && fabs(counter->real) < 1e17 ? ".0" : "");
    else
        snprintf(value, sizeof value, "null");
    put_value(c, value);
    return error;
}

static int put_note(void *context, const struct nsc_note *note)
{
    struct chrome *c = context;
    int error = 0;

    switch ((enum nsc_note_kind)note->kind) {
    case NSC_NOTE_SAMPLE:
        put_sample(c, note);
        break;
    case NSC_NOTE_STATE:
        put_state(c, note);
        break;
    case NSC_NOTE_MARK:
        error = put_mark(c, note);
        break;
    case NSC_NOTE_COUNTER:
        error = put_counter(c, note);
        break;
    case NSC_NOTE_KINDS:
        break;
    }
    return error != 0 ? error : nsc_output_error(c->out);
}

static int export_notes(struct chrome *c, uint32_t thread, struct nsc_diag *diag)
{
    int error = c->begun ? 0 : begin_thread(c, thread);

    for (int kind = 0; kind < NSC_NOTE_KINDS && error == 0; kind++)
        error =
            nsc_export_notes(c->job, (enum nsc_note_kind)kind, thread, false, put_note, c, diag);
    return nsc_output_error(c->out) != 0 ? 0 : error;
}

static int export_process_counters(struct chrome *c, uint32_t process, struct nsc_diag *diag)
{
    int error;

    snprintf(c->counter_ids, sizeof c->counter_ids,
             ",\"pid\":%u,\"ts\":", nsc_trace_process(c->job->trace, process)->pid);
    error = nsc_export_notes(c->job, NSC_NOTE_COUNTER, process, true, put_note, c, diag);
    return nsc_output_error(c->out) != 0 ? 0 : error;
}

/* Writes the metadata of the recording as "otherData", the format's free-form part. */
static int put_other_data(struct chrome *c)
{
    const char *key, *value;
    int error = 0;

    put_text(c,
             "\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"writer\":\"nanoscope " NSC_VERSION
             "\"");
    for (uint32_t i = 0; i < c->job->info->meta_count && error == 0; i++) {
        if (nsc_trace_meta_at(c->job->trace, i, &key, &value) != 0)
            break;
        put_text(c, ",\n");
        error = put_json(c, key);
        put_text(c, ":");
        if (error == 0)
            error = put_json(c, value);
    }
    put_text(c, "}}\n");
    return error;
}

static int export_chrome(struct nsc_export *job, struct nsc_diag *diag)
{
    struct chrome c = {.job = job};
    int error = nsc_output_create(job->path, job->gzip, &c.out, diag);

    if (error != 0)
        return error;
    put_text(&c, "{\"traceEvents\":[");
    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++) {
        c.begun = false;
        if (nsc_export_wants(job, i))
            error = export_thread(&c, i, diag);
        if (error == 0 && nsc_export_wants_notes(job, i))
            error = export_notes(&c, i, diag);
    }
    for (uint32_t i = 0; i < job->info->process_count && error == 0; i++)
        if (nsc_export_wants_process(job, i))
            error = export_process_counters(&c, i, diag);
    if (error == 0 && put_other_data(&c) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return nsc_export_publish(job, c.out, error, diag);
}

/* An object that begins with the events, as this exporter writes it, or a plain array of events. */
static bool sniff_json(const uint8_t *bytes, size_t count)
{
    static const char *const starts[] = {"{\"traceEvents\":", "[{\"ph\":"};

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (count >= strlen(starts[i]) && memcmp(bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static const char *const chrome_suffixes[] = {".json", NULL};

const struct nsc_exporter nsc_chrome_exporter = {
    .name = "chrome",
    .suffixes = chrome_suffixes,
    .sniff = sniff_json,
    .cook = nsc_names_json,
    .run = export_chrome,
};
