/* open_frames.c - see open_frames.h. */
#include "record/stack/open_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "record/stack/call_filter.h"

/* Return true if the stack may double its frames. The initial capacity is always allowed. */
static bool may_grow(const struct nsc_stacks *s, const struct nsc_stack *st)
{
    return s->limits == NULL || st->capacity == 0 || s->limits->frames >= st->capacity;
}

int nsc_stack_grow_shadow(struct nsc_stacks *s, struct nsc_stack *st)
{
    uint32_t capacity = st->capacity == 0 ? NSC_SHADOW_FIRST : st->capacity * 2;
    struct nsc_lane_frame *frames;

    if (capacity < st->capacity || !may_grow(s, st))
        return -ENOMEM;
    frames = realloc(st->shadow, ((size_t)capacity + 1) * sizeof *frames);
    if (frames == NULL)
        return -ENOMEM;
    if (st->shadow == NULL)
        frames[0] = (struct nsc_lane_frame){.position = NSC_LANE_NOWHERE};
    if (s->limits != NULL && st->capacity > 0)
        s->limits->frames -= st->capacity;
    st->shadow = frames;
    st->capacity = capacity;
    return 0;
}

void nsc_stack_unwind(struct nsc_stacks *s, struct nsc_stack *st, uint64_t ticks)
{
    const struct nsc_lane_frame *top = nsc_stack_innermost(st);

    /* No event inside it was seen since. */
    if (top != NULL && top->position == KEY_ORPHAN && ticks > s->before_ticks)
        ticks = s->before_ticks;
    if (nsc_stack_in_lane(st))
        nsc_lane_unwind(st->lane, ticks);
    else if (st->sieve != NULL)
        nsc_call_filter_unwind(st, ticks);
    else
        st->depth--;
}

void nsc_stack_miss(struct nsc_stacks *s, uint64_t *count)
{
    ++*count;
    if (s->current->sieve != NULL)
        nsc_call_filter_lost(s->current, s->last_ticks, 1);
    else if (s->current->lane != NULL)
        nsc_lane_lost(s->current->lane, s->last_ticks, 1);
}
