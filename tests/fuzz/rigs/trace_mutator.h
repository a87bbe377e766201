/*
 * trace_mutator.h - mutates .nst files by their structure: the content of blocks (uncompressed),
 * single numbers in it, the blocks themselves. Lengths, offsets and checksums are then made right,
 * so that what is mutated is read.
 *
 * Included by trace_input.h, for all fuzz targets that read traces.
 */
#ifndef NSC_TESTS_FUZZ_RIGS_TRACE_MUTATOR_H
#define NSC_TESTS_FUZZ_RIGS_TRACE_MUTATOR_H

#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/span.h"
#include "trace/format/block.h"
#include "trace/format/table_entry.h"
#include "trace/zstd/unpack_block.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed);

enum { MUTATOR_BLOCKS = 256, MUTATOR_GROWTH = 64 };

struct mutator_block {
    struct nsc_buffer content;
    uint64_t offset, plain_bytes; /* offset: as the block lay in the input */
    uint16_t kind, flags;
    bool is_mutated;
};

struct mutator {
    uint64_t state;
    struct mutator_block blocks[MUTATOR_BLOCKS];
    uint64_t moved_to[MUTATOR_BLOCKS];
    uint32_t count;
    bool has_footer;
};

static uint64_t mutator_random(struct mutator *m, uint64_t limit)
{
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return limit == 0 ? 0 : (m->state >> 11) % limit;
}

/* ---- a file in pieces, and back ---- */

static bool mutator_take_block(struct mutator *m, const uint8_t *raw, uint64_t offset)
{
    struct mutator_block *to = &m->blocks[m->count];
    uint64_t stored = nsc_span_get64(raw + 8), plain = nsc_span_get64(raw + 16);
    uint8_t *at;

    *to = (struct mutator_block){.offset = offset, .plain_bytes = plain};
    to->kind = (uint16_t)(raw[4] | raw[5] << 8);
    to->flags = (uint16_t)(raw[6] | raw[7] << 8);
    raw += NSC_FORMAT_BLOCK_BYTES;
    if ((to->flags & NSC_FORMAT_BLOCK_ZSTD) != 0 && plain <= 1 << 16) {
        at = nsc_buffer_reserve(&to->content, plain + 1);
        if (at != NULL && nsc_unpack(at, plain, raw, stored) == 0) {
            to->content.used = plain;
            to->flags = (uint16_t)(to->flags & ~NSC_FORMAT_BLOCK_ZSTD);
        }
    }
    if (to->content.used == 0)
        nsc_buffer_bytes(&to->content, raw, stored);
    m->count++;
    return !to->content.failed;
}

static bool mutator_open(struct mutator *m, const uint8_t *data, size_t bytes)
{
    uint64_t at = NSC_FORMAT_HEADER_BYTES;

    if (bytes < at)
        return false;
    while (bytes - at >= NSC_FORMAT_BLOCK_BYTES && m->count < MUTATOR_BLOCKS &&
           nsc_span_get32(data + at) == NSC_FORMAT_BLOCK_SYNC) {
        uint64_t stored = nsc_span_get64(data + at + 8);

        if (stored > bytes - at - NSC_FORMAT_BLOCK_BYTES || !mutator_take_block(m, data + at, at))
            break;
        at += NSC_FORMAT_BLOCK_BYTES + stored;
    }
    m->has_footer = bytes - at == NSC_FORMAT_FOOTER_BYTES;
    return m->count > 0;
}

static void mutator_close(struct mutator *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        nsc_buffer_free(&m->blocks[i].content);
    free(m);
}

/* Where the block that lay at @offset lies now; 0: nowhere. */
static uint64_t mutator_moved(const struct mutator *m, uint64_t offset)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->blocks[i].offset == offset)
            return m->moved_to[i];
    return 0;
}

/* The rows of an index with the offsets of now; as they were, if they cannot be read. */
static void mutator_shift_index(const struct mutator *m, struct mutator_block *block)
{
    struct nsc_span s = nsc_span_of(block->content.data, block->content.used);
    uint64_t count = nsc_span_leb(&s), base = 0, base_now = 0, kept = 0;
    struct nsc_buffer rows = {0}, all = {0};
    int error = 0;

    for (uint64_t i = 0; i < count && error == 0 && !s.bad; i++) {
        struct nsc_entry_chunk chunk = {0};
        struct nsc_entry_level level = {0};
        struct nsc_entry_notes notes = {0};
        uint64_t *offset = block->kind == NSC_FORMAT_INDEX         ? &chunk.offset
                           : block->kind == NSC_FORMAT_LEVEL_INDEX ? &level.offset
                                                                   : &notes.offset;
        error = block->kind == NSC_FORMAT_INDEX         ? nsc_entry_get_chunk(&s, base, &chunk)
                : block->kind == NSC_FORMAT_LEVEL_INDEX ? nsc_entry_get_level(&s, base, &level)
                                                        : nsc_entry_get_notes(&s, base, &notes);
        base = *offset;
        *offset = mutator_moved(m, base);
        if (error != 0 || *offset <= base_now)
            continue;
        if (block->kind == NSC_FORMAT_INDEX)
            nsc_entry_put_chunk(&rows, &chunk, base_now);
        else if (block->kind == NSC_FORMAT_LEVEL_INDEX)
            nsc_entry_put_level(&rows, &level, base_now);
        else
            nsc_entry_put_notes(&rows, &notes, base_now);
        base_now = *offset;
        kept++;
    }
    if (error == 0 && !s.bad) {
        nsc_buffer_leb(&all, kept);
        nsc_buffer_bytes(&all, rows.data, rows.used);
        nsc_buffer_free(&block->content);
        block->content = all;
    }
    nsc_buffer_free(&rows);
}

static void mutator_shift_directory(const struct mutator *m, struct mutator_block *block)
{
    struct nsc_buffer all = {0};

    for (int pass = 0; pass < 2; pass++) {
        struct nsc_span s = nsc_span_of(block->content.data, block->content.used);
        uint64_t count = nsc_span_leb(&s), last = 0, kept = 0;

        for (uint64_t i = 0; i < count && !s.bad; i++) {
            uint64_t kind = nsc_span_leb(&s), offset = mutator_moved(m, nsc_span_leb(&s));

            if (s.bad || offset <= last)
                continue;
            if (pass == 1) {
                nsc_buffer_leb(&all, kind);
                nsc_buffer_leb(&all, offset);
            }
            last = offset;
            kept++;
        }
        if (pass == 0)
            nsc_buffer_leb(&all, kept);
    }
    nsc_buffer_free(&block->content);
    block->content = all;
}

static void mutator_place(struct mutator *m)
{
    uint64_t at = NSC_FORMAT_HEADER_BYTES;

    for (uint32_t i = 0; i < m->count; i++) {
        m->moved_to[i] = at;
        at += NSC_FORMAT_BLOCK_BYTES + m->blocks[i].content.used;
    }
}

/* Offsets as they are now, but in blocks that were mutated themselves. An index that gets longer
 * or shorter moves what is behind it: the second time, nearly nothing moves. */
static void mutator_mend(struct mutator *m)
{
    for (int pass = 0; pass < 2; pass++) {
        mutator_place(m);
        for (uint32_t i = 0; i < m->count; i++) {
            struct mutator_block *block = &m->blocks[i];

            if (block->is_mutated || (block->flags & NSC_FORMAT_BLOCK_ZSTD) != 0)
                continue;
            if (block->kind == NSC_FORMAT_DIRECTORY)
                mutator_shift_directory(m, block);
            else if (block->kind == NSC_FORMAT_INDEX || block->kind == NSC_FORMAT_LEVEL_INDEX ||
                     block->kind == NSC_FORMAT_NOTE_INDEX)
                mutator_shift_index(m, block);
        }
        for (uint32_t i = 0; i < m->count; i++)
            m->blocks[i].offset = m->moved_to[i];
    }
    mutator_place(m);
}

/* Writes behind the header that is there; returns the file's bytes, 0: there is no room. */
static size_t mutator_write(const struct mutator *m, uint8_t *data, size_t room)
{
    uint64_t at = NSC_FORMAT_HEADER_BYTES, directory = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        const struct mutator_block *from = &m->blocks[i];
        struct nsc_block block = {.kind = from->kind,
                                  .flags = from->flags,
                                  .stored_bytes = from->content.used,
                                  .plain_bytes = from->content.used};

        if (room - at < NSC_FORMAT_BLOCK_BYTES + from->content.used)
            return 0;
        if ((from->flags & NSC_FORMAT_BLOCK_ZSTD) != 0)
            block.plain_bytes = from->plain_bytes;
        block.payload_crc = nsc_base_crc32c(0, from->content.data, from->content.used);
        if (from->kind == NSC_FORMAT_DIRECTORY)
            directory = at;
        nsc_block_pack(data + at, &block);
        if (from->content.used > 0)
            memcpy(data + at + NSC_FORMAT_BLOCK_BYTES, from->content.data, from->content.used);
        at += NSC_FORMAT_BLOCK_BYTES + from->content.used;
    }
    if (!m->has_footer)
        return at;
    if (room - at < NSC_FORMAT_FOOTER_BYTES)
        return 0;
    nsc_format_footer_pack(data + at, directory);
    return at + NSC_FORMAT_FOOTER_BYTES;
}

/* ---- mutations ---- */

static struct mutator_block *mutator_pick(struct mutator *m)
{
    struct mutator_block *block = &m->blocks[mutator_random(m, m->count)];

    block->is_mutated = true;
    return block;
}

static void mutator_content(struct mutator *m)
{
    struct nsc_buffer *b = &mutator_pick(m)->content;

    if (nsc_buffer_reserve(b, MUTATOR_GROWTH) != NULL)
        b->used = LLVMFuzzerMutate(b->data, b->used, b->used + MUTATOR_GROWTH);
}

/* Another value for one number. */
static void mutator_number(struct mutator *m)
{
    struct nsc_buffer *b = &mutator_pick(m)->content, changed = {0};
    size_t at = mutator_random(m, b->used);
    struct nsc_span s = nsc_span_of(b->data + at, b->used - at);
    uint64_t value = nsc_span_leb(&s);

    if (b->used == 0 || s.bad)
        return;
    switch (mutator_random(m, 5)) {
    case 0:
        value += mutator_random(m, 9) - 4;
        break;
    case 1:
        value = 1ull << mutator_random(m, 64);
        break;
    case 2:
        value = (1ull << mutator_random(m, 64)) - 1;
        break;
    case 3:
        value = UINT64_MAX - mutator_random(m, 3);
        break;
    default:
        value = mutator_random(m, 300);
        break;
    }
    nsc_buffer_bytes(&changed, b->data, at);
    nsc_buffer_leb(&changed, value);
    nsc_buffer_bytes(&changed, s.at, nsc_span_left(&s));
    nsc_buffer_free(b);
    *b = changed;
}

/* A piece of one block goes into another. */
static void mutator_splice(struct mutator *m)
{
    const struct nsc_buffer *from = &m->blocks[mutator_random(m, m->count)].content;
    struct nsc_buffer *to = &mutator_pick(m)->content, changed = {0};
    size_t at = mutator_random(m, to->used + 1), begin = mutator_random(m, from->used + 1);
    size_t bytes = mutator_random(m, from->used - begin + 1);

    if (bytes > 256)
        bytes = 256;
    nsc_buffer_bytes(&changed, to->data, at);
    nsc_buffer_bytes(&changed, from->data + begin, bytes);
    nsc_buffer_bytes(&changed, to->data + at, to->used - at);
    nsc_buffer_free(to);
    *to = changed;
}

static void mutator_drop(struct mutator *m)
{
    uint32_t at = (uint32_t)mutator_random(m, m->count);

    if (m->count < 2)
        return;
    nsc_buffer_free(&m->blocks[at].content);
    memmove(&m->blocks[at], &m->blocks[at + 1], (--m->count - at) * sizeof m->blocks[0]);
}

static void mutator_double(struct mutator *m)
{
    uint32_t at = (uint32_t)mutator_random(m, m->count);
    struct mutator_block copy = m->blocks[at];

    if (m->count == MUTATOR_BLOCKS)
        return;
    copy.content = (struct nsc_buffer){0};
    nsc_buffer_bytes(&copy.content, m->blocks[at].content.data, m->blocks[at].content.used);
    memmove(&m->blocks[at + 1], &m->blocks[at], (m->count++ - at) * sizeof m->blocks[0]);
    m->blocks[at] = copy;
}

static void mutator_swap(struct mutator *m)
{
    uint64_t a = mutator_random(m, m->count), b = mutator_random(m, m->count);
    struct mutator_block kept = m->blocks[a];

    m->blocks[a] = m->blocks[b];
    m->blocks[b] = kept;
}

static void mutator_retitle(struct mutator *m)
{
    struct mutator_block *block = mutator_pick(m);

    if (mutator_random(m, 2) == 0)
        block->kind = (uint16_t)mutator_random(m, 28);
    else
        block->flags ^= (uint16_t)(1u << mutator_random(m, 9));
}

static void mutator_cut(struct mutator *m)
{
    m->has_footer = !m->has_footer;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room, unsigned seed)
{
    static void (*const ways[])(struct mutator * m) = {
        mutator_content, mutator_content, mutator_content, mutator_number, mutator_number,
        mutator_number,  mutator_number,  mutator_splice,  mutator_drop,   mutator_double,
        mutator_swap,    mutator_retitle, mutator_cut};
    struct mutator *m = calloc(1, sizeof *m);
    size_t written = 0;

    if (m == NULL)
        return LLVMFuzzerMutate(data, bytes, room);
    m->state = (uint64_t)seed * 0x9e3779b97f4a7c15ull | 1;
    if (mutator_random(m, 16) != 0 && mutator_open(m, data, bytes)) {
        for (uint64_t i = 1 + mutator_random(m, 4); i > 0; i--)
            ways[mutator_random(m, sizeof ways / sizeof ways[0])](m);
        if (mutator_random(m, 16) != 0)
            mutator_mend(m);
        written = mutator_write(m, data, room);
    }
    mutator_close(m);
    return written > 0 ? written : LLVMFuzzerMutate(data, bytes, room);
}

#endif
