/* perfetto_state.c - see perfetto_state.h. */
#include "formats/perfetto/perfetto_state.h"

#include <stdio.h>
#include <string.h>

#include "formats/perfetto/perfetto_fields.h"
#include "util/array.h"

#define PARENTS_MAX  16 /* levels of parents searched for a thread or process */
#define SNAPSHOT_MAX 64 /* clocks read from one snapshot */

void nsc_perfetto_clear(struct nsc_perfetto_sequence *q)
{
    for (int i = 0; i < 3; i++)
        nsc_id_map_free(&q->by_iid[i]);
    for (uint32_t i = 0; i < q->name_count; i++)
        free(q->names[i].text);
    free(q->names);
    q->names = NULL;
    q->name_count = q->name_room = 0;
}

void nsc_perfetto_state_free(struct nsc_perfetto_state *s)
{
    for (uint32_t i = 0; i < s->sequence_count; i++)
        nsc_perfetto_clear(&s->sequences[i]);
    for (uint32_t i = 0; i < s->sequence_count; i++)
        nsc_id_map_free(&s->sequences[i].gaps_told);
    for (uint32_t i = 0; i < s->track_count; i++)
        free(s->tracks[i].name);
    free(s->sequences);
    free(s->clocks);
    free(s->tracks);
    nsc_id_map_free(&s->by_sequence);
    nsc_id_map_free(&s->by_clock);
    nsc_id_map_free(&s->by_uuid);
}

struct nsc_perfetto_sequence *nsc_perfetto_sequence(struct nsc_perfetto_state *s, uint32_t id)
{
    uint32_t index = nsc_id_map_get(&s->by_sequence, id);
    struct nsc_perfetto_sequence *all;

    if (index != NSC_ID_MAP_NEW)
        return &s->sequences[index];
    all = nsc_array_grow(s->sequences, &s->sequence_room, s->sequence_count, sizeof *all);
    if (all == NULL)
        return NULL;
    s->sequences = all;
    all[s->sequence_count] = (struct nsc_perfetto_sequence){.id = id, .last_track = NSC_NO_ID};
    if (nsc_id_map_put(&s->by_sequence, id, s->sequence_count) != 0)
        return NULL;
    return &all[s->sequence_count++];
}

static char *text_copy(const struct nsc_span *text)
{
    char *copy = malloc(nsc_span_left(text) + 1);

    if (copy == NULL)
        return NULL;
    if (nsc_span_left(text) > 0)
        memcpy(copy, text->at, nsc_span_left(text));
    copy[nsc_span_left(text)] = '\0';
    return copy;
}

/* ---- Interned data ------------------------------------------------------------------------ */

static int intern(struct nsc_perfetto_sequence *q, enum nsc_perfetto_intern kind,
                  struct nsc_span message)
{
    struct nsc_perfetto_name *all, name = {.function = NSC_NO_ID};
    struct nsc_span text = {0};
    struct nsc_protobuf_field field;
    uint64_t iid = 0;

    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == NAME_IID)
            iid = field.value;
        else if (field.number == NAME_TEXT)
            text = field.bytes;
        else if (field.number == SOURCE_LINE && kind == NSC_PERFETTO_SOURCE)
            name.line = (uint32_t)field.value;
    }
    if (message.bad)
        return -EBADMSG;
    all = nsc_array_grow(q->names, &q->name_room, q->name_count, sizeof *all);
    if (all == NULL || (name.text = text_copy(&text)) == NULL)
        return -ENOMEM;
    name.bytes = nsc_span_left(&text);
    q->names = all;
    all[q->name_count++] = name;
    return nsc_id_map_put(&q->by_iid[kind], iid, q->name_count - 1);
}

int nsc_perfetto_take_interned(struct nsc_perfetto_sequence *q, struct nsc_span message)
{
    struct nsc_protobuf_field field;
    int error = 0;

    while (error == 0 && nsc_protobuf_next(&message, &field)) {
        if (!field.is_bytes)
            continue;
        if (field.number == INTERNED_EVENT_NAMES)
            error = intern(q, NSC_PERFETTO_EVENT, field.bytes);
        else if (field.number == INTERNED_ANNOTATION_NAMES)
            error = intern(q, NSC_PERFETTO_ANNOTATION, field.bytes);
        else if (field.number == INTERNED_SOURCES)
            error = intern(q, NSC_PERFETTO_SOURCE, field.bytes);
    }
    return error != 0 ? error : message.bad ? -EBADMSG : 0;
}

struct nsc_perfetto_name *nsc_perfetto_name(struct nsc_perfetto_sequence *q,
                                            enum nsc_perfetto_intern kind, uint64_t iid)
{
    uint32_t index = nsc_id_map_get(&q->by_iid[kind], iid);

    return index == NSC_ID_MAP_NEW ? NULL : &q->names[index];
}

/* ---- Clocks ------------------------------------------------------------------------------- */

struct reading {
    uint64_t timestamp, multiplier;
    uint32_t id;
    bool incremental;
};

/* Key of a clock. Clock ids from 64 to 127 are local to a sequence. */
static uint64_t clock_key(uint32_t sequence, uint32_t id)
{
    return id >= 64 && id < 128 ? ((uint64_t)sequence + 1) << 32 | id : id;
}

static struct nsc_perfetto_clock *find_clock(const struct nsc_perfetto_state *s, uint32_t sequence,
                                             uint32_t id)
{
    uint32_t index = nsc_id_map_get(&s->by_clock, clock_key(sequence, id));

    return index == NSC_ID_MAP_NEW ? NULL : &s->clocks[index];
}

static bool read_clock(struct nsc_span message, struct reading *r)
{
    struct nsc_protobuf_field field;

    *r = (struct reading){.multiplier = 1};
    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == CLOCK_ID)
            r->id = (uint32_t)field.value;
        else if (field.number == CLOCK_TIMESTAMP)
            r->timestamp = field.value;
        else if (field.number == CLOCK_INCREMENTAL)
            r->incremental = field.value != 0;
        else if (field.number == CLOCK_MULTIPLIER && field.value != 0)
            r->multiplier = field.value;
    }
    return !message.bad;
}

/*
 * Returns the time of a snapshot on the trace's clock, which is the boot clock. Uses the boot
 * clock's reading; else that of a clock known from an earlier snapshot; else the first reading.
 */
static uint64_t snapshot_ns(const struct nsc_perfetto_state *s, uint32_t sequence,
                            const struct reading *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].id == CLOCK_BOOTTIME_ID)
            return all[i].timestamp * all[i].multiplier;
    for (uint32_t i = 0; i < count; i++) {
        const struct nsc_perfetto_clock *known = find_clock(s, sequence, all[i].id);

        if (known != NULL)
            return all[i].timestamp * known->multiplier + known->offset;
    }
    return count > 0 ? all[0].timestamp * all[0].multiplier : 0;
}

static int set_clock(struct nsc_perfetto_state *s, uint32_t sequence, const struct reading *r,
                     uint64_t ns)
{
    struct nsc_perfetto_clock *clock = find_clock(s, sequence, r->id);

    if (clock == NULL) {
        struct nsc_perfetto_clock *all =
            nsc_array_grow(s->clocks, &s->clock_room, s->clock_count, sizeof *all);

        if (all == NULL ||
            nsc_id_map_put(&s->by_clock, clock_key(sequence, r->id), s->clock_count) != 0)
            return -ENOMEM;
        s->clocks = all;
        clock = &all[s->clock_count++];
    }
    *clock = (struct nsc_perfetto_clock){.incremental = r->incremental,
                                         .multiplier = r->multiplier,
                                         .last = r->timestamp,
                                         .offset = ns - r->timestamp * r->multiplier};
    return 0;
}

/* Keeps the first reading of the system's clocks, at @ns. Replaces it by the first one with
 * CLOCK_REALTIME. */
static void note_clocks(struct nsc_perfetto_state *s, const struct reading *all, uint32_t count,
                        uint64_t ns)
{
    struct nsc_clock_point point = {.ticks = ns};
    bool known = false;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t reading = all[i].timestamp * all[i].multiplier;

        if (all[i].id == CLOCK_BOOTTIME_ID)
            point.boottime_ns = reading;
        else if (all[i].id == CLOCK_MONOTONIC_ID)
            point.monotonic_ns = reading;
        else if (all[i].id == CLOCK_REALTIME_ID)
            point.realtime_ns = reading;
        else
            continue;
        known = true;
    }
    if (!known || ns >= NSC_INTAKE_TIME_LIMIT)
        return;
    if (!s->has_clocks || (s->clocks_read.realtime_ns == 0 && point.realtime_ns != 0))
        s->clocks_read = point;
    s->has_clocks = true;
}

int nsc_perfetto_take_clocks(struct nsc_perfetto_state *s, uint32_t sequence,
                             struct nsc_span message)
{
    struct reading all[SNAPSHOT_MAX];
    struct nsc_protobuf_field field;
    uint32_t count = 0;
    uint64_t ns;
    int error = 0;

    while (nsc_protobuf_next(&message, &field))
        if (field.number == SNAPSHOT_CLOCKS && field.is_bytes && count < SNAPSHOT_MAX &&
            !read_clock(field.bytes, &all[count++]))
            return -EBADMSG;
    if (message.bad)
        return -EBADMSG;
    ns = snapshot_ns(s, sequence, all, count);
    note_clocks(s, all, count, ns);
    for (uint32_t i = 0; i < count && error == 0; i++)
        if (all[i].id != CLOCK_BOOTTIME_ID)
            error = set_clock(s, sequence, &all[i], ns);
    return error;
}

uint64_t nsc_perfetto_ns(struct nsc_perfetto_state *s, uint32_t sequence, uint32_t clock,
                         uint64_t timestamp)
{
    struct nsc_perfetto_clock *c;

    if (clock == 0 || clock == CLOCK_BOOTTIME_ID)
        return timestamp;
    c = find_clock(s, sequence, clock);
    if (c == NULL) {
        s->untied++;
        return timestamp;
    }
    if (c->incremental)
        timestamp = c->last += timestamp;
    if (__builtin_mul_overflow(timestamp, c->multiplier, &timestamp))
        return NSC_INTAKE_TIME_LIMIT;
    return timestamp + c->offset;
}

/* ---- Tracks ------------------------------------------------------------------------------- */

struct nsc_perfetto_track *nsc_perfetto_track(struct nsc_perfetto_state *s, uint64_t uuid)
{
    uint32_t index = nsc_id_map_get(&s->by_uuid, uuid);
    struct nsc_perfetto_track *all;

    if (index != NSC_ID_MAP_NEW)
        return &s->tracks[index];
    all = nsc_array_grow(s->tracks, &s->track_room, s->track_count, sizeof *all);
    if (all == NULL)
        return NULL;
    s->tracks = all;
    all[s->track_count] = (struct nsc_perfetto_track){
        .uuid = uuid, .multiplier = 1, .slices = NSC_NO_ID, .owner = NSC_NO_ID};
    if (nsc_id_map_put(&s->by_uuid, uuid, s->track_count) != 0)
        return NULL;
    return &all[s->track_count++];
}

/* Reads the part of a descriptor that makes a track that of a process or thread. Returns false if
 * it is damaged. */
static bool read_owner(struct nsc_perfetto_track *t, struct nsc_span message, bool thread,
                       struct nsc_span *name)
{
    struct nsc_protobuf_field field;

    t->kind = thread ? NSC_PERFETTO_THREAD : NSC_PERFETTO_PROCESS;
    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == PROCESS_PID) /* as THREAD_PID */
            t->pid = (uint32_t)field.value;
        else if (thread && field.number == THREAD_TID)
            t->tid = (uint32_t)field.value;
        else if (field.is_bytes && field.number == (thread ? THREAD_NAME : PROCESS_NAME))
            *name = field.bytes;
    }
    return !message.bad;
}

static bool read_counter(struct nsc_perfetto_track *t, struct nsc_span message)
{
    struct nsc_protobuf_field field;

    t->kind = NSC_PERFETTO_COUNTER;
    while (nsc_protobuf_next(&message, &field)) {
        if (field.number == COUNTER_MULTIPLIER && field.value != 0)
            t->multiplier = field.value;
        else if (field.number == COUNTER_INCREMENTAL)
            t->incremental = field.value != 0;
    }
    return !message.bad;
}

/* Reads a track descriptor. @owner_name: receives the name of its process or thread. Returns false
 * if it is damaged. */
static bool read_track(struct nsc_perfetto_track *t, struct nsc_span message, struct nsc_span *name,
                       struct nsc_span *owner_name)
{
    struct nsc_protobuf_field field;
    bool good = true;

    while (good && nsc_protobuf_next(&message, &field)) {
        if (field.number == DESCRIPTOR_PARENT)
            t->parent = field.value;
        else if (!field.is_bytes)
            continue;
        else if (field.number == DESCRIPTOR_NAME || field.number == DESCRIPTOR_STATIC_NAME)
            *name = field.bytes;
        else if (field.number == DESCRIPTOR_PROCESS && t->kind != NSC_PERFETTO_THREAD)
            good = read_owner(t, field.bytes, false, owner_name);
        else if (field.number == DESCRIPTOR_THREAD)
            good = read_owner(t, field.bytes, true, owner_name);
        else if (field.number == DESCRIPTOR_COUNTER)
            good = read_counter(t, field.bytes);
    }
    return good && !message.bad;
}

static uint64_t uuid_of(struct nsc_span message)
{
    struct nsc_protobuf_field field;
    uint64_t uuid = 0;

    while (nsc_protobuf_next(&message, &field))
        if (field.number == DESCRIPTOR_UUID)
            uuid = field.value;
    return uuid;
}

/* Returns the closest thread or process above a track, or NULL. */
static const struct nsc_perfetto_track *above(const struct nsc_perfetto_state *s,
                                              const struct nsc_perfetto_track *t)
{
    for (int i = 0; i < PARENTS_MAX; i++) {
        uint32_t index = nsc_id_map_get(&s->by_uuid, t->parent);

        if (t->parent == 0 || index == NSC_ID_MAP_NEW)
            return NULL;
        t = &s->tracks[index];
        if (t->kind == NSC_PERFETTO_THREAD || t->kind == NSC_PERFETTO_PROCESS)
            return t;
    }
    return NULL;
}

/* Forgets the intake tracks of a track: they no longer fit its owner. */
static void forget_places(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t)
{
    s->late += t->slices != NSC_NO_ID || t->owner != NSC_NO_ID;
    t->slices = t->owner = NSC_NO_ID;
    t->of_thread = t->is_states = t->free = t->borrowed = t->orphan = false;
}

/* Called when a descriptor gives a track another owner or kind. If the track is a thread now, its
 * earlier events become that thread's, if possible. */
static void change_owner(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t)
{
    s->descriptions++;
    if (t->kind == NSC_PERFETTO_THREAD && t->free && t->slices != NSC_NO_ID &&
        nsc_intake_adopt(s->in, t->slices, nsc_intake_process(s->in, t->pid), t->tid))
        t->free = t->orphan = false;
    else
        forget_places(s, t);
}

/* Searches again for the owner of an orphan: its parent may have been described after its first
 * event. */
static void look_above_again(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t)
{
    if (!t->orphan || t->seen == s->descriptions)
        return;
    t->seen = s->descriptions;
    if (above(s, t) != NULL)
        forget_places(s, t);
}

int nsc_perfetto_take_track(struct nsc_perfetto_state *s, struct nsc_span message)
{
    struct nsc_perfetto_track *t = nsc_perfetto_track(s, uuid_of(message)), before;
    struct nsc_span name = {0}, owner_name = {0};

    if (t == NULL)
        return -ENOMEM;
    before = *t;
    if (!read_track(t, message, &name, &owner_name))
        return -EBADMSG;
    if (t->kind != before.kind || t->pid != before.pid || t->tid != before.tid ||
        (t->parent != before.parent && t->kind != NSC_PERFETTO_THREAD))
        change_owner(s, t);
    if (nsc_span_left(&name) == 0 && t->kind == NSC_PERFETTO_THREAD)
        name = owner_name;
    if (nsc_span_left(&name) > 0) {
        free(t->name);
        t->name = text_copy(&name);
        if (t->name == NULL)
            return -ENOMEM;
        if (t->slices != NSC_NO_ID && !t->borrowed) /* the name came after the first event */
            nsc_intake_name_track(s->in, t->slices, t->name, strlen(t->name));
    }
    if (t->kind == NSC_PERFETTO_PROCESS && nsc_span_left(&owner_name) > 0)
        nsc_intake_name_process(s->in, nsc_intake_process(s->in, t->pid),
                                (const char *)owner_name.at, nsc_span_left(&owner_name));
    return 0;
}

static uint32_t thread_track(struct nsc_perfetto_state *s, const struct nsc_perfetto_track *t)
{
    uint32_t track = nsc_intake_track(s->in, nsc_intake_process(s->in, t->pid), t->tid, 0);

    if (t->name != NULL)
        nsc_intake_name_track(s->in, track, t->name, strlen(t->name));
    return track;
}

uint32_t nsc_perfetto_further(struct nsc_perfetto_state *s, const struct nsc_perfetto_track *t,
                              uint32_t own)
{
    uint32_t track = nsc_intake_further_stack(s->in, own);

    if (t->name != NULL)
        nsc_intake_name_track(s->in, track, t->name, strlen(t->name));
    return track;
}

/* Chooses the intake track of a track below a thread's: a further stack of the thread. Tracks
 * "stack N" and "state", as written by perfetto_export.c, become stack N and the thread's states.
 */
static uint32_t stack_track(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t,
                            const struct nsc_perfetto_track *thread)
{
    uint32_t own = thread_track(s, thread), stack;
    char rest;

    if (t->name != NULL && strcmp(t->name, "state") == 0) {
        t->is_states = t->borrowed = true;
        return own;
    }
    if (t->name != NULL && sscanf(t->name, "stack %9u%c", &stack, &rest) == 1 && stack > 0) {
        uint32_t track =
            nsc_intake_track(s->in, nsc_intake_process(s->in, thread->pid), thread->tid, stack);

        if (thread->name != NULL)
            nsc_intake_name_track(s->in, track, thread->name, strlen(thread->name));
        t->borrowed = true;
        return track;
    }
    return nsc_perfetto_further(s, t, own);
}

/* Marks a track as orphan if no owner is known. @owner: as returned by above(). */
static void note_orphan(const struct nsc_perfetto_state *s, struct nsc_perfetto_track *t,
                        const struct nsc_perfetto_track *owner)
{
    t->orphan = owner == NULL && t->parent != 0;
    t->seen = s->descriptions;
}

uint32_t nsc_perfetto_slices(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t)
{
    const struct nsc_perfetto_track *owner;

    look_above_again(s, t);
    if (t->slices != NSC_NO_ID)
        return t->slices;
    owner = t->kind == NSC_PERFETTO_THREAD ? t : above(s, t);
    if (t->kind == NSC_PERFETTO_THREAD) {
        t->slices = thread_track(s, t);
        return t->slices;
    }
    if (owner != NULL && owner->kind == NSC_PERFETTO_THREAD) {
        t->slices = stack_track(s, t, owner);
    } else {
        bool is_process = t->kind == NSC_PERFETTO_PROCESS;
        uint32_t pid = is_process ? t->pid : owner != NULL ? owner->pid : 0;

        t->slices = nsc_intake_free_track(s->in, nsc_intake_process(s->in, pid));
        t->free = true;
        if (!is_process)
            note_orphan(s, t, owner);
        if (t->name != NULL)
            nsc_intake_name_track(s->in, t->slices, t->name, strlen(t->name));
    }
    return t->slices;
}

uint32_t nsc_perfetto_owner(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t)
{
    const struct nsc_perfetto_track *owner;

    look_above_again(s, t);
    if (t->owner != NSC_NO_ID)
        return t->owner;
    owner = above(s, t);
    note_orphan(s, t, owner);
    if (owner != NULL && owner->kind == NSC_PERFETTO_THREAD) {
        t->owner = thread_track(s, owner);
        t->of_thread = true;
    } else {
        t->owner = nsc_intake_process_track(
            s->in, nsc_intake_process(s->in, owner != NULL ? owner->pid : 0));
    }
    return t->owner;
}
