/*
 * proto_reader.h - read protobuf messages field by field; for the tests of
 * formats/perfetto/perfetto_export.c, with which it shares no code. Whatever is malformed ends the
 * test.
 */
#ifndef NSC_TESTS_UNIT_RIGS_PROTO_READER_H
#define NSC_TESTS_UNIT_RIGS_PROTO_READER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
    uint32_t number, wire;
    uint64_t value;      /* wire 0, and 1: the bits of a double */
    const uint8_t *data; /* wire 2 */
    size_t bytes;
};

static inline uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t v = 0;

    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t b = *(*at)++;

        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    printf("Bail out! cut varint\n");
    exit(1);
}

static inline int next_field(const uint8_t **at, const uint8_t *end, struct field *f)
{
    uint64_t tag;

    if (*at == end)
        return 0;
    tag = varint(at, end);
    *f = (struct field){.number = (uint32_t)(tag >> 3), .wire = (uint32_t)(tag & 7)};
    if (f->wire == 0) {
        f->value = varint(at, end);
        return 1;
    }
    if (f->wire == 1 && end - *at >= 8) {
        memcpy(&f->value, *at, 8);
        *at += 8;
        return 1;
    }
    f->bytes = f->wire == 2 ? varint(at, end) : SIZE_MAX;
    if (f->bytes > (size_t)(end - *at)) {
        printf("Bail out! bad field %u of type %u\n", f->number, f->wire);
        exit(1);
    }
    f->data = *at;
    *at += f->bytes;
    return 1;
}

/* The first field of that number in a message; number 0 if there is none. */
static inline struct field get(const struct field *message, uint32_t number)
{
    const uint8_t *at = message->data;
    struct field f;

    while (at != NULL && next_field(&at, message->data + message->bytes, &f))
        if (f.number == number)
            return f;
    return (struct field){0};
}

static inline void copy_text(char *to, size_t room, const struct field *f)
{
    snprintf(to, room, "%.*s", (int)f->bytes, f->data != NULL ? (const char *)f->data : "");
}

#endif
