/*
 * ctf_metadata.c - parse the language that describes CTF 1.8 traces, TSDL, into a model. Called by
 * ctf_read.c. See ctf_model.h; the places of things are found in ctf_resolve.c.
 * Source: "The Common Trace Format", version 1.8.3 (diamon.org/ctf), sections 4, 6 and 7.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf_model.h"
#include "formats/ctf_words.h"
#include "formats/names.h"
#include "util/array.h"

#define NESTING_MAX  64u /* of types */
#define WORDS_MAX    8u  /* of a type's name */
#define DIMENSIONS   8u
#define INT_BITS_MAX 64u
#define ALIGN_MAX    4096u

struct alias {
    struct ctf_type *type;
    uint32_t before;            /* what its name meant; UINT32_MAX: nothing */
    struct nsc_names_entry key; /* of its name */
};

struct parser {
    struct ctf_words w;
    struct nsc_names names;
    struct alias *aliases;
    uint32_t alias_count, alias_room;
    uint32_t depth;
};

/* A value in an assignment. */
struct value {
    enum ctf_word token;
    const char *text;
    uint64_t number;
};

/* ---- Names of types ----------------------------------------------------------------------- */

static struct ctf_type *find_type(struct parser *p, const char *name)
{
    struct nsc_names_entry *e;

    if (nsc_names_find(&p->names, name, strlen(name), &e) != 0) {
        nsc_ctf_fail(&p->w, ENOMEM, "out of memory");
        return NULL;
    }
    return e->id != UINT32_MAX ? p->aliases[e->id].type : NULL;
}

static void name_type(struct parser *p, const char *name, struct ctf_type *type)
{
    struct alias *all =
        nsc_array_grow(p->aliases, &p->alias_room, p->alias_count, sizeof *p->aliases);
    struct nsc_names_entry *e;

    if (all != NULL)
        p->aliases = all;
    if (all == NULL || nsc_names_find(&p->names, name, strlen(name), &e) != 0) {
        nsc_ctf_fail(&p->w, ENOMEM, "out of memory");
        return;
    }
    all[p->alias_count] = (struct alias){.type = type, .before = e->id, .key = *e};
    e->id = p->alias_count++;
}

/* Forget the names since there were @count. */
static void end_scope(struct parser *p, uint32_t count)
{
    while (p->alias_count > count) {
        const struct alias *a = &p->aliases[--p->alias_count];
        struct nsc_names_entry *e;

        if (nsc_names_find(&p->names, a->key.text, a->key.bytes, &e) == 0)
            e->id = a->before;
    }
}

/* ---- Types -------------------------------------------------------------------------------- */

static struct ctf_type *new_type(struct parser *p, enum ctf_kind kind)
{
    struct ctf_type *type = nsc_ctf_need(&p->w, sizeof *type);

    if (type != NULL) {
        type->kind = kind;
        type->align = 1;
        type->depth = 1;
    }
    return type;
}

/* @type has @inner inside it. */
static void hold(struct parser *p, struct ctf_type *type, const struct ctf_type *inner)
{
    if (inner->depth + 1 > type->depth)
        type->depth = inner->depth + 1;
    if (type->depth > NESTING_MAX)
        nsc_ctf_fail(&p->w, EBADMSG, "types inside one another, too many");
}

static void take_value(struct parser *p, struct value *v)
{
    *v = (struct value){.token = p->w.token, .number = p->w.number, .text = ""};
    if (p->w.token == CTF_WORD_NAME) {
        v->text = nsc_ctf_take_path(&p->w);
    } else if (p->w.token == CTF_WORD_TEXT || p->w.token == CTF_WORD_NUMBER) {
        if (p->w.token == CTF_WORD_TEXT)
            v->text = p->w.text;
        nsc_ctf_word(&p->w);
    } else {
        nsc_ctf_fail(&p->w, EBADMSG, "a value expected");
    }
}

static bool is_true(const struct value *v)
{
    return v->token == CTF_WORD_NUMBER
               ? v->number != 0
               : strcmp(v->text, "true") == 0 || strcmp(v->text, "TRUE") == 0;
}

static uint32_t order_of(struct parser *p, const struct value *v)
{
    if (strcmp(v->text, "le") == 0)
        return CTF_LITTLE;
    if (strcmp(v->text, "be") == 0 || strcmp(v->text, "network") == 0)
        return CTF_BIG;
    if (strcmp(v->text, "native") != 0)
        nsc_ctf_fail(&p->w, EBADMSG, "an unknown byte order");
    return CTF_NATIVE;
}

/* "clock.NAME.value", in any of the forms that there are: the clock's name. */
static const char *clock_of(struct parser *p, const char *path)
{
    const char *start = strncmp(path, "clock.", 6) == 0 ? path + 6 : path;
    const char *end = strrchr(start, '.');

    return nsc_ctf_keep(&p->w, start, end != NULL ? (size_t)(end - start) : strlen(start));
}

static void set_align(struct parser *p, struct ctf_type *type, uint64_t bits)
{
    if (bits == 0 || bits > ALIGN_MAX || (bits & (bits - 1)) != 0)
        nsc_ctf_fail(&p->w, EBADMSG, "an alignment that is no power of two up to 4096");
    else
        type->align = (uint32_t)bits;
}

/* An attribute of integer, floating_point and string. */
static void set_attribute(struct parser *p, struct ctf_type *type, const char *key,
                          const struct value *v)
{
    if (strcmp(key, "size") == 0) {
        if (v->number == 0 || v->number > INT_BITS_MAX)
            nsc_ctf_fail(&p->w, ENOTSUP, "integers have 1 to 64 bits");
        type->size = (uint32_t)v->number;
    } else if (strcmp(key, "exp_dig") == 0 || strcmp(key, "mant_dig") == 0) {
        if (v->number > INT_BITS_MAX)
            nsc_ctf_fail(&p->w, ENOTSUP, "real numbers have 32 or 64 bits");
        type->size += (uint32_t)v->number;
    } else if (strcmp(key, "align") == 0) {
        set_align(p, type, v->number);
    } else if (strcmp(key, "signed") == 0) {
        type->is_signed = is_true(v);
    } else if (strcmp(key, "byte_order") == 0) {
        type->order = order_of(p, v);
    } else if (strcmp(key, "encoding") == 0) {
        type->is_text = strcmp(v->text, "none") != 0;
    } else if (strcmp(key, "map") == 0) {
        type->clock_name = clock_of(p, v->text);
    }
}

/* "{ key = value; ... }" */
static struct ctf_type *take_number(struct parser *p, enum ctf_kind kind)
{
    struct ctf_type *type = new_type(p, kind);

    if (type == NULL)
        return NULL;
    type->align = 0;
    nsc_ctf_word(&p->w);
    if (kind == CTF_STRING && !nsc_ctf_is_sign(&p->w, '{')) {
        type->align = 8;
        return type;
    }
    nsc_ctf_expect(&p->w, '{');
    while (p->w.error == 0 && !nsc_ctf_take_sign(&p->w, '}')) {
        const char *key = nsc_ctf_take_path(&p->w);
        struct value v;

        nsc_ctf_expect(&p->w, '=');
        take_value(p, &v);
        nsc_ctf_expect(&p->w, ';');
        if (p->w.error == 0)
            set_attribute(p, type, key, &v);
    }
    if (kind == CTF_STRING)
        type->align = 8;
    else if (type->size == 0)
        nsc_ctf_fail(&p->w, EBADMSG, "a number without a size");
    if (type->align == 0)
        type->align = type->size % 8 == 0 ? 8 : 1;
    return type;
}

static struct ctf_type *take_type(struct parser *p, bool declares, const char **name);
static bool take_definition(struct parser *p);

static void add_field(struct parser *p, struct ctf_type *to, const char *name,
                      struct ctf_type *type)
{
    struct ctf_field *f = nsc_ctf_need(&p->w, sizeof *f);

    if (f == NULL)
        return;
    f->name = name;
    f->type = type;
    if (to->last != NULL)
        to->last->next = f;
    else
        to->fields = f;
    to->last = f;
    if (to->kind == CTF_STRUCT && type->align > to->align)
        to->align = type->align;
    hold(p, to, type);
}

/* "[3]", "[length]" behind a name, outermost first. */
static struct ctf_type *take_dimensions(struct parser *p, struct ctf_type *type)
{
    struct ctf_type *arrays[DIMENSIONS];
    uint32_t count = 0;

    while (p->w.error == 0 && nsc_ctf_take_sign(&p->w, '[')) {
        struct ctf_type *array =
            new_type(p, p->w.token == CTF_WORD_NUMBER ? CTF_ARRAY : CTF_SEQUENCE);

        if (array == NULL || count == DIMENSIONS) {
            nsc_ctf_fail(&p->w, EBADMSG, "an array of too many dimensions");
            return type;
        }
        if (p->w.token == CTF_WORD_NUMBER) {
            array->length = p->w.number;
            nsc_ctf_word(&p->w);
        } else {
            array->reference = nsc_ctf_take_path(&p->w);
        }
        nsc_ctf_expect(&p->w, ']');
        arrays[count++] = array;
    }
    while (count-- > 0) {
        arrays[count]->inner = type;
        arrays[count]->align = type->align;
        hold(p, arrays[count], type);
        type = arrays[count];
    }
    return type;
}

/* "{ type name; ... }" of a structure or variant. */
static void take_fields(struct parser *p, struct ctf_type *type)
{
    uint32_t names = p->alias_count;

    nsc_ctf_expect(&p->w, '{');
    while (p->w.error == 0 && !nsc_ctf_take_sign(&p->w, '}')) {
        const char *name = NULL;
        struct ctf_type *inner;

        if (take_definition(p))
            continue;
        inner = take_type(p, true, &name);
        if (inner != NULL && name != NULL)
            inner = take_dimensions(p, inner);
        nsc_ctf_expect(&p->w, ';');
        if (p->w.error == 0 && inner != NULL && name != NULL)
            add_field(p, type, name, inner);
    }
    end_scope(p, names);
}

/* The name of a tagged type, "struct x", which is in @tag; NULL when it has none. */
static const char *take_tag(struct parser *p, const char *kind, char tag[CTF_NAME_BYTES])
{
    if (p->w.token != CTF_WORD_NAME)
        return NULL;
    if (snprintf(tag, CTF_NAME_BYTES, "%s %s", kind, p->w.text) >= (int)CTF_NAME_BYTES)
        nsc_ctf_fail(&p->w, EBADMSG, "a name that is too long");
    nsc_ctf_word(&p->w);
    return tag;
}

/* A type that was defined under @tag before. */
static struct ctf_type *known_type(struct parser *p, const char *tag)
{
    struct ctf_type *type = tag != NULL ? find_type(p, tag) : NULL;

    if (type == NULL)
        nsc_ctf_fail(&p->w, EBADMSG, "an unknown type");
    return type;
}

static struct ctf_type *take_struct(struct parser *p)
{
    char room[CTF_NAME_BYTES];
    const char *tag;
    struct ctf_type *type;

    nsc_ctf_word(&p->w);
    tag = take_tag(p, "struct", room);
    if (!nsc_ctf_is_sign(&p->w, '{'))
        return known_type(p, tag);
    type = new_type(p, CTF_STRUCT);
    if (type == NULL)
        return NULL;
    take_fields(p, type);
    if (nsc_ctf_is_word(&p->w, "align")) {
        nsc_ctf_word(&p->w);
        nsc_ctf_expect(&p->w, '(');
        if (p->w.token != CTF_WORD_NUMBER)
            nsc_ctf_fail(&p->w, EBADMSG, "a number expected");
        else if (p->w.number > type->align)
            set_align(p, type, p->w.number);
        nsc_ctf_word(&p->w);
        nsc_ctf_expect(&p->w, ')');
    }
    if (tag != NULL && p->w.error == 0)
        name_type(p, tag, type);
    return type;
}

static struct ctf_type *take_variant(struct parser *p)
{
    char room[CTF_NAME_BYTES];
    const char *tag, *reference = NULL;
    struct ctf_type *type, *copy;

    nsc_ctf_word(&p->w);
    tag = take_tag(p, "variant", room);
    if (nsc_ctf_take_sign(&p->w, '<')) {
        reference = nsc_ctf_take_path(&p->w);
        nsc_ctf_expect(&p->w, '>');
    }
    if (nsc_ctf_is_sign(&p->w, '{')) {
        type = new_type(p, CTF_VARIANT);
        if (type == NULL)
            return NULL;
        take_fields(p, type);
        if (tag != NULL && p->w.error == 0)
            name_type(p, tag, type);
    } else {
        type = known_type(p, tag);
    }
    if (type == NULL || reference == NULL)
        return type;
    copy = nsc_ctf_need(&p->w, sizeof *copy); /* each use may have a choice of its own */
    if (copy != NULL) {
        *copy = *type;
        copy->reference = reference;
    }
    return copy;
}

static int compare_labels(const void *a, const void *b)
{
    const struct ctf_label *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

static void sort_labels(struct parser *p, struct ctf_type *type, struct ctf_label *list)
{
    struct ctf_label *all = nsc_ctf_need(&p->w, (type->label_count + 1) * sizeof *all);

    if (all == NULL)
        return;
    for (uint32_t i = 0; list != NULL; list = list->next)
        all[i++] = *list;
    if (type->label_count > 0)
        qsort(all, type->label_count, sizeof *all, compare_labels);
    type->labels = all;
}

/* "{ a, b = 3, "c" = 4 ... 6 }" */
static void take_labels(struct parser *p, struct ctf_type *type)
{
    struct ctf_label *first = NULL, **end = &first;
    uint64_t value = 0;

    nsc_ctf_expect(&p->w, '{');
    while (p->w.error == 0 && !nsc_ctf_take_sign(&p->w, '}')) {
        struct ctf_label *l = nsc_ctf_need(&p->w, sizeof *l);

        if (l == NULL)
            return;
        if (p->w.token != CTF_WORD_NAME && p->w.token != CTF_WORD_TEXT)
            nsc_ctf_fail(&p->w, EBADMSG, "a label expected");
        l->name = p->w.text;
        l->function = UINT32_MAX;
        nsc_ctf_word(&p->w);
        if (nsc_ctf_take_sign(&p->w, '=')) {
            value = p->w.number;
            if (p->w.token != CTF_WORD_NUMBER)
                nsc_ctf_fail(&p->w, EBADMSG, "a number expected");
            nsc_ctf_word(&p->w);
        }
        l->low = l->high = value;
        if (nsc_ctf_take_sign(&p->w, CTF_SIGN_RANGE)) {
            l->high = p->w.number;
            if (p->w.token != CTF_WORD_NUMBER)
                nsc_ctf_fail(&p->w, EBADMSG, "a number expected");
            nsc_ctf_word(&p->w);
        }
        value = l->high + 1;
        *end = l;
        end = &l->next;
        type->label_count++;
        if (!nsc_ctf_is_sign(&p->w, '}'))
            nsc_ctf_expect(&p->w, ',');
    }
    sort_labels(p, type, first);
}

static struct ctf_type *take_enum(struct parser *p)
{
    char room[CTF_NAME_BYTES];
    const char *tag, *none = NULL;
    struct ctf_type *type;

    nsc_ctf_word(&p->w);
    tag = take_tag(p, "enum", room);
    if (!nsc_ctf_is_sign(&p->w, '{') && !nsc_ctf_is_sign(&p->w, ':'))
        return known_type(p, tag);
    type = new_type(p, CTF_ENUM);
    if (type == NULL)
        return NULL;
    type->inner = nsc_ctf_take_sign(&p->w, ':') ? take_type(p, false, &none) : find_type(p, "int");
    if (type->inner == NULL || type->inner->kind != CTF_INT) {
        nsc_ctf_fail(&p->w, EBADMSG, "an enumeration of something else than integers");
        return NULL;
    }
    type->align = type->inner->align;
    hold(p, type, type->inner);
    take_labels(p, type);
    if (tag != NULL && p->w.error == 0)
        name_type(p, tag, type);
    return type;
}

/* A type by name, "unsigned long"; with @declares the last word is what is declared. */
static struct ctf_type *take_named(struct parser *p, bool declares, const char **name)
{
    const char *words[WORDS_MAX] = {NULL};
    char joined[CTF_NAME_BYTES];
    size_t used = 0;
    uint32_t count = 0;
    struct ctf_type *type;

    for (; p->w.token == CTF_WORD_NAME || nsc_ctf_is_sign(&p->w, '*'); nsc_ctf_word(&p->w)) {
        if (nsc_ctf_is_word(&p->w, "const"))
            continue;
        if (count == WORDS_MAX) {
            nsc_ctf_fail(&p->w, EBADMSG, "a type of too many words");
            return NULL;
        }
        words[count++] = p->w.token == CTF_WORD_NAME ? p->w.text : "*";
    }
    if (declares && count > 0)
        *name = words[--count];
    for (uint32_t i = 0; i < count && used < sizeof joined; i++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i > 0 ? " " : "",
                                 words[i]);
    if (count == 0 || used >= sizeof joined) {
        nsc_ctf_fail(&p->w, EBADMSG, "a type expected");
        return NULL;
    }
    type = find_type(p, joined);
    if (type == NULL) {
        char what[CTF_NAME_BYTES + 32];

        snprintf(what, sizeof what, "unknown type \"%s\"", joined);
        nsc_ctf_fail(&p->w, EBADMSG, what);
    }
    return type;
}

/* A type; with @declares also the name that it declares, if there is one. NULL after an error. */
static struct ctf_type *take_type(struct parser *p, bool declares, const char **name)
{
    struct ctf_type *type;

    if (++p->depth > NESTING_MAX) {
        nsc_ctf_fail(&p->w, EBADMSG, "types inside one another, too many");
        return NULL;
    }
    if (nsc_ctf_is_word(&p->w, "struct"))
        type = take_struct(p);
    else if (nsc_ctf_is_word(&p->w, "variant"))
        type = take_variant(p);
    else if (nsc_ctf_is_word(&p->w, "enum"))
        type = take_enum(p);
    else if (nsc_ctf_is_word(&p->w, "integer"))
        type = take_number(p, CTF_INT);
    else if (nsc_ctf_is_word(&p->w, "floating_point"))
        type = take_number(p, CTF_FLOAT);
    else if (nsc_ctf_is_word(&p->w, "string"))
        type = take_number(p, CTF_STRING);
    else {
        p->depth--;
        return take_named(p, declares, name);
    }
    p->depth--;
    if (declares && p->w.token == CTF_WORD_NAME) {
        *name = p->w.text;
        nsc_ctf_word(&p->w);
    }
    return p->w.error == 0 ? type : NULL;
}

/* typealias or typedef. Returns false if it is neither. */
static bool take_definition(struct parser *p)
{
    bool alias = nsc_ctf_is_word(&p->w, "typealias");
    const char *name = NULL;
    struct ctf_type *type;
    char joined[CTF_NAME_BYTES];
    size_t used = 0;

    if (!alias && !nsc_ctf_is_word(&p->w, "typedef"))
        return false;
    nsc_ctf_word(&p->w);
    type = take_type(p, !alias, &name);
    if (alias) {
        nsc_ctf_expect(&p->w, CTF_SIGN_TYPE);
        for (; p->w.token == CTF_WORD_NAME || nsc_ctf_is_sign(&p->w, '*'); nsc_ctf_word(&p->w)) {
            if (nsc_ctf_is_word(&p->w, "const"))
                continue;
            used +=
                (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", used > 0 ? " " : "",
                                 p->w.token == CTF_WORD_NAME ? p->w.text : "*");
            if (used >= sizeof joined) {
                nsc_ctf_fail(&p->w, EBADMSG, "a name that is too long");
                break;
            }
        }
        name = used > 0 ? joined : NULL;
    } else if (type != NULL && name != NULL) {
        type = take_dimensions(p, type);
    }
    nsc_ctf_expect(&p->w, ';');
    if (p->w.error == 0 && (type == NULL || name == NULL))
        nsc_ctf_fail(&p->w, EBADMSG, "a name expected");
    if (p->w.error == 0 && name != NULL)
        name_type(p, name, type);
    return true;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

struct block {
    struct ctf_stream_class *stream;
    struct ctf_event *event;
    struct ctf_clock *clock;
    bool is_trace, is_env;
};

static void set_type(struct parser *p, struct block *b, const char *key, struct ctf_type *type)
{
    struct ctf_type **to = NULL;

    if (b->is_trace && strcmp(key, "packet.header") == 0)
        to = &p->w.trace->packet_header;
    if (b->stream != NULL && strcmp(key, "packet.context") == 0)
        to = &b->stream->packet_context;
    if (b->stream != NULL && strcmp(key, "event.header") == 0)
        to = &b->stream->event_header;
    if (b->stream != NULL && strcmp(key, "event.context") == 0)
        to = &b->stream->event_context;
    if (b->event != NULL && strcmp(key, "context") == 0)
        to = &b->event->context;
    if (b->event != NULL && strcmp(key, "fields") == 0)
        to = &b->event->fields;
    if (to != NULL && type->kind != CTF_STRUCT)
        nsc_ctf_fail(&p->w, EBADMSG, "something else than a structure");
    else if (to != NULL)
        *to = type;
}

static void set_clock(struct parser *p, struct ctf_clock *clock, const char *key,
                      const struct value *v)
{
    if (strcmp(key, "name") == 0)
        clock->name = v->text;
    else if (strcmp(key, "freq") == 0)
        clock->frequency = v->number;
    else if (strcmp(key, "offset_s") == 0)
        clock->offset_s = v->number;
    else if (strcmp(key, "offset") == 0)
        clock->offset = v->number;
    if (clock->frequency == 0)
        nsc_ctf_fail(&p->w, EBADMSG, "a clock that stands still");
}

static void set_value(struct parser *p, struct block *b, const char *key, const struct value *v)
{
    if (b->clock != NULL) {
        set_clock(p, b->clock, key, v);
    } else if (b->stream != NULL) {
        if (strcmp(key, "id") == 0)
            b->stream->id = v->number;
    } else if (b->event != NULL) {
        if (strcmp(key, "id") == 0)
            b->event->id = v->number;
        if (strcmp(key, "name") == 0)
            b->event->name = v->text;
        if (strcmp(key, "stream_id") == 0) {
            b->event->stream_id = v->number;
            b->event->has_stream = true;
        }
    } else if (b->is_trace) {
        if (strcmp(key, "byte_order") == 0)
            p->w.trace->order = order_of(p, v);
        if (strcmp(key, "major") == 0 && v->number != 1)
            nsc_ctf_fail(&p->w, ENOTSUP, "a version of CTF that is not read; 1.8 is");
    } else if (b->is_env && v->token == CTF_WORD_TEXT) {
        if (strcmp(key, "tracer_name") == 0)
            p->w.trace->tracer = v->text;
        if (strcmp(key, "domain") == 0)
            p->w.trace->domain = v->text;
        if (strcmp(key, "hostname") == 0)
            p->w.trace->host = v->text;
    }
}

/* "{ key = value; key := type; ... };" */
static void take_block(struct parser *p, struct block *b)
{
    uint32_t names = p->alias_count;

    nsc_ctf_expect(&p->w, '{');
    while (p->w.error == 0 && !nsc_ctf_take_sign(&p->w, '}')) {
        const char *key, *none = NULL;
        struct ctf_type *type;
        struct value v;

        if (take_definition(p))
            continue;
        if (nsc_ctf_is_word(&p->w, "struct") || nsc_ctf_is_word(&p->w, "enum") ||
            nsc_ctf_is_word(&p->w, "variant")) {
            (void)take_type(p, false, &none);
            nsc_ctf_expect(&p->w, ';');
            continue;
        }
        key = nsc_ctf_take_path(&p->w);
        if (nsc_ctf_take_sign(&p->w, CTF_SIGN_TYPE)) {
            type = take_type(p, false, &none);
            nsc_ctf_expect(&p->w, ';');
            if (p->w.error == 0 && type != NULL)
                set_type(p, b, key, type);
            continue;
        }
        nsc_ctf_expect(&p->w, '=');
        take_value(p, &v);
        nsc_ctf_expect(&p->w, ';');
        if (p->w.error == 0)
            set_value(p, b, key, &v);
    }
    end_scope(p, names);
    nsc_ctf_expect(&p->w, ';');
}

static void take_stream(struct parser *p)
{
    struct block b = {.stream = nsc_ctf_need(&p->w, sizeof *b.stream)};

    if (b.stream == NULL)
        return;
    take_block(p, &b);
    b.stream->next = p->w.trace->streams;
    p->w.trace->streams = b.stream;
}

static void take_event(struct parser *p)
{
    struct block b = {.event = nsc_ctf_need(&p->w, sizeof *b.event)};

    if (b.event == NULL)
        return;
    b.event->name = "";
    b.event->function = UINT32_MAX;
    take_block(p, &b);
    b.event->next = p->w.trace->events;
    p->w.trace->events = b.event;
}

static void take_clock(struct parser *p)
{
    struct block b = {.clock = nsc_ctf_need(&p->w, sizeof *b.clock)};

    if (b.clock == NULL)
        return;
    b.clock->name = "";
    b.clock->frequency = 1000000000;
    take_block(p, &b);
    b.clock->next = p->w.trace->clocks;
    p->w.trace->clocks = b.clock;
}

static void take_top(struct parser *p)
{
    const char *none = NULL;
    struct block b = {.is_trace = nsc_ctf_is_word(&p->w, "trace"),
                      .is_env = nsc_ctf_is_word(&p->w, "env")};

    if (take_definition(p) || nsc_ctf_take_sign(&p->w, ';'))
        return;
    if (nsc_ctf_is_word(&p->w, "stream")) {
        nsc_ctf_word(&p->w);
        take_stream(p);
    } else if (nsc_ctf_is_word(&p->w, "event")) {
        nsc_ctf_word(&p->w);
        take_event(p);
    } else if (nsc_ctf_is_word(&p->w, "clock")) {
        nsc_ctf_word(&p->w);
        take_clock(p);
    } else if (b.is_trace || b.is_env || nsc_ctf_is_word(&p->w, "callsite")) {
        nsc_ctf_word(&p->w);
        take_block(p, &b);
    } else if (nsc_ctf_is_word(&p->w, "struct") || nsc_ctf_is_word(&p->w, "enum") ||
               nsc_ctf_is_word(&p->w, "variant")) {
        (void)take_type(p, false, &none);
        nsc_ctf_expect(&p->w, ';');
    } else {
        nsc_ctf_fail(&p->w, EBADMSG, "neither a type, a clock, a trace, a stream nor an event");
    }
}

int nsc_ctf_parse(const char *text, const char *name, struct ctf_trace *trace,
                  struct nsc_diag *diag)
{
    struct parser p = {.w = {.trace = trace, .name = name, .diag = diag, .at = text, .line = 1}};

    *trace = (struct ctf_trace){.order = CTF_LITTLE};
    nsc_ctf_word(&p.w);
    while (p.w.error == 0 && p.w.token != CTF_WORD_END)
        take_top(&p);
    nsc_names_free(&p.names);
    free(p.aliases);
    return p.w.error != 0 ? p.w.error : nsc_ctf_resolve(trace, name, diag);
}
