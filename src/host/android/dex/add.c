/*
 * add.c - find or add strings, types, prototypes, fields and methods.
 *
 * Called through dex.h. New elements are appended after the sorted part of their table; a tail
 * (dex_state.h) indexes them. sort_ids.c sorts them in.
 */
#include <errno.h>
#include <stdio.h>

#include "android/dex/dex_state.h"
#include "util/array.h"

#define PARAMETERS_MAX 255

/* Search key of an element. */
struct key {
    const uint8_t *text;
    uint32_t index; /* of a type's descriptor */
    struct nsc_dex_list parameters;
    struct nsc_dex_proto proto;
    struct nsc_dex_field field;
    struct nsc_dex_method method;
};

uint32_t nsc_dex_fail(struct nsc_dex *dex, int error, const char *what)
{
    if (dex->own->error == 0) {
        dex->own->error = error;
        snprintf(dex->own->why, sizeof dex->own->why, "%s", what);
    }
    return NSC_DEX_NONE;
}

/* ---- Find -------------------------------------------------------------------------------------
 */

static int compare_proto(const struct nsc_dex *dex, uint32_t i, const struct key *key)
{
    static const struct nsc_dex_list none = {NULL, 0};
    const struct nsc_dex_proto *p = &dex->protos[i];

    if (p->returns != key->proto.returns)
        return p->returns < key->proto.returns ? -1 : 1;
    return nsc_dex_compare_lists(p->parameters == NSC_DEX_NONE ? &none : &dex->lists[p->parameters],
                                 &key->parameters);
}

static int compare(const struct nsc_dex *dex, enum nsc_dex_table table, uint32_t i,
                   const struct key *key)
{
    switch (table) {
    case NSC_DEX_STRINGS:
        return nsc_dex_compare_text(dex->strings[i].data, key->text);
    case NSC_DEX_TYPES:
        return dex->types[i] < key->index ? -1 : dex->types[i] > key->index;
    case NSC_DEX_PROTOS:
        return compare_proto(dex, i, key);
    case NSC_DEX_FIELDS:
        return nsc_dex_compare_fields(&dex->fields[i], &key->field);
    case NSC_DEX_METHODS:
    case NSC_DEX_TABLES:
        break;
    }
    return nsc_dex_compare_methods(&dex->methods[i], &key->method);
}

/* Find an element. Returns NSC_DEX_NONE if there is none; @place is then its position in the tail.
 */
static uint32_t find(const struct nsc_dex *dex, enum nsc_dex_table table, const struct key *key,
                     uint32_t *place)
{
    const struct nsc_dex_tail *tail = &dex->own->tails[table];
    const uint32_t parts[2] = {tail->sorted, nsc_dex_count(dex, table) - tail->sorted};

    *place = 0;
    for (int part = 0; part < 2; part++) {
        uint32_t low = 0, high = parts[part];

        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            uint32_t i = part == 0 ? middle : tail->order[middle];
            int order = compare(dex, table, i, key);

            if (order == 0)
                return i;
            if (order < 0)
                low = middle + 1;
            else
                high = middle;
        }
        *place = low;
    }
    return NSC_DEX_NONE;
}

/* Length of the type descriptor at @text, or 0 if it is malformed. */
static size_t descriptor_length(const char *text)
{
    size_t arrays = strspn(text, "["), name;

    if (arrays > PARAMETERS_MAX || text[arrays] == '\0')
        return 0;
    if (text[arrays] != 'L')
        return strchr("ZBSCIJFDV", text[arrays]) != NULL ? arrays + 1 : 0;
    name = strcspn(text + arrays, ";");
    return text[arrays + name] == ';' && name > 1 ? arrays + name + 1 : 0;
}

/* Call @each for the parameters of "(I[J)V" and then for the return type. Returns false if
 * @signature is malformed or @each returns false. */
static bool each_type(const char *signature,
                      bool (*each)(void *context, const char *descriptor, bool last), void *context)
{
    struct nsc_buffer piece = {0};
    bool good = signature[0] == '(', last = false;
    const char *at = signature + good;

    while (good && !last) {
        size_t bytes;

        last = *at == ')';
        at += last;
        bytes = descriptor_length(at);
        nsc_buffer_clear(&piece);
        nsc_buffer_bytes(&piece, at, bytes);
        nsc_buffer_bytes(&piece, "", 1);
        good = bytes != 0 && !piece.failed && (!last || at[bytes] == '\0') &&
               each(context, (const char *)piece.data, last);
        at += bytes;
    }
    nsc_buffer_free(&piece);
    return good;
}

uint32_t nsc_dex_find_string(const struct nsc_dex *dex, const char *text)
{
    struct key key = {.text = (const uint8_t *)text};
    uint32_t place;

    return find(dex, NSC_DEX_STRINGS, &key, &place);
}

uint32_t nsc_dex_find_type(const struct nsc_dex *dex, const char *descriptor)
{
    struct key key = {.index = nsc_dex_find_string(dex, descriptor)};
    uint32_t place;

    return key.index == NSC_DEX_NONE ? NSC_DEX_NONE : find(dex, NSC_DEX_TYPES, &key, &place);
}

/* A prototype being parsed. */
struct pieces {
    const struct nsc_dex *dex;
    struct nsc_dex *adding; /* NULL: only find */
    uint32_t types[PARAMETERS_MAX + 1], count;
    char shorty[PARAMETERS_MAX + 2];
};

static bool take_type(void *context, const char *descriptor, bool last)
{
    struct pieces *p = context;
    uint32_t type;

    if (p->count == PARAMETERS_MAX + (uint32_t)last || (descriptor[0] == 'V' && !last))
        return false;
    type = p->adding != NULL ? nsc_dex_add_type(p->adding, descriptor)
                             : nsc_dex_find_type(p->dex, descriptor);
    p->shorty[last ? 0 : p->count + 1] = *(descriptor[0] == '[' ? "L" : descriptor);
    p->types[p->count++] = type;
    return type != NSC_DEX_NONE;
}

/* Build a key from @p's types; the last one is the return type. */
static struct key key_of_proto(struct pieces *p)
{
    struct key key = {.parameters = {p->types, p->count - 1},
                      .proto = {.returns = p->types[p->count - 1]}};

    return key;
}

static uint32_t find_proto(const struct nsc_dex *dex, const char *signature)
{
    struct pieces p = {.dex = dex};
    struct key key;
    uint32_t place;

    if (!each_type(signature, take_type, &p))
        return NSC_DEX_NONE;
    key = key_of_proto(&p);
    return find(dex, NSC_DEX_PROTOS, &key, &place);
}

uint32_t nsc_dex_find_method(const struct nsc_dex *dex, const char *holder, const char *name,
                             const char *signature)
{
    struct key key = {.method = {.holder = nsc_dex_find_type(dex, holder),
                                 .proto = find_proto(dex, signature),
                                 .name = nsc_dex_find_string(dex, name)}};
    uint32_t place;

    if (key.method.holder == NSC_DEX_NONE || key.method.proto == NSC_DEX_NONE ||
        key.method.name == NSC_DEX_NONE)
        return NSC_DEX_NONE;
    return find(dex, NSC_DEX_METHODS, &key, &place);
}

/* ---- Add --------------------------------------------------------------------------------------
 */

/* Limit of a table's elements. 65,535 is not a valid index of a type or prototype. */
static uint32_t limit_of(enum nsc_dex_table table)
{
    return table == NSC_DEX_STRINGS                            ? NSC_DEX_NONE
           : table == NSC_DEX_TYPES || table == NSC_DEX_PROTOS ? NSC_DEX_ID_MAX - 1
                                                               : NSC_DEX_ID_MAX;
}

struct nsc_dex_room nsc_dex_room(const struct nsc_dex *dex)
{
    uint32_t room[NSC_DEX_TABLES];

    for (enum nsc_dex_table i = 0; i < NSC_DEX_TABLES; i++) {
        uint32_t count = nsc_dex_count(dex, i);

        room[i] = count < limit_of(i) ? limit_of(i) - count : 0;
    }
    return (struct nsc_dex_room){.types = room[NSC_DEX_TYPES],
                                 .protos = room[NSC_DEX_PROTOS],
                                 .fields = room[NSC_DEX_FIELDS],
                                 .methods = room[NSC_DEX_METHODS]};
}

/* Insert the element that is about to be appended into the tail at @place. Returns false, with the
 * error latched, on failure. */
static bool enter(struct nsc_dex *dex, enum nsc_dex_table table, uint32_t place)
{
    static const char *const full[NSC_DEX_TABLES] = {
        "the DEX file has no room for another string", "the DEX file has no room for another type",
        "the DEX file has no room for another prototype",
        "the DEX file has no room for another field",
        "the DEX file has no room for another method"};
    struct nsc_dex_tail *tail = &dex->own->tails[table];
    uint32_t count = nsc_dex_count(dex, table), entries = count - tail->sorted, *order;

    if (count >= limit_of(table)) {
        nsc_dex_fail(dex, -EOVERFLOW, full[table]);
        return false;
    }
    order = nsc_array_grow(tail->order, &tail->room, entries, sizeof *order);
    if (order == NULL) {
        nsc_dex_fail(dex, -ENOMEM, "out of memory");
        return false;
    }
    tail->order = order;
    memmove(order + place + 1, order + place, (entries - place) * sizeof *order);
    order[place] = count;
    return true;
}

bool nsc_dex_grow(struct nsc_dex *dex, void *table, uint32_t *room, uint32_t count, size_t item)
{
    void *memory;

    memcpy(&memory, table, sizeof memory);
    memory = nsc_array_grow(memory, room, count, item);
    if (memory == NULL) {
        nsc_dex_fail(dex, -ENOMEM, "out of memory");
        return false;
    }
    memcpy(table, &memory, sizeof memory);
    return true;
}

uint32_t nsc_dex_add_string(struct nsc_dex *dex, const char *text)
{
    struct key key = {.text = (const uint8_t *)text};
    struct nsc_dex_string *s;
    uint32_t place, found = find(dex, NSC_DEX_STRINGS, &key, &place);
    size_t bytes = strlen(text);
    const uint8_t *copy;

    if (found != NSC_DEX_NONE)
        return found;
    if (bytes > INT32_MAX)
        return nsc_dex_fail(dex, -EOVERFLOW, "a string is too long for a DEX file");
    copy = nsc_dex_copy(dex, text, bytes + 1);
    if (copy == NULL)
        return nsc_dex_fail(dex, -ENOMEM, "out of memory");
    if (!nsc_dex_grow(dex, &dex->strings, &dex->own->rooms[NSC_DEX_STRINGS], dex->string_count,
                      sizeof *s) ||
        !enter(dex, NSC_DEX_STRINGS, place))
        return NSC_DEX_NONE;
    s = &dex->strings[dex->string_count];
    s->data = copy;
    s->bytes = (uint32_t)bytes;
    s->units = nsc_dex_count_units(copy);
    return dex->string_count++;
}

uint32_t nsc_dex_add_type(struct nsc_dex *dex, const char *descriptor)
{
    struct key key = {.index = NSC_DEX_NONE};
    uint32_t place, found;

    if (descriptor_length(descriptor) != strlen(descriptor) || descriptor[0] == '\0')
        return nsc_dex_fail(dex, -EINVAL, "what was to be added is no type's descriptor");
    key.index = nsc_dex_add_string(dex, descriptor);
    if (key.index == NSC_DEX_NONE)
        return NSC_DEX_NONE;
    found = find(dex, NSC_DEX_TYPES, &key, &place);
    if (found != NSC_DEX_NONE)
        return found;
    if (!nsc_dex_grow(dex, &dex->types, &dex->own->rooms[NSC_DEX_TYPES], dex->type_count,
                      sizeof *dex->types) ||
        !enter(dex, NSC_DEX_TYPES, place))
        return NSC_DEX_NONE;
    dex->types[dex->type_count] = key.index;
    return dex->type_count++;
}

/* Add a list of types for a prototype. Returns NSC_DEX_NONE with the error latched on failure. */
static uint32_t add_list(struct nsc_dex *dex, const struct nsc_dex_list *types)
{
    uint32_t *items = nsc_dex_copy(dex, types->items, types->count * sizeof *items);

    if (items == NULL)
        return nsc_dex_fail(dex, -ENOMEM, "out of memory");
    if (!nsc_dex_grow(dex, &dex->lists, &dex->own->list_room, dex->list_count, sizeof *dex->lists))
        return NSC_DEX_NONE;
    dex->lists[dex->list_count] = (struct nsc_dex_list){items, types->count};
    return dex->list_count++;
}

uint32_t nsc_dex_add_proto(struct nsc_dex *dex, const char *signature)
{
    struct pieces p = {.dex = dex, .adding = dex};
    struct nsc_dex_proto proto;
    struct key key;
    uint32_t place, found;

    if (!each_type(signature, take_type, &p))
        return nsc_dex_fail(dex, -EINVAL, "what was to be added is no method's signature");
    key = key_of_proto(&p);
    found = find(dex, NSC_DEX_PROTOS, &key, &place);
    if (found != NSC_DEX_NONE)
        return found;
    proto = key.proto;
    proto.shorty = nsc_dex_add_string(dex, p.shorty);
    proto.parameters = NSC_DEX_NONE;
    if (key.parameters.count != 0)
        proto.parameters = add_list(dex, &key.parameters);
    if (dex->own->error != 0 ||
        !nsc_dex_grow(dex, &dex->protos, &dex->own->rooms[NSC_DEX_PROTOS], dex->proto_count,
                      sizeof proto) ||
        !enter(dex, NSC_DEX_PROTOS, place))
        return NSC_DEX_NONE;
    dex->protos[dex->proto_count] = proto;
    return dex->proto_count++;
}

uint32_t nsc_dex_add_field(struct nsc_dex *dex, const char *holder, const char *name,
                           const char *type)
{
    struct key key = {.field = {.holder = nsc_dex_add_type(dex, holder),
                                .type = nsc_dex_add_type(dex, type),
                                .name = nsc_dex_add_string(dex, name)}};
    uint32_t place, found;

    if (dex->own->error != 0)
        return NSC_DEX_NONE;
    found = find(dex, NSC_DEX_FIELDS, &key, &place);
    if (found != NSC_DEX_NONE)
        return found;
    if (!nsc_dex_grow(dex, &dex->fields, &dex->own->rooms[NSC_DEX_FIELDS], dex->field_count,
                      sizeof *dex->fields) ||
        !enter(dex, NSC_DEX_FIELDS, place))
        return NSC_DEX_NONE;
    dex->fields[dex->field_count] = key.field;
    return dex->field_count++;
}

uint32_t nsc_dex_add_method(struct nsc_dex *dex, const char *holder, const char *name,
                            const char *signature)
{
    struct key key = {.method = {.holder = nsc_dex_add_type(dex, holder),
                                 .proto = nsc_dex_add_proto(dex, signature),
                                 .name = nsc_dex_add_string(dex, name)}};
    uint32_t place, found;

    if (dex->own->error != 0)
        return NSC_DEX_NONE;
    found = find(dex, NSC_DEX_METHODS, &key, &place);
    if (found != NSC_DEX_NONE)
        return found;
    if (!nsc_dex_grow(dex, &dex->methods, &dex->own->rooms[NSC_DEX_METHODS], dex->method_count,
                      sizeof *dex->methods) ||
        !enter(dex, NSC_DEX_METHODS, place))
        return NSC_DEX_NONE;
    dex->methods[dex->method_count] = key.method;
    return dex->method_count++;
}
