/*
 * paged_file.h - read a binary file of a folder: small pieces at any place of it, or all of it.
 *
 * Called by importers of folders. Only regular files are opened, whatever a name leads to. The file
 * may change or shrink meanwhile: then reads fail, nothing else happens.
 */
#ifndef NSC_UTIL_OS_PAGED_FILE_H
#define NSC_UTIL_OS_PAGED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

#define NSC_PAGED_FILE_MAX (64u * 1024) /* of one piece */

struct nsc_paged_file {
    int fd;
    char *path; /* for messages */
    uint64_t size;
    uint8_t *buffer;
    uint64_t at; /* place in the file of the buffer's first byte */
    size_t held;
    int error; /* a read that failed, as -errno */
};

/**
 * nsc_paged_file_open - open a file for reading.
 * @folder: a folder's path, or NULL if @name is a whole path.
 * @name: the file in it.
 * @out: receives the file; close with nsc_paged_file_close().
 * Returns 0 or -errno with @diag: open(2)'s, -EINVAL (no regular file), -ENOMEM.
 */
int nsc_paged_file_open(const char *folder, const char *name, struct nsc_paged_file **out,
                        struct nsc_diag *diag);
void nsc_paged_file_close(struct nsc_paged_file *b);

/* The @count bytes (at most NSC_PAGED_FILE_MAX) at @offset, valid until the next call; NULL if the
 * file does not reach that far or cannot be read. */
const uint8_t *nsc_paged_file_fetch(struct nsc_paged_file *b, uint64_t offset, size_t count);

static inline const uint8_t *nsc_paged_file_get(struct nsc_paged_file *b, uint64_t offset,
                                                size_t count)
{
    if (offset >= b->at && offset - b->at <= b->held && count <= b->held - (offset - b->at))
        return b->buffer + (offset - b->at);
    return nsc_paged_file_fetch(b, offset, count);
}

/**
 * nsc_paged_file_text - a whole file with a NUL behind it, for free().
 * @max: a larger file is refused.
 * Returns 0 or -errno with @diag: as nsc_paged_file_open(), -EFBIG.
 */
int nsc_paged_file_text(const char *folder, const char *name, size_t max, char **text,
                        size_t *bytes, struct nsc_diag *diag);

/**
 * nsc_paged_file_list - the names in a folder that @wanted says yes to, in the order of strcmp.
 * @max: how many at most.
 * Returns 0 or -errno with @diag: opendir(3)'s, -E2BIG, -ENOMEM. Release with
 * nsc_paged_file_free_list().
 */
int nsc_paged_file_list(const char *folder, bool (*wanted)(const char *name), size_t max,
                        char ***names, size_t *count, struct nsc_diag *diag);
void nsc_paged_file_free_list(char **names, size_t count);

#endif
