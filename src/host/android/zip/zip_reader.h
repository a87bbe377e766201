/*
 * zip_reader.h - read a ZIP archive as it lies: entries, where their bytes are, and the APK Signing
 * Block before the central directory.
 *
 * Called by the rest of apk/, by inject/ and cli/. The archive is hostile input: whatever two
 * readers could understand differently is refused, with the offset. Uses pread, not mmap: a file
 * that shrinks meanwhile is an error and no signal. Memory: the central directory, and what
 * nsc_zip_read() returns.
 *
 * Refused when opened: names that are absolute, lead upwards, hold a backslash or a control
 * character, or come twice; entries that overlap; local headers that say other things than the
 * central directory; a wrong number of entries; encryption; methods other than stored and deflated;
 * sizes that deflate cannot reach; parts of an archive on several disks. Understood: data
 * descriptors, ZIP64.
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
    uint64_t packed_bytes; /* in the file */
    uint64_t bytes;        /* once unpacked; no more than deflate can make of packed_bytes */
    uint64_t central_off;  /* its record in the central directory */
    uint64_t header_off;   /* its local header */
    uint64_t data_off;     /* its bytes: packed_bytes of them, all before the central directory */
};

struct nsc_zip;

/* Where the parts of an archive lie. */
struct nsc_zip_layout {
    uint64_t file_bytes;
    uint64_t central_off, central_bytes;
    uint64_t end_off;   /* end of central directory; it reaches to the end of the file */
    uint64_t block_off; /* APK Signing Block: from here to central_off; equal if there is none */
    uint16_t comment_bytes;
    bool zip64; /* there are records of ZIP64 between central directory and end */
};

/**
 * nsc_zip_open - open an archive and check all that is said above.
 * @path: a regular file.
 * @out: receives the archive; close with nsc_zip_close().
 * Returns 0 or -errno with @diag: open(2)'s, -EINVAL (no regular file), -EBADMSG (no ZIP archive,
 * or a damaged one), -ENOTSUP (encrypted, unknown method, several disks), -ENOMEM.
 */
int nsc_zip_open(const char *path, struct nsc_zip **out, struct nsc_diag *diag);
/* The same of an open file; @fd is then the archive's, also on failure. @path: for messages. */
int nsc_zip_open_fd(int fd, const char *path, struct nsc_zip **out, struct nsc_diag *diag);
void nsc_zip_close(struct nsc_zip *z);

const struct nsc_zip_layout *nsc_zip_layout(const struct nsc_zip *z);
const char *nsc_zip_path(const struct nsc_zip *z);

/* The entries, in the order of the central directory. */
uint32_t nsc_zip_count(const struct nsc_zip *z);
const struct nsc_zip_entry *nsc_zip_at(const struct nsc_zip *z, uint32_t index);
/* The entry of that name, or NULL. O(log n). */
const struct nsc_zip_entry *nsc_zip_find(const struct nsc_zip *z, const char *name);

/* Takes the next bytes of something; returns 0, or a negative errno that ends it. */
typedef int (*nsc_zip_sink)(void *context, const uint8_t *data, size_t bytes);

/**
 * nsc_zip_stream - hand an entry's unpacked bytes to @sink, piece by piece (64 KiB at most).
 * Size and CRC are checked at the end, and never more than @e->bytes are handed on.
 * Returns 0, what @sink returned, or -errno with @diag: -EBADMSG (damaged), -EIO, -ENOMEM.
 */
int nsc_zip_stream(const struct nsc_zip *z, const struct nsc_zip_entry *e, nsc_zip_sink sink,
                   void *context, struct nsc_diag *diag);

/**
 * nsc_zip_read - an entry's unpacked bytes.
 * @max: more than so many are refused.
 * @out: receives them, for free(), with a NUL behind the last.
 * Returns 0 or -errno with @diag: as nsc_zip_stream(), -EFBIG.
 */
int nsc_zip_read(const struct nsc_zip *z, const struct nsc_zip_entry *e, uint64_t max,
                 uint8_t **out, size_t *bytes, struct nsc_diag *diag);

/* @bytes of the file as they are. Returns 0, -EBADMSG (the file is shorter) or -errno, with @diag.
 */
int nsc_zip_raw(const struct nsc_zip *z, uint64_t offset, void *data, size_t bytes,
                struct nsc_diag *diag);

#endif
