/*
 * thread.h - finds a thread's place in the session, and moves it from chunk to chunk. Internal to
 * target/linux; the rules of current_session.h apply.
 *
 * A signal handler may interrupt this code between any two instructions, and do the same work for
 * the same thread. It may complete that work or leave it, by siglongjmp. So there is no "busy" flag
 * that could stay set: each step is one atomic operation on thread-local words or on the chunk
 * directory, and every call first completes the interrupted work.
 */
#ifndef NSC_LINUX_EVENTS_THREAD_H
#define NSC_LINUX_EVENTS_THREAD_H

#include "linux/events/thread_state.h"

/**
 * nsc_thread_present - look up the calling thread's place in the current session. Claims a thread
 * slot if the thread has none.
 * Returns 1, or 0 if nothing is recorded, or if no slot is free (then one lost event is counted).
 */
int nsc_thread_present(struct nsc_place *to);

/* A slot of a chunk, as described in live.h. */
struct nsc_slot {
    uint64_t word0, word1;
};

/* Word 0 of an escape record of @kind, followed by @more slots. */
#define NSC_RECORD(kind, more) ((uint64_t)(kind) | (uint64_t)(more) << 12)

/**
 * nsc_runtime_record - store an escape record, or several that belong together, in the calling
 * thread's chunk, if the thread is recorded. Without a free chunk the records are dropped.
 * @slots: as defined in live.h; no word 0 is zero.
 * @count: at most NSC_HEADROOM_SLOTS / 2.
 * @position: highest position of a call that the records may end; 0: they end none.
 */
void nsc_runtime_record(const struct nsc_slot *slots, unsigned count, uint64_t position);

/** nsc_runtime_unwound - record that all frames of this thread at or below @position have ended. */
void nsc_runtime_unwound(uint64_t position);

/**
 * nsc_runtime_switch - nanoscope_stack_switch() with the stack pointer, if known.
 * @stack_pointer: stack pointer at which the entered stack continues; 0: not known.
 */
void nsc_runtime_switch(uint64_t from_key, uint64_t to_key, uint64_t stack_pointer);

/** nsc_thread_lose - count @events lost events of this thread; their positions are at most
 * @position. */
void nsc_thread_lose(const struct nsc_place *p, uint64_t events, uint64_t position);

/**
 * nsc_thread_lose_at_once - count an event as lost without searching for a free chunk. Applies if
 * the calling thread had no chunk and the recorder's count of free chunks is zero. A search would
 * take several times as long as recording. The sled hooks of x86-64 do the same in assembly.
 * @slot, @position: of the event, as the hook found them.
 * Returns 1, or 0 if a search is needed. That includes each NSC_RUNTIME_LOST_LOOKth time, because
 * the count does not include all chunks, and to detect that the recorder is gone.
 */
int nsc_thread_lose_at_once(uint64_t slot, uint64_t position);

enum nsc_chunk_state {
    NSC_CHUNK_READY, /* `pos` is in a chunk of this thread, before its soft end */
    NSC_CHUNK_NONE,  /* no chunk is free, or the session is over */
    NSC_CHUNK_MOVED, /* another session has begun: look the place up again */
};

/**
 * nsc_thread_chunk_ready - make sure that there is room for an event. Publishes full chunks.
 * @position: of the event; used as the anchor if none is in force yet.
 */
enum nsc_chunk_state nsc_thread_chunk_ready(const struct nsc_place *p, uint64_t position);

enum nsc_slot_place {
    NSC_SLOT_NOWHERE, /* not a slot: the hook had no chunk, or was at its chunk's end */
    NSC_SLOT_MINE,    /* in a chunk of this thread; a handler may have published it: the recorder
                       * waits for missing slots */
    NSC_SLOT_TAKEN,   /* in a chunk that the recorder has taken back and counted as lost */
};

enum nsc_slot_place nsc_thread_slot_place(const struct nsc_place *p, uint64_t slot);

/* An anchor is in force unless anchor_low is 0 or a token (bit 63). */
static inline int nsc_thread_anchor_valid(uint64_t anchor_low)
{
    return anchor_low != 0 && anchor_low >> 63 == 0;
}

/** nsc_thread_anchor_token - return a value for anchor_low that fails every check and differs from
 * every other value in use. */
static inline uint64_t nsc_thread_anchor_token(struct nsc_runtime_thread *t)
{
    return 1ull << 63 | (uint64_t)NSC_ADD(&t->token, 1) << 4;
}

#endif
