/*
 * span.h - bounds-checked reads from untrusted bytes.
 *
 * Used by trace/ and other parsers. A read past the end returns 0 or NULL and sets `bad`, which
 * stays set: a parser can read a whole record and check `bad` once. Never reads outside [at, end).
 */
#ifndef NSC_BASE_SPAN_H
#define NSC_BASE_SPAN_H

#include <stdbool.h>
#include <string.h>

#include "base/leb.h"

struct nsc_span {
    const uint8_t *at;
    const uint8_t *end; /* at <= end */
    bool bad;
};

static inline struct nsc_span nsc_span_of(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    struct nsc_span span = {at, at == NULL ? NULL : at + bytes, false};

    return span;
}

static inline size_t nsc_span_left(const struct nsc_span *span)
{
    return (size_t)(span->end - span->at);
}

/* Consume the next @bytes bytes and return them. If there are fewer: sets `bad`, returns NULL. */
static inline const uint8_t *nsc_span_take(struct nsc_span *span, uint64_t bytes)
{
    const uint8_t *at = span->at;

    if (span->bad || bytes > nsc_span_left(span)) {
        span->bad = true;
        span->at = span->end;
        return NULL;
    }
    span->at += bytes;
    return at;
}

static inline uint64_t nsc_span_leb(struct nsc_span *span)
{
    uint64_t value;
    const uint8_t *next = span->bad ? NULL : nsc_leb_get(span->at, span->end, &value);

    if (next == NULL) {
        span->bad = true;
        span->at = span->end;
        return 0;
    }
    span->at = next;
    return value;
}

/* Read a LEB128 number; a value above @max sets `bad` and returns 0. */
static inline uint64_t nsc_span_leb_max(struct nsc_span *span, uint64_t max)
{
    uint64_t value = nsc_span_leb(span);

    if (value > max) {
        span->bad = true;
        return 0;
    }
    return value;
}

static inline uint32_t nsc_span_leb32(struct nsc_span *span)
{
    return (uint32_t)nsc_span_leb_max(span, UINT32_MAX);
}

/* A signed number (SLEB128) of 32 bits. */
static inline int32_t nsc_span_sleb32(struct nsc_span *span)
{
    uint32_t value = 0;
    unsigned shift = 0;
    const uint8_t *at;

    do {
        at = nsc_span_take(span, 1);
        if (at == NULL || shift > 28) {
            span->bad = true;
            return 0;
        }
        value |= (uint32_t)(*at & 0x7f) << shift;
        shift += 7;
    } while ((*at & 0x80) != 0);
    if (shift < 32 && (*at & 0x40) != 0)
        value |= UINT32_MAX << shift;
    return (int32_t)value;
}

/* Consume the next @bytes bytes and return them as a span, which is `bad` if there are fewer. */
static inline struct nsc_span nsc_span_part(struct nsc_span *span, uint64_t bytes)
{
    const uint8_t *at = nsc_span_take(span, bytes);
    struct nsc_span part = nsc_span_of(at, at == NULL ? 0 : (size_t)bytes);

    part.bad = at == NULL;
    return part;
}

/* Fixed-width little-endian numbers, on machines of either byte order. */
static inline uint16_t nsc_span_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t nsc_span_get32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t nsc_span_get64(const uint8_t *at)
{
    return nsc_span_get32(at) | (uint64_t)nsc_span_get32(at + 4) << 32;
}

static inline void nsc_span_put16(uint8_t *at, uint16_t v)
{
    at[0] = (uint8_t)v;
    at[1] = (uint8_t)(v >> 8);
}

static inline void nsc_span_put32(uint8_t *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

static inline void nsc_span_put64(uint8_t *at, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

#endif
