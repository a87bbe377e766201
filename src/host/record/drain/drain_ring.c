/*
 * drain_ring.c - the flight recorder: the pool holds the newest events; the oldest are dropped.
 *
 * Part of drain.h. Dropped events are still decoded, so that the calls that are open where the kept
 * part begins are known, with their true start.
 */
#include <stdlib.h>

#include "abi/live_count.h"
#include "record/drain/drain.h"

static int compare_ages(const void *a, const void *b)
{
    const struct nsc_drain_entry *x = a, *y = b;

    if (x->phase != y->phase) /* FULL ones first */
        return x->phase == NSC_LIVE_CHUNK_FULL ? -1 : 1;
    if (x->open_ticks != y->open_ticks)
        return x->open_ticks < y->open_ticks ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* A dead thread's last chunk counts as full. */
static void age_entries(struct nsc_drain *d)
{
    struct nsc_record_session *s = d->tracees->session;
    uint32_t i;

    for (i = 0; i < d->entry_count; i++) {
        struct nsc_drain_entry *entry = &d->entries[i];
        struct nsc_tracee_thread *t = nsc_tracees_thread(d->tracees, entry->thread);

        entry->open_ticks = __atomic_load_n(&s->chunks[entry->chunk].open_ticks, __ATOMIC_RELAXED);
        if (t != NULL && t->dead)
            entry->phase = NSC_LIVE_CHUNK_FULL;
        if (t != NULL)
            t->pass = d->pass;
    }
    qsort(d->entries, d->entry_count, sizeof *d->entries, compare_ages);
}

uint32_t nsc_drain_turn_ring(struct nsc_drain *d)
{
    uint32_t wanted = d->tracees->session->chunk_count / (d->hold ? 16 : 4), i, dropped = 0;

    if (d->chunks_free >= wanted)
        return 0;
    age_entries(d);
    for (i = 0; i < d->entry_count && d->chunks_free < wanted; i++) {
        struct nsc_tracee_thread *t = nsc_tracees_thread(d->tracees, d->entries[i].thread);

        if (d->entries[i].phase != NSC_LIVE_CHUNK_FULL)
            break;
        if (t == NULL)
            continue;
        dropped += nsc_drain_empty_chunk(d, t, &d->entries[i]);
    }
    return dropped;
}

static int compare_places(const void *a, const void *b)
{
    const struct nsc_drain_entry *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* The end of a chunk is the start of the thread's next one. */
void nsc_drain_drop_before(struct nsc_drain *d, uint64_t ticks)
{
    const struct nsc_record_session *s = d->tracees->session;
    uint32_t i;

    qsort(d->entries, d->entry_count, sizeof *d->entries, compare_places);
    for (i = 0; i + 1 < d->entry_count; i++) {
        const struct nsc_drain_entry *entry = &d->entries[i], *next = entry + 1;
        struct nsc_tracee_thread *t = nsc_tracees_thread(d->tracees, entry->thread);

        if (t != NULL && entry->phase == NSC_LIVE_CHUNK_FULL && next->thread == entry->thread &&
            __atomic_load_n(&s->chunks[next->chunk].open_ticks, __ATOMIC_RELAXED) < ticks)
            (void)nsc_drain_empty_chunk(d, t, entry);
    }
    d->entry_count = 0; /* some entries are free now */
}

void nsc_drain_keep_ring(struct nsc_drain *d)
{
    struct nsc_tracees *all = d->tracees;
    uint32_t i;

    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL && !all->threads[i]->process->left_out)
            nsc_stacks_keep(&all->threads[i]->stacks);
    all->keep = true;
}

/* Counts the events that a thread should have counted, but did not. @state: of the chunk, before
 * the recorder took it. */
static void count_overwritten(const struct nsc_record_session *s, uint32_t chunk, uint64_t state)
{
    struct nsc_live_overwritten *count = &s->overwritten[NSC_LIVE_TAKEN_OWNER(state)];
    uint64_t held = NSC_LIVE_TAKEN_HELD(state);

    if (held == 0)
        return;
    if (held == NSC_LIVE_TAKEN_WHOLE)
        held = 1 + nsc_live_count(nsc_session_chunk_words(s, chunk), s->chunk_bytes / 16,
                                  s->exit_bit, s->entry_timing);
    __atomic_fetch_add(&count->events, held - 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&count->lost,
                       __atomic_load_n(&s->chunks[chunk].lost_before, __ATOMIC_RELAXED),
                       __ATOMIC_RELAXED);
    __atomic_fetch_add(&count->chunks, 1, __ATOMIC_RELAXED);
}

bool nsc_drain_take_over(struct nsc_drain *d, uint32_t chunk, bool the_end)
{
    const struct nsc_tracees *all = d->tracees;
    const struct nsc_record_session *s = all->session;
    uint64_t state = __atomic_load_n(&s->chunks[chunk].state, __ATOMIC_ACQUIRE);
    uint32_t owner, taker;
    bool ended;

    do { /* until the recorder owns it, or the thread has counted */
        owner = NSC_LIVE_TAKEN_OWNER(state);
        taker = NSC_LIVE_TAKEN_TAKER(state);
        if (s->overwritten == NULL || NSC_LIVE_CHUNK_PHASE(state) != NSC_LIVE_CHUNK_TAKEN ||
            owner >= s->threads_max || taker >= s->threads_max)
            return false;
        ended = all->threads[taker] != NULL && all->threads[taker]->dead;
        if (!ended && !the_end)
            return false;
    } while (!__atomic_compare_exchange_n(&s->chunks[chunk].state, &state,
                                          NSC_LIVE_TAKEN(owner, NSC_LIVE_TAKEN_RECORDER, 0, 0),
                                          false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    count_overwritten(s, chunk, state);
    return ended;
}
