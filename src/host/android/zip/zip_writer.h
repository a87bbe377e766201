/*
 * zip_writer.h - write a ZIP archive as Android wants it, from the first byte to the last.
 *
 * Called by android/apk/apk_build.c. The same entries give the same bytes. Stored entries are
 * aligned by an extra field: to 16 KiB if they are shared libraries, which are then mapped from
 * where they lie, else to four bytes. The file appears under its name when it is whole. Errors are
 * latched: the last call tells the first of them. Memory: the central directory, and one entry that
 * is deflated.
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
 * @path: where it will appear, or "-" for standard output.
 * @out: receives the writer; end it with nsc_zip_writer_publish() or nsc_zip_writer_abandon().
 * Returns 0 or -errno with @diag: as nsc_atomic_file_create().
 */
int nsc_zip_writer_create(const char *path, struct nsc_zip_writer **out, struct nsc_diag *diag);

/* Hand all that is written from now on to @sink, too, in order; NULL: to nobody. */
void nsc_zip_writer_watch(struct nsc_zip_writer *w, nsc_zip_sink sink, void *context);

/**
 * nsc_zip_writer_copy - an entry of another archive, its packed bytes as they are.
 * Name, method, times, CRC, attributes and extra fields are kept; padding and fields of ZIP64 are
 * made anew, and what stood in a data descriptor goes into the header.
 * Returns 0 or -errno with @diag: as nsc_zip_raw(), and what writing gives.
 */
int nsc_zip_writer_copy(struct nsc_zip_writer *w, const struct nsc_zip *z,
                        const struct nsc_zip_entry *e, struct nsc_diag *diag);

/**
 * nsc_zip_writer_add - a new entry, with the time that all new entries have.
 * @name: relative, with slashes; UTF-8.
 * @method: deflated falls back to stored where that is no larger.
 * Returns 0 or -errno with @diag: -EINVAL (no such name), -ENOMEM, and what writing gives.
 */
int nsc_zip_writer_add(struct nsc_zip_writer *w, const char *name, enum nsc_zip_method method,
                       const void *data, size_t bytes, struct nsc_diag *diag);

/* The comment of the archive, at most 65,535 bytes. Android's verifier of signatures wants none
 * that holds the end of an archive, and nobody needs one: only what was there is kept. */
int nsc_zip_writer_comment(struct nsc_zip_writer *w, const void *data, size_t bytes,
                           struct nsc_diag *diag);

/* Bytes as they are, between entries and central directory. */
int nsc_zip_writer_raw(struct nsc_zip_writer *w, const void *data, size_t bytes,
                       struct nsc_diag *diag);
/* Bytes written so far. */
uint64_t nsc_zip_writer_at(const struct nsc_zip_writer *w);
uint64_t nsc_zip_writer_entries(const struct nsc_zip_writer *w);

/**
 * nsc_zip_writer_tail - what is to follow the entries.
 * @central_off: where the central directory will begin.
 * @central: receives it.
 * @end: receives what comes behind it.
 * Returns 0 or -errno with @diag: -EEXIST (a name comes twice), -ENOMEM.
 */
int nsc_zip_writer_tail(struct nsc_zip_writer *w, uint64_t central_off, struct nsc_buffer *central,
                        struct nsc_buffer *end, struct nsc_diag *diag);
/* Whether an archive whose central directory begins at @central_off needs ZIP64. */
bool nsc_zip_writer_is_large(const struct nsc_zip_writer *w, uint64_t central_off);

/* All is written, tail included: move the file to its name, and @beside (or NULL), which is
 * released, to its own; both or neither. Frees @w in any case. Returns 0 or -errno with @diag. */
int nsc_zip_writer_publish(struct nsc_zip_writer *w, struct nsc_atomic_file *beside,
                           struct nsc_diag *diag);
/* Remove the file, free @w (may be NULL). */
void nsc_zip_writer_abandon(struct nsc_zip_writer *w);

#endif
