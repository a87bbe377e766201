/*
 * test_drain_ring.c - a ring that its threads turn themselves, with the runtime's own code for it,
 * while the recorder looks on, is late, or is not there at all.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tap.h"
#include "unit/rigs/drain_rig.h"

/* The program's side. */
#include "linux/events/chunk_overwrite.c"

#define TOP  0x7ffd00001000ull
#define CODE 0x400000ull

enum { PAIRS = 100, THREADS_MOST = 8, STORM = 200, AT_ONCE = 8 };

struct rig {
    struct drain_rig recorder;
    struct nsc_target_session traced;
    uint64_t presence;
    uint64_t ended; /* thread slots, by bit: what the kernel says */
};

struct traced_thread {
    struct rig *rig;
    struct nsc_runtime_thread words;
    uint32_t slot, chunks, seq;
    uint64_t emitted, lost, dirty;
    volatile sig_atomic_t inside; /* it looks for a chunk */
};

static struct rig *the_rig;

int nsc_sys_thread_ended(uint32_t pid, uint32_t tid)
{
    (void)pid;
    return tid < 64 && (the_rig->ended >> tid & 1) != 0;
}

static void rig_begin(struct rig *r, uint64_t bytes)
{
    struct nsc_session_options options = {.buffer_bytes = bytes, .fixed = true, .ring = true};
    const struct nsc_record_session *session = &r->recorder.session;

    memset(r, 0, sizeof *r);
    the_rig = r;
    drain_rig_begin(&r->recorder, NSC_RECORD_RING, &options);
    r->presence = NSC_PRESENCE_JOINED;
    r->traced = (struct nsc_target_session){.header = session->header,
                                            .threads = session->threads,
                                            .chunks = session->chunks,
                                            .overwritten = session->overwritten,
                                            .data = session->data,
                                            .threads_max = session->threads_max,
                                            .chunk_bytes = session->chunk_bytes,
                                            .wiped = &r->presence};
    session->processes[0] = (struct nsc_live_process){.pid = (uint32_t)getpid(), .start_ticks = 1};
    session->processes[0].state = NSC_LIVE_LIVE;
}

static void pass(struct rig *r)
{
    drain_rig_pass(&r->recorder, NSC_DRAIN_FULL);
}

static struct nsc_trace_info rig_end(struct rig *r)
{
    return drain_rig_end(&r->recorder);
}

/* ---- The traced side ------------------------------------------------------------------------- */

static void thread_begin(struct rig *r, struct traced_thread *t, uint32_t slot, uint32_t chunks)
{
    *t = (struct traced_thread){.rig = r, .slot = slot, .chunks = chunks};
    r->recorder.session.threads[slot] = (struct nsc_live_thread){
        .pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(), .start_ticks = 1, .name = "fake"};
    __atomic_store_n(&r->recorder.session.threads[slot].state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

/* A chunk of the thread's, free or overwritten; its number, or 0. */
static uint32_t claim(struct traced_thread *t, uint32_t seq)
{
    struct nsc_place place = {.session = &t->rig->traced, .words = &t->words, .thread = t->slot};
    uint32_t count = t->rig->recorder.session.chunk_count, i;

    for (i = 0; i < count; i++)
        if (nsc_session_cas64(&t->rig->recorder.session.chunks[i].state, 0,
                              NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, t->slot, seq)))
            return i + 1;
    return nsc_chunk_overwrite(&place, seq, count);
}

static void store_events(struct traced_thread *t, uint32_t number)
{
    struct nsc_live_chunk *chunk = t->rig->recorder.session.chunks + (number - 1);
    uint64_t *words = nsc_session_chunk_words(&t->rig->recorder.session, number - 1);
    uint64_t ticks = nsc_arch_ticks(), i;

    NSC_STORE(&chunk->open_ticks, ticks);
    NSC_STORE(&chunk->anchor, TOP);
    NSC_STORE(&chunk->lost_before, t->lost);
    t->lost = 0;
    for (i = 0; i < 2ull * PAIRS; i++) {
        if (NSC_LOAD(&words[2 * i]) != 0) /* nobody else writes there */
            NSC_ADD(&t->dirty, 1);
        NSC_STORE(&words[2 * i + 1], ticks + i + 1);
        NSC_STORE(&words[2 * i], (CODE + i / 2 % 7 * 64) | (i & 1 ? 1ull << NSC_ARCH_EXIT_BIT : 0) |
                                     TOP << NSC_LIVE_POSITION_SHIFT);
    }
    NSC_ADD(&t->emitted, 2 * PAIRS);
}

/* Takes a chunk and fills it; it remains OWNED. Returns its number; 0: there is none. */
static uint32_t fill(struct traced_thread *t)
{
    uint32_t seq = NSC_ADD(&t->seq, 1) + 1, number;

    t->inside = 1;
    number = claim(t, seq);
    t->inside = 0;
    if (number != 0) {
        store_events(t, number);
        return number;
    }
    NSC_ADD(&t->seq, -1u);
    t->lost += 2 * PAIRS;
    t->emitted += 2 * PAIRS;
    NSC_ADD(&t->rig->recorder.session.threads[t->slot].lost, 2 * PAIRS);
    return 0;
}

static void publish(struct traced_thread *t, uint32_t number)
{
    uint64_t *state = &t->rig->recorder.session.chunks[number - 1].state, owned = NSC_LOAD(state);

    nsc_session_cas64(
        state, owned,
        NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, t->slot, NSC_LIVE_CHUNK_SEQ(owned)));
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

    for (i = 0; i < r->recorder.session.chunk_count; i++)
        if (r->recorder.session.chunks[i].state ==
            NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, slot, seq))
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
    kept = r.recorder.session.chunk_count;
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
    thread_begin(&r, &a, 3, r.recorder.session.chunk_count);
    thread_begin(&r, &b, 5, 4);
    work(&a);
    work(&b);
    CHECK(!holds(&r, 3, 4));
    CHECK(holds(&r, 3, 5));
    CHECK(holds(&r, 5, 1));
    CHECK_U64(r.recorder.session.overwritten[3].events, 4ull * 2 * PAIRS);
    CHECK_U64(r.recorder.session.overwritten[3].chunks, 4);
    info = rig_end(&r);
    CHECK_U64(info.thread_count, 2);
    CHECK_U64(info.calls, (uint64_t)r.recorder.session.chunk_count * PAIRS);
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
    count = r.recorder.session.chunk_count;
    for (i = 0; i < count; i++) {
        thread_begin(&r, &threads[i], i, 1);
        CHECK(fill(&threads[i]) != 0);
        r.recorder.session.threads[i].tid = i;
    }
    thread_begin(&r, &threads[count], count, 1);
    CHECK_U64(fill(&threads[count]), 0);
    r.ended = 1u << 4 | 1u << 7;
    number = fill(&threads[count]);
    CHECK(number != 0);
    CHECK_U64(r.recorder.session.overwritten[4].events, 2 * PAIRS);
    CHECK_U64(fill(&threads[count]), 0); /* it has one: no look at the others */
    info = rig_end(&r);
    CHECK_U64(info.events + info.lost, (count + 3) * 2ull * PAIRS);
}

/* The thread's chunk number @seq. */
static struct nsc_live_chunk *chunk_with(struct rig *r, uint32_t slot, uint32_t seq)
{
    uint32_t i;

    for (i = 0; i < r->recorder.session.chunk_count; i++)
        if (r->recorder.session.chunks[i].state ==
            NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, slot, seq))
            return &r->recorder.session.chunks[i];
    printf("Bail out! no chunk %u of thread %u\n", seq, slot);
    exit(1);
}

/* As the thread @taker leaves a chunk at every step of taking it. */
enum { STEPS = 3 };
static void leave_at(struct rig *r, struct nsc_live_chunk *chunk, uint32_t taker, uint32_t step)
{
    const uint32_t held[STEPS] = {NSC_LIVE_TAKEN_WHOLE, 1 + 2 * PAIRS, 0};
    uint32_t owner = NSC_LIVE_CHUNK_THREAD(chunk->state), seq = NSC_LIVE_CHUNK_SEQ(chunk->state);
    uint64_t *words = nsc_session_chunk_words(&r->recorder.session,
                                              (uint32_t)(chunk - r->recorder.session.chunks));

    if (step > 0)
        memset(words, 0, (step == 1 ? PAIRS : 2 * PAIRS) * 16);
    if (step == 2) {
        r->recorder.session.overwritten[owner].events += 2ull * PAIRS;
        r->recorder.session.overwritten[owner].chunks++;
    }
    chunk->state = NSC_LIVE_TAKEN(owner, taker, held[step], seq);
}

/* Killed at every step: the events are counted once. */
static void test_killed(void)
{
    struct nsc_trace_info info;
    struct traced_thread t;
    uint32_t step;
    struct rig r;

    for (step = 0; step < STEPS; step++) {
        rig_begin(&r, 1 << 20);
        thread_begin(&r, &t, 0, r.recorder.session.chunk_count);
        work(&t);
        leave_at(&r, chunk_with(&r, 0, 1), 0, step);
        info = rig_end(&r);
        CHECK_U64(info.lost, 2 * PAIRS);
        CHECK_U64(info.events + info.lost, t.emitted);
    }
}

/* What a thread has left by siglongjmp it takes again, once that is the oldest. */
static void test_begun_anew(void)
{
    struct nsc_live_chunk *chunk;
    struct nsc_trace_info info;
    struct traced_thread t;
    uint32_t step;
    struct rig r;

    for (step = 0; step < STEPS; step++) {
        rig_begin(&r, 1 << 20);
        thread_begin(&r, &t, 0, r.recorder.session.chunk_count);
        work(&t);
        chunk = chunk_with(&r, 0, 3);
        leave_at(&r, chunk, 0, step);
        t.chunks = 2;
        work(&t);
        CHECK(NSC_LIVE_CHUNK_PHASE(chunk->state) == NSC_LIVE_CHUNK_TAKEN);
        t.chunks = 1;
        work(&t);
        CHECK_U64(chunk->state, NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, 0, (uint64_t)t.seq));
        CHECK_U64(t.dirty, 0);
        CHECK_U64(r.recorder.session.overwritten[0].events, 3 * 2 * PAIRS);
        info = rig_end(&r);
        CHECK_U64(info.events + info.lost, t.emitted);
    }
}

/* If it leaves many, they do not wait for their turn, so that others find full ones. */
static void test_left_often(void)
{
    struct nsc_live_chunk *chunk;
    struct traced_thread t;
    struct rig r;

    rig_begin(&r, 1 << 20);
    thread_begin(&r, &t, 0, r.recorder.session.chunk_count);
    work(&t);
    chunk = chunk_with(&r, 0, 5);
    leave_at(&r, chunk_with(&r, 0, 6), 0, 0);
    leave_at(&r, chunk, 0, 0);
    t.chunks = 1;
    work(&t);
    CHECK(!holds(&r, 0, 1));
    leave_at(&r, chunk_with(&r, 0, 7), 0, 0);
    work(&t);
    CHECK(holds(&r, 0, 2));
    CHECK_U64(chunk->state, NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, 0, (uint64_t)t.seq));
    rig_end(&r);
}

/* What another thread is taking is its own, however old, as long as it lives; then it is the
 * recorder's, or, if there is none, a new thread's. */
static void test_of_the_dead(bool recorder)
{
    struct nsc_live_chunk *chunk;
    struct traced_thread a, b, c;
    struct nsc_trace_info info;
    uint32_t step, count;
    uint64_t left;
    struct rig r;

    for (step = 0; step < STEPS; step++) {
        rig_begin(&r, 1 << 20);
        count = r.recorder.session.chunk_count;
        thread_begin(&r, &a, 0, count);
        work(&a);
        thread_begin(&r, &b, 1, 1);
        r.recorder.session.threads[1].tid = 1;
        chunk = chunk_with(&r, 0, 1);
        leave_at(&r, chunk, 1, step);
        left = chunk->state;
        a.chunks = 2 * count;
        work(&a);
        CHECK_U64(chunk->state, left);
        if (recorder) {
            pass(&r);
            CHECK_U64(chunk->state, left);
            r.recorder.session.threads[1].state = NSC_LIVE_DEAD; /* as one that has ended */
            pass(&r);
            CHECK_U64(chunk->state, 0);
            CHECK_U64(nsc_session_chunk_words(&r.recorder.session,
                                              (uint32_t)(chunk - r.recorder.session.chunks))[2],
                      0);
        } else {
            thread_begin(&r, &c, 2, 1);
            for (; a.chunks > 0; a.chunks--) /* nothing is full */
                if (r.recorder.session.chunks[a.chunks % count].state % 4 == NSC_LIVE_CHUNK_FULL)
                    r.recorder.session.chunks[a.chunks % count].state--;
            CHECK_U64(fill(&c), 0);
            CHECK_U64(chunk->state, left);
            r.ended = 1u << 1;
            CHECK(fill(&c) != 0);
            CHECK_U64(chunk->state, NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, 2, 1));
            CHECK_U64(c.dirty, 0);
            a.emitted += c.emitted;
        }
        info = rig_end(&r);
        CHECK_U64(info.events + info.lost, a.emitted);
    }
}

/* In a forked child, what its parent had begun stays as it is. */
static void test_forked(void)
{
    struct traced_thread t;
    struct rig r;

    rig_begin(&r, 1 << 20);
    thread_begin(&r, &t, 0, r.recorder.session.chunk_count);
    work(&t);
    r.presence = NSC_PRESENCE_FORKED;
    CHECK_U64(fill(&t), 0);
    CHECK(holds(&r, 0, 1));
    rig_end(&r);
}

static struct traced_thread *interrupted;
static volatile sig_atomic_t leaves, was_inside, of_this_chunk;
static sigjmp_buf way_out;
static uint32_t storm_over;

/* A handler with events of its own, for which it needs a chunk while its thread takes one. On a
 * slow machine signals come faster than it returns: then its thread would get nowhere. */
static void on_signal(int number)
{
    uint32_t chunk;

    (void)number;
    if (!interrupted->inside || of_this_chunk == AT_ONCE)
        return;
    of_this_chunk++;
    was_inside++;
    if (leaves)
        siglongjmp(way_out, 1);
    chunk = fill(interrupted);
    interrupted->inside = 1;
    if (chunk != 0)
        publish(interrupted, chunk);
}

static void *send_signals(void *to)
{
    while (!NSC_LOAD(&storm_over)) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        usleep(50);
    }
    return NULL;
}

/* Left after the last step: nobody knows of the chunk. Here it is free, elsewhere the thread has it
 * until it ends. */
static void give_back_claimed(struct traced_thread *t)
{
    uint32_t i;

    for (i = 0; i < t->rig->recorder.session.chunk_count; i++)
        nsc_session_cas64(&t->rig->recorder.session.chunks[i].state,
                          NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, t->slot, t->seq), 0);
}

static void test_interrupted(bool leave)
{
    struct sigaction action = {.sa_handler = on_signal};
    static struct traced_thread t;
    static volatile uint32_t round;
    pthread_t self = pthread_self(), sender;
    struct nsc_trace_info info;
    static struct rig r;
    uint32_t number;

    rig_begin(&r, 1 << 20);
    thread_begin(&r, &t, 0, 0);
    interrupted = &t;
    leaves = leave;
    was_inside = 0;
    storm_over = 0;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&sender, NULL, send_signals, &self);
    if (sigsetjmp(way_out, 1) != 0) {
        t.inside = 0;
        give_back_claimed(&t);
    }
    while (was_inside < STORM && round++ < 5000) {
        of_this_chunk = 0;
        number = fill(&t);
        if (number != 0)
            publish(&t, number);
    }
    round = 0;
    NSC_STORE(&storm_over, 1);
    pthread_join(sender, NULL);
    signal(SIGUSR1, SIG_IGN);
    printf("# interrupted %d times\n", (int)was_inside);
    CHECK(was_inside > 0);
    CHECK_U64(r.recorder.session.threads[0].lost, 0); /* there is always one to take */
    CHECK_U64(t.dirty, 0);
    info = rig_end(&r);
    if (leave) /* between uncounted and counted, see docs/adr/021-ring.md */
        CHECK(info.events + info.lost <= t.emitted);
    else
        CHECK_U64(info.events + info.lost, t.emitted);
    CHECK(info.calls >= 12 * PAIRS);
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
        overwritten += r.recorder.session.overwritten[i].chunks;
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
    test_begun_anew();
    test_left_often();
    test_of_the_dead(true);
    test_of_the_dead(false);
    test_forked();
    test_interrupted(false);
    test_interrupted(true);
    test_at_once(1 << 20, 4, false);
    test_at_once(1 << 20, 4, true);
    test_at_once(64 << 10, THREADS_MOST, true);
    return t_done();
}
