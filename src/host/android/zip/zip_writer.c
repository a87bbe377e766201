/* zip_writer.c - see zip_writer.h: write entries. The central directory is in zip_tail.c. */
#include "android/zip/zip_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "android/zip/zip_writer_state.h"
#include "base/span.h"
#include "util/os/write_all.h"

#define LEVEL    6 /* of deflate */
/* 1981-01-01 01:01:02, as other APK tools use for all entries. The ZIP epoch itself is a day
 * earlier in some time zones. */
#define NEW_DATE 0x0221u
#define NEW_TIME 0x0821u

#define FLAG_DESCRIPTOR 8u
#define FLAG_UTF8       0x800u
#define EXTRA_ZIP64     1u
#define EXTRA_ALIGNMENT 0xd935u

int nsc_zip_writer_create(const char *path, struct nsc_zip_writer **out, struct nsc_diag *diag)
{
    struct nsc_zip_writer *w = calloc(1, sizeof *w);
    int error;

    if (w == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_atomic_file_create(path, &w->file, diag);
    w->buffer = malloc(NSC_ZIP_WRITER_BUFFER);
    if (error == 0 && w->buffer == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (error != 0) {
        nsc_zip_writer_abandon(w);
        return error;
    }
    *out = w;
    return 0;
}

void nsc_zip_writer_watch(struct nsc_zip_writer *w, nsc_zip_sink sink, void *context)
{
    w->sink = sink;
    w->context = context;
}

uint64_t nsc_zip_writer_at(const struct nsc_zip_writer *w)
{
    return w->at;
}

uint64_t nsc_zip_writer_entries(const struct nsc_zip_writer *w)
{
    return w->count;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static int cannot_write(const struct nsc_zip_writer *w, int error, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", w->file.path,
                        strerror(abs(error)));
}

static void write_all(struct nsc_zip_writer *w, const uint8_t *data, size_t bytes)
{
    if (w->error == 0)
        w->error = nsc_write_all(w->file.fd, data, bytes);
}

static void flush(struct nsc_zip_writer *w)
{
    write_all(w, w->buffer, w->held);
    w->held = 0;
}

int nsc_zip_writer_raw(struct nsc_zip_writer *w, const void *data, size_t bytes,
                       struct nsc_diag *diag)
{
    const uint8_t *from = data;

    if (w->error == 0 && w->sink != NULL && bytes > 0)
        w->error = w->sink(w->context, from, bytes);
    w->at += bytes;
    if (bytes > NSC_ZIP_WRITER_BUFFER - w->held)
        flush(w);
    if (bytes > NSC_ZIP_WRITER_BUFFER) {
        write_all(w, from, bytes);
    } else if (bytes > 0) {
        memcpy(w->buffer + w->held, from, bytes);
        w->held += bytes;
    }
    return w->error == 0 ? 0 : cannot_write(w, w->error, diag);
}

/* ---- Headers -------------------------------------------------------------------------------- */

static void extra_field(struct nsc_buffer *b, unsigned id, const void *data, size_t bytes)
{
    uint8_t *p = nsc_buffer_reserve(b, 4 + bytes);

    if (p == NULL)
        return;
    nsc_span_put16(p, (uint16_t)id);
    nsc_span_put16(p + 2, (uint16_t)bytes);
    memcpy(p + 4, data, bytes);
    b->used += 4 + bytes;
}

/* Copy the extra fields except padding of any tool and ZIP64. */
static void keep_extra(struct nsc_buffer *out, const uint8_t *extra, size_t bytes)
{
    struct nsc_span s = nsc_span_of(extra, bytes);

    while (nsc_span_left(&s) >= 4) {
        uint16_t id = nsc_span_get16(s.at), size = nsc_span_get16(s.at + 2);
        const uint8_t *data;

        nsc_span_take(&s, 4);
        data = nsc_span_take(&s, size);
        if (data == NULL)
            return;
        if (id != 0 && id != EXTRA_ZIP64 && id != EXTRA_ALIGNMENT)
            extra_field(out, id, data, size);
    }
}

static bool is_large(const struct nsc_zip_entry *e)
{
    return e->bytes >= UINT32_MAX || e->packed_bytes >= UINT32_MAX;
}

/* Alignment of a stored entry's data. */
static unsigned alignment_of(const struct nsc_zip_entry *e)
{
    size_t n = e->name_bytes;

    if (e->method != NSC_ZIP_STORED || (n > 0 && e->name[n - 1] == '/'))
        return 1;
    return n > 3 && memcmp(e->name + n - 3, ".so", 3) == 0 ? NSC_ZIP_ALIGN_LIBRARY : NSC_ZIP_ALIGN;
}

/* Append a padding field, which begins at file offset @at, so that the data after it is aligned to
 * @alignment. */
static void align(struct nsc_buffer *extra, uint64_t at, unsigned alignment)
{
    uint8_t data[2 + NSC_ZIP_ALIGN_LIBRARY] = {0};
    unsigned past = (unsigned)((at + 6) % alignment);

    if (at % alignment == 0)
        return;
    nsc_span_put16(data, (uint16_t)alignment);
    extra_field(extra, EXTRA_ALIGNMENT, data, 2 + (past == 0 ? 0 : alignment - past));
}

static void put_fields(uint8_t *p, const struct nsc_zip_entry *e, uint64_t packed, uint64_t plain)
{
    nsc_span_put16(p, e->version_needed);
    nsc_span_put16(p + 2, e->flags);
    nsc_span_put16(p + 4, e->method);
    nsc_span_put16(p + 6, e->time);
    nsc_span_put16(p + 8, e->date);
    nsc_span_put32(p + 10, e->crc);
    nsc_span_put32(p + 14, (uint32_t)packed);
    nsc_span_put32(p + 18, (uint32_t)plain);
    nsc_span_put16(p + 22, e->name_bytes);
}

/* Write the local header of @e; sets its header_off. @extra: the extra fields to keep; receives
 * alignment and ZIP64 fields. */
static int put_header(struct nsc_zip_writer *w, struct nsc_zip_entry *e, struct nsc_buffer *extra,
                      struct nsc_diag *diag)
{
    uint8_t p[NSC_ZIP_LOCAL_BYTES], wide[16];
    bool large = is_large(e);
    int error;

    e->header_off = w->at;
    e->flags &= (uint16_t)~FLAG_DESCRIPTOR;
    if (large) {
        nsc_span_put64(wide, e->bytes);
        nsc_span_put64(wide + 8, e->packed_bytes);
        extra_field(extra, EXTRA_ZIP64, wide, sizeof wide);
        e->version_needed = e->version_needed < 45 ? 45 : e->version_needed;
    }
    align(extra, w->at + sizeof p + e->name_bytes + extra->used, alignment_of(e));
    if (extra->failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (extra->used > UINT16_MAX)
        return nsc_diag_set(diag, e->central_off, EFBIG, "%.200s has too many extra fields",
                            e->name);
    nsc_span_put32(p, 0x04034b50);
    put_fields(p + 4, e, large ? UINT32_MAX : e->packed_bytes, large ? UINT32_MAX : e->bytes);
    nsc_span_put16(p + 28, (uint16_t)extra->used);
    error = nsc_zip_writer_raw(w, p, sizeof p, diag);
    if (error == 0)
        error = nsc_zip_writer_raw(w, e->name, e->name_bytes, diag);
    return error == 0 ? nsc_zip_writer_raw(w, extra->data, extra->used, diag) : error;
}

/* Append the central directory record of @e. @e->extra: the original's fields there. */
static int put_record(struct nsc_zip_writer *w, const struct nsc_zip_entry *e,
                      struct nsc_diag *diag)
{
    bool large = is_large(e), far = e->header_off >= UINT32_MAX;
    struct nsc_buffer extra = {0};
    uint8_t p[NSC_ZIP_CENTRAL_BYTES] = {0}, wide[24];
    size_t n = 0;

    keep_extra(&extra, e->extra, e->extra_bytes);
    if (large) {
        nsc_span_put64(wide, e->bytes);
        nsc_span_put64(wide + 8, e->packed_bytes);
        n = 16;
    }
    if (far) {
        nsc_span_put64(wide + n, e->header_off);
        n += 8;
    }
    if (n > 0)
        extra_field(&extra, EXTRA_ZIP64, wide, n);
    nsc_span_put32(p, 0x02014b50);
    nsc_span_put16(p + 4, e->version_made);
    put_fields(p + 6, e, large ? UINT32_MAX : e->packed_bytes, large ? UINT32_MAX : e->bytes);
    if (far && e->version_needed < 45)
        nsc_span_put16(p + 6, 45);
    nsc_span_put16(p + 30, (uint16_t)extra.used);
    nsc_span_put16(p + 32, e->comment_bytes);
    nsc_span_put16(p + 36, e->internal);
    nsc_span_put32(p + 38, e->external);
    nsc_span_put32(p + 42, far ? UINT32_MAX : (uint32_t)e->header_off);
    nsc_buffer_bytes(&w->central, p, sizeof p);
    nsc_buffer_bytes(&w->central, e->name, e->name_bytes);
    nsc_buffer_bytes(&w->central, extra.data, extra.used);
    nsc_buffer_bytes(&w->central, e->comment, e->comment_bytes);
    w->central.failed |= extra.failed || extra.used > UINT16_MAX;
    nsc_buffer_free(&extra);
    w->count++;
    if (w->central.failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return 0;
}

/* ---- Entries -------------------------------------------------------------------------------- */

/* Read the extra fields of the local header, which may differ from the central directory's. */
static int local_extra(const struct nsc_zip *z, const struct nsc_zip_entry *e,
                       struct nsc_buffer *out, struct nsc_diag *diag)
{
    size_t head = NSC_ZIP_LOCAL_BYTES + (size_t)e->name_bytes;
    size_t bytes = (size_t)(e->data_off - e->header_off) - head;
    uint8_t *extra = malloc(bytes + 1);
    int error;

    if (extra == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_zip_raw(z, e->header_off + head, extra, bytes, diag);
    if (error == 0)
        keep_extra(out, extra, bytes);
    free(extra);
    return error;
}

static int copy_bytes(struct nsc_zip_writer *w, const struct nsc_zip *z,
                      const struct nsc_zip_entry *e, struct nsc_diag *diag)
{
    uint8_t *piece = malloc(NSC_ZIP_WRITER_BUFFER);
    uint64_t done = 0;
    int error = 0;

    if (piece == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    while (error == 0 && done < e->packed_bytes) {
        uint64_t left = e->packed_bytes - done;
        size_t bytes = left < NSC_ZIP_WRITER_BUFFER ? (size_t)left : NSC_ZIP_WRITER_BUFFER;

        error = nsc_zip_raw(z, e->data_off + done, piece, bytes, diag);
        if (error == 0)
            error = nsc_zip_writer_raw(w, piece, bytes, diag);
        done += bytes;
    }
    free(piece);
    return error;
}

int nsc_zip_writer_copy(struct nsc_zip_writer *w, const struct nsc_zip *z,
                        const struct nsc_zip_entry *e, struct nsc_diag *diag)
{
    struct nsc_zip_entry copy = *e;
    struct nsc_buffer extra = {0};
    int error = local_extra(z, e, &extra, diag);

    if (error == 0)
        error = put_header(w, &copy, &extra, diag);
    nsc_buffer_free(&extra);
    if (error == 0)
        error = copy_bytes(w, z, e, diag);
    return error == 0 ? put_record(w, &copy, diag) : error;
}

/* Deflate into @out. Returns false if out of memory. */
static bool pack(const uint8_t *data, size_t bytes, struct nsc_buffer *out)
{
    z_stream s = {0};
    size_t in = bytes;
    int state = Z_OK;

    if (deflateInit2(&s, LEVEL, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    memcpy(&s.next_in, &data, sizeof data); /* zlib only reads from it */
    while (state != Z_STREAM_END) {
        uint8_t *to = nsc_buffer_reserve(out, 64 * 1024);

        if (to == NULL)
            break;
        if (s.avail_in == 0) {
            s.avail_in = in < UINT32_MAX ? (uInt)in : UINT32_MAX;
            in -= s.avail_in;
        }
        s.next_out = to;
        s.avail_out = 64 * 1024;
        state = deflate(&s, in == 0 ? Z_FINISH : Z_NO_FLUSH);
        out->used += 64 * 1024 - s.avail_out;
    }
    deflateEnd(&s);
    return state == Z_STREAM_END;
}

static uint32_t crc_of(const uint8_t *data, size_t bytes)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data, bytes);
}

int nsc_zip_writer_add(struct nsc_zip_writer *w, const char *name, enum nsc_zip_method method,
                       const void *data, size_t bytes, struct nsc_diag *diag)
{
    struct nsc_buffer packed = {0}, extra = {0};
    size_t name_bytes = strlen(name);
    struct nsc_zip_entry e = {.name = name,
                              .name_bytes = (uint16_t)name_bytes,
                              .date = NEW_DATE,
                              .time = NEW_TIME,
                              .bytes = bytes,
                              .central_off = NSC_DIAG_NO_OFFSET};
    int error;

    if (name_bytes == 0 || name_bytes > UINT16_MAX || name[0] == '/')
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "no name for an entry: \"%.100s\"",
                            name);
    for (const char *c = name; *c != 0; c++)
        e.flags |= (*c & 0x80) != 0 ? FLAG_UTF8 : 0;
    if (method == NSC_ZIP_DEFLATED && !pack(data, bytes, &packed)) {
        nsc_buffer_free(&packed);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory for %.200s", name);
    }
    if (method == NSC_ZIP_DEFLATED && packed.used < bytes)
        e.method = NSC_ZIP_DEFLATED;
    e.version_made = e.version_needed = e.method == NSC_ZIP_DEFLATED ? 20 : 10;
    e.packed_bytes = e.method == NSC_ZIP_DEFLATED ? packed.used : bytes;
    e.crc = crc_of(data, bytes);
    error = put_header(w, &e, &extra, diag);
    if (error == 0)
        error = nsc_zip_writer_raw(w, e.method == NSC_ZIP_DEFLATED ? packed.data : data,
                                   (size_t)e.packed_bytes, diag);
    if (error == 0)
        error = put_record(w, &e, diag);
    nsc_buffer_free(&packed);
    nsc_buffer_free(&extra);
    return error;
}

int nsc_zip_writer_comment(struct nsc_zip_writer *w, const void *data, size_t bytes,
                           struct nsc_diag *diag)
{
    nsc_buffer_clear(&w->comment);
    nsc_buffer_bytes(&w->comment, data, bytes < UINT16_MAX ? bytes : UINT16_MAX);
    if (w->comment.failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return 0;
}

/* ---- The end -------------------------------------------------------------------------------- */

int nsc_zip_writer_publish(struct nsc_zip_writer *w, struct nsc_atomic_file *beside,
                           struct nsc_diag *diag)
{
    struct nsc_atomic_file none = {.fd = -1};
    int error;

    flush(w);
    if (beside == NULL)
        beside = &none;
    if (w->error == 0)
        error = nsc_atomic_file_publish_both(beside, &w->file, diag);
    else
        error = cannot_write(w, w->error, diag);
    nsc_atomic_file_abandon(beside);
    nsc_zip_writer_abandon(w);
    return error;
}

void nsc_zip_writer_abandon(struct nsc_zip_writer *w)
{
    if (w == NULL)
        return;
    if (w->file.path != NULL)
        nsc_atomic_file_abandon(&w->file);
    nsc_buffer_free(&w->central);
    nsc_buffer_free(&w->comment);
    free(w->buffer);
    free(w);
}
