/*
 * r8_mapping_read.c - parse the text of a mapping into tables: one pass over the text, then one
 * over the methods, when all classes are known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "android/names/r8_mapping.h"
#include "android/names/r8_mapping_state.h"
#include "util/array.h"
#include "util/hash.h"

/* A parsed line of a method. */
struct line {
    struct nsc_mapping_method method;
    struct nsc_mapping_range range;
    bool has_range, has_source;
};

struct reading {
    struct nsc_r8_mapping *m;
    struct nsc_mapping_table by_then; /* methods, by class, name and original signature */
    uint64_t number;                  /* current line number */
    uint32_t class;                   /* current class; NSC_MAPPING_NO: none yet */
    bool skipped;                     /* the class repeats a name: ignore its lines */
    struct line pending;              /* the last line: the next may be its outer frame */
    bool is_pending;
    struct nsc_diag *diag;
};

typedef struct nsc_mapping_part part;

static part part_of(const char *at, const char *end)
{
    return (part){at, (uint32_t)(end - at)};
}

static int bad(const struct reading *r, const char *what)
{
    return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, EBADMSG, "line %" PRIu64 ": %s", r->number,
                        what);
}

static int no_memory(const struct reading *r)
{
    return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static part trim(part t)
{
    while (t.bytes > 0 && (*t.at == ' ' || *t.at == '\t')) {
        t.at++;
        t.bytes--;
    }
    while (t.bytes > 0 &&
           (t.at[t.bytes - 1] == ' ' || t.at[t.bytes - 1] == '\t' || t.at[t.bytes - 1] == '\r'))
        t.bytes--;
    return t;
}

/* Split at " -> ". Returns false if there is none. */
static bool split_arrow(part t, part *before, part *behind)
{
    const char *at = memmem(t.at, t.bytes, " -> ", 4);

    if (at == NULL)
        return false;
    *before = trim(part_of(t.at, at));
    *behind = trim(part_of(at + 4, t.at + t.bytes));
    return before->bytes > 0 && behind->bytes > 0;
}

/* ---- Tables
 * -------------------------------------------------------------------------------------- */

static uint64_t hash_original(const struct nsc_r8_mapping *m, uint32_t index)
{
    part name = m->classes[index].original;

    return nsc_hash_bytes(m->seed, name.at, name.bytes);
}

static uint64_t hash_obfuscated(const struct nsc_r8_mapping *m, uint32_t index)
{
    part name = m->classes[index].obfuscated;

    return nsc_hash_bytes(m->seed, name.at, name.bytes);
}

static uint64_t hash_method(const struct nsc_r8_mapping *m, uint32_t index)
{
    return m->methods[index].hash;
}

static void put(struct nsc_mapping_table *t, uint64_t hash, uint32_t index)
{
    while (t->slots[hash & t->mask] != NSC_MAPPING_NO)
        hash++;
    t->slots[hash & t->mask] = index;
    t->used++;
}

/* ---- Classes
 * ------------------------------------------------------------------------------------- */

static int read_class(struct reading *r, part t)
{
    struct nsc_r8_mapping *m = r->m;
    struct nsc_mapping_class *classes, c = {0};

    if (!split_arrow(t, &c.original, &c.obfuscated) ||
        c.obfuscated.at[c.obfuscated.bytes - 1] != ':')
        return bad(r, "a class was expected, such as 'com.example.Main -> a.b:'");
    c.obfuscated.bytes--;
    c.obfuscated = trim(c.obfuscated);
    /* Of several classes with the same name, the first is used. */
    r->skipped = nsc_mapping_class_find(m, false, c.obfuscated) != NSC_MAPPING_NO;
    r->class = m->class_count;
    if (r->skipped)
        return 0;
    classes = nsc_array_grow(m->classes, &m->class_room, m->class_count, sizeof *classes);
    if (classes == NULL)
        return no_memory(r);
    m->classes = classes;
    if (!nsc_mapping_table_grow(&m->by_original, m, hash_original) ||
        !nsc_mapping_table_grow(&m->by_obfuscated, m, hash_obfuscated))
        return no_memory(r);
    classes[m->class_count] = c;
    if (nsc_mapping_class_find(m, true, c.original) == NSC_MAPPING_NO)
        put(&m->by_original, hash_original(m, m->class_count), m->class_count);
    put(&m->by_obfuscated, hash_obfuscated(m, m->class_count), m->class_count);
    m->class_count++;
    return 0;
}

/* ---- Methods
 * ------------------------------------------------------------------------------------- */

static uint64_t hash_then(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method)
{
    const part *parts[] = {&method->name, &method->ret, &method->holder, &method->original,
                           &method->args};
    uint64_t hash = method->class;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash =
            nsc_hash_word(m->seed, hash ^ nsc_hash_bytes(m->seed, parts[i]->at, parts[i]->bytes)) +
            i;
    return hash;
}

static bool is_same(const struct nsc_mapping_method *a, const struct nsc_mapping_method *b)
{
    return a->class == b->class && nsc_mapping_same(a->name, b->name) &&
           nsc_mapping_same(a->ret, b->ret) && nsc_mapping_same(a->holder, b->holder) &&
           nsc_mapping_same(a->original, b->original) && nsc_mapping_same(a->args, b->args);
}

/* Find the method of a line, or add it. */
static int find_or_add(struct reading *r, struct nsc_mapping_method *method, uint32_t *index)
{
    struct nsc_r8_mapping *m = r->m;
    struct nsc_mapping_table *t = &r->by_then;
    struct nsc_mapping_method *methods;

    method->hash = hash_then(m, method);
    for (uint64_t at = method->hash; t->mask != 0 && t->slots[at & t->mask] != NSC_MAPPING_NO;
         at++) {
        const struct nsc_mapping_method *other = &m->methods[t->slots[at & t->mask]];

        if (other->hash == method->hash && is_same(other, method)) {
            *index = t->slots[at & t->mask];
            return 0;
        }
    }
    methods = nsc_array_grow(m->methods, &m->method_room, m->method_count, sizeof *methods);
    if (methods == NULL)
        return -ENOMEM;
    m->methods = methods;
    if (!nsc_mapping_table_grow(t, m, hash_method))
        return -ENOMEM;
    methods[m->method_count] = *method;
    put(t, method->hash, m->method_count);
    *index = m->method_count++;
    return 0;
}

static int add_range(struct nsc_r8_mapping *m, struct nsc_mapping_method *method,
                     const struct nsc_mapping_range *range)
{
    struct nsc_mapping_range *ranges =
        nsc_array_grow(m->ranges, &m->range_room, m->range_count, sizeof *ranges);

    if (ranges == NULL)
        return -ENOMEM;
    m->ranges = ranges;
    ranges[m->range_count] = *range;
    ranges[m->range_count].next = NSC_MAPPING_NO;
    if (method->last_range == NSC_MAPPING_NO)
        method->ranges = m->range_count;
    else
        ranges[method->last_range].next = m->range_count;
    method->last_range = m->range_count++;
    return 0;
}

/* The pending line has no further outer frame: add it to its method. */
static int settle(struct reading *r)
{
    struct nsc_mapping_method *method;
    uint32_t index;

    if (!r->is_pending)
        return 0;
    r->is_pending = false;
    if (find_or_add(r, &r->pending.method, &index) != 0)
        return no_memory(r);
    method = &r->m->methods[index];
    if (method->descriptor.at == NULL)
        method->descriptor = r->pending.method.descriptor;
    if (r->pending.range.source != 0 && add_range(r->m, method, &r->pending.range) != 0)
        return no_memory(r);
    return 0;
}

/* Take a number at the beginning of @t, and the colon after it if there is one. */
static bool take_number(part *t, uint32_t *number)
{
    uint64_t value = 0;
    uint32_t i = 0;

    for (; i < t->bytes && t->at[i] >= '0' && t->at[i] <= '9'; i++) {
        value = value * 10 + (uint64_t)(t->at[i] - '0');
        if (value > UINT32_MAX)
            return false;
    }
    if (i == 0 || (i < t->bytes && t->at[i] != ':'))
        return false;
    i += i < t->bytes;
    t->at += i;
    t->bytes -= i;
    *number = (uint32_t)value;
    return true;
}

/* Split "ret pkg.Class.name(args)", without line numbers. Returns false if it is malformed. */
static bool split_signature(part t, struct nsc_mapping_method *method)
{
    const char *open = memchr(t.at, '(', t.bytes), *space, *dot;

    if (open == NULL || t.at[t.bytes - 1] != ')')
        return false;
    space = memrchr(t.at, ' ', (size_t)(open - t.at));
    if (space == NULL)
        return false;
    method->ret = trim(part_of(t.at, space));
    method->original = part_of(space + 1, open);
    method->args = part_of(open + 1, t.at + t.bytes - 1);
    dot = memrchr(space + 1, '.', method->original.bytes);
    if (dot != NULL) {
        method->holder = part_of(space + 1, dot);
        method->original = part_of(dot + 1, open);
    }
    return method->ret.bytes > 0 && method->original.bytes > 0;
}

/* Parse "[1:3:]ret name(args)[:5[:7]] -> a". Returns NULL, or the error text. Fields have no
 * parentheses. */
static const char *split_line(part t, struct line *line)
{
    static const char wrong[] =
        "a method was expected, such as '1:3:void run(int):10:12 -> a', or a field";
    const char *close;
    part lines;

    if (*t.at >= '0' && *t.at <= '9') {
        if (!take_number(&t, &line->range.first) || !take_number(&t, &line->range.last))
            return wrong;
        line->has_range = true;
    }
    close = memrchr(t.at, ')', t.bytes);
    if (close == NULL)
        return wrong;
    lines = part_of(close + 1, t.at + t.bytes);
    t.bytes = (uint32_t)(close + 1 - t.at);
    line->has_source = lines.bytes > 0;
    if (line->has_source) {
        if (*lines.at++ != ':')
            return wrong;
        lines.bytes--;
        if (!take_number(&lines, &line->range.source) ||
            (lines.bytes > 0 && !take_number(&lines, &line->range.source_last)) || lines.bytes > 0)
            return wrong;
    }
    return split_signature(t, &line->method) ? NULL : wrong;
}

static int read_member(struct reading *r, part t)
{
    struct line line = {
        .method = {.class = r->class, .ranges = NSC_MAPPING_NO, .last_range = NSC_MAPPING_NO}};
    const char *wrong;
    part before;
    int error;

    if (r->class == NSC_MAPPING_NO)
        return bad(r, "no mapping of ProGuard or R8: a class comes first");
    if (!split_arrow(t, &before, &line.method.name))
        return bad(r, "' -> ' was expected");
    if (memchr(before.at, '(', before.bytes) == NULL) { /* a field */
        error = settle(r);
        return error;
    }
    wrong = split_line(before, &line);
    if (wrong != NULL)
        return bad(r, wrong);
    /* A line with the same APK lines as the previous one is its outer frame. */
    if (r->is_pending && line.has_range && r->pending.has_range &&
        r->pending.range.first == line.range.first && r->pending.range.last == line.range.last &&
        nsc_mapping_same(r->pending.method.name, line.method.name)) {
        line.method.descriptor = r->pending.method.descriptor;
    } else {
        error = settle(r);
        if (error != 0)
            return error;
    }
    /* A range given only once applies to both APK and source. */
    if (line.has_range && !line.has_source) {
        line.range.source = line.range.first;
        line.range.source_last = line.range.last;
    } else if (!line.has_range && line.range.source_last != 0) {
        line.range.first = line.range.source;
        line.range.last = line.range.source_last;
    }
    r->pending = line;
    r->is_pending = !r->skipped;
    return 0;
}

/* ---- Comments
 * ------------------------------------------------------------------------------------ */

/* Get the text value of a key in a JSON object; at NULL: there is none. R8 writes double quotes,
 * its documentation single ones. */
static part json_text(part t, const char *key)
{
    size_t length = strlen(key);
    const char *at = t.at, *end = t.at + t.bytes, *close;
    char quote;

    while ((at = memmem(at, (size_t)(end - at), key, length)) != NULL) {
        bool quoted = at > t.at && (at[-1] == '"' || at[-1] == '\'');

        at += length;
        if (!quoted || at == end || (*at != '"' && *at != '\''))
            continue;
        for (at++; at < end && (*at == ' ' || *at == ':'); at++)
            ;
        if (at == end || (*at != '"' && *at != '\''))
            continue;
        quote = *at++;
        close = memchr(at, quote, (size_t)(end - at));
        if (close == NULL || memchr(at, '\\', (size_t)(close - at)) != NULL)
            return (part){0};
        return part_of(at, close);
    }
    return (part){0};
}

static bool is_text(part t, const char *text)
{
    return t.at != NULL && t.bytes == strlen(text) && memcmp(t.at, text, t.bytes) == 0;
}

static void read_comment(struct reading *r, part t)
{
    part id;

    if (memchr(t.at, '{', t.bytes) == NULL || r->class == NSC_MAPPING_NO || r->skipped)
        return;
    id = json_text(t, "id");
    if (is_text(id, "sourceFile")) {
        part file = json_text(t, "fileName");

        if (r->m->classes[r->class].file.at == NULL && file.bytes > 0)
            r->m->classes[r->class].file = file;
    } else if (is_text(id, "com.android.tools.r8.residualsignature") && r->is_pending) {
        part signature = json_text(t, "signature");

        if (signature.bytes > 0 && *signature.at == '(')
            r->pending.method.descriptor = signature;
    }
}

/* ---- All
 * ----------------------------------------------------------------------------------------- */

static int read_line(struct reading *r, part t)
{
    bool indented = t.bytes > 0 && (*t.at == ' ' || *t.at == '\t');
    int error;

    t = trim(t);
    if (t.bytes == 0)
        return 0;
    if (memchr(t.at, 0, t.bytes) != NULL)
        return bad(r, "no mapping of ProGuard or R8: it is no text");
    if (*t.at == '#') {
        read_comment(r, t);
        return 0;
    }
    if (indented)
        return read_member(r, t);
    error = settle(r);
    return error != 0 ? error : read_class(r, t);
}

static int read_lines(struct reading *r, const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes;
    int error = 0;

    if (bytes >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    while (at < end && error == 0) {
        const char *next = memchr(at, '\n', (size_t)(end - at));

        next = next == NULL ? end : next;
        r->number++;
        error = read_line(r, part_of(at, next));
        at = next + (next < end);
    }
    if (error == 0)
        error = settle(r);
    if (error == 0 && r->m->class_count == 0)
        return bad(r, "no mapping of ProGuard or R8: there is no class in it");
    return error;
}

/* Find the first method with the same key, or NULL. */
static struct nsc_mapping_method *find_now(struct nsc_r8_mapping *m,
                                           const struct nsc_mapping_method *method)
{
    struct nsc_mapping_table *t = &m->by_now;

    for (uint64_t at = method->hash; t->slots[at & t->mask] != NSC_MAPPING_NO; at++) {
        struct nsc_mapping_method *o = &m->methods[t->slots[at & t->mask]];

        if (o->hash == method->hash && o->class == method->class &&
            nsc_mapping_same(o->name, method->name))
            return o;
    }
    return NULL;
}

/* When all classes are known: index the methods by their descriptors in the APK. */
static int index_methods(struct reading *r)
{
    struct nsc_r8_mapping *m = r->m;

    for (uint32_t i = 0; i < m->method_count; i++) {
        struct nsc_mapping_method *method = &m->methods[i], *first;

        method->other = NSC_MAPPING_NO;
        if (nsc_mapping_key_of(m, method, &method->hash) != 0 ||
            !nsc_mapping_table_grow(&m->by_now, m, hash_method))
            return no_memory(r);
        first = find_now(m, method);
        if (first == NULL) {
            put(&m->by_now, method->hash, i);
            continue;
        }
        m->ambiguous += first->others == 0;
        first->others++;
        method->other = first->other; /* the first stays first; the others are in any order */
        first->other = i;
    }
    return 0;
}

int nsc_mapping_read(const char *text, size_t bytes, struct nsc_r8_mapping **out,
                     struct nsc_diag *diag)
{
    struct reading r = {.class = NSC_MAPPING_NO, .diag = diag};
    int error;

    if (bytes > UINT32_MAX)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG, "a mapping of 4 GiB or more");
    r.m = calloc(1, sizeof *r.m);
    if (r.m == NULL)
        return no_memory(&r);
    r.m->seed = nsc_hash_seed();
    error = bytes == 0 ? nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                                      "no mapping of ProGuard or R8: it is empty")
                       : read_lines(&r, text, bytes);
    free(r.by_then.slots);
    if (error == 0)
        error = index_methods(&r);
    if (error != 0) {
        nsc_mapping_free(r.m);
        return error;
    }
    *out = r.m;
    return 0;
}
