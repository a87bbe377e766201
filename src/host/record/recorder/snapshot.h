/*
 * snapshot.h - what a flight recorder holds, written to a file of its own while the recording goes
 * on. Called by recorder.c when a client asks for it.
 */
#ifndef NSC_RECORD_RECORDER_SNAPSHOT_H
#define NSC_RECORD_RECORDER_SNAPSHOT_H

#include "record/recorder/recorder_state.h"

/**
 * nsc_snapshot_take - do what r->command asks for.
 * A child of the recorder writes the file, from a copy of the memory, and answers the client; the
 * recording stands still only for the fork.
 * Returns 0 (the client is the child's) or -errno with @diag: -EINVAL (no ring, or an unreadable
 * request), -EBUSY (too many are being written), -EEXIST (something else is at the path), what
 * fork says.
 */
int nsc_snapshot_take(struct nsc_recorder *r, struct nsc_diag *diag);
/* Has the ring been copied? Then it may turn again. To be called in every round; costs nothing
 * while there is no snapshot. */
void nsc_snapshot_look(struct nsc_recorder *r);

#endif
