/*
 * stack.h - the stack rule: from one thread's raw events to calls on its stacks.
 *
 * Called by drain.c with the slots of each chunk in order. Knows nothing of shared memory, ELF or
 * files: it reads slots, asks code_table.h for function ids and speaks to trace/ lanes. The slots
 * are hostile input. docs/adr/007-recorder.md explains the rule.
 *
 * The rule. Every event carries its stack position. An entry closes every open frame at or below
 * its position, an exit closes every frame below the one at its own position and then that one. So
 * the tree is right after longjmp, throw and tail calls, whatever events are missing.
 * With the header hook a function inlined into its caller has its caller's position: such an entry
 * closes an equal frame only if that is the same hook site again, and exits match by function too.
 * An exit outside of all open calls is the end of one that began unseen; docs/adr/007-recorder.md
 * says which of them can have been open when the thread's recording began.
 */
#ifndef NSC_RECORD_STACK_STACK_H
#define NSC_RECORD_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/stack/stack_state.h"

/* Fields above `anchor` are the caller's to set before; 0 or -ENOMEM. */
int nsc_stacks_init(struct nsc_stacks *s);
/* Frees memory; lanes belong to the trace writer. */
void nsc_stacks_free(struct nsc_stacks *s);

/* A chunk begins: its anchor, and the instant it was opened. */
void nsc_stacks_begin_chunk(struct nsc_stacks *s, uint64_t anchor, uint64_t open_ticks);

/**
 * nsc_stacks_run - run the rule over slots.
 * @words: two words a slot; may be written by the traced program meanwhile.
 * @from, @to: slot numbers, half open.
 * @stop_at_hole: stop at a slot that is not complete, else step over it.
 *
 * Returns the number of the first slot not consumed: @to, or that of the hole.
 * Cost: a few ns an event while calls nest plainly; no allocation then.
 */
size_t nsc_stacks_run(struct nsc_stacks *s, const uint64_t *words, size_t from, size_t to,
                      bool stop_at_hole);

/**
 * nsc_stacks_gap - events are missing just here.
 * @lost, @left_out: how many were lost, and how many the budget turned away.
 * @highest: no position of theirs is above; 0: that is not known. What lies above was open all the
 *           time, and stays so. Of what else was open nobody saw what became: it is closed.
 */
void nsc_stacks_gap(struct nsc_stacks *s, uint64_t ticks, uint64_t lost, uint64_t left_out,
                    uint64_t highest);
/* The same if that is not known: @events were lost just here, 0: as many as nobody knows. */
void nsc_stacks_lost(struct nsc_stacks *s, uint64_t ticks, uint64_t events);
/* The same for events that the budget turned away. */
void nsc_stacks_left_out(struct nsc_stacks *s, uint64_t ticks, uint64_t events);

/* From now on calls are kept (the ring's last round): open calls enter the trace with their true
 * start; everything else dropped so far is lost. */
void nsc_stacks_keep(struct nsc_stacks *s);

/* Sleds were switched on, and all of that was done at @ticks: till then functions may have had
 * their exits on and not yet their entries. Called before later events are run. */
void nsc_stacks_switched_on(struct nsc_stacks *s, uint64_t ticks);
/* The recording ended at @ticks: later events are no part of it, and are not counted but for those
 * that are lost. What is open then stays so. Called before any of them is run; the first call
 * counts. */
void nsc_stacks_end(struct nsc_stacks *s, uint64_t ticks);
/* The thread has ended: close all stacks; what is still open ends now, or when its stack was left
 * for good. */
void nsc_stacks_close(struct nsc_stacks *s, uint64_t ticks);

/* ---- For the loop over slots (event_loop.c) ------------------------------------------------- */

/* An event that does not nest plainly on the current stack. */
void nsc_stack_enter(struct nsc_stacks *s, const struct nsc_stack_event *event,
                     const struct nsc_code *code);
void nsc_stack_exit(struct nsc_stacks *s, const struct nsc_stack_event *event,
                    const struct nsc_code *code);
/* The thread goes from one stack to another, by their names. @position: where the stack @to goes
 * on, 0 if not known. */
void nsc_stack_switch(struct nsc_stacks *s, uint64_t from, uint64_t to, uint64_t position);
/* A jump or an exception: every frame at or below @position is over, and its stack is the current
 * one from now on. */
void nsc_stack_leave(struct nsc_stacks *s, uint64_t position, uint64_t ticks);

#endif
