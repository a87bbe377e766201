/*
 * call_sums.h - what the calls of a function add up to, with a histogram of their durations: how a
 * row of the totals and durations sections is coded, both ways. docs/format.md section 4.
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
 * @sums: its own counts do not matter.
 * @counts: calls by bucket; they must come to sums->calls, the shortest and the longest call among
 *          them. All of them are zero afterwards.
 */
void nsc_sums_put(struct nsc_buffer *totals, struct nsc_buffer *durations,
                  const struct nsc_chunk_total *sums, uint64_t counts[NSC_BUCKETS]);

/* Read a row of totals. Errors are in @s. */
static inline void nsc_sums_get_total(struct nsc_span *s, struct nsc_chunk_total *sums)
{
    sums->function = nsc_span_leb32(s);
    sums->calls = nsc_span_leb(s);
    sums->total_ticks = nsc_span_leb(s);
    sums->self_ticks = nsc_span_leb(s);
    sums->max_ticks = nsc_span_leb(s);
}

/**
 * nsc_sums_get_durations - read the other half of a row.
 * @sums: has its totals; receives the rest.
 * @counts: receives the histogram, longest first.
 * Returns how many buckets have calls; 0 if the row is malformed.
 */
uint32_t nsc_sums_get_durations(struct nsc_span *s, struct nsc_chunk_total *sums,
                                struct nsc_duration_count counts[NSC_BUCKETS]);

#endif
