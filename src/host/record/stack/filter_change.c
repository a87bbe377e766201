/* filter_change.c - see filter_change.h. */
#include "record/stack/filter_change.h"

#include <errno.h>

#include "record/stack/call_filter.h"
#include "record/stack/open_frames.h"

void nsc_stacks_begin_rules(struct nsc_stacks *s, const struct nsc_filter_rules *rules)
{
    s->sieve.rules = rules;
    s->sieve.wanted = s->is_wanted == NULL || s->is_wanted(s->context, rules);
    s->sieve.open = !rules->trigger;
    s->sieve.trigger_calls = 0;
}

/* Move the frames of the lane to the shadow; all of them are written. */
static int move_to_shadow(struct nsc_stacks *s, struct nsc_stack *st)
{
    uint32_t count = nsc_stack_depth(st), i;

    while (st->capacity <= count)
        if (nsc_stack_grow_shadow(s, st) != 0)
            return -ENOMEM;
    for (i = 0; st->lane != NULL && i < count; i++)
        st->shadow[i + 1] = *nsc_stack_frame(st, i);
    for (i = 0; i < count; i++) {
        st->shadow[i + 1].bound = NSC_FRAME_WRITTEN;
        st->shadow[i + 1].child_ticks = i + 1;
    }
    st->depth = count;
    return 0;
}

void nsc_stacks_sift(struct nsc_stacks *s, const struct nsc_filter_rules *rules)
{
    uint32_t i;

    if (s->sieve.rules != NULL)
        return;
    s->rules = rules;
    for (i = 0; i < s->count; i++)
        if (move_to_shadow(s, s->stacks[i]) != 0)
            return; /* out of memory: this thread continues without a call filter */
    nsc_stacks_begin_rules(s, rules);
    for (i = 0; i < s->count; i++)
        s->stacks[i]->sieve = &s->sieve;
}

void nsc_stacks_renamed(struct nsc_stacks *s)
{
    if (s->sieve.rules != NULL && s->is_wanted != NULL)
        s->sieve.wanted = s->is_wanted(s->context, s->sieve.rules);
}

/* Apply new rules to the open calls. Written calls stay in the trace and get their ends; the others
 * do not appear. */
static void turn_stack(struct nsc_stacks *s, struct nsc_stack *st)
{
    uint32_t i, wanted = 0, under = 0;

    for (i = 1; i <= st->depth; i++) {
        struct nsc_lane_frame *frame = &st->shadow[i];
        uint32_t marks = frame->bound & ~(uint32_t)(NSC_FRAME_UNDER | NSC_FRAME_STOPS);
        uint32_t roles = s->roles(s->context, s->sieve.rules, frame->function);

        if ((roles & NSC_CODE_CALLER) != 0)
            under = NSC_FRAME_UNDER;
        if ((marks & NSC_FRAME_PENDING) != 0) {
            s->stats.left_out[NSC_LEFT_OUT_SHORT]++;
            marks = NSC_LEFT_OUT_SHORT << NSC_FRAME_REASON;
        }
        wanted += (marks & NSC_FRAME_WRITTEN) != 0;
        frame->child_ticks = wanted;
        frame->bound =
            marks | under | ((roles & NSC_CODE_STOPPER) != 0 ? (uint32_t)NSC_FRAME_STOPS : 0);
    }
    st->pending = UINT32_MAX;
}

void nsc_stack_turn(struct nsc_stacks *s, uint64_t ticks)
{
    uint32_t i;

    while (ticks >= s->sieve.rules->until_ticks && s->sieve.rules->next != NULL) {
        for (i = 0; i < s->count; i++)
            nsc_call_filter_settle(s->stacks[i], s->sieve.rules->until_ticks);
        nsc_stacks_begin_rules(s, s->sieve.rules->next);
        for (i = 0; i < s->count; i++)
            turn_stack(s, s->stacks[i]);
    }
}
