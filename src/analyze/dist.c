/*
 * dist.c - distributions of durations; see dist.h.
 *
 * Called by report.c. Must not know what the values mean.
 */
#include "analyze/dist.h"

#include <errno.h>
#include <stdlib.h>

void nsc_dist_init(struct nsc_dist *d)
{
    *d = (struct nsc_dist){.min = UINT64_MAX};
}

void nsc_dist_free(struct nsc_dist *d)
{
    free(d->values);
    for (uint32_t i = 0; d->blocks && i < NSC_DIST_BLOCKS; i++)
        free(d->blocks[i]);
    free(d->blocks);
    nsc_dist_init(d);
}

static int count_in_block(struct nsc_dist *d, uint64_t value)
{
    uint32_t block = nsc_dist_block(value);

    if (!d->blocks[block]) {
        d->blocks[block] = calloc(NSC_DIST_BLOCK_SIZE, sizeof(uint64_t));
        if (!d->blocks[block])
            return -ENOMEM;
    }
    d->blocks[block][nsc_dist_bucket(value, block)]++;
    return 0;
}

/* Leave the exact phase: all values kept so far go into buckets. */
static int change_to_blocks(struct nsc_dist *d)
{
    int error = 0;

    d->blocks = calloc(NSC_DIST_BLOCKS, sizeof(*d->blocks));
    if (!d->blocks)
        return -ENOMEM;
    for (uint64_t i = 0; i < d->count && error == 0; i++)
        error = count_in_block(d, d->values[i]);
    free(d->values);
    d->values = NULL;
    return error;
}

static int keep_value(struct nsc_dist *d, uint64_t value)
{
    if (d->count == d->values_max) {
        uint32_t max = d->values_max > 0 ? d->values_max * 4 : 4;
        uint64_t *values = reallocarray(d->values, max, sizeof(*values));

        if (!values)
            return -ENOMEM;
        d->values = values;
        d->values_max = max;
    }
    d->values[d->count] = value;
    return 0;
}

int nsc_dist_add_slow(struct nsc_dist *d, uint64_t value)
{
    int error = 0;

    if (!d->blocks && d->count < NSC_DIST_EXACT) {
        error = keep_value(d, value);
    } else {
        if (!d->blocks)
            error = change_to_blocks(d);
        if (error == 0)
            error = count_in_block(d, value);
    }
    if (error)
        return error;
    d->count++;
    d->min = value < d->min ? value : d->min;
    d->max = value > d->max ? value : d->max;
    return 0;
}

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The middle of a bucket, rounded down; the value itself while buckets are one wide. */
static uint64_t bucket_middle(uint32_t block, uint32_t bucket)
{
    uint32_t shift = block > 0 ? block - 1 : 0;
    uint64_t low = block > 0 ? (uint64_t)(NSC_DIST_BLOCK_SIZE + bucket) << shift : bucket;

    return low + ((1ull << shift) - 1) / 2;
}

/* How many values lie at or below the quantile: ceil(count * percent / 100), at least 1. */
static uint64_t rank_of(uint64_t count, unsigned percent)
{
    uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;

    return rank > 0 ? rank : 1;
}

uint64_t nsc_dist_quantile(struct nsc_dist *d, unsigned percent)
{
    uint64_t rank = rank_of(d->count, percent), seen = 0;

    if (d->count == 0)
        return 0;
    if (!d->blocks) {
        qsort(d->values, d->count, sizeof(*d->values), compare_values);
        return d->values[rank - 1];
    }
    for (uint32_t block = 0; block < NSC_DIST_BLOCKS; block++) {
        if (!d->blocks[block])
            continue;
        for (uint32_t bucket = 0; bucket < NSC_DIST_BLOCK_SIZE; bucket++) {
            seen += d->blocks[block][bucket];
            if (seen >= rank) {
                uint64_t middle = bucket_middle(block, bucket);

                return middle < d->min ? d->min : middle > d->max ? d->max : middle;
            }
        }
    }
    return d->max;
}
