/*
 * filter_change.h - another filter, or another name of the thread, while calls are open: what is
 * written of those stays so and gets its end, the rest does not appear.
 *
 * Called by tracee.c, by stack.c and event_loop.c when an event is behind the change.
 */
#ifndef NSC_RECORD_STACK_FILTER_CHANGE_H
#define NSC_RECORD_STACK_FILTER_CHANGE_H

#include "record/stack/stack_state.h"

/* The rules that are in force have an end (rules->until_ticks), though they began without: the
 * thread's first ones are @rules. */
void nsc_stacks_sift(struct nsc_stacks *s, const struct nsc_filter_rules *rules);
/* Ask again whether the thread is wanted: its name has changed. */
void nsc_stacks_renamed(struct nsc_stacks *s);

/* These rules are in force from now on. */
void nsc_stacks_begin_rules(struct nsc_stacks *s, const struct nsc_filter_rules *rules);
/* The rules for calls that were in force end before @ticks. */
void nsc_stack_turn(struct nsc_stacks *s, uint64_t ticks);

#endif
