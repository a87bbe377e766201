/*
 * slow_path.c - the slow path of the hooks: stores events that the fast path could not store, and
 * the records between events. See hook.h for the fast path, and thread.h for why every interleaving
 * with signal handlers is safe.
 */
#include <nanoscope/nanoscope.h>

#include "arch/arch.h"
#include "linux/events/thread.h"
#include "linux/patch/entry_patch.h"
#include "linux/session/current_session.h"

/* A record without information, for a reserved slot that is not needed. */
#define FILLER ((uint64_t)NSC_LIVE_ESC_LOST)

/* Store word 1 first: a slot is complete once its word 0 is set. */
static void put(uint64_t slot, uint64_t word0, uint64_t word1)
{
    uint64_t *words = (uint64_t *)(uintptr_t)slot;

    NSC_STORE(&words[1], word1);
    NSC_STORE(&words[0], word0);
}

static int in_reach(const struct nsc_runtime_thread *t, uint64_t position)
{
    uint64_t anchor_low = NSC_LOAD(&t->anchor_low);

    return nsc_thread_anchor_valid(anchor_low) && position - anchor_low < 2 * NSC_LIVE_ANCHOR_REACH;
}

/*
 * Return the second word with the current time. For an event that is not stored in its hook's slot:
 * times must follow the order of slots. Keeps the bits above bit 47, which the header hook adds.
 */
static uint64_t at_this_time(uint64_t word1)
{
    uint64_t later = (nsc_arch_ticks() - word1) & NSC_LIVE_ADDRESS_MASK;

    return later >> 47 == 0 ? word1 + later : word1;
}

/* Reserve @count slots in a row. Returns 0 if the chunk has not enough room, or if the thread has
 * moved to another place. */
static uint64_t reserve(const struct nsc_place *p, unsigned count)
{
    uint64_t bytes = (uint64_t)count * NSC_SLOT_BYTES;
    uint64_t slot;

    do {
        slot = NSC_LOAD(&p->words->pos);
        if (nsc_thread_slot_place(p, slot) != NSC_SLOT_MINE ||
            nsc_thread_slot_place(p, slot + bytes - NSC_SLOT_BYTES) != NSC_SLOT_MINE)
            return 0;
    } while (!nsc_session_cas64(&p->words->pos, slot, slot + bytes));
    return slot;
}

/* Return 1 if a hook is known to be interrupted that has reserved a slot and may not have compared
 * its position yet. */
static int interrupts_a_hook(const struct nsc_place *p)
{
    uint64_t slot = NSC_LOAD(&p->words->interrupted);

    if (slot == 0)
        return 0;
    if (nsc_thread_slot_place(p, slot) == NSC_SLOT_MINE &&
        NSC_LOAD((uint64_t *)(uintptr_t)slot) == 0)
        return 1;
    nsc_session_cas64(&p->words->interrupted, slot, 0);
    return 0;
}

/* If the slot before a handler's first one is empty, it belongs to the hook that the handler
 * interrupted. */
static void note_interrupted(const struct nsc_place *p, uint64_t slot)
{
    uint64_t before = slot - NSC_SLOT_BYTES;

    if (!interrupts_a_hook(p) && nsc_thread_slot_place(p, before) == NSC_SLOT_MINE &&
        NSC_LOAD((uint64_t *)(uintptr_t)before) == 0)
        NSC_STORE(&p->words->interrupted, before);
}

/*
 * Store an event together with a new anchor at its position. While anchor_low holds this token,
 * every handler takes this path, too: it writes an anchor of its own, and changes the token. Then
 * these slots may come after records that they must precede, and are discarded.
 */
static int put_with_anchor(const struct nsc_place *p, uint64_t word0, uint64_t word1,
                           uint64_t position)
{
    struct nsc_runtime_thread *t = p->words;
    uint64_t token = nsc_thread_anchor_token(t);
    uint64_t slot;

    NSC_ADD(&t->chunks, NSC_CHUNKS_GENERATION);
    NSC_STORE(&t->anchor_low, token);
    slot = reserve(p, 2);
    if (slot == 0)
        return 0;
    if (NSC_LOAD(&t->anchor_low) != token) {
        put(slot, FILLER, 0);
        put(slot + NSC_SLOT_BYTES, FILLER, 0);
        return 0;
    }
    put(slot, NSC_RECORD(NSC_LIVE_ESC_ANCHOR, 0), position);
    put(slot + NSC_SLOT_BYTES, word0, at_this_time(word1));
    /* An interrupted hook must not compare its position with an anchor that was stored after its
     * slot. */
    nsc_session_cas64(&t->anchor_low, token,
                      interrupts_a_hook(p) ? 0 : position - NSC_LIVE_ANCHOR_REACH);
    return 1;
}

static int put_in_reach(const struct nsc_place *p, uint64_t word0, uint64_t word1,
                        uint64_t position)
{
    struct nsc_runtime_thread *t = p->words;
    uint64_t anchor_low = NSC_LOAD(&t->anchor_low);
    uint64_t slot = reserve(p, 1);

    if (slot == 0)
        return 0;
    /* A handler that moved the anchor may have done so before or after the slot was reserved. */
    if (NSC_LOAD(&t->anchor_low) != anchor_low || !in_reach(t, position)) {
        put(slot, FILLER, 0);
        return 0;
    }
    put(slot, word0, at_this_time(word1));
    return 1;
}

/* Call nsc_thread_chunk_ready() at the thread's current place. Returns NSC_CHUNK_MOVED only if the
 * thread no longer has one. */
static enum nsc_chunk_state ready(struct nsc_place *p, uint64_t position)
{
    enum nsc_chunk_state state;

    do
        state = nsc_thread_chunk_ready(p, position);
    while (state == NSC_CHUNK_MOVED && nsc_thread_present(p));
    return state;
}

void nsc_runtime_slow(uint64_t word0, uint64_t word1, uint64_t position, uint64_t slot)
{
    uint64_t before = NSC_LOAD(&nsc_runtime_tls.place);
    enum nsc_chunk_state state;
    struct nsc_place p;
    int stored;

    if (nsc_thread_lose_at_once(slot, position))
        return;
    if (!nsc_thread_present(&p)) {
        if (nsc_session_present() == NULL)
            nsc_session_hooks_follow(NSC_LOAD(&nsc_session_current));
        return;
    }
    if (before >> 32 != p.place >> 32)
        slot = 0; /* first event of the thread in this session, or of a forked child: the slot is
                   * not this thread's */
    switch (nsc_thread_slot_place(&p, slot)) {
    case NSC_SLOT_TAKEN:
        return;
    case NSC_SLOT_MINE:
        /* Do not store the event in this slot, even if it is in reach now: a handler may have moved
         * the anchor since, in later slots. */
        note_interrupted(&p, slot);
        put(slot, FILLER, 0);
        break;
    case NSC_SLOT_NOWHERE:
        break;
    }
    do {
        state = ready(&p, position);
        if (state == NSC_CHUNK_NONE)
            nsc_thread_lose(&p, 1, position);
        if (state != NSC_CHUNK_READY)
            return;
        stored = in_reach(p.words, position) ? put_in_reach(&p, word0, word1, position)
                                             : put_with_anchor(&p, word0, word1, position);
    } while (!stored);
}

int nsc_runtime_patchable_room(uint64_t position)
{
    struct nsc_place place;

    if (nsc_entry_patch_reserve(position))
        return 1;
    if (nsc_thread_present(&place))
        nsc_thread_lose(&place, 2, position);
    return 0;
}

/*
 * Store a record. Without a free chunk it is dropped, and calls at positions up to @position may
 * end unrecorded. The head, which gives the number of slots, is stored first: text without a head
 * would look like events. Concurrent readers wait until all slots are complete.
 */
static void put_record(struct nsc_place *p, const struct nsc_slot *slots, unsigned count,
                       uint64_t position)
{
    /* An exit that discards its call reads the slot before it, which must not hold text. */
    unsigned filler = (p->session->flags & NSC_LIVE_FLAG_REWIND) != 0, i;
    uint64_t at;

    do {
        enum nsc_chunk_state state = ready(p, (uint64_t)(uintptr_t)&at);

        if (state == NSC_CHUNK_NONE)
            nsc_thread_lose(p, 0, position);
        if (state != NSC_CHUNK_READY)
            return;
        at = reserve(p, count + filler);
    } while (at == 0);
    for (i = 0; i < count; i++)
        put(at + i * NSC_SLOT_BYTES, slots[i].word0, slots[i].word1);
    if (filler)
        put(at + count * NSC_SLOT_BYTES, FILLER, 0);
}

void nsc_runtime_record(const struct nsc_slot *slots, unsigned count, uint64_t position)
{
    struct nsc_place p;

    if (nsc_thread_present(&p))
        put_record(&p, slots, count, position);
}

void nsc_runtime_switch(uint64_t from_key, uint64_t to_key, uint64_t stack_pointer)
{
    unsigned more = stack_pointer != 0 ? 2 : 1;
    const struct nsc_slot slots[] = {
        {NSC_RECORD(NSC_LIVE_ESC_SWITCH, more), from_key}, {1, to_key}, {1, stack_pointer}};

    nsc_runtime_record(slots, 1 + more, UINT64_MAX);
}

NSC_RUNTIME_EXPORT void nanoscope_stack_switch(unsigned long long from_key,
                                               unsigned long long to_key)
{
    nsc_runtime_switch(from_key, to_key, 0);
}

void nsc_runtime_unwound(uint64_t position)
{
    const struct nsc_slot slots[] = {{NSC_RECORD(NSC_LIVE_ESC_UNWIND, 1), position},
                                     {1, nsc_arch_ticks()}};
    const struct nsc_target_session *s = nsc_session_present();
    uint64_t place = NSC_LOAD(&nsc_runtime_tls.place);
    struct nsc_place p;

    /* A thread that has recorded nothing in this session, or since it was forked, has no frames to
     * unwind. */
    if (s != NULL && (uint32_t)place != 0 && place >> 32 == s->generation && nsc_thread_present(&p))
        put_record(&p, slots, 2, position);
}

NSC_RUNTIME_EXPORT const char *nanoscope_version(void)
{
    return NANOSCOPE_VERSION;
}
