/*
 * thread.h - a thread finds its place in the session, and goes from chunk to chunk. Internal to
 * runtime/; the rules of current_session.h hold.
 *
 * Everything here may be interrupted between any two instructions by a signal handler that does the
 * same work for the same thread, to its end or, by siglongjmp, not to its end. There is therefore
 * no "busy" flag that could stay set: each step is one atomic operation on thread-local words or on
 * the chunk directory, and every call first completes what was left half done.
 */
#ifndef NSC_LINUX_EVENTS_THREAD_H
#define NSC_LINUX_EVENTS_THREAD_H

#include "linux/events/thread_state.h"

/**
 * nsc_thread_present - find the calling thread's place in the current session; it gets a thread
 * slot if it has none.
 * Returns 0 if nothing is recorded, or if there is no slot (one lost event is counted then).
 */
int nsc_thread_present(struct nsc_place *to);

/* A slot of a chunk, as live.h describes it. */
struct nsc_slot {
    uint64_t word0, word1;
};

/* Word 0 of an escape record of @kind, followed by @more slots. */
#define NSC_RECORD(kind, more) ((uint64_t)(kind) | (uint64_t)(more) << 12)

/**
 * nsc_runtime_record - store an escape record, or several that belong together, in the chunk of the
 * calling thread, if it is being recorded. Without a free chunk they are left out.
 * @slots: as live.h wants them; no word 0 is zero.
 * @count: at most NSC_HEADROOM_SLOTS / 2.
 * @position: where calls may have ended by what the records tell, and none above; 0: none have.
 */
void nsc_runtime_record(const struct nsc_slot *slots, unsigned count, uint64_t position);

/** nsc_runtime_unwound - record that all frames of this thread at or below @position are over. */
void nsc_runtime_unwound(uint64_t position);

/**
 * nsc_runtime_switch - nanoscope_stack_switch(), for who knows more.
 * @stack_pointer: where the stack that is entered goes on, 0 if not known.
 */
void nsc_runtime_switch(uint64_t from_key, uint64_t to_key, uint64_t stack_pointer);

/** nsc_thread_lose - count @events as lost by this thread, none of them above @position. */
void nsc_thread_lose(const struct nsc_place *p, uint64_t events, uint64_t position);

/**
 * nsc_thread_lose_at_once - count an event as lost if the calling thread had no chunk before and
 * nobody has freed one since, without looking for one: that takes several times what recording
 * does. The hooks of sleds on x86-64 do the same by themselves.
 * @slot, @position: of the event, as the hook found it.
 * Returns 0 if it has to be looked for: also each NSC_RUNTIME_LOST_LOOKth time, because there are
 * chunks that the count does not know of, and to notice that the recorder is gone.
 */
int nsc_thread_lose_at_once(uint64_t slot, uint64_t position);

enum nsc_chunk_state {
    NSC_CHUNK_READY, /* `pos` is in a chunk of this thread, before its soft end */
    NSC_CHUNK_NONE,  /* there is no free chunk, or the session is over */
    NSC_CHUNK_MOVED, /* there is another session by now: look the place up again */
};

/**
 * nsc_thread_chunk_ready - see to it that there is room for an event.
 * @position: of the event at hand; used if no anchor is in force yet.
 * Publishes the chunk that is full.
 */
enum nsc_chunk_state nsc_thread_chunk_ready(const struct nsc_place *p, uint64_t position);

enum nsc_slot_place {
    NSC_SLOT_NOWHERE, /* not a slot: the hook found no chunk, or the chunk's end */
    NSC_SLOT_MINE,    /* in a chunk of this thread; perhaps published by now, by a handler: the
                       * recorder waits for slots that are missing */
    NSC_SLOT_TAKEN,   /* in a chunk that the recorder has taken back: counted as lost there */
};

enum nsc_slot_place nsc_thread_slot_place(const struct nsc_place *p, uint64_t slot);

/* An anchor is in force unless anchor_low is 0 or a token (bit 63). */
static inline int nsc_thread_anchor_valid(uint64_t anchor_low)
{
    return anchor_low != 0 && anchor_low >> 63 == 0;
}

/** nsc_thread_anchor_token - a value for anchor_low that fails every check and equals no other in
 * use. */
static inline uint64_t nsc_thread_anchor_token(struct nsc_runtime_thread *t)
{
    return 1ull << 63 | (uint64_t)NSC_ADD(&t->token, 1) << 4;
}

#endif
