/*
 * paged_file.h - random access to a binary file in a folder: small pieces, or the whole file.
 *
 * Called by importers of folders. Opens regular files only. If a file changes or shrinks meanwhile,
 * reads fail; there are no other effects, as it is not mapped.
 */
#ifndef NSC_UTIL_OS_PAGED_FILE_H
#define NSC_UTIL_OS_PAGED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

#define NSC_PAGED_FILE_MAX (64u * 1024) /* bytes of one piece */

struct nsc_paged_file {
    int fd;
    char *path; /* for messages */
    uint64_t size;
    uint8_t *buffer;
    uint64_t at; /* file offset of the buffer's first byte */
    size_t held; /* bytes in the buffer */
    int error;   /* of a failed read, as -errno */
};

/**
 * nsc_paged_file_open - open a file for reading.
 * @folder: a folder's path, or NULL if @name is a complete path.
 * @name: the file in it.
 * @out: receives the file; close with nsc_paged_file_close().
 * Returns 0 or -errno with @diag: open(2)'s, -EINVAL (not a regular file), -ENOMEM.
 */
int nsc_paged_file_open(const char *folder, const char *name, struct nsc_paged_file **out,
                        struct nsc_diag *diag);
void nsc_paged_file_close(struct nsc_paged_file *b);

/* Read the @count bytes (at most NSC_PAGED_FILE_MAX) at @offset into the buffer. Returns them,
 * valid until the next call, or NULL if the file is shorter or cannot be read. */
const uint8_t *nsc_paged_file_fetch(struct nsc_paged_file *b, uint64_t offset, size_t count);

/* As nsc_paged_file_fetch(), but reads only if the bytes are not in the buffer. */
static inline const uint8_t *nsc_paged_file_get(struct nsc_paged_file *b, uint64_t offset,
                                                size_t count)
{
    if (offset >= b->at && offset - b->at <= b->held && count <= b->held - (offset - b->at))
        return b->buffer + (offset - b->at);
    return nsc_paged_file_fetch(b, offset, count);
}

/**
 * nsc_paged_file_text - read a whole file into memory, with a NUL appended.
 * @max: maximum size in bytes; larger files are refused.
 * @text: receives the text, for free(). @bytes: its length without the NUL.
 * Returns 0 or -errno with @diag: as nsc_paged_file_open(), -EFBIG.
 */
int nsc_paged_file_text(const char *folder, const char *name, size_t max, char **text,
                        size_t *bytes, struct nsc_diag *diag);

/**
 * nsc_paged_file_list - list the names in a folder for which @wanted returns true.
 * @max: maximum number of names.
 * @names: receives @count names in the order of strcmp(); release with nsc_paged_file_free_list().
 * Returns 0 or -errno with @diag: opendir(3)'s, -E2BIG (more than @max), -ENOMEM.
 */
int nsc_paged_file_list(const char *folder, bool (*wanted)(const char *name), size_t max,
                        char ***names, size_t *count, struct nsc_diag *diag);
void nsc_paged_file_free_list(char **names, size_t count);

#endif
