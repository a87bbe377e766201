/* test_search.c - the first element for which a condition is false. */
#include <stdint.h>

#include "tap.h"
#include "util/search.h"

static void check(const uint64_t *keys, uint32_t count, uint64_t key)
{
    uint32_t lower = 0, upper = 0;

    while (lower < count && keys[lower] < key)
        lower++;
    while (upper < count && keys[upper] <= key)
        upper++;
    CHECK_U64(NSC_PARTITION_POINT(i, count, keys[i] < key), lower);
    CHECK_U64(NSC_PARTITION_POINT(i, count, keys[i] <= key), upper);
}

int main(void)
{
    static const uint64_t keys[] = {2, 2, 3, 5, 5, 5, 8};

    for (uint32_t count = 0; count <= sizeof keys / sizeof keys[0]; count++)
        for (uint64_t key = 0; key < 10; key++)
            check(keys, count, key);
    CHECK_U64(NSC_PARTITION_POINT(i, UINT64_MAX, i < UINT64_MAX - 1), UINT64_MAX - 1);
    return t_done();
}
