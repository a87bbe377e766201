/*
 * switch_notice.h - tell the decoders of all threads that sleds are switched while the program
 * runs, so that they interpret calls correctly that were open at that time.
 *
 * Called by recorder.c, attach.c, budget.c and hook_switch.c.
 */
#ifndef NSC_RECORD_SWITCH_SWITCH_NOTICE_H
#define NSC_RECORD_SWITCH_SWITCH_NOTICE_H

#include "record/drain/tracee.h"

/* From now on, sleds are switched while programs run (see nsc_stacks.switched). */
void nsc_switch_notice_begin(struct nsc_tracees *all);
/* All wanted sleds were enabled at @ticks (see nsc_stacks_switched_on()); UINT64_MAX: sleds are
 * about to be disabled. Must be called before later events are decoded. */
void nsc_switch_notice_enabled(struct nsc_tracees *all, uint64_t ticks);
/* End the recording now, unless it has ended: events that occur while hooks are disabled one by one
 * do not belong to it. A ring keeps the newest events, so there they do. */
void nsc_switch_notice_end_recording(struct nsc_tracees *all);
/* Functions were disabled while the program runs. Takes ownership of @off->functions. Must be
 * called before later events are decoded. */
void nsc_switch_notice_disabled(struct nsc_tracees *all, const struct nsc_off *off);

#endif
