/* block.c - see block.h; docs/format.md sections 2 and 3. */
#include "trace/format/block.h"

#include <errno.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/span.h"
#include "trace/zstd/unpack_block.h"

#define WINDOW_BYTES ((size_t)64 << 10)

static void put16(uint8_t *at, uint16_t v)
{
    at[0] = (uint8_t)v;
    at[1] = (uint8_t)(v >> 8);
}

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

void nsc_block_pack(uint8_t out[NSC_FORMAT_BLOCK_BYTES], const struct nsc_block *block)
{
    nsc_span_put32(out, NSC_FORMAT_BLOCK_SYNC);
    put16(out + 4, block->kind);
    put16(out + 6, block->flags);
    nsc_span_put64(out + 8, block->stored_bytes);
    nsc_span_put64(out + 16, block->plain_bytes);
    nsc_span_put32(out + 24, block->payload_crc);
    nsc_span_put32(out + 28, nsc_base_crc32c(0, out, 28));
}

int nsc_block_unpack(const uint8_t in[NSC_FORMAT_BLOCK_BYTES], struct nsc_block *block)
{
    if (nsc_span_get32(in) != NSC_FORMAT_BLOCK_SYNC ||
        nsc_span_get32(in + 28) != nsc_base_crc32c(0, in, 28))
        return -EBADMSG;
    block->kind = get16(in + 4);
    block->flags = get16(in + 6);
    block->stored_bytes = nsc_span_get64(in + 8);
    block->plain_bytes = nsc_span_get64(in + 16);
    block->payload_crc = nsc_span_get32(in + 24);
    return 0;
}

void nsc_format_header_pack(uint8_t out[NSC_FORMAT_HEADER_BYTES], const struct nsc_file_header *h)
{
    memset(out, 0, NSC_FORMAT_HEADER_BYTES);
    memcpy(out, NSC_FORMAT_MAGIC, NSC_FORMAT_MAGIC_BYTES);
    nsc_span_put32(out + 8, NSC_FORMAT_HEADER_BYTES);
    nsc_span_put64(out + 16, h->must_understand);
    nsc_span_put64(out + 24, h->may_ignore);
    memcpy(out + 32, h->id, sizeof h->id);
    nsc_span_put32(out + 60, nsc_base_crc32c(0, out, 60));
}

int nsc_format_header_unpack(const uint8_t *in, size_t bytes, struct nsc_file_header *h,
                             struct nsc_diag *diag)
{
    uint64_t must;

    if (bytes < NSC_FORMAT_MAGIC_BYTES || memcmp(in, NSC_FORMAT_MAGIC, NSC_FORMAT_MAGIC_BYTES) != 0)
        return nsc_diag_set(diag, 0, EPROTO, "not a .nst trace file");
    if (bytes < NSC_FORMAT_HEADER_BYTES)
        return nsc_diag_set(diag, bytes, EBADMSG, "the file ends within its header");
    if (nsc_span_get32(in + 60) != nsc_base_crc32c(0, in, 60))
        return nsc_diag_set(diag, 0, EBADMSG, "the file header is damaged (checksum)");
    must = nsc_span_get64(in + 16);
    if (nsc_span_get32(in + 8) != NSC_FORMAT_HEADER_BYTES ||
        (must & ~(uint64_t)NSC_FORMAT_FEATURES_KNOWN) != 0)
        return nsc_diag_set(diag, 8, EPROTO,
                            "made by a newer nanoscope (features 0x%llx): use that version",
                            (unsigned long long)must);
    h->must_understand = must;
    h->may_ignore = nsc_span_get64(in + 24);
    memcpy(h->id, in + 32, sizeof h->id);
    return 0;
}

void nsc_format_footer_pack(uint8_t out[NSC_FORMAT_FOOTER_BYTES], uint64_t directory_offset)
{
    memset(out, 0, NSC_FORMAT_FOOTER_BYTES);
    nsc_span_put64(out, directory_offset);
    nsc_span_put32(out + 8, nsc_base_crc32c(0, out, 8));
    memcpy(out + 16, NSC_FORMAT_FOOTER_MAGIC, 8);
}

int nsc_format_footer_unpack(const uint8_t in[NSC_FORMAT_FOOTER_BYTES], uint64_t *directory_offset)
{
    if (memcmp(in + 16, NSC_FORMAT_FOOTER_MAGIC, 8) != 0 ||
        nsc_span_get32(in + 8) != nsc_base_crc32c(0, in, 8) || nsc_span_get32(in + 12) != 0)
        return -EBADMSG;
    *directory_offset = nsc_span_get64(in);
    return 0;
}

int64_t nsc_block_pread(int fd, void *data, size_t bytes, uint64_t offset)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t n = pread(fd, (char *)data + done, bytes - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

int nsc_block_header_read(int fd, uint64_t file_bytes, uint64_t offset, struct nsc_block *block,
                          struct nsc_diag *diag)
{
    uint8_t raw[NSC_FORMAT_BLOCK_BYTES];
    struct nsc_block b;
    int64_t n;

    if (offset > file_bytes || file_bytes - offset < sizeof raw)
        return nsc_diag_set(diag, offset, EBADMSG, "the file ends within a block header");
    n = nsc_block_pread(fd, raw, sizeof raw, offset);
    if (n < 0)
        return nsc_diag_set(diag, offset, (int)n, "cannot read: %s", strerror((int)-n));
    if (n < (int64_t)sizeof raw || nsc_block_unpack(raw, &b) != 0)
        return nsc_diag_set(diag, offset, EBADMSG, "damaged block header");
    b.offset = offset;
    if (b.stored_bytes > file_bytes - offset - sizeof raw)
        return nsc_diag_set(diag, offset, EBADMSG, "%s is cut off by the end of the file",
                            nsc_block_kind_name(b.kind));
    *block = b;
    return 0;
}

/* Whether @raw, read at @offset, is a valid header of a block that lies completely in the file. */
static bool is_block(const uint8_t raw[NSC_FORMAT_BLOCK_BYTES], uint64_t offset,
                     uint64_t file_bytes)
{
    struct nsc_block block;

    return nsc_block_unpack(raw, &block) == 0 &&
           block.stored_bytes <= file_bytes - offset - NSC_FORMAT_BLOCK_BYTES;
}

int nsc_block_find(int fd, uint64_t file_bytes, uint64_t from, uint64_t *found)
{
    uint8_t marker[4], *window = malloc(WINDOW_BYTES);
    uint64_t at = from;
    int64_t n = 0;

    if (window == NULL)
        return -ENOMEM;
    nsc_span_put32(marker, NSC_FORMAT_BLOCK_SYNC);
    *found = file_bytes;
    while (*found == file_bytes && at + NSC_FORMAT_BLOCK_BYTES <= file_bytes) {
        const uint8_t *hit = window, *end;

        n = nsc_block_pread(fd, window, WINDOW_BYTES, at);
        if (n < NSC_FORMAT_BLOCK_BYTES)
            break;
        end = window + n;
        while ((hit = memmem(hit, (size_t)(end - hit), marker, sizeof marker)) != NULL &&
               end - hit >= NSC_FORMAT_BLOCK_BYTES) {
            if (is_block(hit, at + (uint64_t)(hit - window), file_bytes)) {
                *found = at + (uint64_t)(hit - window);
                break;
            }
            hit++;
        }
        /* The next window begins with the header or marker that this window's end cuts off. */
        at += hit == NULL ? (uint64_t)n - 3 : (uint64_t)(hit - window);
    }
    free(window);
    return n < 0 ? (int)n : 0;
}

static int decompress(const struct nsc_block *block, struct nsc_buffer *plain,
                      const struct nsc_buffer *packed, struct nsc_diag *diag)
{
    uint8_t *at = nsc_buffer_reserve(plain, block->plain_bytes);
    int error;

    if (at == NULL)
        return nsc_diag_set(diag, block->offset, ENOMEM, "out of memory");
    error = nsc_unpack(at, block->plain_bytes, packed->data, packed->used);
    if (error == -EPROTO)
        return nsc_diag_set(diag, block->offset, error,
                            "compressed with zstd, which is not read here: `nanoscope export "
                            "--format nst -o plain.nst FILE` writes it uncompressed");
    if (error != 0)
        return nsc_diag_set(diag, block->offset, error, "%s does not decompress",
                            nsc_block_kind_name(block->kind));
    plain->used = block->plain_bytes;
    return 0;
}

int nsc_block_payload_read(int fd, const struct nsc_block *block, struct nsc_buffer *plain,
                           struct nsc_buffer *packed, struct nsc_diag *diag)
{
    bool zstd = (block->flags & NSC_FORMAT_BLOCK_ZSTD) != 0;
    struct nsc_buffer *raw = zstd ? packed : plain;
    unsigned known =
        NSC_FORMAT_BLOCK_ZSTD | (block->kind == NSC_FORMAT_EVENTS ? NSC_FORMAT_BLOCK_LEAST : 0);
    const char *name = nsc_block_kind_name(block->kind);
    uint8_t *at;
    int64_t n;

    nsc_buffer_clear(plain);
    if ((block->flags & NSC_FORMAT_BLOCK_FLAGS_CRUCIAL & ~known) != 0)
        return nsc_diag_set(diag, block->offset, EPROTO, "%s is stored in a newer way (flags 0x%x)",
                            name, block->flags);
    if (block->plain_bytes > NSC_FORMAT_PLAIN_MAX || block->stored_bytes > NSC_FORMAT_PLAIN_MAX ||
        (!zstd && block->plain_bytes != block->stored_bytes))
        return nsc_diag_set(diag, block->offset, EBADMSG, "%s has an impossible size", name);
    nsc_buffer_clear(raw);
    at = nsc_buffer_reserve(raw, block->stored_bytes);
    if (at == NULL)
        return nsc_diag_set(diag, block->offset, ENOMEM, "out of memory");
    n = nsc_block_pread(fd, at, block->stored_bytes, block->offset + NSC_FORMAT_BLOCK_BYTES);
    if (n < 0)
        return nsc_diag_set(diag, block->offset, (int)n, "cannot read: %s", strerror((int)-n));
    raw->used = (size_t)n;
    if (raw->used != block->stored_bytes ||
        nsc_base_crc32c(0, raw->data, raw->used) != block->payload_crc)
        return nsc_diag_set(diag, block->offset, EBADMSG, "%s is damaged (checksum)", name);
    return zstd ? decompress(block, plain, packed, diag) : 0;
}

const char *nsc_block_kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [NSC_FORMAT_HEAD] = "chunk head",
        [NSC_FORMAT_EVENTS] = "event chunk",
        [NSC_FORMAT_PROCESSES] = "process table",
        [NSC_FORMAT_THREADS] = "thread table",
        [NSC_FORMAT_MODULES] = "module table",
        [NSC_FORMAT_MAPPINGS] = "mapping table",
        [NSC_FORMAT_FUNCTIONS] = "function table",
        [NSC_FORMAT_CLOCK] = "clock table",
        [NSC_FORMAT_META] = "meta table",
        [NSC_FORMAT_INDEX] = "index",
        [NSC_FORMAT_DIRECTORY] = "directory",
        [NSC_FORMAT_FILES] = "file table",
        [NSC_FORMAT_SAMPLES] = "samples",
        [NSC_FORMAT_STATES] = "states",
        [NSC_FORMAT_MARKS] = "marks",
        [NSC_FORMAT_COUNTERS] = "counters",
        [NSC_FORMAT_LEFT_OUT] = "left-out table",
        [NSC_FORMAT_LEVEL] = "node of the index",
        [NSC_FORMAT_NOTE_INDEX] = "index of notes",
        [NSC_FORMAT_LEVEL_INDEX] = "index of nodes",
    };

    if (kind >= sizeof names / sizeof names[0] || names[kind] == NULL)
        return "block of unknown kind";
    return names[kind];
}
