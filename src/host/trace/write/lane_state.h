/*
 * lane_state.h - one thread's stream while it is written: open calls, the open chunk, and what the
 * calls that ended in it add up to.
 *
 * Private to trace/write; here for the inline functions of lane.h.
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
    uint64_t short_ticks; /* of its depth: a call that takes less changes no summary */
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_START or 0 */
};

/* What calls of one function add up to in the current chunk. */
struct nsc_lane_total {
    uint64_t ticks[2];    /* of activations with no open one of the same function below; others */
    uint64_t child_ticks; /* of both, in direct callees */
    uint64_t min_ticks;   /* of the shortest */
    uint64_t range_ticks; /* longest - shortest + 1; 0: none has ended, not in the touched list */
    uint16_t *counts;     /* its run of lane->counts; how many calls ended is their sum */
    uint32_t active;      /* open calls of the function, in all */
    uint32_t unwinds;     /* calls that ended without returning */
    uint64_t unused;      /* a cache line each */
};

/*
 * How often calls of a function took how long, in the current chunk: a number for each bucket below
 * NSC_LANE_BUCKETS, so for all that take less than 2^27 ticks. Longer ones are rare and go into a
 * list, and so does what exceeds the 16 bits of a count.
 */
#define NSC_LANE_BUCKETS 200u

struct nsc_lane_many {
    uint32_t function;
    uint32_t bucket;
    uint64_t calls;
};

/* The longest call so far of those that started in the current span of one depth. */
struct nsc_lane_span {
    uint64_t span; /* start >> span_shift, or UINT64_MAX: none yet */
    uint64_t longest_ticks;
    uint64_t end_ticks;
    uint64_t function;
};

/* Position of the floor: no event of the recorder has it, as positions are multiples of 8 << 16. */
#define NSC_LANE_NOWHERE 0x10000ull

/* A lane without buffers is "cold": at == limit.
 */
struct nsc_lane {
    /* Hot. */
    uint8_t *at;    /* next byte of the chunk */
    uint8_t *limit; /* at >= limit: no run takes an event; NSC_LANE_SLACK bytes lie behind it */
    uint64_t last_ticks;
    struct nsc_lane_frame *top; /* innermost open call; == floor if there is none */
    struct nsc_lane_frame
        *floor; /* below the outermost call: takes the roots' time as a callee's */
    struct nsc_lane_total *totals; /* by function id, totals_count of them */
    const uint32_t *shorts;        /* into the writer's, see nsc_lane_shorts_fill() */
    uint64_t least;                /* ticks between events that the chunk does not tell */
    uint64_t span_until;           /* where the last event's span of time ends */
    struct nsc_lane_span *spans;   /* by depth, span_count of them */
    uint32_t *touched;             /* functions of which calls ended; room for totals_count */
    uint16_t *counts;              /* runs of NSC_LANE_BUCKETS; the first is used without memory */
    struct nsc_lane_frame *high; /* highest top in the chunk; top <= high <= floor + frames_room */
    struct nsc_lane_frame *low;  /* lowest top in the chunk */
    uint32_t totals_count;
    uint32_t touched_count;
    uint32_t span_count;
    uint32_t frames_room;
    uint32_t span_shift;
    bool full; /* the next record tells its ticks in full; never if least is 0 */
    /* Cold. */
    uint32_t thread;      /* id in the thread table */
    bool chunk_open;      /* the chunk has an event */
    bool dead;            /* out of memory: events are dropped */
    bool rows_cut;        /* a summary row did not fit: the chunk goes without summary */
    uint8_t until_choice; /* chunks before `least` is chosen anew */
    uint32_t full_count;  /* FULL records in the chunk */
    uint32_t span_bias;
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
    void *totals_memory;     /* totals are a part of it, at the bounds of cache lines */
    uint32_t counts_room;    /* runs of counts */
    uint32_t many_count, many_room;
    struct nsc_lane_many *many; /* what does not go into counts */
    uint32_t level_count;
    struct nsc_writer_level *levels; /* chunks and nodes that wait for the node above them */
    struct nsc_writer *writer;
    struct nsc_lane *previous, *next;
    struct nsc_lane *warm_previous, *warm_next; /* among those with buffers */
    bool warm;                                  /* is one of them */
};

#define NSC_LANE_SLACK       32
/* Room that any event but a loss fits: 10 + 5 bytes. */
#define NSC_LANE_EVENT_BYTES 16
/* A longer pause than this, or one backwards, is looked at; one below SHORT takes two bytes. */
#define NSC_LANE_DELTA_MAX   ((uint64_t)1 << 40)
#define NSC_LANE_DELTA_SHORT ((uint64_t)0x4000 >> 2)
/* Bound of `least`, and so of deltas that take two bytes. */
#define NSC_LANE_LEAST_MAX   ((uint64_t)255)
#define NSC_LANE_SHORT_MAX   (NSC_LANE_DELTA_SHORT + NSC_LANE_LEAST_MAX)
#define NSC_LANE_SHORTS      (NSC_LANE_SHORT_MAX + NSC_LANE_LEAST_MAX)

/*
 * What there is to know of a number of ticks below NSC_LANE_SHORT_MAX, by table: of one below
 * NSC_LANE_DELTA_SHORT the one or two bytes as a delta of kind 0, and how many they are << 24; its
 * bucket << 16. The table begins with NSC_LANE_LEAST_MAX entries that nobody looks at: in a lane
 * @shorts points as many entries before the one of 0 as `least` says, so that an event's place is
 * its whole delta.
 */
void nsc_lane_shorts_fill(uint32_t shorts[NSC_LANE_SHORTS]);

#endif
