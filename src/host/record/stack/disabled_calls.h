/*
 * disabled_calls.h - calls that were open when their function was switched off: nobody sees them
 * end.
 *
 * Each thread looks up disabled_functions.h as its events pass the time of a switch, and ends such
 * calls (docs/adr/007-recorder.md).
 */
#ifndef NSC_RECORD_STACK_DISABLED_CALLS_H
#define NSC_RECORD_STACK_DISABLED_CALLS_H

#include "record/stack/disabled_functions.h"
#include "record/stack/stack_state.h"

/* Look for the next one, as when there is one more: events are told apart from then on. */
void nsc_stacks_disabled_next(struct nsc_stacks *s);
/* What nsc_disabled_functions_drop() is about to forget counts for what is open, wherever the
 * thread's events are. */
void nsc_stacks_disabled_pass(struct nsc_stacks *s);

/* Functions were switched off before @ticks. @seen: an event is at hand; else a gap, or nobody
 * waits for one. */
void nsc_stack_turn_off(struct nsc_stacks *s, uint64_t ticks, bool seen);

/* The first entry behind offs, just told, is here; or its code is NULL: an exit. */
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

#endif
