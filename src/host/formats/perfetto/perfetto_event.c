/* perfetto_event.c - see perfetto_event.h. */
#include "formats/perfetto/perfetto_event.h"

#include "formats/perfetto/perfetto_fields.h"

/* Converts "start", "end" or "both", as written by perfetto_export.c, to NSC_BOUND_*. */
static uint32_t sides(const struct nsc_span *text)
{
    uint32_t both = nsc_perfetto_is(text, "both") ? NSC_BOUND_START | NSC_BOUND_END : 0;

    return both | (nsc_perfetto_is(text, "start") ? NSC_BOUND_START : 0) |
           (nsc_perfetto_is(text, "end") ? NSC_BOUND_END : 0);
}

/* Decodes a debug annotation. Returns false if it is damaged. */
static bool read_annotation(struct nsc_perfetto_event *e, struct nsc_perfetto_sequence *q,
                            struct nsc_span message)
{
    const struct nsc_perfetto_name *interned;
    struct nsc_span name = {0}, text = {0};
    struct nsc_protobuf_field field;
    uint64_t value = 0;

    e->annotations++;
    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == ANNOTATION_NAME) {
            name = field.bytes;
        } else if (field.number == ANNOTATION_NAME_IID) {
            interned = nsc_perfetto_name(q, NSC_PERFETTO_ANNOTATION, field.value);
            if (interned != NULL)
                name = nsc_span_of(interned->text, interned->bytes);
        } else if (field.number == ANNOTATION_STRING) {
            text = field.bytes;
        } else if (field.number == ANNOTATION_UINT || field.number == ANNOTATION_BOOL) {
            value = field.value;
        }
    }
    e->known++;
    if (nsc_perfetto_is(&name, "bound"))
        e->bounds |= sides(&text);
    else if (nsc_perfetto_is(&name, "clipped"))
        e->clipped |= sides(&text);
    else if (nsc_perfetto_is(&name, "metadata"))
        e->metadata = text;
    else if (nsc_perfetto_is(&name, "from"))
        e->from = text;
    else if (nsc_perfetto_is(&name, "cut"))
        e->cut = value != 0;
    else if (nsc_perfetto_is(&name, "count")) {
        e->lost = value;
        e->has_lost = true;
    } else {
        e->known--;
    }
    return !message.bad;
}

static void read_name(struct nsc_perfetto_event *e, struct nsc_perfetto_sequence *q, uint64_t iid)
{
    e->interned = nsc_perfetto_name(q, NSC_PERFETTO_EVENT, iid);
    if (e->interned != NULL && !e->has_name) {
        e->name = nsc_span_of(e->interned->text, e->interned->bytes);
        e->has_name = true;
    }
}

static void count_other(struct nsc_perfetto_event *e, uint32_t number)
{
    e->flows += number == EVENT_FLOWS_OLD || number == EVENT_FLOWS || number == EVENT_LAST_FLOWS;
    e->extra += number == EVENT_EXTRA_COUNTERS || number == EVENT_EXTRA_REAL_COUNTERS;
}

/* Decodes a LegacyEvent, which has a phase instead of a type, and a thread. Returns false if it is
 * damaged. */
static bool read_legacy(struct nsc_perfetto_event *e, struct nsc_perfetto_sequence *q,
                        struct nsc_span message)
{
    struct nsc_protobuf_field field;

    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == LEGACY_NAME_IID)
            read_name(e, q, field.value);
        else if (field.number == LEGACY_PHASE)
            e->phase = field.value < 128 ? (int)field.value : '?';
        else if (field.number == LEGACY_DURATION_US && field.value < NSC_INTAKE_TIME_LIMIT / 1000)
            e->duration_ns = field.value * 1000;
        else if (field.number == LEGACY_PID)
            e->pid = (uint32_t)field.value;
        else if (field.number == LEGACY_TID)
            e->tid = (uint32_t)field.value;
    }
    return !message.bad;
}

static uint32_t type_of_phase(int phase)
{
    if (phase == 'B')
        return TYPE_BEGIN;
    if (phase == 'E')
        return TYPE_END;
    return phase == 'i' || phase == 'I' || phase == 'R' ? TYPE_INSTANT : 0;
}

bool nsc_perfetto_event_read(struct nsc_perfetto_event *e, struct nsc_perfetto_sequence *q,
                             struct nsc_span message)
{
    struct nsc_protobuf_field field;
    bool good = true;

    *e = (struct nsc_perfetto_event){.duration_ns = NSC_NESTING_OPEN};
    while (good && nsc_protobuf_next(&message, &field)) {
        switch (field.number) {
        case EVENT_TYPE:
            e->type = (uint32_t)field.value;
            break;
        case EVENT_NAME_IID:
            read_name(e, q, field.value);
            break;
        case EVENT_NAME:
            e->name = field.bytes;
            e->has_name = true;
            break;
        case EVENT_TRACK_UUID:
            e->track = field.value;
            e->has_track = true;
            break;
        case EVENT_SOURCE:
            e->source = field.bytes;
            break;
        case EVENT_SOURCE_IID:
            e->source_iid = field.value;
            break;
        case EVENT_COUNTER:
        case EVENT_COUNTER_REAL:
            e->counter = field.value;
            e->is_real = field.number == EVENT_COUNTER_REAL;
            break;
        case EVENT_ANNOTATIONS:
            good = read_annotation(e, q, field.bytes);
            break;
        case EVENT_LEGACY:
            good = read_legacy(e, q, field.bytes);
            break;
        case EVENT_DELTA_US:
            e->delta_us = field.value;
            e->has_old_time = true;
            break;
        case EVENT_ABSOLUTE_US:
            e->absolute_us = field.value;
            e->has_old_time = true;
            break;
        default:
            count_other(e, field.number);
            break;
        }
    }
    if (e->type == 0)
        e->type = type_of_phase(e->phase);
    return good && !message.bad;
}
