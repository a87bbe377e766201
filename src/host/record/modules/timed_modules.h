/*
 * timed_modules.h - the modules to which `--timing entry` does not apply. With this option, exit
 * sleds do not read the timer; exits of the header hook and of patchable entries always do. Called
 * by tracee.c and recorder_end.c.
 */
#ifndef NSC_RECORD_MODULES_TIMED_MODULES_H
#define NSC_RECORD_MODULES_TIMED_MODULES_H

#include "record/modules/modules.h"
#include "record/options/recording_options.h"

/* Record that module files[@index] has @hooks (bit set, 1 << enum nsc_live_hook). Lists the module
 * in the trace if all its calls have exit times. */
void nsc_timed_modules_note(struct nsc_modules *modules, uint32_t index, uint32_t hooks);

/* At the end of the recording, write the result for all modules to @result and to the trace. */
void nsc_timed_modules_end(const struct nsc_modules *modules, struct nsc_record_result *result);

#endif
