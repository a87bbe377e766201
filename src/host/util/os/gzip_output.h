/*
 * gzip_output.h - write an output file, plain or gzip, that appears under its name only when it is
 * complete.
 *
 * Called by exporters. The first error is kept and further output is discarded, so that exporters
 * can check once at the end. Memory is bounded.
 */
#ifndef NSC_UTIL_OS_GZIP_OUTPUT_H
#define NSC_UTIL_OS_GZIP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/diag.h"

#define NSC_OUTPUT_BUFFER (256u * 1024)

struct nsc_output {
    uint8_t *at, *end; /* room in the buffer; the exporter writes at @at */
    uint8_t *buffer;
    struct nsc_output_sink *sink; /* file, compressor, names: gzip_output.c */
};

/**
 * nsc_output_create - create an output.
 * @path: its final name, or "-" for standard output (nothing is renamed then).
 * @gzip: compress.
 *
 * Returns 0 or -errno with @diag, as nsc_atomic_file_create(); links, folders and devices are
 * refused.
 */
int nsc_output_create(const char *path, bool gzip, struct nsc_output **out, struct nsc_diag *diag);

/* Write or compress the buffered bytes; afterwards the buffer is empty. */
void nsc_output_flush(struct nsc_output *out);

/* Make room for @bytes (at most NSC_OUTPUT_BUFFER) at out->at; the caller advances out->at. */
static inline uint8_t *nsc_output_room(struct nsc_output *out, size_t bytes)
{
    if ((size_t)(out->end - out->at) < bytes)
        nsc_output_flush(out);
    return out->at;
}

/* Write any number of bytes. */
static inline void nsc_output_put(struct nsc_output *out, const void *data, size_t bytes)
{
    const uint8_t *from = data;

    while (bytes > (size_t)(out->end - out->at)) {
        size_t part = (size_t)(out->end - out->at);

        memcpy(out->at, from, part);
        out->at += part;
        from += part;
        bytes -= part;
        nsc_output_flush(out);
    }
    memcpy(out->at, from, bytes);
    out->at += bytes;
}

static inline void nsc_output_text(struct nsc_output *out, const char *text)
{
    nsc_output_put(out, text, strlen(text));
}

/* Write a number in decimal. */
void nsc_output_u64(struct nsc_output *out, uint64_t value);
/* Format a number in decimal at @at, which needs room for 20 bytes. Returns the address after it.
 */
uint8_t *nsc_output_digits(uint8_t *at, uint64_t value);

/* Return the first error, as -errno, or 0. */
int nsc_output_error(const struct nsc_output *out);

/**
 * nsc_output_finish - write the buffered bytes and close the file, which keeps its temporary name.
 * Returns 0 or -errno with @diag filled ("cannot write NAME: No space left on device").
 */
int nsc_output_finish(struct nsc_output *out, struct nsc_diag *diag);
/* Return the bytes written to the file; complete after nsc_output_finish(). */
uint64_t nsc_output_bytes(const struct nsc_output *out);

/* After finish: rename the file to its final name. Always frees @out. Returns 0 or -errno with
 * @diag. */
int nsc_output_publish(struct nsc_output *out, struct nsc_diag *diag);
/* Remove the temporary file and free @out, which may be NULL. */
void nsc_output_abandon(struct nsc_output *out);

#endif
