/*
 * metrics_rounds.h - samples and states beside the calls: when they begin and end, what is said of
 * them.
 *
 * Called by recorder.c and recorder_end.c. Who is sampled is tracee.c's business, how is
 * host/metrics'.
 */
#ifndef NSC_RECORD_RECORDER_METRICS_ROUNDS_H
#define NSC_RECORD_RECORDER_METRICS_ROUNDS_H

#include "record/recorder/recorder_state.h"

/* Begin, if options->sample_ns says so. Raises this process's limit on open files as far as it may:
 * to be called when nobody inherits it any more. */
void nsc_metrics_rounds_begin(struct nsc_recorder *r);
/* One round. Returns how long the next one may be put off at most, in ns. */
uint64_t nsc_metrics_rounds_round(struct nsc_recorder *r);
/* All threads are finished: say in the trace and in @result how it went, and end. */
void nsc_metrics_rounds_end(struct nsc_recorder *r, struct nsc_record_result *result);

#endif
