/*
 * duration_dist.c - distributions of durations; see duration_dist.h.
 *
 * Used by report.c. Must not depend on what the values mean.
 */
#include "analyze/functions/duration_dist.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/format/duration_bucket.h"

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

static int count_in_block(struct nsc_dist *d, uint64_t value, uint64_t count)
{
    uint32_t block = nsc_dist_block(value);

    if (!d->blocks[block]) {
        d->blocks[block] = calloc(NSC_DIST_BLOCK_SIZE, sizeof(uint64_t));
        if (!d->blocks[block])
            return -ENOMEM;
    }
    d->blocks[block][nsc_dist_bucket(value, block)] += count;
    return 0;
}

/* Switch to buckets: all values stored so far are counted in buckets. */
static int change_to_blocks(struct nsc_dist *d)
{
    int error = 0;

    d->blocks = calloc(NSC_DIST_BLOCKS, sizeof(*d->blocks));
    if (!d->blocks)
        return -ENOMEM;
    for (uint64_t i = 0; i < d->count && error == 0; i++)
        error = count_in_block(d, d->values[i], 1);
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
            error = count_in_block(d, value, 1);
    }
    if (error)
        return error;
    d->count++;
    d->min = value < d->min ? value : d->min;
    d->max = value > d->max ? value : d->max;
    return 0;
}

int nsc_dist_add_bucket(struct nsc_dist *d, uint32_t bucket, uint64_t count)
{
    uint64_t value = nsc_bucket_middle(bucket), min = d->min, max = d->max;
    int error = 0;

    d->coarse |= count > 0 && nsc_bucket_width(bucket) > 1;
    if (!d->blocks && count <= NSC_DIST_EXACT && d->count + count <= NSC_DIST_EXACT) {
        for (uint64_t i = 0; i < count && error == 0; i++)
            error = nsc_dist_add_slow(d, value);
        d->min = min;
        d->max = max;
        return error;
    }
    if (!d->blocks)
        error = change_to_blocks(d);
    if (error == 0)
        error = count_in_block(d, value, count);
    if (error == 0)
        d->count += count;
    return error;
}

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The middle of a bucket, rounded down; the exact value if the bucket has width 1. */
static uint64_t bucket_middle(uint32_t block, uint32_t bucket)
{
    uint32_t shift = block > 0 ? block - 1 : 0;
    uint64_t low = block > 0 ? (uint64_t)(NSC_DIST_BLOCK_SIZE + bucket) << shift : bucket;

    return low + ((1ull << shift) - 1) / 2;
}

/* Number of values at or below the quantile: ceil(count * percent / 100), at least 1. */
static uint64_t rank_of(uint64_t count, unsigned percent)
{
    uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;

    return rank > 0 ? rank : 1;
}

static uint64_t clamp(const struct nsc_dist *d, uint64_t value)
{
    return value < d->min ? d->min : value > d->max ? d->max : value;
}

uint64_t nsc_dist_quantile(struct nsc_dist *d, unsigned percent)
{
    uint64_t rank = rank_of(d->count, percent), seen = 0;

    if (d->count == 0)
        return 0;
    if (!d->blocks) {
        qsort(d->values, d->count, sizeof(*d->values), compare_values);
        return clamp(d, d->values[rank - 1]);
    }
    for (uint32_t block = 0; block < NSC_DIST_BLOCKS; block++) {
        if (!d->blocks[block])
            continue;
        for (uint32_t bucket = 0; bucket < NSC_DIST_BLOCK_SIZE; bucket++) {
            seen += d->blocks[block][bucket];
            if (seen >= rank) {
                uint64_t middle = bucket_middle(block, bucket);

                if (d->coarse)
                    middle = nsc_bucket_middle(nsc_bucket_of(middle));
                return clamp(d, middle);
            }
        }
    }
    return d->max;
}

/* ---- Bars ------------------------------------------------------------------------------------ */

#define BAR_BITS 2u /* number of bits after the leading one that select the bar */

/* The number of a value's bar. */
static uint32_t bar_of(uint64_t value)
{
    uint32_t exponent = 63u - (uint32_t)__builtin_clzll(value | 1);

    if (exponent <= BAR_BITS)
        return (uint32_t)value;
    return ((exponent - BAR_BITS) << BAR_BITS) + (uint32_t)(value >> (exponent - BAR_BITS));
}

/* The smallest value of a bar; 0 (wrapped) for the bar after the last one. */
static uint64_t bar_from(uint32_t bar)
{
    uint32_t block = bar >> BAR_BITS;

    if (block <= 1)
        return bar;
    return (uint64_t)((bar & ((1u << BAR_BITS) - 1)) | 1u << BAR_BITS) << (block - 1);
}

struct bars {
    nsc_dist_fn tell;
    void *context;
    uint32_t bar; /* the bar that `count` belongs to */
    uint64_t count;
};

static void tell_bar(struct bars *b)
{
    if (b->count > 0)
        b->tell(b->context, bar_from(b->bar), bar_from(b->bar + 1) - 1, b->count);
    b->count = 0;
}

static void add_to_bar(struct bars *b, uint64_t value, uint64_t count)
{
    uint32_t bar = bar_of(value);

    if (count == 0)
        return;
    if (bar != b->bar)
        tell_bar(b);
    b->bar = bar;
    b->count += count;
}

void nsc_dist_each_bar(struct nsc_dist *d, nsc_dist_fn tell, void *context)
{
    struct bars b = {.tell = tell, .context = context};

    if (!d->blocks && d->count > 0)
        qsort(d->values, d->count, sizeof(*d->values), compare_values);
    for (uint64_t i = 0; !d->blocks && i < d->count; i++)
        add_to_bar(&b, d->values[i], 1);
    for (uint32_t i = 0; d->blocks && i < NSC_DIST_BLOCKS * NSC_DIST_BLOCK_SIZE; i++) {
        uint32_t block = i / NSC_DIST_BLOCK_SIZE, bucket = i % NSC_DIST_BLOCK_SIZE;

        if (d->blocks[block])
            add_to_bar(&b, bucket_middle(block, bucket), d->blocks[block][bucket]);
    }
    tell_bar(&b);
}
