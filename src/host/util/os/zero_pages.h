/*
 * zero_pages.h - large, sparsely used memory that is initially zero.
 *
 * Pages that are never touched take no memory. calloc() does not guarantee that: it clears memory
 * that was freed before.
 */
#ifndef NSC_UTIL_OS_ZERO_PAGES_H
#define NSC_UTIL_OS_ZERO_PAGES_H

#include <stddef.h>

/* Allocate @bytes > 0 of zeros, aligned as by malloc(). Returns NULL if out of memory. */
void *nsc_pages_new(size_t bytes);
/* Free memory of nsc_pages_new(), with the same @bytes. @memory may be NULL. */
void nsc_pages_free(void *memory, size_t bytes);

#endif
