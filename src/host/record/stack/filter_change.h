/*
 * filter_change.h - changes of the filter, or of the thread's name, while calls are open. Calls
 * that are written stay in the trace and get their ends; the others do not appear.
 *
 * Called by tracee.c, and by stack.c and event_loop.c when an event is after the change.
 */
#ifndef NSC_RECORD_STACK_FILTER_CHANGE_H
#define NSC_RECORD_STACK_FILTER_CHANGE_H

#include "record/stack/stack_state.h"

/* Start to use a call filter. The thread's current rules are @rules. They have got an end
 * (rules->until_ticks), though they began without one. */
void nsc_stacks_sift(struct nsc_stacks *s, const struct nsc_filter_rules *rules);
/* The thread's name has changed: check again whether the thread is selected. */
void nsc_stacks_renamed(struct nsc_stacks *s);

/* Put @rules into force. */
void nsc_stacks_begin_rules(struct nsc_stacks *s, const struct nsc_filter_rules *rules);
/* Replace the current rules by those in force at @ticks. */
void nsc_stack_turn(struct nsc_stacks *s, uint64_t ticks);

#endif
