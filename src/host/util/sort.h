/*
 * sort.h - sort with a context, on every target.
 *
 * Called by whatever sorts by more than the elements themselves. glibc's qsort_r does it, but
 * wasi-libc has none.
 */
#ifndef NSC_UTIL_SORT_H
#define NSC_UTIL_SORT_H

#include <stddef.h>

/* Less than, equal to or greater than 0, as @a comes before, with or behind @b. */
typedef int (*nsc_sort_fn)(const void *a, const void *b, void *context);

/**
 * nsc_sort - sort an array in place. Equal elements come in any order: make the order total.
 * @items: @count elements of @bytes each; may be NULL if there are none.
 */
void nsc_sort(void *items, size_t count, size_t bytes, nsc_sort_fn compare, void *context);

/* The same without help of the C library: O(n log n), no memory. */
void nsc_sort_heap(void *items, size_t count, size_t bytes, nsc_sort_fn compare, void *context);

#endif
