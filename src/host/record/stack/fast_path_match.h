/*
 * fast_path_match.h - defines plain events: calls and returns on the current stack, in order of
 * time. event_loop.c and fast_path.c process those in their own loops. Modifies no state.
 */
#ifndef NSC_RECORD_STACK_FAST_PATH_MATCH_H
#define NSC_RECORD_STACK_FAST_PATH_MATCH_H

#include "record/stack/event_word.h"

/* Return true if the event of this hook is a plain call from the innermost frame, or (returns())
 * its plain return. */
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

/* Values that are constant over a run of plain events. */
struct nsc_plain {
    const struct nsc_codes *codes;
    struct nsc_lane *lane;
    uint64_t exit_mask, address_mask, anchor;
    bool marked;         /* see struct nsc_stacks */
    uint64_t low, high;  /* range of keys of outermost calls surely on this stack */
    uint64_t until;      /* up to these ticks the codes are valid, and no function is disabled */
    const uint64_t *end; /* last slot that may be read */
};

/* Return true if the event is a plain outermost call: no call is open. */
static inline bool begins(const struct nsc_plain *p, const struct nsc_lane_frame *top, uint64_t key)
{
    return top->position == NSC_LANE_NOWHERE && key - p->low <= p->high - p->low;
}

/* Return true if the event after this entry is its own exit. */
static inline bool is_leaf(uint64_t entry, uint64_t next, uint64_t exit_mask, bool header)
{
    if (header)
        return (entry ^ next) == exit_mask;
    return (next & exit_mask) != 0 && (entry ^ next) >> 48 == 0 && !is_record(next);
}

/* Return true if the next event's time is not before @ticks, and the codes are valid then, as they
 * are at @ticks. */
static inline bool follows(const struct nsc_plain *p, uint64_t ticks, uint64_t next)
{
    return next - ticks < p->until - ticks;
}

/*
 * If exits are not timed: find the times of the event at @slot and of the next one; 0 on entry: no
 * time. An exit, including one that its entry marks, gets the time of the next timed event. @coming
 * caches that for further exits. Returns false if the time is not known yet, or is before that of
 * the last event.
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
