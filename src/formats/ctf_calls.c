/*
 * ctf_calls.c - what the events of a CTF trace mean to a trace of calls. Called by ctf_read.c.
 *
 * Functions are entered and left by events called func_entry and func_exit, whoever writes them, or
 * by pairs of the kind NAME_enter and NAME_exit. What is neither becomes a mark.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf_read.h"
#include "formats/leave.h"
#include "util/array.h"

#define DEPTH_LIMIT (1u << 24)
#define SUMMARY_MAX 4096u /* bytes of a mark's text */
#define OWN_LEAVES  (1u + NSC_SAMPLE_FIELDS)

/* ---- What events mean --------------------------------------------------------------------- */

/* A name without the provider that stands before it. */
static const char *short_name(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon != NULL ? colon + 1 : name;
}

/* The @bytes of a name that are common to an entry and its exit. False if it is neither. */
static bool split_name(const char *name, bool *entry, char base[256])
{
    static const struct {
        const char *part;
        bool entry;
    } parts[] = {{"_entry", true},  {"_enter", true}, {"_begin", true},  {"_exit", false},
                 {"_leave", false}, {"_end", false},  {"_return", false}};
    size_t total = strlen(name);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t bytes = strlen(parts[i].part);
        const char *inside = strstr(name, parts[i].part);

        if (total <= bytes || total >= 256)
            continue;
        *entry = parts[i].entry;
        if (strcmp(name + total - bytes, parts[i].part) == 0) {
            snprintf(base, 256, "%.*s", (int)(total - bytes), name);
            return true;
        }
        if (strncmp(name, "syscall", 7) == 0 && inside != NULL && inside[bytes] == '_') {
            snprintf(base, 256, "%.*s%s", (int)(inside - name), name, inside + bytes);
            return true;
        }
    }
    return false;
}

static bool means_function(const char *base)
{
    static const char *const names[] = {"func",   "function",         "fn",
                                        "method", "cyg_profile_func", "__cyg_profile_func"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(short_name(base), names[i]) == 0)
            return true;
    return false;
}

static struct ctf_field *field_of(const struct ctf_event *e, const char *name)
{
    for (struct ctf_field *f = e->fields != NULL ? e->fields->fields : NULL; f != NULL; f = f->next)
        if (nsc_ctf_is_name(f->name, name))
            return f;
    return NULL;
}

/* The field that says which function it is. */
static struct ctf_field *identity_of(const struct ctf_event *e)
{
    static const char *const names[] = {
        "function",         "func",    "func_name", "function_name", "name", "addr",   "func_addr",
        "function_address", "address", "this_fn",   "callee",        "fn",   "method", "ip"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ctf_field *f = field_of(e, names[i]);

        if (f != NULL)
            return f;
    }
    return NULL;
}

static bool has_partner(const struct ctf *c, const struct ctf_event *e, const char *base,
                        bool entry)
{
    for (const struct ctf_event *other = c->trace.events; other != NULL; other = other->next) {
        char name[256];
        bool enters;

        if (other != e && split_name(other->name, &enters, name) && enters != entry &&
            strcmp(name, base) == 0)
            return true;
    }
    return false;
}

static uint32_t own_meaning(const struct ctf_event *e)
{
    static const struct {
        const char *name;
        enum ctf_meaning meaning;
    } names[] = {{"sample", CTF_MEANS_SAMPLE},
                 {"state", CTF_MEANS_STATE},
                 {"mark", CTF_MEANS_OWN_MARK},
                 {"counter", CTF_MEANS_COUNTER}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(e->name, names[i].name) == 0)
            return names[i].meaning;
    return CTF_MEANS_MARK;
}

/* What tracers tell of programs and threads. */
static uint32_t helper_meaning(struct ctf_event *e)
{
    static const struct {
        const char *name;
        enum ctf_meaning meaning;
        const char *fields[4];
    } names[] = {
        {"lttng_ust_statedump:bin_info", CTF_MEANS_LOAD, {"baddr", "memsz", "path", "is_pic"}},
        {"lttng_ust_lib:load", CTF_MEANS_LOAD, {"baddr", "memsz", "path", NULL}},
        {"lttng_ust_dl:dlopen", CTF_MEANS_LOAD, {"baddr", "memsz", "path", NULL}},
        {"lttng_ust_dl:dlmopen", CTF_MEANS_LOAD, {"baddr", "memsz", "path", NULL}},
        {"lttng_ust_statedump:build_id", CTF_MEANS_BUILD_ID, {"baddr", "build_id", NULL, NULL}},
        {"lttng_ust_lib:build_id", CTF_MEANS_BUILD_ID, {"baddr", "build_id", NULL, NULL}},
        {"lttng_ust_dl:build_id", CTF_MEANS_BUILD_ID, {"baddr", "build_id", NULL, NULL}},
        {"sched_switch", CTF_MEANS_SWITCH, {"next_tid", "next_comm", NULL, NULL}},
        {"thread_switched_in", CTF_MEANS_SWITCH, {"thread_id", "name", NULL, NULL}},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(e->name, names[i].name) != 0)
            continue;
        for (size_t k = 0; k < 4 && names[i].fields[k] != NULL; k++)
            e->wanted[k] = field_of(e, names[i].fields[k]);
        return e->wanted[0] != NULL ? names[i].meaning : CTF_MEANS_MARK;
    }
    if (strncmp(e->name, "lttng_ust_", 10) == 0 && strncmp(e->name, "lttng_ust_cyg", 13) != 0)
        return CTF_MEANS_NOTHING;
    return CTF_MEANS_MARK;
}

/* How many pairs are looked for: each is held against all events. */
#define PAIRS_MAX 8192u

void nsc_ctf_understand(struct ctf *c)
{
    uint32_t count = 0;

    for (const struct ctf_event *e = c->trace.events; e != NULL; e = e->next)
        count++;
    for (struct ctf_event *e = c->trace.events; e != NULL; e = e->next) {
        char base[256];
        bool entry;

        e->meaning = c->own ? own_meaning(e) : helper_meaning(e);
        if (e->meaning != CTF_MEANS_MARK || !split_name(e->name, &entry, base))
            continue;
        if (means_function(base)) {
            e->wanted[0] = identity_of(e);
            e->wanted[1] = field_of(e, "bound");
            e->innermost = !entry && e->wanted[0] == NULL;
        } else if (count > PAIRS_MAX || !has_partner(c, e, base, entry)) {
            continue;
        }
        e->meaning = entry ? CTF_MEANS_ENTRY : CTF_MEANS_EXIT;
    }
}

/* ---- Threads ------------------------------------------------------------------------------ */

static uint32_t track_slot(const struct ctf *c, uint64_t process, uint64_t thread, uint64_t stack)
{
    uint64_t hash = ((process << 32 ^ thread) + stack * 0x632be59bd9b4e019u) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(hash >> 32) & (c->track_slots - 1);
    const struct ctf_track *t;

    for (; (t = c->tracks[at]) != NULL; at = (at + 1) & (c->track_slots - 1))
        if (t->process == process && t->thread == thread && t->stack == stack)
            break;
    return at;
}

static int grow_tracks(struct ctf *c)
{
    struct ctf bigger = {.track_slots = c->track_slots == 0 ? 256 : c->track_slots * 2};

    bigger.tracks = calloc(bigger.track_slots, sizeof *bigger.tracks);
    if (bigger.tracks == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < c->track_slots; i++) {
        struct ctf_track *t = c->tracks[i];

        if (t != NULL)
            bigger.tracks[track_slot(&bigger, t->process, t->thread, t->stack)] = t;
    }
    free(c->tracks);
    c->tracks = bigger.tracks;
    c->track_slots = bigger.track_slots;
    return 0;
}

static int need_process(struct ctf *c, uint64_t pid, const char *name, uint32_t *id)
{
    struct nsc_process about = {.pid = (uint32_t)pid,
                                .parent = NSC_NO_ID,
                                .name = name[0] != '\0' ? name : c->job->name,
                                .exit_status = -1};
    struct ctf_process *all;
    int error;

    for (uint32_t i = c->process_count; i > 0; i--)
        if (c->processes[i - 1].pid == pid) {
            *id = c->processes[i - 1].id;
            return 0;
        }
    all = nsc_array_grow(c->processes, &c->process_room, c->process_count, sizeof *all);
    if (all == NULL)
        return -ENOMEM;
    c->processes = all;
    error = nsc_writer_add_process(c->job->writer, &about, id);
    if (error == 0)
        all[c->process_count++] = (struct ctf_process){pid, *id};
    return error;
}

static int add_track(struct ctf *c, const struct ctf_stream *s, struct ctf_track *t)
{
    int error = need_process(c, t->process, s->process, &t->about.process);

    if (error != 0)
        return error;
    t->about.tid = (uint32_t)t->thread;
    t->about.stack = (uint32_t)t->stack;
    t->about.start_ticks = t->about.end_ticks = s->ns;
    t->about.name = t->name;
    error = nsc_writer_add_thread(c->job->writer, &t->about, &t->id, &t->lane);
    if (error == 0 && c->own)
        nsc_nest_start(&t->nest, t->lane, &c->nesting);
    return error;
}

static int find_track(struct ctf *c, const struct ctf_input *in, uint64_t process, uint64_t thread,
                      uint64_t stack, struct ctf_track **out)
{
    struct ctf_track *t = in->last;
    uint32_t slot;
    int error;

    if (t == NULL || t->process != process || t->thread != thread || t->stack != stack) {
        if (c->track_count * 2 >= c->track_slots && grow_tracks(c) != 0)
            return -ENOMEM;
        slot = track_slot(c, process, thread, stack);
        t = c->tracks[slot];
        if (t == NULL) {
            t = calloc(1, sizeof *t);
            if (t == NULL)
                return -ENOMEM;
            t->process = process;
            t->thread = thread;
            t->stack = stack;
            error = add_track(c, &in->s, t);
            if (error != 0) {
                free(t);
                return error;
            }
            c->tracks[slot] = t;
            c->track_count++;
        }
    }
    *out = t;
    return 0;
}

static const struct ctf_leaf *context_of(const struct ctf *c, uint32_t role)
{
    for (uint32_t i = 0; i < c->values.count; i++) {
        const struct ctf_leaf *l = &c->values.leaves[i];

        if (l->scope < CTF_EVENT_FIELDS && l->field->role == role)
            return l;
    }
    return NULL;
}

static void name_track(struct ctf_track *t, const char *name)
{
    if (name[0] != '\0' && strcmp(t->name, name) != 0)
        snprintf(t->name, sizeof t->name, "%s", name);
}

/* The process that an event is of. */
static uint64_t process_of(const struct ctf *c, const struct ctf_input *in)
{
    const struct ctf_leaf *pid = context_of(c, CTF_ROLE_PID);

    return pid != NULL ? pid->number & UINT32_MAX : in->s.pid & UINT32_MAX;
}

/* The thread that an event, or a packet, is of. */
static int thread_of(struct ctf *c, struct ctf_input *in, struct ctf_track **out)
{
    const struct ctf_leaf *tid = context_of(c, CTF_ROLE_TID);
    const struct ctf_leaf *name = context_of(c, CTF_ROLE_THREAD);
    uint64_t thread = CTF_NO_THREAD + in->number;
    const char *text = in->name;
    int error;

    if (tid != NULL) {
        thread = tid->number;
        text = name != NULL && name->kind == CTF_TEXT_LEAF ? name->text : "";
    } else if (in->s.has_tid) {
        thread = in->s.tid;
        text = in->s.thread;
    } else if (in->switched) {
        thread = in->running;
        text = in->running_name;
    }
    error =
        find_track(c, in, process_of(c, in), thread & UINT32_MAX, in->s.stack & UINT32_MAX, out);
    if (error != 0)
        return error;
    in->last = *out;
    name_track(*out, text);
    if (in->s.ns > (*out)->about.end_ticks)
        (*out)->about.end_ticks = in->s.ns;
    return 0;
}

/* ---- Calls -------------------------------------------------------------------------------- */

static int function_by_name(struct ctf *c, const char *name, size_t bytes, uint32_t *function)
{
    struct nsc_names_entry *e;
    int error = nsc_names_find(&c->names, name, bytes, &e);

    if (error == 0 && e->id == UINT32_MAX) {
        struct nsc_function f = {
            .name = e->text, .symbol = e->text, .file = "", .module = NSC_NO_ID};

        error = nsc_writer_add_function(c->job->writer, &f, &e->id);
    }
    if (error == 0)
        *function = e->id;
    return error;
}

static const struct ctf_leaf *leaf_of(const struct ctf *c, const struct ctf_field *field)
{
    for (uint32_t i = 0; field != NULL && i < c->values.count; i++)
        if (c->values.leaves[i].field == field)
            return &c->values.leaves[i];
    return NULL;
}

/* The function of an event that enters or leaves one. */
static int function_of(struct ctf *c, const struct ctf_input *in, uint32_t *function)
{
    struct ctf_event *e = in->s.event;
    const struct ctf_leaf *leaf = leaf_of(c, e->wanted[0]);
    struct ctf_label *label = NULL;
    char base[256];
    bool entry;
    int error;

    if (leaf == NULL) {
        const char *name = e->innermost ? "(unknown)" : base;

        if (e->function == UINT32_MAX && split_name(e->name, &entry, base)) {
            error = function_by_name(c, name, strlen(name), &e->function);
            if (error != 0)
                return error;
        }
        *function = e->function;
        return 0;
    }
    if (leaf->kind == CTF_TEXT_LEAF)
        return function_by_name(c, leaf->text, strnlen(leaf->text, leaf->bytes), function);
    if (leaf->type->kind == CTF_ENUM)
        label = nsc_ctf_label(leaf->type, leaf->number);
    if (label == NULL)
        return nsc_ctf_address(c, process_of(c, in), leaf->number, function);
    if (label->function == UINT32_MAX) {
        error = function_by_name(c, label->name, strlen(label->name), &label->function);
        if (error != 0)
            return error;
    }
    *function = label->function;
    return 0;
}

static int take_call(struct ctf *c, struct ctf_input *in, struct ctf_track *t)
{
    const struct ctf_leaf *bound = leaf_of(c, in->s.event->wanted[1]);
    bool entry = in->s.event->meaning == CTF_MEANS_ENTRY;
    uint64_t bounds = bound != NULL && c->own ? bound->number : 0;
    uint32_t function = 0;
    int error = function_of(c, in, &function);

    if (error != 0)
        return error;
    if (c->own && entry) {
        nsc_nest_begin(&t->nest, in->s.ns, function, (bounds & NSC_BOUND_START) != 0);
    } else if (c->own) {
        if (!nsc_nest_end(&t->nest, in->s.ns, (bounds & NSC_BOUND_END) != 0))
            nsc_nest_late_end(&t->nest, in->s.ns, function);
    } else if (in->s.event->innermost && nsc_lane_depth(t->lane) > 0) {
        nsc_lane_exit(t->lane, in->s.ns);
    } else if (!entry) {
        nsc_leave(t->lane, in->s.ns, function, false, t->gap);
    } else if (nsc_lane_depth(t->lane) < DEPTH_LIMIT) {
        nsc_lane_enter(t->lane, in->s.ns, function, 0);
    }
    return 0;
}

/* ---- Notes -------------------------------------------------------------------------------- */

/* The fields of an event as text: "a = 1, b = "x"". */
static void summarize(const struct ctf *c, char text[SUMMARY_MAX], bool *cut)
{
    FILE *out = fmemopen(text, SUMMARY_MAX, "w");
    bool first = true;

    text[0] = '\0';
    *cut = false;
    if (out == NULL)
        return;
    for (uint32_t i = 0; i < c->values.count; i++) {
        const struct ctf_leaf *l = &c->values.leaves[i];
        const struct ctf_label *label;

        if (l->scope != CTF_EVENT_FIELDS)
            continue;
        fprintf(out, "%s%s = ", first ? "" : ", ", l->field->name + (l->field->name[0] == '_'));
        first = false;
        label = l->type->kind == CTF_ENUM ? nsc_ctf_label(l->type, l->number) : NULL;
        if (label != NULL)
            fprintf(out, "%s", label->name);
        else if (l->kind == CTF_TEXT_LEAF)
            fprintf(out, "\"%.*s\"", (int)l->bytes, l->text);
        else if (l->kind == CTF_REAL)
            fprintf(out, "%g", l->real);
        else if (l->kind == CTF_SIGNED)
            fprintf(out, "%" PRId64, (int64_t)l->number);
        else
            fprintf(out, "%" PRIu64, l->number);
    }
    *cut = fclose(out) != 0;
    text[SUMMARY_MAX - 1] = '\0';
}

static int take_mark(struct ctf *c, const struct ctf_input *in, const struct ctf_track *t)
{
    char text[SUMMARY_MAX];
    struct nsc_note note = {.ticks = in->s.ns, .kind = NSC_NOTE_MARK, .owner = t->id};

    note.mark.name = in->s.event->name;
    note.mark.metadata = text;
    summarize(c, text, &note.mark.cut);
    in->s.event->seen++;
    c->marks++;
    return nsc_writer_note(c->job->writer, &note);
}

/* An event of our own; it has the fields that ctf.c writes, or is left out. */
static int take_own(struct ctf *c, const struct ctf_input *in, const struct ctf_track *t)
{
    const struct ctf_leaf *first = NULL;
    struct nsc_note note = {.ticks = in->s.ns, .owner = t->id};
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->values.count; i++)
        if (c->values.leaves[i].scope == CTF_EVENT_FIELDS && count++ == 0)
            first = &c->values.leaves[i];
    switch (in->s.event->meaning) {
    case CTF_MEANS_SAMPLE:
        if (count != OWN_LEAVES)
            return 0;
        note.kind = NSC_NOTE_SAMPLE;
        note.sample.known = (uint32_t)first[0].number & ((1u << NSC_SAMPLE_FIELDS) - 1);
        for (uint32_t i = 0; i < NSC_SAMPLE_FIELDS; i++)
            note.sample.values[i] = first[1 + i].number;
        break;
    case CTF_MEANS_STATE:
        if (count < 2)
            return 0;
        note.kind = NSC_NOTE_STATE;
        note.state.old_state = (uint32_t)first[0].number;
        note.state.new_state = (uint32_t)first[1].number;
        break;
    case CTF_MEANS_OWN_MARK:
        if (count < 3 || first[0].kind != CTF_TEXT_LEAF || first[1].kind != CTF_TEXT_LEAF)
            return 0;
        note.kind = NSC_NOTE_MARK;
        note.mark.name = first[0].text;
        note.mark.metadata = first[1].text;
        note.mark.cut = first[2].number != 0;
        break;
    default:
        if (count < 2 || first[0].kind != CTF_TEXT_LEAF || first[1].kind == CTF_TEXT_LEAF)
            return 0;
        note.kind = NSC_NOTE_COUNTER;
        note.counter.name = first[0].text;
        note.counter.is_real = first[1].kind == CTF_REAL;
        note.counter.integer = (int64_t)first[1].number;
        note.counter.real = first[1].real;
        break;
    }
    return nsc_writer_note(c->job->writer, &note);
}

/* A counter of a whole process: its stream has no thread. */
static int take_process_counter(struct ctf *c, const struct ctf_input *in)
{
    struct ctf_track t = {.id = 0};
    struct nsc_note note = {.ticks = in->s.ns, .kind = NSC_NOTE_COUNTER, .of_process = true};
    const struct ctf_leaf *name = leaf_of(c, field_of(in->s.event, "name"));
    const struct ctf_leaf *value = leaf_of(c, field_of(in->s.event, "value"));
    int error = need_process(c, process_of(c, in), in->s.process, &t.id);

    if (error != 0 || name == NULL || value == NULL || name->kind != CTF_TEXT_LEAF ||
        value->kind == CTF_TEXT_LEAF)
        return error;
    note.owner = t.id;
    note.counter.name = name->text;
    note.counter.is_real = value->kind == CTF_REAL;
    note.counter.integer = (int64_t)value->number;
    note.counter.real = value->real;
    return nsc_writer_note(c->job->writer, &note);
}

/* ---- What tracers tell -------------------------------------------------------------------- */

static uint64_t number_at(const struct ctf *c, const struct ctf_field *field, uint64_t otherwise)
{
    const struct ctf_leaf *leaf = leaf_of(c, field);

    return leaf != NULL && leaf->kind != CTF_TEXT_LEAF ? leaf->number : otherwise;
}

static int take_load(struct ctf *c, const struct ctf_input *in)
{
    struct ctf_field *const *wanted = in->s.event->wanted;
    const struct ctf_leaf *path = leaf_of(c, wanted[2]);
    struct ctf_load load = {.start = number_at(c, wanted[0], 0)};
    char copy[4096];

    if (path == NULL || path->kind != CTF_TEXT_LEAF || path->bytes >= sizeof copy)
        return 0;
    snprintf(copy, sizeof copy, "%s", path->text);
    load.path = copy;
    load.end = load.start + number_at(c, wanted[1], 0);
    load.moved = number_at(c, wanted[3], 1) != 0;
    return load.end > load.start ? nsc_ctf_loaded(c, process_of(c, in), &load) : 0;
}

static void take_build_id(struct ctf *c, const struct ctf_input *in)
{
    const struct ctf_leaf *id = leaf_of(c, in->s.event->wanted[1]);

    if (id != NULL && id->kind == CTF_TEXT_LEAF)
        nsc_ctf_built(c, process_of(c, in), number_at(c, in->s.event->wanted[0], 0), id->text,
                      id->bytes);
}

static void take_switch(const struct ctf *c, struct ctf_input *in)
{
    const struct ctf_leaf *name = leaf_of(c, in->s.event->wanted[1]);

    in->switched = true;
    in->running = number_at(c, in->s.event->wanted[0], 0);
    in->running_name[0] = '\0';
    if (name != NULL && name->kind == CTF_TEXT_LEAF)
        snprintf(in->running_name, sizeof in->running_name, "%s", name->text);
}

/* ---- Events ------------------------------------------------------------------------------- */

/* A packet begins: events may have been lost before it. */
static int take_packet(struct ctf *c, struct ctf_input *in)
{
    struct ctf_track *t;
    int error;

    if (in->s.lost == 0 && !in->s.gap)
        return 0;
    if (!in->s.has_tid) {
        c->unattributed += in->s.lost;
        for (uint32_t i = 0; i < c->track_slots; i++)
            if (c->tracks[i] != NULL)
                c->tracks[i]->gap = true;
        return 0;
    }
    error = thread_of(c, in, &t);
    if (error != 0)
        return error;
    t->gap = true;
    t->about.lost += in->s.lost;
    if (c->own)
        nsc_nest_lost(&t->nest, in->s.ns, in->s.lost);
    else
        nsc_lane_lost(t->lane, in->s.ns, in->s.lost);
    return 0;
}

int nsc_ctf_event_taken(struct ctf *c, struct ctf_input *in)
{
    struct ctf_track *t;
    int error;

    if (in->s.event == NULL)
        return take_packet(c, in);
    c->events++;
    switch (in->s.event->meaning) {
    case CTF_MEANS_LOAD:
        return take_load(c, in);
    case CTF_MEANS_BUILD_ID:
        take_build_id(c, in);
        return 0;
    case CTF_MEANS_SWITCH:
        take_switch(c, in);
        return 0;
    case CTF_MEANS_NOTHING:
        return 0;
    case CTF_MEANS_COUNTER:
        if (in->s.tid == 0 && in->s.thread[0] == '\0')
            return take_process_counter(c, in);
        break;
    default:
        break;
    }
    error = thread_of(c, in, &t);
    if (error != 0)
        return error;
    switch (in->s.event->meaning) {
    case CTF_MEANS_ENTRY:
    case CTF_MEANS_EXIT:
        return take_call(c, in, t);
    case CTF_MEANS_MARK:
        return take_mark(c, in, t);
    default:
        return take_own(c, in, t);
    }
}

static int finish_track(struct ctf *c, struct ctf_track *t)
{
    int error = 0;

    if (c->own)
        error = nsc_nest_finish(&t->nest, t->about.end_ticks);
    else
        nsc_lane_close(t->lane, t->about.end_ticks);
    nsc_nest_free(&t->nest);
    c->job->threads += t->stack == 0;
    return error == 0 ? nsc_writer_set_thread(c->job->writer, t->id, &t->about) : error;
}

int nsc_ctf_tracks_finish(struct ctf *c)
{
    int error = 0;

    for (uint32_t i = 0; i < c->track_slots; i++) {
        if (c->tracks[i] == NULL)
            continue;
        if (error == 0)
            error = finish_track(c, c->tracks[i]);
        else
            nsc_nest_free(&c->tracks[i]->nest);
        free(c->tracks[i]);
    }
    free(c->tracks);
    c->tracks = NULL;
    c->track_slots = 0;
    return error;
}
