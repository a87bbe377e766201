/* zip_tail.c - see zip_writer.h: build the central directory of an archive, and its end records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/zip/zip_writer.h"
#include "android/zip/zip_writer_state.h"
#include "base/span.h"
#include "util/sort.h"

#define END64_BYTES   56u
#define LOCATOR_BYTES 20u

bool nsc_zip_writer_is_large(const struct nsc_zip_writer *w, uint64_t central_off)
{
    return w->count >= UINT16_MAX || central_off >= UINT32_MAX || w->central.used >= UINT32_MAX;
}

static void put_large(struct nsc_buffer *end, const struct nsc_zip_writer *w, uint64_t central_off)
{
    uint8_t p[END64_BYTES + LOCATOR_BYTES] = {0}, *locator = p + END64_BYTES;

    nsc_span_put32(p, 0x06064b50);
    nsc_span_put64(p + 4, END64_BYTES - 12);
    nsc_span_put16(p + 12, 45);
    nsc_span_put16(p + 14, 45);
    nsc_span_put64(p + 24, w->count);
    nsc_span_put64(p + 32, w->count);
    nsc_span_put64(p + 40, w->central.used);
    nsc_span_put64(p + 48, central_off);
    nsc_span_put32(locator, 0x07064b50);
    nsc_span_put64(locator + 8, central_off + w->central.used);
    nsc_span_put32(locator + 16, 1);
    nsc_buffer_bytes(end, p, sizeof p);
}

static uint32_t at_most_32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void put_end(struct nsc_buffer *end, const struct nsc_zip_writer *w, uint64_t central_off)
{
    uint16_t count = w->count < UINT16_MAX ? (uint16_t)w->count : UINT16_MAX;
    uint8_t p[NSC_ZIP_END_BYTES] = {0};

    nsc_span_put32(p, 0x06054b50);
    nsc_span_put16(p + 8, count);
    nsc_span_put16(p + 10, count);
    nsc_span_put32(p + 12, at_most_32(w->central.used));
    nsc_span_put32(p + 16, at_most_32(central_off));
    nsc_span_put16(p + 20, (uint16_t)w->comment.used);
    nsc_buffer_bytes(end, p, sizeof p);
    nsc_buffer_bytes(end, w->comment.data, w->comment.used);
}

/* Compare two central directory records by name. */
static int compare(const void *a, const void *b, void *context)
{
    const struct nsc_zip_writer *w = context;
    const uint8_t *x = w->central.data + *(const size_t *)a;
    const uint8_t *y = w->central.data + *(const size_t *)b;
    size_t x_bytes = nsc_span_get16(x + 28), y_bytes = nsc_span_get16(y + 28);
    int order = memcmp(x + NSC_ZIP_CENTRAL_BYTES, y + NSC_ZIP_CENTRAL_BYTES,
                       x_bytes < y_bytes ? x_bytes : y_bytes);

    return order != 0 ? order : x_bytes < y_bytes ? -1 : x_bytes > y_bytes;
}

static int check_names(struct nsc_zip_writer *w, struct nsc_diag *diag)
{
    size_t *at = calloc((size_t)w->count + 1, sizeof *at), next = 0;
    int error = 0;

    if (at == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint64_t i = 0; i < w->count; i++) {
        const uint8_t *p = w->central.data + next;

        at[i] = next;
        next += NSC_ZIP_CENTRAL_BYTES + (size_t)nsc_span_get16(p + 28) + nsc_span_get16(p + 30) +
                nsc_span_get16(p + 32);
    }
    nsc_sort(at, (size_t)w->count, sizeof *at, compare, w);
    for (uint64_t i = 1; i < w->count && error == 0; i++) {
        const uint8_t *p = w->central.data + at[i];

        if (compare(&at[i - 1], &at[i], w) == 0)
            error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EEXIST,
                                 "%.*s would be there twice in %s", (int)nsc_span_get16(p + 28),
                                 (const char *)p + NSC_ZIP_CENTRAL_BYTES, w->file.path);
    }
    free(at);
    return error;
}

int nsc_zip_writer_tail(struct nsc_zip_writer *w, uint64_t central_off, struct nsc_buffer *central,
                        struct nsc_buffer *end, struct nsc_diag *diag)
{
    int error = check_names(w, diag);

    if (error != 0)
        return error;
    nsc_buffer_bytes(central, w->central.data, w->central.used);
    if (nsc_zip_writer_is_large(w, central_off))
        put_large(end, w, central_off);
    put_end(end, w, central_off);
    if (central->failed || end->failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return 0;
}
