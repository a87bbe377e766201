/* overwrite.c - see overwrite.h. */
#include "runtime/overwrite.h"

#include <nanoscope/live_count.h>

#include "arch/arch.h"
#include "os/os.h"

/* Others may want the same chunk; each time somebody gets one. */
#define TRIES 64

/* A chunk whose thread has ended without publishing it; its number for us may be another's. */
static int is_left_behind(const struct nsc_session *s, uint64_t state)
{
    const struct nsc_live_thread *t = s->threads + NSC_LIVE_CHUNK_THREAD(state);

    return NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_OWNED && !s->abroad &&
           NSC_LOAD(&t->state) == NSC_LIVE_LIVE && nsc_os_thread_ended(t->pid, t->tid);
}

/* Full, or somebody took it, a ring's turn ago by its age, and did not finish: a signal handler
 * left him, or his processor is away. He notices. */
static int is_to_be_had(uint64_t state)
{
    return NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_FULL ||
           (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_TAKEN &&
            NSC_LIVE_CHUNK_SEQ(state) != NSC_LIVE_TAKEN_RECORDER);
}

/* The oldest chunk that is to be had, or is @left behind; returns its number, or 0. */
static uint32_t find_oldest(const struct nsc_session *s, uint32_t count, int left, uint64_t *state)
{
    uint64_t oldest = UINT64_MAX;
    uint32_t found = 0, i;

    for (i = 0; i < count; i++) {
        uint64_t now = NSC_LOAD(&s->chunks[i].state), ticks = NSC_LOAD(&s->chunks[i].open_ticks);

        if (NSC_LIVE_CHUNK_THREAD(now) >= s->threads_max || (found != 0 && ticks >= oldest))
            continue;
        if (left ? !is_left_behind(s, now) : !is_to_be_had(now))
            continue;
        oldest = ticks;
        *state = now;
        found = i + 1;
    }
    return found;
}

/* A child that was forked by a signal handler goes on here, too, with a chunk that is its parent's.
 */
static int is_elsewhere(const struct nsc_place *p)
{
    return nsc_thread_moved(p) || NSC_LOAD(&p->session->wiped[0]) != NSC_PRESENCE_JOINED;
}

/* Fills the chunk with zeros; false: it is not ours any more. */
static int clear(const struct nsc_place *p, const uint64_t *state, uint64_t taken, uint64_t *words)
{
    uint64_t slots = p->session->chunk_bytes / NSC_SLOT_BYTES, at;

    for (at = 0; at < slots; at++) {
        if (NSC_LOAD(state) != taken || is_elsewhere(p))
            return 0;
        NSC_STORE(&words[2 * at], 0);
        NSC_STORE(&words[2 * at + 1], 0);
    }
    return 1;
}

/* Swaps a chunk's state, as it was found, for TAKEN; returns that, or 0. */
static uint64_t take(uint64_t *state, uint64_t found)
{
    uint32_t thread = NSC_LIVE_CHUNK_THREAD(found), seq = NSC_LIVE_CHUNK_SEQ(found);
    uint32_t events = NSC_LIVE_TAKEN_WHOLE, turn = 0;
    uint64_t taken;

    if (NSC_LIVE_CHUNK_PHASE(found) == NSC_LIVE_CHUNK_TAKEN) {
        events = NSC_LIVE_TAKEN_EVENTS(seq);
        turn = ((seq >> 20) + 1) % 0xfff;
    }
    taken = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_TAKEN, thread, turn << 20 | events);
    return nsc_cas64(state, found, taken) ? taken : 0;
}

/* Counts what is in a chunk that is TAKEN, clears it, and makes it OWNED; or false. */
static int turn_over(const struct nsc_place *p, uint32_t number, uint64_t taken, uint32_t seq)
{
    const struct nsc_session *s = p->session;
    struct nsc_live_chunk *chunk = s->chunks + (number - 1);
    struct nsc_live_overwritten *count = s->overwritten + NSC_LIVE_CHUNK_THREAD(taken);
    uint64_t *words = (uint64_t *)(void *)(s->data + (size_t)(number - 1) * s->chunk_bytes);
    uint64_t mask = (uint64_t)NSC_LIVE_TAKEN_WHOLE << 32, events = (taken & mask) >> 32, next;

    NSC_STORE(&chunk->open_ticks, nsc_arch_ticks());
    if (events == NSC_LIVE_TAKEN_WHOLE) {
        events = nsc_live_count(words, s->chunk_bytes / NSC_SLOT_BYTES, NSC_ARCH_EXIT_BIT,
                                (s->flags & NSC_LIVE_FLAG_ENTRY_TIMING) != 0);
        next = (taken & ~mask) | events << 32;
        if (events >= NSC_LIVE_TAKEN_WHOLE || !nsc_cas64(&chunk->state, taken, next))
            return 0;
        taken = next;
    }
    /* Who has copied the chunk meanwhile looks at its state afterwards. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    next = taken & ~mask;
    if (!clear(p, &chunk->state, taken, words) || !nsc_cas64(&chunk->state, taken, next))
        return 0;
    if (events != 0) {
        NSC_ADD(&count->events, events);
        NSC_ADD(&count->lost, NSC_LOAD(&chunk->lost_before));
        NSC_ADD(&count->chunks, 1);
    }
    NSC_STORE(&chunk->open_ticks, nsc_arch_ticks());
    return nsc_cas64(&chunk->state, next,
                     NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, p->thread, seq));
}

uint32_t nsc_chunk_overwrite(const struct nsc_place *p, uint32_t seq, uint32_t count)
{
    const struct nsc_session *s = p->session;
    uint64_t state = 0, taken;
    uint32_t number, tries;

    if (s->overwritten == NULL)
        return 0;
    for (tries = 0; tries < TRIES && !is_elsewhere(p); tries++) {
        number = find_oldest(s, count, 0, &state);
        /* Who has a chunk will have a full one; a system call is for a thread's beginning only. */
        if (number == 0 && seq == 1)
            number = find_oldest(s, count, 1, &state);
        if (number == 0)
            return 0;
        taken = take(&s->chunks[number - 1].state, state);
        if (taken != 0 && turn_over(p, number, taken, seq))
            return number;
    }
    return 0;
}
