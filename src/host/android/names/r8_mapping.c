/* r8_mapping.c - see r8_mapping.h: lookup in a mapping. */
#include "android/names/r8_mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/names/r8_mapping_state.h"
#include "util/hash.h"

void nsc_mapping_free(struct nsc_r8_mapping *m)
{
    if (m == NULL)
        return;
    free(m->classes);
    free(m->methods);
    free(m->ranges);
    free(m->by_original.slots);
    free(m->by_obfuscated.slots);
    free(m->by_now.slots);
    free(m);
}

void nsc_mapping_count(const struct nsc_r8_mapping *m, struct nsc_mapping_counts *out)
{
    out->classes = m->class_count;
    out->methods = m->method_count;
    out->ambiguous = m->ambiguous;
}

/* ---- Tables
 * -------------------------------------------------------------------------------------- */

bool nsc_mapping_table_grow(struct nsc_mapping_table *t, const struct nsc_r8_mapping *m,
                            uint64_t (*hash_of)(const struct nsc_r8_mapping *m, uint32_t index))
{
    uint64_t count = t->mask == 0 ? 64 : 2 * ((uint64_t)t->mask + 1);
    uint32_t *slots;

    if (t->mask != 0 && (uint64_t)t->used * 2 <= t->mask)
        return true;
    if (count > UINT32_MAX / 2)
        return false;
    slots = malloc(count * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, 0xff, count * sizeof *slots);
    for (uint64_t i = 0; t->mask != 0 && i <= t->mask; i++) {
        uint64_t at;

        if (t->slots[i] == NSC_MAPPING_NO)
            continue;
        for (at = hash_of(m, t->slots[i]); slots[at & (count - 1)] != NSC_MAPPING_NO;)
            at++;
        slots[at & (count - 1)] = t->slots[i];
    }
    free(t->slots);
    t->slots = slots;
    t->mask = (uint32_t)(count - 1);
    return true;
}

uint32_t nsc_mapping_class_find(const struct nsc_r8_mapping *m, bool by_original,
                                struct nsc_mapping_part name)
{
    const struct nsc_mapping_table *t = by_original ? &m->by_original : &m->by_obfuscated;
    uint64_t at = nsc_hash_bytes(m->seed, name.at, name.bytes);

    for (; t->mask != 0 && t->slots[at & t->mask] != NSC_MAPPING_NO; at++) {
        uint32_t index = t->slots[at & t->mask];
        const struct nsc_mapping_class *c = &m->classes[index];

        if (nsc_mapping_same(by_original ? c->original : c->obfuscated, name))
            return index;
    }
    return NSC_MAPPING_NO;
}

/* ---- Types
 * --------------------------------------------------------------------------------------- */

struct primitive {
    const char *name;
    char letter;
};

static const struct primitive primitives[] = {
    {"void", 'V'}, {"boolean", 'Z'}, {"byte", 'B'},  {"short", 'S'},  {"char", 'C'},
    {"int", 'I'},  {"long", 'J'},    {"float", 'F'}, {"double", 'D'},
};
#define PRIMITIVES (sizeof primitives / sizeof primitives[0])

/* Append a name with @from replaced by @to: '.' by '/' or the reverse. */
static void put_name(struct nsc_buffer *out, struct nsc_mapping_part name, char from, char to)
{
    uint8_t *at = nsc_buffer_reserve(out, name.bytes);

    if (at == NULL)
        return;
    for (uint32_t i = 0; i < name.bytes; i++)
        at[i] = (uint8_t)(name.at[i] == from ? to : name.at[i]);
    out->used += name.bytes;
}

/* Whether a name points into primitives[] (compared by address: a class may have such a name). */
static bool is_primitive(struct nsc_mapping_part name)
{
    for (size_t i = 0; i < PRIMITIVES; i++)
        if (name.at == primitives[i].name)
            return true;
    return false;
}

/* Hash of a type in the APK; with @by_original, @name is its original name. */
static uint64_t hash_type(const struct nsc_r8_mapping *m, bool by_original,
                          struct nsc_mapping_part name, uint32_t arrays)
{
    uint32_t class =
        is_primitive(name) ? NSC_MAPPING_NO : nsc_mapping_class_find(m, by_original, name);
    uint64_t hash = class != NSC_MAPPING_NO ? nsc_hash_word(m->seed, class)
                                            : nsc_hash_bytes(m->seed, name.at, name.bytes);

    return nsc_hash_word(m->seed, hash + arrays);
}

/* Take the next type of a comma-separated list. */
static struct nsc_mapping_part next_type(struct nsc_mapping_part *types)
{
    const char *comma = types->bytes == 0 ? NULL : memchr(types->at, ',', types->bytes);
    uint32_t bytes = comma == NULL ? types->bytes : (uint32_t)(comma - types->at);
    struct nsc_mapping_part type = {types->at, bytes};

    bytes += comma != NULL;
    types->at += bytes;
    types->bytes -= bytes;
    while (type.bytes > 0 && *type.at == ' ') {
        type.at++;
        type.bytes--;
    }
    while (type.bytes > 0 && type.at[type.bytes - 1] == ' ')
        type.bytes--;
    return type;
}

/* Parse one type of a descriptor. @name: its name with dots, also of primitive types, stored in
 * @dotted. Returns the end of the type, or NULL if it is malformed. */
static const char *take_type(const char *at, const char *end, struct nsc_buffer *dotted,
                             struct nsc_mapping_part *name, uint32_t *arrays)
{
    const char *close;
    size_t i;

    for (*arrays = 0; at < end && *at == '['; at++)
        ++*arrays;
    if (at == end)
        return NULL;
    if (*at != 'L') {
        for (i = 0; i < PRIMITIVES && primitives[i].letter != *at; i++)
            ;
        if (i == PRIMITIVES)
            return NULL;
        *name = (struct nsc_mapping_part){primitives[i].name, (uint32_t)strlen(primitives[i].name)};
        return at + 1;
    }
    close = memchr(at, ';', (size_t)(end - at));
    if (close == NULL || close == at + 1)
        return NULL;
    nsc_buffer_clear(dotted);
    put_name(dotted, (struct nsc_mapping_part){at + 1, (uint32_t)(close - at - 1)}, '/', '.');
    *name = (struct nsc_mapping_part){(const char *)dotted->data, (uint32_t)dotted->used};
    return dotted->failed ? NULL : close + 1;
}

/* Combine a type's hash with that of the previous types. */
static uint64_t add_hash(const struct nsc_r8_mapping *m, uint64_t hash, uint64_t type)
{
    return nsc_hash_word(m->seed, hash * 31 + type);
}

static uint64_t begin_key(const struct nsc_r8_mapping *m, uint32_t class,
                          struct nsc_mapping_part name)
{
    return add_hash(m, nsc_hash_word(m->seed, class), nsc_hash_bytes(m->seed, name.at, name.bytes));
}

int nsc_mapping_key(const struct nsc_r8_mapping *m, uint32_t class, struct nsc_mapping_part name,
                    struct nsc_mapping_part descriptor, uint64_t *key)
{
    const char *at = descriptor.at, *end = at + descriptor.bytes;
    uint64_t hash = begin_key(m, class, name);
    struct nsc_buffer dotted = {0};
    struct nsc_mapping_part type;
    bool ended = false;
    uint32_t arrays;
    int error;

    if (at == end || *at++ != '(')
        return -EINVAL;
    while (at != NULL && at < end && !ended) {
        if (*at == ')') {
            ended = true;
            hash = add_hash(m, hash, ')');
            at++;
        }
        at = take_type(at, end, &dotted, &type, &arrays);
        if (at != NULL)
            hash = add_hash(m, hash, hash_type(m, false, type, arrays));
    }
    error = dotted.failed ? -ENOMEM : at != end || !ended ? -EINVAL : 0;
    nsc_buffer_free(&dotted);
    if (error == 0)
        *key = hash;
    return error;
}

/* Hash of an original type, "a.b.C[]". */
static uint64_t hash_original_type(const struct nsc_r8_mapping *m, struct nsc_mapping_part type)
{
    uint32_t arrays = 0;

    while (type.bytes >= 2 && memcmp(type.at + type.bytes - 2, "[]", 2) == 0) {
        arrays++;
        type.bytes -= 2;
    }
    for (size_t i = 0; i < PRIMITIVES; i++)
        if (strlen(primitives[i].name) == type.bytes &&
            memcmp(primitives[i].name, type.at, type.bytes) == 0)
            type.at = primitives[i].name;
    return hash_type(m, true, type, arrays);
}

int nsc_mapping_key_of(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method,
                       uint64_t *key)
{
    struct nsc_mapping_part types = method->args;
    uint64_t hash = begin_key(m, method->class, method->name);
    int error;

    if (method->descriptor.at != NULL) {
        error = nsc_mapping_key(m, method->class, method->name, method->descriptor, key);
        if (error != -EINVAL)
            return error;
    }
    while (types.bytes > 0)
        hash = add_hash(m, hash, hash_original_type(m, next_type(&types)));
    hash = add_hash(m, hash, ')');
    *key = add_hash(m, hash, hash_original_type(m, method->ret));
    return 0;
}

/* Convert a type of the APK, "[La/b;", to its original form "a.b.C[]". Returns the end of the type,
 * or NULL if it is malformed. */
static const char *put_type_before(const struct nsc_r8_mapping *m, const char *at,
                                   struct nsc_buffer *out)
{
    struct nsc_buffer dotted = {0};
    struct nsc_mapping_part name;
    uint32_t arrays, class;

    at = take_type(at, at + strlen(at), &dotted, &name, &arrays);
    out->failed |= dotted.failed;
    if (at != NULL) {
        class = is_primitive(name) ? NSC_MAPPING_NO : nsc_mapping_class_find(m, false, name);
        if (class != NSC_MAPPING_NO)
            name = m->classes[class].original;
        nsc_buffer_bytes(out, name.at, name.bytes);
        while (arrays-- > 0)
            nsc_buffer_bytes(out, "[]", 2);
    }
    nsc_buffer_free(&dotted);
    return at;
}

/* ---- Look up
 * ------------------------------------------------------------------------------------- */

static uint32_t find_class(const struct nsc_r8_mapping *m, const char *descriptor)
{
    struct nsc_buffer dotted = {0};
    size_t length = strlen(descriptor);
    struct nsc_mapping_part name;
    uint32_t class;

    put_name(&dotted, (struct nsc_mapping_part){descriptor + 1, (uint32_t)(length - 2)}, '/', '.');
    name = (struct nsc_mapping_part){(const char *)dotted.data, (uint32_t)dotted.used};
    class = dotted.failed ? NSC_MAPPING_NO : nsc_mapping_class_find(m, false, name);
    nsc_buffer_free(&dotted);
    return class;
}

/* Whether a line of the APK is in one of the method's ranges. */
static bool has_line(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method,
                     uint32_t line)
{
    for (uint32_t i = method->ranges; i != NSC_MAPPING_NO; i = m->ranges[i].next)
        if (line >= m->ranges[i].first && line <= m->ranges[i].last)
            return true;
    return false;
}

/* Find the method with the key; of several, the one that has the line, else the first. */
static uint32_t find_method(const struct nsc_r8_mapping *m, uint32_t class,
                            struct nsc_mapping_part name, uint64_t key, uint32_t line,
                            uint32_t *others)
{
    const struct nsc_mapping_table *t = &m->by_now;

    for (uint64_t at = key; t->mask != 0 && t->slots[at & t->mask] != NSC_MAPPING_NO; at++) {
        uint32_t first = t->slots[at & t->mask];
        const struct nsc_mapping_method *method = &m->methods[first];

        if (method->hash != key || method->class != class || !nsc_mapping_same(method->name, name))
            continue;
        *others = method->others;
        for (uint32_t i = first; line != 0 && i != NSC_MAPPING_NO; i = m->methods[i].other)
            if (has_line(m, &m->methods[i], line))
                return i;
        return first;
    }
    return NSC_MAPPING_NO;
}

/* Append "ret pkg.Class.method(args)" of a method in the mapping. */
static void put_original(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method,
                         struct nsc_buffer *out)
{
    struct nsc_mapping_part types = method->args;
    struct nsc_mapping_part holder =
        method->holder.at != NULL ? method->holder : m->classes[method->class].original;

    nsc_buffer_bytes(out, method->ret.at, method->ret.bytes);
    nsc_buffer_bytes(out, " ", 1);
    nsc_buffer_bytes(out, holder.at, holder.bytes);
    nsc_buffer_bytes(out, ".", 1);
    nsc_buffer_bytes(out, method->original.at, method->original.bytes);
    nsc_buffer_bytes(out, "(", 1);
    while (types.bytes > 0) {
        struct nsc_mapping_part type = next_type(&types);

        nsc_buffer_bytes(out, type.at, type.bytes);
        if (types.bytes > 0)
            nsc_buffer_bytes(out, ", ", 2);
    }
    nsc_buffer_bytes(out, ")", 2);
}

/* The same for a method that is not in the mapping, with original names of known types. Returns
 * false if the query is malformed. */
static bool put_query(const struct nsc_r8_mapping *m, const struct nsc_mapping_query *q,
                      struct nsc_buffer *out)
{
    const char *at = strrchr(q->descriptor, ')');

    if (*q->descriptor != '(' || at == NULL)
        return false;
    at = put_type_before(m, at + 1, out);
    if (at == NULL || *at != 0)
        return false;
    nsc_buffer_bytes(out, " ", 1);
    at = put_type_before(m, q->holder, out);
    if (at == NULL || *at != 0)
        return false;
    nsc_buffer_bytes(out, ".", 1);
    nsc_buffer_bytes(out, q->name, strlen(q->name));
    nsc_buffer_bytes(out, "(", 1);
    for (at = q->descriptor + 1; *at != ')';) {
        at = put_type_before(m, at, out);
        if (at == NULL)
            return false;
        if (*at != ')')
            nsc_buffer_bytes(out, ", ", 2);
    }
    nsc_buffer_bytes(out, ")", 2);
    return true;
}

/* Source line of @line in the APK, or the method's first source line. */
static uint32_t source_line(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method,
                            uint32_t line)
{
    uint32_t first = 0;

    for (uint32_t i = method->ranges; i != NSC_MAPPING_NO; i = m->ranges[i].next) {
        const struct nsc_mapping_range *r = &m->ranges[i];

        if (r->source == 0)
            continue;
        if (line != 0 && line >= r->first && line <= r->last) {
            uint64_t there = (uint64_t)r->source + (line - r->first);

            if (r->source_last == 0)
                return r->source;
            return there < r->source_last ? (uint32_t)there : r->source_last;
        }
        if (first == 0 || r->source < first)
            first = r->source;
    }
    return first;
}

static void tell(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method,
                 uint32_t line, struct nsc_mapping_found *found)
{
    uint32_t class = method->class;

    if (method->holder.at != NULL)
        class = nsc_mapping_class_find(m, true, method->holder);
    if (class != NSC_MAPPING_NO) {
        found->file = m->classes[class].file.at;
        found->file_bytes = m->classes[class].file.bytes;
    }
    found->how = NSC_MAPPING_METHOD;
    found->line = source_line(m, method, line);
}

int nsc_mapping_method(const struct nsc_r8_mapping *m, const struct nsc_mapping_query *query,
                       struct nsc_buffer *signature, struct nsc_mapping_found *found)
{
    size_t length = strlen(query->holder);
    struct nsc_mapping_part name, descriptor;
    uint32_t class, method;
    uint64_t key = 0;
    int error;

    memset(found, 0, sizeof *found);
    nsc_buffer_clear(signature);
    if (length < 3 || length > INT32_MAX || query->holder[0] != 'L' ||
        query->holder[length - 1] != ';' || strlen(query->descriptor) > INT32_MAX ||
        strlen(query->name) > INT32_MAX || !put_query(m, query, signature))
        return -EINVAL;
    name = (struct nsc_mapping_part){query->name, (uint32_t)strlen(query->name)};
    descriptor = (struct nsc_mapping_part){query->descriptor, (uint32_t)strlen(query->descriptor)};
    class = find_class(m, query->holder);
    if (class != NSC_MAPPING_NO) {
        error = nsc_mapping_key(m, class, name, descriptor, &key);
        if (error != 0)
            return error;
        found->how = NSC_MAPPING_CLASS;
        found->file = m->classes[class].file.at;
        found->file_bytes = m->classes[class].file.bytes;
        method = find_method(m, class, name, key, query->line, &found->others);
        if (method != NSC_MAPPING_NO) {
            nsc_buffer_clear(signature);
            put_original(m, &m->methods[method], signature);
            tell(m, &m->methods[method], query->line, found);
        }
    }
    return signature->failed ? -ENOMEM : 0;
}
