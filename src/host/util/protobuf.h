/*
 * protobuf.h - encode and decode the protobuf wire format in memory; no schemas.
 *
 * Used by the exporters and importers of protobuf formats. The writing functions check no bounds:
 * the caller provides enough room. The reading functions accept untrusted input. Source:
 * protobuf.dev, "Encoding".
 */
#ifndef NSC_UTIL_PROTOBUF_H
#define NSC_UTIL_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/leb.h"
#include "base/span.h"

/* Tag of a field: number and wire type (0 = varint, 1 = 8 bytes, 2 = length and bytes). */
#define NSC_PROTOBUF_VARINT(field)  (((uint64_t)(field) << 3) | 0)
#define NSC_PROTOBUF_FIXED64(field) (((uint64_t)(field) << 3) | 1)
#define NSC_PROTOBUF_BYTES(field)   (((uint64_t)(field) << 3) | 2)

static inline uint8_t *nsc_protobuf_u64(uint8_t *at, uint32_t field, uint64_t value)
{
    return nsc_leb_put(nsc_leb_put(at, NSC_PROTOBUF_VARINT(field)), value);
}

/* Write a double: 8 bytes, little endian. */
static inline uint8_t *nsc_protobuf_double(uint8_t *at, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    at = nsc_leb_put(at, NSC_PROTOBUF_FIXED64(field));
    nsc_span_put64(at, bits);
    return at + 8;
}

/* Write a string, bytes, or a message that is already encoded. */
static inline uint8_t *nsc_protobuf_bytes(uint8_t *at, uint32_t field, const void *data,
                                          size_t bytes)
{
    at = nsc_leb_put(nsc_leb_put(at, NSC_PROTOBUF_BYTES(field)), bytes);
    memcpy(at, data, bytes);
    return at + bytes;
}

static inline uint8_t *nsc_protobuf_text(uint8_t *at, uint32_t field, const char *text)
{
    return nsc_protobuf_bytes(at, field, text, strlen(text));
}

/*
 * A nested message is written in place: its length takes NSC_PROTOBUF_LENGTH_BYTES bytes, padded
 * with continuation bits, as the encoding allows.
 *
 *     uint8_t *m = nsc_protobuf_open(&at, field);
 *     at = nsc_protobuf_u64(at, ...);
 *     nsc_protobuf_close(m, at);
 */
#define NSC_PROTOBUF_LENGTH_BYTES 4

static inline uint8_t *nsc_protobuf_open(uint8_t **at, uint32_t field)
{
    uint8_t *body = nsc_leb_put(*at, NSC_PROTOBUF_BYTES(field)) + NSC_PROTOBUF_LENGTH_BYTES;

    *at = body;
    return body;
}

static inline void nsc_protobuf_close(uint8_t *body, const uint8_t *end)
{
    uint32_t bytes = (uint32_t)(end - body);

    for (int i = 0; i < NSC_PROTOBUF_LENGTH_BYTES; i++, bytes >>= 7)
        body[i - NSC_PROTOBUF_LENGTH_BYTES] =
            (uint8_t)((bytes & 0x7f) | (i + 1 < NSC_PROTOBUF_LENGTH_BYTES ? 0x80 : 0));
}

/* A decoded field. */
struct nsc_protobuf_field {
    uint32_t number;
    bool is_bytes;
    uint64_t value;        /* number, or the bits of a double or float, unless is_bytes */
    struct nsc_span bytes; /* string, bytes or message, if is_bytes */
};

/* Read the next field of @message. Returns false at the end, and when the message is malformed:
 * then @message->bad is set. */
static inline bool nsc_protobuf_next(struct nsc_span *message, struct nsc_protobuf_field *field)
{
    uint64_t tag;
    const uint8_t *at;

    if (nsc_span_left(message) == 0)
        return false;
    tag = nsc_span_leb(message);
    *field =
        (struct nsc_protobuf_field){.number = (uint32_t)(tag >> 3), .is_bytes = (tag & 7) == 2};
    if (tag >> 3 == 0 || tag >> 3 >= 1u << 29)
        message->bad = true;
    switch (tag & 7) {
    case 0:
        field->value = nsc_span_leb(message);
        break;
    case 1:
        at = nsc_span_take(message, 8);
        field->value = at != NULL ? nsc_span_get64(at) : 0;
        break;
    case 2:
        field->bytes = nsc_span_part(message, nsc_span_leb(message));
        break;
    case 5:
        at = nsc_span_take(message, 4);
        field->value = at != NULL ? nsc_span_get32(at) : 0;
        break;
    default:
        message->bad = true;
        break;
    }
    return !message->bad;
}

/* Reinterpret the bits of a fixed64 field as a double. */
static inline double nsc_protobuf_as_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
