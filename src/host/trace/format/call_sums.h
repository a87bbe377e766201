/*
 * call_sums.h - encode and decode one function's row of the totals section (sums of its calls) and
 * of the durations section (histogram of their durations). Source: docs/format.md section 4.
 *
 * Used inside trace/ by the lanes, the levels of the index, the reader and verify.
 */
#ifndef NSC_TRACE_FORMAT_CALL_SUMS_H
#define NSC_TRACE_FORMAT_CALL_SUMS_H

#include "base/span.h"
#include "trace/format/duration_bucket.h"
#include "trace/format/model.h"
#include "util/buffer.h"

/**
 * nsc_sums_put - append a row to both sections.
 * @sums: the totals; its fields count_count and counts are ignored.
 * @counts: calls by bucket. Their sum must equal sums->calls, including the shortest and the
 *          longest call. Set to zero on return.
 */
void nsc_sums_put(struct nsc_buffer *totals, struct nsc_buffer *durations,
                  const struct nsc_chunk_total *sums, uint64_t counts[NSC_BUCKETS]);

/* Decode a row of totals. A decoding error is latched in @s. */
static inline void nsc_sums_get_total(struct nsc_span *s, struct nsc_chunk_total *sums)
{
    sums->function = nsc_span_leb32(s);
    sums->calls = nsc_span_leb(s);
    sums->total_ticks = nsc_span_leb(s);
    sums->self_ticks = nsc_span_leb(s);
    sums->max_ticks = nsc_span_leb(s);
}

/**
 * nsc_sums_get_durations - decode a row of the durations section.
 * @sums: must hold the function's decoded totals; receives the remaining fields.
 * @counts: receives the histogram, longest durations first.
 * Returns the number of non-empty buckets; 0 if the row is malformed.
 */
uint32_t nsc_sums_get_durations(struct nsc_span *s, struct nsc_chunk_total *sums,
                                struct nsc_duration_count counts[NSC_BUCKETS]);

#endif
