/*
 * chunk_overwrite.h - a ring without a recorder at hand: a thread that finds no free chunk takes
 * the oldest full one. Internal to runtime/; the rules of current_session.h hold,
 * docs/adr/021-ring.md has the protocol.
 */
#ifndef NSC_LINUX_EVENTS_CHUNK_OVERWRITE_H
#define NSC_LINUX_EVENTS_CHUNK_OVERWRITE_H

#include "linux/events/thread_state.h"

/**
 * nsc_chunk_overwrite - take the oldest full chunk of the session, whoever's it is, count what is
 * in it as overwritten, and clear it.
 * @p: who wants it. @seq: the sequence number that it gets. @count: chunks of the pool.
 *
 * Returns the chunk's number, OWNED now, or 0: this is no ring, or all chunks are in use, or the
 * thread has another place by now (so has a forked child).
 * Context: any; may be interrupted anywhere, and left.
 */
uint32_t nsc_chunk_overwrite(const struct nsc_place *p, uint32_t seq, uint32_t count);

#endif
