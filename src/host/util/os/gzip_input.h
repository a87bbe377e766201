/*
 * gzip_input.h - read a file or standard input, plain or gzip, by lines or by bytes.
 *
 * Called by importers. Memory is bounded by one line, or the requested bytes, plus one buffer.
 */
#ifndef NSC_UTIL_OS_GZIP_INPUT_H
#define NSC_UTIL_OS_GZIP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

#define NSC_INPUT_LINE_MAX (1u << 20) /* bytes; longer lines are errors */

struct nsc_input;

/**
 * nsc_input_open - open a file, or standard input for "-".
 * Returns 0 or -errno with @diag filled: -EISDIR, or open(2)'s.
 */
int nsc_input_open(const char *path, struct nsc_input **out, struct nsc_diag *diag);
/* As nsc_input_open(), for a regular file that the user did not name; see regular_file.h. */
int nsc_input_open_beside(const char *path, struct nsc_input **out, struct nsc_diag *diag);
/* As nsc_input_open(), on a descriptor that the input then owns. @name is for messages. */
int nsc_input_open_fd(int fd, const char *name, struct nsc_input **out, struct nsc_diag *diag);
void nsc_input_close(struct nsc_input *in);

const char *nsc_input_name(const struct nsc_input *in);
bool nsc_input_is_gzip(const struct nsc_input *in);

/* Return the next bytes (up to 4 KiB, fewer at the end of the input) without consuming them. */
int nsc_input_peek(struct nsc_input *in, const uint8_t **bytes, size_t *count,
                   struct nsc_diag *diag);

/**
 * nsc_input_need - return at least @want of the next bytes, without consuming them.
 * @want: minimum number of bytes, unless the input ends before.
 * @bytes, @count: receive the buffered bytes, valid until the next call; @count < @want only at the
 *                 end of the input or on an error.
 * Returns 0 or -errno with @diag, as nsc_input_line(). Damaged gzip data is an error only if fewer
 * than @want bytes precede the damage; @bytes then still receives those.
 */
int nsc_input_need(struct nsc_input *in, size_t want, const uint8_t **bytes, size_t *count,
                   struct nsc_diag *diag);
/* Consume @count of these bytes. Do not combine with nsc_input_line(). */
void nsc_input_take(struct nsc_input *in, size_t count);
/* Return the number of bytes consumed so far, uncompressed. */
uint64_t nsc_input_offset(const struct nsc_input *in);

struct nsc_line {
    char *text;      /* not terminated; valid and writable until the next call */
    size_t bytes;    /* without the line end */
    uint64_t number; /* from 1 */
    bool crlf;       /* ended by CR LF; the CR is not part of the text */
    bool unfinished; /* the input ended before a line end */
};

/**
 * nsc_input_line - read the next line.
 * Returns 1, 0 at the end, or -errno with @diag filled: -EBADMSG (damaged or truncated gzip data),
 * -EMSGSIZE (a line longer than NSC_INPUT_LINE_MAX), -ENOMEM, or read(2)'s. @line->number is always
 * set.
 */
int nsc_input_line(struct nsc_input *in, struct nsc_line *line, struct nsc_diag *diag);

/* Return the bytes of the file read so far, before decompression, and its size (0 if the input is
 * not a regular file). */
void nsc_input_progress(const struct nsc_input *in, uint64_t *done, uint64_t *total);

#endif
