/*
 * open_frames.h - open frames of a stack, in its lane or in its shadow: makes room for frames, ends
 * frames without an exit, and counts missing events.
 *
 * Called by stack.c, filter_change.c, disabled_calls.c and event_loop.c.
 */
#ifndef NSC_RECORD_STACK_OPEN_FRAMES_H
#define NSC_RECORD_STACK_OPEN_FRAMES_H

#include "record/stack/stack_state.h"

enum { NSC_SHADOW_FIRST = 64 }; /* initial capacity of a shadow, independent of the limits */

/* Double the shadow's capacity. Returns 0 or -ENOMEM, also if the limits forbid it. */
int nsc_stack_grow_shadow(struct nsc_stacks *s, struct nsc_stack *st);

/* Return true if the shadow has room for one more frame, or could grow. If not, the frame's exit
 * will not match. */
static inline bool nsc_stack_has_room(struct nsc_stacks *s, struct nsc_stack *st)
{
    return st->depth < st->capacity || nsc_stack_grow_shadow(s, st) == 0;
}

/* End the innermost call without an exit. There must be one. */
void nsc_stack_unwind(struct nsc_stacks *s, struct nsc_stack *st, uint64_t ticks);

/* Count one missing event in @count, and in the lane; open frames stay open. */
void nsc_stack_miss(struct nsc_stacks *s, uint64_t *count);

#endif
