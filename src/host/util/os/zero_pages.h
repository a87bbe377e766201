/*
 * zero_pages.h - large memory of zeros that is used here and there: what is not touched costs
 * nothing, which calloc() promises only while it takes memory that nobody has had before.
 */
#ifndef NSC_UTIL_OS_ZERO_PAGES_H
#define NSC_UTIL_OS_ZERO_PAGES_H

#include <stddef.h>

/* @bytes > 0 of zeros, aligned as by malloc(); NULL when there is no memory. */
void *nsc_pages_new(size_t bytes);
/* @memory: as given for as many bytes, or NULL. */
void nsc_pages_free(void *memory, size_t bytes);

#endif
