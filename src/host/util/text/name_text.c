/* name_text.c - see name_text.h. */
#include "util/text/name_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"
#include "util/text/escape.h"

static struct nsc_names_entry *slot_of(const struct nsc_names *names, uint64_t hash,
                                       const char *text, size_t bytes)
{
    size_t at = (size_t)hash & (names->slots - 1);

    for (;; at = (at + 1) & (names->slots - 1)) {
        struct nsc_names_entry *e = &names->entries[at];

        if (e->text == NULL ||
            (e->hash == hash && e->bytes == bytes && memcmp(e->text, text, bytes) == 0))
            return e;
    }
}

static int grow(struct nsc_names *names)
{
    struct nsc_names bigger = {.seed = nsc_hash_seed(),
                               .slots = names->slots == 0 ? 1024 : names->slots * 2};

    bigger.entries = calloc(bigger.slots, sizeof *bigger.entries);
    if (bigger.entries == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < names->slots; i++) {
        const struct nsc_names_entry *e = &names->entries[i];

        if (e->text != NULL)
            *slot_of(&bigger, e->hash, e->text, e->bytes) = *e;
    }
    bigger.count = names->count;
    free(names->entries);
    *names = bigger;
    return 0;
}

int nsc_names_find(struct nsc_names *names, const char *text, size_t bytes,
                   struct nsc_names_entry **entry)
{
    struct nsc_names_entry *e;
    uint64_t hash;

    if (names->count * 2 >= names->slots && grow(names) != 0)
        return -ENOMEM;
    hash = nsc_hash_bytes(names->seed, text, bytes);
    e = slot_of(names, hash, text, bytes);
    if (e->text == NULL) {
        char *copy = malloc(bytes + 1);

        if (copy == NULL)
            return -ENOMEM;
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        *e = (struct nsc_names_entry){copy, bytes, hash, UINT32_MAX};
        names->count++;
        /* cppcheck-suppress memleak ; the copy is the slot's own */
    }
    *entry = e;
    return 0;
}

void nsc_names_free(struct nsc_names *names)
{
    for (size_t i = 0; i < names->slots; i++)
        free(names->entries[i].text);
    free(names->entries);
    *names = (struct nsc_names){0};
}

/* Length of the control character at @at, in ASCII (C0, DEL) or UTF-8 (C1); 0 if it is none. */
static size_t control_bytes(const char *at)
{
    uint8_t first = (uint8_t)at[0], second = first == 0xc2 ? (uint8_t)at[1] : 0;

    if (first < 0x20 || first == 0x7f)
        return 1;
    return second >= 0x80 && second < 0xa0 ? 2 : 0;
}

/* Replace each byte of control characters by @to. @text may be NULL. */
static void hide_controls(char *text, char to)
{
    for (char *at = text; at != NULL && *at != '\0';) {
        size_t control = control_bytes(at);

        memset(at, to, control);
        at += control > 0 ? control : 1;
    }
}

char *nsc_names_replace(const char *name, const char *from, char to, size_t *bytes)
{
    char *copy = strdup(name);

    if (copy == NULL)
        return NULL;
    *bytes = strlen(copy);
    for (char *at = copy + strcspn(copy, from); *at != '\0'; at += strcspn(at, from))
        *at = to;
    return copy;
}

char *nsc_names_visible(const char *name, const char *from, char to, size_t *bytes)
{
    char *copy = nsc_names_replace(name, from, to, bytes);

    hide_controls(copy, to);
    return copy;
}

/* Length of the valid UTF-8 sequence at @s (NUL-terminated), or 0. */
static size_t sequence_bytes(const uint8_t *s)
{
    size_t bytes = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and code points above U+10FFFF. */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return bytes;
}

char *nsc_names_utf8(const char *name, size_t *bytes)
{
    const uint8_t *s = (const uint8_t *)name;
    char *copy = malloc(strlen(name) * 3 + 1); /* an invalid byte becomes three */
    char *to = copy;

    if (copy == NULL)
        return NULL;
    while (*s != 0) {
        size_t n = sequence_bytes(s);

        if (n == 0) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            s++;
            continue;
        }
        memcpy(to, s, n);
        to += n;
        s += n;
    }
    *to = '\0';
    *bytes = (size_t)(to - copy);
    return copy;
}

size_t nsc_names_fit(const char *text, size_t bytes, size_t max)
{
    if (bytes <= max)
        return bytes;
    while (max > 0 && ((uint8_t)text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

char *nsc_names_line(const char *name, size_t *bytes)
{
    char *text = nsc_names_utf8(name, bytes);

    hide_controls(text, '?');
    return text;
}

char *nsc_names_json(const char *name, size_t *bytes)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);

    if (f == NULL)
        return NULL;
    nsc_text_put_json(f, name);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
