/*
 * tsdl_types.c - parse type declarations of CTF 1.8 metadata: numbers, structures, variants,
 * enumerations, arrays, and type names. Called by tsdl.c.
 * Source: "The Common Trace Format", version 1.8.3 (diamon.org/ctf), sections 4 and 6.
 */
#include "formats/ctf/tsdl_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define NESTING_MAX  64u /* levels of types inside types */
#define WORDS_MAX    8u  /* words in a type's name */
#define DIMENSIONS   8u
#define INT_BITS_MAX 64u
#define ALIGN_MAX    4096u

struct ctf_alias {
    struct ctf_type *type;
    uint32_t before;            /* alias that it shadows; UINT32_MAX = none */
    struct nsc_names_entry key; /* its name */
};

/* ---- Names of types ----------------------------------------------------------------------- */

static struct ctf_type *find_type(struct ctf_parser *p, const char *name)
{
    struct nsc_names_entry *e;

    if (nsc_names_find(&p->names, name, strlen(name), &e) != 0) {
        nsc_ctf_fail(&p->w, ENOMEM, "out of memory");
        return NULL;
    }
    return e->id != UINT32_MAX ? p->aliases[e->id].type : NULL;
}

static void name_type(struct ctf_parser *p, const char *name, struct ctf_type *type)
{
    struct ctf_alias *all =
        nsc_array_grow(p->aliases, &p->alias_room, p->alias_count, sizeof *p->aliases);
    struct nsc_names_entry *e;

    if (all != NULL)
        p->aliases = all;
    if (all == NULL || nsc_names_find(&p->names, name, strlen(name), &e) != 0) {
        nsc_ctf_fail(&p->w, ENOMEM, "out of memory");
        return;
    }
    all[p->alias_count] = (struct ctf_alias){.type = type, .before = e->id, .key = *e};
    e->id = p->alias_count++;
}

void nsc_ctf_end_scope(struct ctf_parser *p, uint32_t count)
{
    while (p->alias_count > count) {
        const struct ctf_alias *a = &p->aliases[--p->alias_count];
        struct nsc_names_entry *e;

        if (nsc_names_find(&p->names, a->key.text, a->key.bytes, &e) == 0)
            e->id = a->before;
    }
}

/* ---- Types -------------------------------------------------------------------------------- */

static struct ctf_type *new_type(struct ctf_parser *p, enum ctf_kind kind)
{
    struct ctf_type *type = nsc_ctf_need(&p->w, sizeof *type);

    if (type != NULL) {
        type->kind = kind;
        type->align = 1;
        type->depth = 1;
    }
    return type;
}

/* Updates the nesting depth of @type, which contains @inner, and checks the limit. */
static void hold(struct ctf_parser *p, struct ctf_type *type, const struct ctf_type *inner)
{
    if (inner->depth + 1 > type->depth)
        type->depth = inner->depth + 1;
    if (type->depth > NESTING_MAX)
        nsc_ctf_fail(&p->w, EBADMSG, "types inside one another, too many");
}

void nsc_ctf_take_value(struct ctf_parser *p, struct ctf_value *v)
{
    *v = (struct ctf_value){.token = p->w.token, .number = p->w.number, .text = ""};
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

static bool is_true(const struct ctf_value *v)
{
    return v->token == CTF_WORD_NUMBER
               ? v->number != 0
               : strcmp(v->text, "true") == 0 || strcmp(v->text, "TRUE") == 0;
}

uint32_t nsc_ctf_order_of(struct ctf_parser *p, const struct ctf_value *v)
{
    if (strcmp(v->text, "le") == 0)
        return CTF_LITTLE;
    if (strcmp(v->text, "be") == 0 || strcmp(v->text, "network") == 0)
        return CTF_BIG;
    if (strcmp(v->text, "native") != 0)
        nsc_ctf_fail(&p->w, EBADMSG, "an unknown byte order");
    return CTF_NATIVE;
}

/* Returns NAME of "clock.NAME.value", "clock.NAME", "NAME.value" or "NAME". */
static const char *clock_of(struct ctf_parser *p, const char *path)
{
    const char *start = strncmp(path, "clock.", 6) == 0 ? path + 6 : path;
    const char *end = strrchr(start, '.');

    return nsc_ctf_keep(&p->w, start, end != NULL ? (size_t)(end - start) : strlen(start));
}

static void set_align(struct ctf_parser *p, struct ctf_type *type, uint64_t bits)
{
    if (bits == 0 || bits > ALIGN_MAX || (bits & (bits - 1)) != 0)
        nsc_ctf_fail(&p->w, EBADMSG, "an alignment that is no power of two up to 4096");
    else
        type->align = (uint32_t)bits;
}

/* Sets an attribute of an integer, floating_point or string type. */
static void set_attribute(struct ctf_parser *p, struct ctf_type *type, const char *key,
                          const struct ctf_value *v)
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
        type->order = nsc_ctf_order_of(p, v);
    } else if (strcmp(key, "encoding") == 0) {
        type->is_text = strcmp(v->text, "none") != 0;
    } else if (strcmp(key, "map") == 0) {
        type->clock_name = clock_of(p, v->text);
    }
}

/* Parses the attributes of a number or string, "{ key = value; ... }". */
static struct ctf_type *take_number(struct ctf_parser *p, enum ctf_kind kind)
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
        struct ctf_value v;

        nsc_ctf_expect(&p->w, '=');
        nsc_ctf_take_value(p, &v);
        nsc_ctf_expect(&p->w, ';');
        if (p->w.error == 0)
            set_attribute(p, type, key, &v);
    }
    if (kind == CTF_STRING)
        type->align = 8;
    else if (type->size == 0)
        nsc_ctf_fail(&p->w, EBADMSG, "a number without a size");
    else if (type->size > INT_BITS_MAX)
        nsc_ctf_fail(&p->w, ENOTSUP, "real numbers have 32 or 64 bits");
    if (type->align == 0)
        type->align = type->size % 8 == 0 ? 8 : 1;
    return type;
}

static void add_field(struct ctf_parser *p, struct ctf_type *to, const char *name,
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

/* Parses array dimensions after a name, "[3]" or "[length]", outermost first. */
static struct ctf_type *take_dimensions(struct ctf_parser *p, struct ctf_type *type)
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

/* Parses the fields of a structure or variant, "{ type name; ... }". */
static void take_fields(struct ctf_parser *p, struct ctf_type *type)
{
    uint32_t names = p->alias_count;

    nsc_ctf_expect(&p->w, '{');
    while (p->w.error == 0 && !nsc_ctf_take_sign(&p->w, '}')) {
        const char *name = NULL;
        struct ctf_type *inner;

        if (nsc_ctf_take_definition(p))
            continue;
        inner = nsc_ctf_take_type(p, true, &name);
        if (inner != NULL && name != NULL)
            inner = take_dimensions(p, inner);
        nsc_ctf_expect(&p->w, ';');
        if (p->w.error == 0 && inner != NULL && name != NULL)
            add_field(p, type, name, inner);
    }
    nsc_ctf_end_scope(p, names);
}

/* Parses the tag of a type, "struct x", into @tag. Returns @tag, or NULL if there is none. */
static const char *take_tag(struct ctf_parser *p, const char *kind, char tag[CTF_NAME_BYTES])
{
    if (p->w.token != CTF_WORD_NAME)
        return NULL;
    if (snprintf(tag, CTF_NAME_BYTES, "%s %s", kind, p->w.text) >= (int)CTF_NAME_BYTES)
        nsc_ctf_fail(&p->w, EBADMSG, "a name that is too long");
    nsc_ctf_word(&p->w);
    return tag;
}

/* Returns the type that was defined under @tag; an unknown type is an error. */
static struct ctf_type *known_type(struct ctf_parser *p, const char *tag)
{
    struct ctf_type *type = tag != NULL ? find_type(p, tag) : NULL;

    if (type == NULL)
        nsc_ctf_fail(&p->w, EBADMSG, "an unknown type");
    return type;
}

static struct ctf_type *take_struct(struct ctf_parser *p)
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

static int compare_options(const void *a, const void *b)
{
    const struct ctf_field *x = *(struct ctf_field *const *)a, *y = *(struct ctf_field *const *)b;

    return strcmp(x->name, y->name);
}

static void sort_options(struct ctf_parser *p, struct ctf_type *type)
{
    uint32_t count = 0;

    for (const struct ctf_field *f = type->fields; f != NULL; f = f->next)
        count++;
    type->options = nsc_ctf_need(&p->w, ((size_t)count + 1) * sizeof(struct ctf_field *));
    if (type->options == NULL)
        return;
    for (struct ctf_field *f = type->fields; f != NULL; f = f->next)
        type->options[type->option_count++] = f;
    if (count > 0)
        qsort(type->options, count, sizeof(struct ctf_field *), compare_options);
}

static struct ctf_type *take_variant(struct ctf_parser *p)
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
        sort_options(p, type);
        if (tag != NULL && p->w.error == 0)
            name_type(p, tag, type);
    } else {
        type = known_type(p, tag);
    }
    if (type == NULL || reference == NULL)
        return type;
    copy = nsc_ctf_need(&p->w, sizeof *copy); /* each use may have a tag field of its own */
    if (copy != NULL) {
        *copy = *type;
        copy->reference = reference;
    }
    return copy;
}

static int compare_labels(const void *a, const void *b, void *context)
{
    const struct ctf_label *x = a, *y = b;
    uint64_t sign = *(const uint64_t *)context;
    uint64_t left = x->low ^ sign, right = y->low ^ sign;

    return (left > right) - (left < right);
}

/* Sets `reach` for the labels from @low to before @high. Returns their highest end. See
 * find_label() in ctf_resolve.c. */
static uint64_t set_reach(struct ctf_label *all, uint32_t low, uint32_t high, uint64_t sign)
{
    uint32_t middle = low + (high - low) / 2;
    uint64_t reach = all[middle].high, other;

    if (middle > low) {
        other = set_reach(all, low, middle, sign);
        reach = (other ^ sign) > (reach ^ sign) ? other : reach;
    }
    if (middle + 1 < high) {
        other = set_reach(all, middle + 1, high, sign);
        reach = (other ^ sign) > (reach ^ sign) ? other : reach;
    }
    return all[middle].reach = reach;
}

static void sort_labels(struct ctf_parser *p, struct ctf_type *type, struct ctf_label *list)
{
    struct ctf_label *all =
        nsc_ctf_need(&p->w, ((size_t)type->label_count + 1) * sizeof(struct ctf_label));
    uint64_t sign = nsc_ctf_sign(type);

    if (all == NULL)
        return;
    for (uint32_t i = 0; list != NULL; list = list->next)
        all[i++] = *list;
    if (type->label_count > 0) {
        qsort_r(all, type->label_count, sizeof *all, compare_labels, &sign);
        set_reach(all, 0, type->label_count, sign);
    }
    type->labels = all;
}

/* Parses enumeration labels, "{ a, b = 3, "c" = 4 ... 6 }". */
static void take_labels(struct ctf_parser *p, struct ctf_type *type)
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

static struct ctf_type *take_enum(struct ctf_parser *p)
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
    type->inner =
        nsc_ctf_take_sign(&p->w, ':') ? nsc_ctf_take_type(p, false, &none) : find_type(p, "int");
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

/* Parses a type by name, "unsigned long". With @declares, the last word is the declared name. */
static struct ctf_type *take_named(struct ctf_parser *p, bool declares, const char **name)
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

struct ctf_type *nsc_ctf_take_type(struct ctf_parser *p, bool declares, const char **name)
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

bool nsc_ctf_take_definition(struct ctf_parser *p)
{
    bool alias = nsc_ctf_is_word(&p->w, "typealias");
    const char *name = NULL;
    struct ctf_type *type;
    char joined[CTF_NAME_BYTES];
    size_t used = 0;

    if (!alias && !nsc_ctf_is_word(&p->w, "typedef"))
        return false;
    nsc_ctf_word(&p->w);
    type = nsc_ctf_take_type(p, !alias, &name);
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

void nsc_ctf_types_free(struct ctf_parser *p)
{
    nsc_names_free(&p->names);
    free(p->aliases);
}
