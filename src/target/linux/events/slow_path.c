/*
 * slow_path.c - the slow path of the hooks: what happens to an event that the fast path could not
 * store, and the records that go between events. See hook.h for the fast path, thread.h for why
 * every interleaving with signal handlers comes out right.
 */
#include <nanoscope/nanoscope.h>

#include "arch/arch.h"
#include "linux/events/thread.h"
#include "linux/patch/entry_patch.h"
#include "linux/session/current_session.h"

/* A record that says nothing, for a slot that was reserved and is not needed. */
#define FILLER ((uint64_t)NSC_LIVE_ESC_LOST)

/* Word 1 first: a slot whose word 0 is set is complete. */
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
 * The second word with the time of now: for an event that did not get the slot of its hook, so that
 * time goes with the order of slots. What the header hook adds above bit 47 stays.
 */
static uint64_t at_this_time(uint64_t word1)
{
    uint64_t later = (nsc_arch_ticks() - word1) & NSC_LIVE_ADDRESS_MASK;

    return later >> 47 == 0 ? word1 + later : word1;
}

/* Reserves @count slots in a row; 0 if the chunk has no more room for them, or if the thread has
 * another place by now. */
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

/* Whether a hook is known to be interrupted that has a slot and may not have compared its position
 * yet. */
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

/* The slot before a handler's first one is its interrupted hook's, and empty. */
static void note_interrupted(const struct nsc_place *p, uint64_t slot)
{
    uint64_t before = slot - NSC_SLOT_BYTES;

    if (!interrupts_a_hook(p) && nsc_thread_slot_place(p, before) == NSC_SLOT_MINE &&
        NSC_LOAD((uint64_t *)(uintptr_t)before) == 0)
        NSC_STORE(&p->words->interrupted, before);
}

/*
 * Stores an event together with a new anchor at its position. While anchor_low holds our token,
 * every handler comes here too and writes an anchor of its own, and changes the token: then our
 * slots may lie behind records that they must precede, and are given up.
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
    /* An interrupted hook must not compare its position with an anchor behind its slot. */
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
    /* A handler that moved the anchor may have done so before or after the slot was ours. */
    if (NSC_LOAD(&t->anchor_low) != anchor_low || !in_reach(t, position)) {
        put(slot, FILLER, 0);
        return 0;
    }
    put(slot, word0, at_this_time(word1));
    return 1;
}

/* nsc_thread_chunk_ready() at the place that the thread has: NSC_CHUNK_MOVED is left only if it has
 * none any more. */
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
        slot = 0; /* first event of a thread in this session, or of a forked child: not its slot */
    switch (nsc_thread_slot_place(&p, slot)) {
    case NSC_SLOT_TAKEN:
        return;
    case NSC_SLOT_MINE:
        /* Not for the event, even if it is in reach now: a handler may have moved the anchor since,
         * in slots behind this one. */
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

int nsc_runtime_dfi_room(uint64_t position)
{
    struct nsc_place place;

    if (nsc_entry_patch_reserve(position))
        return 1;
    if (nsc_thread_present(&place))
        nsc_thread_lose(&place, 2, position);
    return 0;
}

/* Stores a record; without a free chunk it is left out, and what it tells of @position is not
 * known. From its head on, which says how many slots there are: text without a head would look like
 * events. Who reads meanwhile waits for all of it.
 */
static void put_record(struct nsc_place *p, const struct nsc_slot *slots, unsigned count,
                       uint64_t position)
{
    /* An exit that takes its call back looks at the slot before: never at text. */
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

    /* A thread that has recorded nothing in this session, or since it was forked off, has no frames
     * to leave. */
    if (s != NULL && (uint32_t)place != 0 && place >> 32 == s->generation && nsc_thread_present(&p))
        put_record(&p, slots, 2, position);
}

NSC_RUNTIME_EXPORT const char *nanoscope_version(void)
{
    return NANOSCOPE_VERSION;
}
