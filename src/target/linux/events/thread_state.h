/*
 * thread_state.h - where a thread is: its place in the session, and the chunks that it has.
 * Internal to runtime/; the rules of current_session.h hold.
 *
 * struct nsc_runtime_thread.chunks holds, in one word, so that one compare-and-swap replaces both:
 *   bits 0..19   index + 1 of the chunk that `pos` is in, 0 if there is none
 *   bits 20..39  index + 1 of the chunk before it while it is not yet published, else 0
 *   bits 40..63  generation: changes with every switch and with every move of the anchor
 *
 * struct nsc_runtime_thread.place says which session all these words belong to, and which thread
 * slot there is ours: bits 32..63 the session's generation, bits 0..31 the slot's index + 1, or 0.
 * A handler may move the thread to another session while it interrupts a slow path. The slow path
 * looks its place up once (struct nsc_place) and goes on with that: it reads a word of the thread
 * first, then compares the place, and writes only by a compare-and-swap with what it has read. So
 * it notices, and begins anew; what it does in the shared memory of a session that is over does no
 * harm.
 */
#ifndef NSC_LINUX_EVENTS_THREAD_STATE_H
#define NSC_LINUX_EVENTS_THREAD_STATE_H

#include "linux/session/session_state.h"

#define NSC_CHUNKS_CURRENT(word)  ((uint32_t)(word)&0xfffffu)
#define NSC_CHUNKS_PREVIOUS(word) ((uint32_t)((word) >> 20) & 0xfffffu)
#define NSC_CHUNKS_GENERATION     (1ull << 40)

/*
 * A chunk's slots, from its start to its end:
 *   fast path | HEADROOM: for handlers that interrupt the slow path | SPARE: never written
 * A hook that finds no room has already moved `pos` past the end; SPARE keeps such a slot, and
 * those of handlers nested in that very instant, from being mistaken for the start of the chunk
 * behind.
 */
#define NSC_SLOT_BYTES     16u
#define NSC_HEADROOM_SLOTS 256u
#define NSC_SPARE_SLOTS    16u

/* A thread's place in a session, looked up once. */
struct nsc_place {
    struct nsc_target_session *session;
    struct nsc_runtime_thread *words;
    uint64_t place;  /* `place` of the thread's words as it was looked up */
    uint32_t thread; /* index of the thread slot */
};

/** nsc_thread_moved - whether the thread has another place by now. What was read of its words
 * before this call belongs to @p, if it has not. */
static inline int nsc_thread_moved(const struct nsc_place *p)
{
    return NSC_LOAD(&p->words->place) != p->place;
}

#endif
