/*
 * json_reader.h - read JSON of any size, token by token. Used by importers; util/text/json_writer.h
 * writes.
 *
 * Holds one token, and none above NSC_JSON_PULL_TEXT_MAX whole. A comma before a closing bracket is
 * let pass, and where the input ends is the caller's to judge: traces are cut.
 */
#ifndef NSC_FORMATS_CHROME_JSON_READER_H
#define NSC_FORMATS_CHROME_JSON_READER_H

#include "util/os/gzip_input.h"

#define NSC_JSON_PULL_TEXT_MAX  (1u << 20) /* longer strings are cut */
#define NSC_JSON_PULL_DEPTH_MAX 1024u      /* deeper nesting is damage */

enum nsc_json_token {
    NSC_JSON_END = 0, /* of the input; depth > 0: it was cut */
    NSC_JSON_OBJECT,
    NSC_JSON_OBJECT_END,
    NSC_JSON_ARRAY,
    NSC_JSON_ARRAY_END,
    NSC_JSON_KEY,
    NSC_JSON_STRING,
    NSC_JSON_NUMBER,
    NSC_JSON_TRUE,
    NSC_JSON_FALSE,
    NSC_JSON_NULL,
};

struct nsc_json_pull {
    struct nsc_input *in;
    char *text;   /* of a key, a string (in UTF-8, may hold NUL) or a number; NUL-terminated */
    size_t bytes; /* of it */
    uint32_t depth;
    /* Private. */
    size_t room;
    const uint8_t *begin, *at, *end; /* the bytes at hand */
    uint8_t expect;
    bool started;                                /* a byte order mark has been passed over */
    uint8_t arrays[NSC_JSON_PULL_DEPTH_MAX / 8]; /* a bit for each open bracket: it is an array */
};

/* Begin; all else of @p is zero. */
void nsc_json_pull_begin(struct nsc_json_pull *p, struct nsc_input *in);
void nsc_json_pull_end(struct nsc_json_pull *p);

/* Returns enum nsc_json_token or -errno with @diag: -EBADMSG with the offset in the message, or the
 * input's errors. */
int nsc_json_pull_next(struct nsc_json_pull *p, struct nsc_diag *diag);

/* Pass over the rest of what @token has begun. Returns the last token, as above. */
int nsc_json_pull_skip(struct nsc_json_pull *p, int token, struct nsc_diag *diag);

/* Bytes of the input that are behind us. */
uint64_t nsc_json_pull_offset(const struct nsc_json_pull *p);

#endif
