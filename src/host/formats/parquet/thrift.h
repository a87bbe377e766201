/*
 * thrift.h - write structures in Thrift's compact protocol, in which Parquet's page headers and
 * footer are encoded.
 *
 * Used by the Parquet writer. For each structure, the caller keeps @last, the number of the last
 * field written, 0 at first, and ends the structure with nsc_thrift_end(). The buffer records when
 * memory runs out (buffer.h).
 * Source: thrift's doc/specs/thrift-compact-protocol.md.
 */
#ifndef NSC_FORMATS_PARQUET_THRIFT_H
#define NSC_FORMATS_PARQUET_THRIFT_H

#include "util/buffer.h"

enum nsc_thrift_type {
    NSC_THRIFT_I16 = 4,
    NSC_THRIFT_I32 = 5,
    NSC_THRIFT_I64 = 6,
    NSC_THRIFT_BINARY = 8,
    NSC_THRIFT_LIST = 9,
    NSC_THRIFT_STRUCT = 12,
};

static inline uint64_t nsc_thrift_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline void nsc_thrift_byte(struct nsc_buffer *b, uint8_t byte)
{
    nsc_buffer_bytes(b, &byte, 1);
}

/* Writes a field header. @field may be at most 15 above *@last. */
static inline void nsc_thrift_field(struct nsc_buffer *b, int *last, int field,
                                    enum nsc_thrift_type type)
{
    nsc_thrift_byte(b, (uint8_t)((unsigned)(field - *last) << 4 | (unsigned)type));
    *last = field;
}

static inline void nsc_thrift_int(struct nsc_buffer *b, int *last, int field,
                                  enum nsc_thrift_type type, int64_t value)
{
    nsc_thrift_field(b, last, field, type);
    nsc_buffer_leb(b, nsc_thrift_zigzag(value));
}

static inline void nsc_thrift_binary(struct nsc_buffer *b, int *last, int field, const void *data,
                                     size_t bytes)
{
    nsc_thrift_field(b, last, field, NSC_THRIFT_BINARY);
    nsc_buffer_leb(b, bytes);
    nsc_buffer_bytes(b, data, bytes);
}

/* Writes the header of a list field; the caller writes its @count elements. */
static inline void nsc_thrift_list(struct nsc_buffer *b, int *last, int field,
                                   enum nsc_thrift_type of, uint64_t count)
{
    nsc_thrift_field(b, last, field, NSC_THRIFT_LIST);
    nsc_thrift_byte(b, (uint8_t)((count < 15 ? count : 15) << 4 | (unsigned)of));
    if (count >= 15)
        nsc_buffer_leb(b, count);
}

static inline void nsc_thrift_end(struct nsc_buffer *b)
{
    nsc_thrift_byte(b, 0);
}

#endif
