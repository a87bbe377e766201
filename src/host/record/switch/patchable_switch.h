/*
 * patchable_switch.h - enable and disable functions whose entry alone can be patched, in running
 * processes. Their code is generated in the process, so its control function is called
 * (NSC_CONTROL_APPLY). See docs/adr/013.
 *
 * Called by attach.c and recorder.c. Processes without such functions are unaffected.
 */
#ifndef NSC_RECORD_SWITCH_PATCHABLE_SWITCH_H
#define NSC_RECORD_SWITCH_PATCHABLE_SWITCH_H

#include "record/drain/tracee.h"

/**
 * nsc_patchable_follow - apply the current filter in every process.
 * Returns 0 or -errno with @diag, as nsc_process_call(), for the first living process that could
 * not be called; the others are called regardless. Processes not called
 * within the limit (@all->calls, begun by the caller): -ETIMEDOUT.
 */
int nsc_patchable_follow(struct nsc_tracees *all, struct nsc_diag *diag);

/** nsc_patchable_end - disable all functions. Returns as nsc_patchable_follow(). */
int nsc_patchable_end(struct nsc_tracees *all, struct nsc_diag *diag);

#endif
