/*
 * perfetto_import.c - read the track events of a Perfetto trace (protobuf). Called through
 * importers.c.
 *
 * Packets are read one at a time. perfetto_state.c keeps the state that they refer to. Packets
 * other than track events are left out and counted by kind.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perfetto/perfetto_event.h"
#include "formats/perfetto/perfetto_fields.h"
#include "formats/perfetto/perfetto_unpack.h"
#include "util/text/units.h"

#define PACKET_MAX       (256u << 20) /* bytes; a larger one is damage */
#define PROGRESS_PACKETS 65536u
#define KINDS_MAX        144u /* packet fields with lower numbers are counted separately */

/* Data that is left out, beside packets of other kinds. */
enum { BROKEN, NESTED, NAMELESS, ASYNC, FLOWS, ARGUMENTS, EXTRA, TIMELESS, COUNTS };

static const char *const count_names[COUNTS] = {
    [BROKEN] = "packets that are damaged",
    [NESTED] = "compressed packets within others",
    [NAMELESS] = "packets that need others that were dropped",
    [ASYNC] = "events of older kinds (async and such)",
    [FLOWS] = "flows",
    [ARGUMENTS] = "events' arguments",
    [EXTRA] = "counter values of slices",
    [TIMELESS] = "events without a time",
};

/* A decoded packet; missing parts are empty. */
struct packet {
    struct nsc_span event, interned, defaults, track, thread, clocks, compressed;
    bool zstd; /* `compressed` is zstd data, otherwise zlib */
    bool has_time;
    uint64_t timestamp, ns; /* on the packet's clock; on the trace's clock */
    uint32_t sequence, flags, clock;
    bool dropped_before, cleared;
    uint32_t other; /* number of a field that is not imported; 0 = none */
};

struct perfetto_import {
    struct nsc_import *job;
    struct nsc_intake *in;
    struct nsc_perfetto_state state;
    uint64_t packets;
    uint64_t left_out[COUNTS];
    uint64_t others[KINDS_MAX + 1]; /* packets left out, by field; the last one: all above */
};

/* Copies a short text and appends a NUL. Returns false if it is too long. */
static bool to_string(const struct nsc_span *text, char *out, size_t room)
{
    size_t bytes = nsc_span_left(text);

    if (bytes >= room)
        return false;
    memcpy(out, nsc_perfetto_start(text), bytes);
    out[bytes] = '\0';
    return true;
}

/* Returns the function of a call. Its source location is from the event, or from an earlier event
 * with the same interned name. */
static uint32_t function_of(struct perfetto_import *p, struct nsc_perfetto_sequence *q,
                            const struct nsc_perfetto_event *e)
{
    struct nsc_intake_function f = {.name =
                                        e->has_name ? nsc_perfetto_start(&e->name) : "(no name)",
                                    .name_bytes = e->has_name ? nsc_span_left(&e->name) : 9,
                                    .module = NSC_NO_ID};
    const struct nsc_perfetto_name *place = NULL;
    struct nsc_span message = e->source;
    struct nsc_protobuf_field field;
    uint32_t function;

    if (e->source_iid != 0)
        place = nsc_perfetto_name(q, NSC_PERFETTO_SOURCE, e->source_iid);
    if (place == NULL && nsc_span_left(&e->source) == 0 && e->interned != NULL &&
        e->interned->function != NSC_NO_ID)
        return e->interned->function;
    if (place != NULL) {
        f.file = place->text;
        f.file_bytes = place->bytes;
        f.line = place->line;
    }
    while (place == NULL && nsc_protobuf_next(&message, &field)) {
        if (field.number == SOURCE_FILE && field.is_bytes) {
            f.file = nsc_perfetto_start(&field.bytes);
            f.file_bytes = nsc_span_left(&field.bytes);
        } else if (field.number == SOURCE_LINE) {
            f.line = (uint32_t)field.value;
        }
    }
    function = nsc_intake_function(p->in, &f);
    if (e->interned != NULL)
        e->interned->function = function;
    return function;
}

/* ---- Events ------------------------------------------------------------------------------- */

/* Imports a slice or instant of a track of thread states. Returns false if it is not a state; then
 * the track is treated as a plain one. */
static bool take_state(struct perfetto_import *p, struct nsc_perfetto_track *t,
                       const struct nsc_perfetto_event *e, uint64_t ns)
{
    char name[64], from[64];
    uint32_t state, old_state = t->state;

    if (e->type == TYPE_END)
        return true;
    if (!e->has_name || !to_string(&e->name, name, sizeof name) ||
        !nsc_model_state_find(name, &state)) {
        t->is_states = t->borrowed = false;
        t->slices = nsc_perfetto_further(&p->state, t, t->slices);
        return false;
    }
    if (nsc_span_left(&e->from) > 0 && to_string(&e->from, from, sizeof from))
        nsc_model_state_find(from, &old_state);
    nsc_intake_state(p->in, t->slices, ns, old_state, state);
    t->state = state;
    return true;
}

static void take_instant(struct perfetto_import *p, uint32_t track,
                         const struct nsc_perfetto_event *e, uint64_t ns)
{
    if (nsc_perfetto_is(&e->name, "events lost") && e->has_lost)
        nsc_intake_lost(p->in, track, ns, e->lost);
    else
        nsc_intake_mark(p->in, track, ns, nsc_perfetto_start(&e->name), nsc_span_left(&e->name),
                        nsc_perfetto_start(&e->metadata), nsc_span_left(&e->metadata), e->cut);
}

/* Reports a gap on a track, once per gap of its sequence: any track to which the sequence has
 * written may miss the dropped packets. */
static void tell_gap(struct perfetto_import *p, struct nsc_perfetto_sequence *q, uint32_t track,
                     uint64_t ns)
{
    uint32_t told;

    if (q->last_track == track && q->last_gaps == q->gaps)
        return;
    told = nsc_id_map_get(&q->gaps_told, track);
    if (told != NSC_ID_MAP_NEW && told != q->gaps)
        nsc_intake_lost(p->in, track, ns, 0);
    if (told != q->gaps && nsc_id_map_put(&q->gaps_told, track, q->gaps) != 0)
        return; /* out of memory: the gap may be reported again */
    q->last_track = track;
    q->last_gaps = q->gaps;
}

static void take_slice(struct perfetto_import *p, struct nsc_perfetto_sequence *q, uint32_t track,
                       const struct nsc_perfetto_event *e, uint64_t ns)
{
    tell_gap(p, q, track, ns);
    if (e->phase == 'X')
        nsc_intake_slice(p->in, track, ns, e->duration_ns, function_of(p, q, e));
    else if (e->type == TYPE_BEGIN)
        nsc_intake_begin(p->in, track, ns, function_of(p, q, e),
                         (e->clipped & NSC_BOUND_START) != 0  ? NSC_NESTING_CLIPPED
                         : (e->bounds & NSC_BOUND_START) != 0 ? NSC_NESTING_LATE
                                                              : NSC_NESTING_SEEN);
    else if (e->type == TYPE_END)
        nsc_intake_end(p->in, track, ns, e->has_name ? function_of(p, q, e) : NSC_NO_ID,
                       ((e->bounds | e->clipped) & NSC_BOUND_END) != 0);
    else
        take_instant(p, track, e, ns);
}

static void take_counter(struct perfetto_import *p, struct nsc_perfetto_track *t,
                         const struct nsc_perfetto_event *e, uint64_t ns)
{
    uint32_t owner = nsc_perfetto_owner(&p->state, t);
    const char *name = t->name != NULL ? t->name : "counter";
    double real = nsc_protobuf_as_double(e->counter) * (double)t->multiplier;
    enum nsc_sample_field field;

    if (e->is_real) {
        nsc_intake_count_real(p->in, owner, ns, name, strlen(name), real);
        return;
    }
    t->value = e->counter * t->multiplier + (t->incremental ? t->value : 0);
    if (t->of_thread && nsc_model_sample_field_find(name, &field))
        nsc_intake_sample(p->in, owner, ns, field, t->value);
    else
        nsc_intake_count(p->in, owner, ns, name, strlen(name), (int64_t)t->value);
}

/* Gets the time of an event. Returns false if it has none. */
static bool time_of(const struct packet *packet, struct nsc_perfetto_sequence *q,
                    const struct nsc_perfetto_event *e, uint64_t *ns)
{
    uint64_t us;

    *ns = packet->ns;
    if (packet->has_time || !e->has_old_time)
        return packet->has_time;
    if (e->absolute_us == 0)
        q->reference_us += e->delta_us;
    us = e->absolute_us != 0 ? e->absolute_us : q->reference_us;
    *ns = us < NSC_INTAKE_TIME_LIMIT / 1000 ? us * 1000 : NSC_INTAKE_TIME_LIMIT;
    return true;
}

/* Finds the track of an event. Events without one are on the default track of the sequence, or on
 * its thread. */
static uint32_t track_of(struct perfetto_import *p, const struct nsc_perfetto_sequence *q,
                         const struct nsc_perfetto_event *e, struct nsc_perfetto_track **track)
{
    uint64_t uuid = e->has_track ? e->track : q->has_default_track ? q->default_track : 0;

    *track = NULL;
    if (e->tid != 0 || (!e->has_track && !q->has_default_track && q->has_thread))
        return nsc_intake_track(p->in, nsc_intake_process(p->in, e->pid != 0 ? e->pid : q->pid),
                                e->tid != 0 ? e->tid : q->tid, 0);
    *track = nsc_perfetto_track(&p->state, uuid);
    return *track != NULL && e->type != TYPE_COUNTER ? nsc_perfetto_slices(&p->state, *track) : 0;
}

static int take_event(struct perfetto_import *p, const struct packet *packet,
                      struct nsc_perfetto_sequence *q)
{
    struct nsc_perfetto_track *t;
    struct nsc_perfetto_event e;
    uint32_t track;
    uint64_t ns = 0;

    if (!nsc_perfetto_event_read(&e, q, packet->event))
        return -EBADMSG;
    if (!time_of(packet, q, &e, &ns)) {
        p->left_out[TIMELESS]++;
        return 0;
    }
    if (e.phase != 'X' && (e.type == 0 || e.type > TYPE_COUNTER)) {
        p->left_out[ASYNC]++;
        return 0;
    }
    p->left_out[ARGUMENTS] += e.annotations - e.known;
    p->left_out[FLOWS] += e.flows;
    p->left_out[EXTRA] += e.extra;
    track = track_of(p, q, &e, &t);
    if (t != NULL && e.type == TYPE_COUNTER)
        take_counter(p, t, &e, ns);
    else if (e.type == TYPE_COUNTER)
        p->left_out[ASYNC]++;
    else if (t == NULL || !t->is_states || !take_state(p, t, &e, ns))
        take_slice(p, q, t != NULL ? t->slices : track, &e, ns);
    return 0;
}

/* ---- Packets ------------------------------------------------------------------------------ */

/* Records a packet field that is not imported. Fields on the recording itself are ignored. */
static void note_kind(struct packet *packet, uint32_t number)
{
    /* trusted uid and pid, machine; trace config, stats, uuid, synchronization marker, system info,
     * trigger, service event */
    static const uint8_t silent[] = {3, 33, 35, 36, 45, 46, 69, 79, 87, 89, 98};

    if (memchr(silent, (int)(number < 256 ? number : 0), sizeof silent) == NULL)
        packet->other = number;
}

static bool read_packet(struct nsc_span message, struct packet *packet)
{
    struct nsc_protobuf_field field;

    *packet = (struct packet){0};
    while (nsc_protobuf_next(&message, &field)) {
        switch (field.number) {
        case PACKET_TIMESTAMP:
            packet->timestamp = field.value;
            packet->has_time = true;
            break;
        case PACKET_SEQUENCE_ID:
            packet->sequence = (uint32_t)field.value;
            break;
        case PACKET_SEQUENCE_FLAGS:
            packet->flags = (uint32_t)field.value;
            break;
        case PACKET_STATE_CLEARED:
            packet->cleared = field.value != 0;
            break;
        case PACKET_DROPPED_BEFORE:
            packet->dropped_before = field.value != 0;
            break;
        case PACKET_CLOCK_ID:
            packet->clock = (uint32_t)field.value;
            break;
        case PACKET_TRACK_EVENT:
            packet->event = field.bytes;
            break;
        case PACKET_INTERNED_DATA:
            packet->interned = field.bytes;
            break;
        case PACKET_DEFAULTS:
            packet->defaults = field.bytes;
            break;
        case PACKET_TRACK_DESCRIPTOR:
            packet->track = field.bytes;
            break;
        case PACKET_THREAD_DESCRIPTOR:
            packet->thread = field.bytes;
            break;
        case PACKET_CLOCK_SNAPSHOT:
            packet->clocks = field.bytes;
            break;
        case PACKET_COMPRESSED:
        case PACKET_ZSTD_COMPRESSED:
            packet->compressed = field.bytes;
            packet->zstd = field.number == PACKET_ZSTD_COMPRESSED;
            break;
        default:
            note_kind(packet, field.number);
            break;
        }
    }
    return !message.bad;
}

static bool take_defaults(struct nsc_perfetto_sequence *q, struct nsc_span message)
{
    struct nsc_protobuf_field field, inner;

    q->default_clock = 0;
    q->has_default_track = false;
    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == DEFAULTS_CLOCK_ID)
            q->default_clock = (uint32_t)field.value;
        while (field.number == DEFAULTS_TRACK_EVENT && nsc_protobuf_next(&field.bytes, &inner)) {
            if (inner.number == EVENT_DEFAULTS_TRACK_UUID) {
                q->default_track = inner.value;
                q->has_default_track = true;
            }
        }
    }
    return !message.bad;
}

/* Processes a ThreadDescriptor, the older way to give a sequence a thread. */
static bool take_thread(struct perfetto_import *p, struct nsc_perfetto_sequence *q,
                        struct nsc_span message)
{
    struct nsc_span name = {0};
    struct nsc_protobuf_field field;
    uint32_t track;

    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == THREAD_PID)
            q->pid = (uint32_t)field.value;
        else if (field.number == THREAD_TID)
            q->tid = (uint32_t)field.value;
        else if (field.number == THREAD_NAME && field.is_bytes)
            name = field.bytes;
        else if (field.number == THREAD_REFERENCE_US)
            q->reference_us = field.value;
    }
    q->has_thread = true;
    track = nsc_intake_track(p->in, nsc_intake_process(p->in, q->pid), q->tid, 0);
    if (nsc_span_left(&name) > 0)
        nsc_intake_name_track(p->in, track, nsc_perfetto_start(&name), nsc_span_left(&name));
    return !message.bad;
}

static void mark_gap(struct nsc_perfetto_sequence *q, const struct packet *packet)
{
    if (packet->dropped_before) {
        q->gaps++;
        q->whole = false;
    }
    if (packet->cleared || (packet->flags & FLAG_CLEARED) != 0) {
        nsc_perfetto_clear(q);
        q->default_clock = 0;
        q->has_default_track = q->has_thread = false;
        q->whole = true;
    }
}

/* Processes the parts of a packet, in the order of their dependencies. */
static int take_parts(struct perfetto_import *p, struct packet *packet)
{
    struct nsc_perfetto_sequence *q = nsc_perfetto_sequence(&p->state, packet->sequence);
    int error = 0;

    if (q == NULL)
        return -ENOMEM;
    mark_gap(q, packet);
    if (packet->clocks.at != NULL)
        error = nsc_perfetto_take_clocks(&p->state, packet->sequence, packet->clocks);
    if (error == 0 && packet->track.at != NULL)
        error = nsc_perfetto_take_track(&p->state, packet->track);
    if (error == 0 && (packet->flags & FLAG_NEEDS_STATE) != 0 && !q->whole) {
        p->left_out[NAMELESS]++;
        return 0;
    }
    if (error == 0 && packet->defaults.at != NULL && !take_defaults(q, packet->defaults))
        error = -EBADMSG;
    if (packet->has_time) /* for every packet, since it advances incremental clocks */
        packet->ns = nsc_perfetto_ns(&p->state, packet->sequence,
                                     packet->clock != 0 ? packet->clock : q->default_clock,
                                     packet->timestamp);
    if (error == 0 && packet->interned.at != NULL)
        error = nsc_perfetto_take_interned(q, packet->interned);
    if (error == 0 && packet->thread.at != NULL && !take_thread(p, q, packet->thread))
        error = -EBADMSG;
    if (error == 0 && packet->event.at != NULL)
        error = take_event(p, packet, q);
    return error;
}

static int take_compressed(struct perfetto_import *p, const struct packet *packet);

/* Processes a packet. @nested: it was inside a compressed packet. Returns 0 or -errno. */
static int take_packet(struct perfetto_import *p, struct nsc_span message, bool nested)
{
    struct packet packet;
    int error;

    p->packets++;
    if (!read_packet(message, &packet)) {
        p->left_out[BROKEN]++;
        return 0;
    }
    if (packet.other != 0)
        p->others[packet.other < KINDS_MAX ? packet.other : KINDS_MAX]++;
    if (packet.compressed.at != NULL && nested)
        p->left_out[NESTED]++;
    else if (packet.compressed.at != NULL)
        return take_compressed(p, &packet);
    error = take_parts(p, &packet);
    if (error == -EBADMSG) {
        p->left_out[BROKEN]++;
        error = 0;
    }
    return error != 0 ? error : nsc_intake_error(p->in, NULL);
}

/* Processes a compressed packet, which contains packets. */
static int take_compressed(struct perfetto_import *p, const struct packet *packet)
{
    size_t bytes = 0;
    uint8_t *plain = packet->zstd ? nsc_perfetto_unzstd(packet->compressed, PACKET_MAX, &bytes)
                                  : nsc_perfetto_inflate(packet->compressed, PACKET_MAX, &bytes);
    struct nsc_span trace = nsc_span_of(plain, bytes);
    struct nsc_protobuf_field field;
    int error = 0;

    if (plain == NULL) {
        p->left_out[BROKEN]++;
        return 0;
    }
    while (error == 0 && nsc_protobuf_next(&trace, &field))
        if (field.number == TRACE_PACKET && field.is_bytes)
            error = take_packet(p, field.bytes, true);
    p->left_out[BROKEN] += trace.bad;
    free(plain);
    return error;
}

/* ---- The file ----------------------------------------------------------------------------- */

static int damaged(const struct nsc_input *in, const char *what, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: byte %llu: %s", nsc_input_name(in),
                        (unsigned long long)nsc_input_offset(in), what);
}

/* Reads the tag of the next field of the file. @head, @body: receive the bytes of its header and
 * body. Returns 1, 0 at the end, or -errno with @diag. */
static int next_field(struct nsc_input *in, uint64_t *tag, size_t *head, uint64_t *body,
                      struct nsc_diag *diag)
{
    const uint8_t *bytes;
    struct nsc_span span;
    size_t count;
    int error = nsc_input_need(in, 2 * NSC_LEB_MAX, &bytes, &count, diag);

    if (count == 0)
        return error;
    span = nsc_span_of(bytes, count);
    *tag = nsc_span_leb(&span);
    *body = 0;
    if ((*tag & 7) == 0)
        nsc_span_leb(&span);
    else if ((*tag & 7) == 2)
        *body = nsc_span_leb(&span);
    else if ((*tag & 7) == 1 || (*tag & 7) == 5)
        *body = (*tag & 7) == 1 ? 8 : 4;
    else
        return damaged(in, "no packet", diag);
    if (span.bad && error != 0)
        return error;
    if (span.bad || *tag >> 3 == 0)
        return damaged(in, "no packet", diag);
    *head = count - nsc_span_left(&span);
    if (*body > PACKET_MAX)
        return damaged(in, "a packet of more than 256 MiB", diag);
    return 1;
}

static int read_packets(struct perfetto_import *p, struct nsc_diag *diag)
{
    struct nsc_input *in = p->job->in;
    uint64_t tag = 0, body = 0;
    size_t head = 0, count;
    const uint8_t *bytes;
    int error;

    while ((error = next_field(in, &tag, &head, &body, diag)) > 0) {
        error = nsc_input_need(in, head + (size_t)body, &bytes, &count, diag);
        if (count < head + body)
            return error != 0 ? error : damaged(in, "the input ends within a packet", diag);
        error = 0;
        if (tag == NSC_PROTOBUF_BYTES(TRACE_PACKET))
            error = take_packet(p, nsc_span_of(bytes + head, (size_t)body), false);
        if (error != 0)
            return nsc_intake_error(p->in, diag) != 0
                       ? error
                       : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "out of memory");
        nsc_input_take(in, head + (size_t)body);
        if (p->packets % PROGRESS_PACKETS == 0)
            nsc_import_progress(p->job, in);
    }
    return error;
}

/* Returns the name of a packet kind that is not imported, or NULL. */
static const char *kind_name(uint32_t field)
{
    static const struct {
        uint32_t field;
        const char *name;
    } names[] = {
        {1, "ftrace"},
        {2, "process tree"},
        {5, "old Chrome events"},
        {9, "process stats"},
        {37, "heap profile"},
        {38, "battery"},
        {39, "Android log"},
        {40, "power rails"},
        {43, "process descriptor"},
        {47, "package list"},
        {48, "Chrome benchmark"},
        {49, "Perfetto's own trace"},
        {51, "Chrome metadata"},
        {52, "GPU counters"},
        {53, "GPU render stages"},
        {54, "streaming profile"},
        {56, "heap graph"},
        {61, "symbols"},
        {66, "perf sample"},
        {67, "CPU info"},
        {70, "display state"},
        {71, "GPU memory"},
        {74, "streaming allocations"},
        {76, "frame timeline"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].field == field)
            return names[i].name;
    return NULL;
}

static void note_left_out(struct perfetto_import *p)
{
    char text[280] = "";
    size_t used = 0;

    for (uint32_t i = 0; i <= KINDS_MAX && used < sizeof text; i++) {
        const char *comma = used > 0 ? ", " : "";

        if (p->others[i] == 0)
            continue;
        if (kind_name(i) != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%" PRIu64 ")", comma,
                                     kind_name(i), p->others[i]);
        else
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "%sfield %" PRIu32 "%s (%" PRIu64 ")", comma, i,
                                     i == KINDS_MAX ? " and above" : "", p->others[i]);
    }
    if (used > 0)
        nsc_job_notes_add(p->job->notes, "left out as no calls: packets of %s", text);
    text[0] = '\0';
    used = 0;
    for (int i = 0; i < COUNTS && used < sizeof text; i++)
        if (p->left_out[i] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%" PRIu64 ")",
                                     used > 0 ? ", " : "", count_names[i], p->left_out[i]);
    if (used > 0)
        nsc_job_notes_add(p->job->notes, "left out: %s", text);
    if (p->state.late > 0)
        nsc_job_notes_add(p->job->notes,
                          "%" PRIu64
                          " tracks are said to be another thread's or process's after events "
                          "of theirs: what came before is on a thread of its own",
                          p->state.late);
    if (p->state.untied > 0)
        nsc_job_notes_add(p->job->notes,
                          "%" PRIu64
                          " times are of a clock that nothing ties to the trace's: they are "
                          "taken as they are",
                          p->state.untied);
}

/* Writes the trace's clock; ticks are nanoseconds of the boot clock. If some times are from an
 * unknown clock, the clock readings are not used, since they may not apply. */
static int write_clock(struct perfetto_import *p, struct nsc_diag *diag)
{
    const struct nsc_perfetto_state *s = &p->state;

    return nsc_import_clock(p->job, s->has_clocks && s->untied == 0 ? &s->clocks_read : NULL,
                            nsc_intake_first_ns(p->in), diag);
}

static int import_packets(struct perfetto_import *p, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    int error = read_packets(p, &fault);

    error = nsc_import_judge(p->job, error, p->packets, "packet", &fault);
    if (error != 0) {
        if (diag != NULL)
            *diag = fault;
        return error;
    }
    error = nsc_intake_finish(p->in, diag);
    if (error == 0)
        error = write_clock(p, diag);
    if (error == 0)
        note_left_out(p);
    return error;
}

static int import_perfetto(struct nsc_import *job, struct nsc_diag *diag)
{
    struct perfetto_import *p = calloc(1, sizeof *p);
    int error;

    if (p == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    p->job = job;
    error = nsc_intake_open(job, &p->in, diag);
    if (error == 0) {
        p->state.in = p->in;
        error = import_packets(p, diag);
    }
    nsc_perfetto_state_free(&p->state);
    nsc_intake_close(p->in);
    free(p);
    return error;
}

/* Returns whether a packet may have this field. Of the field numbers below 100, only those in the
 * list are numbers; all others are messages or bytes. This distinguishes other protobuf data, such
 * as a pprof profile, which also begins with field 1. */
static bool is_plausible(const struct nsc_protobuf_field *field)
{
    static const uint8_t numbers[] = {3, 8, 10, 13, 41, 42, 58, 79, 87, 98};

    for (size_t i = 0; i < sizeof numbers; i++)
        if (field->number == numbers[i])
            return !field->is_bytes;
    return field->is_bytes || field->number >= 100;
}

/* The input must begin with a packet of plausible fields, followed by another packet or the end. */
static bool sniff_perfetto(const uint8_t *bytes, size_t count)
{
    struct nsc_protobuf_field field = {0};
    struct nsc_span span, body;
    uint64_t length;
    bool whole;

    if (count < 3 || bytes[0] != NSC_PROTOBUF_BYTES(TRACE_PACKET))
        return false;
    span = nsc_span_of(bytes + 1, count - 1);
    length = nsc_span_leb(&span);
    whole = length <= nsc_span_left(&span);
    if (span.bad || length == 0 || length > PACKET_MAX)
        return false;
    body = nsc_span_part(&span, whole ? length : nsc_span_left(&span));
    while (nsc_protobuf_next(&body, &field))
        if (!is_plausible(&field))
            return false;
    if (!whole) /* the packet is longer than the bytes at hand, so its last field is cut */
        return count >= 4096 && (field.number < 4096);
    return !body.bad && (nsc_span_left(&span) == 0 || *span.at == bytes[0]);
}

const struct nsc_importer nsc_perfetto_importer = {
    .name = "perfetto",
    .what = "a Perfetto trace",
    .sniff = sniff_perfetto,
    .run = import_perfetto,
};
