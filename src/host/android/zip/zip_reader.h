/*
 * zip_reader.h - read a ZIP archive: entries, positions of their data, and the APK Signing Block
 * before the central directory.
 *
 * Called by apk/, instrument/ and cli/. The archive is hostile input: anything that two readers
 * could interpret differently is refused, with the offset. Uses pread, not mmap: a file that
 * shrinks meanwhile is an error, not SIGBUS. Memory: the central directory, and the result of
 * nsc_zip_read().
 *
 * Refused at open: names that are absolute, contain "..", a backslash or a control character, or
 * occur twice; entries that overlap; local headers that differ from the central directory; a wrong
 * number of entries; encryption; methods other than stored and deflated; sizes that deflate cannot
 * reach; archives on several disks. Supported: data descriptors, ZIP64.
 *
 * Source: APPNOTE.TXT 6.3.10 (PKWARE).
 */
#ifndef NSC_ANDROID_ZIP_ZIP_READER_H
#define NSC_ANDROID_ZIP_ZIP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

#define NSC_ZIP_LOCAL_BYTES   30u /* header of an entry, without name and extra fields */
#define NSC_ZIP_CENTRAL_BYTES 46u
#define NSC_ZIP_END_BYTES     22u

enum nsc_zip_method {
    NSC_ZIP_STORED = 0,
    NSC_ZIP_DEFLATED = 8,
};

struct nsc_zip_entry {
    const char *name;     /* NUL terminated, without control characters; not always UTF-8 */
    const uint8_t *extra; /* extra fields of the central directory */
    const uint8_t *comment;
    uint16_t name_bytes, extra_bytes, comment_bytes;
    uint16_t version_made, version_needed, flags;
    uint16_t method; /* enum nsc_zip_method */
    uint16_t time, date;
    uint16_t internal;
    uint32_t external;
    uint32_t crc;
    uint64_t packed_bytes; /* size in the file */
    uint64_t bytes;        /* unpacked size; at most what deflate can expand packed_bytes to */
    uint64_t central_off;  /* of its record in the central directory */
    uint64_t header_off;   /* of its local header */
    uint64_t data_off;     /* of its data: packed_bytes, all before the central directory */
};

struct nsc_zip;

/* Positions of the parts of an archive. */
struct nsc_zip_layout {
    uint64_t file_bytes;
    uint64_t central_off, central_bytes;
    uint64_t end_off;   /* of the end of central directory record, which ends the file */
    uint64_t block_off; /* APK Signing Block: from here to central_off; equal if there is none */
    uint16_t comment_bytes;
    bool zip64; /* there are ZIP64 records between central directory and end */
};

/**
 * nsc_zip_open - open an archive and make all checks listed above.
 * @path: a regular file.
 * @out: receives the archive; close with nsc_zip_close().
 * Returns 0 or -errno with @diag: open(2)'s, -EINVAL (not a regular file), -EBADMSG (not a ZIP
 * archive, or damaged), -ENOTSUP (encrypted, unknown method, several disks), -ENOMEM.
 */
int nsc_zip_open(const char *path, struct nsc_zip **out, struct nsc_diag *diag);
/* The same for an open file; takes ownership of @fd, also on failure. @path: for messages. */
int nsc_zip_open_fd(int fd, const char *path, struct nsc_zip **out, struct nsc_diag *diag);
void nsc_zip_close(struct nsc_zip *z);

const struct nsc_zip_layout *nsc_zip_layout(const struct nsc_zip *z);
const char *nsc_zip_path(const struct nsc_zip *z);
/* Descriptor of the file; owned by the archive. */
int nsc_zip_fd(const struct nsc_zip *z);

/* The entries, in the order of the central directory. */
uint32_t nsc_zip_count(const struct nsc_zip *z);
const struct nsc_zip_entry *nsc_zip_at(const struct nsc_zip *z, uint32_t index);
/* Find an entry by name, or NULL. O(log n). */
const struct nsc_zip_entry *nsc_zip_find(const struct nsc_zip *z, const char *name);

/* Callback that takes the next bytes of a stream. Returns 0, or a negative errno to stop. */
typedef int (*nsc_zip_sink)(void *context, const uint8_t *data, size_t bytes);

/**
 * nsc_zip_stream - pass an entry's unpacked bytes to @sink, in pieces of at most 64 KiB.
 * Checks size and CRC at the end; never passes more than @e->bytes.
 * Returns 0, the result of @sink, or -errno with @diag: -EBADMSG (damaged), -EIO, -ENOMEM.
 */
int nsc_zip_stream(const struct nsc_zip *z, const struct nsc_zip_entry *e, nsc_zip_sink sink,
                   void *context, struct nsc_diag *diag);

/**
 * nsc_zip_read - read an entry's unpacked bytes.
 * @max: limit of the unpacked size.
 * @out: receives a malloc'ed buffer with a NUL after the last byte.
 * Returns 0 or -errno with @diag: as nsc_zip_stream(), -EFBIG (more than @max).
 */
int nsc_zip_read(const struct nsc_zip *z, const struct nsc_zip_entry *e, uint64_t max,
                 uint8_t **out, size_t *bytes, struct nsc_diag *diag);

/* Read @bytes of the file itself. Returns 0, -EBADMSG (the file is shorter) or -errno, with @diag.
 */
int nsc_zip_raw(const struct nsc_zip *z, uint64_t offset, void *data, size_t bytes,
                struct nsc_diag *diag);

#endif
