/* chunk_overwrite.c - see chunk_overwrite.h. */
#include "linux/events/chunk_overwrite.h"

#include "abi/live_count.h"
#include "arch/arch.h"
#include "linux/sys/sys.h"

/* Other threads compete for a chunk; in each attempt one of them gets it. */
#define TRIES    64
/* Maximum of TAKEN but unfinished chunks that a thread keeps until they are the oldest again:
 * clearing may just be interrupted by the signal handler that runs this. If there are more,
 * handlers have left them by siglongjmp. */
#define OWN_MOST 2

struct found {
    uint32_t number; /* 0: none */
    uint64_t state, open_ticks;
};

static int has_ended(const struct nsc_target_session *s, uint32_t thread)
{
    const struct nsc_live_thread *t = s->threads + thread;

    return thread < s->threads_max && !s->abroad && NSC_LOAD(&t->state) == NSC_LIVE_LIVE &&
           nsc_sys_thread_ended(NSC_LOAD(&t->pid), NSC_LOAD(&t->tid));
}

/* Return 1 for a chunk whose thread ended before publishing it, or while taking it. Another thread
 * may have got the thread slot meanwhile; then the state changes before that thread touches the
 * chunk. */
static int is_left_behind(const struct nsc_target_session *s, uint64_t state)
{
    if (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_OWNED)
        return has_ended(s, NSC_LIVE_CHUNK_THREAD(state));
    return NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_TAKEN &&
           NSC_LIVE_TAKEN_OWNER(state) < s->threads_max &&
           has_ended(s, NSC_LIVE_TAKEN_TAKER(state));
}

static int is_full(const struct nsc_target_session *s, uint64_t state)
{
    return NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_FULL &&
           NSC_LIVE_CHUNK_THREAD(state) < s->threads_max;
}

/* Return 1 if this thread took the chunk but did not finish. */
static int is_own(const struct nsc_place *p, uint64_t state)
{
    return NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_TAKEN &&
           NSC_LIVE_TAKEN_TAKER(state) == p->thread &&
           NSC_LIVE_TAKEN_OWNER(state) < p->session->threads_max;
}

static struct found look_at(const struct nsc_target_session *s, uint32_t i)
{
    return (struct found){.number = i + 1,
                          .state = NSC_LOAD(&s->chunks[i].state),
                          .open_ticks = NSC_LOAD(&s->chunks[i].open_ticks)};
}

static int is_older(const struct found *a, const struct found *b)
{
    return b->number == 0 || a->open_ticks < b->open_ticks;
}

/* Return the oldest of @count chunks that is full, or taken by this thread. */
static struct found find_oldest(const struct nsc_place *p, uint32_t count)
{
    struct found oldest = {0}, own = {0};
    uint32_t owned = 0, i;

    for (i = 0; i < count; i++) {
        struct found now = look_at(p->session, i);

        if (is_own(p, now.state)) {
            owned++;
            if (is_older(&now, &own))
                own = now;
        } else if (is_full(p->session, now.state) && is_older(&now, &oldest)) {
            oldest = now;
        }
    }
    return own.number != 0 && (owned > OWN_MOST || is_older(&own, &oldest)) ? own : oldest;
}

/* Return the oldest chunk that an ended thread has left. Costs a system call for some chunks. */
static struct found find_left_behind(const struct nsc_place *p, uint32_t count)
{
    struct found oldest = {0};
    uint32_t i;

    for (i = 0; i < count; i++) {
        struct found now = look_at(p->session, i);

        if (is_older(&now, &oldest) && is_left_behind(p->session, now.state))
            oldest = now;
    }
    return oldest;
}

/* Return 1 if the thread has moved, or runs in a child that was forked by a signal handler: the
 * chunk then belongs to the parent. */
static int is_elsewhere(const struct nsc_place *p)
{
    return nsc_thread_moved(p) || NSC_LOAD(&p->session->wiped[0]) != NSC_PRESENCE_JOINED;
}

/* Fill the chunk with zeros. Returns 0 if a handler has taken it again, or in a forked child. */
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

/* Change a chunk's state from @found to TAKEN by this thread. Returns the new state, or 0. Updates
 * open_ticks, so that the chunk is no longer the oldest. */
static uint64_t take(const struct nsc_place *p, const struct found *found)
{
    struct nsc_live_chunk *chunk = p->session->chunks + (found->number - 1);
    uint64_t state = found->state, taken;

    if (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_TAKEN)
        taken = NSC_LIVE_TAKEN(NSC_LIVE_TAKEN_OWNER(state), p->thread, NSC_LIVE_TAKEN_HELD(state),
                               NSC_LIVE_TAKEN_TURN(state) + 1);
    else
        taken = NSC_LIVE_TAKEN(NSC_LIVE_CHUNK_THREAD(state), p->thread, NSC_LIVE_TAKEN_WHOLE,
                               NSC_LIVE_CHUNK_SEQ(state));
    if (!nsc_session_cas64(&chunk->state, state, taken))
        return 0;
    /* Fails if a handler has used it since. */
    nsc_session_cas64(&chunk->open_ticks, found->open_ticks, nsc_arch_ticks());
    return taken;
}

static uint64_t with_held(uint64_t taken, uint64_t held)
{
    return NSC_LIVE_TAKEN(NSC_LIVE_TAKEN_OWNER(taken), NSC_LIVE_TAKEN_TAKER(taken), held,
                          NSC_LIVE_TAKEN_TURN(taken));
}

/* Count the events of a TAKEN chunk, clear it, and make it OWNED. Returns 1, or 0 if that
 * failed. */
static int turn_over(const struct nsc_place *p, uint32_t number, uint64_t taken, uint32_t seq)
{
    const struct nsc_target_session *s = p->session;
    struct nsc_live_chunk *chunk = s->chunks + (number - 1);
    struct nsc_live_overwritten *count = s->overwritten + NSC_LIVE_TAKEN_OWNER(taken);
    uint64_t *words = (uint64_t *)(void *)(s->data + (size_t)(number - 1) * s->chunk_bytes);
    /* Read now: after the count is stored, a handler may use the chunk. */
    uint64_t lost = NSC_LOAD(&chunk->lost_before), held = NSC_LIVE_TAKEN_HELD(taken), next;

    if (held == NSC_LIVE_TAKEN_WHOLE) {
        held = 1 + nsc_live_count(words, s->chunk_bytes / NSC_SLOT_BYTES, NSC_ARCH_EXIT_BIT,
                                  (s->flags & NSC_LIVE_FLAG_ENTRY_TIMING) != 0);
        next = with_held(taken, held);
        if (!nsc_session_cas64(&chunk->state, taken, next))
            return 0;
        taken = next;
    }
    /* A reader that has copied the chunk meanwhile checks its state afterwards. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    next = with_held(taken, 0);
    if (!clear(p, &chunk->state, taken, words) || !nsc_session_cas64(&chunk->state, taken, next))
        return 0;
    if (held != 0) {
        NSC_ADD(&count->events, held - 1);
        NSC_ADD(&count->lost, lost);
        NSC_ADD(&count->chunks, 1);
    }
    return !is_elsewhere(p) &&
           nsc_session_cas64(&chunk->state, next,
                             NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, p->thread, seq));
}

uint32_t nsc_chunk_overwrite(const struct nsc_place *p, uint32_t seq, uint32_t count)
{
    struct found found;
    uint32_t tries;
    uint64_t taken;

    if (p->session->overwritten == NULL)
        return 0;
    for (tries = 0; tries < TRIES && !is_elsewhere(p); tries++) {
        found = find_oldest(p, count);
        /* A thread that has a chunk will get a full one. The system calls are only for a thread's
         * first chunk. */
        if (found.number == 0 && seq == 1)
            found = find_left_behind(p, count);
        if (found.number == 0)
            return 0;
        taken = take(p, &found);
        if (taken != 0 && turn_over(p, found.number, taken, seq))
            return found.number;
    }
    return 0;
}
