/*
 * encode.h - the hot half of the writer: add one event to a thread's stream.
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
#ifndef NSC_TRACE_ENCODE_H
#define NSC_TRACE_ENCODE_H

#include "trace/buffer.h"
#include "trace/format.h"
#include "trace/writer.h"

/* An open call. */
struct nsc_lane_frame {
    uint64_t start_ticks;
    uint64_t child_ticks; /* time spent in direct callees so far */
    uint64_t position;    /* the caller's own word */
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_START or 0 */
};

/* What calls of one function add up to in the current chunk. */
struct nsc_lane_total {
    uint64_t total_ticks; /* of activations with no open one of the same function below */
    uint64_t self_ticks;
    uint64_t max_ticks;
    uint32_t calls;  /* ended in this chunk; 0 = not in the touched list */
    uint32_t active; /* open calls of the function, in all */
};

/* The longest call so far of those that started in the current span of one depth. */
struct nsc_lane_span {
    uint64_t span; /* start >> span_shift, or UINT64_MAX: none yet */
    uint64_t longest_ticks;
    uint64_t end_ticks;
    uint64_t function;
};

/* Private to trace/, here for the inline functions. A lane without buffers is "cold": at == limit.
 */
struct nsc_lane {
    /* Hot. */
    uint8_t *at;    /* next byte of the chunk */
    uint8_t *limit; /* at >= limit: call nsc_lane_prepare(); NSC_LANE_SLACK bytes lie behind it */
    uint64_t last_ticks;
    struct nsc_lane_frame *top; /* innermost open call; == floor if there is none */
    struct nsc_lane_frame
        *floor; /* below the outermost call: takes the roots' time as a callee's */
    struct nsc_lane_total *totals; /* by function id, totals_count of them */
    struct nsc_lane_span *spans;   /* by depth, spans_count of them */
    uint32_t *touched;             /* functions with calls != 0; room for totals_count */
    struct nsc_lane_frame *high; /* highest top in the chunk; top <= high <= floor + frames_room */
    struct nsc_lane_frame *low;  /* lowest top in the chunk */
    uint32_t totals_count;
    uint32_t spans_count;
    uint32_t touched_count;
    uint32_t span_shift;
    /* Cold. */
    uint32_t thread; /* id in the thread table */
    bool chunk_open; /* the chunk has an event */
    bool dead;       /* out of memory: events are dropped */
    bool rows_cut;   /* a summary row did not fit: the chunk goes without summary */
    uint32_t span_bias;
    uint32_t frames_room;
    uint32_t open_depth, common; /* at the chunk's start */
    uint32_t next_common;        /* frames that the next chunk may leave out of its stack */
    uint32_t row_count;
    uint64_t late_calls, lost; /* in this chunk */
    uint64_t first_ticks;      /* of the chunk */
    uint64_t sequence;         /* of the chunk */
    uint64_t since_whole;      /* events since a chunk with its whole stack */
    uint8_t *buffer;
    size_t buffer_bytes;
    size_t held_bytes;       /* all memory of this lane but the frames, as counted by the writer */
    size_t side_bytes;       /* part of it: stack and rows */
    struct nsc_buffer stack; /* coded opening stack of the chunk */
    struct nsc_buffer rows;  /* coded summary rows of the chunk */
    struct nsc_writer *writer;
    struct nsc_lane *previous, *next;
};

#define NSC_LANE_SLACK 32
#define NSC_LANE_DELTA_MAX                                                                         \
    ((uint64_t)1 << 40) /* a longer pause, or one backwards, is looked at                          \
                         */
#define NSC_LANE_DROP UINT64_MAX

/* The slow path before an event: room, a new chunk, more frames. @ticks may be raised; @function is
 * NSC_NO_ID for exits. Returns the delta to code, or NSC_LANE_DROP. */
uint64_t nsc_lane_prepare(struct nsc_lane *lane, uint64_t *ticks, uint32_t function);
/* Write down the span's longest call. */
void nsc_lane_span_out(struct nsc_lane *lane, uint32_t depth);
/* A frame ends but the event cannot be kept. */
void nsc_lane_pop_dropped(struct nsc_lane *lane);

/* A store that may be unaligned and, unlike one of bytes, aliases no field of a lane: the compiler
 * keeps them in registers. */
struct nsc_lane_pair {
    uint16_t bytes; /* little endian */
} __attribute__((packed));

/* One or two bytes without a branch between them: deltas straddle that border all the time. */
static inline uint8_t *nsc_lane_put(uint8_t *at, uint64_t v)
{
    uint64_t high = v & 0x3f80, two = high != 0;
    uint16_t pair = (uint16_t)(v + high + (two << 7)); /* high moves up by one bit: bit 7 is free */

    if (__builtin_expect(v >= 0x4000, 0))
        return nsc_leb_put(at, v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    pair = __builtin_bswap16(pair);
#endif
    ((struct nsc_lane_pair *)(void *)at)->bytes = pair;
    return at + 1 + two;
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

/* Events. ticks: timer ticks. Errors are latched in the writer, not returned. */
static inline void nsc_lane_enter(struct nsc_lane *lane, uint64_t ticks, uint32_t function,
                                  uint64_t position)
{
    uint64_t delta = ticks - lane->last_ticks; /* huge when ticks runs backwards */
    struct nsc_lane_frame *frame;
    uint8_t *at;

    if (__builtin_expect(lane->at >= lane->limit || delta > NSC_LANE_DELTA_MAX ||
                             lane->top >= lane->high || function >= lane->totals_count,
                         0)) {
        uint64_t raised = ticks; /* its address goes to a function; ticks stays in a register */

        delta = nsc_lane_prepare(lane, &raised, function);
        ticks = raised;
        if (delta == NSC_LANE_DROP)
            return;
    }
    at = nsc_lane_put(lane->at, delta << 2 | NSC_FORMAT_ENTER);
    lane->at = nsc_lane_put(at, function);
    lane->last_ticks = ticks;
    frame = ++lane->top;
    frame->start_ticks = ticks;
    frame->child_ticks = 0;
    frame->position = position;
    frame->function = function;
    frame->bound = 0;
    lane->totals[function].active++;
}

/* The innermost call ends; the longest call of its span is remembered. */
static inline void nsc_lane_account(struct nsc_lane *lane, uint64_t ticks)
{
    struct nsc_lane_frame *frame = lane->top--;
    size_t depth = (size_t)(lane->top - lane->floor);
    uint32_t function = frame->function;
    uint64_t duration = ticks - frame->start_ticks;
    struct nsc_lane_total *total = &lane->totals[function];

    if (total->calls++ == 0)
        lane->touched[lane->touched_count++] = function;
    total->self_ticks += duration - frame->child_ticks;
    total->total_ticks += --total->active == 0 ? duration : 0;
    if (duration > total->max_ticks)
        total->max_ticks = duration;
    frame[-1].child_ticks += duration;
    if (lane->top < lane->low)
        lane->low = lane->top;
    if (depth < lane->spans_count) {
        struct nsc_lane_span *span = &lane->spans[depth];
        uint64_t index = frame->start_ticks >> lane->span_shift;

        if (index != span->span) {
            nsc_lane_span_out(lane, (uint32_t)depth);
            span->span = index;
        } else if (duration <= span->longest_ticks) {
            return;
        }
        span->longest_ticks = duration;
        span->end_ticks = ticks;
        span->function = function;
    }
}

static inline void nsc_lane_end(struct nsc_lane *lane, uint64_t ticks, enum nsc_format_record kind)
{
    uint64_t delta = ticks - lane->last_ticks;

    if (__builtin_expect(lane->at >= lane->limit || delta > NSC_LANE_DELTA_MAX, 0)) {
        uint64_t raised = ticks;

        delta = nsc_lane_prepare(lane, &raised, NSC_NO_ID);
        ticks = raised;
        if (delta == NSC_LANE_DROP) {
            nsc_lane_pop_dropped(lane);
            return;
        }
    }
    lane->at = nsc_lane_put(lane->at, delta << 2 | kind);
    lane->last_ticks = ticks;
    nsc_lane_account(lane, ticks);
}

/* The innermost call returns. depth > 0. */
static inline void nsc_lane_exit(struct nsc_lane *lane, uint64_t ticks)
{
    nsc_lane_end(lane, ticks, NSC_FORMAT_EXIT);
}

/* The innermost call ends without returning: longjmp, throw, end of the recording. depth > 0. */
static inline void nsc_lane_unwind(struct nsc_lane *lane, uint64_t ticks)
{
    nsc_lane_end(lane, ticks, NSC_FORMAT_UNWIND);
}

/**
 * nsc_lane_late_exit - a call returns that was entered before the lane began or in a gap.
 * It was open directly above the innermost open call, if any, since the gap.
 */
void nsc_lane_late_exit(struct nsc_lane *lane, uint64_t ticks, uint32_t function);

/* A gap: @events events were lost just here. They are not added to the thread's own count. */
void nsc_lane_lost(struct nsc_lane *lane, uint64_t ticks, uint64_t events);

/* End the stream: open calls are unwound at @ticks; buffers are flushed and freed, @lane too. */
void nsc_lane_close(struct nsc_lane *lane, uint64_t ticks);

#endif
