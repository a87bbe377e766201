/*
 * duration_bucket.h - log-linear histogram buckets of durations: eight for each power of two.
 *
 * Used by trace/ for the histograms of chunk heads and index levels, by analyze/ to read them.
 * The middle of a bucket is within 1/16 of every duration in it. Each duration below 16 ticks has
 * its own bucket. Source: docs/format.md section 4.
 */
#ifndef NSC_TRACE_FORMAT_DURATION_BUCKET_H
#define NSC_TRACE_FORMAT_DURATION_BUCKET_H

#include <stdint.h>

#define NSC_BUCKETS 496u /* covers all 64-bit durations */

/* The bucket of a duration. */
static inline uint32_t nsc_bucket_of(uint64_t ticks)
{
    uint32_t shift = ((uint32_t)__builtin_clzll(ticks | 8) ^ 63u) - 3; /* one bsr */

    return shift * 8 + (uint32_t)(ticks >> shift);
}

/* The lowest duration of a bucket, and the number of distinct durations in it. */
static inline uint64_t nsc_bucket_low(uint32_t bucket)
{
    return bucket < 16 ? bucket : (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

static inline uint64_t nsc_bucket_width(uint32_t bucket)
{
    return bucket < 16 ? 1 : (uint64_t)1 << (bucket / 8 - 1);
}

/* The middle of a bucket's range, rounded down. */
static inline uint64_t nsc_bucket_middle(uint32_t bucket)
{
    return nsc_bucket_low(bucket) + (nsc_bucket_width(bucket) - 1) / 2;
}

#endif
