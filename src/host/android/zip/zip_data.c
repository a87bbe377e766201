/* zip_data.c - see zip_reader.h: read the data of an entry. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "android/zip/zip_state.h"

#define PIECE (64u * 1024)

/* State while an entry is streamed. */
struct flow {
    const struct nsc_zip *z;
    const struct nsc_zip_entry *e;
    nsc_zip_sink sink;
    void *context;
    struct nsc_diag *diag;
    uint64_t taken; /* packed bytes read */
    uint64_t given; /* unpacked bytes passed to the sink */
    uLong crc;
    uint8_t *in, *out; /* PIECE each */
};

static int damaged(const struct flow *f, const char *how)
{
    return nsc_diag_set(f->diag, f->e->data_off + f->taken, EBADMSG, "%.200s is damaged: %s",
                        f->e->name, how);
}

static int give(struct flow *f, const uint8_t *data, size_t bytes)
{
    if (bytes > f->e->bytes - f->given)
        return damaged(f, "it holds more bytes than it declares");
    f->given += bytes;
    f->crc = crc32(f->crc, data, (uInt)bytes);
    return bytes == 0 ? 0 : f->sink(f->context, data, bytes);
}

/* Read the next packed bytes into f->in. */
static int take(struct flow *f, size_t *bytes)
{
    uint64_t left = f->e->packed_bytes - f->taken;
    int error;

    *bytes = left < PIECE ? (size_t)left : PIECE;
    error = nsc_zip_raw(f->z, f->e->data_off + f->taken, f->in, *bytes, f->diag);
    f->taken += error == 0 ? *bytes : 0;
    return error;
}

static int copy_stored(struct flow *f)
{
    int error = 0;
    size_t bytes;

    while (error == 0 && f->taken < f->e->packed_bytes) {
        error = take(f, &bytes);
        if (error == 0)
            error = give(f, f->in, bytes);
    }
    return error;
}

static int inflate_all(struct flow *f, z_stream *s)
{
    int state = Z_OK, error = 0;

    while (state != Z_STREAM_END) {
        if (s->avail_in == 0) {
            size_t bytes;

            if (f->taken == f->e->packed_bytes)
                return damaged(f, "it ends too early");
            error = take(f, &bytes);
            if (error != 0)
                return error;
            s->next_in = f->in;
            s->avail_in = (uInt)bytes;
        }
        s->next_out = f->out;
        s->avail_out = PIECE;
        state = inflate(s, Z_NO_FLUSH);
        if (state == Z_MEM_ERROR)
            return nsc_diag_set(f->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
            return damaged(f, s->msg != NULL ? s->msg : "it cannot be unpacked");
        error = give(f, f->out, PIECE - s->avail_out);
        if (error != 0)
            return error;
    }
    if (s->avail_in != 0 || f->taken != f->e->packed_bytes)
        return damaged(f, "bytes are left over behind it");
    return 0;
}

static int inflate_entry(struct flow *f)
{
    z_stream s = {0};
    int error;

    if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return nsc_diag_set(f->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = inflate_all(f, &s);
    inflateEnd(&s);
    return error;
}

int nsc_zip_stream(const struct nsc_zip *z, const struct nsc_zip_entry *e, nsc_zip_sink sink,
                   void *context, struct nsc_diag *diag)
{
    struct flow f = {.z = z, .e = e, .sink = sink, .context = context, .diag = diag};
    int error;

    f.in = malloc(2 * (size_t)PIECE);
    if (f.in == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    f.out = f.in + PIECE;
    f.crc = crc32(0, NULL, 0);
    error = e->method == NSC_ZIP_STORED ? copy_stored(&f) : inflate_entry(&f);
    if (error == 0 && f.given != e->bytes)
        error = damaged(&f, "it holds fewer bytes than it declares");
    if (error == 0 && f.crc != e->crc)
        error = damaged(&f, "its CRC is wrong");
    free(f.in);
    return error;
}

struct memory {
    uint8_t *at;
};

static int into_memory(void *context, const uint8_t *data, size_t bytes)
{
    struct memory *m = context;

    memcpy(m->at, data, bytes);
    m->at += bytes;
    return 0;
}

int nsc_zip_read(const struct nsc_zip *z, const struct nsc_zip_entry *e, uint64_t max,
                 uint8_t **out, size_t *bytes, struct nsc_diag *diag)
{
    struct memory m;
    uint8_t *data;
    int error;

    if (e->bytes > max || e->bytes >= SIZE_MAX)
        return nsc_diag_set(diag, e->central_off, EFBIG, "%.200s is too large", e->name);
    data = malloc((size_t)e->bytes + 1);
    if (data == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory for %.200s", e->name);
    m.at = data;
    error = nsc_zip_stream(z, e, into_memory, &m, diag);
    if (error != 0) {
        free(data);
        return error;
    }
    data[e->bytes] = 0;
    *out = data;
    *bytes = (size_t)e->bytes;
    return 0;
}
