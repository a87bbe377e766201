/*
 * zip_writer.h - write a ZIP archive for Android, sequentially.
 *
 * Called by android/apk/apk_build.c. The output is deterministic. Stored entries are aligned by an
 * extra field: shared libraries to 16 KiB, so that they can be mapped in place, others to four
 * bytes. The file appears under its name when it is complete. Errors are latched: the last call
 * returns the first error. Memory: the central directory, and one entry that is deflated.
 */
#ifndef NSC_ANDROID_ZIP_ZIP_WRITER_H
#define NSC_ANDROID_ZIP_ZIP_WRITER_H

#include "android/zip/zip_reader.h"
#include "util/buffer.h"
#include "util/os/atomic_file.h"

#define NSC_ZIP_ALIGN         4u
#define NSC_ZIP_ALIGN_LIBRARY 16384u

struct nsc_zip_writer;

/**
 * nsc_zip_writer_create - begin an archive.
 * @path: final path, or "-" for standard output.
 * @out: receives the writer; end it with nsc_zip_writer_publish() or nsc_zip_writer_abandon().
 * Returns 0 or -errno with @diag: as nsc_atomic_file_create().
 */
int nsc_zip_writer_create(const char *path, struct nsc_zip_writer **out, struct nsc_diag *diag);

/* Also pass all bytes written from now on to @sink, in order; NULL: stop. */
void nsc_zip_writer_watch(struct nsc_zip_writer *w, nsc_zip_sink sink, void *context);

/**
 * nsc_zip_writer_copy - copy an entry of another archive without repacking its data.
 * Keeps name, method, times, CRC, attributes and extra fields. Replaces padding and ZIP64 fields;
 * moves the values of a data descriptor to the header.
 * Returns 0 or -errno with @diag: as nsc_zip_raw(), or a write error.
 */
int nsc_zip_writer_copy(struct nsc_zip_writer *w, const struct nsc_zip *z,
                        const struct nsc_zip_entry *e, struct nsc_diag *diag);

/**
 * nsc_zip_writer_add - add a new entry, with a fixed time.
 * @name: relative, with slashes; UTF-8.
 * @method: deflated falls back to stored if that is not larger.
 * Returns 0 or -errno with @diag: -EINVAL (invalid name), -ENOMEM, or a write error.
 */
int nsc_zip_writer_add(struct nsc_zip_writer *w, const char *name, enum nsc_zip_method method,
                       const void *data, size_t bytes, struct nsc_diag *diag);

/* Set the comment of the archive, at most 65,535 bytes. Use it only to keep an existing comment:
 * Android's signature verifier rejects a comment that contains an end of central directory. */
int nsc_zip_writer_comment(struct nsc_zip_writer *w, const void *data, size_t bytes,
                           struct nsc_diag *diag);

/* Write raw bytes between entries and central directory. */
int nsc_zip_writer_raw(struct nsc_zip_writer *w, const void *data, size_t bytes,
                       struct nsc_diag *diag);
/* Bytes written so far. */
uint64_t nsc_zip_writer_at(const struct nsc_zip_writer *w);
uint64_t nsc_zip_writer_entries(const struct nsc_zip_writer *w);

/**
 * nsc_zip_writer_tail - build the central directory and the end records.
 * @central_off: offset at which the central directory will be written.
 * @central: receives the central directory.
 * @end: receives the records after it.
 * Returns 0 or -errno with @diag: -EEXIST (duplicate name), -ENOMEM.
 */
int nsc_zip_writer_tail(struct nsc_zip_writer *w, uint64_t central_off, struct nsc_buffer *central,
                        struct nsc_buffer *end, struct nsc_diag *diag);
/* Whether an archive whose central directory begins at @central_off needs ZIP64. */
bool nsc_zip_writer_is_large(const struct nsc_zip_writer *w, uint64_t central_off);

/* After everything has been written, including the tail: publish the file and @beside (or NULL)
 * under their final names; both or neither. Releases @beside. Frees @w in any case. Returns 0 or
 * -errno with @diag. */
int nsc_zip_writer_publish(struct nsc_zip_writer *w, struct nsc_atomic_file *beside,
                           struct nsc_diag *diag);
/* Remove the file, free @w (may be NULL). */
void nsc_zip_writer_abandon(struct nsc_zip_writer *w);

#endif
