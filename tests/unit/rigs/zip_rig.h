/*
 * zip_rig.h - archives made by hand, right or wrong in one place, for the tests of apk/.
 *
 * A test adds entries, spoils what it wants in the bytes, and opens the result.
 */
#ifndef NSC_TESTS_UNIT_RIGS_ZIP_RIG_H
#define NSC_TESTS_UNIT_RIGS_ZIP_RIG_H

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "android/zip/zip_reader.h"
#include "base/span.h"
#include "util/buffer.h"

struct zip_rig {
    struct nsc_buffer file, central;
    uint32_t count;
    /* Of the last entry. */
    size_t header, data, record;
};

static inline void rig_16(struct nsc_buffer *b, unsigned v)
{
    uint8_t p[2];

    nsc_span_put16(p, (uint16_t)v);
    nsc_buffer_bytes(b, p, 2);
}

static inline void rig_32(struct nsc_buffer *b, uint64_t v)
{
    uint8_t p[4];

    nsc_span_put32(p, (uint32_t)v);
    nsc_buffer_bytes(b, p, 4);
}

static inline void rig_64(struct nsc_buffer *b, uint64_t v)
{
    rig_32(b, v);
    rig_32(b, v >> 32);
}

struct rig_entry {
    const char *name;
    size_t name_bytes; /* 0: strlen() */
    const void *data;
    size_t bytes;
    unsigned method, flags;
    bool descriptor; /* sizes behind the data, zeros in front */
};

static inline void rig_pack(struct nsc_buffer *out, const struct rig_entry *e)
{
    z_stream s = {0};
    uint8_t *to = nsc_buffer_reserve(out, e->bytes + e->bytes / 8 + 128);
    Bytef *in = malloc(e->bytes + 1);

    memcpy(in, e->data, e->bytes);
    deflateInit2(&s, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY);
    s.next_in = in;
    s.avail_in = (uInt)e->bytes;
    s.next_out = to;
    s.avail_out = (uInt)(out->room - out->used);
    deflate(&s, Z_FINISH);
    out->used += s.total_out;
    deflateEnd(&s);
    free(in);
}

static inline void rig_add(struct zip_rig *r, struct rig_entry e)
{
    size_t name_bytes = e.name_bytes != 0 ? e.name_bytes : strlen(e.name);
    uint32_t crc = (uint32_t)crc32(0, e.data, (uInt)e.bytes);
    struct nsc_buffer packed = {0};
    bool d = e.descriptor;

    if (e.method == 8)
        rig_pack(&packed, &e);
    else
        nsc_buffer_bytes(&packed, e.data, e.bytes);
    e.flags |= d ? 8u : 0;
    r->header = r->file.used;
    rig_32(&r->file, 0x04034b50);
    rig_16(&r->file, 20);
    rig_16(&r->file, e.flags);
    rig_16(&r->file, e.method);
    rig_32(&r->file, 0x5a215821);
    rig_32(&r->file, d ? 0 : crc);
    rig_32(&r->file, d ? 0 : packed.used);
    rig_32(&r->file, d ? 0 : e.bytes);
    rig_16(&r->file, (unsigned)name_bytes);
    rig_16(&r->file, 0);
    nsc_buffer_bytes(&r->file, e.name, name_bytes);
    r->data = r->file.used;
    nsc_buffer_bytes(&r->file, packed.data, packed.used);
    if (d) {
        rig_32(&r->file, 0x08074b50);
        rig_32(&r->file, crc);
        rig_32(&r->file, packed.used);
        rig_32(&r->file, e.bytes);
    }
    r->record = r->central.used;
    rig_32(&r->central, 0x02014b50);
    rig_16(&r->central, 20);
    rig_16(&r->central, 20);
    rig_16(&r->central, e.flags);
    rig_16(&r->central, e.method);
    rig_32(&r->central, 0x5a215821);
    rig_32(&r->central, crc);
    rig_32(&r->central, packed.used);
    rig_32(&r->central, e.bytes);
    rig_16(&r->central, (unsigned)name_bytes);
    for (int i = 0; i < 4; i++)
        rig_16(&r->central, 0);
    rig_32(&r->central, 0);
    rig_32(&r->central, r->header);
    nsc_buffer_bytes(&r->central, e.name, name_bytes);
    r->count++;
    nsc_buffer_free(&packed);
}

/* Text, stored. */
static inline void rig_text(struct zip_rig *r, const char *name, const char *text)
{
    rig_add(r, (struct rig_entry){.name = name, .data = text, .bytes = strlen(text)});
}

/* The central directory and the end; the offset of the former. */
static inline size_t rig_end(struct zip_rig *r)
{
    size_t at = r->file.used;

    nsc_buffer_bytes(&r->file, r->central.data, r->central.used);
    rig_32(&r->file, 0x06054b50);
    rig_32(&r->file, 0);
    rig_16(&r->file, r->count);
    rig_16(&r->file, r->count);
    rig_32(&r->file, r->central.used);
    rig_32(&r->file, at);
    rig_16(&r->file, 0);
    return at;
}

static inline void rig_free(struct zip_rig *r)
{
    nsc_buffer_free(&r->file);
    nsc_buffer_free(&r->central);
    memset(r, 0, sizeof *r);
}

static inline int rig_open_bytes(const void *data, size_t bytes, struct nsc_zip **out,
                                 struct nsc_diag *diag)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);

    if (write(fd, data, bytes) != (ssize_t)bytes)
        abort();
    return nsc_zip_open_fd(fd, "archive", out, diag);
}

#endif
