/*
 * test_record_ring.c - a ring that its threads turn themselves, with the runtime's own code for it,
 * while the recorder looks on, is late, or is not there at all.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "record/drain.h"
#include "tap.h"
#include "trace/reader.h"

/* Both sides have their own view of the same memory, and other things by the same names. */
#define nsc_session nsc_traced_session
#define nsc_place   nsc_traced_place
#include "runtime/overwrite.c"
#undef nsc_session
#undef nsc_place

#define TOP  0x7ffd00001000ull
#define CODE 0x400000ull

enum { PAIRS = 100, THREADS_MOST = 8 };

struct rig {
    struct nsc_session session;
    struct nsc_traced_session traced;
    struct nsc_writer *writer;
    struct nsc_tracees tracees;
    struct nsc_drain drain;
    struct nsc_filter filter;
    uint64_t presence, now_ns;
    uint64_t ended; /* thread slots, by bit: what the kernel says */
    char path[64];
};

struct traced_thread {
    struct rig *rig;
    struct nsc_runtime_thread words;
    uint32_t slot, chunks, seq, begun;
    uint64_t emitted, lost, dirty;
};

static struct rig *the_rig;

int nsc_os_thread_ended(uint32_t pid, uint32_t tid)
{
    (void)pid;
    return (the_rig->ended >> tid & 1) != 0;
}

static void rig_begin(struct rig *r, uint64_t bytes)
{
    struct nsc_session_options options = {.buffer_bytes = bytes, .fixed = true, .ring = true};
    struct nsc_writer_options writing = {.size = sizeof writing, .overwrite = true};
    struct nsc_diag diag;

    memset(r, 0, sizeof *r);
    the_rig = r;
    r->now_ns = 60000000000ull;
    snprintf(r->path, sizeof r->path, "/tmp/test_record_ring.%d.nst", (int)getpid());
    if (nsc_writer_create(r->path, &writing, &r->writer, &diag) != 0 ||
        nsc_session_create(&options, &r->session, &diag) != 0) {
        printf("Bail out! %s\n", diag.message);
        exit(1);
    }
    nsc_tracees_init(&r->tracees, &r->session, r->writer, &r->filter);
    nsc_drain_init(&r->drain, &r->tracees, NSC_RECORD_RING);
    r->presence = NSC_PRESENCE_JOINED;
    r->traced = (struct nsc_traced_session){.header = r->session.header,
                                            .threads = r->session.threads,
                                            .chunks = r->session.chunks,
                                            .overwritten = r->session.overwritten,
                                            .data = r->session.data,
                                            .threads_max = r->session.threads_max,
                                            .chunk_bytes = r->session.chunk_bytes,
                                            .wiped = &r->presence};
    r->session.processes[0] =
        (struct nsc_live_process){.pid = (uint32_t)getpid(), .start_ticks = 1};
    r->session.processes[0].state = NSC_LIVE_LIVE;
}

static void pass(struct rig *r)
{
    r->now_ns += 200000000;
    nsc_drain_pass(&r->drain, NSC_DRAIN_FULL, r->now_ns);
}

static struct nsc_trace_info rig_end(struct rig *r)
{
    struct nsc_trace_info info = {0};
    struct nsc_trace *trace;
    struct nsc_diag diag;
    uint32_t i;

    nsc_session_close(&r->session);
    nsc_drain_keep_ring(&r->drain);
    nsc_drain_pass(&r->drain, NSC_DRAIN_THE_END, r->now_ns);
    for (i = 0; i < r->session.threads_max; i++)
        if (r->tracees.threads[i] != NULL)
            nsc_tracee_finish(r->tracees.threads[i], false);
    nsc_tracees_complete(&r->tracees);
    if (nsc_writer_finish(r->writer, &diag) != 0)
        printf("# %s\n", diag.message);
    else if (nsc_trace_verify(r->path, NULL, NULL, &diag) == 0 &&
             nsc_trace_open(r->path, 0, &trace, &diag) == 0) {
        info = *nsc_trace_info(trace);
        nsc_trace_close(trace);
    }
    nsc_drain_free(&r->drain);
    nsc_tracees_free(&r->tracees);
    nsc_session_destroy(&r->session);
    unlink(r->path);
    return info;
}

/* ---- The traced side ------------------------------------------------------------------------- */

static void thread_begin(struct rig *r, struct traced_thread *t, uint32_t slot, uint32_t chunks)
{
    *t = (struct traced_thread){.rig = r, .slot = slot, .chunks = chunks};
    r->session.threads[slot] = (struct nsc_live_thread){
        .pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(), .start_ticks = 1, .name = "fake"};
    __atomic_store_n(&r->session.threads[slot].state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

/* A chunk of the thread's, free or overwritten; its number, or 0. */
static uint32_t claim(struct traced_thread *t)
{
    struct nsc_traced_place place = {
        .session = &t->rig->traced, .words = &t->words, .thread = t->slot};
    uint32_t count = t->rig->session.chunk_count, i;

    for (i = 0; i < count; i++)
        if (nsc_cas64(&t->rig->session.chunks[i].state, 0,
                      NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, t->slot, t->seq + 1)))
            return i + 1;
    return nsc_chunk_overwrite(&place, t->seq + 1, count);
}

/* Takes a chunk and fills it; it remains OWNED. Returns its number; 0: there is none. */
static uint32_t fill(struct traced_thread *t)
{
    uint32_t number = claim(t), i;
    struct nsc_live_chunk *chunk = t->rig->session.chunks + (number - 1);
    uint64_t ticks, *words;

    if (number == 0) {
        t->lost += 2 * PAIRS;
        t->emitted += 2 * PAIRS;
        NSC_ADD(&t->rig->session.threads[t->slot].lost, 2 * PAIRS);
        return 0;
    }
    words = nsc_session_chunk_words(&t->rig->session, number - 1);
    ticks = nsc_arch_ticks();
    NSC_STORE(&chunk->open_ticks, ticks);
    NSC_STORE(&chunk->anchor, TOP);
    NSC_STORE(&chunk->lost_before, t->lost);
    t->lost = 0;
    t->seq++;
    for (i = 0; i < 2 * PAIRS; i++) {
        t->dirty += NSC_LOAD(&words[2 * i]) != 0; /* nobody else writes there */
        NSC_STORE(&words[2 * i + 1], ticks + i + 1);
        NSC_STORE(&words[2 * i], (CODE + i / 2 % 7 * 64) | (i & 1 ? 1ull << NSC_ARCH_EXIT_BIT : 0) |
                                     TOP << NSC_LIVE_POSITION_SHIFT);
    }
    t->emitted += 2 * PAIRS;
    return number;
}

static void publish(struct traced_thread *t, uint32_t number)
{
    nsc_cas64(&t->rig->session.chunks[number - 1].state,
              NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, t->slot, t->seq),
              NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, t->slot, t->seq));
}

static void *work(void *argument)
{
    struct traced_thread *t = argument;
    uint32_t number, i;

    for (i = 0; i < t->chunks; i++) {
        number = fill(t);
        if (number != 0)
            publish(t, number);
    }
    return NULL;
}

static bool holds(const struct rig *r, uint32_t slot, uint32_t seq)
{
    uint32_t i;

    for (i = 0; i < r->session.chunk_count; i++)
        if (r->session.chunks[i].state == NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, slot, seq))
            return true;
    return false;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_no_recorder(void)
{
    struct nsc_trace_info info;
    struct traced_thread t;
    uint32_t i, kept;
    struct rig r;

    rig_begin(&r, 1 << 20);
    thread_begin(&r, &t, 0, 100);
    work(&t);
    kept = r.session.chunk_count;
    for (i = 0; i < kept; i++)
        CHECK(holds(&r, 0, 100 - i));
    CHECK_U64(t.lost, 0);
    info = rig_end(&r);
    CHECK_U64(info.calls, (uint64_t)kept * PAIRS);
    CHECK_U64(info.events + info.lost, t.emitted);
}

/* What one thread has left is overwritten by another, and counts for the first. */
static void test_of_others(void)
{
    struct nsc_trace_info info;
    struct traced_thread a, b;
    struct rig r;

    rig_begin(&r, 1 << 20);
    thread_begin(&r, &a, 3, r.session.chunk_count);
    thread_begin(&r, &b, 5, 4);
    work(&a);
    work(&b);
    CHECK(!holds(&r, 3, 4));
    CHECK(holds(&r, 3, 5));
    CHECK(holds(&r, 5, 1));
    CHECK_U64(r.session.overwritten[3].events, 4ull * 2 * PAIRS);
    CHECK_U64(r.session.overwritten[3].chunks, 4);
    info = rig_end(&r);
    CHECK_U64(info.thread_count, 2);
    CHECK_U64(info.calls, (uint64_t)r.session.chunk_count * PAIRS);
    CHECK_U64(info.events + info.lost, a.emitted + b.emitted);
}

/* The last chunks of threads that have ended are for new threads; those of others are not. */
static void test_left_behind(void)
{
    struct traced_thread threads[64];
    uint32_t i, count, number;
    struct nsc_trace_info info;
    struct rig r;

    rig_begin(&r, 1 << 20);
    count = r.session.chunk_count;
    for (i = 0; i < count; i++) {
        thread_begin(&r, &threads[i], i, 1);
        CHECK(fill(&threads[i]) != 0);
        r.session.threads[i].tid = i;
    }
    thread_begin(&r, &threads[count], count, 1);
    CHECK_U64(fill(&threads[count]), 0);
    r.ended = 1u << 4 | 1u << 7;
    number = fill(&threads[count]);
    CHECK(number != 0);
    CHECK_U64(r.session.overwritten[4].events, 2 * PAIRS);
    CHECK_U64(fill(&threads[count]), 0); /* it has one: no look at the others */
    info = rig_end(&r);
    CHECK_U64(info.events + info.lost, (count + 3) * 2ull * PAIRS);
}

/* Killed at every step of taking a chunk: the events are counted once. */
static void test_killed(void)
{
    const uint64_t states[] = {NSC_LIVE_TAKEN_WHOLE, 2ull * PAIRS};
    struct nsc_trace_info info;
    struct traced_thread t;
    uint32_t i, at;
    struct rig r;

    for (i = 0; i < 2; i++) {
        rig_begin(&r, 1 << 20);
        thread_begin(&r, &t, 0, r.session.chunk_count);
        work(&t);
        for (at = 0; NSC_LIVE_CHUNK_SEQ(r.session.chunks[at].state) != 1; at++)
            ;
        r.session.chunks[at].state = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_TAKEN, 0, states[i]);
        if (i == 1)
            memset(nsc_session_chunk_words(&r.session, at), 0, PAIRS * 16);
        info = rig_end(&r);
        CHECK_U64(info.lost, 2 * PAIRS);
        CHECK_U64(info.events + info.lost, t.emitted);
    }
}

/* Whoever began to take a chunk and did not finish, another goes on, once the chunk is the oldest.
 */
static void test_taken_over(void)
{
    const uint64_t states[] = {NSC_LIVE_TAKEN_WHOLE, 2ull * PAIRS, 0};
    struct traced_thread t;
    uint32_t i, at;
    struct rig r;

    for (i = 0; i < 3; i++) {
        rig_begin(&r, 1 << 20);
        thread_begin(&r, &t, 0, r.session.chunk_count);
        work(&t);
        for (at = 0; NSC_LIVE_CHUNK_SEQ(r.session.chunks[at].state) != 1; at++)
            ;
        r.session.chunks[at].state = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_TAKEN, 0, states[i]);
        t.chunks = 1;
        work(&t);
        CHECK_U64(r.session.chunks[at].state,
                  NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, 0, (uint64_t)t.seq));
        CHECK_U64(t.dirty, 0);
        CHECK_U64(r.session.overwritten[0].events, i == 2 ? 0 : 2 * PAIRS);
        rig_end(&r);
    }
}

/* In a forked child, what its parent had begun stays as it is. */
static void test_forked(void)
{
    struct traced_thread t;
    struct rig r;

    rig_begin(&r, 1 << 20);
    thread_begin(&r, &t, 0, r.session.chunk_count);
    work(&t);
    r.presence = NSC_PRESENCE_FORKED;
    CHECK_U64(fill(&t), 0);
    CHECK(holds(&r, 0, 1));
    rig_end(&r);
}

/* A recorder at work: now and then it stands still. */
static void test_at_once(uint64_t bytes, uint32_t threads, bool slow)
{
    static struct traced_thread t[THREADS_MOST];
    pthread_t ids[THREADS_MOST];
    struct nsc_trace_info info;
    uint64_t emitted = 0, dirty = 0, overwritten = 0;
    uint32_t i, round;
    struct rig r;

    rig_begin(&r, bytes);
    for (i = 0; i < threads; i++)
        thread_begin(&r, &t[i], i, 3000);
    for (i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, &t[i]);
    for (round = 0; round < 500; round++) {
        pass(&r);
        if (slow && round % 50 == 0)
            usleep(5000);
    }
    for (i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        emitted += t[i].emitted;
        dirty += t[i].dirty;
    }
    for (i = 0; i < threads; i++)
        overwritten += r.session.overwritten[i].chunks;
    info = rig_end(&r);
    CHECK_U64(info.events + info.lost, emitted);
    CHECK_U64(dirty, 0);
    CHECK(overwritten > 0);
}

int main(void)
{
    test_no_recorder();
    test_of_others();
    test_left_behind();
    test_killed();
    test_taken_over();
    test_forked();
    test_at_once(1 << 20, 4, false);
    test_at_once(1 << 20, 4, true);
    test_at_once(64 << 10, THREADS_MOST, true);
    return t_done();
}
