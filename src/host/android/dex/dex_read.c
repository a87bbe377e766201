/*
 * dex_read.c - read header, map and tables of ids of a DEX file. The input is hostile. See
 * dex_read_state.h.
 *
 * Called through dex.h. Must not follow an offset outside of the map's sections.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "android/dex/dex_read_state.h"
#include "android/dex/sha1.h"
#include "util/search.h"

#define PARAMETERS_MAX 255

int nsc_dex_bad_index(struct nsc_dex_reading *r, uint64_t at, const char *what, uint32_t index)
{
    return nsc_diag_set(r->diag, at, EBADMSG, "broken DEX file: there is no %s %u", what, index);
}

int nsc_dex_resolve(struct nsc_dex_reading *r, enum nsc_dex_kind kind, uint32_t offset, uint64_t at,
                    uint32_t *index)
{
    const struct nsc_dex_section *s = &r->sections[kind];
    uint32_t place;

    *index = NSC_DEX_NONE;
    if (offset == 0)
        return 0;
    place = NSC_PARTITION_POINT(i, s->count, s->offsets[i] < offset);
    if (place == s->count || s->offsets[place] != offset)
        return nsc_diag_set(r->diag, at, EBADMSG,
                            "broken DEX file: 0x%x is no place of an item of the %s", offset,
                            nsc_dex_section_kinds[kind].name);
    *index = place;
    return 0;
}

int nsc_dex_each_item(struct nsc_dex_reading *r, enum nsc_dex_kind kind,
                      int (*item)(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i))
{
    const struct nsc_dex_section_kind *k = &nsc_dex_section_kinds[kind];
    struct nsc_dex_section *s = &r->sections[kind];
    struct nsc_span span = nsc_span_of(r->data + s->offset, s->limit - s->offset);
    int error;

    if (s->count == 0)
        return 0;
    s->offsets = calloc(s->count, sizeof *s->offsets);
    if (s->offsets == NULL)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t at = (uint32_t)(span.at - r->data);

        nsc_span_take(&span, (0u - at) & (k->align - 1u));
        at = (uint32_t)(span.at - r->data);
        s->offsets[i] = at;
        error = item(r, &span, i);
        if (error != 0)
            return error;
        if (span.bad)
            return nsc_diag_set(
                r->diag, at, EBADMSG,
                "broken DEX file: item %u of %u of the %s reaches beyond their section", i,
                s->count, k->name);
    }
    s->end = (uint32_t)(span.at - r->data);
    return 0;
}

/* ---- Header and map ---------------------------------------------------------------------------
 */

static void check_sums(struct nsc_dex_reading *r)
{
    uint8_t digest[NSC_SHA1_BYTES];
    const uint8_t *from = r->data + NSC_DEX_HEADER_SIGNATURE;
    uLong sum = adler32(adler32(0, NULL, 0), from, r->bytes - NSC_DEX_HEADER_SIGNATURE);

    r->dex->checksum_ok = sum == nsc_span_get32(r->data + NSC_DEX_HEADER_CHECKSUM);
    nsc_sha1(r->data + NSC_DEX_HEADER_FILE_SIZE, r->bytes - NSC_DEX_HEADER_FILE_SIZE, digest);
    r->dex->signature_ok =
        memcmp(digest, r->data + NSC_DEX_HEADER_SIGNATURE, NSC_DEX_SIGNATURE_BYTES) == 0;
}

/* The version; 0: not a DEX file. */
static uint32_t version_of(const uint8_t *data, size_t bytes)
{
    if (bytes < 8 || memcmp(data, "dex\n", 4) != 0 || data[4] != '0' || data[7] != '\0' ||
        data[5] < '0' || data[5] > '9' || data[6] < '0' || data[6] > '9')
        return 0;
    return (uint32_t)(data[5] - '0') * 10 + (uint32_t)(data[6] - '0');
}

static int check_header(const uint8_t *data, size_t bytes, struct nsc_diag *diag)
{
    uint32_t version = version_of(data, bytes), header, file;

    if (version == 0)
        return nsc_diag_set(diag, 0, EBADMSG, "this is no DEX file");
    if (version < NSC_DEX_OLDEST || version > NSC_DEX_NEWEST)
        return nsc_diag_set(diag, 4, ENOTSUP, "DEX version %03u is not known: 035 to 041 are",
                            version);
    header = version >= 41 ? NSC_DEX_HEADER_BYTES_41 : NSC_DEX_HEADER_BYTES;
    if (bytes < header)
        return nsc_diag_set(diag, bytes, EBADMSG, "broken DEX file: cut off in its header");
    if (nsc_span_get32(data + 40) != 0x12345678)
        return nsc_diag_set(diag, 40, ENOTSUP, "the DEX file is not little-endian");
    if (nsc_span_get32(data + 36) != header)
        return nsc_diag_set(diag, 36, EBADMSG, "broken DEX file: its header has %u bytes, not %u",
                            nsc_span_get32(data + 36), header);
    file = nsc_span_get32(data + NSC_DEX_HEADER_FILE_SIZE);
    if (version >= 41 && (nsc_span_get32(data + 116) != 0 || nsc_span_get32(data + 112) != file))
        return nsc_diag_set(diag, 112, ENOTSUP,
                            "a container of several DEX files is not supported: there must be one");
    if (file != bytes)
        return nsc_diag_set(diag, NSC_DEX_HEADER_FILE_SIZE, EBADMSG,
                            "broken DEX file: it should have %u bytes and has %zu", file, bytes);
    if (nsc_span_get32(data + 44) != 0)
        return nsc_diag_set(diag, 44, ENOTSUP, "DEX files with a link section are not supported");
    return 0;
}

/* Read one entry of the map. */
static int take_section(struct nsc_dex_reading *r, uint32_t at, uint32_t *before)
{
    uint32_t type = nsc_span_get16(r->data + at), count = nsc_span_get32(r->data + at + 4);
    uint32_t offset = nsc_span_get32(r->data + at + 8);
    int kind = 0;

    while (kind < NSC_DEX_KINDS && nsc_dex_section_kinds[kind].type != type)
        kind++;
    if (kind == NSC_DEX_KINDS)
        return nsc_diag_set(r->diag, at, ENOTSUP,
                            "the DEX file's map has items of type 0x%04x, which are not known",
                            type);
    if (count == 0)
        return 0;
    if (r->sections[kind].present)
        return nsc_diag_set(r->diag, at, EBADMSG, "broken DEX file: its map lists the %s twice",
                            nsc_dex_section_kinds[kind].name);
    if (offset >= r->bytes || (*before != NSC_DEX_NONE && offset <= *before) ||
        (offset & (nsc_dex_section_kinds[kind].align - 1u)) != 0)
        return nsc_diag_set(r->diag, at + 8, EBADMSG,
                            "broken DEX file: its map has the %s at a wrong place, 0x%x",
                            nsc_dex_section_kinds[kind].name, offset);
    *before = offset;
    r->sections[kind] = (struct nsc_dex_section){.present = true, .offset = offset, .count = count};
    return 0;
}

/* Limit each section by the start of the next one, and check that its items fit. */
static int limit_sections(struct nsc_dex_reading *r)
{
    for (int kind = 0; kind < NSC_DEX_KINDS; kind++) {
        const struct nsc_dex_section_kind *k = &nsc_dex_section_kinds[kind];
        struct nsc_dex_section *s = &r->sections[kind];
        uint64_t fixed = (uint64_t)s->count * k->item_bytes;

        if (!s->present)
            continue;
        s->limit = r->bytes;
        for (int other = 0; other < NSC_DEX_KINDS; other++)
            if (r->sections[other].present && r->sections[other].offset > s->offset &&
                r->sections[other].offset < s->limit)
                s->limit = r->sections[other].offset;
        if (fixed > s->limit - s->offset)
            return nsc_diag_set(r->diag, s->offset, EBADMSG,
                                "broken DEX file: there is no room for %u items of the %s",
                                s->count, k->name);
        s->end = s->offset + (uint32_t)fixed; /* final for items of fixed size */
    }
    return 0;
}

/* Check that sizes and offsets of the tables in the header equal those in the map. */
static int compare_header(struct nsc_dex_reading *r)
{
    static const uint8_t kinds[] = {NSC_DEX_STRING_IDS, NSC_DEX_TYPE_IDS,   NSC_DEX_PROTO_IDS,
                                    NSC_DEX_FIELD_IDS,  NSC_DEX_METHOD_IDS, NSC_DEX_CLASS_DEFS};

    for (uint32_t i = 0; i < sizeof kinds; i++) {
        const struct nsc_dex_section *s = &r->sections[kinds[i]];
        uint32_t at = NSC_DEX_HEADER_TABLES + 8 * i;

        if (nsc_span_get32(r->data + at) != s->count ||
            (s->count != 0 && nsc_span_get32(r->data + at + 4) != s->offset))
            return nsc_diag_set(r->diag, at, EBADMSG,
                                "broken DEX file: header and map do not agree about the %s",
                                nsc_dex_section_kinds[kinds[i]].name);
    }
    return 0;
}

static int read_map(struct nsc_dex_reading *r)
{
    uint32_t offset = nsc_span_get32(r->data + 52), count, before = NSC_DEX_NONE;
    struct nsc_dex_section *s;
    int error;

    if (offset < NSC_DEX_HEADER_BYTES || offset % 4 != 0 || offset > r->bytes - 4 ||
        nsc_span_get32(r->data + offset) > (r->bytes - 4 - offset) / 12)
        return nsc_diag_set(r->diag, 52, EBADMSG,
                            "broken DEX file: its map at 0x%x is not within the file", offset);
    count = nsc_span_get32(r->data + offset);
    for (uint32_t i = 0; i < count; i++) {
        error = take_section(r, offset + 4 + 12 * i, &before);
        if (error != 0)
            return error;
    }
    s = &r->sections[NSC_DEX_MAP];
    if (s->present && s->offset != offset)
        return nsc_diag_set(r->diag, 52, EBADMSG,
                            "broken DEX file: header and map do not agree about the map");
    *s = (struct nsc_dex_section){.present = true, .offset = offset, .count = 1};
    s = &r->sections[NSC_DEX_HEADER];
    if (s->present && (s->offset != 0 || s->count != 1))
        return nsc_diag_set(r->diag, offset, EBADMSG,
                            "broken DEX file: its map has the header at a wrong place");
    *s = (struct nsc_dex_section){.present = true, .offset = 0, .count = 1};
    error = limit_sections(r);
    if (error != 0)
        return error;
    r->sections[NSC_DEX_HEADER].end = nsc_span_get32(r->data + 36);
    r->sections[NSC_DEX_MAP].end = offset + 4 + 12 * count;
    if (r->sections[NSC_DEX_HEADER].end > r->sections[NSC_DEX_HEADER].limit ||
        r->sections[NSC_DEX_MAP].end > r->sections[NSC_DEX_MAP].limit)
        return nsc_diag_set(r->diag, offset, EBADMSG,
                            "broken DEX file: something lies within its header or its map");
    return compare_header(r);
}

/* ---- Tables of ids ----------------------------------------------------------------------------
 */

int nsc_dex_make_table(struct nsc_dex_reading *r, enum nsc_dex_kind kind, size_t item, void *table,
                       uint32_t *count)
{
    void *memory;

    if (r->sections[kind].count == 0)
        return 0;
    memory = calloc(r->sections[kind].count, item);
    if (memory == NULL)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    memcpy(table, &memory, sizeof memory);
    *count = r->sections[kind].count;
    /* cppcheck-suppress memleak ; it is the table's */
    return 0;
}

static int read_string(struct nsc_dex_reading *r, uint32_t i, uint64_t *total)
{
    const struct nsc_dex_section *data = &r->sections[NSC_DEX_STRING_DATA];
    uint32_t at = r->sections[NSC_DEX_STRING_IDS].offset + 4 * i;
    uint32_t offset = nsc_span_get32(r->data + at);
    struct nsc_dex_string *s = &r->dex->strings[i];
    struct nsc_span span;
    const uint8_t *end;

    if (offset < data->offset || offset >= data->limit)
        return nsc_diag_set(r->diag, at, EBADMSG,
                            "broken DEX file: string %u is not among the string data", i);
    span = nsc_span_of(r->data + offset, data->limit - offset);
    s->units = nsc_span_leb32(&span);
    end = span.bad ? NULL : memchr(span.at, 0, nsc_span_left(&span));
    if (end == NULL)
        return nsc_diag_set(r->diag, offset, EBADMSG, "broken DEX file: string %u has no end", i);
    s->data = span.at;
    s->bytes = (uint32_t)(end - span.at);
    *total += (uint64_t)s->bytes + 2;
    if (*total > r->bytes)
        return nsc_diag_set(r->diag, offset, EBADMSG, "broken DEX file: its strings overlap");
    if ((size_t)(end + 1 - r->data) > r->sections[NSC_DEX_STRING_DATA].end)
        r->sections[NSC_DEX_STRING_DATA].end = (uint32_t)(end + 1 - r->data);
    if (i > 0 && nsc_dex_compare_text(r->dex->strings[i - 1].data, s->data) >= 0)
        return nsc_diag_set(r->diag, at, EBADMSG, "broken DEX file: string %u is out of order", i);
    return 0;
}

static int read_strings(struct nsc_dex_reading *r)
{
    uint64_t total = 0;
    int error = nsc_dex_make_table(r, NSC_DEX_STRING_IDS, sizeof *r->dex->strings, &r->dex->strings,
                                   &r->dex->string_count);

    if (error == 0 && r->sections[NSC_DEX_STRING_DATA].count != r->dex->string_count)
        error = nsc_diag_set(r->diag, NSC_DEX_HEADER_TABLES, EBADMSG,
                             "broken DEX file: there are %u strings, and data of %u",
                             r->dex->string_count, r->sections[NSC_DEX_STRING_DATA].count);
    for (uint32_t i = 0; error == 0 && i < r->dex->string_count; i++)
        error = read_string(r, i, &total);
    return error;
}

static int read_types(struct nsc_dex_reading *r)
{
    const struct nsc_dex_section *s = &r->sections[NSC_DEX_TYPE_IDS];
    struct nsc_dex *dex = r->dex;
    int error =
        nsc_dex_make_table(r, NSC_DEX_TYPE_IDS, sizeof *dex->types, &dex->types, &dex->type_count);

    if (error != 0)
        return error;
    for (uint32_t i = 0; i < dex->type_count; i++) {
        dex->types[i] = nsc_span_get32(r->data + s->offset + 4 * i);
        if (dex->types[i] >= dex->string_count)
            return nsc_dex_bad_index(r, s->offset + 4 * i, "string", dex->types[i]);
        if (i > 0 && dex->types[i] <= dex->types[i - 1])
            return nsc_diag_set(r->diag, s->offset + 4 * i, EBADMSG,
                                "broken DEX file: type %u is out of order", i);
    }
    return 0;
}

static int read_protos(struct nsc_dex_reading *r)
{
    const struct nsc_dex_section *s = &r->sections[NSC_DEX_PROTO_IDS];
    struct nsc_dex *dex = r->dex;
    int error = nsc_dex_make_table(r, NSC_DEX_PROTO_IDS, sizeof *dex->protos, &dex->protos,
                                   &dex->proto_count);

    for (uint32_t i = 0; error == 0 && i < dex->proto_count; i++) {
        uint32_t at = s->offset + 12 * i;
        struct nsc_dex_proto *p = &dex->protos[i];

        p->shorty = nsc_span_get32(r->data + at);
        p->returns = nsc_span_get32(r->data + at + 4);
        if (p->shorty >= dex->string_count)
            return nsc_dex_bad_index(r, at, "string", p->shorty);
        if (p->returns >= dex->type_count)
            return nsc_dex_bad_index(r, at + 4, "type", p->returns);
        error = nsc_dex_resolve(r, NSC_DEX_LISTS, nsc_span_get32(r->data + at + 8), at + 8,
                                &p->parameters);
        /* Such a method cannot be called, and comparing long lists repeatedly would be slow. */
        if (error == 0 && p->parameters != NSC_DEX_NONE &&
            dex->lists[p->parameters].count > PARAMETERS_MAX)
            return nsc_diag_set(r->diag, at, EBADMSG,
                                "broken DEX file: prototype %u has %u parameters", i,
                                dex->lists[p->parameters].count);
        if (error == 0 && i > 0 && nsc_dex_compare_protos(dex, p - 1, p) >= 0)
            return nsc_diag_set(r->diag, at, EBADMSG,
                                "broken DEX file: prototype %u is out of order", i);
    }
    return error;
}

static int read_fields(struct nsc_dex_reading *r)
{
    const struct nsc_dex_section *s = &r->sections[NSC_DEX_FIELD_IDS];
    struct nsc_dex *dex = r->dex;
    int error = nsc_dex_make_table(r, NSC_DEX_FIELD_IDS, sizeof *dex->fields, &dex->fields,
                                   &dex->field_count);

    for (uint32_t i = 0; error == 0 && i < dex->field_count; i++) {
        uint32_t at = s->offset + 8 * i;
        struct nsc_dex_field *f = &dex->fields[i];

        f->holder = nsc_span_get16(r->data + at);
        f->type = nsc_span_get16(r->data + at + 2);
        f->name = nsc_span_get32(r->data + at + 4);
        if (f->holder >= dex->type_count || f->type >= dex->type_count)
            return nsc_dex_bad_index(r, at, "type",
                                     f->holder >= dex->type_count ? f->holder : f->type);
        if (f->name >= dex->string_count)
            return nsc_dex_bad_index(r, at + 4, "string", f->name);
        if (i > 0 && nsc_dex_compare_fields(f - 1, f) >= 0)
            return nsc_diag_set(r->diag, at, EBADMSG, "broken DEX file: field %u is out of order",
                                i);
    }
    return error;
}

static int read_methods(struct nsc_dex_reading *r)
{
    const struct nsc_dex_section *s = &r->sections[NSC_DEX_METHOD_IDS];
    struct nsc_dex *dex = r->dex;
    int error = nsc_dex_make_table(r, NSC_DEX_METHOD_IDS, sizeof *dex->methods, &dex->methods,
                                   &dex->method_count);

    for (uint32_t i = 0; error == 0 && i < dex->method_count; i++) {
        uint32_t at = s->offset + 8 * i;
        struct nsc_dex_method *m = &dex->methods[i];

        m->holder = nsc_span_get16(r->data + at);
        m->proto = nsc_span_get16(r->data + at + 2);
        m->name = nsc_span_get32(r->data + at + 4);
        if (m->holder >= dex->type_count)
            return nsc_dex_bad_index(r, at, "type", m->holder);
        if (m->proto >= dex->proto_count)
            return nsc_dex_bad_index(r, at + 2, "prototype", m->proto);
        if (m->name >= dex->string_count)
            return nsc_dex_bad_index(r, at + 4, "string", m->name);
        if (i > 0 && nsc_dex_compare_methods(m - 1, m) >= 0)
            return nsc_diag_set(r->diag, at, EBADMSG, "broken DEX file: method %u is out of order",
                                i);
    }
    return error;
}

static int read_handles(struct nsc_dex_reading *r)
{
    const struct nsc_dex_section *s = &r->sections[NSC_DEX_HANDLES];
    struct nsc_dex *dex = r->dex;
    int error = nsc_dex_make_table(r, NSC_DEX_HANDLES, sizeof *dex->handles, &dex->handles,
                                   &dex->handle_count);

    for (uint32_t i = 0; error == 0 && i < dex->handle_count; i++) {
        uint32_t at = s->offset + 8 * i;
        struct nsc_dex_handle *h = &dex->handles[i];

        h->kind = nsc_span_get16(r->data + at);
        h->unused[0] = nsc_span_get16(r->data + at + 2);
        h->member = nsc_span_get16(r->data + at + 4);
        h->unused[1] = nsc_span_get16(r->data + at + 6);
        if (h->kind > 8)
            return nsc_diag_set(r->diag, at, ENOTSUP, "a method handle is of unknown kind %u",
                                h->kind);
        if (h->member >= (h->kind < 4 ? dex->field_count : dex->method_count))
            return nsc_dex_bad_index(r, at + 4, h->kind < 4 ? "field" : "method", h->member);
    }
    return error;
}

/* ---- All of it --------------------------------------------------------------------------------
 */

/* Count the non-zero bytes between the sections. */
static void count_loose(struct nsc_dex_reading *r)
{
    for (int kind = 0; kind < NSC_DEX_KINDS; kind++) {
        const struct nsc_dex_section *s = &r->sections[kind];

        for (uint32_t at = s->end; s->present && at < s->limit; at++)
            r->dex->loose_bytes += r->data[at] != 0;
    }
}

static int read_all(struct nsc_dex_reading *r)
{
    static int (*const steps[])(struct nsc_dex_reading *) = {
        read_map,    read_strings, read_types,   nsc_dex_read_lists, read_protos,
        read_fields, read_methods, read_handles, nsc_dex_read_data,
    };
    struct nsc_dex *dex = r->dex;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int error = steps[i](r);

        if (error != 0)
            return error;
    }
    for (enum nsc_dex_table i = 0; i < NSC_DEX_TABLES; i++)
        dex->own->tails[i].sorted = dex->own->rooms[i] = nsc_dex_count(dex, i);
    dex->own->class_room = dex->class_count;
    dex->own->class_data_room = dex->class_data_count;
    dex->own->code_room = dex->code_count;
    dex->own->debug_room = dex->debug_count;
    dex->own->list_room = dex->list_count;
    dex->own->set_room = dex->set_count;
    dex->own->annotation_room = dex->annotation_count;
    dex->own->directory_room = dex->directory_count;
    count_loose(r);
    check_sums(r);
    return 0;
}

int nsc_dex_read(const void *data, size_t bytes, struct nsc_dex **out, struct nsc_diag *diag)
{
    struct nsc_dex_reading r = {.data = data, .diag = diag};
    int error = check_header(data, bytes, diag);

    if (error != 0)
        return error;
    r.bytes = (uint32_t)bytes; /* file size of the header */
    r.dex = nsc_dex_empty();
    if (r.dex == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    r.dex->version = version_of(data, bytes);
    r.dex->file_bytes = bytes;
    error = read_all(&r);
    for (int kind = 0; kind < NSC_DEX_KINDS; kind++)
        free(r.sections[kind].offsets);
    if (error != 0)
        nsc_dex_free(r.dex);
    else
        *out = r.dex;
    return error;
}
