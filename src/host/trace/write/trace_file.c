/*
 * trace_file.c - see trace_file.h.
 *
 * The folder's path is resolved once; files are then accessed through its descriptor, so a symbolic
 * link that is planted later has no effect. No fsync: a trace truncated by a power failure has no
 * footer, and waiting for the disk would double the time of `record` (docs/adr/006).
 */
#include "trace/write/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "base/span.h"
#include "util/os/made_output.h"
#include "util/os/partial_name.h"
#include "util/path.h"
#include "util/text/escape.h"

#define ZSTD_LEVEL         1 /* level 3 saves 10 % in size and takes twice the time */
#define COPY_BYTES         ((size_t)1 << 20)
#define COMPRESS_MIN_BYTES 256 /* below it a zstd frame saves nothing */

static int open_folder(struct nsc_trace_file *sink, struct nsc_diag *diag)
{
    char *folder = nsc_path_folder(sink->path);
    int error = 0;

    if (folder == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    sink->folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (sink->folder_fd < 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot write %s: folder %s: %s",
                             sink->path, folder, strerror(errno));
    free(folder);
    return error;
}

/* Check the final path: it must be free or (overwrite) a regular file. */
static int check_target(const struct nsc_trace_file *sink, struct nsc_diag *diag)
{
    const char *what = NULL;
    int error = EEXIST;
    struct stat st;

    if (*nsc_path_base_name(sink->path) == '\0')
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EISDIR, "cannot write %s: it names a folder",
                            sink->path);
    if (fstatat(sink->folder_fd, nsc_path_base_name(sink->path), &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT)
            return 0;
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot write %s: %s", sink->path,
                            strerror(errno));
    }
    if (S_ISLNK(st.st_mode)) {
        what = "it is a symbolic link; name the file itself";
        error = ELOOP;
    } else if (S_ISDIR(st.st_mode)) {
        what = "it is a folder";
        error = EISDIR;
    } else if (!S_ISREG(st.st_mode)) {
        what = "it is not a regular file";
    } else if (!sink->overwrite) {
        what = "it exists; remove it or choose another name";
    }
    if (what == NULL)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", sink->path, what);
}

static int open_partial(struct nsc_trace_file *sink, struct nsc_diag *diag)
{
    sink->partial = nsc_partial_make(sink->path, "partial");
    if (sink->partial == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    sink->fd = openat(sink->folder_fd, nsc_path_base_name(sink->partial),
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (sink->fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot create %s: %s", sink->partial,
                            strerror(errno));
    return 0;
}

static int latch(struct nsc_trace_file *sink, int error)
{
    if (sink->error == 0)
        sink->error = error;
    return sink->error;
}

int nsc_trace_file_push(struct nsc_trace_file *sink)
{
    return latch(sink, nsc_write_behind_push(sink->spool));
}

int nsc_trace_file_flush(struct nsc_trace_file *sink)
{
    return latch(sink, nsc_write_behind_wait(sink->spool));
}

static void append(struct nsc_trace_file *sink, const void *data, size_t bytes)
{
    if (sink->error != 0)
        return;
    sink->offset += bytes;
    latch(sink, nsc_write_behind_put(sink->spool, data, bytes));
}

/* Initialize the sink without a file. Returns 0 or -ENOMEM. */
static int init(struct nsc_trace_file *sink, const char *path, bool compress)
{
    memset(sink, 0, sizeof *sink);
    sink->fd = sink->folder_fd = -1;
    sink->compress = compress;
    sink->path = strdup(path);
    return sink->path != NULL ? 0 : -ENOMEM;
}

/* Create the background writer and write the file header. Returns 0 or -ENOMEM. */
static int begin(struct nsc_trace_file *sink)
{
    uint8_t raw[NSC_FORMAT_HEADER_BYTES];
    struct nsc_file_header header = {.may_ignore = sink->compress ? NSC_FORMAT_HINT_ZSTD : 0};

    if (getrandom(header.id, sizeof header.id, GRND_NONBLOCK) < 0)
        memset(header.id, 0, sizeof header.id); /* optional: the id only distinguishes files */
    nsc_format_header_pack(raw, &header);
    sink->spool = nsc_write_behind_new(sink->fd);
    if (sink->spool == NULL)
        return -ENOMEM;
    append(sink, raw, sizeof raw);
    return 0;
}

int nsc_trace_file_create(struct nsc_trace_file *sink, const char *path, bool overwrite,
                          bool compress, struct nsc_diag *diag)
{
    int error = init(sink, path, compress);

    sink->overwrite = overwrite && nsc_made_output_replaces();
    if (error != 0)
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "out of memory");
    else if ((error = open_folder(sink, diag)) == 0 && (error = check_target(sink, diag)) == 0 &&
             (error = open_partial(sink, diag)) == 0 && (error = begin(sink)) != 0) {
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "out of memory");
        nsc_trace_file_discard(sink);
    }
    if (error != 0)
        nsc_trace_file_release(sink);
    return error;
}

int nsc_trace_file_create_fd(struct nsc_trace_file *sink, int fd, const char *name, bool compress,
                             struct nsc_diag *diag)
{
    int error = init(sink, name, compress);

    if (error == 0 && (sink->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)) < 0)
        error = -errno;
    if (error == 0)
        error = begin(sink);
    if (error != 0) {
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", name,
                     strerror(-error));
        nsc_trace_file_release(sink);
    }
    return error;
}

/* Append the bytes of @fd from the end of the file header to @end. Returns 0 or -errno. */
static int append_file(struct nsc_trace_file *sink, int fd, uint64_t end)
{
    uint8_t *part = malloc(COPY_BYTES);
    ssize_t n = 1;

    while (part != NULL && sink->error == 0 && n > 0 && sink->offset < end) {
        uint64_t left = end - sink->offset;

        n = pread(fd, part, left < COPY_BYTES ? (size_t)left : COPY_BYTES, (off_t)sink->offset);
        if (n > 0)
            append(sink, part, (size_t)n);
    }
    free(part);
    if (part == NULL)
        return -ENOMEM;
    return n > 0 ? sink->error : n < 0 ? -errno : -EIO;
}

int nsc_trace_file_branch(struct nsc_trace_file *sink, const char *path, struct nsc_diag *diag)
{
    struct nsc_trace_file shared = *sink;
    int error = nsc_trace_file_create(sink, path, true, shared.compress, diag);

    if (error == 0) {
        error = append_file(sink, shared.fd, shared.offset);
        if (error == 0) {
            shared.spool = NULL; /* its thread is the parent's */
            nsc_trace_file_release(&shared);
            return 0;
        }
        nsc_trace_file_discard(sink);
        nsc_trace_file_release(sink);
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -error, "cannot write %s: %s", path,
                     strerror(-error));
    }
    *sink = shared;
    return error;
}

/* Compress into sink->packed. Returns the compressed size, or 0 to store the block uncompressed.
 * If the disk is too slow for uncompressed blocks, compress them even without sink->compress:
 * that is better than to wait for the disk. */
static size_t pack(struct nsc_trace_file *sink, const void *data, size_t bytes)
{
    size_t n;

    if (bytes < COMPRESS_MIN_BYTES || (!sink->compress && !nsc_write_behind_behind(sink->spool)))
        return 0;
    if (sink->zstd == NULL)
        sink->zstd = ZSTD_createCCtx();
    nsc_buffer_clear(&sink->packed);
    if (sink->zstd == NULL || nsc_buffer_reserve(&sink->packed, bytes) == NULL)
        return 0;
    /* The output must be 1/16 smaller than the input, else the block is stored uncompressed. */
    n = ZSTD_compressCCtx(sink->zstd, sink->packed.data, bytes - bytes / 16, data, bytes,
                          ZSTD_LEVEL);
    return ZSTD_isError(n) ? 0 : n;
}

uint64_t nsc_trace_file_block(struct nsc_trace_file *sink, enum nsc_format_kind kind,
                              const void *data, size_t bytes)
{
    return nsc_trace_file_flagged_block(sink, kind, 0, data, bytes);
}

uint64_t nsc_trace_file_flagged_block(struct nsc_trace_file *sink, enum nsc_format_kind kind,
                                      unsigned flags, const void *data, size_t bytes)
{
    uint64_t offset = sink->offset;
    size_t packed = pack(sink, data, bytes);
    const void *stored = packed != 0 ? sink->packed.data : data;
    struct nsc_block block = {
        .kind = (uint16_t)kind,
        .flags = (uint16_t)(flags | (packed != 0 ? NSC_FORMAT_BLOCK_ZSTD : 0)),
        .stored_bytes = packed != 0 ? packed : bytes,
        .plain_bytes = bytes,
    };
    uint8_t raw[NSC_FORMAT_BLOCK_BYTES];

    if (bytes > NSC_FORMAT_PLAIN_MAX && sink->error == 0)
        sink->error = -EOVERFLOW;
    block.payload_crc = nsc_base_crc32c(0, stored, block.stored_bytes);
    nsc_block_pack(raw, &block);
    append(sink, raw, sizeof raw);
    if (block.stored_bytes > 0)
        append(sink, stored, block.stored_bytes);
    return offset;
}

void nsc_trace_file_footer(struct nsc_trace_file *sink, uint64_t directory_offset)
{
    uint8_t raw[NSC_FORMAT_FOOTER_BYTES];

    nsc_format_footer_pack(raw, directory_offset);
    append(sink, raw, sizeof raw);
}

int nsc_trace_file_publish(struct nsc_trace_file *sink, struct nsc_diag *diag)
{
    const char *from, *to = nsc_path_base_name(sink->path);
    int error;

    if (sink->partial == NULL)
        return 0;
    from = nsc_path_base_name(sink->partial);
    error = sink->keep ? 0 : check_target(sink, diag); /* with keep, the path may change */
    if (error != 0)
        return error;
    if (close(sink->fd) != 0) {
        sink->fd = -1; /* some file systems report a full disk only here */
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno,
                            "cannot write %s: %s; what was kept: %s", sink->path, strerror(errno),
                            sink->partial);
    }
    sink->fd = -1;
    if (sink->keep)
        return 0;
    if (!sink->overwrite)
        error = nsc_partial_publish(sink->folder_fd, from, sink->folder_fd, to);
    else if (renameat(sink->folder_fd, from, sink->folder_fd, to) != 0)
        error = -errno;
    if (error == 0)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot rename %s to %s: %s",
                        sink->partial, sink->path, strerror(-error));
}

void nsc_trace_file_discard(struct nsc_trace_file *sink)
{
    if (sink->partial != NULL && sink->folder_fd >= 0)
        unlinkat(sink->folder_fd, nsc_path_base_name(sink->partial), 0);
}

void nsc_trace_file_release(struct nsc_trace_file *sink)
{
    nsc_write_behind_free(sink->spool);
    if (sink->fd >= 0)
        close(sink->fd);
    if (sink->folder_fd >= 0)
        close(sink->folder_fd);
    ZSTD_freeCCtx(sink->zstd);
    nsc_buffer_free(&sink->packed);
    free(sink->partial);
    free(sink->path);
    memset(sink, 0, sizeof *sink);
    sink->fd = sink->folder_fd = -1;
}
