/*
 * decoder.h - a second, small reader of .nst files, written from docs/format.md alone: it shares no
 * code with src/trace, so that the two check each other and the page. Include once a program.
 *
 * decoder_print() lists a whole file as text. It holds the file in memory and stops at the first
 * thing that is not as the page says. Not made for hostile or large files.
 */
#ifndef NSC_TESTS_DECODER_H
#define NSC_TESTS_DECODER_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct decoder_bytes {
    const uint8_t *at, *end;
};

struct decoder {
    const uint8_t *file;
    size_t file_bytes;
    FILE *out;
    const char *wrong; /* first deviation from the page */
    char (*names)[64]; /* of functions */
    uint64_t *canonical;
    size_t function_count;
    uint64_t *opened; /* per thread: calls that its last chunk left open */
    uint64_t *sequence;
    uint64_t *stack; /* functions of the chunk being listed */
    size_t stack_room;
    char note_names[1024][64]; /* of the block being listed */
    uint64_t note_integers[1024];
    size_t note_name_count;
};

static inline void decoder_fail(struct decoder *d, const char *what)
{
    if (d->wrong == NULL)
        d->wrong = what;
}

static inline uint64_t decoder_fixed(const uint8_t *at, int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0)
        v = v << 8 | at[bytes];
    return v;
}

/* Bit by bit: slow, and nothing like the product's. */
static inline uint32_t decoder_crc(const uint8_t *at, size_t bytes)
{
    uint32_t crc = 0xffffffff;

    while (bytes-- > 0) {
        crc ^= *at++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return crc ^ 0xffffffff;
}

static inline uint64_t decoder_leb(struct decoder *d, struct decoder_bytes *b)
{
    uint64_t v = 0;

    for (int shift = 0; b->at < b->end && shift < 64; shift += 7) {
        v |= (uint64_t)(*b->at & 127) << shift;
        if (*b->at++ < 128)
            return v;
    }
    decoder_fail(d, "a number is cut off");
    return 0;
}

static inline struct decoder_bytes decoder_part(struct decoder *d, struct decoder_bytes *b)
{
    uint64_t bytes = decoder_leb(d, b);
    struct decoder_bytes part = {b->at, b->at};

    if (bytes > (uint64_t)(b->end - b->at)) {
        decoder_fail(d, "a length goes beyond the end");
        return part;
    }
    part.end = b->at += bytes;
    return part;
}

static inline void decoder_text(struct decoder *d, struct decoder_bytes *b, char out[64])
{
    struct decoder_bytes text = decoder_part(d, b);

    snprintf(out, 64, "%.*s", (int)(text.end - text.at), (const char *)text.at);
}

/* The payload of the block at @offset, decompressed into *@owned if need be. */
static inline struct decoder_bytes decoder_block(struct decoder *d, uint64_t offset, uint64_t *kind,
                                                 uint64_t *next, uint8_t **owned)
{
    const uint8_t *at = d->file + offset;
    struct decoder_bytes payload = {at, at};
    uint64_t stored, plain;

    *owned = NULL;
    *kind = 0;
    if (offset + 32 > d->file_bytes || memcmp(at, "NSB\xb1", 4) != 0 ||
        decoder_fixed(at + 28, 4) != decoder_crc(at, 28)) {
        decoder_fail(d, "a block header is wrong");
        return payload;
    }
    stored = decoder_fixed(at + 8, 8);
    plain = decoder_fixed(at + 16, 8);
    *kind = decoder_fixed(at + 4, 2);
    *next = offset + 32 + stored;
    if (*next > d->file_bytes || decoder_fixed(at + 24, 4) != decoder_crc(at + 32, stored)) {
        decoder_fail(d, "a payload is wrong");
        return payload;
    }
    payload.at = at + 32;
    payload.end = payload.at + stored;
    if (decoder_fixed(at + 6, 2) == 1) {
        *owned = malloc(plain + 1);
        if (ZSTD_decompress(*owned, plain, payload.at, stored) != plain)
            decoder_fail(d, "a payload does not decompress");
        payload.at = *owned;
        payload.end = *owned + plain;
    } else if (decoder_fixed(at + 6, 2) != 0 || stored != plain) {
        decoder_fail(d, "a block's flags or sizes are wrong");
    }
    return payload;
}

static inline void decoder_functions(struct decoder *d, struct decoder_bytes b)
{
    uint64_t first = decoder_leb(d, &b), count = decoder_leb(d, &b);

    if (first != d->function_count)
        decoder_fail(d, "the function table has a hole");
    d->names = realloc(d->names, (first + count + 1) * sizeof *d->names);
    d->canonical = realloc(d->canonical, (first + count + 1) * sizeof *d->canonical);
    for (uint64_t i = first; i < first + count && d->wrong == NULL; i++) {
        struct decoder_bytes entry = decoder_part(d, &b);
        uint64_t module = decoder_leb(d, &entry), va = decoder_leb(d, &entry);
        uint64_t canonical = decoder_leb(d, &entry);

        decoder_text(d, &entry, d->names[i]);
        if (d->names[i][0] == '\0')
            snprintf(d->names[i], sizeof d->names[i], "0x%" PRIx64, va);
        d->canonical[i] = canonical == 0 ? i : canonical - 1;
        fprintf(d->out, "function %" PRIu64 " %s module %" PRIu64 "\n", i, d->names[i], module);
    }
    d->function_count = first + count;
}

static inline void decoder_threads(struct decoder *d, struct decoder_bytes b)
{
    uint64_t first = decoder_leb(d, &b), count = decoder_leb(d, &b);

    d->opened = realloc(d->opened, (first + count + 1) * sizeof *d->opened);
    d->sequence = realloc(d->sequence, (first + count + 1) * sizeof *d->sequence);
    for (uint64_t i = first; i < first + count && d->wrong == NULL; i++) {
        struct decoder_bytes entry = decoder_part(d, &b);
        uint64_t field[7];
        char name[64];

        for (int k = 0; k < 7; k++)
            field[k] = decoder_leb(d, &entry);
        decoder_text(d, &entry, name);
        fprintf(d->out,
                "thread %" PRIu64 " tid %" PRIu64 " %s: %" PRIu64 " events, %" PRIu64 " lost\n", i,
                field[1], name, field[5], field[6]);
        d->opened[i] = d->sequence[i] = 0;
    }
}

static inline const char *decoder_name(struct decoder *d, uint64_t function)
{
    if (function < d->function_count)
        return d->names[d->canonical[function]];
    decoder_fail(d, "no such function");
    return "?";
}

static inline void decoder_push(struct decoder *d, uint64_t depth, uint64_t function)
{
    if (depth >= d->stack_room) {
        d->stack_room = depth * 2 + 64;
        d->stack = realloc(d->stack, d->stack_room * sizeof *d->stack);
    }
    d->stack[depth] = function;
}

/* One record. Returns the depth after it. */
static inline uint64_t decoder_event(struct decoder *d, struct decoder_bytes *b, uint64_t thread,
                                     uint64_t *ticks, uint64_t depth)
{
    uint64_t v = decoder_leb(d, b), other, value;

    *ticks += v >> 2;
    fprintf(d->out, "%" PRIu64 " %" PRIu64 " ", thread, *ticks);
    switch (v & 3) {
    case 0:
        value = decoder_leb(d, b);
        decoder_push(d, depth, value);
        fprintf(d->out, "%" PRIu64 " enter %s\n", depth, decoder_name(d, value));
        return depth + 1;
    case 1:
    case 2:
        if (depth == 0) {
            decoder_fail(d, "an end without a call");
            return 0;
        }
        fprintf(d->out, "%" PRIu64 " %s %s\n", depth - 1, (v & 3) == 1 ? "exit" : "unwind",
                decoder_name(d, d->stack[depth - 1]));
        return depth - 1;
    default:
        other = decoder_leb(d, b);
        if (other % 2 == 1) {
            decoder_part(d, b);
            fprintf(d->out, "other %" PRIu64 "\n", other);
            return depth;
        }
        value = decoder_leb(d, b);
        if (other == 0)
            fprintf(d->out, "%" PRIu64 " late %s\n", depth, decoder_name(d, value));
        else if (other == 2)
            fprintf(d->out, "%" PRIu64 " lost %" PRIu64 "\n", depth, value);
        else
            fprintf(d->out, "other %" PRIu64 "\n", other);
        return depth;
    }
}

/* The opening stack into d->stack, as far as this head tells it; the rest is there from before. */
static inline void decoder_stack(struct decoder *d, struct decoder_bytes *b, uint64_t depth,
                                 uint64_t common)
{
    for (uint64_t i = depth; i-- > common && d->wrong == NULL;) {
        (void)decoder_leb(d, b);
        decoder_push(d, i, decoder_leb(d, b) >> 1);
        (void)decoder_leb(d, b);
    }
}

/* The chunk whose head is at @offset. Chunks of one thread must come one after the other. */
static inline void decoder_chunk(struct decoder *d, uint64_t offset)
{
    uint64_t kind, next = 0, field[12], ticks, depth;
    uint8_t *owned, *owned_events = NULL;
    struct decoder_bytes b = decoder_block(d, offset, &kind, &next, &owned), events;

    if (kind != 1)
        decoder_fail(d, "the index does not point at a chunk head");
    for (int i = 0; i < 12; i++)
        field[i] = decoder_leb(d, &b);
    if (d->wrong == NULL)
        decoder_stack(d, &b, field[10], field[11]);
    if (d->wrong == NULL) {
        if (field[10] != d->opened[field[0]] || field[1] != d->sequence[field[0]]++)
            decoder_fail(d, "a chunk does not go on where the one before ended");
        events = decoder_block(d, next, &kind, &next, &owned_events);
        if (kind != 2)
            decoder_fail(d, "no events behind a chunk head");
        ticks = field[3];
        depth = field[10];
        while (d->wrong == NULL && events.at < events.end)
            depth = decoder_event(d, &events, field[0], &ticks, depth);
        if (ticks != field[3] + field[4])
            decoder_fail(d, "a chunk ends at another time than its head says");
        d->opened[field[0]] = depth;
    }
    free(owned);
    free(owned_events);
}

static inline void decoder_index(struct decoder *d, struct decoder_bytes b)
{
    uint64_t offset = 0;

    for (uint64_t count = decoder_leb(d, &b); count > 0 && d->wrong == NULL; count--) {
        offset += decoder_leb(d, &b);
        for (int i = 0; i < 10; i++)
            (void)decoder_leb(d, &b);
        decoder_chunk(d, offset);
    }
}

/* ---- Notes (docs/format.md section 9) ---- */

static inline uint64_t decoder_difference(struct decoder *d, struct decoder_bytes *b,
                                          uint64_t before)
{
    uint64_t v = decoder_leb(d, b);

    return v % 2 == 0 ? before + v / 2 : before - v / 2 - 1;
}

/* The number of a name in the block; *@bit is what stands beside it. */
static inline size_t decoder_note_name(struct decoder *d, struct decoder_bytes *b, unsigned *bit)
{
    uint64_t v = decoder_leb(d, b);

    *bit = v % 2;
    if (v / 2 > d->note_name_count || d->note_name_count == 1023) {
        decoder_fail(d, "no such name");
        return 0;
    }
    if (v / 2 > 0)
        return v / 2;
    decoder_text(d, b, d->note_names[++d->note_name_count]);
    d->note_integers[d->note_name_count] = 0;
    return d->note_name_count;
}

static inline void decoder_sample(struct decoder *d, struct decoder_bytes *b, uint64_t values[64])
{
    uint64_t known = decoder_leb(d, b);

    fprintf(d->out, "sample");
    for (int i = 0; i < 64; i++) {
        if ((known >> i & 1) == 0)
            continue;
        values[i] = decoder_difference(d, b, values[i]);
        fprintf(d->out, " %d=%" PRIu64, i, values[i]);
    }
}

static inline void decoder_mark(struct decoder *d, struct decoder_bytes *b)
{
    unsigned cut;
    size_t name = decoder_note_name(d, b, &cut);
    char metadata[64];

    decoder_text(d, b, metadata);
    fprintf(d->out, "mark %s [%s]%s", d->note_names[name], metadata, cut ? " cut" : "");
}

static inline void decoder_counter(struct decoder *d, struct decoder_bytes *b)
{
    unsigned real;
    size_t name = decoder_note_name(d, b, &real);
    uint64_t bits;
    double value;

    if (!real) {
        d->note_integers[name] = decoder_difference(d, b, d->note_integers[name]);
        fprintf(d->out, "counter %s %" PRId64, d->note_names[name],
                (int64_t)d->note_integers[name]);
        return;
    }
    if (b->end - b->at < 8) {
        decoder_fail(d, "a double is cut off");
        return;
    }
    bits = decoder_fixed(b->at, 8);
    b->at += 8;
    memcpy(&value, &bits, sizeof value);
    fprintf(d->out, "counter %s %a", d->note_names[name], value);
}

/* The block of notes at @offset; @row: what the index says of it, from its kind on. */
static inline void decoder_notes(struct decoder *d, uint64_t offset, const uint64_t row[5])
{
    uint64_t kind, next, old, values[64] = {0}, ticks = row[2];
    uint8_t *owned;
    struct decoder_bytes b = decoder_block(d, offset, &kind, &next, &owned);
    struct decoder_bytes head = decoder_part(d, &b);

    if (kind != row[0])
        decoder_fail(d, "the index of notes names another kind");
    for (int i = 1; i < 5; i++)
        if (decoder_leb(d, &head) != row[i])
            decoder_fail(d, "notes and their index disagree");
    d->note_name_count = 0;
    for (uint64_t i = 0; i < row[4] && d->wrong == NULL; i++) {
        ticks += decoder_leb(d, &b);
        fprintf(d->out, "note %s %" PRIu64 " %" PRIu64 " ", row[1] % 2 ? "process" : "thread",
                row[1] / 2, ticks);
        if (kind == 16) {
            decoder_sample(d, &b, values);
        } else if (kind == 17) {
            old = decoder_leb(d, &b);
            fprintf(d->out, "state %" PRIu64 " %" PRIu64, old, decoder_leb(d, &b));
        } else if (kind == 18) {
            decoder_mark(d, &b);
        } else {
            decoder_counter(d, &b);
        }
        fputc('\n', d->out);
    }
    if (ticks != row[2] + row[3] || b.at != b.end)
        decoder_fail(d, "notes do not end where their head says");
    free(owned);
}

static inline void decoder_note_index(struct decoder *d, struct decoder_bytes b)
{
    uint64_t offset = 0, row[5];

    for (uint64_t count = decoder_leb(d, &b); count > 0 && d->wrong == NULL; count--) {
        offset += decoder_leb(d, &b);
        for (int i = 0; i < 5; i++)
            row[i] = decoder_leb(d, &b);
        decoder_notes(d, offset, row);
    }
}

static inline void decoder_left_out(struct decoder *d, struct decoder_bytes b)
{
    uint64_t first = decoder_leb(d, &b), count = decoder_leb(d, &b);

    for (uint64_t i = first; i < first + count && d->wrong == NULL; i++) {
        struct decoder_bytes entry = decoder_part(d, &b);
        uint64_t field[14];

        for (int k = 0; k < 14; k++)
            field[k] = decoder_leb(d, &entry);
        fprintf(d->out, "left out %s", field[0] == 0 ? "all" : decoder_name(d, field[0] - 1));
        for (int k = 1; k < 14; k++)
            fprintf(d->out, " %" PRIu64, field[k]);
        fputc('\n', d->out);
    }
}

/* Tables in a first pass, chunks in a second. */
static inline void decoder_directory(struct decoder *d, struct decoder_bytes directory)
{
    for (int pass = 0; pass < 2; pass++) {
        struct decoder_bytes b = directory;

        for (uint64_t count = decoder_leb(d, &b); count > 0 && d->wrong == NULL; count--) {
            uint64_t listed = decoder_leb(d, &b), kind, next;
            uint8_t *owned;
            struct decoder_bytes block = decoder_block(d, decoder_leb(d, &b), &kind, &next, &owned);

            if (kind != listed)
                decoder_fail(d, "the directory names another kind");
            if (pass == 0 && kind == 7)
                decoder_functions(d, block);
            else if (pass == 0 && kind == 4)
                decoder_threads(d, block);
            else if (pass == 1 && kind == 10)
                decoder_index(d, block);
            else if (pass == 1 && kind == 20)
                decoder_left_out(d, block);
            else if (pass == 1 && kind == 23)
                decoder_note_index(d, block);
            free(owned);
        }
    }
}

/* List the file of @bytes bytes at @file. Returns NULL, or what is not as docs/format.md says. */
static inline const char *decoder_print(const uint8_t *file, size_t bytes, FILE *out)
{
    struct decoder d = {.file = file, .file_bytes = bytes, .out = out};
    const uint8_t *footer = file + bytes - 24;
    uint64_t kind, next;
    uint8_t *owned = NULL;

    if (bytes < 64 + 24 || memcmp(file, "\x89NST\r\n\x1a\n", 8) != 0 ||
        decoder_fixed(file + 60, 4) != decoder_crc(file, 60) || decoder_fixed(file + 16, 8) != 0)
        decoder_fail(&d, "the header is wrong");
    else if (memcmp(footer + 16, "NSTEND\r\n", 8) != 0 ||
             decoder_fixed(footer + 8, 4) != decoder_crc(footer, 8))
        decoder_fail(&d, "the footer is wrong");
    else {
        struct decoder_bytes directory =
            decoder_block(&d, decoder_fixed(footer, 8), &kind, &next, &owned);

        if (kind != 11 || next != bytes - 24)
            decoder_fail(&d, "the directory is not where the footer says");
        else
            decoder_directory(&d, directory);
    }
    free(owned);
    free(d.names);
    free(d.canonical);
    free(d.opened);
    free(d.sequence);
    free(d.stack);
    return d.wrong;
}

#endif
