/*
 * metrics_rounds.h - runs the sampling of metrics and thread states during a recording, and writes
 * its metadata.
 *
 * Called by recorder.c and recorder_end.c. tracee.c decides which threads are sampled; host/metrics
 * takes the samples.
 */
#ifndef NSC_RECORD_RECORDER_METRICS_ROUNDS_H
#define NSC_RECORD_RECORDER_METRICS_ROUNDS_H

#include "record/recorder/recorder_state.h"

/* Begin, if options->sample_ns is not 0. Raises this process's limit on open files as far as
 * allowed: call it when no child inherits the limit any more. */
void nsc_metrics_rounds_begin(struct nsc_recorder *r);
/* Run one round. Returns the maximum time until the next one, in ns. */
uint64_t nsc_metrics_rounds_round(struct nsc_recorder *r);
/* End, after all threads are finished. Writes a summary to the trace and to @result. */
void nsc_metrics_rounds_end(struct nsc_recorder *r, struct nsc_record_result *result);

#endif
