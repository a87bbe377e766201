/*
 * utf.h - decode strings in UTF-8 and UTF-16; any input is accepted.
 *
 * Called by string_pool.c and dump.c. Invalid sequences decode to U+FFFD. A surrogate pair decodes
 * to one character in both encodings, since UTF-8 pools may use Java's modified UTF-8.
 */
#ifndef NSC_ANDROID_AXML_UTF_H
#define NSC_ANDROID_AXML_UTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_UTF_BAD 0xfffdu

struct nsc_utf {
    const uint8_t *at, *end;
    bool is_utf8; /* else UTF-16, little-endian */
};

/* Decode the next character; requires at < end. Never returns 0, which would end C strings. */
uint32_t nsc_utf_next(struct nsc_utf *l);

/* Encode a character as UTF-8. Returns its number of bytes, at most 4. */
unsigned nsc_utf_put8(uint8_t out[4], uint32_t letter);

#endif
