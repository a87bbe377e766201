/*
 * lane.h - the hot half of the writer: add one event to a thread's stream.
 *
 * Called by record/ for every event (>= 150 M/s on one core with index: a few ns each) and by
 * importers. The lane keeps the stack of open calls; the caller may keep a word of its own in each
 * frame (the recorder: the stack position).
 *
 * Ticks must not run backwards within a lane; a smaller value is raised to the last one. Function
 * ids must have been added to the writer before. When something fails (no memory, unknown function)
 * the writer latches the error and the event is counted as dropped; exits and unwinds always pop a
 * frame, so a caller's loop over open frames ends.
 */
#ifndef NSC_TRACE_WRITE_LANE_H
#define NSC_TRACE_WRITE_LANE_H

#include "base/leb.h"
#include "trace/format/duration_bucket.h"
#include "trace/format/format.h"
#include "trace/write/lane_state.h"
#include "trace/write/writer.h"

/* nsc_leb_put() out of the way of registers. */
uint8_t *nsc_lane_put_long(uint8_t *at, uint64_t v);
/* A call of a function is its first in this chunk, its shortest or its longest. */
void nsc_lane_widen(struct nsc_lane *lane, uint32_t function, uint64_t duration);
/* A call at the depth of @frame has ended that may be the longest of its span, or the first one
 * after a span of time or below the chunk's lowest frame. */
void nsc_lane_settle(struct nsc_lane *lane, struct nsc_lane_frame *frame, uint32_t function,
                     uint64_t start_ticks, uint64_t end_ticks);
/* Count @calls calls of a function that lane->counts cannot hold. */
void nsc_lane_count_many(struct nsc_lane *lane, uint32_t function, uint32_t bucket, uint64_t calls)
    __attribute__((cold));

/* Stores that may be unaligned and, unlike those of bytes, alias no field of a lane: the compiler
 * keeps what it knows of them. Little endian. */
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

/* Of a duration below NSC_LANE_SHORT_MAX. */
static inline uint32_t nsc_lane_short_bucket(const struct nsc_lane *lane, uint64_t duration)
{
    return lane->shorts[duration + lane->least] >> 16 & 0x7f;
}

/* Do the events of the chunk leave out ticks? */
static inline bool nsc_lane_leaves_out(const struct nsc_lane *lane)
{
    return lane->least > 0;
}

/* May an event come @delta ticks after the last one in a run's plain case? */
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

/* A function id as it stands in the stream, for nsc_lane_run_enter(): its bytes, first one lowest,
 * and their number in the top byte. */
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

/* How many calls of @function are open. A cold lane has no totals: its frames are counted. */
static inline uint32_t nsc_lane_open_calls(const struct nsc_lane *lane, uint32_t function)
{
    uint32_t open = 0;

    if (lane->totals != NULL)
        return function < lane->totals_count ? lane->totals[function].active : 0;
    for (uint32_t depth = nsc_lane_depth(lane); depth > 0; depth--)
        open += lane->floor[depth].function == function;
    return open;
}

/* Events. ticks: timer ticks. Errors are latched in the writer, not returned. */
void nsc_lane_enter(struct nsc_lane *lane, uint64_t ticks, uint32_t function, uint64_t position);
/* Is there room for one more open call, or may there be? All lanes together have a limit, far above
 * what a program needs that does not lie. For callers whose program may: before each
 * nsc_lane_enter(). */
bool nsc_lane_may_deepen(const struct nsc_lane *lane);
/* The innermost call returns. depth > 0. */
void nsc_lane_exit(struct nsc_lane *lane, uint64_t ticks);
/* The innermost call ends without returning: longjmp, throw, end of the recording. depth > 0. */
void nsc_lane_unwind(struct nsc_lane *lane, uint64_t ticks);

/*
 * Many events at once. A run holds what every event changes in registers; the lane must not be used
 * otherwise before nsc_lane_run_end(). An event that needs more than the plain case is refused:
 * end the run and give it to nsc_lane_enter() or nsc_lane_exit().
 */
struct nsc_lane_run {
    uint8_t *at;
    struct nsc_lane_frame
        *top; /* innermost open call; its position matches none if there is none */
    uint64_t last_ticks;
};

/* How many more events there is room for; 0: the next one needs nsc_lane_enter() or _exit(). They
 * take less than that as a rule: who has used it up may ask again. */
static inline size_t nsc_lane_run_room(const struct nsc_lane *lane, const struct nsc_lane_run *run)
{
    if (run->at >= lane->limit)
        return 0;
    return ((size_t)(lane->limit - run->at) + NSC_LANE_EVENT_BYTES - 1) / NSC_LANE_EVENT_BYTES;
}

/* Returns the room. */
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

/* Is an event at @ticks neither too far from the last one nor too near to it, or before it? */
static inline bool nsc_lane_run_fits(const struct nsc_lane *lane, const struct nsc_lane_run *run,
                                     uint64_t ticks)
{
    uint64_t delta = ticks - run->last_ticks;

    return nsc_lane_is_short(lane, delta) || delta - lane->least <= NSC_LANE_DELTA_MAX;
}

/* The delta and kind of an event, where nsc_lane_is_short(). */
static inline __attribute__((always_inline)) void nsc_lane_run_put_short(
    const struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t delta,
    enum nsc_format_record kind)
{
    run->at = nsc_lane_put_short(run->at, lane->shorts[delta], kind);
    run->last_ticks += delta;
}

/* The delta and kind of an event, of a time that fits. */
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

/* What an entry does behind its delta. */
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

/* A call of @function at the depth of @frame is over. What it adds up to; the longest call of its
 * span is remembered. @bucket: of its duration. */
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

/* The innermost call is over. */
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

/* Room for one more frame and for the totals of @function? */
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
 * An event @delta ticks after the last one, where nsc_lane_is_short() of that and of the duration
 * of a leaf. @coded: nsc_lane_code_function(@function).
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

/* Entry and exit at once, of a call that makes none itself: two events, half the work. */
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

/* The same at any time. */
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

/* False also where the two events would have to go one by one. */
static inline __attribute__((always_inline)) bool nsc_lane_run_leaf(
    struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t ticks, uint64_t end_ticks,
    uint32_t function, uint64_t coded)
{
    uint64_t delta = ticks - run->last_ticks, duration = end_ticks - ticks;

    return nsc_lane_is_short(lane, delta) && nsc_lane_is_short(lane, duration) &&
           nsc_lane_run_short_leaf(lane, run, delta, duration, function, coded);
}

/**
 * nsc_lane_late_exit - a call returns that was entered before the lane began or in a gap.
 * It was open directly above the innermost open call, if any, since the gap.
 */
void nsc_lane_late_exit(struct nsc_lane *lane, uint64_t ticks, uint32_t function);

/**
 * nsc_lane_enter_earlier - a call is open that was entered before @ticks, before the lane began or
 * in a gap: it begins here, and its start is a bound. As nsc_lane_enter() in all else.
 */
void nsc_lane_enter_earlier(struct nsc_lane *lane, uint64_t ticks, uint32_t function,
                            uint64_t position);

/* End the chunk here. Chunks end by themselves; this is for what readers must find apart. */
void nsc_lane_end_chunk(struct nsc_lane *lane);

/* A gap: @events events were lost just here. They are not added to the thread's own count. */
void nsc_lane_lost(struct nsc_lane *lane, uint64_t ticks, uint64_t events);
/* A gap: the budget turned @events events away just here, which are not lost. */
void nsc_lane_left_out(struct nsc_lane *lane, uint64_t ticks, uint64_t events);

/* End the stream: open calls are unwound at @ticks; buffers are flushed and freed, @lane too. */
void nsc_lane_close(struct nsc_lane *lane, uint64_t ticks);

#endif
