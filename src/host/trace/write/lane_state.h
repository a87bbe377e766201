/*
 * lane_state.h - state of one thread's stream while it is written: open calls, the open chunk, and
 * the totals of the calls that ended in it.
 *
 * Private to trace/write; a header only because of the inline functions of lane.h.
 */
#ifndef NSC_TRACE_WRITE_LANE_STATE_H
#define NSC_TRACE_WRITE_LANE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/buffer.h"

struct nsc_writer;
struct nsc_writer_level;

/* An open call. */
struct nsc_lane_frame {
    uint64_t start_ticks;
    uint64_t child_ticks; /* time spent in direct callees so far */
    uint64_t position;    /* the caller's own word */
    uint64_t short_ticks; /* of its depth: a shorter call does not change the summary */
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_START or 0 */
};

/* Totals of one function's calls that ended in the current chunk. */
struct nsc_lane_total {
    uint64_t ticks[2];    /* inclusive time: [0] of outermost calls, [1] of recursive ones */
    uint64_t child_ticks; /* of both, in direct callees */
    uint64_t min_ticks;   /* shortest call */
    uint64_t range_ticks; /* longest - shortest + 1; 0: none has ended, not in the touched list */
    uint16_t *counts;     /* its part of lane->counts */
    uint32_t active;      /* open calls of the function, in all */
    uint32_t unwinds;     /* calls that ended without returning */
    uint64_t unused;      /* pads to a cache line */
};

/*
 * Histogram of a function's durations in the current chunk: a 16-bit count for each bucket below
 * NSC_LANE_BUCKETS, which covers durations below 2^27 ticks. Longer calls, which are rare, and
 * counts beyond 16 bits go into the list lane->many.
 */
#define NSC_LANE_BUCKETS 200u

struct nsc_lane_many {
    uint32_t function;
    uint32_t bucket;
    uint64_t calls;
};

/* The longest call so far of those that started in the current span of one depth. */
struct nsc_lane_span {
    uint64_t span; /* start >> span_shift; UINT64_MAX: no call yet */
    uint64_t longest_ticks;
    uint64_t end_ticks;
    uint64_t function;
};

/* Position of the floor. No event of the recorder has it: positions are multiples of 8 << 16. */
#define NSC_LANE_NOWHERE 0x10000ull

/* A lane with buffers is "warm". A lane without buffers is "cold": at == limit. */
struct nsc_lane {
    /* Hot. */
    uint8_t *at;    /* next byte of the chunk */
    uint8_t *limit; /* at >= limit: a run refuses events; NSC_LANE_SLACK bytes follow it */
    uint64_t last_ticks;
    struct nsc_lane_frame *top; /* innermost open call; == floor if there is none */
    struct nsc_lane_frame
        *floor; /* sentinel below the outermost call: receives its time as child_ticks */
    struct nsc_lane_total *totals; /* by function id, totals_count of them */
    const uint32_t *shorts;        /* into the writer's table, see nsc_lane_shorts_fill() */
    uint64_t least;                /* delta bias: ticks subtracted from the chunk's deltas */
    uint64_t span_until;           /* end of the time span that holds the last ended call */
    struct nsc_lane_span *spans;   /* by depth, span_count of them */
    uint32_t *touched;             /* functions with ended calls; room for totals_count */
    uint16_t *counts;              /* NSC_LANE_BUCKETS per function; the first part is the
                                      fallback when memory is short */
    struct nsc_lane_frame *high; /* highest top in the chunk; top <= high <= floor + frames_room */
    struct nsc_lane_frame *low;  /* lowest top in the chunk */
    uint32_t totals_count;
    uint32_t touched_count;
    uint32_t span_count;
    uint32_t frames_room;
    uint32_t span_shift;
    bool full; /* the next record's delta is not reduced by `least`; never if least is 0 */
    /* Cold. */
    uint32_t thread;      /* id in the thread table */
    bool chunk_open;      /* the chunk has an event */
    bool dead;            /* out of memory: events are dropped */
    bool rows_cut;        /* a summary row did not fit: the chunk gets no summary */
    uint8_t until_choice; /* chunks until `least` is chosen again */
    uint32_t full_count;  /* FULL records in the chunk */
    uint32_t span_bias;
    uint32_t open_depth, common; /* at the chunk's start */
    uint32_t next_common;        /* frames that the next chunk may omit from its opening stack */
    uint32_t row_count;
    uint64_t late_calls, lost; /* in this chunk */
    uint64_t first_ticks;      /* of the chunk */
    uint64_t sequence;         /* of the chunk */
    uint64_t since_whole;      /* events since the last chunk with a complete opening stack */
    uint8_t *buffer;
    size_t buffer_bytes;
    size_t held_bytes;       /* memory of this lane except the frames, as counted by the writer */
    size_t side_bytes;       /* part of it: stack, rows, many and counts */
    struct nsc_buffer stack; /* encoded opening stack of the chunk */
    struct nsc_buffer rows;  /* encoded summary rows of the chunk */
    void *totals_memory;     /* allocation that holds totals, aligned to cache lines */
    uint32_t counts_room;    /* functions that counts has room for */
    uint32_t many_count, many_room;
    struct nsc_lane_many *many; /* counts that do not fit into counts */
    uint32_t level_count;
    struct nsc_writer_level *levels; /* chunks and nodes that wait for their parent node */
    struct nsc_writer *writer;
    struct nsc_lane *previous, *next;
    struct nsc_lane *warm_previous, *warm_next; /* list of warm lanes */
    bool warm;                                  /* in that list */
};

#define NSC_LANE_SLACK       32
/* Upper bound of an event's size, except gap records: 10 + 5 bytes. */
#define NSC_LANE_EVENT_BYTES 16
/* A delta above MAX, or a negative one, takes the slow path. One below SHORT takes two bytes. */
#define NSC_LANE_DELTA_MAX   ((uint64_t)1 << 40)
#define NSC_LANE_DELTA_SHORT ((uint64_t)0x4000 >> 2)
/* Upper bound of `least`; it also bounds the deltas that take two bytes. */
#define NSC_LANE_LEAST_MAX   ((uint64_t)255)
#define NSC_LANE_SHORT_MAX   (NSC_LANE_DELTA_SHORT + NSC_LANE_LEAST_MAX)
#define NSC_LANE_SHORTS      (NSC_LANE_SHORT_MAX + NSC_LANE_LEAST_MAX)

/*
 * nsc_lane_shorts_fill - fill the table of short deltas and durations.
 *
 * The entry of a number of ticks below NSC_LANE_SHORT_MAX holds its bucket << 16. Below
 * NSC_LANE_DELTA_SHORT it also holds the one or two bytes of that delta with kind 0, and their
 * number << 24. The first NSC_LANE_LEAST_MAX entries are unused padding: lane->shorts points
 * `least` entries before the entry of 0, so the unreduced delta is the index.
 */
void nsc_lane_shorts_fill(uint32_t shorts[NSC_LANE_SHORTS]);

#endif
