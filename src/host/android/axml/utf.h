/*
 * utf.h - characters of strings in UTF-8 and UTF-16, whatever the bytes.
 *
 * Called by string_pool.c and dump.c. What is no Unicode counts as U+FFFD; pairs of surrogates
 * count as one character in both encodings, since pools in UTF-8 come in Java's variant, too.
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

/* The next character; the caller has seen that at < end. Never 0: that would end C's strings. */
uint32_t nsc_utf_next(struct nsc_utf *l);

/* Write a character as UTF-8; returns its bytes, at most 4. */
unsigned nsc_utf_put8(uint8_t out[4], uint32_t letter);

#endif
