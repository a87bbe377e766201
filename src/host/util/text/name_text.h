/*
 * name_text.h - function names on their way in and out: a table that gives each name one id, and
 * the cleaning that output formats need. Used by importers and exporters.
 */
#ifndef NSC_UTIL_TEXT_NAME_TEXT_H
#define NSC_UTIL_TEXT_NAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct nsc_names_entry {
    char *text; /* NULL = free slot */
    size_t bytes;
    uint64_t hash;
    uint32_t id;
};

/* Open addressing; at most half full; @slots is a power of two or 0. All zero = empty. */
struct nsc_names {
    struct nsc_names_entry *entries;
    uint64_t seed; /* set with the first entries */
    size_t slots, count;
};

/**
 * nsc_names_find - look a name up, or make room for it.
 * @text: @bytes bytes without NUL; copied when new.
 * @entry: receives the entry; valid until the next call. A new one has id UINT32_MAX and waits for
 * the caller to set it. Returns 0 or -ENOMEM.
 */
int nsc_names_find(struct nsc_names *names, const char *text, size_t bytes,
                   struct nsc_names_entry **entry);
void nsc_names_free(struct nsc_names *names);

/* Copies of @name; NULL when out of memory. @bytes receives the length. */
/* Every byte that is in @from becomes @to. */
char *nsc_names_replace(const char *name, const char *from, char to, size_t *bytes);
/* The same, and so does every byte of a control character, which a terminal might obey. */
char *nsc_names_visible(const char *name, const char *from, char to, size_t *bytes);
/* Each byte that is no part of valid UTF-8 becomes U+FFFD. */
char *nsc_names_utf8(const char *name, size_t *bytes);
/* How much of clean UTF-8 to write where @max bytes have room: whole characters only. */
size_t nsc_names_fit(const char *text, size_t bytes, size_t max);
/* As nsc_names_utf8(), and each control character
 * becomes a question mark: text for one line. */
char *nsc_names_line(const char *name, size_t *bytes);
/* A JSON string with its quotes. */
char *nsc_names_json(const char *name, size_t *bytes);

#endif
