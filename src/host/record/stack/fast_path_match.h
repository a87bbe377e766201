/*
 * fast_path_match.h - which events are plain: calls and returns on the current stack, in order of
 * time. Used by event_loop.c and fast_path.c, whose loops take those themselves; it changes
 * nothing.
 */
#ifndef NSC_RECORD_STACK_FAST_PATH_MATCH_H
#define NSC_RECORD_STACK_FAST_PATH_MATCH_H

#include "record/stack/event_word.h"

/* Is the event of this hook a plain call from the innermost frame, or its plain return? */
static inline bool nests(const struct nsc_lane_frame *top, uint64_t key)
{
    return (top->position - key - KEY_STEP) >> REACH_SHIFT == 0;
}

static inline bool returns(const struct nsc_lane_frame *top, uint64_t key,
                           const struct nsc_code *code)
{
    return top->position - key < KEY_STEP &&
           ((code->flags & NSC_CODE_HEADER) == 0 || top->function == code->function);
}

/* What stays the same over a run of plain events. */
struct nsc_plain {
    const struct nsc_codes *codes;
    struct nsc_lane *lane;
    uint64_t exit_mask, address_mask, anchor;
    bool marked;         /* see struct nsc_stacks */
    uint64_t low, high;  /* keys between which an outermost call is surely the current stack's */
    uint64_t until;      /* ticks until which the codes hold, and no function has gone off */
    const uint64_t *end; /* the last slot that may be read */
};

/* Is the event a plain call from outside, with nothing open? */
static inline bool begins(const struct nsc_plain *p, const struct nsc_lane_frame *top, uint64_t key)
{
    return top->position == NSC_LANE_NOWHERE && key - p->low <= p->high - p->low;
}

/* Is the event after this entry its own exit? */
static inline bool is_leaf(uint64_t entry, uint64_t next, uint64_t exit_mask, bool header)
{
    if (header)
        return (entry ^ next) == exit_mask;
    return (next & exit_mask) != 0 && (entry ^ next) >> 48 == 0 && !is_record(next);
}

/* Is the time of the next event not before @ticks, and do the codes hold for it? They do for
 * @ticks.
 */
static inline bool follows(const struct nsc_plain *p, uint64_t ticks, uint64_t next)
{
    return next - ticks < p->until - ticks;
}

/*
 * Where exits are not timed: the times of the event at @slot and of the one behind, 0 if they have
 * none. An exit, also one that its entry tells, has that of the next event that has one, which is
 * kept in @coming for further exits. False: it is not known yet, or before the last event's.
 */
static inline __attribute__((always_inline)) bool plain_times(const struct nsc_plain *p,
                                                              const uint64_t *slot, uint64_t last,
                                                              uint64_t *ticks, uint64_t *next,
                                                              uint64_t *coming)
{
    if (*ticks != 0)
        *coming = 0;
    if (*coming == 0 && (*ticks == 0 || (*next == 0 && has_returned(slot)))) {
        const uint64_t *timed = next_timed(slot + 2, p->end + 2, p->exit_mask);

        if (timed == NULL)
            return false;
        *coming = slot_ticks(timed, last, false);
    }
    if (*ticks == 0)
        *ticks = *coming;
    if (*next == 0)
        *next = *coming > *ticks ? *coming : *ticks;
    return *ticks >= last;
}

static inline struct nsc_plain plain_begin(const struct nsc_stacks *s, const uint64_t *words,
                                           size_t to)
{
    const struct nsc_stack *st = s->current;

    return (struct nsc_plain){
        .codes = s->codes,
        .lane = st->lane,
        .marked = s->marked,
        .low = st->high - st->low < REACH_BELOW ? st->low : st->high - REACH_BELOW,
        .high = st->high,
        .until = s->codes->until_ticks < s->off_ticks ? s->codes->until_ticks : s->off_ticks,
        .exit_mask = 1ull << s->exit_bit,
        .address_mask = NSC_LIVE_ADDRESS_MASK & ~(1ull << s->exit_bit),
        .anchor = s->anchor,
        .end = words + 2 * (to - 1),
    };
}

#endif
