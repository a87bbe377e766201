/*
 * sort.h - sort an array with a comparison function that takes a context, on every target.
 *
 * glibc has qsort_r(), wasi-libc does not.
 */
#ifndef NSC_UTIL_SORT_H
#define NSC_UTIL_SORT_H

#include <stddef.h>

/* Returns < 0, 0 or > 0 if @a sorts before, equal to or after @b. */
typedef int (*nsc_sort_fn)(const void *a, const void *b, void *context);

/**
 * nsc_sort - sort an array in place. Not stable: @compare should define a total order.
 * @items: @count elements of @bytes each; may be NULL if @count is 0.
 */
void nsc_sort(void *items, size_t count, size_t bytes, nsc_sort_fn compare, void *context);

/* Same as nsc_sort(), by heapsort without the C library: O(n log n), does not allocate. */
void nsc_sort_heap(void *items, size_t count, size_t bytes, nsc_sort_fn compare, void *context);

#endif
