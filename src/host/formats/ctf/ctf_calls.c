/*
 * ctf_calls.c - convert the events of a CTF trace to calls and notes. Called by ctf_import.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf_import.h"
#include "formats/import/end_by_name.h"

#define SUMMARY_MAX 4096u /* bytes of a mark's text */
#define LABEL_MAX   255   /* bytes of an enumeration label in it */
#define OWN_LEAVES  (1u + NSC_SAMPLE_FIELDS)

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

/* Finds the function of an entry or exit event. */
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

        if (e->function == UINT32_MAX && nsc_ctf_split_name(e->name, &entry, base)) {
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
        return nsc_ctf_address(c, nsc_ctf_process_of(c, in), leaf->number, function);
    if (label->function == UINT32_MAX) {
        error = function_by_name(c, label->name, strlen(label->name), &label->function);
        if (error != 0)
            return error;
    }
    *function = label->function;
    return 0;
}

/* Enters a call, in a trace of another tracer. */
static void enter(struct ctf *c, struct ctf_track *t, uint64_t ns, uint32_t function)
{
    if (nsc_lane_depth(t->lane) < NSC_NESTING_DEPTH_MAX) {
        nsc_lane_enter(t->lane, ns, function, 0);
        return;
    }
    c->nesting.too_deep++;
    t->ghosts++;
}

static void leave(struct ctf *c, struct ctf_track *t, uint64_t ns, uint32_t function,
                  bool innermost)
{
    if (t->ghosts > 0)
        t->ghosts--;
    else if (innermost && nsc_lane_depth(t->lane) > 0)
        nsc_lane_exit(t->lane, ns);
    else if (!nsc_end_by_name(t->lane, ns, function, false, t->gap || t->number < c->gap_tracks))
        c->nesting.without_call++;
}

/* Begins or ends a call, in a trace written by nanoscope. */
static void take_own_call(const struct ctf *c, const struct ctf_input *in, struct ctf_track *t,
                          uint32_t function)
{
    const struct ctf_event *e = in->s.event;
    const struct ctf_leaf *bound = leaf_of(c, e->wanted[1]), *clipped = leaf_of(c, e->wanted[2]);
    uint64_t bounds = bound != NULL ? bound->number : 0,
             cut = clipped != NULL ? clipped->number : 0;

    if (e->meaning == CTF_MEANS_ENTRY)
        nsc_nesting_begin(&t->nest, in->s.ns, function,
                          (cut & NSC_BOUND_START) != 0      ? NSC_NESTING_CLIPPED
                          : (bounds & NSC_BOUND_START) != 0 ? NSC_NESTING_LATE
                                                            : NSC_NESTING_SEEN);
    else if (!nsc_nesting_end(&t->nest, in->s.ns, ((bounds | cut) & NSC_BOUND_END) != 0))
        nsc_nesting_late_end(&t->nest, in->s.ns, function);
}

static int take_call(struct ctf *c, struct ctf_input *in, struct ctf_track *t)
{
    bool entry = in->s.event->meaning == CTF_MEANS_ENTRY;
    uint32_t function = 0;
    int error = function_of(c, in, &function);

    if (error != 0)
        return error;
    if (c->own)
        take_own_call(c, in, t, function);
    else if (entry)
        enter(c, t, in->s.ns, function);
    else
        leave(c, t, in->s.ns, function, in->s.event->innermost);
    return 0;
}

/* ---- Notes -------------------------------------------------------------------------------- */

/* Formats the fields of an event: "a = 1, b = "x"". Sets *@cut if they do not fit. */
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
            fprintf(out, "%.*s", LABEL_MAX, label->name);
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

/* Adds a note of a trace written by nanoscope. Events without the fields that ctf_export.c writes
 * are left out. */
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

/* Adds a counter value of a process: its stream has no thread. */
static int take_process_counter(struct ctf *c, const struct ctf_input *in)
{
    struct ctf_track t = {.id = 0};
    struct nsc_note note = {.ticks = in->s.ns, .kind = NSC_NOTE_COUNTER, .of_process = true};
    const struct ctf_leaf *name = leaf_of(c, nsc_ctf_field_of(in->s.event, "name"));
    const struct ctf_leaf *value = leaf_of(c, nsc_ctf_field_of(in->s.event, "value"));
    int error = nsc_ctf_need_process(c, nsc_ctf_process_of(c, in), in->s.process, &t.id);

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

/* ---- Modules and context switches --------------------------------------------------------- */

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
    char copy[CTF_PATH_BYTES];

    if (path == NULL || path->kind != CTF_TEXT_LEAF || path->bytes >= sizeof copy)
        return 0;
    snprintf(copy, sizeof copy, "%s", path->text);
    load.path = copy;
    load.end = load.start + number_at(c, wanted[1], 0);
    load.moved = number_at(c, wanted[3], 1) != 0;
    return load.end > load.start ? nsc_ctf_loaded(c, nsc_ctf_process_of(c, in), &load) : 0;
}

static int take_build_id(struct ctf *c, const struct ctf_input *in)
{
    const struct ctf_leaf *id = leaf_of(c, in->s.event->wanted[1]);

    if (id == NULL || id->kind != CTF_TEXT_LEAF)
        return 0;
    return nsc_ctf_built(c, nsc_ctf_process_of(c, in), number_at(c, in->s.event->wanted[0], 0),
                         id->text, id->bytes);
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

/* Processes a packet's header: records the events lost before it. */
static int take_packet(struct ctf *c, struct ctf_input *in)
{
    struct ctf_track *t;
    int error;

    if (in->s.lost == 0 && !in->s.gap)
        return 0;
    if (!in->s.has_tid) {
        c->unattributed += in->s.lost;
        c->gap_tracks = c->track_count;
        return 0;
    }
    error = nsc_ctf_thread_of(c, in, &t);
    if (error != 0)
        return error;
    t->gap = true;
    t->about.lost += in->s.lost;
    if (c->own)
        nsc_nesting_lost(&t->nest, in->s.ns, in->s.lost);
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
        return take_build_id(c, in);
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
    error = nsc_ctf_thread_of(c, in, &t);
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
