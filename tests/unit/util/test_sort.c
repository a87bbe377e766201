/* test_sort.c - sorting with a context, the C library's and our own. */
#include <stdint.h>

#include "tap.h"
#include "util/sort.h"

/* By the key that @context says how to scramble; three bytes an element, no power of two. */
static int compare(const void *a, const void *b, void *context)
{
    const uint8_t *x = a, *y = b, *flip = context;

    for (int i = 0; i < 3; i++)
        if (x[i] != y[i])
            return (x[i] ^ *flip) < (y[i] ^ *flip) ? -1 : 1;
    return 0;
}

static void check(size_t count, uint8_t flip)
{
    uint8_t *one = calloc(count + 1, 3), *two = calloc(count + 1, 3);
    uint32_t r = 1 + flip;
    int sorted = 1;

    for (size_t i = 0; i < 3 * count; i++) {
        r = r * 1664525 + 1013904223;
        one[i] = two[i] = (uint8_t)(r >> 29);
    }
    nsc_sort(one, count, 3, compare, &flip);
    nsc_sort_heap(two, count, 3, compare, &flip);
    for (size_t i = 1; i < count; i++)
        sorted = sorted && compare(one + 3 * (i - 1), one + 3 * i, &flip) <= 0;
    CHECK(sorted);
    CHECK(memcmp(one, two, 3 * count) == 0);
    free(one);
    free(two);
}

int main(void)
{
    uint8_t flip = 0;

    nsc_sort(NULL, 0, 3, compare, &flip);
    nsc_sort_heap(NULL, 0, 3, compare, &flip);
    for (size_t count = 0; count < 20; count++)
        check(count, 0);
    check(1000, 0);
    check(1000, 0xff);
    return t_done();
}
