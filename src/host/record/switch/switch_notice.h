/*
 * switch_notice.h - what the threads of a session hear of sleds that are switched while they run.
 *
 * Called by whoever has them switched: recorder.c, attach.c, budget.c, hook_switch.c.
 */
#ifndef NSC_RECORD_SWITCH_SWITCH_NOTICE_H
#define NSC_RECORD_SWITCH_SWITCH_NOTICE_H

#include "record/drain/tracee.h"

/* From now on sleds are switched while programs run (see nsc_stacks.switched). */
void nsc_switch_notice_begin(struct nsc_tracees *all);
/* Sleds have been switched on, all that were to be, at @ticks (see nsc_stacks_switched_on()); a
 * time that never comes: they are about to be switched off. Called before any event is read that
 * came since. */
void nsc_switch_notice_enabled(struct nsc_tracees *all, uint64_t ticks);
/* The recording ends now, unless it has: what happens while hooks are switched off, one after
 * another, is no part of it. But of a ring, which keeps the newest events. */
void nsc_switch_notice_end_recording(struct nsc_tracees *all);
/* Functions have been switched off while the program runs. @off->functions is taken over. Called
 * before any event is read that came since. */
void nsc_switch_notice_disabled(struct nsc_tracees *all, const struct nsc_off *off);

#endif
