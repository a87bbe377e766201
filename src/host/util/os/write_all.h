/*
 * write_all.h - write(2) that continues after partial writes and signals.
 */
#ifndef NSC_UTIL_OS_WRITE_ALL_H
#define NSC_UTIL_OS_WRITE_ALL_H

#include <stddef.h>

/* Write all @bytes of @data to @fd. Returns 0, or -errno; after an error, some bytes may have been
 * written. */
int nsc_write_all(int fd, const void *data, size_t bytes);

#endif
