/*
 * call_filter.h - which of a thread's calls are written: the rules that go by the calls that are
 * open.
 *
 * Between the stack rule (stack.c), which says what is called and what ends, and the lanes of
 * trace/. Under a sieve all open calls are in the stack's shadow; the lane knows those that are
 * written.
 *
 * By its entry a call is wanted or not, and that is final: its function passes the filter, its
 * thread is wanted, the recording is between trigger and stopper, a call of the caller asked for is
 * open or is this one, and fewer wanted calls are open than the depth allows. A wanted call is
 * written with its end, unless it was shorter than the least duration; then all it called was
 * shorter, too. It is written late: when it has been open for that long, the calls it is in first,
 * so that the lane sees every event in its place. Of a call whose end nobody saw counts the time
 * until it was known to be over.
 *
 * Each event that is not written counts in nsc_stacks_stats.left_out.
 */
#ifndef NSC_RECORD_STACK_CALL_FILTER_H
#define NSC_RECORD_STACK_CALL_FILTER_H

#include <stdint.h>

#include "record/stack/stack_state.h"

/* Why a call that does not matter to the rules is not wanted, when these are open; 0: it is. */
uint32_t nsc_call_filter_reason(const struct nsc_call_filter *sieve);

/* What happens on a stack whose shadow holds its frames. There is room for one more frame. */
void nsc_call_filter_enter(struct nsc_stack *st, uint64_t ticks, uint64_t key,
                           const struct nsc_code *code);
void nsc_call_filter_exit(struct nsc_stack *st, uint64_t ticks);
void nsc_call_filter_unwind(struct nsc_stack *st, uint64_t ticks);
/* Nothing is open. @since_ticks: when the call began at the latest. */
void nsc_call_filter_late_exit(struct nsc_stack *st, uint64_t ticks, uint64_t since_ticks,
                               const struct nsc_code *code);
/* @events were lost just here; they are counted by the caller. */
void nsc_call_filter_lost(struct nsc_stack *st, uint64_t ticks, uint64_t events);
/* All that is still open ends now; the lane is the caller's to close. */
void nsc_call_filter_close(struct nsc_stack *st, uint64_t ticks);

/* Write the calls that have been open for long enough at @ticks. */
void nsc_call_filter_settle(struct nsc_stack *st, uint64_t ticks);

#endif
