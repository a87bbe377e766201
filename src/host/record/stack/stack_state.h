/*
 * stack_state.h - the stacks of one thread and their open frames, as all of this room knows them.
 *
 * A frame's own word holds its position << 16 and, below, the low 16 bits of the program counter of
 * its hook (header hook; else 0): one comparison orders frames by position. Along a stack the
 * positions fall from the outermost frame inwards, so a position is found by bisection.
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

/* How far below the innermost frame (or above the outermost, for an exit) a call can be and still
 * be on the same stack: more than any sane frame, less than stacks lie apart. */
#define REACH_BELOW (1ull << REACH_SHIFT)
#define REACH_SHIFT (24 + KEY_SHIFT) /* 16 MiB */

/* Where a call is that other open calls lie in, and whose function has been switched off
 * (disabled_calls.c): whatever comes next lies outside of it. No event is here, as positions are
 * multiples of 8. */
#define KEY_ORPHAN (2ull << KEY_SHIFT)

/* What a frame of the shadow is; above NSC_FRAME_REASON: why it is not written (enum
 * nsc_left_out_reason), 0 if it is or may yet be. */
enum nsc_frame_mark {
    NSC_FRAME_WRITTEN = 1, /* its entry has been given to the lane, or counted as dropped */
    NSC_FRAME_PENDING = 2, /* wanted, and not yet long enough */
    NSC_FRAME_UNDER = 4,   /* the caller asked for is open: here or farther out */
    NSC_FRAME_STOPS = 8,   /* with its end recording waits for the trigger again */
};
#define NSC_FRAME_REASON 8

/* A thread's; zeroed: there are no rules, and every call is written as it comes. */
struct nsc_call_filter {
    const struct nsc_filter_rules *rules; /* in force; NULL: none */
    struct nsc_stacks_stats *stats;
    bool wanted;            /* the thread is */
    bool open;              /* between trigger and stopper; without trigger, always */
    uint32_t trigger_calls; /* of the trigger so far */
};

struct nsc_stack {
    struct nsc_lane *lane; /* NULL while calls are not kept, or before the first event */
    /* The open frames while lane is NULL, and under a sieve: below them, in [0], the floor, which
     * no event matches. Under a sieve, `bound` holds marks (enum nsc_frame_mark), and `child_ticks`
     * how many of the frames up to this one are wanted. */
    struct nsc_lane_frame *shadow;
    uint32_t depth, capacity;      /* of shadow, without the floor */
    struct nsc_call_filter *sieve; /* the thread's; NULL: none */
    uint32_t pending;              /* the first frame that is pending; none is if >= depth */
    uint32_t held_depth;           /* where among the frames the losses belong */
    uint64_t held_lost;            /* events lost while a frame was pending */
    uint64_t held_ticks;           /* when, the last ones */
    uint32_t number;               /* in the trace: 0 = the thread's first stack */
    uint64_t name;                 /* by NSC_LIVE_ESC_SWITCH; 0 = none */
    uint64_t low, high;            /* keys of outermost frames seen; high 0 = nothing seen yet */
    /* Keys of the outermost events since the last gap, of those that the rule takes one by one:
     * before all that is wanted was on (nsc_stacks.on_ticks), and from then on; 0: none. */
    uint64_t outer, outer_on;
    uint32_t kept;             /* frames that were open when the last gap began */
    uint64_t kept_ticks;       /* when the innermost of them did */
    uint64_t left_ticks, used; /* when it was left, in ticks and in `switches` */
    bool gone; /* left for a stack it had interrupted: its frames are most likely dead */
};

struct nsc_stacks_stats {
    uint64_t recorded; /* events given to lanes (entries, exits, late exits) */
    uint64_t dropped;  /* events run through the rule but not kept (ring) */
    uint64_t lost;     /* events that the program reported as lost, see nsc_stacks_lost() */
    /* Exits without an entry inside open calls. Lost too, unless sleds were switched while the
     * program ran: then the entry was not wanted, and they count as left out. */
    uint64_t unmatched;
    uint64_t cut; /* dropped events that nsc_stacks_keep() gave up; lost too */
    uint64_t left_out[NSC_LEFT_OUT_REASONS]; /* events that are not wanted, by reason */
    uint64_t clamped; /* events whose ticks ran backwards for no known reason */
    uint64_t holes;   /* slots reserved but never completed; lost too */
};

struct nsc_stacks {
    struct nsc_codes *codes;
    /* Begins the stream of stack @stack (0, 1, ...) of this thread; 0 or -errno. */
    int (*open_lane)(void *context, uint32_t stack, uint64_t ticks, struct nsc_lane **lane);
    void *context;
    uint8_t exit_bit;
    bool keep;          /* false: run the rule only, keep nothing (a ring that turns over) */
    bool switched;      /* sleds are switched while the thread runs */
    uint64_t on_ticks;  /* nsc_stacks_switched_on(); 0: from the start, what is wanted is on */
    uint64_t end_ticks; /* nsc_stacks_end(); 0: the recording goes on */
    bool marked;        /* entries may tell their exits (NSC_LIVE_TICKS_RETURNED) */
    /* Rules for calls: those that the thread begins with, or NULL. Then the other two say whether
     * the thread is wanted, and what a function of the trace is to the rules: NSC_CODE_ROLES. */
    const struct nsc_filter_rules *rules;
    bool (*is_wanted)(void *context, const struct nsc_filter_rules *rules);
    uint32_t (*roles)(void *context, const struct nsc_filter_rules *rules, uint32_t function);
    struct nsc_user_events notes;
    const struct nsc_disabled_functions
        *offs;                 /* NULL: nothing is switched off while the thread runs */
    struct nsc_limits *limits; /* NULL: none */

    uint64_t anchor;     /* position in force */
    uint64_t last_ticks; /* of the thread's last event; 0 before its first */
    uint64_t near_ticks; /* an instant that the next event is near to (see live.h, header hook) */
    uint64_t
        next_ticks; /* an instant behind the slots at hand, 0: not known; the caller's to set */
    uint64_t since_ticks;  /* nothing is closed unseen since: the thread's start, or a gap */
    uint64_t before_ticks; /* of the event before the one at hand */
    /* When the next of the offs was done, or the recording ended; UINT64_MAX: neither, 0: an event
     * behind the end was seen, 1: none behind the last of the offs was. */
    uint64_t off_ticks;
    uint64_t offs_passed; /* how many of them the thread's events are behind, gaps included */
    uint64_t offs_met;    /* and how many its last entry or exit is */
    uint64_t since_key;   /* from where on no event was lost in any gap */
    struct nsc_stacks_stats stats;
    struct nsc_call_filter sieve;

    struct nsc_stack **stacks;
    struct nsc_stack *current;
    uint32_t count, capacity;
    uint64_t switches; /* clock of stack use */
};

/* All events of the thread that are not in the trace. */
static inline uint64_t nsc_stacks_lost_total(const struct nsc_stacks *s)
{
    return s->stats.lost + s->stats.unmatched + s->stats.holes + s->stats.cut + s->stats.dropped;
}

/* An event, decoded. */
struct nsc_stack_event {
    uint64_t ticks, key;
    uint64_t address;
    uint32_t pc16;
    bool exit;
};

/* Are the open frames the lane's? */
static inline bool nsc_stack_in_lane(const struct nsc_stack *st)
{
    return __builtin_expect(st->lane != NULL && st->sieve == NULL, 1);
}

/* The innermost open frame, NULL if there is none. */
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

/* The frame at @index, counted from 0 = outermost. */
static inline struct nsc_lane_frame *nsc_stack_frame(struct nsc_stack *st, uint32_t index)
{
    if (nsc_stack_in_lane(st))
        return nsc_lane_top(st->lane) - (nsc_lane_depth(st->lane) - 1 - index);
    return &st->shadow[index + 1];
}

/* Did the recording end before the event? All that follow it in the thread come later, too. */
static inline bool nsc_stack_is_over(struct nsc_stacks *s, uint64_t ticks)
{
    if (s->end_ticks == 0 || (ticks < s->end_ticks && s->off_ticks != 0))
        return false;
    s->off_ticks = 0;
    return true;
}

#endif
