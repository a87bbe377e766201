/*
 * parquet_file.c - encodings, pages and footer of a Parquet file; see parquet_file.h.
 *
 * Each column of a row group is one data page, after a dictionary page if the column has one.
 */
#include "formats/parquet/parquet_file.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/span.h"
#include "formats/parquet/thrift.h"

#define MAGIC        "PAR1"
#define ZSTD_LEVEL   3
#define BLOCK_VALUES 128u /* of delta encoding */
#define MINI_VALUES  32u
#define BLOCK_MINIS  (BLOCK_VALUES / MINI_VALUES)
#define GROUPED      8u /* values per bit-packed group; also the shortest run that is run-encoded */

/* parquet.thrift */
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2, CODEC_ZSTD = 6, CONVERTED_UTF8 = 0 };

struct nsc_parquet {
    struct nsc_output *out;
    const struct nsc_parquet_column *columns;
    uint32_t column_count;
    uint64_t offset; /* bytes written */
    uint64_t all_rows;
    uint32_t rows, column; /* rows of the group; index of the next column */
    uint64_t group_offset, group_plain_bytes;
    uint32_t group_count;
    struct nsc_buffer groups; /* footer metadata of the complete row groups */
    struct nsc_buffer chunks; /* footer metadata of the current group's columns */
    struct nsc_buffer page, packed, head;
    uint32_t *kept; /* scratch: definition levels, then indexes of the rows with a value */
    uint32_t kept_room;
    bool failed;
};

/* Footer metadata of a column chunk. */
struct chunk {
    uint64_t offset, dictionary_offset; /* of the pages; no dictionary = 0 */
    uint64_t plain_bytes;
    uint32_t none; /* number of rows without a value */
    bool has_range;
    int64_t min, max;
};

struct nsc_parquet *nsc_parquet_new(struct nsc_output *out,
                                    const struct nsc_parquet_column *columns, uint32_t count)
{
    struct nsc_parquet *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->out = out;
    p->columns = columns;
    p->column_count = count;
    nsc_output_text(out, MAGIC);
    p->offset = sizeof MAGIC - 1;
    return p;
}

void nsc_parquet_free(struct nsc_parquet *p)
{
    if (p == NULL)
        return;
    nsc_buffer_free(&p->groups);
    nsc_buffer_free(&p->chunks);
    nsc_buffer_free(&p->page);
    nsc_buffer_free(&p->packed);
    nsc_buffer_free(&p->head);
    free(p->kept);
    free(p);
}

static void put(struct nsc_parquet *p, const void *data, size_t bytes)
{
    nsc_output_put(p->out, data, bytes);
    p->offset += bytes;
}

/* ---- Encodings ------------------------------------------------------------------------------- */

static unsigned bits_of(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* Bit-packs @count values (a multiple of 8) of @width bits each, low bits first. */
static void pack(struct nsc_buffer *b, const uint64_t *values, uint32_t count, unsigned width)
{
    uint64_t held = 0;
    unsigned held_bits = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = values[i];

        for (unsigned left = width; left > 0;) {
            unsigned take = left < 8 - held_bits ? left : 8 - held_bits;

            held |= (value & ((1u << take) - 1)) << held_bits;
            value >>= take;
            held_bits += take;
            left -= take;
            if (held_bits < 8)
                continue;
            nsc_thrift_byte(b, (uint8_t)held);
            held = held_bits = 0;
        }
    }
}

/* Writes a block of @count differences. A short last block is padded with its minimum. */
static void put_block(struct nsc_buffer *b, const int64_t *differences, uint32_t count)
{
    uint64_t above[BLOCK_VALUES] = {0};
    uint8_t widths[BLOCK_MINIS] = {0};
    int64_t least = differences[0];

    for (uint32_t i = 1; i < count; i++)
        least = differences[i] < least ? differences[i] : least;
    for (uint32_t i = 0; i < count; i++) {
        unsigned bits;

        above[i] = (uint64_t)differences[i] - (uint64_t)least;
        bits = bits_of(above[i]);
        if (bits > widths[i / MINI_VALUES])
            widths[i / MINI_VALUES] = (uint8_t)bits;
    }
    nsc_buffer_leb(b, nsc_thrift_zigzag(least));
    nsc_buffer_bytes(b, widths, sizeof widths);
    for (uint32_t i = 0; i * MINI_VALUES < count; i++)
        pack(b, above + i * MINI_VALUES, MINI_VALUES, widths[i]);
}

/* Writes values as DELTA_BINARY_PACKED. Differences wrap, as the encoding requires: in 32 bits for
 * 32-bit numbers, so that none needs more bits. */
static void put_deltas(struct nsc_buffer *b, const int64_t *values, uint32_t rows, int64_t none,
                       bool optional, bool wide)
{
    int64_t differences[BLOCK_VALUES], last = 0;
    uint32_t count = 0, seen = 0, total = 0;

    for (uint32_t i = 0; i < rows; i++)
        total += !optional || values[i] != none;
    nsc_buffer_leb(b, BLOCK_VALUES);
    nsc_buffer_leb(b, BLOCK_MINIS);
    nsc_buffer_leb(b, total);
    for (uint32_t i = 0; i < rows; i++) {
        int64_t difference;

        if (optional && values[i] == none)
            continue;
        difference = (int64_t)((uint64_t)values[i] - (uint64_t)last);
        last = values[i];
        if (seen++ == 0) {
            nsc_buffer_leb(b, nsc_thrift_zigzag(values[i]));
            continue;
        }
        differences[count++] = wide ? difference : (int32_t)(uint32_t)(uint64_t)difference;
        if (count == BLOCK_VALUES) {
            put_block(b, differences, count);
            count = 0;
        }
    }
    if (total == 0)
        nsc_buffer_leb(b, 0);
    if (count > 0)
        put_block(b, differences, count);
}

/* Writes @count values as a bit-packed run, padded to a multiple of 8. */
static void put_packed(struct nsc_buffer *b, const uint32_t *values, uint32_t count, unsigned width)
{
    uint32_t groups = (count + GROUPED - 1) / GROUPED;

    nsc_buffer_leb(b, (uint64_t)groups << 1 | 1);
    for (uint32_t i = 0; i < groups; i++) {
        uint64_t eight[GROUPED] = {0};

        for (uint32_t j = 0; j < GROUPED && i * GROUPED + j < count; j++)
            eight[j] = values[i * GROUPED + j];
        pack(b, eight, GROUPED, width);
    }
}

static void put_repeated(struct nsc_buffer *b, uint32_t value, uint32_t count, unsigned width)
{
    nsc_buffer_leb(b, (uint64_t)count << 1);
    for (unsigned i = 0; i < width; i += 8)
        nsc_thrift_byte(b, (uint8_t)(value >> i));
}

/* Writes values in the RLE/bit-packing hybrid. A bit-packed run before an RLE run must be a
 * multiple of 8 long, so it takes the missing values from the RLE run. */
static void put_hybrid(struct nsc_buffer *b, const uint32_t *values, uint32_t count, unsigned width)
{
    uint32_t begin = 0, at = 0;

    while (at < count) {
        uint32_t run = at + 1, missing;

        while (run < count && values[run] == values[at])
            run++;
        missing = (GROUPED - (at - begin) % GROUPED) % GROUPED;
        if (run - at < GROUPED + missing) {
            at = run;
            continue;
        }
        at += missing;
        if (at > begin)
            put_packed(b, values + begin, at - begin, width);
        put_repeated(b, values[at], run - at, width);
        begin = at = run;
    }
    if (begin < count)
        put_packed(b, values + begin, count - begin, width);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Writes p->page, compressed, after its header. Returns the bytes of header and uncompressed page.
 */
static uint64_t put_page(struct nsc_parquet *p, int type, uint32_t values, int encoding)
{
    size_t room = ZSTD_compressBound(p->page.used), bytes;
    uint8_t *packed;
    int last = 0, inner = 0;

    nsc_buffer_clear(&p->packed);
    nsc_buffer_clear(&p->head);
    packed = nsc_buffer_reserve(&p->packed, room);
    if (p->page.failed || packed == NULL || p->page.used > INT32_MAX) {
        p->failed = true;
        return 0;
    }
    bytes = ZSTD_compress(packed, room, p->page.data, p->page.used, ZSTD_LEVEL);
    if (ZSTD_isError(bytes) != 0) {
        p->failed = true; /* zstd fails only when out of memory */
        return 0;
    }
    nsc_thrift_int(&p->head, &last, 1, NSC_THRIFT_I32, type);
    nsc_thrift_int(&p->head, &last, 2, NSC_THRIFT_I32, (int64_t)p->page.used);
    nsc_thrift_int(&p->head, &last, 3, NSC_THRIFT_I32, (int64_t)bytes);
    nsc_thrift_field(&p->head, &last, type == PAGE_DATA ? 5 : 7, NSC_THRIFT_STRUCT);
    nsc_thrift_int(&p->head, &inner, 1, NSC_THRIFT_I32, values);
    nsc_thrift_int(&p->head, &inner, 2, NSC_THRIFT_I32, encoding);
    if (type == PAGE_DATA) { /* encodings of definition and repetition levels */
        nsc_thrift_int(&p->head, &inner, 3, NSC_THRIFT_I32, ENCODING_RLE);
        nsc_thrift_int(&p->head, &inner, 4, NSC_THRIFT_I32, ENCODING_RLE);
    }
    nsc_thrift_end(&p->head);
    nsc_thrift_end(&p->head);
    p->failed |= p->head.failed;
    if (p->failed)
        return 0;
    put(p, p->head.data, p->head.used);
    put(p, packed, bytes);
    return p->head.used + p->page.used;
}

/* Writes the definition levels, 1 for rows with a value, else 0, after their length in 4 bytes.
 * @levels: one word per row. */
static void put_levels(struct nsc_parquet *p, const uint32_t *levels)
{
    size_t start = p->page.used;

    nsc_buffer_bytes(&p->page, "\0\0\0\0", 4);
    put_hybrid(&p->page, levels, p->rows, 1);
    if (!p->page.failed)
        nsc_span_put32(p->page.data + start, (uint32_t)(p->page.used - start - 4));
}

static void put_number(struct nsc_buffer *b, int64_t value, bool wide)
{
    uint8_t bytes[8];

    nsc_span_put64(bytes, (uint64_t)value);
    nsc_buffer_bytes(b, bytes, wide ? 8 : 4);
}

static void put_statistics(struct nsc_buffer *b, int *last, const struct chunk *chunk, bool wide)
{
    uint8_t bytes[8];
    int inner = 0;

    nsc_thrift_field(b, last, 12, NSC_THRIFT_STRUCT);
    nsc_thrift_int(b, &inner, 3, NSC_THRIFT_I64, chunk->none);
    if (chunk->has_range) {
        nsc_span_put64(bytes, (uint64_t)chunk->max);
        nsc_thrift_binary(b, &inner, 5, bytes, wide ? 8 : 4);
        nsc_span_put64(bytes, (uint64_t)chunk->min);
        nsc_thrift_binary(b, &inner, 6, bytes, wide ? 8 : 4);
    }
    nsc_thrift_end(b);
}

/* Adds the footer metadata of a complete column. */
static void tell_chunk(struct nsc_parquet *p, const struct chunk *chunk)
{
    const struct nsc_parquet_column *column = &p->columns[p->column++];
    bool chosen = chunk->dictionary_offset != 0;
    struct nsc_buffer *b = &p->chunks;
    uint64_t start = chosen ? chunk->dictionary_offset : chunk->offset;
    int last = 0, inner = 0;

    nsc_thrift_int(b, &last, 2, NSC_THRIFT_I64, (int64_t)start);
    nsc_thrift_field(b, &last, 3, NSC_THRIFT_STRUCT);
    nsc_thrift_int(b, &inner, 1, NSC_THRIFT_I32, column->type);
    nsc_thrift_list(b, &inner, 2, NSC_THRIFT_I32, chosen ? 3 : 2);
    nsc_buffer_leb(b, nsc_thrift_zigzag(ENCODING_RLE));
    if (chosen)
        nsc_buffer_leb(b, nsc_thrift_zigzag(ENCODING_PLAIN));
    nsc_buffer_leb(b, nsc_thrift_zigzag(chosen ? ENCODING_DICTIONARY : ENCODING_DELTA));
    nsc_thrift_list(b, &inner, 3, NSC_THRIFT_BINARY, 1);
    nsc_buffer_text(b, column->name);
    nsc_thrift_int(b, &inner, 4, NSC_THRIFT_I32, CODEC_ZSTD);
    nsc_thrift_int(b, &inner, 5, NSC_THRIFT_I64, p->rows);
    nsc_thrift_int(b, &inner, 6, NSC_THRIFT_I64, (int64_t)chunk->plain_bytes);
    nsc_thrift_int(b, &inner, 7, NSC_THRIFT_I64, (int64_t)(p->offset - start));
    nsc_thrift_int(b, &inner, 9, NSC_THRIFT_I64, (int64_t)chunk->offset);
    if (chosen)
        nsc_thrift_int(b, &inner, 11, NSC_THRIFT_I64, (int64_t)chunk->dictionary_offset);
    put_statistics(b, &inner, chunk, column->type == NSC_PARQUET_INT64);
    nsc_thrift_end(b);
    nsc_thrift_end(b);
    p->group_plain_bytes += chunk->plain_bytes;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static void widen(struct chunk *chunk, int64_t value)
{
    if (!chunk->has_range || value < chunk->min)
        chunk->min = value;
    if (!chunk->has_range || value > chunk->max)
        chunk->max = value;
    chunk->has_range = true;
}

void nsc_parquet_put_numbers(struct nsc_parquet *p, const int64_t *values, int64_t none)
{
    const struct nsc_parquet_column *column = &p->columns[p->column];
    struct chunk chunk = {.offset = p->offset};

    nsc_buffer_clear(&p->page);
    for (uint32_t i = 0; i < p->rows; i++) {
        p->kept[i] = !column->optional || values[i] != none;
        chunk.none += p->kept[i] == 0;
        if (p->kept[i] != 0)
            widen(&chunk, values[i]);
    }
    if (column->optional)
        put_levels(p, p->kept);
    put_deltas(&p->page, values, p->rows, none, column->optional,
               column->type == NSC_PARQUET_INT64);
    chunk.plain_bytes = put_page(p, PAGE_DATA, p->rows, ENCODING_DELTA);
    tell_chunk(p, &chunk);
}

/* Writes the dictionary page and determines the range of numbers. */
static void put_dictionary(struct nsc_parquet *p, const struct nsc_parquet_column *column,
                           const struct nsc_parquet_value *values, uint32_t count,
                           struct chunk *chunk)
{
    uint8_t bytes[4];

    nsc_buffer_clear(&p->page);
    for (uint32_t i = 0; i < count; i++) {
        if (column->type != NSC_PARQUET_TEXT) {
            put_number(&p->page, values[i].number, column->type == NSC_PARQUET_INT64);
            widen(chunk, values[i].number);
            continue;
        }
        nsc_span_put32(bytes, (uint32_t)values[i].bytes);
        nsc_buffer_bytes(&p->page, bytes, sizeof bytes);
        nsc_buffer_bytes(&p->page, values[i].text, values[i].bytes);
    }
    chunk->dictionary_offset = p->offset;
    chunk->plain_bytes = put_page(p, PAGE_DICTIONARY, count, ENCODING_PLAIN);
    chunk->offset = p->offset;
}

void nsc_parquet_put_chosen(struct nsc_parquet *p, const struct nsc_parquet_value *values,
                            uint32_t count, const uint32_t *index)
{
    const struct nsc_parquet_column *column = &p->columns[p->column];
    unsigned width = bits_of(count > 0 ? count - 1 : 0);
    struct chunk chunk = {.offset = 0};
    uint32_t kept = 0;

    put_dictionary(p, column, values, count, &chunk);
    nsc_buffer_clear(&p->page);
    if (column->optional) {
        for (uint32_t i = 0; i < p->rows; i++)
            p->kept[i] = index[i] != UINT32_MAX;
        put_levels(p, p->kept);
    }
    for (uint32_t i = 0; i < p->rows; i++)
        if (!column->optional || index[i] != UINT32_MAX)
            p->kept[kept++] = index[i];
    chunk.none = p->rows - kept;
    nsc_thrift_byte(&p->page, (uint8_t)width);
    put_hybrid(&p->page, p->kept, kept, width);
    chunk.plain_bytes += put_page(p, PAGE_DATA, p->rows, ENCODING_DICTIONARY);
    tell_chunk(p, &chunk);
}

/* ---- Row groups and the footer --------------------------------------------------------------- */

void nsc_parquet_begin_group(struct nsc_parquet *p, uint32_t rows)
{
    if (rows > p->kept_room) {
        free(p->kept);
        p->kept = calloc(rows, sizeof *p->kept);
        p->kept_room = p->kept != NULL ? rows : 0;
        p->failed |= p->kept == NULL;
    }
    p->rows = p->kept != NULL ? rows : 0;
    p->column = 0;
    p->group_offset = p->offset;
    p->group_plain_bytes = 0;
    nsc_buffer_clear(&p->chunks);
}

void nsc_parquet_end_group(struct nsc_parquet *p)
{
    struct nsc_buffer *b = &p->groups;
    int last = 0;

    nsc_thrift_list(b, &last, 1, NSC_THRIFT_STRUCT, p->column_count);
    nsc_buffer_bytes(b, p->chunks.data, p->chunks.used);
    nsc_thrift_int(b, &last, 2, NSC_THRIFT_I64, (int64_t)p->group_plain_bytes);
    nsc_thrift_int(b, &last, 3, NSC_THRIFT_I64, p->rows);
    nsc_thrift_int(b, &last, 5, NSC_THRIFT_I64, (int64_t)p->group_offset);
    nsc_thrift_int(b, &last, 6, NSC_THRIFT_I64, (int64_t)(p->offset - p->group_offset));
    nsc_thrift_end(b);
    p->failed |= p->chunks.failed || b->failed;
    p->all_rows += p->rows;
    p->group_count++;
}

static void put_schema(const struct nsc_parquet *p, struct nsc_buffer *b)
{
    int last = 0;

    nsc_thrift_binary(b, &last, 4, "calls", 5);
    nsc_thrift_int(b, &last, 5, NSC_THRIFT_I32, p->column_count);
    nsc_thrift_end(b);
    for (uint32_t i = 0; i < p->column_count; i++) {
        const struct nsc_parquet_column *column = &p->columns[i];

        last = 0;
        nsc_thrift_int(b, &last, 1, NSC_THRIFT_I32, column->type);
        nsc_thrift_int(b, &last, 3, NSC_THRIFT_I32, column->optional);
        nsc_thrift_binary(b, &last, 4, column->name, strlen(column->name));
        if (column->type == NSC_PARQUET_TEXT) {
            int logical = 0;

            nsc_thrift_int(b, &last, 6, NSC_THRIFT_I32, CONVERTED_UTF8);
            nsc_thrift_field(b, &last, 10, NSC_THRIFT_STRUCT);
            nsc_thrift_field(b, &logical, 1, NSC_THRIFT_STRUCT); /* STRING, which has no members */
            nsc_thrift_end(b);
            nsc_thrift_end(b);
        }
        nsc_thrift_end(b);
    }
}

/* Writes the column orders: statistics use each type's own order. Readers ignore statistics without
 * this. */
static void put_orders(const struct nsc_parquet *p, struct nsc_buffer *b, int *last)
{
    nsc_thrift_list(b, last, 7, NSC_THRIFT_STRUCT, p->column_count);
    for (uint32_t i = 0; i < p->column_count; i++) {
        int inner = 0;

        nsc_thrift_field(b, &inner, 1, NSC_THRIFT_STRUCT);
        nsc_thrift_end(b);
        nsc_thrift_end(b);
    }
}

int nsc_parquet_end(struct nsc_parquet *p, const char *const *keys, const char *const *texts,
                    uint32_t count)
{
    static const char maker[] = "nanoscope version " NSC_VERSION;
    struct nsc_buffer *b = &p->page;
    uint8_t bytes[4];
    int last = 0;

    nsc_buffer_clear(b);
    nsc_thrift_int(b, &last, 1, NSC_THRIFT_I32, 2); /* format version: 2, for the encodings used */
    nsc_thrift_list(b, &last, 2, NSC_THRIFT_STRUCT, p->column_count + 1);
    put_schema(p, b);
    nsc_thrift_int(b, &last, 3, NSC_THRIFT_I64, (int64_t)p->all_rows);
    nsc_thrift_list(b, &last, 4, NSC_THRIFT_STRUCT, p->group_count);
    nsc_buffer_bytes(b, p->groups.data, p->groups.used);
    nsc_thrift_list(b, &last, 5, NSC_THRIFT_STRUCT, count);
    for (uint32_t i = 0; i < count; i++) {
        int inner = 0;

        nsc_thrift_binary(b, &inner, 1, keys[i], strlen(keys[i]));
        nsc_thrift_binary(b, &inner, 2, texts[i], strlen(texts[i]));
        nsc_thrift_end(b);
    }
    nsc_thrift_binary(b, &last, 6, maker, sizeof maker - 1);
    put_orders(p, b, &last);
    nsc_thrift_end(b);
    if (p->failed || b->failed || b->used > INT32_MAX)
        return -ENOMEM;
    put(p, b->data, b->used);
    nsc_span_put32(bytes, (uint32_t)b->used);
    put(p, bytes, sizeof bytes);
    put(p, MAGIC, sizeof MAGIC - 1);
    return 0;
}
