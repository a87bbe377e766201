/*
 * gzip_output.h - write an output file, plain or gzip, that appears under its name only when it is
 * whole.
 *
 * Called by exporters. Errors are latched: an exporter writes on and asks at the end. Bounded
 * memory.
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
 * nsc_output_create - begin an output.
 * @path: where it will appear, or "-" for standard output (nothing is renamed then).
 * @gzip: compress.
 *
 * Refuses (with a diagnostic) a path that is a link, folder or device, and what open(2) refuses.
 */
int nsc_output_create(const char *path, bool gzip, struct nsc_output **out, struct nsc_diag *diag);

/* Hand the buffer on; afterwards there are NSC_OUTPUT_BUFFER bytes of room. Errors are latched. */
void nsc_output_flush(struct nsc_output *out);

/* Make room for @bytes (at most NSC_OUTPUT_BUFFER) at out->at; the caller moves out->at on. */
static inline uint8_t *nsc_output_room(struct nsc_output *out, size_t bytes)
{
    if ((size_t)(out->end - out->at) < bytes)
        nsc_output_flush(out);
    return out->at;
}

/* Any number of bytes. */
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

/* A number in decimal. */
void nsc_output_u64(struct nsc_output *out, uint64_t value);
/* The same into memory (20 bytes of room); returns the byte after. */
uint8_t *nsc_output_digits(uint8_t *at, uint64_t value);

/* The first error, as -errno, or 0. */
int nsc_output_error(const struct nsc_output *out);

/**
 * nsc_output_finish - write what is buffered and close the file; it still has its temporary name.
 * Returns 0 or -errno with @diag filled ("cannot write NAME: No space left on device").
 */
int nsc_output_finish(struct nsc_output *out, struct nsc_diag *diag);
uint64_t nsc_output_bytes(const struct nsc_output *out); /* written; exact after finish */

/* After finish: move the file to its name. Frees @out in any case. */
int nsc_output_publish(struct nsc_output *out, struct nsc_diag *diag);
/* Remove the temporary file, free @out (may be NULL). */
void nsc_output_abandon(struct nsc_output *out);

#endif
