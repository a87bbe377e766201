/*
 * disabled_calls.h - open calls whose function was disabled: their exits are not recorded.
 *
 * When a thread's events pass the time at which functions were disabled (disabled_functions.h),
 * this module ends such calls (docs/adr/007-recorder.md).
 */
#ifndef NSC_RECORD_STACK_DISABLED_CALLS_H
#define NSC_RECORD_STACK_DISABLED_CALLS_H

#include "record/stack/disabled_functions.h"
#include "record/stack/stack_state.h"

/* Update off_ticks, the time of the next disable operation. Called also when one has been added: it
 * applies to later events. */
void nsc_stacks_disabled_next(struct nsc_stacks *s);
/* Apply the operations that nsc_disabled_functions_drop() is about to drop to the open calls,
 * independent of the time of the thread's events. */
void nsc_stacks_disabled_pass(struct nsc_stacks *s);

/* Apply all disable operations before @ticks. @seen: an event at @ticks is being processed; else
 * there is a gap, or no event follows. */
void nsc_stack_turn_off(struct nsc_stacks *s, uint64_t ticks, bool seen);

/* Process the first event after disable operations that were just applied: an entry with its @code,
 * or an exit with @code NULL. */
void nsc_stack_meet_offs(struct nsc_stacks *s, const struct nsc_stack_event *event,
                         const struct nsc_code *code);

/* Return true if the call of an exit without entry may have begun while its function was disabled,
 * after the last gap. Such a call need not have been open at that gap, and its duration is unknown.
 * Outside of all open calls this applies only to functions that have been disabled since: calls
 * that were open when the recording began end there, too. */
bool nsc_stack_began_while_off(const struct nsc_stacks *s, const struct nsc_code *code);

/* End orphaned calls, whose exits are not recorded, with the last event inside them. Called when no
 * event follows. */
void nsc_stack_unwind_orphans(struct nsc_stacks *s, struct nsc_stack *st);

#endif
