/*
 * timed_modules.h - `--timing entry`: which modules it is true of. The exits of sleds leave the
 * timer alone then; those of the header hook and of patchable entries read it always. Called by
 * tracee.c and recorder_end.c.
 */
#ifndef NSC_RECORD_MODULES_TIMED_MODULES_H
#define NSC_RECORD_MODULES_TIMED_MODULES_H

#include "record/modules/modules.h"
#include "record/options/recording_options.h"

/* Module files[@index] was found to have @hooks (bit set, 1 << enum nsc_live_hook): the trace is to
 * say if its calls are timed in full. */
void nsc_timed_modules_note(struct nsc_modules *modules, uint32_t index, uint32_t hooks);

/* The recording ends: what @result and the trace are told of all modules. */
void nsc_timed_modules_end(const struct nsc_modules *modules, struct nsc_record_result *result);

#endif
