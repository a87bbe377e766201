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

/* The oldest chunk that is full, or @left behind; returns its number, or 0. */
static uint32_t find_oldest(const struct nsc_session *s, uint32_t count, int left, uint64_t *state)
{
    uint64_t oldest = UINT64_MAX;
    uint32_t found = 0, i;

    for (i = 0; i < count; i++) {
        uint64_t now = NSC_LOAD(&s->chunks[i].state), ticks = NSC_LOAD(&s->chunks[i].open_ticks);

        if (NSC_LIVE_CHUNK_THREAD(now) >= s->threads_max || (found != 0 && ticks >= oldest))
            continue;
        if (left ? !is_left_behind(s, now) : NSC_LIVE_CHUNK_PHASE(now) != NSC_LIVE_CHUNK_FULL)
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
static int clear(const struct nsc_place *p, uint64_t *words, uint64_t slots)
{
    uint64_t at;

    for (at = 0; at < slots; at++) {
        if (is_elsewhere(p))
            return 0;
        NSC_STORE(&words[2 * at], 0);
        NSC_STORE(&words[2 * at + 1], 0);
    }
    return 1;
}

static int empty(const struct nsc_place *p, struct nsc_live_chunk *chunk, uint64_t *words,
                 uint32_t thread, uint32_t seq)
{
    const struct nsc_session *s = p->session;
    const uint64_t taken = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_TAKEN, thread, 0);
    const uint64_t slots = s->chunk_bytes / NSC_SLOT_BYTES;
    uint64_t events = nsc_live_count(words, slots, NSC_ARCH_EXIT_BIT,
                                     (s->flags & NSC_LIVE_FLAG_ENTRY_TIMING) != 0);

    if (!nsc_cas64(&chunk->state,
                   NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_TAKEN, thread, NSC_LIVE_TAKEN_WHOLE),
                   taken | events << 32))
        return 0;
    /* Who has copied the chunk meanwhile looks at its state afterwards. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!clear(p, words, slots) || !nsc_cas64(&chunk->state, taken | events << 32, taken))
        return 0;
    NSC_ADD(&s->overwritten[thread].events, events);
    NSC_ADD(&s->overwritten[thread].lost, NSC_LOAD(&chunk->lost_before));
    NSC_ADD(&s->overwritten[thread].chunks, 1);
    NSC_STORE(&chunk->open_ticks, nsc_arch_ticks());
    return nsc_cas64(&chunk->state, taken,
                     NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, p->thread, seq));
}

uint32_t nsc_chunk_overwrite(const struct nsc_place *p, uint32_t seq, uint32_t count)
{
    const struct nsc_session *s = p->session;
    uint32_t number, tries, thread;
    uint64_t state = 0;

    if (s->overwritten == NULL)
        return 0;
    for (tries = 0; tries < TRIES && !is_elsewhere(p); tries++) {
        struct nsc_live_chunk *chunk;

        number = find_oldest(s, count, 0, &state);
        /* Who has a chunk will have a full one; a system call is for a thread's beginning only. */
        if (number == 0 && seq == 1)
            number = find_oldest(s, count, 1, &state);
        if (number == 0)
            return 0;
        chunk = s->chunks + (number - 1);
        thread = NSC_LIVE_CHUNK_THREAD(state);
        if (nsc_cas64(&chunk->state, state,
                      NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_TAKEN, thread, NSC_LIVE_TAKEN_WHOLE)))
            return empty(p, chunk,
                         (uint64_t *)(void *)(s->data + (size_t)(number - 1) * s->chunk_bytes),
                         thread, seq)
                       ? number
                       : 0;
    }
    return 0;
}
