/*
 * duration_dist.h - a distribution of durations: exact while small, then a log-linear histogram.
 *
 * Used by report.c for every call. The first NSC_DIST_EXACT values are stored as they are, so that
 * quantiles of rarely called functions are exact. After that, values are counted in buckets of
 * width 2^(e-5) for values in [2^e, 2^(e+1)). A quantile is the middle of its bucket, and so within
 * 1/64 of the true value (below 64 it is exact). min and max are always exact.
 *
 * Memory: at most NSC_DIST_EXACT * 8 bytes before the switch to buckets, NSC_DIST_BLOCKS * 264
 * bytes (15.5 KiB) after it. A block of buckets is allocated when a value first falls into it;
 * typically there are fewer than ten.
 */
#ifndef NSC_ANALYZE_FUNCTIONS_DURATION_DIST_H
#define NSC_ANALYZE_FUNCTIONS_DURATION_DIST_H

#include <stdbool.h>
#include <stdint.h>

#define NSC_DIST_EXACT      256u
#define NSC_DIST_BLOCK_BITS 5u
#define NSC_DIST_BLOCK_SIZE (1u << NSC_DIST_BLOCK_BITS)
#define NSC_DIST_BLOCKS     60u

struct nsc_dist {
    uint64_t count;
    uint64_t min, max; /* without values: UINT64_MAX, 0 */
    uint64_t *values;  /* while exact: room for values_max */
    uint64_t **blocks; /* later: NSC_DIST_BLOCKS pointers, each NULL or NSC_DIST_BLOCK_SIZE
                        * counts */
    uint32_t values_max;
    bool coarse; /* for some values only their bucket (duration_bucket.h) was known */
};

void nsc_dist_init(struct nsc_dist *d);
void nsc_dist_free(struct nsc_dist *d);

/* Slow path of nsc_dist_add(): exact values, the switch to buckets, new blocks. Returns 0 or
 * -ENOMEM. */
int nsc_dist_add_slow(struct nsc_dist *d, uint64_t value);

/* The block of a value; nsc_dist_bucket() is its bucket within the block. */
static inline uint32_t nsc_dist_block(uint64_t value)
{
    uint32_t exponent = 63u - (uint32_t)__builtin_clzll(value | 1);

    return exponent < NSC_DIST_BLOCK_BITS ? 0 : exponent - NSC_DIST_BLOCK_BITS + 1;
}

static inline uint32_t nsc_dist_bucket(uint64_t value, uint32_t block)
{
    return (uint32_t)(value >> (block > 0 ? block - 1 : 0)) & (NSC_DIST_BLOCK_SIZE - 1);
}

/* Add a value; about 3 ns if the block is in the cache. Returns 0 or -ENOMEM. */
static inline int nsc_dist_add(struct nsc_dist *d, uint64_t value)
{
    uint32_t block = nsc_dist_block(value);

    if (!d->blocks || !d->blocks[block])
        return nsc_dist_add_slow(d, value);
    d->blocks[block][nsc_dist_bucket(value, block)]++;
    d->count++;
    d->min = value < d->min ? value : d->min;
    d->max = value > d->max ? value : d->max;
    return 0;
}

/**
 * nsc_dist_add_bucket - add @count values of which only the bucket (trace/format/duration_bucket.h)
 * is known. They must not include the minimum or the maximum: add these before. Afterwards
 * quantiles are within 1/16. Returns 0 or -ENOMEM.
 */
int nsc_dist_add_bucket(struct nsc_dist *d, uint32_t bucket, uint64_t count);

/**
 * nsc_dist_quantile - return the smallest value such that @percent of all values are not above it.
 * @percent: 1..100.
 * Returns it within 1/64 (1/16 if the distribution is coarse), clamped to [min, max]; 0 if there
 * are no values. Sorts the exact values in place.
 */
uint64_t nsc_dist_quantile(struct nsc_dist *d, unsigned percent);

/* @count values lie in [@from, @to]. */
typedef void (*nsc_dist_fn)(void *context, uint64_t from, uint64_t to, uint64_t count);

/**
 * nsc_dist_each_bar - report the distribution as histogram bars: four per power of two, one per
 * value below 8. Bars without values are omitted.
 * @tell, @context: called for each bar, in ascending order. Sorts the exact values in place.
 */
void nsc_dist_each_bar(struct nsc_dist *d, nsc_dist_fn tell, void *context);

/* Whether quantiles are exact. */
static inline bool nsc_dist_is_exact(const struct nsc_dist *d)
{
    return !d->blocks && !d->coarse;
}

#endif
