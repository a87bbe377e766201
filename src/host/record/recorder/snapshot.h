/*
 * snapshot.h - writes the events that overwrite mode holds (flight recorder) to a file of its own
 * while the recording continues. Called by recorder.c when a client requests it.
 */
#ifndef NSC_RECORD_RECORDER_SNAPSHOT_H
#define NSC_RECORD_RECORDER_SNAPSHOT_H

#include "record/recorder/recorder_state.h"

/**
 * nsc_snapshot_take - serve the request in r->command. A child of the recorder writes the file,
 * from a copy of the memory, and answers the client. The recording pauses only for the fork.
 * Returns 0 (the child serves the client) or -errno with @diag: -EINVAL (not in overwrite mode, or
 * an invalid request), -EBUSY (too many snapshots are being written), -EEXIST (the path is another
 * file), or an error of fork().
 */
int nsc_snapshot_take(struct nsc_recorder *r, struct nsc_diag *diag);
/* Check whether the ring has been copied; if so, allow overwriting again. Call it in every round;
 * costs nothing while there is no snapshot. */
void nsc_snapshot_look(struct nsc_recorder *r);

#endif
