/*
 * buffer.h - a growable byte buffer, with functions that append numbers, bytes and text.
 *
 * Used by all rooms of the host world. When an allocation fails, the buffer sets `failed` and
 * ignores further data: a caller can build a whole block and check `failed` once.
 */
#ifndef NSC_UTIL_BUFFER_H
#define NSC_UTIL_BUFFER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb.h"

struct nsc_buffer {
    uint8_t *data;
    size_t used;
    size_t room;
    bool failed;
};

/* Make room for @more bytes after the used ones. Returns their address; if out of memory, sets
 * `failed` and returns NULL. */
static inline uint8_t *nsc_buffer_reserve(struct nsc_buffer *b, size_t more)
{
    size_t room = b->room;
    uint8_t *data;

    if (b->failed)
        return NULL;
    if (b->data != NULL && more <= b->room - b->used)
        return b->data + b->used;
    room = room < 256 ? 256 : room;
    while (room - b->used < more)
        room *= 2;
    data = realloc(b->data, room);
    if (data == NULL) {
        b->failed = true;
        return NULL;
    }
    b->data = data;
    b->room = room;
    return data + b->used;
}

static inline void nsc_buffer_leb(struct nsc_buffer *b, uint64_t v)
{
    uint8_t *at = nsc_buffer_reserve(b, NSC_LEB_MAX);

    if (at != NULL)
        b->used = (size_t)(nsc_leb_put(at, v) - b->data);
}

static inline void nsc_buffer_bytes(struct nsc_buffer *b, const void *data, size_t bytes)
{
    uint8_t *at = nsc_buffer_reserve(b, bytes);

    if (at != NULL && bytes > 0) {
        memcpy(at, data, bytes);
        b->used += bytes;
    }
}

/* Append the length as LEB128, then the bytes without the NUL. NULL is the empty text. */
static inline void nsc_buffer_text(struct nsc_buffer *b, const char *text)
{
    size_t bytes = text == NULL ? 0 : strlen(text);

    nsc_buffer_leb(b, bytes);
    nsc_buffer_bytes(b, text, bytes);
}

static inline void nsc_buffer_clear(struct nsc_buffer *b)
{
    b->used = 0;
    b->failed = false;
}

static inline void nsc_buffer_free(struct nsc_buffer *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

#endif
