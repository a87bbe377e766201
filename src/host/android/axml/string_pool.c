/*
 * string_pool.c - the string pool of a document. Offsets are kept unchanged, so strings that
 * overlap or lie outside are preserved at no cost; new strings are appended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/axml/axml_state.h"
#include "android/axml/utf.h"
#include "base/span.h"
#include "util/array.h"

#define SPAN_END 0xffffffffu
#define NOWHERE  0xfffffffcu /* offset of an unreadable string */

void nsc_axml_pool_free(struct nsc_axml_pool *pool)
{
    free(pool->offsets);
    free(pool->style_offsets);
    free(pool->styles);
    nsc_buffer_free(&pool->added);
    memset(pool, 0, sizeof *pool);
}

static uint32_t *read_offsets(const uint8_t *at, uint32_t count)
{
    uint32_t *offsets = calloc((size_t)count + 1, sizeof *offsets);

    for (uint32_t i = 0; offsets != NULL && i < count; i++)
        offsets[i] = nsc_span_get32(at + 4 * (size_t)i);
    return offsets;
}

/* Check the positions of data and styles, as the platform does. @data_end: receives the end of the
 * data. Returns the error text or NULL. */
static const char *check(const struct nsc_axml_pool *pool, uint32_t data_at, uint32_t styles_at,
                         uint32_t *data_end)
{
    uint32_t bytes = pool->was_bytes;
    uint64_t offsets = 4 * ((uint64_t)pool->count + pool->style_count);

    *data_end = pool->style_count > 0 ? styles_at : bytes;
    if (pool->header_bytes + offsets > bytes)
        return "the pool of strings has no room for as many as it says";
    if (pool->style_count > 0 && (styles_at >= bytes || bytes - styles_at < 4))
        return "the styles are said to lie outside the pool of strings";
    if (pool->count > 0 && (data_at >= *data_end || *data_end - data_at < 2))
        return "the strings are said to lie outside their pool";
    return NULL;
}

static int take(struct nsc_axml_pool *pool, uint32_t data_at, uint32_t styles_at, uint32_t data_end)
{
    uint32_t offsets_end = pool->header_bytes + 4 * (pool->count + pool->style_count);

    pool->room = pool->count;
    pool->style_room = pool->style_count;
    pool->offsets = read_offsets(pool->was + pool->header_bytes, pool->count);
    pool->style_offsets =
        read_offsets(pool->was + pool->header_bytes + 4 * (size_t)pool->count, pool->style_count);
    if (pool->offsets == NULL || pool->style_offsets == NULL)
        return -ENOMEM;
    if (pool->count > 0) {
        pool->data = pool->was + data_at;
        pool->data_bytes = data_end - data_at;
        if (data_at > offsets_end) {
            pool->gap = pool->was + offsets_end;
            pool->gap_bytes = data_at - offsets_end;
        }
    }
    if (pool->style_count > 0) {
        pool->styles_bytes = pool->was_bytes - styles_at;
        pool->styles = malloc(pool->styles_bytes);
        if (pool->styles == NULL)
            return -ENOMEM;
        memcpy(pool->styles, pool->was + styles_at, pool->styles_bytes);
    }
    pool->added_at = (pool->data_bytes + 3u) & ~3u;
    return 0;
}

int nsc_axml_pool_read(struct nsc_axml_pool *pool, const uint8_t *was, uint32_t bytes, size_t at,
                       struct nsc_diag *diag)
{
    uint32_t data_at, styles_at, data_end;
    const char *wrong;

    nsc_axml_pool_free(pool);
    pool->header_bytes = nsc_axml_get16(was + 2);
    if (pool->header_bytes < NSC_AXML_POOL_BYTES)
        return nsc_diag_set(diag, at, EBADMSG, "the header of the pool of strings is cut off");
    pool->was = was;
    pool->was_bytes = bytes;
    pool->count = nsc_span_get32(was + 8);
    pool->style_count = nsc_span_get32(was + 12);
    pool->flags = nsc_span_get32(was + 16);
    pool->is_utf8 = (pool->flags & NSC_AXML_UTF8) != 0;
    data_at = nsc_span_get32(was + 20);
    styles_at = nsc_span_get32(was + 24);
    wrong = check(pool, data_at, styles_at, &data_end);
    if (wrong != NULL) {
        pool->count = pool->style_count = 0;
        return nsc_diag_set(diag, at + 8, EBADMSG, "%s", wrong);
    }
    return take(pool, data_at, styles_at, data_end);
}

/* ---- Look
 * ---------------------------------------------------------------------------------------- */

/* Decode a length of one or two bytes. Returns false if it is truncated. */
static bool length8(struct nsc_utf *l, uint32_t *length)
{
    uint32_t first;

    if (l->at >= l->end)
        return false;
    first = *l->at++;
    *length = first;
    if ((first & 0x80) == 0)
        return true;
    if (l->at >= l->end)
        return false;
    *length = (first & 0x7f) << 8 | *l->at++;
    return true;
}

/* Decode a length of one or two 16-bit units; the result is in bytes. */
static bool length16(struct nsc_utf *l, uint64_t *bytes)
{
    uint32_t units;

    if (l->end - l->at < 2)
        return false;
    units = nsc_axml_get16(l->at);
    l->at += 2;
    if ((units & 0x8000) != 0) {
        if (l->end - l->at < 2)
            return false;
        units = (units & 0x7fff) << 16 | nsc_axml_get16(l->at);
        l->at += 2;
    }
    *bytes = 2 * (uint64_t)units;
    return true;
}

/* Find the characters of a string. Returns false if it does not exist or is unreadable. */
static bool find(const struct nsc_axml_pool *pool, uint32_t index, struct nsc_utf *l)
{
    uint32_t offset, units, bytes8;
    uint64_t bytes;

    if (index >= pool->count)
        return false;
    offset = pool->offsets[index];
    l->is_utf8 = pool->is_utf8;
    if (offset < pool->data_bytes) {
        l->at = pool->data + offset;
        l->end = pool->data + pool->data_bytes;
    } else if (offset >= pool->added_at && offset - pool->added_at < pool->added.used) {
        l->at = pool->added.data + (offset - pool->added_at);
        l->end = pool->added.data + pool->added.used;
    } else {
        return false;
    }
    if (pool->is_utf8) {
        if (!length8(l, &units) || !length8(l, &bytes8))
            return false;
        bytes = bytes8;
    } else if (!length16(l, &bytes)) {
        return false;
    }
    if (bytes > (uint64_t)(l->end - l->at))
        return false;
    l->end = l->at + bytes;
    return true;
}

bool nsc_axml_pool_text(const struct nsc_axml_pool *pool, uint32_t index, struct nsc_buffer *out)
{
    struct nsc_utf l;
    bool found = find(pool, index, &l);
    uint8_t bytes[4];

    while (found && l.at < l.end) {
        unsigned count = nsc_utf_put8(bytes, nsc_utf_next(&l));

        nsc_buffer_bytes(out, bytes, count);
    }
    nsc_buffer_bytes(out, "", 1);
    return found;
}

bool nsc_axml_pool_is(const struct nsc_axml_pool *pool, uint32_t index, const char *text)
{
    struct nsc_utf l;
    size_t left = strlen(text);
    uint8_t bytes[4];

    if (!find(pool, index, &l))
        return false;
    while (l.at < l.end) {
        unsigned count = nsc_utf_put8(bytes, nsc_utf_next(&l));

        if (count > left || memcmp(text, bytes, count) != 0)
            return false;
        text += count;
        left -= count;
    }
    return left == 0;
}

/* ---- Change
 * -------------------------------------------------------------------------------------- */

static void put_length(struct nsc_buffer *out, uint32_t length, bool is_utf8)
{
    uint8_t bytes[4];

    if (is_utf8) {
        bytes[0] = (uint8_t)(0x80 | length >> 8);
        bytes[1] = (uint8_t)length;
        nsc_buffer_bytes(out, length < 0x80 ? bytes + 1 : bytes, length < 0x80 ? 1 : 2);
        return;
    }
    nsc_axml_put16(bytes, (uint16_t)(0x8000 | length >> 16));
    nsc_axml_put16(bytes + 2, (uint16_t)length);
    nsc_buffer_bytes(out, length < 0x8000 ? bytes + 2 : bytes, length < 0x8000 ? 2 : 4);
}

static void put_letter(struct nsc_buffer *out, uint32_t letter, bool is_utf8)
{
    uint8_t bytes[4];
    unsigned count = 2;

    if (is_utf8) {
        count = nsc_utf_put8(bytes, letter);
    } else if (letter < 0x10000) {
        nsc_axml_put16(bytes, (uint16_t)letter);
    } else {
        nsc_axml_put16(bytes, (uint16_t)(0xd7c0 + (letter >> 10)));
        nsc_axml_put16(bytes + 2, (uint16_t)(0xdc00 | (letter & 0x3ff)));
        count = 4;
    }
    nsc_buffer_bytes(out, bytes, count);
}

/* Append @text with its length prefix and terminator, padded to a multiple of 4. */
static int encode(struct nsc_axml_pool *pool, const char *text)
{
    struct nsc_utf all = {(const uint8_t *)text, (const uint8_t *)text + strlen(text), true};
    struct nsc_utf l = all;
    struct nsc_buffer *out = &pool->added;
    uint8_t bytes[4];
    uint64_t units = 0, size = 0;

    while (l.at < l.end) {
        uint32_t letter = nsc_utf_next(&l);

        units += letter < 0x10000 ? 1 : 2;
        size += nsc_utf_put8(bytes, letter);
    }
    if (pool->is_utf8 ? units > 0x7fff || size > 0x7fff : units > 0x7fffffff)
        return -EFBIG;
    put_length(out, (uint32_t)units, pool->is_utf8);
    if (pool->is_utf8)
        put_length(out, (uint32_t)size, true);
    for (l = all; l.at < l.end;)
        put_letter(out, nsc_utf_next(&l), pool->is_utf8);
    nsc_buffer_bytes(out, "\0\0", pool->is_utf8 ? 1 : 2);
    while (out->used % 4 != 0 && !out->failed)
        nsc_buffer_bytes(out, "", 1);
    return out->failed ? -ENOMEM : 0;
}

/* Increment all string indices >= @index in the styles. */
static int shift_styles(struct nsc_axml_pool *pool, uint32_t index)
{
    uint32_t words = pool->styles_bytes / 4, good = 0;
    uint8_t *begins = calloc(words + 1u, 1);

    if (begins == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < words;) {
        begins[i] = 1;
        i += nsc_span_get32(pool->styles + 4 * (size_t)i) == SPAN_END ? 1 : 3;
    }
    for (uint32_t i = 0; i < pool->style_count; i++) {
        uint32_t offset = pool->style_offsets[i];

        good += offset % 4 == 0 && offset / 4 < words && begins[offset / 4];
    }
    free(begins);
    if (good != pool->style_count)
        return -EINVAL;
    for (uint32_t i = 0; i < words;) {
        uint8_t *at = pool->styles + 4 * (size_t)i;
        uint32_t name = nsc_span_get32(at);

        if (name != SPAN_END && name >= index)
            nsc_span_put32(at, name + 1);
        i += name == SPAN_END ? 1 : 3;
    }
    return 0;
}

static int insert_offset(uint32_t **offsets, uint32_t *room, uint32_t *count, uint32_t index,
                         uint32_t offset)
{
    uint32_t *grown = nsc_array_grow(*offsets, room, *count, sizeof *grown);

    if (grown == NULL)
        return -ENOMEM;
    *offsets = grown;
    memmove(grown + index + 1, grown + index, (*count - index) * sizeof *grown);
    grown[index] = offset;
    ++*count;
    return 0;
}

/* Insert an empty style for a new string before strings with styles. */
static int insert_style(struct nsc_axml_pool *pool, uint32_t index)
{
    uint32_t none = pool->styles_bytes & ~3u;
    uint8_t *styles;

    if (index >= pool->style_count)
        return 0;
    if (none < 4 || nsc_span_get32(pool->styles + none - 4) != SPAN_END) {
        styles = realloc(pool->styles, (size_t)none + 4);
        if (styles == NULL)
            return -ENOMEM;
        pool->styles = styles;
        nsc_span_put32(styles + none, SPAN_END);
        none += 4;
        pool->styles_bytes = none;
    }
    return insert_offset(&pool->style_offsets, &pool->style_room, &pool->style_count, index,
                         none - 4);
}

int nsc_axml_pool_insert(struct nsc_axml_pool *pool, uint32_t index, const char *text)
{
    uint64_t offset = (uint64_t)pool->added_at + pool->added.used;
    int error;

    if (offset + 6 * strlen(text) + 16 > NOWHERE || pool->count >= UINT32_MAX / 8)
        return -EFBIG;
    for (uint32_t i = 0; !pool->changed && i < pool->count; i++)
        if (pool->offsets[i] >= pool->data_bytes)
            pool->offsets[i] = NOWHERE;
    pool->changed = true;
    error = encode(pool, text);
    if (error == 0 && pool->style_count > 0)
        error = shift_styles(pool, index);
    if (error == 0)
        error = insert_style(pool, index);
    if (error == 0)
        error = insert_offset(&pool->offsets, &pool->room, &pool->count, index, (uint32_t)offset);
    if (error == 0)
        pool->flags &= ~NSC_AXML_SORTED;
    return error;
}

/* ---- Write
 * --------------------------------------------------------------------------------------- */

static void put_offsets(struct nsc_buffer *out, const uint32_t *offsets, uint32_t count)
{
    uint8_t *at = nsc_buffer_reserve(out, 4 * (size_t)count);

    if (at == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        nsc_span_put32(at + 4 * (size_t)i, offsets[i]);
    out->used += 4 * (size_t)count;
}

int nsc_axml_pool_write(const struct nsc_axml_pool *pool, struct nsc_buffer *out)
{
    static const uint8_t zeros[4];
    uint64_t data_at, styles_at, end;
    size_t begin = out->used;
    uint8_t *header;

    if (!pool->changed) {
        nsc_buffer_bytes(out, pool->was, pool->was_bytes);
        return out->failed ? -ENOMEM : 0;
    }
    data_at =
        pool->header_bytes + 4 * ((uint64_t)pool->count + pool->style_count) + pool->gap_bytes;
    styles_at = data_at + pool->added_at + pool->added.used;
    end = styles_at + pool->styles_bytes;
    if (end > UINT32_MAX)
        return -EFBIG;
    nsc_buffer_bytes(out, pool->was, pool->header_bytes);
    put_offsets(out, pool->offsets, pool->count);
    put_offsets(out, pool->style_offsets, pool->style_count);
    nsc_buffer_bytes(out, pool->gap, pool->gap_bytes);
    nsc_buffer_bytes(out, pool->data, pool->data_bytes);
    nsc_buffer_bytes(out, zeros, pool->added_at - pool->data_bytes);
    nsc_buffer_bytes(out, pool->added.data, pool->added.used);
    nsc_buffer_bytes(out, pool->styles, pool->styles_bytes);
    if (out->failed)
        return -ENOMEM;
    header = out->data + begin;
    nsc_span_put32(header + 4, (uint32_t)end);
    nsc_span_put32(header + 8, pool->count);
    nsc_span_put32(header + 12, pool->style_count);
    nsc_span_put32(header + 16, pool->flags);
    nsc_span_put32(header + 20, (uint32_t)data_at);
    nsc_span_put32(header + 24, pool->style_count > 0 ? (uint32_t)styles_at : 0);
    return 0;
}
