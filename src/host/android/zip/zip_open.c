/* zip_open.c - see zip_reader.h: locate the parts of an archive from its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "android/zip/zip_state.h"
#include "base/span.h"

#define END_MAGIC       0x06054b50u
#define END64_MAGIC     0x06064b50u
#define LOCATOR_MAGIC   0x07064b50u
#define LOCATOR_BYTES   20u
#define END64_BYTES     56u
#define COMMENT_MAX     65535u
#define BLOCK_MAGIC     "APK Sig Block 42"
#define BLOCK_END_BYTES 24u /* size and magic */

/* Contents of the end of central directory record, 32-bit or ZIP64. */
struct ending {
    uint64_t entries_here, entries;
    uint64_t bytes, offset;
    uint32_t disk, central_disk;
};

int nsc_zip_raw(const struct nsc_zip *z, uint64_t offset, void *data, size_t bytes,
                struct nsc_diag *diag)
{
    uint8_t *to = data;

    while (bytes > 0) {
        ssize_t n = pread(z->fd, to, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return nsc_diag_set(diag, offset, errno, "cannot be read: %s", strerror(errno));
        if (n == 0)
            return nsc_diag_set(diag, offset, EBADMSG, "the file ends too early");
        to += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* Find the last end of central directory record whose comment extends to the end of the file.
 * @tail: the last @bytes of the file. Returns its offset in @tail, or SIZE_MAX. */
static size_t find_end(const uint8_t *tail, size_t bytes)
{
    for (size_t at = bytes - NSC_ZIP_END_BYTES + 1; at-- > 0;)
        if (nsc_span_get32(tail + at) == END_MAGIC &&
            at + NSC_ZIP_END_BYTES + nsc_span_get16(tail + at + 20) == bytes)
            return at;
    return SIZE_MAX;
}

static int read_end(struct nsc_zip *z, struct ending *e, struct nsc_diag *diag)
{
    struct nsc_zip_layout *l = &z->layout;
    uint64_t room = l->file_bytes;
    size_t bytes =
        room < NSC_ZIP_END_BYTES + COMMENT_MAX ? (size_t)room : NSC_ZIP_END_BYTES + COMMENT_MAX;
    uint8_t *tail;
    size_t at;
    int error;

    if (bytes < NSC_ZIP_END_BYTES)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s is no ZIP archive: too short",
                            z->path);
    tail = malloc(bytes);
    if (tail == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_zip_raw(z, l->file_bytes - bytes, tail, bytes, diag);
    at = error == 0 ? find_end(tail, bytes) : 0;
    if (error == 0 && at == SIZE_MAX)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                             "%s is no ZIP archive, or its end is missing", z->path);
    if (error == 0) {
        const uint8_t *p = tail + at;

        l->end_off = l->file_bytes - bytes + at;
        l->comment_bytes = nsc_span_get16(p + 20);
        *e = (struct ending){.disk = nsc_span_get16(p + 4),
                             .central_disk = nsc_span_get16(p + 6),
                             .entries_here = nsc_span_get16(p + 8),
                             .entries = nsc_span_get16(p + 10),
                             .bytes = nsc_span_get32(p + 12),
                             .offset = nsc_span_get32(p + 16)};
    }
    free(tail);
    return error;
}

/* Whether a number of the 32-bit record equals the ZIP64 one or is the escape value. */
static bool agrees(uint64_t small, uint64_t escape, uint64_t large)
{
    return small == escape || small == large;
}

static int read_end64(struct nsc_zip *z, struct ending *e, uint64_t at, uint64_t locator_off,
                      struct nsc_diag *diag)
{
    uint8_t p[END64_BYTES];
    struct ending large;
    int error;

    if (at > locator_off || locator_off - at < END64_BYTES)
        return nsc_diag_set(diag, locator_off, EBADMSG, "the end of ZIP64 lies outside the file");
    error = nsc_zip_raw(z, at, p, sizeof p, diag);
    if (error != 0)
        return error;
    if (nsc_span_get32(p) != END64_MAGIC)
        return nsc_diag_set(diag, at, EBADMSG, "the end of ZIP64 should be here");
    large = (struct ending){.disk = nsc_span_get32(p + 16),
                            .central_disk = nsc_span_get32(p + 20),
                            .entries_here = nsc_span_get64(p + 24),
                            .entries = nsc_span_get64(p + 32),
                            .bytes = nsc_span_get64(p + 40),
                            .offset = nsc_span_get64(p + 48)};
    if (!agrees(e->disk, UINT16_MAX, large.disk) ||
        !agrees(e->central_disk, UINT16_MAX, large.central_disk) ||
        !agrees(e->entries_here, UINT16_MAX, large.entries_here) ||
        !agrees(e->entries, UINT16_MAX, large.entries) ||
        !agrees(e->bytes, UINT32_MAX, large.bytes) || !agrees(e->offset, UINT32_MAX, large.offset))
        return nsc_diag_set(diag, at, EBADMSG, "the two ends of the archive contradict each other");
    *e = large;
    z->layout.zip64 = true;
    return 0;
}

/* Read the ZIP64 end record, if a locator precedes the end record. */
static int read_large(struct nsc_zip *z, struct ending *e, struct nsc_diag *diag)
{
    uint64_t end = z->layout.end_off;
    uint8_t p[LOCATOR_BYTES];
    int error;

    if (end < LOCATOR_BYTES)
        return 0;
    error = nsc_zip_raw(z, end - LOCATOR_BYTES, p, sizeof p, diag);
    if (error != 0 || nsc_span_get32(p) != LOCATOR_MAGIC)
        return error;
    return read_end64(z, e, nsc_span_get64(p + 8), end - LOCATOR_BYTES, diag);
}

static int check_ending(struct nsc_zip *z, const struct ending *e, struct nsc_diag *diag)
{
    struct nsc_zip_layout *l = &z->layout;

    if (e->disk != 0 || e->central_disk != 0 || e->entries_here != e->entries)
        return nsc_diag_set(diag, l->end_off, ENOTSUP,
                            "this is one part of an archive on several disks");
    if (e->offset > l->end_off || e->bytes > l->end_off - e->offset)
        return nsc_diag_set(diag, l->end_off, EBADMSG,
                            "the central directory lies outside the file");
    if (e->entries > e->bytes / NSC_ZIP_CENTRAL_BYTES || e->entries > UINT32_MAX / 2)
        return nsc_diag_set(diag, l->end_off, EBADMSG,
                            "the central directory is too small for the entries it should have");
    l->central_off = e->offset;
    l->central_bytes = e->bytes;
    z->declared = e->entries;
    return 0;
}

/* Find the APK Signing Block right before the central directory. A malformed block is ignored here:
 * signature verification checks it again. */
static int find_block(struct nsc_zip *z, struct nsc_diag *diag)
{
    struct nsc_zip_layout *l = &z->layout;
    uint8_t p[BLOCK_END_BYTES];
    uint64_t bytes;
    int error;

    l->block_off = l->central_off;
    if (l->central_off < sizeof p + 8)
        return 0;
    error = nsc_zip_raw(z, l->central_off - sizeof p, p, sizeof p, diag);
    if (error != 0 || memcmp(p + 8, BLOCK_MAGIC, 16) != 0)
        return error;
    bytes = nsc_span_get64(p);
    if (bytes < sizeof p || bytes > l->central_off - 8)
        return 0;
    error = nsc_zip_raw(z, l->central_off - bytes - 8, p, 8, diag);
    if (error == 0 && nsc_span_get64(p) == bytes)
        l->block_off = l->central_off - bytes - 8;
    return error;
}

static int read_central(struct nsc_zip *z, struct nsc_diag *diag)
{
    size_t bytes = (size_t)z->layout.central_bytes;

    z->central = malloc(bytes + 1);
    if (z->central == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return nsc_zip_raw(z, z->layout.central_off, z->central, bytes, diag);
}

static int read_all(struct nsc_zip *z, struct nsc_diag *diag)
{
    struct ending e = {0};
    struct stat st;
    int error;

    if (fstat(z->fd, &st) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot read %s: %s", z->path,
                            strerror(errno));
    if (!S_ISREG(st.st_mode))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
                            "%s is %s, not an archive", z->path,
                            S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
    z->layout.file_bytes = (uint64_t)st.st_size;
    error = read_end(z, &e, diag);
    if (error == 0)
        error = read_large(z, &e, diag);
    if (error == 0)
        error = check_ending(z, &e, diag);
    if (error == 0)
        error = find_block(z, diag);
    if (error == 0)
        error = read_central(z, diag);
    return error == 0 ? nsc_zip_list(z, diag) : error;
}

int nsc_zip_open_fd(int fd, const char *path, struct nsc_zip **out, struct nsc_diag *diag)
{
    struct nsc_zip *z = calloc(1, sizeof *z);
    int error;

    if (z == NULL) {
        close(fd);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    z->fd = fd;
    z->path = strdup(path);
    error = z->path == NULL ? nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory")
                            : read_all(z, diag);
    if (error != 0) {
        nsc_zip_close(z);
        return error;
    }
    *out = z;
    return 0;
}

int nsc_zip_open(const char *path, struct nsc_zip **out, struct nsc_diag *diag)
{
    /* O_NONBLOCK: do not wait for a writer if it is a FIFO. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot read %s: %s", path,
                            strerror(errno));
    return nsc_zip_open_fd(fd, path, out, diag);
}

void nsc_zip_close(struct nsc_zip *z)
{
    if (z == NULL)
        return;
    if (z->fd >= 0)
        close(z->fd);
    free(z->path);
    free(z->central);
    free(z->names);
    free(z->entries);
    free(z->by_name);
    free(z);
}

const struct nsc_zip_layout *nsc_zip_layout(const struct nsc_zip *z)
{
    return &z->layout;
}

const char *nsc_zip_path(const struct nsc_zip *z)
{
    return z->path;
}

int nsc_zip_fd(const struct nsc_zip *z)
{
    return z->fd;
}

uint32_t nsc_zip_count(const struct nsc_zip *z)
{
    return z->count;
}

const struct nsc_zip_entry *nsc_zip_at(const struct nsc_zip *z, uint32_t index)
{
    return &z->entries[index];
}

const struct nsc_zip_entry *nsc_zip_find(const struct nsc_zip *z, const char *name)
{
    uint32_t low = 0, high = z->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct nsc_zip_entry *e = &z->entries[z->by_name[middle]];
        int order = strcmp(e->name, name);

        if (order == 0)
            return e;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
