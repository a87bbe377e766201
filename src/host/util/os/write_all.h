/*
 * write_all.h - all of some bytes into a file.
 *
 * Called by whatever writes with a descriptor of its own.
 */
#ifndef NSC_UTIL_OS_WRITE_ALL_H
#define NSC_UTIL_OS_WRITE_ALL_H

#include <stddef.h>

/* Write all @bytes of @data, whatever interrupts it. Returns 0 or -errno; some may be written then.
 */
int nsc_write_all(int fd, const void *data, size_t bytes);

#endif
