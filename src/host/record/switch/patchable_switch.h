/*
 * patchable_switch.h - functions of which only the entry can be patched, in processes that run:
 * their code is made in the process, so it has to be asked (NSC_CONTROL_APPLY). docs/adr/013.
 *
 * Called by whoever changes what is recorded. Processes without such functions are left alone.
 */
#ifndef NSC_RECORD_SWITCH_PATCHABLE_SWITCH_H
#define NSC_RECORD_SWITCH_PATCHABLE_SWITCH_H

#include "record/drain/tracee.h"

/**
 * nsc_patchable_follow - choose functions as the filter in force says, in every process.
 * Returns 0 or -errno with @diag, as nsc_process_call() for the first process that could not be
 * asked, though it lives; the others are all the same. After 20 s the rest is not asked any more:
 * -ETIMEDOUT.
 */
int nsc_patchable_follow(struct nsc_tracees *all, struct nsc_diag *diag);

/** nsc_patchable_end - no function is chosen any more. Returns as nsc_patchable_follow(). */
int nsc_patchable_end(struct nsc_tracees *all, struct nsc_diag *diag);

#endif
