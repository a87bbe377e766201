/*
 * lane_totals.c - totals of each function in the open chunk of a lane: number of ended calls, their
 * times, and the histogram of their durations. Filled by the fast path (lane.h), encoded when the
 * chunk is full (lane.c). Writes nothing to the file.
 *
 * Invariants of a warm lane: range_ticks != 0 exactly for touched functions; counts belongs to the
 * open chunk.
 */
#include <errno.h>
#include <stdlib.h>

#include "trace/write/lane.h"
#include "trace/write/writer_state.h"
#include "util/array.h"

#define COUNTS_FIRST 4u /* initial number of histograms */

/* The histogram of the touched function with index @i. */
static uint16_t *counts_of(const struct nsc_lane *lane, uint32_t i)
{
    return i + 1 < lane->counts_room ? lane->counts + (i + 1) * NSC_LANE_BUCKETS : lane->counts;
}

bool nsc_lane_grow_counts(struct nsc_lane *lane)
{
    uint32_t room = lane->counts_room == 0 ? COUNTS_FIRST : lane->counts_room * 2;
    size_t run = NSC_LANE_BUCKETS * sizeof *lane->counts;
    uint16_t *counts = realloc(lane->counts, room * run);

    if (counts == NULL)
        return false;
    memset((char *)counts + lane->counts_room * run, 0, (room - lane->counts_room) * run);
    lane->counts = counts;
    lane->counts_room = room;
    for (uint32_t i = 0; i < lane->touched_count; i++)
        lane->totals[lane->touched[i]].counts = counts_of(lane, i);
    return true;
}

/* Add a function to the touched list: its first call in this chunk has ended. */
static void touch(struct nsc_lane *lane, uint32_t function)
{
    if (lane->touched_count + 1 >= lane->counts_room && !nsc_lane_grow_counts(lane))
        nsc_writer_fail(lane->writer, -ENOMEM);
    lane->totals[function].counts = counts_of(lane, lane->touched_count);
    lane->touched[lane->touched_count++] = function;
}

void nsc_lane_widen(struct nsc_lane *lane, uint32_t function, uint64_t duration)
{
    struct nsc_lane_total *total = &lane->totals[function];
    uint64_t below = total->min_ticks - duration;

    if (total->range_ticks == 0) {
        touch(lane, function);
        total->range_ticks = 1;
    } else if (duration >= total->min_ticks) {
        total->range_ticks = duration - total->min_ticks + 1;
        return;
    } else {
        total->range_ticks += below;
    }
    total->min_ticks = duration;
}

void nsc_lane_count_many(struct nsc_lane *lane, uint32_t function, uint32_t bucket, uint64_t calls)
{
    struct nsc_lane_many *many = lane->many;

    if (lane->many_count > 0 && many[lane->many_count - 1].function == function &&
        many[lane->many_count - 1].bucket == bucket) {
        many[lane->many_count - 1].calls += calls; /* typical when a recursion ends */
        return;
    }
    many = nsc_array_grow(many, &lane->many_room, lane->many_count, sizeof *many);
    if (many == NULL) {
        nsc_writer_fail(lane->writer, -ENOMEM);
        return;
    }
    lane->many = many;
    many[lane->many_count++] = (struct nsc_lane_many){function, bucket, calls};
}

static uint64_t max_ticks(const struct nsc_lane_total *total)
{
    return total->min_ticks + total->range_ticks - 1;
}

static uint64_t self_ticks(const struct nsc_lane_total *total)
{
    return total->ticks[0] + total->ticks[1] - total->child_ticks;
}

/* Number of calls of a function that ended in the chunk, except those in lane->many. */
static uint64_t count_run(const struct nsc_lane_total *total)
{
    uint32_t high = nsc_bucket_of(max_ticks(total)), low = nsc_bucket_of(total->min_ticks);
    const uint16_t *run = total->counts;
    uint64_t calls = 0;

    for (uint32_t i = low; i <= high && i < NSC_LANE_BUCKETS; i++)
        calls += run[i];
    return calls;
}

void nsc_lane_add_sums(const struct nsc_lane *lane, struct nsc_writer_sum *sums, uint32_t count)
{
    for (uint32_t i = 0; i < lane->touched_count; i++) {
        const struct nsc_lane_total *total = &lane->totals[lane->touched[i]];

        if (lane->touched[i] >= count)
            continue;
        sums[lane->touched[i]].calls += count_run(total);
        sums[lane->touched[i]].total_ticks += total->ticks[0];
        sums[lane->touched[i]].self_ticks += self_ticks(total);
    }
    for (uint32_t i = 0; i < lane->many_count; i++)
        if (lane->many[i].function < count)
            sums[lane->many[i].function].calls += lane->many[i].calls;
}

uint64_t nsc_lane_calls_ended(const struct nsc_lane *lane)
{
    uint64_t ended = 0;

    for (uint32_t i = 0; i < lane->touched_count; i++)
        ended += count_run(&lane->totals[lane->touched[i]]);
    for (uint32_t i = 0; i < lane->many_count; i++)
        ended += lane->many[i].calls;
    return ended;
}

static int by_function(const void *a, const void *b)
{
    const struct nsc_lane_many *left = a, *right = b;

    return (left->function > right->function) - (left->function < right->function);
}

/* Move the histogram of a function into w->counts, which must be all zero. Returns the number of
 * calls. */
static uint64_t take_counts(struct nsc_lane *lane, uint32_t function, struct nsc_lane_total *total)
{
    const struct nsc_lane_many key = {.function = function}, *many = NULL, *end = NULL;
    uint32_t high = nsc_bucket_of(max_ticks(total)), low = nsc_bucket_of(total->min_ticks);
    uint64_t *counts = lane->writer->counts, calls = 0;
    uint16_t *run = total->counts;

    for (uint32_t i = low; i <= high && i < NSC_LANE_BUCKETS; i++) {
        calls += counts[i] = run[i];
        run[i] = 0;
    }
    if (lane->many_count > 0) {
        end = lane->many + lane->many_count;
        many = bsearch(&key, lane->many, lane->many_count, sizeof *many, by_function);
    }
    if (many == NULL)
        return calls;
    while (many > lane->many && many[-1].function == function)
        many--;
    for (; many < end && many->function == function; many++) {
        calls += many->calls;
        counts[many->bucket] += many->calls;
    }
    return calls;
}

/* Encode a function's rows of totals and durations. Returns the number of calls. */
static uint64_t code_sums(struct nsc_lane *lane, uint32_t function, struct nsc_lane_total *total)
{
    struct nsc_writer *w = lane->writer;
    struct nsc_chunk_total sums = {.function = function,
                                   .calls = take_counts(lane, function, total),
                                   .total_ticks = total->ticks[0],
                                   .self_ticks = self_ticks(total),
                                   .max_ticks = max_ticks(total),
                                   .min_ticks = total->min_ticks,
                                   .unwinds = total->unwinds};

    nsc_writer_function_at(w, function)->calls += sums.calls;
    nsc_level_place(w, function);
    nsc_sums_put(&w->section, &w->durations, &sums, w->counts);
    return sums.calls;
}

uint64_t nsc_lane_code_totals(struct nsc_lane *lane)
{
    struct nsc_writer *w = lane->writer;
    uint64_t ended = 0;

    nsc_level_begin(w);
    nsc_buffer_clear(&w->durations);
    nsc_buffer_clear(&w->section);
    nsc_buffer_leb(&w->section, lane->touched_count);
    if (lane->many_count > 1)
        qsort(lane->many, lane->many_count, sizeof *lane->many, by_function);
    for (uint32_t i = 0; i < lane->touched_count; i++) {
        struct nsc_lane_total *total = &lane->totals[lane->touched[i]];

        ended += code_sums(lane, lane->touched[i], total);
        *total = (struct nsc_lane_total){.active = total->active};
    }
    lane->touched_count = lane->many_count = 0;
    return ended;
}
