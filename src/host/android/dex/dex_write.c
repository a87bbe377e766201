/*
 * dex_write.c - write a model as a DEX file, laying out every item again, in one pass.
 *
 * Called through dex.h. Sections are in the order of enum nsc_dex_kind: items follow those that
 * they refer to by offset. Only the tables of ids, which the format requires at the front, are
 * filled in at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "android/dex/dex_state.h"
#include "android/dex/sha1.h"

struct writing {
    const struct nsc_dex *dex;
    struct nsc_buffer *out;
    size_t base; /* start of the file in @out */
    uint32_t section[NSC_DEX_KINDS], count[NSC_DEX_KINDS];
    uint32_t *offsets[NSC_DEX_KINDS]; /* by item */
    const char *unsorted;             /* items that are not sorted, for messages */
};

static uint32_t here(const struct writing *w)
{
    return (uint32_t)(w->out->used - w->base);
}

static void put8(struct writing *w, uint8_t value)
{
    nsc_buffer_bytes(w->out, &value, 1);
}

static void put16(struct writing *w, uint32_t value)
{
    uint8_t bytes[2] = {(uint8_t)value, (uint8_t)(value >> 8)};

    nsc_buffer_bytes(w->out, bytes, sizeof bytes);
}

static void put32(struct writing *w, uint32_t value)
{
    uint8_t bytes[4];

    nsc_span_put32(bytes, value);
    nsc_buffer_bytes(w->out, bytes, sizeof bytes);
}

static void put_zeros(struct writing *w, size_t bytes)
{
    uint8_t *at = nsc_buffer_reserve(w->out, bytes);

    if (at == NULL || bytes == 0)
        return;
    memset(at, 0, bytes);
    w->out->used += bytes;
}

static void align_to(struct writing *w, unsigned align)
{
    put_zeros(w, (0u - here(w)) & (align - 1u));
}

/* Offset of item @index; 0 for NSC_DEX_NONE. */
static uint32_t place(const struct writing *w, enum nsc_dex_kind kind, uint32_t index)
{
    return index == NSC_DEX_NONE ? 0 : w->offsets[kind][index];
}

/* ---- Items ------------------------------------------------------------------------------------
 */

static void put_debug(struct writing *w, uint32_t i)
{
    const struct nsc_dex_blob *debug = &w->dex->debugs[i];

    if (debug->data == NULL)
        w->count[NSC_DEX_DEBUGS]--; /* dropped */
    else
        nsc_buffer_bytes(w->out, debug->data, debug->bytes);
}

static void put_code(struct writing *w, uint32_t i)
{
    const struct nsc_dex_code_item *c = &w->dex->codes[i];
    uint32_t at = here(w);

    nsc_buffer_bytes(w->out, c->data, c->bytes);
    if (!w->out->failed)
        nsc_span_put32(w->out->data + w->base + at + 8, place(w, NSC_DEX_DEBUGS, c->debug));
}

static void put_annotation(struct writing *w, uint32_t i)
{
    nsc_buffer_bytes(w->out, w->dex->annotations[i].data, w->dex->annotations[i].bytes);
}

static void put_places(struct writing *w, const struct nsc_dex_list *list, enum nsc_dex_kind kind)
{
    put32(w, list->count);
    for (uint32_t j = 0; j < list->count; j++)
        put32(w, place(w, kind, list->items[j]));
}

static void put_set(struct writing *w, uint32_t i)
{
    put_places(w, &w->dex->sets[i], NSC_DEX_ANNOTATIONS);
}

static void put_set_list(struct writing *w, uint32_t i)
{
    put_places(w, &w->dex->set_lists[i], NSC_DEX_SETS);
}

static void put_directory(struct writing *w, uint32_t i)
{
    const struct nsc_dex_directory *d = &w->dex->directories[i];
    const uint32_t plain = d->fields + d->methods;

    put32(w, place(w, NSC_DEX_SETS, d->class_set));
    put32(w, d->fields);
    put32(w, d->methods);
    put32(w, d->parameters);
    for (uint32_t j = 0; j < plain + d->parameters; j++) {
        put32(w, d->items[j].member);
        put32(w, place(w, j < plain ? NSC_DEX_SETS : NSC_DEX_SET_LISTS, d->items[j].annotations));
    }
}

static void put_list(struct writing *w, uint32_t i)
{
    const struct nsc_dex_list *list = &w->dex->lists[i];

    put32(w, list->count);
    for (uint32_t j = 0; j < list->count; j++)
        put16(w, list->items[j]);
}

static void put_array(struct writing *w, uint32_t i)
{
    nsc_buffer_bytes(w->out, w->dex->arrays[i].data, w->dex->arrays[i].bytes);
}

static void put_string(struct writing *w, uint32_t i)
{
    const struct nsc_dex_string *s = &w->dex->strings[i];

    nsc_buffer_leb(w->out, s->units);
    nsc_buffer_bytes(w->out, s->data, s->bytes);
    put8(w, 0);
}

static void put_members(struct writing *w, const struct nsc_dex_member *m, uint32_t count,
                        bool field)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < count; i++, m++) {
        if (i > 0 && m->index <= before)
            w->unsorted = "members of a class";
        nsc_buffer_leb(w->out, m->index - before);
        nsc_buffer_leb(w->out, m->access);
        if (!field)
            nsc_buffer_leb(w->out, place(w, NSC_DEX_CODES, m->code));
        before = m->index;
    }
}

static void put_class_data(struct writing *w, uint32_t i)
{
    const struct nsc_dex_class_data *d = &w->dex->class_data[i];
    const struct nsc_dex_member *m = d->members;

    nsc_buffer_leb(w->out, d->static_fields);
    nsc_buffer_leb(w->out, d->instance_fields);
    nsc_buffer_leb(w->out, d->direct_methods);
    nsc_buffer_leb(w->out, d->virtual_methods);
    put_members(w, m, d->static_fields, true);
    m += d->static_fields;
    put_members(w, m, d->instance_fields, true);
    m += d->instance_fields;
    put_members(w, m, d->direct_methods, false);
    m += d->direct_methods;
    put_members(w, m, d->virtual_methods, false);
}

/* Write the hidden API flags. Added classes have none, but their table entries move the others. */
static void put_hidden(struct writing *w, uint32_t i)
{
    const struct nsc_dex_blob *hidden = &w->dex->hidden;
    const uint32_t before = w->dex->own->hidden_classes;
    const uint32_t more = 4 * (w->dex->class_count - before);

    (void)i;
    put32(w, hidden->bytes + more);
    for (uint32_t j = 0; j < before; j++) {
        uint32_t offset = nsc_span_get32(hidden->data + 4 + 4 * (size_t)j);

        put32(w, offset == 0 ? 0 : offset + more);
    }
    put_zeros(w, more);
    nsc_buffer_bytes(w->out, hidden->data + 4 + 4 * (size_t)before,
                     hidden->bytes - 4 - 4 * (size_t)before);
}

static void put_map(struct writing *w, uint32_t i)
{
    uint32_t sections = 0;

    (void)i;
    for (int kind = 0; kind < NSC_DEX_KINDS; kind++)
        sections += w->count[kind] != 0;
    put32(w, sections);
    for (int kind = 0; kind < NSC_DEX_KINDS; kind++) {
        if (w->count[kind] == 0)
            continue;
        put16(w, nsc_dex_section_kinds[kind].type);
        put16(w, 0);
        put32(w, w->count[kind]);
        put32(w, w->section[kind]);
    }
}

/* ---- Tables of ids ----------------------------------------------------------------------------
 */

static void fill16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static void fill_members(const struct writing *w, uint8_t *file)
{
    const struct nsc_dex *dex = w->dex;
    uint8_t *at = file + w->section[NSC_DEX_FIELD_IDS];

    for (uint32_t i = 0; i < dex->field_count; i++, at += 8) {
        fill16(at, dex->fields[i].holder);
        fill16(at + 2, dex->fields[i].type);
        nsc_span_put32(at + 4, dex->fields[i].name);
    }
    at = file + w->section[NSC_DEX_METHOD_IDS];
    for (uint32_t i = 0; i < dex->method_count; i++, at += 8) {
        fill16(at, dex->methods[i].holder);
        fill16(at + 2, dex->methods[i].proto);
        nsc_span_put32(at + 4, dex->methods[i].name);
    }
    at = file + w->section[NSC_DEX_HANDLES];
    for (uint32_t i = 0; i < dex->handle_count; i++, at += 8) {
        fill16(at, dex->handles[i].kind);
        fill16(at + 2, dex->handles[i].unused[0]);
        fill16(at + 4, dex->handles[i].member);
        fill16(at + 6, dex->handles[i].unused[1]);
    }
}

static void fill_classes(const struct writing *w, uint8_t *file)
{
    uint8_t *at = file + w->section[NSC_DEX_CLASS_DEFS];

    for (uint32_t i = 0; i < w->dex->class_count; i++, at += 32) {
        const struct nsc_dex_class *c = &w->dex->classes[i];

        nsc_span_put32(at, c->type);
        nsc_span_put32(at + 4, c->access);
        nsc_span_put32(at + 8, c->superclass);
        nsc_span_put32(at + 12, place(w, NSC_DEX_LISTS, c->interfaces));
        nsc_span_put32(at + 16, c->source);
        nsc_span_put32(at + 20, place(w, NSC_DEX_DIRECTORIES, c->directory));
        nsc_span_put32(at + 24, place(w, NSC_DEX_CLASS_DATA, c->data));
        nsc_span_put32(at + 28, place(w, NSC_DEX_ARRAYS, c->values));
    }
}

static void fill_tables(const struct writing *w, uint8_t *file)
{
    const struct nsc_dex *dex = w->dex;
    uint8_t *at = file + w->section[NSC_DEX_STRING_IDS];

    for (uint32_t i = 0; i < dex->string_count; i++)
        nsc_span_put32(at + 4 * (size_t)i, w->offsets[NSC_DEX_STRING_DATA][i]);
    at = file + w->section[NSC_DEX_TYPE_IDS];
    for (uint32_t i = 0; i < dex->type_count; i++)
        nsc_span_put32(at + 4 * (size_t)i, dex->types[i]);
    at = file + w->section[NSC_DEX_PROTO_IDS];
    for (uint32_t i = 0; i < dex->proto_count; i++, at += 12) {
        nsc_span_put32(at, dex->protos[i].shorty);
        nsc_span_put32(at + 4, dex->protos[i].returns);
        nsc_span_put32(at + 8, place(w, NSC_DEX_LISTS, dex->protos[i].parameters));
    }
    at = file + w->section[NSC_DEX_CALL_SITE_IDS];
    for (uint32_t i = 0; i < dex->call_site_count; i++)
        nsc_span_put32(at + 4 * (size_t)i, place(w, NSC_DEX_ARRAYS, dex->call_sites[i]));
    fill_members(w, file);
    fill_classes(w, file);
}

static void fill_header(const struct writing *w, uint8_t *file, uint32_t bytes)
{
    static const uint8_t kinds[] = {NSC_DEX_STRING_IDS, NSC_DEX_TYPE_IDS,   NSC_DEX_PROTO_IDS,
                                    NSC_DEX_FIELD_IDS,  NSC_DEX_METHOD_IDS, NSC_DEX_CLASS_DEFS};
    bool container = w->dex->version >= 41;
    uint32_t data = w->section[NSC_DEX_DEBUGS]; /* first section after the ids */
    uint8_t digest[NSC_SHA1_BYTES];

    memcpy(file, "dex\n000", 8);
    file[5] = (uint8_t)('0' + w->dex->version / 10);
    file[6] = (uint8_t)('0' + w->dex->version % 10);
    nsc_span_put32(file + NSC_DEX_HEADER_FILE_SIZE, bytes);
    nsc_span_put32(file + 36, container ? NSC_DEX_HEADER_BYTES_41 : NSC_DEX_HEADER_BYTES);
    nsc_span_put32(file + 40, 0x12345678);
    nsc_span_put32(file + 52, w->section[NSC_DEX_MAP]);
    for (uint32_t i = 0; i < sizeof kinds; i++) {
        nsc_span_put32(file + NSC_DEX_HEADER_TABLES + 8 * i, w->count[kinds[i]]);
        nsc_span_put32(file + NSC_DEX_HEADER_TABLES + 8 * i + 4,
                       w->count[kinds[i]] != 0 ? w->section[kinds[i]] : 0);
    }
    /* data_size and data_off: unused in a container, and 0 there. */
    nsc_span_put32(file + 104, container ? 0 : bytes - data);
    nsc_span_put32(file + 108, container ? 0 : data);
    if (container)
        nsc_span_put32(file + 112, bytes);
    nsc_sha1(file + NSC_DEX_HEADER_FILE_SIZE, bytes - NSC_DEX_HEADER_FILE_SIZE, digest);
    memcpy(file + NSC_DEX_HEADER_SIGNATURE, digest, NSC_DEX_SIGNATURE_BYTES);
    nsc_span_put32(file + NSC_DEX_HEADER_CHECKSUM,
                   (uint32_t)adler32(adler32(0, NULL, 0), file + NSC_DEX_HEADER_SIGNATURE,
                                     bytes - NSC_DEX_HEADER_SIGNATURE));
}

/* ---- All of it --------------------------------------------------------------------------------
 */

static void put_section(struct writing *w, enum nsc_dex_kind kind,
                        void (*item)(struct writing *w, uint32_t i))
{
    const struct nsc_dex_section_kind *k = &nsc_dex_section_kinds[kind];
    const uint32_t items = w->count[kind];

    if (item == NULL) { /* filled in later */
        w->section[kind] = here(w);
        put_zeros(w, (size_t)w->count[kind] * k->item_bytes);
        return;
    }
    if (w->count[kind] != 0)
        align_to(w, k->align);
    w->section[kind] = here(w);
    w->offsets[kind] = calloc((size_t)items + 1, sizeof *w->offsets[kind]);
    if (w->offsets[kind] == NULL)
        w->out->failed = true;
    for (uint32_t i = 0; !w->out->failed && i < items; i++) {
        align_to(w, k->align);
        w->offsets[kind][i] = here(w);
        item(w, i);
    }
}

static void put_all(struct writing *w)
{
    static void (*const items[NSC_DEX_KINDS])(struct writing * w, uint32_t i) = {
        [NSC_DEX_DEBUGS] = put_debug,
        [NSC_DEX_CODES] = put_code,
        [NSC_DEX_ANNOTATIONS] = put_annotation,
        [NSC_DEX_SETS] = put_set,
        [NSC_DEX_SET_LISTS] = put_set_list,
        [NSC_DEX_DIRECTORIES] = put_directory,
        [NSC_DEX_LISTS] = put_list,
        [NSC_DEX_ARRAYS] = put_array,
        [NSC_DEX_STRING_DATA] = put_string,
        [NSC_DEX_CLASS_DATA] = put_class_data,
        [NSC_DEX_HIDDEN] = put_hidden,
        [NSC_DEX_MAP] = put_map,
    };

    for (int kind = 0; kind < NSC_DEX_KINDS && !w->out->failed; kind++) {
        put_section(w, (enum nsc_dex_kind)kind, items[kind]);
        if (kind == NSC_DEX_HEADER && w->dex->version >= 41)
            put_zeros(w, NSC_DEX_HEADER_BYTES_41 - NSC_DEX_HEADER_BYTES);
    }
}

static void count_all(struct writing *w)
{
    const struct nsc_dex *dex = w->dex;
    const uint32_t counts[NSC_DEX_KINDS] = {
        [NSC_DEX_HEADER] = 1,
        [NSC_DEX_STRING_IDS] = dex->string_count,
        [NSC_DEX_TYPE_IDS] = dex->type_count,
        [NSC_DEX_PROTO_IDS] = dex->proto_count,
        [NSC_DEX_FIELD_IDS] = dex->field_count,
        [NSC_DEX_METHOD_IDS] = dex->method_count,
        [NSC_DEX_CLASS_DEFS] = dex->class_count,
        [NSC_DEX_CALL_SITE_IDS] = dex->call_site_count,
        [NSC_DEX_HANDLES] = dex->handle_count,
        [NSC_DEX_DEBUGS] = dex->debug_count,
        [NSC_DEX_CODES] = dex->code_count,
        [NSC_DEX_ANNOTATIONS] = dex->annotation_count,
        [NSC_DEX_SETS] = dex->set_count,
        [NSC_DEX_SET_LISTS] = dex->set_list_count,
        [NSC_DEX_DIRECTORIES] = dex->directory_count,
        [NSC_DEX_LISTS] = dex->list_count,
        [NSC_DEX_ARRAYS] = dex->array_count,
        [NSC_DEX_STRING_DATA] = dex->string_count,
        [NSC_DEX_CLASS_DATA] = dex->class_data_count,
        [NSC_DEX_HIDDEN] = dex->hidden.bytes != 0,
        [NSC_DEX_MAP] = 1,
    };

    memcpy(w->count, counts, sizeof counts);
}

int nsc_dex_write(struct nsc_dex *dex, struct nsc_buffer *out, struct nsc_diag *diag)
{
    struct writing w = {.dex = dex, .out = out, .base = out->used};
    uint64_t bytes;
    int error = 0;

    if (dex->own->error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, dex->own->error, "%s", dex->own->why);
    for (enum nsc_dex_table i = 0; i < NSC_DEX_TABLES; i++)
        if (dex->own->tails[i].sorted != nsc_dex_count(dex, i))
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                                "what was added to the DEX file is not sorted in");
    count_all(&w);
    /* About the final size, so that the buffer does not grow repeatedly. */
    nsc_buffer_reserve(out, dex->file_bytes + 4096);
    put_all(&w);
    bytes = out->used - w.base;
    if (out->failed)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else if (bytes > UINT32_MAX)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EOVERFLOW,
                             "the DEX file would have %" PRIu64 " bytes: more than 4 GiB", bytes);
    else if (w.unsorted != NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "the %s are not sorted", w.unsorted);
    if (error == 0) {
        fill_tables(&w, out->data + w.base);
        fill_header(&w, out->data + w.base, (uint32_t)bytes);
    } else {
        out->used = w.base;
    }
    for (int kind = 0; kind < NSC_DEX_KINDS; kind++)
        free(w.offsets[kind]);
    return error;
}
