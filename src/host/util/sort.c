/* sort.c - see sort.h. nsc_sort_heap() must not allocate. */
#include "util/sort.h"

#include <stdint.h>
#include <stdlib.h>

static void swap(uint8_t *a, uint8_t *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        uint8_t other = a[i];

        a[i] = b[i];
        b[i] = other;
    }
}

/* Sift the element at index @at down in a max-heap of @count elements. */
static void sift_down(uint8_t *items, size_t at, size_t count, size_t bytes, nsc_sort_fn compare,
                      void *context)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count &&
            compare(items + child * bytes, items + (child + 1) * bytes, context) < 0)
            child++;
        if (compare(items + at * bytes, items + child * bytes, context) >= 0)
            return;
        swap(items + at * bytes, items + child * bytes, bytes);
    }
}

void nsc_sort_heap(void *items, size_t count, size_t bytes, nsc_sort_fn compare, void *context)
{
    uint8_t *at = items;

    for (size_t i = count / 2; i-- > 0;)
        sift_down(at, i, count, bytes, compare, context);
    for (size_t left = count; left > 1; left--) {
        swap(at, at + (left - 1) * bytes, bytes);
        sift_down(at, 0, left - 1, bytes, compare, context);
    }
}

void nsc_sort(void *items, size_t count, size_t bytes, nsc_sort_fn compare, void *context)
{
    if (count < 2)
        return;
#ifdef __wasi__
    nsc_sort_heap(items, count, bytes, compare, context);
#else
    qsort_r(items, count, bytes, compare, context);
#endif
}
