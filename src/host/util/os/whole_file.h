/* whole_file.h - files that are read or written whole. */
#ifndef NSC_UTIL_OS_WHOLE_FILE_H
#define NSC_UTIL_OS_WHOLE_FILE_H

#include "util/buffer.h"
#include "util/diag.h"

/**
 * nsc_whole_file_read - everything that is in a file.
 * @path: a file, pipe or the like; "-" is standard input.
 * @max: more bytes are refused.
 * @out: empty; receives the bytes, also those before a failure.
 * Returns 0 or -errno with @diag, which names the file: open(2)'s, read(2)'s, -EFBIG, -ENOMEM.
 */
int nsc_whole_file_read(const char *path, size_t max, struct nsc_buffer *out,
                        struct nsc_diag *diag);

/* The same of a file that is open and stays so; @path: for messages. */
int nsc_whole_file_read_open(int fd, const char *path, size_t max, struct nsc_buffer *out,
                             struct nsc_diag *diag);

/* Write a file, which appears when it is whole; "-" is standard output. Returns 0 or -errno with
 * @diag. */
int nsc_whole_file_write(const char *path, const struct nsc_buffer *content, struct nsc_diag *diag);

#endif
