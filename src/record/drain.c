/* drain.c - see drain.h. */
#include "record/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

/* How often, at most. Threads are probed in every round while they are few or chunks are short. */
#define CHECK_PROCESSES_NS (10 * MS)
#define PROBE_THREADS_NS   (50 * MS)
#define SCAN_TABLES_NS     (100 * MS)

/* A pool grows up to here to bridge our absence: some 70 ms of one thread that does nothing but
 * call. With the writer's own bound this keeps the recorder within 256 MiB. */
#define BACKLOG_MAX_BYTES (128ull << 20)

enum {
    STALLS_MAX = 3,    /* rounds to wait for a chunk that is missing in a thread's sequence */
    HELD_PASSES = 200, /* rounds to wait for a slot that a hook has yet to fill */
    FEW_THREADS = 256
};

int nsc_drain_init(struct nsc_drain *drain, struct nsc_tracees *tracees, enum nsc_record_mode mode)
{
    *drain = (struct nsc_drain){.tracees = tracees, .mode = mode};
    drain->entries = calloc(tracees->session->chunks_max, sizeof *drain->entries);
    if (drain->entries == NULL)
        return -ENOMEM;
    drain->chunks_free = tracees->session->chunk_count;
    tracees->keep = mode != NSC_RECORD_RING;
    return 0;
}

void nsc_drain_free(struct nsc_drain *drain)
{
    free(drain->entries);
    drain->entries = NULL;
}

/* ---- One chunk ------------------------------------------------------------------------------- */

static uint32_t slots_used(const uint64_t *words, uint32_t slots)
{
    while (slots > 0 && __atomic_load_n(&words[2 * (size_t)slots - 2], __ATOMIC_ACQUIRE) == 0)
        slots--;
    return slots;
}

static void give_back(struct nsc_session *s, uint32_t chunk)
{
    uint64_t *words = nsc_session_chunk_words(s, chunk);

    memset(words, 0, (size_t)slots_used(words, s->chunk_bytes / 16) * 16);
    __atomic_store_n(&s->chunks[chunk].state, 0, __ATOMIC_RELEASE);
    /* The chunk used last is the one that caches and page tables know best. */
    __atomic_store_n(&s->header->chunk_hint, chunk, __ATOMIC_RELAXED);
}

/*
 * Run what is in a chunk. @stop_at_hole: a hook may yet fill an empty slot.
 * Returns whether the chunk is read to its end.
 */
static bool read_chunk(struct nsc_session *s, struct nsc_tracee_thread *t,
                       const struct nsc_drain_entry *entry, bool stop_at_hole)
{
    const struct nsc_live_chunk *live = &s->chunks[entry->chunk];
    const uint64_t *words = nsc_session_chunk_words(s, entry->chunk);
    uint32_t used = slots_used(words, s->chunk_bytes / 16);

    if (used == 0)
        return true;
    if (t->resume_seq != entry->seq) {
        nsc_stacks_begin_chunk(&t->stacks, __atomic_load_n(&live->anchor, __ATOMIC_RELAXED),
                               __atomic_load_n(&live->open_ticks, __ATOMIC_RELAXED),
                               __atomic_load_n(&live->lost_before, __ATOMIC_RELAXED));
        t->resume_seq = entry->seq;
        t->resume_at = 0;
    }
    if (t->resume_at < used)
        t->resume_at =
            (uint32_t)nsc_stacks_run(&t->stacks, words, t->resume_at, used, stop_at_hole);
    return t->resume_at >= used;
}

void nsc_drain_empty_chunk(struct nsc_drain *d, struct nsc_tracee_thread *t,
                           const struct nsc_drain_entry *entry)
{
    if (!t->process->left_out)
        read_chunk(d->tracees->session, t, entry, false);
    t->next_seq = entry->seq + 1;
    t->stalls = 0;
    t->held = 0;
    t->resume_seq = 0;
    give_back(d->tracees->session, entry->chunk);
}

/* ---- The chunks of one thread, in order ------------------------------------------------------ */

/*
 * May the chunk be emptied now? A scan of the directory is no snapshot, so a chunk's forerunner
 * may have escaped it; and a slot may still be open while its hook is interrupted.
 */
static bool chunk_due(struct nsc_drain *d, struct nsc_tracee_thread *t,
                      const struct nsc_drain_entry *entry)
{
    struct nsc_session *s = d->tracees->session;

    if (t->dead)
        return true;
    if (entry->phase != NSC_LIVE_CHUNK_FULL)
        return false;
    if (entry->seq != t->next_seq && t->stalls++ < STALLS_MAX)
        return false;
    t->next_seq = entry->seq;
    if (t->process->left_out || read_chunk(s, t, entry, true))
        return true;
    return d->chunks_free < s->chunk_count / 2 || t->held++ >= HELD_PASSES;
}

/* Streams only: what is complete of a chunk in use, so that a trace under way lacks little. */
static void read_partly(struct nsc_drain *d, struct nsc_tracee_thread *t,
                        const struct nsc_drain_entry *entry)
{
    const uint64_t *words = nsc_session_chunk_words(d->tracees->session, entry->chunk);

    if (entry->seq == t->next_seq && !t->process->left_out &&
        __atomic_load_n(&words[0], __ATOMIC_ACQUIRE) != 0)
        read_chunk(d->tracees->session, t, entry, true);
}

static uint32_t drain_thread(struct nsc_drain *d, struct nsc_tracee_thread *t,
                             const struct nsc_drain_entry *entries, uint32_t count,
                             enum nsc_drain_depth depth)
{
    uint32_t i;

    for (i = 0; i < count; i++) {
        if (depth != NSC_DRAIN_THE_END && !chunk_due(d, t, &entries[i])) {
            if (depth == NSC_DRAIN_PARTLY && entries[i].phase == NSC_LIVE_CHUNK_OWNED)
                read_partly(d, t, &entries[i]);
            return i;
        }
        nsc_drain_empty_chunk(d, t, &entries[i]);
    }
    if (t->dead && depth != NSC_DRAIN_THE_END)
        nsc_tracee_finish(t, true);
    return i;
}

/* ---- One round ------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
    const struct nsc_drain_entry *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* All chunks in use, by thread and sequence; returns their number. */
static uint32_t scan_chunks(struct nsc_drain *d)
{
    struct nsc_session *s = d->tracees->session;
    uint32_t i, count = 0;

    for (i = 0; i < s->chunk_count; i++) {
        uint64_t state = __atomic_load_n(&s->chunks[i].state, __ATOMIC_ACQUIRE);

        if (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_FREE)
            continue;
        d->entries[count++] = (struct nsc_drain_entry){
            .thread = NSC_LIVE_CHUNK_THREAD(state),
            .seq = NSC_LIVE_CHUNK_SEQ(state),
            .chunk = i,
            .phase = NSC_LIVE_CHUNK_PHASE(state),
        };
    }
    d->chunks_free = s->chunk_count - count;
    qsort(d->entries, count, sizeof *d->entries, compare_entries);
    return count;
}

static bool chunks_short(const struct nsc_drain *d)
{
    return d->chunks_free < d->tracees->session->chunk_count / 2;
}

/* Who has ended? Before the chunks are looked at, so that what is found then is all there is. */
static void check_lives(struct nsc_drain *d, enum nsc_drain_depth depth, uint64_t now_ns)
{
    struct nsc_tracees *all = d->tracees;
    uint32_t i;

    if (now_ns - d->checked_ns >= CHECK_PROCESSES_NS || depth == NSC_DRAIN_THE_END) {
        nsc_tracees_check_processes(all);
        d->checked_ns = now_ns;
    }
    if (now_ns - d->probed_ns < PROBE_THREADS_NS && !chunks_short(d) &&
        all->live_threads > FEW_THREADS && depth == NSC_DRAIN_FULL)
        return;
    d->probed_ns = now_ns;
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_tracee_check(all->threads[i]);
}

/* Chunks whose thread cannot be: a damaged state word. They hold nothing that could be placed. */
static void discard(struct nsc_drain *d, const struct nsc_drain_entry *entries, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        give_back(d->tracees->session, entries[i].chunk);
}

/* Dead threads without any chunk. */
static void finish_rest(struct nsc_drain *d)
{
    struct nsc_tracees *all = d->tracees;
    uint32_t i;

    for (i = 0; i < all->thread_high; i++) {
        struct nsc_tracee_thread *t = all->threads[i];

        if (t != NULL && t->dead && t->pass != d->pass)
            nsc_tracee_finish(t, true);
    }
}

static uint32_t drain_all(struct nsc_drain *d, uint32_t count, enum nsc_drain_depth depth)
{
    uint32_t i, n, emptied = 0;

    for (i = 0; i < count; i += n) {
        struct nsc_tracee_thread *t = nsc_tracees_thread(d->tracees, d->entries[i].thread);

        for (n = 1; i + n < count && d->entries[i + n].thread == d->entries[i].thread; n++)
            ;
        if (t == NULL) {
            discard(d, &d->entries[i], n);
            continue;
        }
        t->pass = d->pass;
        emptied += drain_thread(d, t, &d->entries[i], n, depth);
    }
    return emptied;
}

/* The pool is too small when threads hold most of it just by being alive, or when it was all but
 * full as we came: on a busy machine we are kept waiting for longer than it lasts. */
static void grow_if_short(struct nsc_drain *d, uint32_t count)
{
    struct nsc_session *s = d->tracees->session;
    uint32_t owned = 0, i;

    for (i = 0; i < count; i++)
        owned += d->entries[i].phase == NSC_LIVE_CHUNK_OWNED;
    if (owned > s->chunk_count / 2 ||
        (count > s->chunk_count / 4 * 3 &&
         (uint64_t)s->chunk_count * s->chunk_bytes < BACKLOG_MAX_BYTES))
        nsc_session_grow(s);
}

uint32_t nsc_drain_pass(struct nsc_drain *d, enum nsc_drain_depth depth, uint64_t now_ns)
{
    struct nsc_tracees *all = d->tracees;
    struct nsc_live_header *header = all->session->header;
    uint32_t count, emptied = 0;
    bool scan = now_ns - d->scanned_ns >= SCAN_TABLES_NS || depth == NSC_DRAIN_THE_END;

    d->pass++;
    __atomic_fetch_add(&header->heartbeat, 1, __ATOMIC_RELEASE);
    check_lives(d, depth, now_ns);
    count = scan_chunks(d);
    /* After the chunks, so that every module whose events are in them is known. */
    nsc_tracees_scan(all, scan);
    if (scan) {
        nsc_tracees_scan_threads(all);
        d->scanned_ns = now_ns;
    }
    if (depth == NSC_DRAIN_THE_END || d->mode == NSC_RECORD_STREAM) {
        emptied = drain_all(d, count, depth);
        if (depth != NSC_DRAIN_THE_END)
            finish_rest(d);
        d->chunks_free += emptied;
        grow_if_short(d, count);
    } else if (d->mode == NSC_RECORD_RING) {
        emptied = nsc_drain_turn_ring(d, count);
        d->chunks_free += emptied;
    }
    __atomic_store_n(&header->chunks_free, d->chunks_free, __ATOMIC_RELAXED);
    nsc_tracees_reap(all);
    return emptied;
}
