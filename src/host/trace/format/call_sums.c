/* call_sums.c - see call_sums.h. */
#include "trace/format/call_sums.h"

/* A run of fewer empty buckets shares a number with the next count; a longer one has its own. */
#define GAP_MAX 3u

static void put_totals(struct nsc_buffer *b, const struct nsc_chunk_total *sums)
{
    uint8_t *at = nsc_buffer_reserve(b, 5 * NSC_LEB_MAX);

    if (at == NULL)
        return;
    at = nsc_leb_put(at, sums->function);
    at = nsc_leb_put(at, sums->calls);
    at = nsc_leb_put(at, sums->total_ticks);
    at = nsc_leb_put(at, sums->self_ticks);
    at = nsc_leb_put(at, sums->max_ticks);
    b->used = (size_t)(at - b->data);
}

void nsc_sums_put(struct nsc_buffer *totals, struct nsc_buffer *durations,
                  const struct nsc_chunk_total *sums, uint64_t counts[NSC_BUCKETS])
{
    uint32_t high = nsc_bucket_of(sums->max_ticks), low = nsc_bucket_of(sums->min_ticks);
    uint32_t gap = 0;
    uint8_t *at = nsc_buffer_reserve(durations, 2 * NSC_LEB_MAX * (size_t)(high - low + 2));

    put_totals(totals, sums);
    counts[high]--;
    if (sums->calls > 1)
        counts[low]--;
    if (at == NULL) {
        memset(counts + low, 0, (high - low + 1) * sizeof *counts);
        return;
    }
    at = nsc_leb_put(at, sums->unwinds);
    if (sums->calls > 1)
        at = nsc_leb_put(at, sums->max_ticks - sums->min_ticks);
    for (uint32_t bucket = high + 1; bucket-- > low; gap++) {
        if (counts[bucket] == 0)
            continue;
        at = nsc_leb_put(at, (counts[bucket] - 1) << 2 | (gap < GAP_MAX ? gap : GAP_MAX));
        if (gap >= GAP_MAX)
            at = nsc_leb_put(at, gap - GAP_MAX);
        counts[bucket] = 0;
        gap = UINT32_MAX; /* the next bucket is 0 away */
    }
    durations->used = (size_t)(at - durations->data);
}

uint32_t nsc_sums_get_durations(struct nsc_span *s, struct nsc_chunk_total *sums,
                                struct nsc_duration_count counts[NSC_BUCKETS])
{
    uint32_t bucket = nsc_bucket_of(sums->max_ticks), low, used = 1;
    uint64_t range = 0;

    sums->unwinds = nsc_span_leb(s);
    if (sums->calls > 1)
        range = nsc_span_leb(s);
    if (s->bad || sums->calls == 0 || sums->unwinds > sums->calls || range > sums->max_ticks)
        return 0;
    sums->min_ticks = sums->max_ticks - range;
    low = nsc_bucket_of(sums->min_ticks);
    counts[0] = (struct nsc_duration_count){1, bucket};
    for (uint64_t left = sums->calls > 2 ? sums->calls - 2 : 0, calls; left > 0; left -= calls) {
        uint64_t v = nsc_span_leb(s), gap = v & GAP_MAX;
        bool first = left == sums->calls - 2;

        if (gap == GAP_MAX)
            gap = nsc_span_leb_max(s, NSC_BUCKETS) + GAP_MAX;
        gap += first ? 0 : 1;
        calls = (v >> 2) + 1;
        if (s->bad || calls > left || gap > bucket - low)
            return 0;
        bucket -= (uint32_t)gap;
        if (gap == 0)
            counts[0].calls += calls;
        else
            counts[used++] = (struct nsc_duration_count){calls, bucket};
    }
    if (sums->calls > 1 && bucket == low)
        counts[used - 1].calls++;
    else if (sums->calls > 1)
        counts[used++] = (struct nsc_duration_count){1, low};
    return used;
}
