/*
 * thread_state.h - a thread's state: its place in the session, and its chunks. Internal to
 * target/linux; the rules of current_session.h apply.
 *
 * struct nsc_runtime_thread.chunks holds these in one word, so that one compare-and-swap replaces
 * all:
 *   bits 0..19   index + 1 of the chunk that `pos` is in, 0 if there is none
 *   bits 20..39  index + 1 of the previous chunk while it is not yet published, else 0
 *   bits 40..63  generation: changes with every switch of chunks and with every move of the anchor
 *
 * struct nsc_runtime_thread.place identifies the session of all these words, and the thread's slot
 * there: bits 32..63 are the session's generation, bits 0..31 the slot's index + 1, or 0. A signal
 * handler may move the thread to another session while it interrupts a slow path. The slow path
 * looks its place up once (struct nsc_place). From then on it reads a word of the thread first,
 * compares the place next, and writes only by a compare-and-swap with the value that it has read.
 * So it detects the move and starts again. Its writes to the shared memory of a session that is
 * over are harmless.
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
 * A hook that finds the chunk full has already moved `pos` past the end. SPARE keeps such a slot,
 * and the slots of handlers nested at that point, from being mistaken for the start of the next
 * chunk.
 */
#define NSC_SLOT_BYTES     16u
#define NSC_HEADROOM_SLOTS 256u
#define NSC_SPARE_SLOTS    16u

/* A thread's place in a session, looked up once. */
struct nsc_place {
    struct nsc_target_session *session;
    struct nsc_runtime_thread *words;
    uint64_t place;  /* the thread's `place` word at the lookup */
    uint32_t thread; /* index of the thread slot */
};

/** nsc_thread_moved - return 1 if the thread's place has changed. If it has not, all words of the
 * thread that were read before this call belong to @p. */
static inline int nsc_thread_moved(const struct nsc_place *p)
{
    return NSC_LOAD(&p->words->place) != p->place;
}

#endif
