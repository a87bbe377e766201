/* drain.c - see drain.h. */
#include "record/drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

/* Minimum intervals. Threads are checked in every pass if there are few threads or free chunks. */
#define CHECK_PROCESSES_NS (10 * MS)
#define PROBE_THREADS_NS   (50 * MS)
#define PROBE_HURRIED_NS   (10 * MS)
#define SCAN_TABLES_NS     (100 * MS)

/* If the session uses more memory than this, chunks are read before they are full, so that each
 * sparse one keeps only a page or two. */
#define SESSION_MANY_BYTES (192ull << 20)
#define PARTS_NS           (50 * MS)

enum {
    STALLS_MAX = 3,    /* passes to wait for a missing chunk of a thread's sequence */
    HELD_PASSES = 200, /* passes to wait for a slot that a hook has yet to fill */
    FEW_THREADS = 256,
    UNUSED_SLOTS = 272,      /* at a chunk's end, for signal handlers: events/thread_state.h */
    NAMES_A_PASS = 64,       /* each costs as much as a few hundred events */
    SPARSE_MAPPED_MAX = 128, /* sparse chunks mapped at a time: 8 MiB */
    HOLE_BYTES = 4096,       /* memory of a chunk in use is freed in multiples of this */
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

/* Returns the number of slots in use, up to the last complete one. @from: all slots below are in
 * use. */
static uint32_t slots_used(const struct nsc_record_session *s, uint32_t chunk, uint32_t from)
{
    const uint64_t *words = nsc_session_chunk_words(s, chunk);
    uint32_t slots = s->chunk_bytes / 16;

    if (nsc_session_is_sparse(s, chunk))
        slots = nsc_session_chunk_end(s, chunk, from * 16 / HOLE_BYTES * HOLE_BYTES) / 16;
    while (slots > from && __atomic_load_n(&words[2 * (size_t)slots - 2], __ATOMIC_ACQUIRE) == 0)
        slots--;
    return slots > from ? slots : from;
}

static void clear(const struct nsc_record_session *s, uint32_t chunk)
{
    uint64_t *words = nsc_session_chunk_words(s, chunk);
    uint32_t used;

    if (nsc_session_is_sparse(s, chunk) && nsc_session_punch(s, chunk, s->chunk_bytes))
        return;
    used = slots_used(s, chunk, 0);
    /* The first slot first: a concurrent copy of the chunk (snapshot_copy.c) reads it
     * afterwards. */
    __atomic_store_n(&words[0], 0, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memset(words, 0, (size_t)used * 16);
}

static void give_back(struct nsc_drain *d, uint32_t chunk)
{
    struct nsc_record_session *s = d->tracees->session;

    clear(s, chunk);
    __atomic_store_n(&s->chunks[chunk].state, 0, __ATOMIC_RELEASE);
    if (chunk >= s->chunk_count) /* a thread's own */
        return;
    /* The lowest free one first, so that few chunks are reused, which stay in the caches. */
    if (chunk < __atomic_load_n(&s->header->chunk_hint, __ATOMIC_RELAXED))
        __atomic_store_n(&s->header->chunk_hint, chunk, __ATOMIC_RELAXED);
    if (d->ration == 0)
        __atomic_fetch_add(&s->header->chunks_free, 1, __ATOMIC_RELAXED);
    d->chunks_free++;
    d->given++;
}

/* Frees the pages of a sparse chunk in use before slot @at, up to which it has been read. Keeps the
 * last read slot, because a hook reads the one before its own. */
static void give_back_pages(const struct nsc_record_session *s, uint32_t chunk, uint32_t at)
{
    uint32_t bytes = at > 0 ? (at - 1) * 16 / HOLE_BYTES * HOLE_BYTES : 0;

    if (bytes > 0)
        (void)nsc_session_punch(s, chunk, bytes);
}

/* Returns the time at which the thread began its next chunk; 0: unknown. */
static uint64_t next_opened(const struct nsc_drain *d, const struct nsc_drain_entry *entry)
{
    const struct nsc_drain_entry *next = entry + 1;

    if (next >= d->entries + d->entry_count || next->thread != entry->thread ||
        next->seq != entry->seq + 1)
        return 0;
    return __atomic_load_n(&d->tracees->session->chunks[next->chunk].open_ticks, __ATOMIC_RELAXED);
}

static void begin_chunk(struct nsc_tracee_thread *t, const struct nsc_live_chunk *live)
{
    uint64_t ticks = __atomic_load_n(&live->open_ticks, __ATOMIC_RELAXED);
    uint64_t lost = __atomic_load_n(&live->lost_before, __ATOMIC_RELAXED);
    uint64_t turned = nsc_tracee_turned_away(t, lost);

    nsc_stacks_begin_chunk(&t->stacks, __atomic_load_n(&live->anchor, __ATOMIC_RELAXED), ticks);
    if (lost > 0)
        nsc_stacks_gap(&t->stacks, ticks, lost - turned, turned,
                       __atomic_load_n(&live->lost_highest, __ATOMIC_RELAXED));
}

/*
 * Decodes the events of a chunk. @stop_at_hole: a hook may yet fill an empty slot.
 * Returns true if the chunk was read to its end.
 */
static bool read_chunk(struct nsc_drain *d, struct nsc_tracee_thread *t,
                       const struct nsc_drain_entry *entry, bool stop_at_hole)
{
    const struct nsc_record_session *s = d->tracees->session;
    const struct nsc_live_chunk *live = &s->chunks[entry->chunk];
    uint32_t from = t->resume_seq == entry->seq ? t->resume_at : 0;
    uint32_t used;

    if (nsc_session_is_sparse(s, entry->chunk) && ++d->sparse_mapped > SPARSE_MAPPED_MAX) {
        nsc_session_let_go(s);
        d->sparse_mapped = 1;
    }
    used = slots_used(s, entry->chunk, from);
    if (used <= from)
        return true;
    if (t->resume_seq != entry->seq) {
        begin_chunk(t, live);
        t->resume_seq = entry->seq;
    }
    t->stacks.next_ticks = next_opened(d, entry);
    t->resume_at = (uint32_t)nsc_stacks_run(&t->stacks, nsc_session_chunk_words(s, entry->chunk),
                                            from, used, stop_at_hole);
    return t->resume_at >= used;
}

/*
 * Counts the events of missing chunks before this one. Either the program has overwritten and
 * counted them, or they are missing in a snapshot, whose ring continued, or in a core dump, which
 * does not contain the recorder's counts. In the latter cases their number is estimated: as many as
 * chunks hold without a signal handler.
 */
static void miss_chunks(const struct nsc_drain *d, struct nsc_tracee_thread *t,
                        const struct nsc_drain_entry *entry)
{
    const struct nsc_record_session *s = d->tracees->session;
    uint64_t chunks = entry->seq - t->next_seq, slots = s->chunk_bytes / 16 - UNUSED_SLOTS;
    uint64_t ticks = __atomic_load_n(&s->chunks[entry->chunk].open_ticks, __ATOMIC_RELAXED);
    uint64_t counted, events = nsc_tracee_overwritten(t, &counted);

    /* No chunk is missing: the last missing one was counted after the recorder had passed it. */
    if (chunks == 0 && events == 0)
        return;
    if (d->tracees->dead && chunks > counted)
        events += (chunks - counted) * slots;
    nsc_stacks_lost(&t->stacks, ticks, events);
}

/* If threads can take full chunks as well (overwriting ring): changes the chunk's state, so that
 * the recorder owns it. False: a thread has taken it. */
static bool take(const struct nsc_record_session *s, const struct nsc_drain_entry *entry)
{
    const uint64_t full = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, entry->thread, entry->seq);
    const uint64_t taken = NSC_LIVE_TAKEN(entry->thread, NSC_LIVE_TAKEN_RECORDER, 0, 0);
    uint64_t state = full;

    if (s->overwritten == NULL ||
        __atomic_compare_exchange_n(&s->chunks[entry->chunk].state, &state, taken, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return true;
    /* The last chunk of an ended thread. */
    state = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, entry->thread, entry->seq);
    return __atomic_compare_exchange_n(&s->chunks[entry->chunk].state, &state, taken, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

bool nsc_drain_empty_chunk(struct nsc_drain *d, struct nsc_tracee_thread *t,
                           const struct nsc_drain_entry *entry)
{
    if (!take(d->tracees->session, entry))
        return false;
    if ((entry->seq > t->next_seq || (entry->seq == t->next_seq && d->tracees->keep)) &&
        d->mode == NSC_RECORD_RING && !t->process->left_out)
        miss_chunks(d, t, entry);
    if (!t->process->left_out)
        read_chunk(d, t, entry, false);
    t->next_seq = entry->seq + 1;
    t->stalls = 0;
    t->held = 0;
    t->resume_seq = 0;
    give_back(d, entry->chunk);
    return true;
}

/* True if too few chunks are free to wait for anything. Idle threads may own half of the pool. */
static bool chunks_short(const struct nsc_drain *d)
{
    return d->chunks_free < (d->tracees->session->chunk_count + 3) / 4;
}

/* ---- The chunks of one thread, in order ------------------------------------------------------ */

/*
 * Returns true if the chunk may be emptied now. The scan of the directory is not atomic, so it may
 * have missed the chunk before; and a slot stays incomplete while its hook is interrupted.
 */
static bool chunk_due(struct nsc_drain *d, struct nsc_tracee_thread *t,
                      const struct nsc_drain_entry *entry)
{
    if (t->dead)
        return true;
    if (entry->phase != NSC_LIVE_CHUNK_FULL)
        return false;
    if (entry->seq != t->next_seq && t->stalls++ < STALLS_MAX)
        return false;
    t->next_seq = entry->seq;
    if (t->process->left_out || read_chunk(d, t, entry, true))
        return true;
    return chunks_short(d) || t->held++ >= HELD_PASSES;
}

/* Streams only: reads the complete part of a chunk in use, so that an unfinished trace lacks
 * little.
 */
static void read_partly(struct nsc_drain *d, struct nsc_tracee_thread *t,
                        const struct nsc_drain_entry *entry)
{
    const struct nsc_record_session *s = d->tracees->session;
    uint32_t before = t->resume_seq == entry->seq ? t->resume_at : 0;

    if (entry->seq != t->next_seq || t->process->left_out || s->rewind || s->entry_timing)
        return; /* the last event may still be withdrawn or marked */
    read_chunk(d, t, entry, true);
    if (nsc_session_is_sparse(s, entry->chunk) && t->resume_seq == entry->seq &&
        t->resume_at > before)
        give_back_pages(s, entry->chunk, t->resume_at);
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
        if (!nsc_drain_empty_chunk(d, t, &entries[i]) && depth == NSC_DRAIN_THE_END)
            (void)nsc_drain_take_over(d, entries[i].chunk, true);
        if (d->between != NULL)
            d->between(d->context);
    }
    if (t->dead && depth != NSC_DRAIN_THE_END)
        nsc_tracee_finish(t, true);
    return i;
}

/* ---- One pass -------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
    const struct nsc_drain_entry *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* True if a living thread owns the chunk, and it need not be read yet. */
static bool at_rest(const struct nsc_drain *d, uint64_t state, enum nsc_drain_depth depth)
{
    const struct nsc_tracees *all = d->tracees;
    uint32_t thread = NSC_LIVE_CHUNK_THREAD(state);

    return depth == NSC_DRAIN_FULL && d->mode == NSC_RECORD_STREAM &&
           NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_OWNED &&
           thread < all->session->threads_max && all->threads[thread] != NULL &&
           !all->threads[thread]->dead;
}

/* Adds the chunks from @from to @to that may have to be read to the entries. */
static void scan_range(struct nsc_drain *d, uint32_t from, uint32_t to, enum nsc_drain_depth depth)
{
    const struct nsc_record_session *s = d->tracees->session;
    uint32_t i;

    for (i = from; i < to; i++) {
        uint64_t state = __atomic_load_n(&s->chunks[i].state, __ATOMIC_ACQUIRE);

        if (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_FREE)
            continue;
        d->sparse_used += nsc_session_is_sparse(s, i);
        if (i < s->chunk_count) {
            d->chunks_free--;
            d->chunks_owned += NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_OWNED;
        }
        if (NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_TAKEN) {
            if (nsc_drain_take_over(d, i, depth == NSC_DRAIN_THE_END))
                give_back(d, i);
            continue;
        }
        if (at_rest(d, state, depth))
            continue;
        d->entries[d->entry_count++] = (struct nsc_drain_entry){
            .thread = NSC_LIVE_CHUNK_THREAD(state),
            .seq = NSC_LIVE_CHUNK_SEQ(state),
            .chunk = i,
            .phase = NSC_LIVE_CHUNK_PHASE(state),
        };
    }
}

/* Returns the end of the homes in use. Each thread slot has one; slots are assigned in order. @all:
 * the end of all. */
static uint32_t homes_end(struct nsc_drain *d, bool all)
{
    const struct nsc_record_session *s = d->tracees->session;
    uint32_t hint = __atomic_load_n(&s->header->thread_hint, __ATOMIC_RELAXED);

    if (hint > d->homes_high)
        d->homes_high = hint;
    if (d->tracees->thread_high > d->homes_high)
        d->homes_high = d->tracees->thread_high;
    if (all || d->homes_high > s->home_count)
        return s->chunks_max;
    return s->pool_max + d->homes_high;
}

/* Returns the number of chunks of the pool that are full or whose threads have ended. */
static uint32_t backlog(const struct nsc_drain *d)
{
    return d->tracees->session->chunk_count - d->chunks_free - d->chunks_owned;
}

void nsc_drain_ration(struct nsc_drain *d, uint32_t chunks)
{
    d->ration = chunks;
    d->rationed = false;
}

/*
 * Publishes the number of chunks that threads may still fill. A quota is published once: it holds
 * until the next one.
 */
static void tell_free(struct nsc_drain *d)
{
    struct nsc_record_session *s = d->tracees->session;
    uint32_t left = backlog(d) < s->kept ? s->kept - backlog(d) : 0;
    uint32_t ration = d->ration < s->chunk_count / 2 ? d->ration : s->chunk_count / 2;

    if (d->rationed) {
        uint32_t rest = __atomic_load_n(&s->header->chunks_free, __ATOMIC_RELAXED);

        left = left < rest ? left : rest;
    } else if (d->ration != 0 && left > ration) {
        left = ration;
    }
    d->rationed = d->ration != 0;
    __atomic_store_n(&s->header->chunks_free, left < d->chunks_free ? left : d->chunks_free,
                     __ATOMIC_RELAXED);
}

/*
 * Determines why events had no room since the last pass. The quota is the reason if it was used up
 * while the pool had free chunks all the time: more are free now than were freed since. Called
 * after the next quota was published. A thread may count such an event late, if it was interrupted
 * before: if nothing was used up since, the previous reason holds.
 */
static void blame_ration(struct nsc_drain *d, bool used_up)
{
    const struct nsc_tracees *all = d->tracees;
    uint32_t i;

    if (used_up)
        d->blamed = d->chunks_free > d->given;
    d->given = 0;
    for (i = 0; i < all->thread_high; i++) {
        struct nsc_tracee_thread *t = all->threads[i];
        uint64_t lost;

        if (t == NULL)
            continue;
        lost = __atomic_load_n(&all->session->threads[i].lost, __ATOMIC_RELAXED);
        if (d->blamed && lost > t->lost_seen)
            t->turned_away += lost - t->lost_seen;
        t->lost_seen = lost;
    }
}

/* Lists all chunks that may have to be read, by thread and sequence number. */
static void scan_chunks(struct nsc_drain *d, enum nsc_drain_depth depth, bool all)
{
    struct nsc_record_session *s = d->tracees->session;
    bool used_up;

    d->entry_count = d->chunks_owned = d->sparse_used = 0;
    d->chunks_free = s->chunk_count;
    scan_range(d, 0, s->chunk_count, depth);
    used_up = __atomic_load_n(&s->header->chunks_free, __ATOMIC_RELAXED) == 0;
    tell_free(d);
    if (d->ration != 0)
        blame_ration(d, used_up);
    if (s->home_count > 0)
        scan_range(d, s->pool_max, homes_end(d, all), depth);
    qsort(d->entries, d->entry_count, sizeof *d->entries, compare_entries);
}

static bool probe_due(const struct nsc_drain *d, enum nsc_drain_depth depth, uint64_t now_ns)
{
    if (depth != NSC_DRAIN_FULL || d->tracees->live_threads <= FEW_THREADS)
        return true;
    return now_ns - d->probed_ns >= (chunks_short(d) ? PROBE_HURRIED_NS : PROBE_THREADS_NS);
}

/* Checks which processes and threads have ended. Before the chunks are scanned, so that the scan
 * finds all chunks of those. */
static void check_lives(struct nsc_drain *d, enum nsc_drain_depth depth, uint64_t now_ns)
{
    struct nsc_tracees *all = d->tracees;
    uint32_t i;

    if (now_ns - d->checked_ns >= CHECK_PROCESSES_NS || depth == NSC_DRAIN_THE_END) {
        nsc_tracees_check_processes(all);
        d->checked_ns = now_ns;
    }
    if (!probe_due(d, depth, now_ns))
        return;
    d->probed_ns = now_ns;
    all->names_left = NAMES_A_PASS;
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_tracee_check(all->threads[i]);
}

/* Frees chunks with an impossible thread: a damaged state word. Their events belong nowhere. */
static void discard(struct nsc_drain *d, const struct nsc_drain_entry *entries, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        give_back(d, entries[i].chunk);
}

/* Finishes ended threads without any chunk. */
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

static uint32_t drain_all(struct nsc_drain *d, enum nsc_drain_depth depth)
{
    uint32_t i, n, emptied = 0;

    for (i = 0; i < d->entry_count; i += n) {
        struct nsc_tracee_thread *t = nsc_tracees_thread(d->tracees, d->entries[i].thread);

        for (n = 1; i + n < d->entry_count && d->entries[i + n].thread == d->entries[i].thread; n++)
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

/* Enlarges the pool if it is too small: the chunks in use are most of it, or it was almost full
 * before this pass, and has not its final size yet. */
static void grow_if_short(struct nsc_drain *d, uint32_t found_free)
{
    struct nsc_record_session *s = d->tracees->session;

    if (d->chunks_owned > s->chunk_count / 2 ||
        (found_free < s->chunk_count / 4 && s->chunk_count < s->kept)) {
        uint32_t before = s->chunk_count;

        nsc_session_grow(s);
        d->given += s->chunk_count - before;
    }
}

/* Returns true if chunks in use must be read as well, because together they use much memory. */
static bool parts_due(struct nsc_drain *d, uint64_t now_ns)
{
    if (d->mode != NSC_RECORD_STREAM || d->sparse_used == 0 || now_ns - d->parts_ns < PARTS_NS)
        return false;
    d->parts_ns = now_ns;
    return nsc_session_bytes(d->tracees->session) > SESSION_MANY_BYTES;
}

uint32_t nsc_drain_pass(struct nsc_drain *d, enum nsc_drain_depth depth, uint64_t now_ns)
{
    struct nsc_tracees *all = d->tracees;
    uint32_t found_free, emptied = 0;
    bool scan = now_ns - d->scanned_ns >= SCAN_TABLES_NS || depth == NSC_DRAIN_THE_END;

    if (depth == NSC_DRAIN_FULL && parts_due(d, now_ns))
        depth = NSC_DRAIN_PARTLY;
    d->pass++;
    __atomic_fetch_add(&all->session->header->heartbeat, 1, __ATOMIC_RELEASE);
    check_lives(d, depth, now_ns);
    scan_chunks(d, depth, scan);
    found_free = d->chunks_free;
    /* After the chunks, so that all modules of their events are known. */
    nsc_tracees_scan(all, scan);
    if (scan) {
        nsc_tracees_scan_threads(all);
        d->scanned_ns = now_ns;
    }
    if (depth == NSC_DRAIN_THE_END || d->mode == NSC_RECORD_STREAM) {
        emptied = drain_all(d, depth);
        if (depth != NSC_DRAIN_THE_END)
            finish_rest(d);
        grow_if_short(d, found_free);
    } else if (d->mode == NSC_RECORD_RING) {
        emptied = nsc_drain_turn_ring(d);
    }
    nsc_tracees_reap(all);
    return emptied;
}
