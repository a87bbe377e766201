/*
 * open_frames.h - the open frames of a stack, whether its lane holds them or its shadow: room for
 * more of them, ends without an exit, and events that are missing.
 *
 * Called by stack.c, filter_change.c, disabled_calls.c and event_loop.c.
 */
#ifndef NSC_RECORD_STACK_OPEN_FRAMES_H
#define NSC_RECORD_STACK_OPEN_FRAMES_H

#include "record/stack/stack_state.h"

enum { NSC_SHADOW_FIRST = 64 }; /* frames that a shadow begins with, whatever the limits */

/* Twice the frames in the shadow. 0 or -ENOMEM, also where the limits forbid it. */
int nsc_stack_grow_shadow(struct nsc_stacks *s, struct nsc_stack *st);

/* Room for one more frame in the shadow? If not, its exit will not match. */
static inline bool nsc_stack_has_room(struct nsc_stacks *s, struct nsc_stack *st)
{
    return st->depth < st->capacity || nsc_stack_grow_shadow(s, st) == 0;
}

/* The innermost call, there is one, is over without an exit. */
void nsc_stack_unwind(struct nsc_stacks *s, struct nsc_stack *st, uint64_t ticks);

/* One event is missing just here, and counted at @count; what is open stays so. */
void nsc_stack_miss(struct nsc_stacks *s, uint64_t *count);

#endif
