/*
 * thread.c - thread slots, and moving a thread from chunk to chunk. Called by the slow path only.
 * See thread.h for what makes it safe against signal handlers, session.h for the rules.
 */
#include "runtime/thread.h"

#include "arch/arch.h"
#include "os/os.h"

/* How often a full table of threads is doubted. */
#define RETRY_EVENTS 1024u
/* A read fault on shared memory maps this much around it. */
#define PAGES_BYTES  65536u

static const uint64_t always_full; /* `endp` of threads that do not record: every slot is >= 0 */

/* Where `pos` is without a chunk: above anything that *endp can be, far below wrapping around. */
#define POS_NOWHERE (1ull << 62)

__thread struct nsc_runtime_thread nsc_runtime_tls = {
    .pos = POS_NOWHERE,
    .endp = &always_full,
};

static struct nsc_live_chunk *chunk_of(uint32_t number)
{
    return nsc_session.chunks + (number - 1);
}

static uint64_t chunk_start(uint32_t number)
{
    return (uint64_t)(uintptr_t)nsc_session.data + (uint64_t)(number - 1) * nsc_session.chunk_bytes;
}

static uint64_t chunk_soft_end(uint32_t number)
{
    return chunk_start(number) + nsc_session.chunk_bytes -
           NSC_SLOT_BYTES * (NSC_HEADROOM_SLOTS + NSC_SPARE_SLOTS);
}

/* Whether the slot is one of the chunk that may be stored to. */
static int chunk_has(uint32_t number, uint64_t slot)
{
    return number != 0 &&
           slot - chunk_start(number) < nsc_session.chunk_bytes - NSC_SLOT_BYTES * NSC_SPARE_SLOTS;
}

static struct nsc_live_thread *live_thread(const struct nsc_runtime_thread *t)
{
    return nsc_session.threads + (t->thread - 1);
}

void nsc_thread_lose(const struct nsc_runtime_thread *t, uint64_t events)
{
    NSC_ADD(&live_thread(t)->lost, events);
}

/* A forked child has its parent's words: forget them. Each store leaves the fast path shut. */
static void forget_parent(struct nsc_runtime_thread *t)
{
    t->endp = &always_full;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->anchor_low = 0;
    t->chunks = 0;
    t->thread = 0;
    t->lost_claimed = 0;
    t->retry = 0;
    t->interrupted = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->generation = nsc_session.generation;
}

/* The thread's id as the recorder sees it. */
static uint32_t own_tid(void)
{
    uint32_t pid, tid;

    if (nsc_session.abroad && nsc_os_ids_in_proc(&pid, &tid) == 0)
        return tid;
    return nsc_os_tid();
}

int nsc_thread_present(struct nsc_runtime_thread *t)
{
    struct nsc_session *s = &nsc_session;
    struct nsc_live_thread *slot;
    int64_t at = -1;

    if (t->generation != s->generation)
        forget_parent(t);
    if (t->thread != 0) {
        t->endp = nsc_session_end_word(t->thread - 1);
        return 1;
    }
    if (t->retry % RETRY_EVENTS == 0)
        at = nsc_slot_claim(&s->threads->state, sizeof(*slot), s->threads_max,
                            &s->header->thread_hint);
    if (at < 0) {
        t->retry++; /* not before: a handler during the claim makes one of its own */
        NSC_ADD(&s->processes[s->process].lost, 1);
        return 0;
    }
    slot = s->threads + at;
    slot->process = s->process;
    slot->pid = s->pid;
    slot->tid = own_tid();
    slot->start_ticks = nsc_arch_ticks();
    slot->lost = 0;
    slot->chunk_seq = 0;
    nsc_os_thread_name(slot->name);
    NSC_STORE(&slot->state, NSC_LIVE_LIVE);
    NSC_STORE(nsc_session_end_word((uint32_t)at), 0);
    if (!nsc_cas32(&t->thread, 0, (uint32_t)at + 1)) {
        /* A signal handler has claimed a slot for us meanwhile: leave this one to the recorder. */
        NSC_STORE(&slot->state, NSC_LIVE_DEAD);
    }
    t->retry = 0;
    t->endp = nsc_session_end_word(t->thread - 1);
    return 1;
}

enum nsc_slot_place nsc_slot_place(const struct nsc_runtime_thread *t, uint64_t slot)
{
    uint64_t offset = slot - (uint64_t)(uintptr_t)nsc_session.data;
    uint64_t state;
    uint32_t number;

    if (offset >= (uint64_t)nsc_session.chunks_max * nsc_session.chunk_bytes)
        return NSC_SLOT_NOWHERE;
    number = (uint32_t)(offset / nsc_session.chunk_bytes) + 1;
    if (!chunk_has(number, slot))
        return NSC_SLOT_NOWHERE;
    state = NSC_LOAD(&chunk_of(number)->state);
    if (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_FREE ||
        NSC_LIVE_CHUNK_THREAD(state) != t->thread - 1)
        return NSC_SLOT_TAKEN;
    return NSC_SLOT_MINE;
}

/* Sequence number of the current chunk, or of the last one if there is none. */
static uint32_t newest_seq(const struct nsc_runtime_thread *t, uint64_t chunks)
{
    uint32_t current = NSC_CHUNKS_CURRENT(chunks);

    if (current == 0)
        return NSC_LOAD(&live_thread(t)->chunk_seq);
    return NSC_LIVE_CHUNK_SEQ(NSC_LOAD(&chunk_of(current)->state));
}

/* Hands the previous chunk to the recorder. The exact state word is expected, so doing this again,
 * or too late, changes nothing. */
static void publish_previous(struct nsc_runtime_thread *t, uint64_t chunks)
{
    uint32_t previous = NSC_CHUNKS_PREVIOUS(chunks);
    uint32_t seq = newest_seq(t, chunks) - (NSC_CHUNKS_CURRENT(chunks) != 0);

    if (previous == 0 || NSC_LOAD(&t->chunks) != chunks)
        return;
    nsc_cas64(&chunk_of(previous)->state,
              NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, t->thread - 1, seq),
              NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, t->thread - 1, seq));
    nsc_cas64(&t->chunks, chunks, chunks & ~(0xfffffull << 20));
}

/* Whether `pos`, `*endp` and the thread slot say what @chunks says. */
static int settled(const struct nsc_runtime_thread *t, uint64_t chunks)
{
    uint32_t current = NSC_CHUNKS_CURRENT(chunks);
    uint64_t pos = NSC_LOAD(&t->pos);
    uint64_t end = NSC_LOAD(nsc_session_end_word(t->thread - 1));

    if (current == 0)
        return pos >= POS_NOWHERE && end < POS_NOWHERE;
    return end == chunk_soft_end(current) && pos - chunk_start(current) < nsc_session.chunk_bytes &&
           NSC_LOAD(&live_thread(t)->chunk_seq) == newest_seq(t, chunks);
}

/*
 * Brings `pos` and `*endp` in line with `chunks`. The fast path is shut while they do not match:
 * *endp is a token (below every address) from before `pos` moves until after. Each of the three
 * words is only moved on if no handler has done so, so that a handler's later state is never
 * undone.
 */
static void settle(struct nsc_runtime_thread *t)
{
    uint64_t *end = nsc_session_end_word(t->thread - 1);
    uint64_t chunks, token, pos;
    uint32_t current;

    do {
        chunks = NSC_LOAD(&t->chunks);
        current = NSC_CHUNKS_CURRENT(chunks);
        if (settled(t, chunks))
            continue;
        token = (NSC_ADD(&t->token, 1) & 0x7fff) + 1;
        NSC_STORE(end, token);
        NSC_STORE(&live_thread(t)->chunk_seq, newest_seq(t, chunks));
        pos = NSC_LOAD(&t->pos);
        if (NSC_LOAD(&t->chunks) != chunks)
            continue;
        if (current == 0) {
            if (pos < POS_NOWHERE)
                nsc_cas64(&t->pos, pos, POS_NOWHERE);
            continue;
        }
        if (pos - chunk_start(current) >= nsc_session.chunk_bytes)
            nsc_cas64(&t->pos, pos, chunk_start(current));
        nsc_cas64(end, token, chunk_soft_end(current));
    } while (NSC_LOAD(&t->chunks) != chunks);
}

/* Reading a page maps the ones around it as well: no fault per 4 KiB while events are stored. Done
 * before the chunk is claimed: signals like to arrive at the end of a page fault, and a handler
 * that does not return would leave a claimed chunk behind until the thread ends. */
static void touch_chunk(uint32_t number)
{
    uint64_t at;

    for (at = 0; at < nsc_session.chunk_bytes; at += PAGES_BYTES)
        (void)*(const volatile uint64_t *)(uintptr_t)(chunk_start(number) + at);
}

static int take_chunk(const struct nsc_runtime_thread *t, uint32_t at, uint32_t seq)
{
    return nsc_cas64(&nsc_session.chunks[at].state, 0,
                     NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, t->thread - 1, seq));
}

/* The chunk that goes with the thread slot, if it is not in use. */
static uint32_t claim_home(const struct nsc_runtime_thread *t, uint32_t seq)
{
    const struct nsc_session *s = &nsc_session;
    uint32_t at;

    if (s->home_count == 0)
        return 0;
    at = s->home_first + (t->thread - 1) % s->home_count;
    return NSC_LOAD(&s->chunks[at].state) == 0 && take_chunk(t, at, seq) ? at + 1 : 0;
}

static uint32_t pool_count(void)
{
    uint32_t count = NSC_LOAD(&nsc_session.header->chunk_count);

    return count < nsc_session.pool_max ? count : nsc_session.pool_max; /* the rest is not mapped */
}

/* Counts one free chunk less. Approximate on purpose, but never below zero. */
static void count_claim(uint32_t *chunks_free)
{
    uint32_t n;

    do
        n = NSC_LOAD(chunks_free);
    while (n != 0 && !nsc_cas32(chunks_free, n, n - 1));
}

/*
 * A chunk of the pool. When there is none by the recorder's count, a look at the place where it
 * frees chunks is all that an event about to be lost may cost.
 */
static uint32_t claim_pooled(const struct nsc_runtime_thread *t, uint32_t seq, uint32_t count)
{
    struct nsc_session *s = &nsc_session;
    struct nsc_live_header *h = s->header;
    uint32_t from = NSC_LOAD(&h->chunk_hint);
    uint64_t heartbeat = NSC_LOAD(&h->heartbeat);
    int search = NSC_LOAD(&h->chunks_free) != 0 && NSC_LOAD(&s->none_mapped) != heartbeat + 1;
    uint32_t looks = search ? count : count != 0;
    uint32_t i, at;

    for (i = 0; i < looks; i++) {
        at = (uint32_t)(((uint64_t)from + i) % count);
        if (NSC_LOAD(&s->chunks[at].state) != 0)
            continue;
        touch_chunk(at + 1);
        if (!take_chunk(t, at, seq))
            continue;
        if (search) {
            NSC_STORE(&h->chunk_hint, at + 1);
            count_claim(&h->chunks_free);
        }
        return at + 1;
    }
    if (search && count == NSC_LOAD(&h->chunk_count))
        NSC_STORE(&h->chunks_free, 0);
    else if (search) /* others may have mapped what is free */
        NSC_STORE(&s->none_mapped, heartbeat + 1);
    return 0;
}

/*
 * Takes a FREE chunk for sequence number @seq; returns its number (index + 1) or 0. The pool's
 * pages are there already, so it comes first; but half of it is for threads that fill chunk after
 * chunk, however many new ones there are.
 */
static uint32_t claim_chunk(const struct nsc_runtime_thread *t, uint32_t seq)
{
    uint32_t count = pool_count(), number = 0;

    if (seq == 1 && NSC_LOAD(&nsc_session.header->chunks_free) <= count / 2)
        number = claim_home(t, seq);
    if (number == 0)
        number = claim_pooled(t, seq, count);
    return number != 0 ? number : claim_home(t, seq);
}

/*
 * One attempt to replace the current chunk by a free one. The new chunk is filled in while nobody
 * can see it, then a single compare-and-swap makes it current; if a handler was quicker, the chunk
 * goes back untouched and the handler's stands.
 */
static int switch_chunk(struct nsc_runtime_thread *t, uint64_t chunks, uint64_t position)
{
    uint32_t seq = newest_seq(t, chunks) + 1;
    uint32_t number = claim_chunk(t, seq);
    uint64_t previous = (uint64_t)NSC_CHUNKS_CURRENT(chunks) << 20;
    uint64_t generation = (chunks & ~(NSC_CHUNKS_GENERATION - 1)) + NSC_CHUNKS_GENERATION;
    uint64_t anchor_low, lost;
    struct nsc_live_chunk *chunk;

    if (number == 0) {
        if (previous != 0) /* publish what there is: it may be what the recorder waits for */
            nsc_cas64(&t->chunks, chunks, generation | previous);
        return 0;
    }
    chunk = chunk_of(number);
    anchor_low = NSC_LOAD(&t->anchor_low);
    if (!nsc_anchor_valid(anchor_low)) {
        /* Whoever is moving the anchor must see that his record is not in this chunk. */
        NSC_STORE(&t->anchor_low, nsc_anchor_token(t));
        anchor_low = position - NSC_LIVE_ANCHOR_REACH;
    }
    lost = NSC_LOAD(&live_thread(t)->lost);
    chunk->open_ticks = nsc_arch_ticks();
    chunk->anchor = anchor_low + NSC_LIVE_ANCHOR_REACH;
    chunk->lost_before = lost - t->lost_claimed;
    if (!nsc_cas64(&t->chunks, chunks, generation | previous | number)) {
        nsc_cas64(&chunk->state, NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, t->thread - 1, seq), 0);
        if (number <= nsc_session.pool_max)
            NSC_ADD(&nsc_session.header->chunks_free, 1);
        return 1;
    }
    t->lost_claimed = lost;
    return 1;
}

int nsc_chunk_ready(struct nsc_runtime_thread *t, uint64_t position)
{
    for (;;) {
        uint64_t chunks = NSC_LOAD(&t->chunks);
        uint32_t current = NSC_CHUNKS_CURRENT(chunks);

        settle(t);
        if (NSC_CHUNKS_PREVIOUS(chunks) != 0) {
            publish_previous(t, chunks);
            continue;
        }
        if (current != 0 && NSC_LOAD(&t->chunks) == chunks &&
            NSC_LOAD(&t->pos) < chunk_soft_end(current))
            return 1;
        if (NSC_LOAD(&nsc_session.header->recorder_state) != NSC_LIVE_RECORDER_OPEN) {
            nsc_session_gone();
            return 0;
        }
        if (!switch_chunk(t, chunks, position) && NSC_CHUNKS_CURRENT(NSC_LOAD(&t->chunks)) == 0) {
            settle(t);
            publish_previous(t, NSC_LOAD(&t->chunks));
            nsc_session_gone();
            return 0;
        }
    }
}
