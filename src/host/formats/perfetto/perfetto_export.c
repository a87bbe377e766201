/*
 * perfetto_export.c - write a trace as Perfetto track events (protobuf). Called through
 * exporters.c.
 *
 * Each thread has a packet sequence of its own, so that threads can be written one after another.
 * A sequence has its own interned names, an incremental clock, and the thread's track as default.
 * A begin takes about 14 bytes and an end 12, before gzip.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/export.h"
#include "formats/perfetto/perfetto_fields.h"
#include "util/protobuf.h"
#include "util/text/name_text.h"

#define UUID_PROCESS   (1ull << 32)
#define UUID_THREAD    (2ull << 32)
#define UUID_NOTES     (3ull << 32) /* tracks of samples, states and counters, consecutive */
#define SMALL_PACKET   512u         /* bytes for a packet without texts of the trace */
#define TEXT_MAX       (60u * 1024) /* longer names are cut, so that any packet fits the buffer */
#define FIRST_SEQUENCE 2u           /* of threads; 1 = packets that belong to no thread */

struct perfetto {
    struct nsc_export *job;
    struct nsc_output *out;
    uint64_t offset_ns; /* from the trace's origin to the boot clock; 0 if unknown */
    uint64_t last_ns;   /* time of the last packet of the sequence */
    uint32_t *iids;     /* by function id: iid of its name in the sequence */
    uint32_t *stamps;   /* by function id: thread + 1 for which iids[] is valid */
    uint32_t next_iid;
    uint32_t thread;
    bool begun;                         /* the thread's track has been written */
    uint8_t *described;                 /* by process id: its descriptor has been written */
    uint64_t notes_uuid;                /* of the next track of notes */
    uint64_t owner_uuid;                /* of the thread or process whose notes are being written */
    struct nsc_names tracks;            /* the owner's counters: name -> UUID - UUID_NOTES */
    uint64_t fields[NSC_SAMPLE_FIELDS]; /* tracks of the owner's samples; 0 = none yet */
    uint64_t states;                    /* track of the owner's states; 0 = none yet */
    bool in_state;                      /* a slice is open on that track */
    uint32_t last_state;                /* state after the last change */
    uint64_t last_state_ns;
};

/* Writes a string field of clean UTF-8, at most TEXT_MAX bytes. Omits it when out of memory. */
static uint8_t *put_text(uint8_t *at, uint32_t field, const char *text)
{
    size_t bytes;
    char *clean = nsc_names_utf8(text, &bytes);

    if (clean != NULL)
        at = nsc_protobuf_bytes(at, field, clean, nsc_names_fit(clean, bytes, TEXT_MAX));
    free(clean);
    return at;
}

/* ---- Packets ------------------------------------------------------------------------------ */

/* Starts a packet of @sequence with room for @bytes of text. Returns the position at which its
 * fields continue. @body: for packet_close(). */
static uint8_t *packet_open(struct perfetto *p, uint32_t sequence, uint32_t flags, size_t bytes,
                            uint8_t **body)
{
    uint8_t *at = nsc_output_room(p->out, bytes + SMALL_PACKET);

    *body = nsc_protobuf_open(&at, TRACE_PACKET);
    at = nsc_protobuf_u64(at, PACKET_SEQUENCE_ID, sequence);
    if (flags != 0)
        at = nsc_protobuf_u64(at, PACKET_SEQUENCE_FLAGS, flags);
    return at;
}

static void packet_close(struct perfetto *p, uint8_t *body, uint8_t *at)
{
    nsc_protobuf_close(body, at);
    p->out->at = at;
}

static uint8_t *put_clock(uint8_t *at, uint64_t id, uint64_t timestamp, bool incremental)
{
    uint8_t *m = nsc_protobuf_open(&at, SNAPSHOT_CLOCKS);

    at = nsc_protobuf_u64(at, CLOCK_ID, id);
    at = nsc_protobuf_u64(at, CLOCK_TIMESTAMP, timestamp);
    if (incremental)
        at = nsc_protobuf_u64(at, CLOCK_INCREMENTAL, 1);
    nsc_protobuf_close(m, at);
    return at;
}

/* Writes a snapshot of the boot, monotonic and real-time clocks at the start of the trace. When an
 * importer reads the file, times count from this point. */
static void put_clocks(struct perfetto *p)
{
    struct nsc_clock_point zero = nsc_trace_zero(p->job->trace);
    uint8_t *at, *packet, *m;

    at = packet_open(p, 1, 0, 0, &packet);
    m = nsc_protobuf_open(&at, PACKET_CLOCK_SNAPSHOT);
    at = put_clock(at, CLOCK_BOOTTIME_ID, p->offset_ns, false);
    if (zero.monotonic_ns != 0)
        at = put_clock(at, CLOCK_MONOTONIC_ID, zero.monotonic_ns, false);
    if (zero.realtime_ns != 0)
        at = put_clock(at, CLOCK_REALTIME_ID, zero.realtime_ns, false);
    at = nsc_protobuf_u64(at, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME_ID);
    nsc_protobuf_close(m, at);
    packet_close(p, packet, at);
}

static void put_process(struct perfetto *p, uint32_t id)
{
    const struct nsc_process *process = nsc_trace_process(p->job->trace, id);
    uint8_t *at, *packet, *descriptor, *m;

    if (p->described[id])
        return;
    p->described[id] = 1;
    at = packet_open(p, 1, 0, TEXT_MAX, &packet);
    descriptor = nsc_protobuf_open(&at, PACKET_TRACK_DESCRIPTOR);
    at = nsc_protobuf_u64(at, DESCRIPTOR_UUID, UUID_PROCESS + id);
    m = nsc_protobuf_open(&at, DESCRIPTOR_PROCESS);
    at = nsc_protobuf_u64(at, PROCESS_PID, process->pid);
    at = put_text(at, PROCESS_NAME, process->name);
    nsc_protobuf_close(m, at);
    nsc_protobuf_close(descriptor, at);
    packet_close(p, packet, at);
}

/* Returns the thread id of the thread's own stack (stack 0), if @id is a further stack of it. */
static uint32_t own_stack(const struct perfetto *p, uint32_t id)
{
    const struct nsc_thread *thread = nsc_trace_thread(p->job->trace, id);

    for (uint32_t i = 0; thread->stack != 0 && i < p->job->info->thread_count; i++) {
        const struct nsc_thread *other = nsc_trace_thread(p->job->trace, i);

        if (other->stack == 0 && other->tid == thread->tid && other->process == thread->process)
            return i;
    }
    return id;
}

/* Writes the track of a thread. A further stack gets a track below the thread's. */
static void put_track(struct perfetto *p, uint32_t id)
{
    const struct nsc_thread *thread = nsc_trace_thread(p->job->trace, id);
    uint32_t parent = own_stack(p, id);
    uint8_t *at, *packet, *descriptor, *m;
    char name[32];

    if (parent != id)
        put_track(p, parent);
    at = packet_open(p, 1, 0, TEXT_MAX, &packet);
    descriptor = nsc_protobuf_open(&at, PACKET_TRACK_DESCRIPTOR);
    at = nsc_protobuf_u64(at, DESCRIPTOR_UUID, UUID_THREAD + id);
    if (parent != id) {
        snprintf(name, sizeof name, "stack %u", thread->stack);
        at = nsc_protobuf_u64(at, DESCRIPTOR_PARENT, UUID_THREAD + parent);
        at = nsc_protobuf_text(at, DESCRIPTOR_NAME, name);
    } else {
        at = nsc_protobuf_u64(at, DESCRIPTOR_PARENT, UUID_PROCESS + thread->process);
        m = nsc_protobuf_open(&at, DESCRIPTOR_THREAD);
        at = nsc_protobuf_u64(at, THREAD_PID,
                              nsc_trace_process(p->job->trace, thread->process)->pid);
        at = nsc_protobuf_u64(at, THREAD_TID, thread->tid);
        at = put_text(at, THREAD_NAME, thread->name);
        nsc_protobuf_close(m, at);
    }
    nsc_protobuf_close(descriptor, at);
    packet_close(p, packet, at);
}

/* Starts the thread's sequence at @ns. After this packet, its timestamps are differences. */
static void put_sequence_start(struct perfetto *p, uint64_t ns)
{
    uint8_t *packet, *m, *inner;
    uint8_t *at = packet_open(p, FIRST_SEQUENCE + p->thread, FLAG_CLEARED, 0, &packet);

    at = nsc_protobuf_u64(at, PACKET_FIRST_ON_SEQUENCE, 1);
    m = nsc_protobuf_open(&at, PACKET_CLOCK_SNAPSHOT);
    at = put_clock(at, CLOCK_DELTA_ID, ns, true);
    at = put_clock(at, CLOCK_BOOTTIME_ID, ns, false);
    nsc_protobuf_close(m, at);
    m = nsc_protobuf_open(&at, PACKET_DEFAULTS);
    inner = nsc_protobuf_open(&at, DEFAULTS_TRACK_EVENT);
    at = nsc_protobuf_u64(at, EVENT_DEFAULTS_TRACK_UUID, UUID_THREAD + p->thread);
    nsc_protobuf_close(inner, at);
    at = nsc_protobuf_u64(at, DEFAULTS_CLOCK_ID, CLOCK_DELTA_ID);
    nsc_protobuf_close(m, at);
    packet_close(p, packet, at);
    p->last_ns = ns;
}

/* ---- Events ------------------------------------------------------------------------------- */

/*
 * Writes the packet of nearly all events. It has at most 40 bytes, so each length fits one byte.
 * Fields that repeat come first, which compresses better with gzip.
 */
static void put_plain(struct perfetto *p, uint64_t delta_ns, uint32_t type, uint32_t iid)
{
    uint8_t *start = nsc_output_room(p->out, 64);
    uint8_t *at = start + 2, *event;

    at = nsc_protobuf_u64(at, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
    at = nsc_protobuf_u64(at, PACKET_SEQUENCE_ID, FIRST_SEQUENCE + p->thread);
    *at++ = NSC_PROTOBUF_BYTES(PACKET_TRACK_EVENT);
    event = ++at;
    at = nsc_protobuf_u64(at, EVENT_TYPE, type);
    if (iid != 0)
        at = nsc_protobuf_u64(at, EVENT_NAME_IID, iid);
    event[-1] = (uint8_t)(at - event);
    at = nsc_protobuf_u64(at, PACKET_TIMESTAMP, delta_ns);
    start[0] = NSC_PROTOBUF_BYTES(TRACE_PACKET);
    start[1] = (uint8_t)(at - start - 2);
    p->out->at = at;
}

static uint8_t *put_annotation(uint8_t *at, const char *name, const char *text)
{
    uint8_t *m = nsc_protobuf_open(&at, EVENT_ANNOTATIONS);

    at = nsc_protobuf_text(at, ANNOTATION_NAME, name);
    at = nsc_protobuf_text(at, ANNOTATION_STRING, text);
    nsc_protobuf_close(m, at);
    return at;
}

/* Writes annotations if the call's start or end is a bound or clipped. */
static uint8_t *put_bound(uint8_t *at, uint32_t bound)
{
    const char *bound_sides = nsc_model_bound_name(bound);
    const char *cut_sides = nsc_model_bound_name(nsc_walk_clipped(bound));

    if (bound_sides != NULL)
        at = put_annotation(at, "bound", bound_sides);
    if (cut_sides != NULL)
        at = put_annotation(at, "clipped", cut_sides);
    return at;
}

/* Writes the first begin of a function in the sequence, with its name and source location. */
static int put_first_begin(struct perfetto *p, uint64_t delta_ns, uint32_t function, uint32_t bound)
{
    const struct nsc_function *f = nsc_trace_function(p->job->trace, function);
    const struct nsc_cooked *name = nsc_export_name(p->job, function);
    bool has_file = f->file[0] != '\0';
    uint32_t iid = ++p->next_iid;
    uint8_t *at, *packet, *data, *m;

    if (name == NULL)
        return -ENOMEM;
    p->stamps[function] = p->thread + 1;
    p->iids[function] = iid;
    at = packet_open(p, FIRST_SEQUENCE + p->thread, FLAG_NEEDS_STATE, 2 * TEXT_MAX, &packet);
    data = nsc_protobuf_open(&at, PACKET_INTERNED_DATA);
    m = nsc_protobuf_open(&at, INTERNED_EVENT_NAMES);
    at = nsc_protobuf_u64(at, NAME_IID, iid);
    at = nsc_protobuf_bytes(at, NAME_TEXT, name->text,
                            nsc_names_fit(name->text, name->bytes, TEXT_MAX));
    nsc_protobuf_close(m, at);
    if (has_file) {
        m = nsc_protobuf_open(&at, INTERNED_SOURCES);
        at = nsc_protobuf_u64(at, SOURCE_IID, iid);
        at = put_text(at, SOURCE_FILE, f->file);
        at = nsc_protobuf_u64(at, SOURCE_LINE, f->line);
        nsc_protobuf_close(m, at);
    }
    nsc_protobuf_close(data, at);
    m = nsc_protobuf_open(&at, PACKET_TRACK_EVENT);
    at = nsc_protobuf_u64(at, EVENT_TYPE, TYPE_BEGIN);
    at = nsc_protobuf_u64(at, EVENT_NAME_IID, iid);
    if (has_file)
        at = nsc_protobuf_u64(at, EVENT_SOURCE_IID, iid);
    at = put_bound(at, bound);
    nsc_protobuf_close(m, at);
    at = nsc_protobuf_u64(at, PACKET_TIMESTAMP, delta_ns);
    packet_close(p, packet, at);
    return 0;
}

/* Writes a begin or an end with a bound. @iid: of the name of a begin; 0 for an end. */
static void put_bounded(struct perfetto *p, uint64_t delta_ns, uint32_t type, uint32_t iid,
                        uint32_t bound)
{
    uint8_t *packet, *m;
    uint8_t *at = packet_open(p, FIRST_SEQUENCE + p->thread, FLAG_NEEDS_STATE, 0, &packet);

    m = nsc_protobuf_open(&at, PACKET_TRACK_EVENT);
    at = nsc_protobuf_u64(at, EVENT_TYPE, type);
    if (iid != 0)
        at = nsc_protobuf_u64(at, EVENT_NAME_IID, iid);
    at = put_bound(at, bound);
    nsc_protobuf_close(m, at);
    at = nsc_protobuf_u64(at, PACKET_TIMESTAMP, delta_ns);
    packet_close(p, packet, at);
}

static void put_gap(struct perfetto *p, uint64_t delta_ns, const char *name, uint64_t count)
{
    uint8_t *packet, *m, *annotation;
    uint8_t *at = packet_open(p, FIRST_SEQUENCE + p->thread, FLAG_NEEDS_STATE, 0, &packet);

    m = nsc_protobuf_open(&at, PACKET_TRACK_EVENT);
    at = nsc_protobuf_u64(at, EVENT_TYPE, TYPE_INSTANT);
    at = nsc_protobuf_text(at, EVENT_NAME, name);
    annotation = nsc_protobuf_open(&at, EVENT_ANNOTATIONS);
    at = nsc_protobuf_text(at, ANNOTATION_NAME, "count");
    at = nsc_protobuf_u64(at, ANNOTATION_UINT, count);
    nsc_protobuf_close(annotation, at);
    nsc_protobuf_close(m, at);
    at = nsc_protobuf_u64(at, PACKET_TIMESTAMP, delta_ns);
    packet_close(p, packet, at);
}

static int put_event(struct perfetto *p, const struct nsc_walk_event *e)
{
    uint64_t ns = p->offset_ns + nsc_clock_ns(p->job->clock, e->ticks);
    uint64_t delta = ns > p->last_ns ? ns - p->last_ns : 0;

    p->last_ns += delta;
    switch ((enum nsc_walk_kind)e->kind) {
    case NSC_WALK_BEGIN:
        if (p->stamps[e->function] != p->thread + 1)
            return put_first_begin(p, delta, e->function, e->bound);
        if (e->bound != 0)
            put_bounded(p, delta, TYPE_BEGIN, p->iids[e->function], e->bound);
        else
            put_plain(p, delta, TYPE_BEGIN, p->iids[e->function]);
        break;
    case NSC_WALK_END:
        if (e->bound != 0)
            put_bounded(p, delta, TYPE_END, 0, e->bound);
        else
            put_plain(p, delta, TYPE_END, 0);
        break;
    case NSC_WALK_LOST:
        put_gap(p, delta, e->left_out > 0 ? "events left out" : "events lost",
                e->value + e->left_out);
        break;
    case NSC_WALK_LATE:
        break;
    }
    return nsc_output_error(p->out);
}

static void begin_thread(struct perfetto *p)
{
    if (p->begun)
        return;
    put_process(p, nsc_trace_thread(p->job->trace, p->thread)->process);
    put_track(p, p->thread);
    p->begun = true;
}

static int export_thread(struct perfetto *p, uint32_t thread, struct nsc_diag *diag)
{
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    int more = 0, error = nsc_export_walk(p->job, thread, false, &walk, diag);

    if (error != 0)
        return error;
    p->next_iid = 0;
    while (error == 0 && (more = nsc_export_next(p->job, thread, walk, &event, diag)) > 0) {
        if (!p->begun) {
            begin_thread(p);
            put_sequence_start(p, p->offset_ns + nsc_clock_ns(p->job->clock, event.ticks));
        }
        error = put_event(p, &event);
    }
    nsc_export_walked(p->job, walk);
    if (error == -ENOMEM && nsc_output_error(p->out) == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return more < 0 ? more : 0; /* nsc_output_finish() reports output errors */
}

/* ---- Samples, states, marks, counters ----------------------------------------------------- */

/*
 * Notes are on sequence 1, which belongs to no thread. Each of their packets has its full time, its
 * name and its track, so they need not be in time order with the calls.
 */

/* Writes the descriptor of a track below the owner's. @unit: of a counter, or UNIT_NONE. Returns
 * its UUID. */
static uint64_t put_note_track(struct perfetto *p, const char *name, bool counter, uint32_t unit)
{
    uint64_t uuid = p->notes_uuid++;
    uint8_t *at, *packet, *descriptor, *m;

    at = packet_open(p, 1, 0, TEXT_MAX, &packet);
    descriptor = nsc_protobuf_open(&at, PACKET_TRACK_DESCRIPTOR);
    at = nsc_protobuf_u64(at, DESCRIPTOR_UUID, uuid);
    at = nsc_protobuf_u64(at, DESCRIPTOR_PARENT, p->owner_uuid);
    at = put_text(at, DESCRIPTOR_NAME, name);
    if (counter) {
        m = nsc_protobuf_open(&at, DESCRIPTOR_COUNTER);
        if (unit != UNIT_NONE)
            at = nsc_protobuf_u64(at, COUNTER_UNIT, unit);
        nsc_protobuf_close(m, at);
    }
    nsc_protobuf_close(descriptor, at);
    packet_close(p, packet, at);
    return uuid;
}

static uint64_t note_ns(const struct perfetto *p, const struct nsc_note *note)
{
    return p->offset_ns + nsc_clock_ns(p->job->clock, note->ticks);
}

/* Starts an event on @track with room for @bytes of text. */
static uint8_t *note_open(struct perfetto *p, uint64_t ns, uint64_t track, uint32_t type,
                          size_t bytes, uint8_t **packet, uint8_t **event)
{
    uint8_t *at = packet_open(p, 1, 0, bytes, packet);

    at = nsc_protobuf_u64(at, PACKET_TIMESTAMP, ns);
    *event = nsc_protobuf_open(&at, PACKET_TRACK_EVENT);
    at = nsc_protobuf_u64(at, EVENT_TYPE, type);
    return nsc_protobuf_u64(at, EVENT_TRACK_UUID, track);
}

static void put_count(struct perfetto *p, uint64_t ns, uint64_t track, uint64_t value)
{
    uint8_t *packet, *event, *at = note_open(p, ns, track, TYPE_COUNTER, 0, &packet, &event);

    at = nsc_protobuf_u64(at, EVENT_COUNTER, value); /* an int64: two's complement */
    nsc_protobuf_close(event, at);
    packet_close(p, packet, at);
}

static void put_sample(struct perfetto *p, const struct nsc_note *note)
{
    static const uint8_t units[NSC_SAMPLE_FIELDS] = {
        [NSC_SAMPLE_CPU_NS] = UNIT_NS,
        [NSC_SAMPLE_MAJOR_FAULTS] = UNIT_COUNT,
        [NSC_SAMPLE_MINOR_FAULTS] = UNIT_COUNT,
        [NSC_SAMPLE_SWITCHES] = UNIT_COUNT,
        [NSC_SAMPLE_PREEMPTIONS] = UNIT_COUNT,
        [NSC_SAMPLE_PROCESS_BYTES] = UNIT_BYTES,
        [NSC_SAMPLE_PROCESS_OBJECTS] = UNIT_COUNT,
        [NSC_SAMPLE_ALLOCATED_BYTES] = UNIT_BYTES,
        [NSC_SAMPLE_FREED_BYTES] = UNIT_BYTES,
    };

    for (int i = 0; i < NSC_SAMPLE_FIELDS; i++) {
        if ((note->sample.known >> i & 1) == 0)
            continue;
        if (p->fields[i] == 0)
            p->fields[i] = put_note_track(p, nsc_model_sample_field_name((enum nsc_sample_field)i),
                                          true, units[i]);
        put_count(p, note_ns(p, note), p->fields[i], note->sample.values[i]);
    }
}

/* Ends the slice of the current state. States are consecutive slices; the first one begins at the
 * first change. */
static void end_state(struct perfetto *p, uint64_t ns)
{
    uint8_t *packet, *event, *at;

    if (!p->in_state)
        return;
    at = note_open(p, ns, p->states, TYPE_END, 0, &packet, &event);
    nsc_protobuf_close(event, at);
    packet_close(p, packet, at);
    p->in_state = false;
}

/* Returns the name of a state. For a state without a name, formats its number into @number. */
static const char *state_text(uint32_t state, char number[16])
{
    const char *name = nsc_model_state_name(state);

    snprintf(number, 16, "%u", state);
    return name != NULL ? name : number;
}

/* Writes a change of state. The change to "dead" is an instant, since no state follows. */
static void put_state(struct perfetto *p, const struct nsc_note *note)
{
    bool dead = note->state.new_state == NSC_STATE_DEAD;
    uint8_t *packet, *event, *at;
    char number[16];

    if (p->states == 0)
        p->states = put_note_track(p, "state", false, UNIT_NONE);
    p->last_state_ns = note_ns(p, note);
    end_state(p, p->last_state_ns);
    at = note_open(p, p->last_state_ns, p->states, dead ? TYPE_INSTANT : TYPE_BEGIN, 0, &packet,
                   &event);
    at = nsc_protobuf_text(at, EVENT_NAME, state_text(note->state.new_state, number));
    if (note->state.old_state != p->last_state)
        at = put_annotation(at, "from", state_text(note->state.old_state, number));
    nsc_protobuf_close(event, at);
    packet_close(p, packet, at);
    p->in_state = !dead;
    p->last_state = note->state.new_state;
}

static void put_mark(struct perfetto *p, const struct nsc_note *note)
{
    uint8_t *packet, *event, *m;
    uint8_t *at =
        note_open(p, note_ns(p, note), p->owner_uuid, TYPE_INSTANT, 2 * TEXT_MAX, &packet, &event);

    at = put_text(at, EVENT_NAME, note->mark.name);
    if (note->mark.metadata[0] != '\0') {
        m = nsc_protobuf_open(&at, EVENT_ANNOTATIONS);
        at = nsc_protobuf_text(at, ANNOTATION_NAME, "metadata");
        at = put_text(at, ANNOTATION_STRING, note->mark.metadata);
        nsc_protobuf_close(m, at);
    }
    if (note->mark.cut) {
        m = nsc_protobuf_open(&at, EVENT_ANNOTATIONS);
        at = nsc_protobuf_text(at, ANNOTATION_NAME, "cut");
        at = nsc_protobuf_u64(at, ANNOTATION_BOOL, 1);
        nsc_protobuf_close(m, at);
    }
    nsc_protobuf_close(event, at);
    packet_close(p, packet, at);
}

static int put_counter(struct perfetto *p, const struct nsc_note *note)
{
    const struct nsc_counter *counter = &note->counter;
    struct nsc_names_entry *track;
    uint8_t *packet, *event, *at;
    int error = nsc_names_find(&p->tracks, counter->name, strlen(counter->name), &track);

    if (error != 0)
        return error;
    if (track->id == UINT32_MAX)
        track->id = (uint32_t)(put_note_track(p, counter->name, true, UNIT_NONE) - UUID_NOTES);
    if (!counter->is_real) {
        put_count(p, note_ns(p, note), UUID_NOTES + track->id, (uint64_t)counter->integer);
        return 0;
    }
    at = note_open(p, note_ns(p, note), UUID_NOTES + track->id, TYPE_COUNTER, 0, &packet, &event);
    at = nsc_protobuf_double(at, EVENT_COUNTER_REAL, counter->real);
    nsc_protobuf_close(event, at);
    packet_close(p, packet, at);
    return 0;
}

static int put_note(void *context, const struct nsc_note *note)
{
    struct perfetto *p = context;
    int error = 0;

    switch ((enum nsc_note_kind)note->kind) {
    case NSC_NOTE_SAMPLE:
        put_sample(p, note);
        break;
    case NSC_NOTE_STATE:
        put_state(p, note);
        break;
    case NSC_NOTE_MARK:
        put_mark(p, note);
        break;
    case NSC_NOTE_COUNTER:
        error = put_counter(p, note);
        break;
    case NSC_NOTE_KINDS:
        break;
    }
    return error != 0 ? error : nsc_output_error(p->out);
}

/* Writes the notes of one kind of a thread or process. */
static int export_owner(struct perfetto *p, enum nsc_note_kind kind, uint32_t owner,
                        bool of_process, struct nsc_diag *diag)
{
    int error = nsc_export_notes(p->job, kind, owner, of_process, put_note, p, diag);

    if (error == -ENOMEM && nsc_output_error(p->out) == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return nsc_output_error(p->out) != 0 ? 0 : error;
}

static void begin_owner(struct perfetto *p, uint64_t uuid)
{
    p->owner_uuid = uuid;
    nsc_names_free(&p->tracks);
    memset(p->fields, 0, sizeof p->fields);
    p->states = 0;
    p->in_state = false;
    p->last_state = NSC_STATE_UNKNOWN;
}

static int export_notes(struct perfetto *p, uint32_t thread, struct nsc_diag *diag)
{
    const struct nsc_thread *th = nsc_trace_thread(p->job->trace, thread);
    uint64_t end =
        th->end_ticks < p->job->options.to_ticks ? th->end_ticks : p->job->options.to_ticks;
    uint64_t end_ns = p->offset_ns + nsc_clock_ns(p->job->clock, end);
    int error = 0;

    begin_thread(p);
    begin_owner(p, UUID_THREAD + thread);
    for (int kind = 0; kind < NSC_NOTE_KINDS && error == 0; kind++)
        error = export_owner(p, (enum nsc_note_kind)kind, thread, false, diag);
    end_state(p, end_ns > p->last_state_ns ? end_ns : p->last_state_ns);
    return error;
}

static int export_process_counters(struct perfetto *p, uint32_t process, struct nsc_diag *diag)
{
    put_process(p, process);
    begin_owner(p, UUID_PROCESS + process);
    return export_owner(p, NSC_NOTE_COUNTER, process, true, diag);
}

/* Returns the offset from ns since the trace's origin to the boot clock; 0 if unknown. */
static uint64_t boot_offset(const struct nsc_export *job)
{
    const struct nsc_clock_point *point;
    uint64_t since_origin;

    if (job->info->clock_count == 0 || nsc_trace_clock_point(job->trace, 0)->boottime_ns == 0)
        return 0;
    point = nsc_trace_clock_point(job->trace, 0);
    if (point->ticks < job->clock->origin_ticks)
        return point->boottime_ns +
               nsc_clock_span_ns(job->clock, job->clock->origin_ticks - point->ticks);
    since_origin = nsc_clock_ns(job->clock, point->ticks);
    return point->boottime_ns > since_origin ? point->boottime_ns - since_origin : 0;
}

static int export_all(struct perfetto *p, struct nsc_diag *diag)
{
    struct nsc_export *job = p->job;
    int error = 0;

    put_clocks(p);
    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++) {
        p->thread = i;
        p->begun = false;
        if (nsc_export_wants(job, i))
            error = export_thread(p, i, diag);
        if (error == 0 && nsc_export_wants_notes(job, i))
            error = export_notes(p, i, diag);
    }
    for (uint32_t i = 0; i < job->info->process_count && error == 0; i++)
        if (nsc_export_wants_process(job, i) &&
            nsc_trace_note_count(job->trace, NSC_NOTE_COUNTER, i, true) > 0)
            error = export_process_counters(p, i, diag);
    return error;
}

static int export_perfetto(struct nsc_export *job, struct nsc_diag *diag)
{
    struct perfetto p = {.job = job, .offset_ns = boot_offset(job), .notes_uuid = UUID_NOTES + 1};
    size_t functions = (size_t)job->info->function_count + 1;
    int error = nsc_output_create(job->path, job->gzip, &p.out, diag);

    if (error != 0)
        return error;
    p.iids = calloc(functions, sizeof *p.iids);
    p.stamps = calloc(functions, sizeof *p.stamps);
    p.described = calloc((size_t)job->info->process_count + 1, 1);
    if (p.iids == NULL || p.stamps == NULL || p.described == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else
        error = export_all(&p, diag);
    free(p.iids);
    free(p.stamps);
    free(p.described);
    nsc_names_free(&p.tracks);
    return nsc_export_publish(job, p.out, error, diag);
}

/* The file must begin with a packet, followed by another one or the end. */
static bool sniff_packets(const uint8_t *bytes, size_t count)
{
    uint64_t length = 0;
    size_t at = 1;

    if (bytes[0] != (TRACE_PACKET << 3 | 2))
        return false;
    for (unsigned shift = 0; at < count && shift < 35; shift += 7) {
        length |= (uint64_t)(bytes[at] & 0x7f) << shift;
        if ((bytes[at++] & 0x80) == 0)
            return length > 0 && (length >= count - at || bytes[at + length] == bytes[0]);
    }
    return false;
}

static const char *const perfetto_suffixes[] = {".pftrace", ".perfetto-trace", ".perfetto", NULL};

const struct nsc_exporter nsc_perfetto_exporter = {
    .name = "perfetto",
    .suffixes = perfetto_suffixes,
    .sniff = sniff_packets,
    .form = NSC_FORM_BINARY,
    .cook = nsc_names_utf8,
    .run = export_perfetto,
};
