/* gzip_output.c - see gzip_output.h. */
#include "util/os/gzip_output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "util/os/atomic_file.h"

#define PACKED_BYTES (64u * 1024)

struct nsc_output_sink {
    struct nsc_atomic_file file;
    int error; /* first failure, -errno */
    bool gzip;
    uint64_t written;
    z_stream z;
    uint8_t *packed; /* PACKED_BYTES, with gzip only */
};

static void write_all(struct nsc_output_sink *s, const uint8_t *data, size_t bytes)
{
    while (bytes > 0 && s->error == 0) {
        ssize_t n = write(s->file.fd, data, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            s->error = n < 0 ? -errno : -EIO;
            return;
        }
        data += n;
        bytes -= (size_t)n;
        s->written += (uint64_t)n;
    }
}

/* @mode: Z_NO_FLUSH, or Z_FINISH for the last part. */
static void deflate_all(struct nsc_output_sink *s, uint8_t *data, size_t bytes, int mode)
{
    s->z.next_in = data;
    s->z.avail_in = (unsigned)bytes;
    do {
        s->z.next_out = s->packed;
        s->z.avail_out = PACKED_BYTES;
        if (deflate(&s->z, mode) == Z_STREAM_ERROR) {
            s->error = -EIO;
            return;
        }
        write_all(s, s->packed, PACKED_BYTES - s->z.avail_out);
    } while (s->error == 0 && s->z.avail_out == 0);
}

void nsc_output_flush(struct nsc_output *out)
{
    struct nsc_output_sink *s = out->sink;
    size_t bytes = (size_t)(out->at - out->buffer);

    out->at = out->buffer;
    if (s->error != 0 || bytes == 0)
        return;
    if (s->gzip)
        deflate_all(s, out->buffer, bytes, Z_NO_FLUSH);
    else
        write_all(s, out->buffer, bytes);
}

/* Writes two digits per step: divisions dominate the cost of text output, and a timestamp has about
 * twelve digits. */
uint8_t *nsc_output_digits(uint8_t *at, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[20];
    size_t begin = sizeof digits;

    while (value >= 100) {
        begin -= 2;
        memcpy(digits + begin, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        begin -= 2;
        memcpy(digits + begin, pairs + value * 2, 2);
    } else {
        digits[--begin] = (char)('0' + value);
    }
    memcpy(at, digits + begin, sizeof digits - begin);
    return at + (sizeof digits - begin);
}

void nsc_output_u64(struct nsc_output *out, uint64_t value)
{
    out->at = nsc_output_digits(nsc_output_room(out, 20), value);
}

int nsc_output_error(const struct nsc_output *out)
{
    return out->sink->error;
}

uint64_t nsc_output_bytes(const struct nsc_output *out)
{
    return out->sink->written;
}

/* Returns 0 or -ENOMEM. */
static int start_gzip(struct nsc_output_sink *s)
{
    s->packed = malloc(PACKED_BYTES);
    /* 15 + 16: the largest window, with a gzip header. On traces, level 6 takes up to twice the
     * time of level 5 for 3-4 % fewer bytes, and would dominate the time of an export. */
    if (s->packed == NULL ||
        deflateInit2(&s->z, 5, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    s->gzip = true;
    return 0;
}

static void end_gzip(struct nsc_output_sink *s)
{
    if (s->gzip)
        deflateEnd(&s->z);
    s->gzip = false;
    free(s->packed);
    s->packed = NULL;
}

static void output_free(struct nsc_output *out)
{
    struct nsc_output_sink *s = out->sink;

    if (s != NULL) {
        end_gzip(s);
        free(s);
    }
    free(out->buffer);
    free(out);
}

int nsc_output_create(const char *path, bool gzip, struct nsc_output **out, struct nsc_diag *diag)
{
    struct nsc_output *o = calloc(1, sizeof *o);
    struct nsc_output_sink *s = o != NULL ? calloc(1, sizeof *s) : NULL;
    int error;

    if (s == NULL) {
        free(o);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    o->sink = s;
    error = nsc_atomic_file_create(path, &s->file, diag);
    o->buffer = malloc(NSC_OUTPUT_BUFFER);
    if (error == 0 && (o->buffer == NULL || (gzip && start_gzip(s) != 0)))
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (error != 0) {
        nsc_output_abandon(o);
        return error;
    }
    o->at = o->buffer;
    o->end = o->buffer + NSC_OUTPUT_BUFFER;
    *out = o;
    return 0;
}

int nsc_output_finish(struct nsc_output *out, struct nsc_diag *diag)
{
    struct nsc_output_sink *s = out->sink;
    int error;

    nsc_output_flush(out);
    if (s->gzip && s->error == 0)
        deflate_all(s, out->buffer, 0, Z_FINISH);
    error = s->error == 0 ? nsc_atomic_file_close(&s->file) : 0;
    if (error != 0)
        s->error = error;
    /* Thousands of outputs of a set may wait to be published: free their buffers now. */
    end_gzip(s);
    free(out->buffer);
    out->buffer = out->at = out->end = NULL;
    if (s->error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, s->error, "cannot write %s: %s", s->file.path,
                            strerror(-s->error));
    return 0;
}

int nsc_output_publish(struct nsc_output *out, struct nsc_diag *diag)
{
    int error = nsc_atomic_file_publish(&out->sink->file, diag);

    output_free(out);
    return error;
}

void nsc_output_abandon(struct nsc_output *out)
{
    if (out == NULL)
        return;
    nsc_atomic_file_abandon(&out->sink->file);
    output_free(out);
}
