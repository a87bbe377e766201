/*
 * protobuf.h - write protobuf messages into memory and read them: the wire format and nothing else.
 *
 * Used by the exporters and importers of such formats. Who writes provides the room, and nothing is
 * checked but by assert-like sizes in the callers; what is read may be hostile. Source:
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

/* First byte or bytes of a field: number and wire type (0 = varint, 1 = 8 bytes, 2 = length and
 * bytes). */
#define NSC_PROTOBUF_VARINT(field)  (((uint64_t)(field) << 3) | 0)
#define NSC_PROTOBUF_FIXED64(field) (((uint64_t)(field) << 3) | 1)
#define NSC_PROTOBUF_BYTES(field)   (((uint64_t)(field) << 3) | 2)

static inline uint8_t *nsc_protobuf_u64(uint8_t *at, uint32_t field, uint64_t value)
{
    return nsc_leb_put(nsc_leb_put(at, NSC_PROTOBUF_VARINT(field)), value);
}

/* A double, 8 bytes little endian. */
static inline uint8_t *nsc_protobuf_double(uint8_t *at, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    at = nsc_leb_put(at, NSC_PROTOBUF_FIXED64(field));
    nsc_span_put64(at, bits);
    return at + 8;
}

/* A string, bytes, or a message that was written elsewhere. */
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
 * A nested message, written in place: its length takes NSC_PROTOBUF_LENGTH_BYTES, padded with
 * continuation bits, as the encoding allows. uint8_t *m = nsc_protobuf_open(&at, field); at =
 * nsc_protobuf_u64(at, ...); nsc_protobuf_close(m, at);
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

/* A field that was read. */
struct nsc_protobuf_field {
    uint32_t number;
    bool is_bytes;
    uint64_t value;        /* of a number; a double's or a float's bits */
    struct nsc_span bytes; /* of a string or a message */
};

/* The next field of a message. False at its end, and when it is damaged: then @message->bad. */
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

/* A number as a double. */
static inline double nsc_protobuf_as_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
