/*
 * stack_state.h - the stacks of one thread and their open frames, shared by the files of this
 * folder.
 *
 * A frame's `position` word holds its position << 16. Its low 16 bits hold those of its hook's
 * program counter (header hook; else 0). So one comparison orders frames by position. Along a stack
 * the positions decrease from the outermost frame inwards, so a position is found by binary search.
 */
#ifndef NSC_RECORD_STACK_STACK_STATE_H
#define NSC_RECORD_STACK_STACK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/modules/code_table.h"
#include "record/options/filter_history.h"
#include "record/session/limits.h"
#include "record/stack/user_events.h"
#include "trace/format/model.h"
#include "trace/write/lane.h"

struct nsc_disabled_functions; /* disabled_functions.h */

#define KEY_SHIFT 16
#define KEY_PC    0xffffull
#define KEY_STEP  (1ull << KEY_SHIFT)

/* Maximum distance of a call below the innermost frame of the same stack (for an exit, also above
 * the outermost): larger than any realistic frame, smaller than the distance between stacks. */
#define REACH_BELOW (1ull << REACH_SHIFT)
#define REACH_SHIFT (24 + KEY_SHIFT) /* 16 MiB */

/* Position of an orphaned call: its function has been disabled, and other open calls lie inside it
 * (disabled_calls.c). Every later event lies outside of it. No event has this position, because
 * positions are multiples of 8. */
#define KEY_ORPHAN (2ull << KEY_SHIFT)

/* Marks of a frame of the shadow. Bits from NSC_FRAME_REASON on: why it is not written (enum
 * nsc_left_out_reason), 0 if it is or may be. */
enum nsc_frame_mark {
    NSC_FRAME_WRITTEN = 1, /* its entry was given to the lane, or counted as dropped */
    NSC_FRAME_PENDING = 2, /* selected, but has not reached the minimum duration */
    NSC_FRAME_UNDER = 4,   /* the requested caller is open: this frame or an outer one */
    NSC_FRAME_STOPS = 8,   /* at its end, recording waits for the trigger again */
};
#define NSC_FRAME_REASON 8

/* Call filter state of a thread; all zeros: no rules, every call is written at once. */
struct nsc_call_filter {
    const struct nsc_filter_rules *rules; /* in force; NULL: none */
    struct nsc_stacks_stats *stats;
    bool wanted;            /* the thread is selected */
    bool open;              /* between trigger and stopper; always true without a trigger */
    uint32_t trigger_calls; /* calls of the trigger so far */
};

struct nsc_stack {
    struct nsc_lane *lane; /* NULL while calls are not kept, or before the first event */
    /* The open frames if lane is NULL, or with a call filter. Element [0] is a sentinel, below
     * them, which no event matches. With a call filter, `bound` holds marks (enum nsc_frame_mark),
     * and `child_ticks` the number of selected frames up to this one. */
    struct nsc_lane_frame *shadow;
    uint32_t depth, capacity;      /* of shadow, without the sentinel */
    struct nsc_call_filter *sieve; /* call filter of the thread; NULL: none */
    uint32_t pending;              /* index of the first pending frame; none if >= depth */
    uint32_t held_depth;           /* depth at which the held losses belong */
    uint64_t held_lost;            /* events lost while a frame was pending */
    uint64_t held_ticks;           /* time of the last of them */
    uint32_t number;               /* in the trace: 0 = the thread's first stack */
    uint64_t name;                 /* by NSC_LIVE_ESC_SWITCH; 0 = none */
    uint64_t low, high;            /* range of keys of outermost frames; high 0 = no event yet */
    /* Keys of the outermost events since the last gap, among those not handled by the fast path:
     * before all selected functions were enabled (nsc_stacks.on_ticks), and after that; 0: none. */
    uint64_t outer, outer_on;
    uint32_t kept;             /* number of frames that were open when the last gap began */
    uint64_t kept_ticks;       /* start of the innermost of them */
    uint64_t left_ticks, used; /* when the stack was left, in ticks and in `switches` */
    bool gone; /* left for a stack that it had interrupted: its frames are most likely dead */
};

struct nsc_stacks_stats {
    uint64_t recorded; /* events given to lanes (entries, exits, late exits) */
    uint64_t dropped;  /* events processed by the rule but not kept (overwrite mode) */
    uint64_t lost;     /* events that the program reported as lost, see nsc_stacks_lost() */
    /* Exits without an entry inside open calls. They count as lost. If sleds were switched while
     * the program ran, the entry was not wanted, and they count as left out instead. */
    uint64_t unmatched;
    uint64_t cut; /* dropped events that nsc_stacks_keep() could not keep; lost too */
    uint64_t left_out[NSC_LEFT_OUT_REASONS]; /* events that were not wanted, by reason */
    uint64_t clamped; /* events whose ticks ran backwards without a known reason */
    uint64_t holes;   /* slots that were reserved but never completed; lost too */
};

struct nsc_stacks {
    struct nsc_codes *codes;
    /* Opens the stream of stack @stack (0, 1, ...) of this thread; returns 0 or -errno. */
    int (*open_lane)(void *context, uint32_t stack, uint64_t ticks, struct nsc_lane **lane);
    void *context;
    uint8_t exit_bit;
    bool keep;          /* false: only apply the rule, keep no calls (overwrite mode) */
    bool switched;      /* sleds are switched while the thread runs */
    uint64_t on_ticks;  /* from nsc_stacks_switched_on(); 0: all enabled from the start */
    uint64_t end_ticks; /* from nsc_stacks_end(); 0: the recording continues */
    bool marked;        /* entries may mark their calls as returned (NSC_LIVE_TICKS_RETURNED) */
    /* Call filter rules at the thread's start, or NULL. With rules, the callbacks tell whether the
     * thread is selected, and which roles a function of the trace has (NSC_CODE_ROLES). */
    const struct nsc_filter_rules *rules;
    bool (*is_wanted)(void *context, const struct nsc_filter_rules *rules);
    uint32_t (*roles)(void *context, const struct nsc_filter_rules *rules, uint32_t function);
    struct nsc_user_events notes;
    const struct nsc_disabled_functions
        *offs;                 /* NULL: no function is disabled while the thread runs */
    struct nsc_limits *limits; /* NULL: none */

    uint64_t anchor;       /* anchor in force, a position */
    uint64_t last_ticks;   /* of the thread's last event; 0 before its first */
    uint64_t near_ticks;   /* a time near that of the next event (see live.h, header hook) */
    uint64_t next_ticks;   /* a time after the current batch, 0: unknown; set by the caller */
    uint64_t since_ticks;  /* the thread's start, or end of its last gap */
    uint64_t before_ticks; /* ticks of the event before the current one */
    /* When the next disable operation was complete, or the recording ended; UINT64_MAX: neither. 0:
     * an event after the end was seen. 1: no event after the last disable operation was seen
     * yet. */
    uint64_t off_ticks;
    uint64_t offs_passed; /* disable operations before the thread's time, gaps included */
    uint64_t offs_met;    /* number of those before its last entry or exit */
    uint64_t since_key;   /* no event at or above this key was lost in any gap */
    struct nsc_stacks_stats stats;
    struct nsc_call_filter sieve;

    struct nsc_stack **stacks;
    struct nsc_stack *current;
    struct nsc_stack *entered; /* by the last NSC_LIVE_ESC_SWITCH; NULL: none, or evicted */
    uint32_t count, capacity;
    uint64_t switches; /* counts switches between stacks */
};

/* Return the number of events of the thread that are not in the trace. */
static inline uint64_t nsc_stacks_lost_total(const struct nsc_stacks *s)
{
    return s->stats.lost + s->stats.unmatched + s->stats.holes + s->stats.cut + s->stats.dropped;
}

/* A decoded event. */
struct nsc_stack_event {
    uint64_t ticks, key;
    uint64_t address;
    uint32_t pc16;
    bool exit;
};

/* Return true if the lane holds the open frames. */
static inline bool nsc_stack_in_lane(const struct nsc_stack *st)
{
    return __builtin_expect(st->lane != NULL && st->sieve == NULL, 1);
}

/* Return the innermost open frame, NULL if there is none. */
static inline struct nsc_lane_frame *nsc_stack_innermost(struct nsc_stack *st)
{
    if (nsc_stack_in_lane(st))
        return nsc_lane_top(st->lane);
    return st->depth > 0 ? &st->shadow[st->depth] : NULL;
}

static inline uint32_t nsc_stack_depth(const struct nsc_stack *st)
{
    return nsc_stack_in_lane(st) ? nsc_lane_depth(st->lane) : st->depth;
}

/* Return the frame at @index, counted from 0 = outermost. */
static inline struct nsc_lane_frame *nsc_stack_frame(struct nsc_stack *st, uint32_t index)
{
    if (nsc_stack_in_lane(st))
        return nsc_lane_top(st->lane) - (nsc_lane_depth(st->lane) - 1 - index);
    return &st->shadow[index + 1];
}

/* Return true if the recording ended before @ticks. All later events of the thread are after the
 * end, too. */
static inline bool nsc_stack_is_over(struct nsc_stacks *s, uint64_t ticks)
{
    if (s->end_ticks == 0 || (ticks < s->end_ticks && s->off_ticks != 0))
        return false;
    s->off_ticks = 0;
    return true;
}

#endif
