/*
 * chunk_overwrite.h - overwrite mode (ring) in the traced program: a thread that finds no free
 * chunk takes the oldest full one, without the recorder. Internal to target/linux; the rules of
 * current_session.h apply; docs/adr/021-ring.md has the protocol.
 */
#ifndef NSC_LINUX_EVENTS_CHUNK_OVERWRITE_H
#define NSC_LINUX_EVENTS_CHUNK_OVERWRITE_H

#include "linux/events/thread_state.h"

/**
 * nsc_chunk_overwrite - take the oldest full chunk of the session, of any thread, count its events
 * as overwritten, and clear it.
 * @p: place of the calling thread. @seq: sequence number for the chunk. @count: chunks of the pool.
 *
 * Returns the chunk's number, now OWNED, or 0: not overwrite mode, or all chunks are in use, or the
 * thread has moved to another place (or is in a forked child).
 * Context: any; may be interrupted anywhere, and left by siglongjmp.
 */
uint32_t nsc_chunk_overwrite(const struct nsc_place *p, uint32_t seq, uint32_t count);

#endif
