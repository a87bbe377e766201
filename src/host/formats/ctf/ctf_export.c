/*
 * ctf_export.c - write a trace as CTF 1.8: a folder with `metadata`, a stream file for each thread,
 * and one for each kind of its notes. Called through exporters.c.
 *
 * Events have the low 32 bits of their time; packets have full times. A new packet begins when 32
 * bits cannot express the time difference, and when events were lost, which packets count.
 * Source: "The Common Trace Format", version 1.8.3 (diamon.org/ctf).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "formats/export/export.h"
#include "formats/export/folder_output.h"
#include "util/text/name_text.h"

#define MAGIC        0xc1fc1fc1u
#define PACKET_FULL  (64u * 1024)  /* a packet is closed when it has reached this */
#define EVENT_MAX    (128u * 1024) /* bytes; no event is longer */
#define TEXT_MAX     (60u * 1024)  /* bytes of a text; a mark has two */
#define LABEL_MAX    255u          /* bytes of thread and process names, in each packet */
#define PACKET_BYTES (PACKET_FULL + EVENT_MAX)

/* Event ids, as in the metadata. */
enum {
    EVENT_ENTRY = 0,
    EVENT_EXIT,
    EVENT_SAMPLE,
    EVENT_STATE,
    EVENT_MARK,
    EVENT_COUNTER,
    EVENT_COUNTER_REAL,
};

/* Byte offsets in a packet, up to the names. */
enum {
    AT_MAGIC = 0,
    AT_STREAM = 4,
    AT_BEGIN = 8,
    AT_END = 16,
    AT_CONTENT_BITS = 24,
    AT_PACKET_BITS = 32,
    AT_DISCARDED = 40,
    AT_SEQUENCE = 48,
    AT_PID = 56,
    AT_TID = 60,
    AT_STACK = 64,
    AT_NAMES = 68,
};

static const char metadata_start[] =
    "/* CTF 1.8 */\n\n"
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double_t;\n\n"
    "trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n"
    "    packet.header := struct {\n        uint32_t magic;\n        uint32_t stream_id;\n    };\n"
    "};\n\n";

static const char metadata_stream[] =
    "typealias integer { size = 32; align = 8; map = clock.nanoscope.value; } := low_time_t;\n"
    "typealias integer { size = 64; align = 8; map = clock.nanoscope.value; } := time_t;\n\n"
    "stream {\n    id = 0;\n"
    "    packet.context := struct {\n"
    "        time_t timestamp_begin;\n        time_t timestamp_end;\n"
    "        uint64_t content_size;\n        uint64_t packet_size;\n"
    "        uint64_t events_discarded;\n        uint64_t packet_seq_num;\n"
    "        uint32_t pid;\n        uint32_t tid;\n        uint32_t stack;\n"
    "        string process;\n        string thread;\n    };\n"
    "    event.header := struct {\n        uint8_t id;\n        low_time_t timestamp;\n    };\n"
    "};\n\n"
    "enum bound_t : integer { size = 4; align = 4; signed = false; } {\n"
    "    \"exact\" = 0, \"end\" = 1, \"start\" = 2, \"both\" = 3\n};\n\n";

static const char metadata_events[] =
    "event {\n    name = \"func_entry\";\n    id = 0;\n    stream_id = 0;\n"
    "    fields := struct {\n        enum function_t function;\n"
    "        enum bound_t bound;\n        enum bound_t clipped;\n    };\n};\n\n"
    "event {\n    name = \"func_exit\";\n    id = 1;\n    stream_id = 0;\n"
    "    fields := struct {\n        enum function_t function;\n"
    "        enum bound_t bound;\n        enum bound_t clipped;\n    };\n};\n\n"
    "event {\n    name = \"state\";\n    id = 3;\n    stream_id = 0;\n"
    "    fields := struct { uint32_t old_state; uint32_t new_state; string name; };\n};\n\n"
    "event {\n    name = \"mark\";\n    id = 4;\n    stream_id = 0;\n"
    "    fields := struct { string name; string metadata; uint8_t cut; };\n};\n\n"
    "event {\n    name = \"counter\";\n    id = 5;\n    stream_id = 0;\n"
    "    fields := struct { string name; int64_t value; };\n};\n\n"
    "event {\n    name = \"counter\";\n    id = 6;\n    stream_id = 0;\n"
    "    fields := struct { string name; double_t value; };\n};\n\n";

struct ctf {
    struct nsc_export *job;
    struct nsc_folder folder;
    struct nsc_output *out; /* of the stream */
    uint8_t *packet;        /* PACKET_BYTES */
    size_t used, head;      /* bytes used; bytes before the first event */
    uint64_t begin_ns, last_ns;
    uint64_t discarded; /* lost events in the stream, up to the packet's end */
    uint64_t told;      /* of these, already counted in written packets */
    uint64_t sequence;
    uint32_t pid, tid, stack;
    const char *process, *thread;
};

/* ---- Packets ------------------------------------------------------------------------------ */

static int put_string(struct ctf *c, const char *text, size_t max)
{
    size_t bytes;
    char *clean = nsc_names_utf8(text, &bytes);

    if (clean == NULL)
        return -ENOMEM;
    bytes = nsc_names_fit(clean, bytes, max);
    memcpy(c->packet + c->used, clean, bytes);
    c->used += bytes;
    c->packet[c->used++] = 0;
    free(clean);
    return 0;
}

static void put_u8(struct ctf *c, unsigned value)
{
    c->packet[c->used++] = (uint8_t)value;
}

static void put_u32(struct ctf *c, uint32_t value)
{
    nsc_span_put32(c->packet + c->used, value);
    c->used += 4;
}

static void put_u64(struct ctf *c, uint64_t value)
{
    nsc_span_put64(c->packet + c->used, value);
    c->used += 8;
}

static int open_packet(struct ctf *c, uint64_t ns)
{
    c->begin_ns = c->last_ns = ns;
    c->used = AT_NAMES;
    if (put_string(c, c->process, LABEL_MAX) != 0 || put_string(c, c->thread, LABEL_MAX) != 0)
        return -ENOMEM;
    c->head = c->used;
    return 0;
}

static void close_packet(struct ctf *c)
{
    uint8_t *p = c->packet;

    nsc_span_put32(p + AT_MAGIC, MAGIC);
    nsc_span_put32(p + AT_STREAM, 0);
    nsc_span_put64(p + AT_BEGIN, c->begin_ns);
    nsc_span_put64(p + AT_END, c->last_ns);
    nsc_span_put64(p + AT_CONTENT_BITS, c->used * 8);
    nsc_span_put64(p + AT_PACKET_BITS, c->used * 8);
    nsc_span_put64(p + AT_DISCARDED, c->discarded);
    nsc_span_put64(p + AT_SEQUENCE, c->sequence++);
    nsc_span_put32(p + AT_PID, c->pid);
    nsc_span_put32(p + AT_TID, c->tid);
    nsc_span_put32(p + AT_STACK, c->stack);
    nsc_output_put(c->out, p, c->used);
    c->told = c->discarded;
}

/* Starts an event, in a new packet if necessary for its time. The caller writes its fields. */
static int open_event(struct ctf *c, unsigned id, uint64_t ns)
{
    if (c->used >= PACKET_FULL || ns - c->last_ns > UINT32_MAX) {
        close_packet(c);
        if (open_packet(c, ns) != 0)
            return -ENOMEM;
    }
    c->last_ns = ns;
    put_u8(c, id);
    put_u32(c, (uint32_t)ns);
    return nsc_output_error(c->out);
}

/* Starts a stream file of @thread, or of @process if @thread is NULL, at @ns. */
static int open_stream(struct ctf *c, uint32_t process, const struct nsc_thread *thread,
                       const char *name, uint64_t ns, struct nsc_diag *diag)
{
    const struct nsc_process *p = nsc_trace_process(c->job->trace, process);
    int error = nsc_folder_open(&c->folder, name, &c->out, diag);

    if (error != 0)
        return error;
    c->pid = p->pid;
    c->process = p->name;
    c->tid = thread != NULL ? thread->tid : 0;
    c->stack = thread != NULL ? thread->stack : 0;
    c->thread = thread != NULL ? thread->name : "";
    c->discarded = c->told = c->sequence = 0;
    if (open_packet(c, ns) != 0)
        return nsc_folder_close(&c->folder, c->out,
                                nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory"),
                                diag);
    return 0;
}

static int close_stream(struct ctf *c, int error, struct nsc_diag *diag)
{
    if (error == -ENOMEM && nsc_output_error(c->out) == 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else if (nsc_output_error(c->out) != 0)
        error = 0; /* reported when the file is finished */
    if (error == 0 && (c->used > c->head || c->told != c->discarded))
        close_packet(c);
    return nsc_folder_close(&c->folder, c->out, error, diag);
}

/* ---- Calls -------------------------------------------------------------------------------- */

static int put_call(struct ctf *c, const struct nsc_walk_event *e, uint64_t ns)
{
    const struct nsc_cooked *name = nsc_export_name(c->job, e->function);
    bool begins = e->kind == NSC_WALK_BEGIN;

    if (name == NULL || open_event(c, begins ? EVENT_ENTRY : EVENT_EXIT, ns) == -ENOMEM)
        return -ENOMEM;
    put_u32(c, name->number);
    put_u8(c, (e->bound & 3) | nsc_walk_clipped(e->bound) << 4);
    return nsc_output_error(c->out);
}

/* Records lost events: closes the packet and adds them to the count of the next one. */
static int put_lost(struct ctf *c, uint64_t count, uint64_t ns)
{
    c->last_ns = ns;
    close_packet(c);
    c->discarded += count;
    return open_packet(c, ns);
}

static int export_calls(struct ctf *c, uint32_t id, struct nsc_diag *diag)
{
    const struct nsc_thread *thread = nsc_trace_thread(c->job->trace, id);
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    bool open = false;
    char name[32];
    int more = 0, error = nsc_export_walk(c->job, id, false, &walk, diag);

    if (error != 0)
        return error;
    snprintf(name, sizeof name, "thread_%u", id);
    while (error == 0 && (more = nsc_export_next(c->job, id, walk, &event, diag)) > 0) {
        uint64_t ns = nsc_clock_ns(c->job->clock, event.ticks);

        if (!open) {
            error = open_stream(c, thread->process, thread, name, ns, diag);
            open = error == 0;
        }
        if (error == 0)
            error = event.kind == NSC_WALK_LOST ? put_lost(c, event.value + event.left_out, ns)
                                                : put_call(c, &event, ns);
    }
    nsc_export_walked(c->job, walk);
    if (!open)
        return error != 0 ? error : more;
    return close_stream(c, more < 0 ? more : error, diag);
}

/* ---- Samples, states, marks, counters ----------------------------------------------------- */

static int put_note(void *context, const struct nsc_note *note)
{
    static const uint8_t ids[NSC_NOTE_KINDS] = {EVENT_SAMPLE, EVENT_STATE, EVENT_MARK,
                                                EVENT_COUNTER};
    struct ctf *c = context;
    const char *state;
    uint64_t real;
    int error =
        open_event(c,
                   note->kind == NSC_NOTE_COUNTER && note->counter.is_real ? EVENT_COUNTER_REAL
                                                                           : ids[note->kind],
                   nsc_clock_ns(c->job->clock, note->ticks));

    if (error != 0)
        return error;
    switch ((enum nsc_note_kind)note->kind) {
    case NSC_NOTE_SAMPLE:
        put_u32(c, note->sample.known);
        for (int i = 0; i < NSC_SAMPLE_FIELDS; i++)
            put_u64(c, note->sample.values[i]);
        break;
    case NSC_NOTE_STATE:
        state = nsc_model_state_name(note->state.new_state);
        put_u32(c, note->state.old_state);
        put_u32(c, note->state.new_state);
        error = put_string(c, state != NULL ? state : "", LABEL_MAX);
        break;
    case NSC_NOTE_MARK:
        error = put_string(c, note->mark.name, TEXT_MAX);
        if (error == 0)
            error = put_string(c, note->mark.metadata, TEXT_MAX);
        put_u8(c, note->mark.cut);
        break;
    case NSC_NOTE_COUNTER:
        error = put_string(c, note->counter.name, TEXT_MAX);
        memcpy(&real, &note->counter.real, sizeof real);
        put_u64(c, note->counter.is_real ? real : (uint64_t)note->counter.integer);
        break;
    case NSC_NOTE_KINDS:
        break;
    }
    return error;
}

/* Writes the notes of one kind and owner to a stream of their own, because times in a stream must
 * not decrease. */
static int export_notes(struct ctf *c, enum nsc_note_kind kind, uint32_t owner, bool of_process,
                        struct nsc_diag *diag)
{
    static const char *const kinds[NSC_NOTE_KINDS] = {"samples", "states", "marks", "counters"};
    const struct nsc_thread *thread = of_process ? NULL : nsc_trace_thread(c->job->trace, owner);
    uint64_t before = c->job->result->others[kind];
    char name[48];
    int error;

    if (nsc_trace_note_count(c->job->trace, kind, owner, of_process) == 0)
        return 0;
    snprintf(name, sizeof name, "%s_%u_%s", of_process ? "process" : "thread", owner, kinds[kind]);
    error = open_stream(c, of_process ? owner : thread->process, thread, name, 0, diag);
    if (error != 0)
        return error;
    error = nsc_export_notes(c->job, kind, owner, of_process, put_note, c, diag);
    if (error == 0 && c->job->result->others[kind] == before)
        c->head = 0; /* none in the window: an empty packet rather than an empty file */
    return close_stream(c, error, diag);
}

static int export_streams(struct ctf *c, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = c->job->info;
    int error = 0;

    for (uint32_t i = 0; i < info->thread_count && error == 0; i++) {
        if (nsc_export_wants(c->job, i))
            error = export_calls(c, i, diag);
        for (int kind = 0; nsc_export_wants_notes(c->job, i) && kind < NSC_NOTE_KINDS; kind++)
            if (error == 0)
                error = export_notes(c, (enum nsc_note_kind)kind, i, false, diag);
    }
    for (uint32_t i = 0; i < info->process_count && error == 0; i++)
        if (nsc_export_wants_process(c->job, i))
            error = export_notes(c, NSC_NOTE_COUNTER, i, true, diag);
    return error;
}

/* ---- Metadata ----------------------------------------------------------------------------- */

/* Converts a name to a TSDL string literal of clean UTF-8, with quotes. */
static char *cook_literal(const char *name, size_t *bytes)
{
    size_t length;
    char *clean = nsc_names_utf8(name, &length), *text = NULL;
    FILE *f = clean != NULL ? open_memstream(&text, bytes) : NULL;

    if (f == NULL) {
        free(clean);
        return NULL;
    }
    fputc('"', f);
    for (const char *at = clean; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(f, "\\%c", *at);
        else if ((uint8_t)*at < 0x20 || *at == 0x7f)
            fprintf(f, "\\%03o", (unsigned)(uint8_t)*at);
        else
            fputc(*at, f);
    }
    fputc('"', f);
    free(clean);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Writes the clock: nanoseconds since the start of the trace, whose real time is the offset. */
static void put_clock(const struct ctf *c, struct nsc_output *out)
{
    uint64_t origin_ns = nsc_trace_zero(c->job->trace).realtime_ns;
    char text[256];

    snprintf(text, sizeof text,
             "clock {\n    name = \"nanoscope\";\n    freq = 1000000000;\n    offset_s = %llu;\n"
             "    offset = %llu;\n    absolute = %s;\n};\n\n",
             (unsigned long long)(origin_ns / 1000000000),
             (unsigned long long)(origin_ns % 1000000000), origin_ns != 0 ? "TRUE" : "FALSE");
    nsc_output_text(out, text);
}

static void put_functions(const struct ctf *c, struct nsc_output *out)
{
    nsc_output_text(out, "enum function_t : uint32_t {\n");
    /* Enumerations must not be empty. */
    if (c->job->used_count == 0)
        nsc_output_text(out, "    \"\" = 0\n");
    for (uint32_t i = 0; i < c->job->used_count; i++) {
        const struct nsc_cooked *name = &c->job->cooked[c->job->used[i]];

        nsc_output_text(out, "    ");
        nsc_output_put(out, name->text, name->bytes);
        nsc_output_text(out, " = ");
        nsc_output_u64(out, i);
        nsc_output_text(out, i + 1 < c->job->used_count ? ",\n" : "\n");
    }
    nsc_output_text(out, "};\n\n");
}

static void put_sample_event(struct nsc_output *out)
{
    nsc_output_text(out, "event {\n    name = \"sample\";\n    id = 2;\n    stream_id = 0;\n"
                         "    fields := struct {\n        uint32_t known;\n");
    for (int i = 0; i < NSC_SAMPLE_FIELDS; i++) {
        char *name;
        size_t bytes;

        name = nsc_names_replace(nsc_model_sample_field_name((enum nsc_sample_field)i), " -/", '_',
                                 &bytes);
        nsc_output_text(out, "        uint64_t ");
        nsc_output_text(out, name != NULL ? name : "value");
        nsc_output_text(out, ";\n");
        free(name);
    }
    nsc_output_text(out, "    };\n};\n\n");
}

static int put_metadata(struct ctf *c, struct nsc_diag *diag)
{
    struct nsc_output *out;
    int error = nsc_folder_open(&c->folder, "metadata", &out, diag);

    if (error != 0)
        return error;
    nsc_output_text(out, metadata_start);
    nsc_output_text(out,
                    "env {\n    tracer_name = \"nanoscope\";\n    tracer_version = \"" NSC_VERSION
                    "\";\n};\n\n");
    put_clock(c, out);
    nsc_output_text(out, metadata_stream);
    put_functions(c, out);
    put_sample_event(out);
    nsc_output_text(out, metadata_events);
    return nsc_folder_close(&c->folder, out, 0, diag);
}

static int export_ctf(struct nsc_export *job, struct nsc_diag *diag)
{
    struct ctf c = {.job = job, .packet = malloc(PACKET_BYTES)};
    int error;

    if (c.packet == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_folder_create(&c.folder, job, diag);
    if (error == 0) {
        error = export_streams(&c, diag);
        if (error == 0)
            error = put_metadata(&c, diag);
        error = nsc_folder_publish(&c.folder, error, diag);
    }
    free(c.packet);
    return error;
}

static const char *const ctf_suffixes[] = {".ctf", NULL};

const struct nsc_exporter nsc_ctf_exporter = {
    .name = "ctf",
    .suffixes = ctf_suffixes,
    .form = NSC_FORM_FOLDER,
    .cook = cook_literal,
    .run = export_ctf,
};
