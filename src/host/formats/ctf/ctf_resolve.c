/*
 * ctf_resolve.c - resolve the parsed metadata of a CTF trace: byte orders, clocks, references of
 * sequence lengths and variant tags, roles of fields, events by id. Called by tsdl.c.
 * Source: "The Common Trace Format", version 1.8.3, section 7.3.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf_model.h"

#define BLOCK_BYTES (64u * 1024)
#define CLASSES_MAX 1024u
/* Limit of the fields, clocks and events visited to resolve references. Each reference is resolved
 * by a linear search, so hostile metadata could take quadratic time. */
#define LOOKS_MAX   (1u << 24)

struct ctf_block_of_memory {
    struct ctf_block_of_memory *before;
    max_align_t bytes[];
};

/* The structures that contain a type, innermost first. */
struct around {
    const struct around *outer;
    const struct ctf_type *type;
    const struct ctf_field *field; /* references may use only the fields before it */
};

struct resolver {
    struct ctf_trace *trace;
    const char *name;
    struct nsc_diag *diag;
    const struct ctf_type *roots[CTF_SCOPES];
    uint32_t scope;
    uint32_t looks;
    int error;
};

/* ---- Memory ------------------------------------------------------------------------------- */

void *nsc_ctf_memory(struct ctf_trace *trace, size_t bytes)
{
    struct ctf_block_of_memory *block = trace->memory;
    size_t room = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);

    if (block == NULL || room > trace->memory_left) {
        size_t size = room > BLOCK_BYTES ? room : BLOCK_BYTES;

        block = calloc(1, sizeof *block + size);
        if (block == NULL)
            return NULL;
        block->before = trace->memory;
        trace->memory = block;
        trace->memory_left = size;
    }
    trace->memory_left -= room;
    return (char *)block->bytes + trace->memory_left;
}

void nsc_ctf_free(struct ctf_trace *trace)
{
    while (trace->memory != NULL) {
        struct ctf_block_of_memory *before = trace->memory->before;

        free(trace->memory);
        trace->memory = before;
    }
}

/* ---- Lookup ------------------------------------------------------------------------------- */

bool nsc_ctf_is_name(const char *name, const char *wanted)
{
    return strcmp(name, wanted) == 0 || (name[0] == '_' && strcmp(name + 1, wanted) == 0);
}

/*
 * Ranges may overlap, so the last range that begins at or below a value need not contain it.
 * `reach` excludes subtrees that end before the value. If all ranges of a subtree begin at or below
 * the value and its `reach` is high enough, one of them contains it. The search is O(log n).
 */
static struct ctf_label *find_label(const struct ctf_type *type, uint32_t low, uint32_t high,
                                    uint64_t value)
{
    uint64_t sign = nsc_ctf_sign(type);
    uint32_t middle = low + (high - low) / 2;
    struct ctf_label *l, *found = NULL;

    if (low >= high)
        return NULL;
    l = &type->labels[middle];
    if ((l->reach ^ sign) < (value ^ sign))
        return NULL;
    if ((l->low ^ sign) <= (value ^ sign)) {
        found = find_label(type, middle + 1, high, value);
        if (found == NULL && (l->high ^ sign) >= (value ^ sign))
            found = l;
    }
    return found != NULL ? found : find_label(type, low, middle, value);
}

struct ctf_label *nsc_ctf_label(const struct ctf_type *type, uint64_t value)
{
    return find_label(type, 0, type->label_count, value);
}

/* Compares the name of an option with a label, with @underscore with "_" before the label. */
static int compare_option(const struct ctf_field *f, bool underscore, const char *label)
{
    if (!underscore)
        return strcmp(f->name, label);
    return f->name[0] != '_' ? (f->name[0] > '_') - (f->name[0] < '_') : strcmp(f->name + 1, label);
}

static struct ctf_field *find_option(const struct ctf_type *type, bool underscore,
                                     const char *label)
{
    uint32_t low = 0, high = type->option_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_option(type->options[middle], underscore, label);

        if (order == 0)
            return type->options[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

struct ctf_field *nsc_ctf_option(const struct ctf_type *type, const char *label)
{
    struct ctf_field *f = find_option(type, false, label);

    if (f == NULL)
        f = find_option(type, true, label);
    return f == NULL && label[0] == '_' ? find_option(type, false, label + 1) : f;
}

struct ctf_event *nsc_ctf_event(const struct ctf_stream_class *s, uint64_t id)
{
    uint32_t low = 0, high = s->event_count;

    if (id < high && s->events[id]->id == id) /* usually, ids count from 0 */
        return s->events[id];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->events[middle]->id == id)
            return s->events[middle];
        if (s->events[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- References --------------------------------------------------------------------------- */

static void fail(struct resolver *r, int error, const char *what, const char *name)
{
    if (r->error == 0)
        r->error = nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, error,
                                name[0] != '\0' ? "%s: %s \"%s\"" : "%s: %s", r->name, what, name);
}

/* Counts a visited item. Returns false at the limit, or after an error. */
static bool look(struct resolver *r)
{
    if (r->looks++ >= LOOKS_MAX)
        fail(r, ENOTSUP, "too many references, fields, events or clocks to find one another", "");
    return r->error == 0;
}

/* Finds a field of @type by the first @bytes of @name, among those before @last. */
static struct ctf_field *find_field(struct resolver *r, const struct ctf_type *type,
                                    const char *name, size_t bytes, const struct ctf_field *last)
{
    if (type == NULL || type->kind != CTF_STRUCT)
        return NULL;
    for (struct ctf_field *f = type->fields; f != NULL && f != last && look(r); f = f->next)
        if (strncmp(f->name, name, bytes) == 0 && f->name[bytes] == '\0')
            return f;
    return NULL;
}

/* Finds the field that a dotted path leads to from @type. */
static struct ctf_field *follow(struct resolver *r, const struct ctf_type *type, const char *path,
                                const struct ctf_field *last)
{
    for (;;) {
        size_t bytes = strcspn(path, ".");
        struct ctf_field *f = find_field(r, type, path, bytes, last);

        if (f == NULL || path[bytes] == '\0')
            return f;
        path += bytes + 1;
        type = f->type;
        last = NULL;
    }
}

static struct ctf_field *find_target(struct resolver *r, const struct around *around,
                                     const char *path)
{
    static const char *const prefixes[CTF_SCOPES] = {
        "trace.packet.header.",  "stream.packet.context.", "stream.event.header.",
        "stream.event.context.", "event.context.",         "event.fields.",
    };
    struct ctf_field *f;

    for (uint32_t i = 0; i <= r->scope; i++) {
        size_t bytes = strlen(prefixes[i]);

        if (strncmp(path, prefixes[i], bytes) == 0)
            return follow(r, r->roots[i], path + bytes, NULL);
    }
    for (; around != NULL; around = around->outer) {
        f = follow(r, around->type, path, around->field);
        if (f != NULL)
            return f;
    }
    for (uint32_t i = r->scope; i > 0; i--) {
        f = follow(r, r->roots[i - 1], path, NULL);
        if (f != NULL)
            return f;
    }
    return NULL;
}

static void resolve_reference(struct resolver *r, const struct around *around,
                              struct ctf_type *type)
{
    struct ctf_field *f;

    if (type->reference == NULL) {
        fail(r, EBADMSG, "a variant without a choice", "");
        return;
    }
    f = find_target(r, around, type->reference);
    if (f == NULL) {
        fail(r, EBADMSG, "no field before that is called", type->reference);
    } else if (f->type->kind != CTF_ENUM &&
               (type->kind == CTF_VARIANT || f->type->kind != CTF_INT)) {
        fail(r, EBADMSG, "a length or choice of the wrong type,", type->reference);
    } else {
        f->is_target = true;
        type->target = f;
    }
}

/* ---- Types -------------------------------------------------------------------------------- */

static void resolve_number(struct resolver *r, struct ctf_type *type)
{
    if (type->order == CTF_NATIVE)
        type->order = r->trace->order;
    if (type->clock_name == NULL)
        return;
    for (struct ctf_clock *c = r->trace->clocks; c != NULL && type->clock == NULL && look(r);
         c = c->next)
        if (strcmp(c->name, type->clock_name) == 0)
            type->clock = c;
    if (type->clock == NULL)
        fail(r, EBADMSG, "an unknown clock,", type->clock_name);
    else
        type->clock->used = true;
}

static uint32_t role_of(uint32_t scope, const char *name)
{
    static const struct {
        const char *name;
        uint32_t scope;
        enum ctf_role role;
    } roles[] = {
        {"magic", CTF_PACKET_HEADER, CTF_ROLE_MAGIC},
        {"stream_id", CTF_PACKET_HEADER, CTF_ROLE_STREAM_ID},
        {"timestamp_begin", CTF_PACKET_CONTEXT, CTF_ROLE_BEGIN},
        {"content_size", CTF_PACKET_CONTEXT, CTF_ROLE_CONTENT},
        {"packet_size", CTF_PACKET_CONTEXT, CTF_ROLE_PACKET},
        {"events_discarded", CTF_PACKET_CONTEXT, CTF_ROLE_DISCARDED},
        {"process", CTF_PACKET_CONTEXT, CTF_ROLE_PROCESS},
        {"thread", CTF_PACKET_CONTEXT, CTF_ROLE_THREAD},
        {"stack", CTF_PACKET_CONTEXT, CTF_ROLE_STACK},
        {"pid", CTF_PACKET_CONTEXT, CTF_ROLE_PID},
        {"tid", CTF_PACKET_CONTEXT, CTF_ROLE_TID},
        {"id", CTF_EVENT_HEADER, CTF_ROLE_EVENT_ID},
        {"timestamp", CTF_EVENT_HEADER, CTF_ROLE_TIME},
        {"vpid", CTF_STREAM_CONTEXT, CTF_ROLE_PID},
        {"vtid", CTF_STREAM_CONTEXT, CTF_ROLE_TID},
        {"pid", CTF_STREAM_CONTEXT, CTF_ROLE_PID},
        {"tid", CTF_STREAM_CONTEXT, CTF_ROLE_TID},
        {"procname", CTF_STREAM_CONTEXT, CTF_ROLE_THREAD},
        {"vpid", CTF_EVENT_CONTEXT, CTF_ROLE_PID},
        {"vtid", CTF_EVENT_CONTEXT, CTF_ROLE_TID},
        {"pid", CTF_EVENT_CONTEXT, CTF_ROLE_PID},
        {"tid", CTF_EVENT_CONTEXT, CTF_ROLE_TID},
        {"procname", CTF_EVENT_CONTEXT, CTF_ROLE_THREAD},
        {"timestamp", CTF_EVENT_FIELDS, CTF_ROLE_TIME},
    };

    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (roles[i].scope == scope && nsc_ctf_is_name(name, roles[i].name))
            return roles[i].role;
    return CTF_ROLE_NONE;
}

/* Recursion is bounded: types are nested at most 64 deep, and each is visited once. */
static void resolve_type(struct resolver *r, const struct around *outer, struct ctf_type *type)
{
    struct around around = {.outer = outer, .type = type};

    if (type->resolved || r->error != 0)
        return;
    type->resolved = true;
    switch ((enum ctf_kind)type->kind) {
    case CTF_INT:
    case CTF_FLOAT:
        resolve_number(r, type);
        break;
    case CTF_ENUM:
    case CTF_ARRAY:
        resolve_type(r, outer, type->inner);
        break;
    case CTF_SEQUENCE:
        resolve_reference(r, outer, type);
        resolve_type(r, outer, type->inner);
        break;
    case CTF_VARIANT:
        resolve_reference(r, outer, type);
        for (struct ctf_field *f = type->fields; f != NULL; f = f->next)
            resolve_type(r, outer, f->type);
        break;
    case CTF_STRUCT:
        for (struct ctf_field *f = type->fields; f != NULL; f = f->next) {
            around.field = f;
            f->role = role_of(r->scope, f->name);
            resolve_type(r, &around, f->type);
        }
        break;
    case CTF_STRING:
        break;
    }
}

static void resolve_scope(struct resolver *r, uint32_t scope, struct ctf_type *type)
{
    r->roots[scope] = type;
    r->scope = scope;
    if (type != NULL)
        resolve_type(r, NULL, type);
}

/* ---- Events ------------------------------------------------------------------------------- */

static int compare_events(const void *a, const void *b)
{
    const struct ctf_event *x = *(struct ctf_event *const *)a, *y = *(struct ctf_event *const *)b;

    return (x->id > y->id) - (x->id < y->id);
}

static bool is_of(const struct ctf_trace *t, const struct ctf_event *e,
                  const struct ctf_stream_class *s)
{
    return e->has_stream ? e->stream_id == s->id : s->id == 0 || t->streams->next == NULL;
}

static void resolve_stream(struct resolver *r, struct ctf_stream_class *s)
{
    uint32_t count = 0;

    for (const struct ctf_event *e = r->trace->events; e != NULL && look(r); e = e->next)
        count += is_of(r->trace, e, s);
    s->events = nsc_ctf_memory(r->trace, (count + 1) * sizeof(struct ctf_event *));
    if (s->events == NULL) {
        r->error = nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        return;
    }
    resolve_scope(r, CTF_PACKET_CONTEXT, s->packet_context);
    resolve_scope(r, CTF_EVENT_HEADER, s->event_header);
    resolve_scope(r, CTF_STREAM_CONTEXT, s->event_context);
    for (struct ctf_event *e = r->trace->events; e != NULL && r->error == 0; e = e->next) {
        if (!is_of(r->trace, e, s))
            continue;
        s->events[s->event_count++] = e;
        resolve_scope(r, CTF_EVENT_CONTEXT, e->context);
        resolve_scope(r, CTF_EVENT_FIELDS, e->fields);
    }
    if (s->event_count > 0)
        qsort(s->events, s->event_count, sizeof(struct ctf_event *), compare_events);
}

/* Returns whether a later class has the same id: events could not be assigned to one of them. */
static bool is_double(const struct ctf_stream_class *s)
{
    const struct ctf_stream_class *other = s->next;

    for (uint32_t i = 0; other != NULL && other->id != s->id && i < CLASSES_MAX; i++)
        other = other->next;
    return other != NULL && other->id == s->id;
}

int nsc_ctf_resolve(struct ctf_trace *trace, const char *name, struct nsc_diag *diag)
{
    struct resolver r = {.trace = trace, .name = name, .diag = diag};
    uint32_t streams = 0;

    resolve_scope(&r, CTF_PACKET_HEADER, trace->packet_header);
    for (struct ctf_stream_class *s = trace->streams; s != NULL && r.error == 0; s = s->next) {
        if (++streams > CLASSES_MAX)
            fail(&r, ENOTSUP, "more than 1024 classes of streams", "");
        else if (is_double(s))
            fail(&r, EBADMSG, "two classes of streams with one id", "");
        else
            resolve_stream(&r, s);
    }
    if (r.error == 0 && trace->streams == NULL)
        fail(&r, EBADMSG, "no stream is described", "");
    return r.error;
}
