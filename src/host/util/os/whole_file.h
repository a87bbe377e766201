/* whole_file.h - read or write a whole file at once. */
#ifndef NSC_UTIL_OS_WHOLE_FILE_H
#define NSC_UTIL_OS_WHOLE_FILE_H

#include "util/buffer.h"
#include "util/diag.h"

/**
 * nsc_whole_file_read - read a whole file.
 * @path: a file, pipe or the like; "-" is standard input.
 * @max: maximum size in bytes; larger inputs are refused.
 * @out: must be empty; receives the bytes, including those read before a failure.
 * Returns 0 or -errno with @diag, which names the file: open(2)'s, read(2)'s, -EFBIG, -ENOMEM.
 */
int nsc_whole_file_read(const char *path, size_t max, struct nsc_buffer *out,
                        struct nsc_diag *diag);

/* As nsc_whole_file_read(), from an open descriptor, which stays open. @path is for messages. */
int nsc_whole_file_read_open(int fd, const char *path, size_t max, struct nsc_buffer *out,
                             struct nsc_diag *diag);

/* Write a file, which appears under its name only when it is complete; "-" is standard output.
 * Returns 0 or -errno with @diag. */
int nsc_whole_file_write(const char *path, const struct nsc_buffer *content, struct nsc_diag *diag);

#endif
