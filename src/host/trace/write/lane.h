/*
 * lane.h - the fast path of the writer: append events to one thread's stream (its "lane").
 *
 * Called by record/ for every event (>= 150 M/s on one core with index: a few ns each) and by
 * importers. The lane owns the stack of open calls. The caller may store one word of its own in
 * each frame (the recorder: the stack position).
 *
 * Ticks must not run backwards within a lane; a smaller value is raised to the last one. Function
 * ids must have been added to the writer before. On failure (no memory, unknown function) the
 * writer latches the error and counts the event as dropped. Exits and unwinds always pop a frame,
 * so a caller's loop over open frames ends.
 */
#ifndef NSC_TRACE_WRITE_LANE_H
#define NSC_TRACE_WRITE_LANE_H

#include "base/leb.h"
#include "trace/format/duration_bucket.h"
#include "trace/format/format.h"
#include "trace/write/lane_state.h"
#include "trace/write/writer.h"

/* nsc_leb_put() out of line, to keep register pressure low in the fast path. */
uint8_t *nsc_lane_put_long(uint8_t *at, uint64_t v);
/* Extend the function's range of durations: the call is its first in this chunk, its shortest or
 * its longest. */
void nsc_lane_widen(struct nsc_lane *lane, uint32_t function, uint64_t duration);
/* Update the summary for an ended call at the depth of @frame. Called when it may be the longest of
 * its span, is the first to end after a span, or ends below the chunk's lowest frame. */
void nsc_lane_settle(struct nsc_lane *lane, struct nsc_lane_frame *frame, uint32_t function,
                     uint64_t start_ticks, uint64_t end_ticks);
/* Count @calls calls of a function that lane->counts cannot hold. */
void nsc_lane_count_many(struct nsc_lane *lane, uint32_t function, uint32_t bucket, uint64_t calls)
    __attribute__((cold));

/* Unaligned little-endian stores. Unlike byte stores they alias no field of a lane, so the compiler
 * can keep those fields in registers. */
struct nsc_lane_pair {
    uint16_t bytes;
} __attribute__((packed));
struct nsc_lane_word {
    uint64_t bytes;
} __attribute__((packed));

static inline uint16_t nsc_lane_pair_order(uint16_t v)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap16(v) : v;
}

static inline uint64_t nsc_lane_word_order(uint64_t v)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}

/* Bucket of a duration below NSC_LANE_DELTA_SHORT + lane->least, by table. */
static inline uint32_t nsc_lane_short_bucket(const struct nsc_lane *lane, uint64_t duration)
{
    return lane->shorts[duration + lane->least] >> 16 & 0x7f;
}

/* Whether the deltas of the chunk are reduced by a bias. */
static inline bool nsc_lane_leaves_out(const struct nsc_lane *lane)
{
    return lane->least > 0;
}

/* Whether a delta, reduced by the bias, fits two bytes with its kind: the common case. */
static inline bool nsc_lane_is_short(const struct nsc_lane *lane, uint64_t delta)
{
    return __builtin_expect(delta - lane->least < NSC_LANE_DELTA_SHORT, 1);
}

static inline uint8_t *nsc_lane_put_short(uint8_t *at, uint32_t entry, enum nsc_format_record kind)
{
    ((struct nsc_lane_pair *)(void *)at)->bytes =
        nsc_lane_pair_order((uint16_t)(entry | (uint32_t)kind));
    return at + (entry >> 24);
}

/* Encode a function id for nsc_lane_run_enter(): its stream bytes, first one lowest, and their
 * number in the top byte. */
static inline uint64_t nsc_lane_code_function(uint32_t function)
{
    uint8_t bytes[NSC_LEB_MAX] = {0};
    uint64_t count = (uint64_t)(nsc_leb_put(bytes, function) - bytes), coded = count << 56;

    for (uint64_t i = 0; i < count; i++)
        coded |= (uint64_t)bytes[i] << (8 * i);
    return coded;
}

static inline uint8_t *nsc_lane_put_function(uint8_t *at, uint64_t coded)
{
    ((struct nsc_lane_word *)(void *)at)->bytes = nsc_lane_word_order(coded);
    return at + (coded >> 56);
}

/* Number of open calls, and the innermost one (NULL if none). */
static inline uint32_t nsc_lane_depth(const struct nsc_lane *lane)
{
    return (uint32_t)(lane->top - lane->floor);
}

static inline struct nsc_lane_frame *nsc_lane_top(struct nsc_lane *lane)
{
    return lane->top == lane->floor ? NULL : lane->top;
}

/* Number of open calls of @function. O(depth) in a cold lane, which has no totals. */
static inline uint32_t nsc_lane_open_calls(const struct nsc_lane *lane, uint32_t function)
{
    uint32_t open = 0;

    if (lane->totals != NULL)
        return function < lane->totals_count ? lane->totals[function].active : 0;
    for (uint32_t depth = nsc_lane_depth(lane); depth > 0; depth--)
        open += lane->floor[depth].function == function;
    return open;
}

/* Append events at @ticks (timer ticks). Errors are latched in the writer, not returned.
 * nsc_lane_enter(): a call of @function begins; @position is the caller's own word in its frame. */
void nsc_lane_enter(struct nsc_lane *lane, uint64_t ticks, uint32_t function, uint64_t position);
/* Whether one more open call is within the limit on all lanes' frames, which is far above the need
 * of an honest program. Callers with an untrusted program check before each nsc_lane_enter(). */
bool nsc_lane_may_deepen(const struct nsc_lane *lane);
/* The innermost call returns. depth > 0. */
void nsc_lane_exit(struct nsc_lane *lane, uint64_t ticks);
/* The innermost call ends without returning: longjmp, throw, end of the recording. depth > 0. */
void nsc_lane_unwind(struct nsc_lane *lane, uint64_t ticks);

/*
 * Fast path for many events. A run keeps the fields that every event changes in registers; the lane
 * must not be used otherwise before nsc_lane_run_end(). An event that needs the slow path is
 * refused (false): end the run and pass the event to nsc_lane_enter() or nsc_lane_exit().
 */
struct nsc_lane_run {
    uint8_t *at;
    struct nsc_lane_frame
        *top; /* innermost open call; without one the floor, whose position matches no event */
    uint64_t last_ticks;
};

/* Number of events that are certain to fit; 0: the next one needs nsc_lane_enter() or _exit().
 * Events are usually smaller than assumed here, so ask again when the room is used up. */
static inline size_t nsc_lane_run_room(const struct nsc_lane *lane, const struct nsc_lane_run *run)
{
    if (run->at >= lane->limit)
        return 0;
    return ((size_t)(lane->limit - run->at) + NSC_LANE_EVENT_BYTES - 1) / NSC_LANE_EVENT_BYTES;
}

/* Begin a run. Returns nsc_lane_run_room(). */
static inline size_t nsc_lane_run_begin(const struct nsc_lane *lane, struct nsc_lane_run *run)
{
    run->at = lane->at;
    run->top = lane->top;
    run->last_ticks = lane->last_ticks;
    return __builtin_expect(lane->full, 0) ? 0 : nsc_lane_run_room(lane, run);
}

static inline void nsc_lane_run_end(struct nsc_lane *lane, const struct nsc_lane_run *run)
{
    lane->at = run->at;
    lane->top = run->top;
    lane->last_ticks = run->last_ticks;
}

/* Whether the run can encode an event at @ticks: not before the last event, not too close to it
 * (`least`), not too far from it (NSC_LANE_DELTA_MAX). */
static inline bool nsc_lane_run_fits(const struct nsc_lane *lane, const struct nsc_lane_run *run,
                                     uint64_t ticks)
{
    uint64_t delta = ticks - run->last_ticks;

    return nsc_lane_is_short(lane, delta) || delta - lane->least <= NSC_LANE_DELTA_MAX;
}

/* Write the delta and kind of an event with nsc_lane_is_short(). */
static inline __attribute__((always_inline)) void nsc_lane_run_put_short(
    const struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t delta,
    enum nsc_format_record kind)
{
    run->at = nsc_lane_put_short(run->at, lane->shorts[delta], kind);
    run->last_ticks += delta;
}

/* Write the delta and kind of an event with nsc_lane_run_fits(). */
static inline __attribute__((always_inline)) void nsc_lane_run_put(const struct nsc_lane *lane,
                                                                   struct nsc_lane_run *run,
                                                                   uint64_t ticks,
                                                                   enum nsc_format_record kind)
{
    uint64_t delta = ticks - run->last_ticks;

    if (nsc_lane_is_short(lane, delta)) {
        nsc_lane_run_put_short(lane, run, delta, kind);
        return;
    }
    run->at = nsc_lane_put_long(run->at, (delta - lane->least) << 2 | kind);
    run->last_ticks = ticks;
}

/* Complete an entry after its delta: write the function id and push the frame. */
static inline __attribute__((always_inline)) void nsc_lane_push(struct nsc_lane *lane,
                                                                struct nsc_lane_run *run,
                                                                uint64_t ticks, uint32_t function,
                                                                uint64_t coded, uint64_t position)
{
    struct nsc_lane_frame *frame = ++run->top;

    run->at = nsc_lane_put_function(run->at, coded);
    frame->start_ticks = ticks;
    frame->child_ticks = 0;
    frame->position = position;
    frame->function = function;
    frame->bound = 0;
    lane->totals[function].active++;
}

/* Account an ended call of @function at the depth of @frame: totals, histogram, the parent's child
 * time, and the summary of longest calls. @bucket: of its duration. */
static inline __attribute__((always_inline)) void nsc_lane_account(
    struct nsc_lane *lane, struct nsc_lane_frame *frame, uint32_t function, uint64_t start_ticks,
    uint64_t end_ticks, uint32_t bucket)
{
    struct nsc_lane_total *total = &lane->totals[function];
    uint64_t duration = end_ticks - start_ticks;

    if (__builtin_expect(duration - total->min_ticks >= total->range_ticks, 0))
        nsc_lane_widen(lane, function, duration);
    total->ticks[total->active != 0] += duration;
    if (__builtin_expect(bucket >= NSC_LANE_BUCKETS, 0))
        nsc_lane_count_many(lane, function, bucket, 1);
    else if (__builtin_expect(++total->counts[bucket] == 0, 0))
        nsc_lane_count_many(lane, function, bucket, (uint64_t)UINT16_MAX + 1);
    frame[-1].child_ticks += duration;
    if (__builtin_expect(duration >= frame->short_ticks || end_ticks >= lane->span_until, 0))
        nsc_lane_settle(lane, frame, function, start_ticks, end_ticks);
}

/* Pop and account the innermost call. */
static inline __attribute__((always_inline)) void nsc_lane_pop(struct nsc_lane *lane,
                                                               struct nsc_lane_run *run,
                                                               uint64_t ticks)
{
    struct nsc_lane_frame *frame = run->top--;
    struct nsc_lane_total *total = &lane->totals[frame->function];
    uint32_t bucket = nsc_bucket_of(ticks - frame->start_ticks);

    total->active--;
    total->child_ticks += frame->child_ticks;
    nsc_lane_account(lane, frame, frame->function, frame->start_ticks, ticks, bucket);
}

/* Whether there is room for one more frame and for the totals of @function. */
static inline __attribute__((always_inline)) bool nsc_lane_run_reach(struct nsc_lane *lane,
                                                                     const struct nsc_lane_run *run,
                                                                     uint32_t function)
{
    if (__builtin_expect(function >= lane->totals_count, 0))
        return false;
    if (__builtin_expect(run->top < lane->high, 1))
        return true;
    if (run->top == lane->floor + lane->frames_room)
        return false;
    lane->high = run->top + 1;
    return true;
}

/*
 * Append an event @delta ticks after the last one. nsc_lane_is_short() must hold for @delta, and
 * for the duration of a leaf call. @coded: nsc_lane_code_function(@function).
 */
static inline __attribute__((always_inline)) bool nsc_lane_run_short_enter(
    struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t delta, uint32_t function,
    uint64_t coded, uint64_t position)
{
    if (__builtin_expect(!nsc_lane_run_reach(lane, run, function), 0))
        return false;
    nsc_lane_run_put_short(lane, run, delta, NSC_FORMAT_ENTER);
    nsc_lane_push(lane, run, run->last_ticks, function, coded, position);
    return true;
}

/* depth > 0. */
static inline __attribute__((always_inline)) void nsc_lane_run_short_exit(struct nsc_lane *lane,
                                                                          struct nsc_lane_run *run,
                                                                          uint64_t delta)
{
    nsc_lane_run_put_short(lane, run, delta, NSC_FORMAT_EXIT);
    nsc_lane_pop(lane, run, run->last_ticks);
}

/* Append entry and exit of a leaf call (a call without callees): two events for half the work. */
static inline __attribute__((always_inline)) bool nsc_lane_run_short_leaf(
    struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t delta, uint64_t duration,
    uint32_t function, uint64_t coded)
{
    uint64_t ticks = run->last_ticks + delta;

    if (__builtin_expect(!nsc_lane_run_reach(lane, run, function), 0))
        return false;
    nsc_lane_run_put_short(lane, run, delta, NSC_FORMAT_ENTER);
    run->at = nsc_lane_put_function(run->at, coded);
    nsc_lane_run_put_short(lane, run, duration, NSC_FORMAT_EXIT);
    nsc_lane_account(lane, run->top + 1, function, ticks, ticks + duration,
                     nsc_lane_short_bucket(lane, duration));
    return true;
}

/* The same for events at any time. */
static inline __attribute__((always_inline)) bool nsc_lane_run_enter(
    struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t ticks, uint32_t function,
    uint64_t coded, uint64_t position)
{
    if (__builtin_expect(
            !nsc_lane_run_fits(lane, run, ticks) || !nsc_lane_run_reach(lane, run, function), 0))
        return false;
    nsc_lane_run_put(lane, run, ticks, NSC_FORMAT_ENTER);
    nsc_lane_push(lane, run, ticks, function, coded, position);
    return true;
}

static inline __attribute__((always_inline)) bool nsc_lane_run_exit(struct nsc_lane *lane,
                                                                    struct nsc_lane_run *run,
                                                                    uint64_t ticks)
{
    if (__builtin_expect(!nsc_lane_run_fits(lane, run, ticks), 0))
        return false;
    nsc_lane_run_put(lane, run, ticks, NSC_FORMAT_EXIT);
    nsc_lane_pop(lane, run, ticks);
    return true;
}

/* Returns false also when the two events must be appended one by one. */
static inline __attribute__((always_inline)) bool nsc_lane_run_leaf(
    struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t ticks, uint64_t end_ticks,
    uint32_t function, uint64_t coded)
{
    uint64_t delta = ticks - run->last_ticks, duration = end_ticks - ticks;

    return nsc_lane_is_short(lane, delta) && nsc_lane_is_short(lane, duration) &&
           nsc_lane_run_short_leaf(lane, run, delta, duration, function, coded);
}

/**
 * nsc_lane_late_exit - append the exit of a call that was entered before the lane began or in a
 * gap. It was open directly above the innermost open call, if any, since the gap.
 */
void nsc_lane_late_exit(struct nsc_lane *lane, uint64_t ticks, uint32_t function);

/**
 * nsc_lane_enter_earlier - append an open call that was entered before @ticks: before the lane
 * began or in a gap. It is recorded from @ticks on with NSC_BOUND_START. Otherwise as
 * nsc_lane_enter().
 */
void nsc_lane_enter_earlier(struct nsc_lane *lane, uint64_t ticks, uint32_t function,
                            uint64_t position);

/* End the chunk here. Full chunks end by themselves; call this only for events that readers must
 * find in separate chunks. */
void nsc_lane_end_chunk(struct nsc_lane *lane);

/* Append a gap: @events events were lost here. Does not change the thread's own count of losses. */
void nsc_lane_lost(struct nsc_lane *lane, uint64_t ticks, uint64_t events);
/* Append a gap: the budget rejected @events events here. They do not count as lost. */
void nsc_lane_left_out(struct nsc_lane *lane, uint64_t ticks, uint64_t events);

/* End the stream: unwind open calls at @ticks, flush and free the buffers, free @lane. */
void nsc_lane_close(struct nsc_lane *lane, uint64_t ticks);

#endif
