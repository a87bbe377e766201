/*
 * block.h - the outer layer of a .nst file: header, blocks with checksums, footer.
 *
 * Used inside trace/ by the writer (through trace_file.h) and the reader. Does not interpret the
 * blocks' contents.
 */
#ifndef NSC_TRACE_FORMAT_BLOCK_H
#define NSC_TRACE_FORMAT_BLOCK_H

#include "trace/format/format.h"
#include "util/buffer.h"
#include "util/diag.h"

struct nsc_block {
    uint64_t offset; /* of the block's header in the file */
    uint64_t stored_bytes;
    uint64_t plain_bytes;
    uint32_t payload_crc;
    uint16_t kind;
    uint16_t flags;
};

/* Offset of the first byte after the block. */
static inline uint64_t nsc_block_end(const struct nsc_block *block)
{
    return block->offset + NSC_FORMAT_BLOCK_BYTES + block->stored_bytes;
}

void nsc_block_pack(uint8_t out[NSC_FORMAT_BLOCK_BYTES], const struct nsc_block *block);

/* Decode a block header into all fields except @block->offset. Returns 0, or -EBADMSG when the
 * marker, the checksum or the sizes are wrong. */
int nsc_block_unpack(const uint8_t in[NSC_FORMAT_BLOCK_BYTES], struct nsc_block *block);

struct nsc_file_header {
    uint64_t must_understand;
    uint64_t may_ignore;
    uint8_t id[16];
};

void nsc_format_header_pack(uint8_t out[NSC_FORMAT_HEADER_BYTES], const struct nsc_file_header *h);
/* Returns 0, -EPROTO (not a trace, or an unknown required feature) or -EBADMSG, with @diag. */
int nsc_format_header_unpack(const uint8_t *in, size_t bytes, struct nsc_file_header *h,
                             struct nsc_diag *diag);

void nsc_format_footer_pack(uint8_t out[NSC_FORMAT_FOOTER_BYTES], uint64_t directory_offset);
/* Returns 0 or -EBADMSG. */
int nsc_format_footer_unpack(const uint8_t in[NSC_FORMAT_FOOTER_BYTES], uint64_t *directory_offset);

/* pread until @bytes are read. Returns the number read (fewer at the end of the file) or -errno. */
int64_t nsc_block_pread(int fd, void *data, size_t bytes, uint64_t offset);

/**
 * nsc_block_header_read - read and check the block header at @offset.
 * @file_bytes: the block must end at or before it.
 * Returns 0, -EBADMSG with @diag, or a read error.
 */
int nsc_block_header_read(int fd, uint64_t file_bytes, uint64_t offset, struct nsc_block *block,
                          struct nsc_diag *diag);

/**
 * nsc_block_payload_read - read, check and decompress the payload of a block whose header was read.
 * @plain: receives the uncompressed content (cleared first); @packed: scratch for compressed
 * payloads.
 * Returns 0, -EBADMSG with @diag, -ENOMEM, or a read error.
 */
int nsc_block_payload_read(int fd, const struct nsc_block *block, struct nsc_buffer *plain,
                           struct nsc_buffer *packed, struct nsc_diag *diag);

/* Find the next block marker at or after @from; @found is @file_bytes if there is none. Returns 0,
 * -ENOMEM or a read error. */
int nsc_block_find(int fd, uint64_t file_bytes, uint64_t from, uint64_t *found);

/* Name of a block kind for messages: "chunk head", "function table", ... */
const char *nsc_block_kind_name(uint32_t kind);

#endif
