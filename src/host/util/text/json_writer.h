/*
 * json_writer.h - streaming JSON writer: adds commas and indentation, escapes text.
 *
 * Used by table.c and every room that writes JSON. Does not buffer; write errors stay in the stream
 * (ferror). Values inside an object take a key; values inside an array pass NULL.
 */
#ifndef NSC_UTIL_TEXT_JSON_WRITER_H
#define NSC_UTIL_TEXT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct nsc_json {
    FILE *out;
    unsigned depth;    /* open objects and arrays */
    bool compact;      /* everything on one line (JSON lines) */
    bool has_siblings; /* the innermost open object or array is not empty */
};

/* Begin a document, which is an object. @compact: no line breaks, for JSON lines. */
void nsc_json_begin(struct nsc_json *j, FILE *out, bool compact);
/* Close that object and end the document with a line break. All others must be closed. */
void nsc_json_end(struct nsc_json *j);

void nsc_json_open_object(struct nsc_json *j, const char *key);
void nsc_json_close_object(struct nsc_json *j);
void nsc_json_open_array(struct nsc_json *j, const char *key);
void nsc_json_close_array(struct nsc_json *j);

/* @value: NULL writes null. */
void nsc_json_text(struct nsc_json *j, const char *key, const char *value);
void nsc_json_u64(struct nsc_json *j, const char *key, uint64_t value);
void nsc_json_u64_or_null(struct nsc_json *j, const char *key, bool known, uint64_t value);
void nsc_json_i64(struct nsc_json *j, const char *key, int64_t value);
void nsc_json_bool(struct nsc_json *j, const char *key, bool value);
void nsc_json_null(struct nsc_json *j, const char *key);
/* Write a number with @decimals digits after the point; null if it is not finite. */
void nsc_json_real(struct nsc_json *j, const char *key, double value, int decimals);
/* Write a number with enough digits to read back the same value; null if it is not finite. */
void nsc_json_double(struct nsc_json *j, const char *key, double value);

#endif
