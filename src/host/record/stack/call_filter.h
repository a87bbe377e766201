/*
 * call_filter.h - call filter of a thread: decides which calls are written, by rules that depend on
 * the calls that are open.
 *
 * It sits between the stack rule (stack.c), which determines calls and their ends, and the lanes of
 * trace/. With a call filter all open calls are in the stack's shadow; the lane has only those that
 * are written.
 *
 * A call is selected or rejected at its entry, and this is final. It is selected if its function
 * passes the filter, its thread is selected, the recording is between trigger and stopper, a call
 * of the requested caller is open or is this one, and fewer selected calls are open than the depth
 * allows.
 *
 * A selected call is written with its end, unless it was shorter than the minimum duration; then
 * all its callees were shorter, too. It is written when it has been open for that long, after the
 * calls that contain it, so that the lane gets all events in order. If the end of a call was not
 * recorded, its duration lasts until it is known to be over.
 *
 * Each event that is not written counts in nsc_stacks_stats.left_out.
 */
#ifndef NSC_RECORD_STACK_CALL_FILTER_H
#define NSC_RECORD_STACK_CALL_FILTER_H

#include <stdint.h>

#include "record/stack/stack_state.h"

/* Return the reason to reject any call at this time (enum nsc_left_out_reason); 0: none applies to
 * all calls. */
uint32_t nsc_call_filter_reason(const struct nsc_call_filter *sieve);

/* Process an event of a stack whose shadow holds its frames. The shadow must have room for one more
 * frame. */
void nsc_call_filter_enter(struct nsc_stack *st, uint64_t ticks, uint64_t key,
                           const struct nsc_code *code);
void nsc_call_filter_exit(struct nsc_stack *st, uint64_t ticks);
void nsc_call_filter_unwind(struct nsc_stack *st, uint64_t ticks);
/* No call is open. @since_ticks: latest possible start of the call. */
void nsc_call_filter_late_exit(struct nsc_stack *st, uint64_t ticks, uint64_t since_ticks,
                               const struct nsc_code *code);
/* Place @events lost events in the lane; the caller counts them. */
void nsc_call_filter_lost(struct nsc_stack *st, uint64_t ticks, uint64_t events);
/* End all open calls at @ticks. The caller closes the lane. */
void nsc_call_filter_close(struct nsc_stack *st, uint64_t ticks);

/* Write the calls that have reached the minimum duration at @ticks. */
void nsc_call_filter_settle(struct nsc_stack *st, uint64_t ticks);

#endif
