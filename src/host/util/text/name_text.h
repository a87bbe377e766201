/*
 * name_text.h - function names of foreign formats: a hash table from name to id, and functions that
 * sanitize names for output formats. Used by importers and exporters.
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
    uint64_t seed; /* set when the first table is allocated */
    size_t slots, count;
};

/**
 * nsc_names_find - look up a name, and insert it if it is new.
 * @text: @bytes bytes without NUL; copied when new.
 * @entry: receives the entry; valid until the next call. A new entry has the id UINT32_MAX, which
 *         the caller replaces.
 * Returns 0 or -ENOMEM.
 */
int nsc_names_find(struct nsc_names *names, const char *text, size_t bytes,
                   struct nsc_names_entry **entry);
void nsc_names_free(struct nsc_names *names);

/* Each of the following returns a sanitized copy of @name, for free(), or NULL if out of memory.
 * @bytes receives its length. */
/* Replace every byte that occurs in @from by @to. */
char *nsc_names_replace(const char *name, const char *from, char to, size_t *bytes);
/* As nsc_names_replace(); also replaces each byte of control characters (terminals obey them). */
char *nsc_names_visible(const char *name, const char *from, char to, size_t *bytes);
/* Replace each byte that is not part of valid UTF-8 by U+FFFD. */
char *nsc_names_utf8(const char *name, size_t *bytes);
/* Return the number of bytes of valid UTF-8 that fit into @max bytes without splitting a character.
 * Makes no copy. */
size_t nsc_names_fit(const char *text, size_t bytes, size_t max);
/* As nsc_names_utf8(); also replaces each byte of control characters by '?': text for one line. */
char *nsc_names_line(const char *name, size_t *bytes);
/* Return the name as a JSON string with its quotes. */
char *nsc_names_json(const char *name, size_t *bytes);

#endif
