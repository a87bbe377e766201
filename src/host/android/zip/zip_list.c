/*
 * zip_list.c - see zip_reader.h: parse and check the entries of an archive.
 *
 * Android and all other tools must see the same entries as nanoscope: ambiguous archives are
 * refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/zip/zip_state.h"
#include "base/span.h"
#include "util/sort.h"

#define CENTRAL_MAGIC 0x02014b50u
#define LOCAL_MAGIC   0x04034b50u
#define EXTRA_ZIP64   1u
#define RATIO_MAX     1032u /* maximum expansion of deflate */

enum flags {
    FLAG_ENCRYPTED = 1u << 0,
    FLAG_DESCRIPTOR = 1u << 3,
    FLAG_STRONG = 1u << 6,
    FLAG_MASKED = 1u << 13,
};

/* ---- One record of the central directory ---------------------------------------------------- */

/* Replace a 32-bit value that is the ZIP64 escape by the next eight bytes of the field. */
static bool widen(struct nsc_span *field, uint64_t *value)
{
    const uint8_t *p;

    if (*value != UINT32_MAX)
        return true;
    p = nsc_span_take(field, 8);
    if (p == NULL)
        return false;
    *value = nsc_span_get64(p);
    return true;
}

/* Read the values that did not fit 32 bits from the ZIP64 extra field. Malformed extra fields
 * (padding) end the search. Returns whether all values were found. */
static bool read_zip64(const uint8_t *extra, size_t bytes, uint64_t *plain, uint64_t *packed,
                       uint64_t *offset)
{
    struct nsc_span s = nsc_span_of(extra, bytes);

    if (*plain != UINT32_MAX && *packed != UINT32_MAX && (offset == NULL || *offset != UINT32_MAX))
        return true;
    while (nsc_span_left(&s) >= 4) {
        uint16_t id = nsc_span_get16(s.at), size = nsc_span_get16(s.at + 2);
        struct nsc_span field;

        nsc_span_take(&s, 4);
        field = nsc_span_part(&s, size);
        if (field.bad)
            break;
        if (id == EXTRA_ZIP64)
            return widen(&field, plain) && widen(&field, packed) &&
                   (offset == NULL || widen(&field, offset));
    }
    /* Without the field the 32-bit values are literal. */
    return true;
}

/* Whether @at is an ASCII (C0) or Unicode (C1) control character: terminals interpret both. */
static bool is_control(const char *at, size_t bytes)
{
    unsigned char c = (unsigned char)at[0];

    return c < 0x20 || c == 0x7f ||
           (c == 0xc2 && bytes > 1 && ((unsigned char)at[1] & 0xe0) == 0x80);
}

/* The fault of a name, for messages; NULL if it is valid. */
static const char *fault_of_name(const char *name, size_t bytes)
{
    size_t begin = 0;

    if (bytes == 0)
        return "no name";
    if (name[0] == '/')
        return "an absolute name";
    for (size_t i = 0; i < bytes; i++) {
        if (is_control(name + i, bytes - i))
            return "a control character in its name";
        if (name[i] == '\\')
            return "a backslash in its name";
    }
    for (size_t i = 0; i <= bytes; i++) {
        if (i < bytes && name[i] != '/')
            continue;
        if ((i - begin == 1 && name[begin] == '.') ||
            (i - begin == 2 && name[begin] == '.' && name[begin + 1] == '.'))
            return "a name that leads out of the archive";
        begin = i + 1;
    }
    return NULL;
}

static int check_kind(const struct nsc_zip_entry *e, struct nsc_diag *diag)
{
    const char *fault = fault_of_name(e->name, e->name_bytes);

    if (fault != NULL)
        return nsc_diag_set(diag, e->central_off, EBADMSG, "an entry has %s", fault);
    if ((e->flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_MASKED)) != 0)
        return nsc_diag_set(diag, e->central_off, ENOTSUP, "%.200s is encrypted", e->name);
    if (e->method != NSC_ZIP_STORED && e->method != NSC_ZIP_DEFLATED)
        return nsc_diag_set(diag, e->central_off, ENOTSUP,
                            "%.200s is packed with method %u: Android knows 0 and 8 only", e->name,
                            e->method);
    if (e->method == NSC_ZIP_STORED && e->bytes != e->packed_bytes)
        return nsc_diag_set(diag, e->central_off, EBADMSG,
                            "%.200s is stored, yet its two sizes differ", e->name);
    if (e->method == NSC_ZIP_DEFLATED && e->bytes / RATIO_MAX > e->packed_bytes)
        return nsc_diag_set(diag, e->central_off, EBADMSG,
                            "%.200s declares more bytes than its packed ones can hold", e->name);
    return 0;
}

/* Parse one record from @s. Copies its name to *@names and advances that. */
static int read_record(struct nsc_zip *z, struct nsc_span *s, struct nsc_zip_entry *e, char **names,
                       struct nsc_diag *diag)
{
    uint64_t at = z->layout.central_off + (uint64_t)(s->at - z->central);
    const uint8_t *p = nsc_span_take(s, NSC_ZIP_CENTRAL_BYTES), *name;

    if (p == NULL || nsc_span_get32(p) != CENTRAL_MAGIC)
        return nsc_diag_set(diag, at, EBADMSG, "an entry of the central directory should be here");
    *e = (struct nsc_zip_entry){.version_made = nsc_span_get16(p + 4),
                                .version_needed = nsc_span_get16(p + 6),
                                .flags = nsc_span_get16(p + 8),
                                .method = nsc_span_get16(p + 10),
                                .time = nsc_span_get16(p + 12),
                                .date = nsc_span_get16(p + 14),
                                .crc = nsc_span_get32(p + 16),
                                .packed_bytes = nsc_span_get32(p + 20),
                                .bytes = nsc_span_get32(p + 24),
                                .name_bytes = nsc_span_get16(p + 28),
                                .extra_bytes = nsc_span_get16(p + 30),
                                .comment_bytes = nsc_span_get16(p + 32),
                                .internal = nsc_span_get16(p + 36),
                                .external = nsc_span_get32(p + 38),
                                .header_off = nsc_span_get32(p + 42),
                                .central_off = at};
    name = nsc_span_take(s, e->name_bytes);
    e->extra = nsc_span_take(s, e->extra_bytes);
    e->comment = nsc_span_take(s, e->comment_bytes);
    if (s->bad)
        return nsc_diag_set(diag, at, EBADMSG, "the central directory ends inside an entry");
    memcpy(*names, name, e->name_bytes);
    (*names)[e->name_bytes] = 0;
    e->name = *names;
    *names += e->name_bytes + 1u;
    if (nsc_span_get16(p + 34) != 0)
        return nsc_diag_set(diag, at, ENOTSUP, "an entry lies on another disk");
    if (!read_zip64(e->extra, e->extra_bytes, &e->bytes, &e->packed_bytes, &e->header_off))
        return nsc_diag_set(diag, at, EBADMSG, "a ZIP64 field of an entry is too short");
    return check_kind(e, diag);
}

static int read_records(struct nsc_zip *z, struct nsc_diag *diag)
{
    struct nsc_span s = nsc_span_of(z->central, (size_t)z->layout.central_bytes);
    char *names;

    /* A name with its NUL takes fewer bytes than its record in the central directory. */
    z->names = names = malloc((size_t)z->layout.central_bytes + 1);
    z->entries = calloc((size_t)z->declared + 1, sizeof *z->entries);
    z->by_name = calloc((size_t)z->declared + 1, sizeof *z->by_name);
    if (z->names == NULL || z->entries == NULL || z->by_name == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (; z->count < z->declared; z->count++) {
        int error = read_record(z, &s, &z->entries[z->count], &names, diag);

        if (error != 0)
            return error;
        z->by_name[z->count] = z->count;
    }
    if (nsc_span_left(&s) != 0)
        return nsc_diag_set(diag, z->layout.central_off + (uint64_t)(s.at - z->central), EBADMSG,
                            "the central directory goes on after the last of its %u entries",
                            z->count);
    return 0;
}

/* ---- Local headers -------------------------------------------------------------------------- */

/* Whether sizes and CRC of a local header equal those of the central directory, or are 0 because a
 * data descriptor has them. */
static bool same_sizes(const struct nsc_zip_entry *e, const uint8_t *p, const uint8_t *extra,
                       size_t extra_bytes)
{
    uint64_t packed = nsc_span_get32(p + 18), plain = nsc_span_get32(p + 22);
    uint32_t crc = nsc_span_get32(p + 14);

    if ((nsc_span_get16(p + 6) & FLAG_DESCRIPTOR) != 0 && crc == 0 &&
        (packed == 0 || packed == UINT32_MAX) && (plain == 0 || plain == UINT32_MAX))
        return true;
    return read_zip64(extra, extra_bytes, &plain, &packed, NULL) && crc == e->crc &&
           packed == e->packed_bytes && plain == e->bytes;
}

static int check_local(const struct nsc_zip *z, struct nsc_zip_entry *e, uint8_t *p,
                       struct nsc_diag *diag)
{
    uint64_t end = z->layout.block_off;
    size_t head = NSC_ZIP_LOCAL_BYTES + (size_t)e->name_bytes, extra_bytes;
    int error;

    if (e->header_off > end || end - e->header_off < head)
        return nsc_diag_set(diag, e->central_off, EBADMSG,
                            "%.200s lies outside the part of the file that holds entries", e->name);
    error = nsc_zip_raw(z, e->header_off, p, head, diag);
    if (error != 0)
        return error;
    if (nsc_span_get32(p) != LOCAL_MAGIC)
        return nsc_diag_set(diag, e->header_off, EBADMSG, "the header of %.200s should be here",
                            e->name);
    extra_bytes = nsc_span_get16(p + 28);
    e->data_off = e->header_off + head + extra_bytes;
    if (e->data_off > end || end - e->data_off < e->packed_bytes)
        return nsc_diag_set(diag, e->header_off, EBADMSG,
                            "%.200s reaches beyond the part of the file that holds entries",
                            e->name);
    error = nsc_zip_raw(z, e->header_off + head, p + head, extra_bytes, diag);
    if (error != 0)
        return error;
    if (nsc_span_get16(p + 26) != e->name_bytes ||
        memcmp(p + NSC_ZIP_LOCAL_BYTES, e->name, e->name_bytes) != 0 ||
        nsc_span_get16(p + 8) != e->method || (nsc_span_get16(p + 6) & FLAG_ENCRYPTED) != 0 ||
        !same_sizes(e, p, p + head, extra_bytes))
        return nsc_diag_set(diag, e->header_off, EBADMSG,
                            "the header of %.200s contradicts the central directory", e->name);
    return 0;
}

static int check_locals(struct nsc_zip *z, struct nsc_diag *diag)
{
    uint8_t *p = malloc(NSC_ZIP_LOCAL_BYTES + 2 * (size_t)UINT16_MAX);
    int error = 0;

    if (p == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < z->count && error == 0; i++)
        error = check_local(z, &z->entries[i], p, diag);
    free(p);
    return error;
}

/* ---- Checks between entries ----------------------------------------------------------------- */

static int compare_names(const void *a, const void *b, void *context)
{
    const struct nsc_zip *z = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(z->entries[x].name, z->entries[y].name);

    return order != 0 ? order : x < y ? -1 : x > y;
}

static int compare_places(const void *a, const void *b, void *context)
{
    const struct nsc_zip *z = context;
    const struct nsc_zip_entry *x = &z->entries[*(const uint32_t *)a];
    const struct nsc_zip_entry *y = &z->entries[*(const uint32_t *)b];

    if (x->header_off != y->header_off)
        return x->header_off < y->header_off ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int check_names(struct nsc_zip *z, struct nsc_diag *diag)
{
    nsc_sort(z->by_name, z->count, sizeof *z->by_name, compare_names, z);
    for (uint32_t i = 1; i < z->count; i++) {
        const struct nsc_zip_entry *e = &z->entries[z->by_name[i]];

        if (strcmp(z->entries[z->by_name[i - 1]].name, e->name) == 0)
            return nsc_diag_set(diag, e->central_off, EBADMSG, "%.200s is there twice", e->name);
    }
    return 0;
}

static int check_places(struct nsc_zip *z, struct nsc_diag *diag)
{
    /* Uses by_name as scratch: it is sorted afterwards. */
    uint32_t *order = z->by_name;

    nsc_sort(order, z->count, sizeof *order, compare_places, z);
    for (uint32_t i = 1; i < z->count; i++) {
        const struct nsc_zip_entry *a = &z->entries[order[i - 1]], *b = &z->entries[order[i]];

        if (a->data_off + a->packed_bytes > b->header_off)
            return nsc_diag_set(diag, b->header_off, EBADMSG, "%.200s and %.200s overlap", a->name,
                                b->name);
    }
    return 0;
}

int nsc_zip_list(struct nsc_zip *z, struct nsc_diag *diag)
{
    int error = read_records(z, diag);

    if (error == 0)
        error = check_locals(z, diag);
    if (error == 0)
        error = check_places(z, diag);
    return error == 0 ? check_names(z, diag) : error;
}
