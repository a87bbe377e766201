/*
 * gzip_input.h - read an input, plain or gzip, from a file or standard input: line by line or by
 * bytes.
 *
 * Called by importers. Never holds more than one line, or the bytes asked for, and one buffer.
 */
#ifndef NSC_UTIL_OS_GZIP_INPUT_H
#define NSC_UTIL_OS_GZIP_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

#define NSC_INPUT_LINE_MAX (1u << 20) /* longer lines are damage */

struct nsc_input;

/**
 * nsc_input_open - open a file, or standard input for "-".
 * Returns 0 or -errno with @diag filled: -EISDIR, or open(2)'s.
 */
int nsc_input_open(const char *path, struct nsc_input **out, struct nsc_diag *diag);
/* The same over a descriptor, which the input then owns. @name is for messages. */
int nsc_input_open_fd(int fd, const char *name, struct nsc_input **out, struct nsc_diag *diag);
void nsc_input_close(struct nsc_input *in);

const char *nsc_input_name(const struct nsc_input *in);
bool nsc_input_is_gzip(const struct nsc_input *in);

/* The first bytes (up to 4 KiB, fewer at the end of the input) without taking them. */
int nsc_input_peek(struct nsc_input *in, const uint8_t **bytes, size_t *count,
                   struct nsc_diag *diag);

/**
 * nsc_input_need - the bytes that come next, without taking them.
 * @want: how many there must be at least, unless the input ends.
 * @bytes, @count: what is there, valid until the next call; @count < @want only at the end.
 * Returns 0 or -errno with @diag, as nsc_input_line(); with damaged gzip data only when fewer than
 * @want bytes came before the damage, and these are in @bytes all the same.
 */
int nsc_input_need(struct nsc_input *in, size_t want, const uint8_t **bytes, size_t *count,
                   struct nsc_diag *diag);
/* Take @count of them. Not to be mixed with lines. */
void nsc_input_take(struct nsc_input *in, size_t count);
/* Bytes taken so far, uncompressed. */
uint64_t nsc_input_offset(const struct nsc_input *in);

struct nsc_line {
    char *text;      /* not terminated; valid and writable until the next call */
    size_t bytes;    /* without the line end */
    uint64_t number; /* from 1 */
    bool crlf;       /* ended by CR LF; the CR is not part of the text */
    bool unfinished; /* the input ended before a line end */
};

/**
 * nsc_input_line - the next line.
 * Returns 1, 0 at the end, or -errno with @diag filled: -EBADMSG (damaged or cut gzip data),
 * -EMSGSIZE (a line longer than NSC_INPUT_LINE_MAX), or read(2)'s. @line->number is set in every
 * case.
 */
int nsc_input_line(struct nsc_input *in, struct nsc_line *line, struct nsc_diag *diag);

/* Compressed bytes read, and the size of the input (0 if it is not a file). */
void nsc_input_progress(const struct nsc_input *in, uint64_t *done, uint64_t *total);

#endif
