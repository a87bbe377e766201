/*
 * stack.h - the stack rule: turns one thread's raw events into calls on its stacks.
 *
 * Called by drain.c with the slots of each chunk in order. Independent of shared memory, ELF and
 * files: it reads slots, looks up function ids in code_table.h and writes to lanes of trace/. The
 * slots are untrusted input. docs/adr/007-recorder.md explains the rule.
 *
 * The rule. Every event carries its stack position. An entry closes every open frame at or below
 * its position. An exit closes every frame below the one at its own position, and then that one. So
 * the tree is right after longjmp, throw and tail calls, whichever events are missing.
 *
 * With the header hook, a function inlined into its caller has its caller's position. Such an entry
 * closes an equal frame only if that is from the same hook site, and exits match by function too.
 *
 * An exit outside of all open calls is the end of a call whose entry was not recorded.
 * docs/adr/007-recorder.md says which of them can have been open when the thread's recording began.
 */
#ifndef NSC_RECORD_STACK_STACK_H
#define NSC_RECORD_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/stack/stack_state.h"

/* Initialize. The caller sets the fields before `anchor` first. Returns 0 or -ENOMEM. */
int nsc_stacks_init(struct nsc_stacks *s);
/* Frees memory; lanes belong to the trace writer. */
void nsc_stacks_free(struct nsc_stacks *s);

/* Begin a chunk. @anchor: its anchor; @open_ticks: when it was opened. */
void nsc_stacks_begin_chunk(struct nsc_stacks *s, uint64_t anchor, uint64_t open_ticks);

/**
 * nsc_stacks_run - apply the rule to slots.
 * @words: two words per slot; the traced program may write them meanwhile.
 * @from, @to: slot numbers, half open.
 * @stop_at_hole: stop at an incomplete slot; else skip it.
 *
 * Returns the number of the first slot that was not consumed: @to, or that of the hole. Cost: a few
 * ns per event while calls nest plainly; no allocation then.
 */
size_t nsc_stacks_run(struct nsc_stacks *s, const uint64_t *words, size_t from, size_t to,
                      bool stop_at_hole);

/**
 * nsc_stacks_gap - process a gap: events are missing here.
 * @lost, @left_out: numbers of events that were lost, and that the budget rejected.
 * @highest: highest position among them; 0: unknown. Frames above it were open all the time and
 *           stay open. All other frames are closed, because their ends may be missing.
 */
void nsc_stacks_gap(struct nsc_stacks *s, uint64_t ticks, uint64_t lost, uint64_t left_out,
                    uint64_t highest);
/* Process a gap with unknown positions: @events were lost here, 0: an unknown number. */
void nsc_stacks_lost(struct nsc_stacks *s, uint64_t ticks, uint64_t events);
/* As nsc_stacks_lost(), for events that the budget rejected. */
void nsc_stacks_left_out(struct nsc_stacks *s, uint64_t ticks, uint64_t events);

/* Keep calls from now on (last pass of overwrite mode). Open calls enter the trace with their true
 * start; all other dropped events count as lost. */
void nsc_stacks_keep(struct nsc_stacks *s);

/* Sleds were enabled, completely at @ticks. Until then, functions may have had their exits enabled
 * and not yet their entries. Must be called before later events are run. */
void nsc_stacks_switched_on(struct nsc_stacks *s, uint64_t ticks);
/* The recording ended at @ticks. Later events are not part of it, and are counted only if they are
 * lost. Calls that are open then stay open. Must be called before any of them is run; only the
 * first call has an effect. */
void nsc_stacks_end(struct nsc_stacks *s, uint64_t ticks);
/* The thread has ended: close all stacks. Calls that are still open end at @ticks, or when their
 * stack was left for good. */
void nsc_stacks_close(struct nsc_stacks *s, uint64_t ticks);

/* ---- For the loop over slots (event_loop.c) ------------------------------------------------- */

/* Process an event that does not nest plainly on the current stack. */
void nsc_stack_enter(struct nsc_stacks *s, const struct nsc_stack_event *event,
                     const struct nsc_code *code);
void nsc_stack_exit(struct nsc_stacks *s, const struct nsc_stack_event *event,
                    const struct nsc_code *code);
/* Switch the thread from one stack to another, by their names. @position: where the stack @to
 * continues, 0 if unknown. */
void nsc_stack_switch(struct nsc_stacks *s, uint64_t from, uint64_t to, uint64_t position);
/* Process a jump or an exception: end every frame at or below @position, and make its stack the
 * current one. */
void nsc_stack_leave(struct nsc_stacks *s, uint64_t position, uint64_t ticks);

#endif
