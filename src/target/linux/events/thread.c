/*
 * thread.c - claims thread slots, and moves a thread from chunk to chunk. Called by the slow path
 * only. See thread.h for safety against signal handlers, current_session.h for the rules.
 */
#include "linux/events/thread.h"

#include "arch/arch.h"
#include "linux/events/chunk_overwrite.h"
#include "linux/session/cpu_timer.h"
#include "linux/session/current_session.h"
#include "linux/session/session_join.h"
#include "linux/sys/sys.h"

/* Number of events after which a full table of threads is searched again. */
#define RETRY_EVENTS 1024u
/* A read fault on shared memory maps this many bytes around it. */
#define PAGES_BYTES  65536u

/* `endp` of threads that do not record: every slot is >= 0, and no call is discarded. */
static const uint64_t always_full[NSC_END_STRIDE];

/* Value of `pos` without a chunk: above every value of *endp, and far from overflow. */
#define POS_NOWHERE (1ull << NSC_RUNTIME_NOWHERE_BIT)

__thread struct nsc_runtime_thread nsc_runtime_tls = {
    .pos = POS_NOWHERE,
    .endp = always_full,
};

static struct nsc_live_chunk *chunk_of(const struct nsc_target_session *s, uint32_t number)
{
    return s->chunks + (number - 1);
}

static uint64_t chunk_start(const struct nsc_target_session *s, uint32_t number)
{
    return (uint64_t)(uintptr_t)s->data + (uint64_t)(number - 1) * s->chunk_bytes;
}

static uint64_t chunk_soft_end(const struct nsc_target_session *s, uint32_t number)
{
    return chunk_start(s, number) + s->chunk_bytes -
           NSC_SLOT_BYTES * (NSC_HEADROOM_SLOTS + NSC_SPARE_SLOTS);
}

/* Return 1 if @slot is a slot of the chunk that may be written. */
static int chunk_has(const struct nsc_target_session *s, uint32_t number, uint64_t slot)
{
    return number != 0 &&
           slot - chunk_start(s, number) < s->chunk_bytes - NSC_SLOT_BYTES * NSC_SPARE_SLOTS;
}

static struct nsc_live_thread *live_thread(const struct nsc_place *p)
{
    return p->session->threads + p->thread;
}

static uint64_t *end_word(const struct nsc_place *p)
{
    return nsc_session_end_word(p->session, p->thread);
}

/* Raise the word to @position. A handler in between loses only events of its own calls. They lie
 * below the calls that it interrupts, or on a stack of their own, so their positions may be
 * ignored. */
static void raise_highest(uint64_t *highest, uint64_t position)
{
    if (position > NSC_LOAD(highest))
        NSC_STORE(highest, position);
}

static uint64_t *highest_word(const struct nsc_place *p)
{
    return end_word(p) + NSC_RUNTIME_END_HIGHEST / 8;
}

void nsc_thread_lose(const struct nsc_place *p, uint64_t events, uint64_t position)
{
    raise_highest(highest_word(p), position);
    NSC_ADD(&live_thread(p)->lost, events);
}

int nsc_thread_lose_at_once(uint64_t slot, uint64_t position)
{
    uint64_t *end = (uint64_t *)(uintptr_t)NSC_LOAD(&nsc_runtime_tls.endp);
    uint64_t *lost = (uint64_t *)(uintptr_t)NSC_LOAD(&end[NSC_RUNTIME_END_LOST / 8]);
    const uint32_t *chunks_free =
        (const uint32_t *)(uintptr_t)NSC_LOAD(&end[NSC_RUNTIME_END_FREE / 8]);

    if (slot >> NSC_RUNTIME_NOWHERE_BIT != 1 || lost == NULL || chunks_free == NULL ||
        NSC_LOAD(chunks_free) != 0 || NSC_LOAD(lost) % NSC_RUNTIME_LOST_LOOK == 0)
        return 0;
    raise_highest(&end[NSC_RUNTIME_END_HIGHEST / 8], position);
    NSC_ADD(lost, 1);
    return 1;
}

static int cas_endp(struct nsc_runtime_thread *t, const uint64_t *old, const uint64_t *value)
{
    return __atomic_compare_exchange_n(&t->endp, &old, value, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/*
 * Forget the words of another session, or of the process that this one was forked from. The fast
 * path is closed first. `chunks` gets a value that it has never had, and `place` is written last.
 * If a handler does all this in between, the remaining steps here fail.
 */
static void forget(struct nsc_runtime_thread *t, uint64_t place, uint32_t generation)
{
    const uint64_t *endp = NSC_LOAD(&t->endp);
    uint64_t chunks = NSC_LOAD(&t->chunks), pos = NSC_LOAD(&t->pos);
    uint64_t anchor_low = NSC_LOAD(&t->anchor_low), lost = NSC_LOAD(&t->lost_claimed);
    uint64_t interrupted = NSC_LOAD(&t->interrupted);

    if (NSC_LOAD(&t->place) != place || !cas_endp(t, endp, always_full))
        return;
    nsc_session_cas64(&t->chunks, chunks,
                      (chunks & ~(NSC_CHUNKS_GENERATION - 1)) + NSC_CHUNKS_GENERATION);
    nsc_session_cas64(&t->pos, pos, POS_NOWHERE);
    nsc_session_cas64(&t->anchor_low, anchor_low, 0);
    nsc_session_cas64(&t->lost_claimed, lost, 0);
    nsc_session_cas64(&t->interrupted, interrupted, 0);
    t->retry = 0;
    nsc_session_cas64(&t->place, place, (uint64_t)generation << 32);
}

/* Return the thread's id in the recorder's pid namespace. */
static uint32_t own_tid(const struct nsc_target_session *s)
{
    uint32_t pid, tid;

    if (s->abroad && nsc_sys_ids_in_proc(&pid, &tid) == 0)
        return tid;
    return nsc_sys_tid();
}

/* Claim a thread slot. Returns its index, or -1 with one lost event counted. */
static int64_t claim_thread(struct nsc_target_session *s, struct nsc_runtime_thread *t)
{
    struct nsc_live_thread *slot;
    uint64_t *end;
    int64_t at = -1;

    if (t->retry % RETRY_EVENTS == 0)
        at = nsc_session_slot_claim(&s->threads->state, sizeof(*slot), s->threads_max,
                                    &s->header->thread_hint);
    if (at < 0) {
        t->retry++; /* not earlier: a handler during the claim makes a claim of its own */
        NSC_ADD(&s->processes[s->process].lost, 1);
        return -1;
    }
    slot = s->threads + at;
    slot->process = s->process;
    slot->pid = s->pid;
    slot->tid = own_tid(s);
    slot->start_ticks = nsc_arch_ticks();
    slot->lost = 0;
    slot->chunk_seq = 0;
    slot->rewound = 0;
    nsc_sys_thread_name(slot->name);
    NSC_STORE(&slot->state, NSC_LIVE_LIVE);
    end = nsc_session_end_word(s, (uint32_t)at);
    NSC_STORE(&end[0], 0);
    NSC_STORE(&end[NSC_RUNTIME_END_HIGHEST / 8], 0);
    NSC_STORE(&end[NSC_RUNTIME_END_REWOUND / 8], (uint64_t)(uintptr_t)&slot->rewound);
    NSC_STORE(&end[NSC_RUNTIME_END_LEAST / 8], (uint64_t)(uintptr_t)&s->header->rewind_ticks);
    NSC_STORE(&end[NSC_RUNTIME_END_LOST / 8], (uint64_t)(uintptr_t)&slot->lost);
    NSC_STORE(&end[NSC_RUNTIME_END_FREE / 8], (uint64_t)(uintptr_t)&s->header->chunks_free);
    return at;
}

int nsc_thread_present(struct nsc_place *to)
{
    struct nsc_runtime_thread *t = &nsc_runtime_tls;
    struct nsc_target_session *s;

    while ((s = nsc_session_present()) != NULL) {
        const uint64_t *endp = NSC_LOAD(&t->endp);
        uint64_t place = NSC_LOAD(&t->place);
        int64_t at;

        if ((NSC_LOAD(&s->header->flags) & NSC_LIVE_FLAG_HOLD) != 0) {
            nsc_session_gone(s); /* the recorder may be dead, and the flag never be cleared */
            return 0;
        }
        if (place >> 32 != s->generation) {
            forget(t, place, s->generation);
            continue;
        }
        if ((uint32_t)place != 0) {
            *to = (struct nsc_place){s, t, place, (uint32_t)place - 1};
            if (endp == end_word(to) || cas_endp(t, endp, end_word(to)))
                return 1;
            continue;
        }
        at = claim_thread(s, t);
        if (at < 0)
            return 0;
        if (nsc_session_cas64(&t->place, place, place | (uint64_t)(at + 1)))
            nsc_cpu_timer_arm(s, (uint32_t)at);
        else /* a signal handler has claimed a slot for this thread: leave this one to the recorder
              */
            NSC_STORE(&s->threads[at].state, NSC_LIVE_DEAD);
        t->retry = 0;
    }
    return 0;
}

enum nsc_slot_place nsc_thread_slot_place(const struct nsc_place *p, uint64_t slot)
{
    const struct nsc_target_session *s = p->session;
    uint64_t offset = slot - (uint64_t)(uintptr_t)s->data;
    uint64_t state;
    uint32_t number;

    if (offset >= (uint64_t)s->chunks_max * s->chunk_bytes)
        return NSC_SLOT_NOWHERE;
    number = (uint32_t)(offset / s->chunk_bytes) + 1;
    if (!chunk_has(s, number, slot))
        return NSC_SLOT_NOWHERE;
    state = NSC_LOAD(&chunk_of(s, number)->state);
    if (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_FREE ||
        NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_TAKEN ||
        NSC_LIVE_CHUNK_THREAD(state) != p->thread)
        return NSC_SLOT_TAKEN;
    return NSC_SLOT_MINE;
}

/* Return the sequence number of the current chunk, or of the last one if there is none. */
static uint32_t newest_seq(const struct nsc_place *p, uint64_t chunks)
{
    uint32_t current = NSC_CHUNKS_CURRENT(chunks);

    if (current == 0)
        return NSC_LOAD(&live_thread(p)->chunk_seq);
    return NSC_LIVE_CHUNK_SEQ(NSC_LOAD(&chunk_of(p->session, current)->state));
}

/* Publish the previous chunk. The exact state word is expected, so repeating this, or doing it too
 * late, changes nothing. */
static void publish_previous(const struct nsc_place *p, uint64_t chunks)
{
    uint32_t previous = NSC_CHUNKS_PREVIOUS(chunks);
    uint32_t seq = newest_seq(p, chunks) - (NSC_CHUNKS_CURRENT(chunks) != 0);

    if (previous == 0 || NSC_LOAD(&p->words->chunks) != chunks)
        return;
    nsc_session_cas64(&chunk_of(p->session, previous)->state,
                      NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, p->thread, seq),
                      NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, p->thread, seq));
    nsc_session_cas64(&p->words->chunks, chunks, chunks & ~(0xfffffull << 20));
}

/* Return 1 if `pos`, `*endp` and the thread slot are consistent with @chunks. */
static int settled(const struct nsc_place *p, uint64_t chunks)
{
    const struct nsc_target_session *s = p->session;
    uint32_t current = NSC_CHUNKS_CURRENT(chunks);
    uint64_t pos = NSC_LOAD(&p->words->pos);
    uint64_t end = NSC_LOAD(end_word(p));

    if (current == 0)
        return pos >= POS_NOWHERE && end < POS_NOWHERE;
    return end == chunk_soft_end(s, current) && pos - chunk_start(s, current) < s->chunk_bytes &&
           NSC_LOAD(&live_thread(p)->chunk_seq) == newest_seq(p, chunks);
}

/*
 * Make `pos` and `*endp` consistent with `chunks`. The fast path is closed while they are not:
 * *endp is a token (below every address) from before `pos` moves until after. Each of the three
 * words is changed only if no handler has changed it, so that a handler's later state is never
 * undone.
 */
static void settle(const struct nsc_place *p)
{
    const struct nsc_target_session *s = p->session;
    struct nsc_runtime_thread *t = p->words;
    uint64_t *end = end_word(p);
    uint64_t chunks, token, pos;
    uint32_t current;

    do {
        chunks = NSC_LOAD(&t->chunks);
        if (nsc_thread_moved(p))
            return;
        current = NSC_CHUNKS_CURRENT(chunks);
        if (settled(p, chunks))
            continue;
        token = (NSC_ADD(&t->token, 1) & 0x7fff) + 1;
        NSC_STORE(end, token);
        NSC_STORE(&live_thread(p)->chunk_seq, newest_seq(p, chunks));
        pos = NSC_LOAD(&t->pos);
        if (NSC_LOAD(&t->chunks) != chunks)
            continue;
        if (current == 0) {
            if (pos < POS_NOWHERE)
                nsc_session_cas64(&t->pos, pos, POS_NOWHERE);
            continue;
        }
        if (pos - chunk_start(s, current) >= s->chunk_bytes)
            nsc_session_cas64(&t->pos, pos, chunk_start(s, current));
        nsc_session_cas64(end, token, chunk_soft_end(s, current));
    } while (NSC_LOAD(&t->chunks) != chunks);
}

/* Reading a page also maps the pages around it, so storing events does not fault every 4 KiB. This
 * is done before the chunk is claimed. Signals often arrive at the end of a page fault, and a
 * handler that does not return would leave a claimed chunk until the thread ends. */
static void touch_chunk(const struct nsc_target_session *s, uint32_t number)
{
    uint64_t at;

    for (at = 0; at < s->chunk_bytes; at += PAGES_BYTES)
        (void)*(const volatile uint64_t *)(uintptr_t)(chunk_start(s, number) + at);
}

static int take_chunk(const struct nsc_place *p, uint32_t at, uint32_t seq)
{
    return nsc_session_cas64(&p->session->chunks[at].state, 0,
                             NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, p->thread, seq));
}

/* Claim the home chunk of the thread slot, if it is free. */
static uint32_t claim_home(const struct nsc_place *p, uint32_t seq)
{
    const struct nsc_target_session *s = p->session;
    uint32_t at;

    if (s->home_count == 0)
        return 0;
    at = s->home_first + p->thread % s->home_count;
    return NSC_LOAD(&s->chunks[at].state) == 0 && take_chunk(p, at, seq) ? at + 1 : 0;
}

static uint32_t pool_count(const struct nsc_target_session *s)
{
    uint32_t count = NSC_LOAD(&s->header->chunk_count);

    return count < s->pool_max ? count : s->pool_max; /* the rest is not mapped */
}

/* Decrement the count of free chunks. It is approximate on purpose, but never negative. */
static void count_claim(uint32_t *chunks_free)
{
    uint32_t n;

    do
        n = NSC_LOAD(chunks_free);
    while (n != 0 && !nsc_session_cas32(chunks_free, n, n - 1));
}

/*
 * Claim a chunk of the pool. If the recorder's count of free chunks is zero, check only the place
 * where the recorder frees chunks next: an event that is about to be lost must stay cheap.
 */
static uint32_t claim_pooled(const struct nsc_place *p, uint32_t seq, uint32_t count)
{
    struct nsc_target_session *s = p->session;
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
        touch_chunk(s, at + 1);
        if (!take_chunk(p, at, seq))
            continue;
        if (search) {
            NSC_STORE(&h->chunk_hint, at + 1);
            count_claim(&h->chunks_free);
        }
        return at + 1;
    }
    if (search && count == NSC_LOAD(&h->chunk_count))
        NSC_STORE(&h->chunks_free, 0);
    else if (search) /* other processes may have mapped the free chunks */
        NSC_STORE(&s->none_mapped, heartbeat + 1);
    return 0;
}

/*
 * Claim a FREE chunk for sequence number @seq; returns its number (index + 1) or 0. The pool comes
 * first, because it has its pages already. But half of it is kept for threads that fill chunk after
 * chunk, however many new threads there are.
 */
static uint32_t claim_chunk(const struct nsc_place *p, uint32_t seq)
{
    uint32_t count = pool_count(p->session), number = 0;

    if (seq == 1 && NSC_LOAD(&p->session->header->chunks_free) <= count / 2)
        number = claim_home(p, seq);
    if (number == 0)
        number = claim_pooled(p, seq, count);
    return number != 0 ? number : claim_home(p, seq);
}

/*
 * Try once to replace the current chunk by a free one. The new chunk is filled in while it is not
 * visible, then a single compare-and-swap makes it current. If a handler was faster, its chunk
 * stays, and the new chunk is freed untouched.
 */
static int switch_chunk(const struct nsc_place *p, uint64_t chunks, uint64_t position)
{
    struct nsc_runtime_thread *t = p->words;
    uint32_t seq = newest_seq(p, chunks) + 1;
    uint32_t number = claim_chunk(p, seq);
    uint64_t previous = (uint64_t)NSC_CHUNKS_CURRENT(chunks) << 20;
    uint64_t generation = (chunks & ~(NSC_CHUNKS_GENERATION - 1)) + NSC_CHUNKS_GENERATION;
    uint64_t anchor_low, lost, claimed, highest;
    struct nsc_live_chunk *chunk;

    if (number == 0)
        number = nsc_chunk_overwrite(p, seq, pool_count(p->session));
    if (number == 0) {
        if (previous != 0) /* publish the current chunk: the recorder may be waiting for it */
            nsc_session_cas64(&t->chunks, chunks, generation | previous);
        return 0;
    }
    chunk = chunk_of(p->session, number);
    anchor_low = NSC_LOAD(&t->anchor_low);
    if (!nsc_thread_anchor_valid(anchor_low)) {
        /* Code that is moving the anchor must detect that its record is not in this chunk. */
        NSC_STORE(&t->anchor_low, nsc_thread_anchor_token(t));
        anchor_low = position - NSC_LIVE_ANCHOR_REACH;
    }
    lost = NSC_LOAD(&live_thread(p)->lost);
    claimed = NSC_LOAD(&t->lost_claimed);
    highest = NSC_LOAD(highest_word(p)); /* read after the count, which is raised last */
    NSC_STORE(&chunk->open_ticks, nsc_arch_ticks());
    chunk->anchor = anchor_low + NSC_LIVE_ANCHOR_REACH;
    NSC_STORE(&chunk->lost_before, lost - claimed);
    NSC_STORE(&chunk->lost_highest, highest);
    if (!nsc_session_cas64(&t->chunks, chunks, generation | previous | number)) {
        nsc_session_cas64(&chunk->state, NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, p->thread, seq),
                          0);
        if (number <= p->session->pool_max)
            NSC_ADD(&p->session->header->chunks_free, 1);
        return 1;
    }
    nsc_session_cas64(&t->lost_claimed, claimed, lost);
    nsc_session_cas64(highest_word(p), highest, 0);
    return 1;
}

/*
 * Return 1, with the fast path closed, if another session has replaced this one. The thread that
 * began the new session closed the fast path before this check, or will find what settle() has
 * opened.
 */
static int is_replaced(const struct nsc_place *p)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (NSC_LOAD(&nsc_session_current) == p->session)
        return 0;
    NSC_STORE(end_word(p), 0);
    return 1;
}

/*
 * Return 1 if chunk @number, not 0, belongs to this thread until the thread publishes it. It no
 * longer does when the recorder has ended and freed the memory, which then reads zero: reserving
 * slots there would fail forever.
 */
static int has_chunk(const struct nsc_place *p, uint32_t number)
{
    uint64_t state = NSC_LOAD(&chunk_of(p->session, number)->state);

    return NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_OWNED &&
           NSC_LIVE_CHUNK_THREAD(state) == p->thread;
}

enum nsc_chunk_state nsc_thread_chunk_ready(const struct nsc_place *p, uint64_t position)
{
    struct nsc_runtime_thread *t = p->words;

    for (;;) {
        uint64_t chunks = NSC_LOAD(&t->chunks);
        uint32_t current = NSC_CHUNKS_CURRENT(chunks);

        settle(p);
        if (is_replaced(p) || nsc_thread_moved(p))
            return NSC_CHUNK_MOVED;
        if (NSC_CHUNKS_PREVIOUS(chunks) != 0) {
            publish_previous(p, chunks);
            continue;
        }
        if (current != 0 && NSC_LOAD(&t->chunks) == chunks &&
            NSC_LOAD(&t->pos) < chunk_soft_end(p->session, current) && has_chunk(p, current))
            return NSC_CHUNK_READY;
        if (NSC_LOAD(&p->session->header->recorder_state) != NSC_LIVE_RECORDER_OPEN) {
            nsc_session_gone(p->session);
            return NSC_CHUNK_NONE;
        }
        if (switch_chunk(p, chunks, position))
            continue;
        chunks = NSC_LOAD(&t->chunks);
        if (nsc_thread_moved(p))
            return NSC_CHUNK_MOVED;
        if (NSC_CHUNKS_CURRENT(chunks) == 0) {
            settle(p);
            publish_previous(p, chunks);
            if (NSC_CHUNKS_PREVIOUS(chunks) != 0 && p->session->overwritten != NULL)
                continue; /* this chunk can now be overwritten */
            nsc_session_gone(p->session);
            return NSC_CHUNK_NONE;
        }
    }
}
