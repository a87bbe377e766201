/*
 * json_reader.h - read JSON of any size, token by token. Used by importers. The counterpart that
 * writes is util/text/json_writer.h.
 *
 * Holds one token in memory, cut after NSC_JSON_PULL_TEXT_MAX bytes. Accepts a comma before a
 * closing bracket. An early end of the input is not an error here, since traces may be cut: the
 * caller decides.
 */
#ifndef NSC_FORMATS_CHROME_JSON_READER_H
#define NSC_FORMATS_CHROME_JSON_READER_H

#include "util/os/gzip_input.h"

#define NSC_JSON_PULL_TEXT_MAX  (1u << 20) /* longer strings are cut */
#define NSC_JSON_PULL_DEPTH_MAX 1024u      /* deeper nesting is damage */

enum nsc_json_token {
    NSC_JSON_END = 0, /* end of the input; if depth > 0, the input was cut */
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
    size_t bytes; /* length of text, without the NUL */
    uint32_t depth;
    /* Private. */
    size_t room;
    const uint8_t *begin, *at, *end; /* bytes of the input in memory */
    uint8_t expect;
    bool started;                                /* a byte order mark has been skipped */
    uint8_t arrays[NSC_JSON_PULL_DEPTH_MAX / 8]; /* a bit per open bracket: 1 = array */
};

/* Initializes @p for reading from @in. */
void nsc_json_pull_begin(struct nsc_json_pull *p, struct nsc_input *in);
void nsc_json_pull_end(struct nsc_json_pull *p);

/* Returns enum nsc_json_token or -errno with @diag: -EBADMSG with the offset in the message, or the
 * input's errors. */
int nsc_json_pull_next(struct nsc_json_pull *p, struct nsc_diag *diag);

/* Skips the rest of the object or array that @token has started. Returns the last token, as
 * nsc_json_pull_next(). */
int nsc_json_pull_skip(struct nsc_json_pull *p, int token, struct nsc_diag *diag);

/* Returns the number of input bytes that have been read. */
uint64_t nsc_json_pull_offset(const struct nsc_json_pull *p);

#endif
