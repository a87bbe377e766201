/*
 * stack_state.h - what stack.c (the stacks and the rule) and event_loop.c (the loop over slots)
 * share.
 *
 * A frame's own word holds its position << 16 and, below, the low 16 bits of the program counter of
 * its hook (header hook; else 0): one comparison orders frames by position. Along a stack the
 * positions fall from the outermost frame inwards, so a position is found by bisection.
 */
#ifndef NSC_RECORD_STACK_STACK_STATE_H
#define NSC_RECORD_STACK_STACK_STATE_H

#include "record/stack/stack.h"
#include "trace/write/lane.h"

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

struct nsc_stack {
    struct nsc_lane *lane; /* NULL while calls are not kept, or before the first event */
    /* The open frames while lane is NULL, and under a sieve: below them, in [0], the floor, which
     * no event matches. Under a sieve, `bound` holds marks (enum nsc_frame_mark), and `child_ticks`
     * how many of the frames up to this one are wanted. */
    struct nsc_lane_frame *shadow;
    uint32_t depth, capacity; /* of shadow, without the floor */
    struct nsc_sieve *sieve;  /* the thread's; NULL: none */
    uint32_t pending;         /* the first frame that is pending; none is if >= depth */
    uint32_t held_depth;      /* where among the frames the losses belong */
    uint64_t held_lost;       /* events lost while a frame was pending */
    uint64_t held_ticks;      /* when, the last ones */
    uint32_t number;          /* in the trace: 0 = the thread's first stack */
    uint64_t name;            /* by NSC_LIVE_ESC_SWITCH; 0 = none */
    uint64_t low, high;       /* keys of outermost frames seen; high 0 = nothing seen yet */
    /* Keys of the outermost events since the last gap, of those that the rule takes one by one:
     * before all that is wanted was on (nsc_stacks.on_ticks), and from then on; 0: none. */
    uint64_t outer, outer_on;
    uint32_t kept;             /* frames that were open when the last gap began */
    uint64_t kept_ticks;       /* when the innermost of them did */
    uint64_t left_ticks, used; /* when it was left, in ticks and in `switches` */
    bool gone; /* left for a stack it had interrupted: its frames are most likely dead */
};

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

/* The innermost call, there is one, is over without an exit. */
void nsc_stack_unwind(struct nsc_stacks *s, struct nsc_stack *st, uint64_t ticks);

/* Functions were switched off before @ticks. @seen: an event is at hand; else a gap, or nobody
 * waits for one. */
void nsc_stack_turn_off(struct nsc_stacks *s, uint64_t ticks, bool seen);

/* The first entry behind offs, just told, is here; or its code is NULL: an exit. (See
 * disabled_calls.c.) */
void nsc_stack_meet_offs(struct nsc_stacks *s, const struct nsc_stack_event *event,
                         const struct nsc_code *code);

/* An exit without entry: may its call have begun while its function was off, behind the last gap?
 * Then it need not have been open at that gap, and nobody knows for how long it was. Outside of all
 * open calls only a function that is known to have been off since is suspected: what was open when
 * the recording began ends there, too. */
bool nsc_stack_began_while_off(const struct nsc_stacks *s, const struct nsc_code *code);

/* No event comes any more: calls whose end nobody would see are over with what was seen in them
 * last. */
void nsc_stack_unwind_orphans(struct nsc_stacks *s, struct nsc_stack *st);

/* Did the recording end before the event? All that follow it in the thread come later, too. */
static inline bool nsc_stack_is_over(struct nsc_stacks *s, uint64_t ticks)
{
    if (s->end_ticks == 0 || (ticks < s->end_ticks && s->off_ticks != 0))
        return false;
    s->off_ticks = 0;
    return true;
}

/* An event that does not nest plainly on the current stack. */
void nsc_stack_enter(struct nsc_stacks *s, const struct nsc_stack_event *event,
                     const struct nsc_code *code);
void nsc_stack_exit(struct nsc_stacks *s, const struct nsc_stack_event *event,
                    const struct nsc_code *code);
/* The rules for calls that were in force end before @ticks. */
void nsc_stack_turn(struct nsc_stacks *s, uint64_t ticks);
/* One event is missing just here, and counted at @count; what is open stays so. */
void nsc_stack_miss(struct nsc_stacks *s, uint64_t *count);
/* The thread goes from one stack to another, by their names. @position: where the stack @to goes
 * on, 0 if not known. */
void nsc_stack_switch(struct nsc_stacks *s, uint64_t from, uint64_t to, uint64_t position);
/* A jump or an exception: every frame at or below @position is over, and its stack is the current
 * one from now on. */
void nsc_stack_leave(struct nsc_stacks *s, uint64_t position, uint64_t ticks);

#endif
