/*
 * test_drain.c - the recorder's half of the session memory, with the other half played by
 * this program: chunks, threads, processes and modules filled in by hand, then by a liar.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/budget/rate_estimate.h"
#include "record/session/clock_reading.h"
#include "tap.h"
#include "unit/rigs/drain_rig.h"

#define TOP    0x7ffd00001000ull
#define CODE   0x400000ull
#define MINUTE 60000000000ull
#define MS     1000000ull

/* @buffer_bytes: 0 for a pool that grows, with homes. */
static void rig_begin(struct drain_rig *r, enum nsc_record_mode mode, uint64_t buffer_bytes)
{
    struct nsc_session_options options = {
        .buffer_bytes = buffer_bytes != 0 ? buffer_bytes : 32 << 20,
        .fixed = buffer_bytes != 0,
    };

    drain_rig_begin(r, mode, &options);
}

static uint32_t pass(struct drain_rig *r)
{
    return drain_rig_pass(r, NSC_DRAIN_FULL);
}

/* ---- The traced side --------------------------------------------------------------------------
 */

static void add_process(struct drain_rig *r, uint32_t slot, pid_t pid)
{
    r->session.processes[slot] = (struct nsc_live_process){.pid = (uint32_t)pid, .start_ticks = 1};
    r->session.processes[slot].state = NSC_LIVE_LIVE;
}

static void add_thread(struct drain_rig *r, uint32_t slot, uint32_t process, pid_t pid, pid_t tid)
{
    r->session.threads[slot] = (struct nsc_live_thread){.process = process,
                                                        .pid = (uint32_t)pid,
                                                        .tid = (uint32_t)tid,
                                                        .start_ticks = 1,
                                                        .name = "fake"};
    r->session.threads[slot].state = NSC_LIVE_LIVE;
}

/* Calls from slot @from to @to, both even. */
static void fill_slots(struct drain_rig *r, uint32_t chunk, uint64_t ticks, uint32_t from,
                       uint32_t to)
{
    uint64_t *words = nsc_session_chunk_words(&r->session, chunk);
    uint32_t i;

    for (i = from; i < to; i++) {
        words[2 * i] =
            (CODE + i / 2 % 7 * 64) | (i & 1 ? 1ull << 47 : 0) | TOP << NSC_LIVE_POSITION_SHIFT;
        words[2 * i + 1] = ticks + i + 1;
    }
}

/* A chunk of @pairs calls. */
static void fill_chunk(struct drain_rig *r, uint32_t chunk, uint32_t thread, uint32_t seq,
                       uint32_t pairs, enum nsc_live_chunk_phase phase, uint64_t lost_before)
{
    uint64_t ticks = 1000000ull * seq;

    r->session.chunks[chunk].anchor = TOP;
    r->session.chunks[chunk].open_ticks = ticks;
    r->session.chunks[chunk].lost_before = lost_before;
    fill_slots(r, chunk, ticks, 0, 2 * pairs);
    r->session.chunks[chunk].state = NSC_LIVE_CHUNK_STATE((uint64_t)phase, thread, seq);
}

/* A mark and a counter, in slots @at and behind. Returns the slot after them. */
static uint32_t fill_notes(struct drain_rig *r, uint32_t chunk, uint64_t ticks, uint32_t at)
{
    const uint64_t slots[][2] = {
        {NSC_LIVE_ESC_MARK | 1ull << 12 | 3ull << 48, ticks},
        {1 | (uint64_t)'a' << 8 | (uint64_t)'b' << 24, 0}, /* "a", NUL, "b" */
        {NSC_LIVE_ESC_COUNTER | 2ull << 12 | 1ull << 48, ticks + 1},
        {1, 42},
        {1 | (uint64_t)'n' << 8, 0},
    };
    const uint32_t count = sizeof slots / sizeof slots[0];

    memcpy(nsc_session_chunk_words(&r->session, chunk) + (size_t)2 * at, slots, sizeof slots);
    return at + count;
}

static bool is_clear(const struct drain_rig *r, uint32_t chunk)
{
    const uint64_t *words = nsc_session_chunk_words(&r->session, chunk);
    uint32_t i;

    for (i = 0; i < r->session.chunk_bytes / 8; i++)
        if (words[i] != 0)
            return false;
    return r->session.chunks[chunk].state == 0;
}

static pid_t own_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* ---- Tests ------------------------------------------------------------------------------------
 */

/* Whoever opens the memory could cut it under all that have it mapped. */
static void test_size_stays(void)
{
    struct drain_rig r;
    int fd;

    rig_begin(&r, NSC_RECORD_STREAM, 256 << 10);
    fd = open(r.session.path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, 0) != 0);
    CHECK(!nsc_session_alone(&r.session));
    close(fd);
    CHECK(nsc_session_alone(&r.session));
    CHECK(is_clear(&r, 0));
    drain_rig_end(&r);
}

static void test_order(void)
{
    struct nsc_trace_info info;
    struct drain_rig r;

    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    add_process(&r, 3, getpid());
    add_thread(&r, 5, 3, getpid(), own_tid());
    fill_chunk(&r, 9, 5, 1, 100, NSC_LIVE_CHUNK_FULL, 0);
    fill_chunk(&r, 2, 5, 3, 100, NSC_LIVE_CHUNK_FULL, 0);
    fill_chunk(&r, 4, 5, 2, 100, NSC_LIVE_CHUNK_FULL, 0);
    fill_chunk(&r, 0, 5, 5, 50, NSC_LIVE_CHUNK_FULL, 0); /* 4 is still to come */
    CHECK_U64(pass(&r), 3);
    CHECK(is_clear(&r, 9) && is_clear(&r, 2) && is_clear(&r, 4));
    CHECK(!is_clear(&r, 0));
    fill_chunk(&r, 7, 5, 4, 50, NSC_LIVE_CHUNK_FULL, 11);
    CHECK_U64(pass(&r), 2);
    fill_chunk(&r, 1, 5, 6, 10, NSC_LIVE_CHUNK_OWNED, 0);
    CHECK_U64(pass(&r), 0); /* its thread lives */
    r.session.threads[5].lost = 14;
    info = drain_rig_end(&r);
    CHECK_U64(info.calls, 410);
    CHECK_U64(info.lost, 14);
    CHECK_U64(info.thread_count, 1);
}

static void test_dead_thread(void)
{
    struct nsc_trace_info info;
    struct drain_rig r;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    add_process(&r, 0, child);
    add_thread(&r, 0, 0, child, child);
    fill_chunk(&r, 0, 0, 1, 10, NSC_LIVE_CHUNK_FULL, 0);
    fill_chunk(&r, 1, 0, 2, 5, NSC_LIVE_CHUNK_OWNED, 0);
    pass(&r);
    pass(&r);
    CHECK(is_clear(&r, 0) && is_clear(&r, 1));
    CHECK_U64(r.session.threads[0].state, NSC_LIVE_FREE);
    CHECK_U64(r.session.processes[0].state, NSC_LIVE_FREE);
    info = drain_rig_end(&r);
    CHECK_U64(info.calls, 15);
}

/*
 * A process that begins, runs and ends between two looks: the pass has looked through the chunks
 * before there were any of it, then finds it dead and without threads. These must still be found.
 */
static void test_short_life(void)
{
    struct nsc_trace_info info;
    pid_t child = fork();
    struct drain_rig r;

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    CHECK_U64(pass(&r), 0);
    add_process(&r, 0, child);
    add_thread(&r, 0, 0, child, child);
    fill_chunk(&r, 0, 0, 1, 10, NSC_LIVE_CHUNK_FULL, 0);
    fill_chunk(&r, 1, 0, 2, 5, NSC_LIVE_CHUNK_OWNED, 0);
    r.session.threads[0].lost = 3;
    nsc_tracees_scan(&r.tracees, false); /* the rest of that pass: not one that looks for threads */
    nsc_tracees_reap(&r.tracees);
    CHECK(r.session.processes[0].state != NSC_LIVE_FREE);
    pass(&r);
    pass(&r);
    CHECK(is_clear(&r, 0) && is_clear(&r, 1));
    CHECK_U64(r.session.threads[0].state, NSC_LIVE_FREE);
    CHECK_U64(r.session.processes[0].state, NSC_LIVE_FREE);
    info = drain_rig_end(&r);
    CHECK_U64(info.calls, 15);
    CHECK_U64(info.lost, 3);
    CHECK_U64(info.thread_count, 1);
}

/* A process that calls exec registers again: what was under its old slot is over. */
static void test_exec(void)
{
    struct drain_rig r;

    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    add_process(&r, 0, getpid());
    add_thread(&r, 0, 0, getpid(), own_tid());
    fill_chunk(&r, 0, 0, 1, 10, NSC_LIVE_CHUNK_OWNED, 0);
    CHECK_U64(pass(&r), 0);
    add_process(&r, 1, getpid());
    add_thread(&r, 1, 1, getpid(), own_tid());
    fill_chunk(&r, 1, 1, 1, 20, NSC_LIVE_CHUNK_OWNED, 0);
    pass(&r);
    pass(&r);
    CHECK(is_clear(&r, 0));
    CHECK(!is_clear(&r, 1));
    CHECK_U64(drain_rig_end(&r).calls, 30);
}

/* A slot that a hook has reserved and not filled yet holds the chunk up, for a while. */
static void test_open_slot(void)
{
    uint64_t *words, word;
    struct drain_rig r;

    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    add_process(&r, 0, getpid());
    add_thread(&r, 0, 0, getpid(), own_tid());
    fill_chunk(&r, 0, 0, 1, 10, NSC_LIVE_CHUNK_FULL, 0);
    words = nsc_session_chunk_words(&r.session, 0);
    word = words[8];
    words[8] = 0;
    CHECK_U64(pass(&r), 0);
    words[8] = word;
    CHECK_U64(pass(&r), 1);
    CHECK_U64(drain_rig_end(&r).lost, 0);
}

/* Marks and counters reach the thread's one entry, also before its first event; one that is not
 * complete holds the chunk up. */
static void test_notes(void)
{
    struct nsc_trace_info info;
    uint64_t *words, word;
    uint32_t at;
    struct drain_rig r;

    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    add_process(&r, 0, getpid());
    add_thread(&r, 0, 0, getpid(), own_tid());
    fill_chunk(&r, 0, 0, 1, 0, NSC_LIVE_CHUNK_FULL, 0);
    fill_notes(&r, 0, 1000000, 0);
    fill_chunk(&r, 1, 0, 2, 10, NSC_LIVE_CHUNK_FULL, 0);
    at = fill_notes(&r, 1, 2000100, 20);
    words = nsc_session_chunk_words(&r.session, 1) + (size_t)2 * (at - 1);
    word = words[0];
    words[0] = 0; /* the counter's name is not yet there */
    CHECK_U64(pass(&r), 1);
    CHECK(!is_clear(&r, 1));
    words[0] = word;
    CHECK_U64(pass(&r), 1);
    info = drain_rig_end(&r);
    CHECK_U64(info.thread_count, 1);
    CHECK_U64(info.calls, 10);
    CHECK_U64(info.lost, 0);
    CHECK_U64(info.notes[NSC_NOTE_MARK], 2);
    CHECK_U64(info.notes[NSC_NOTE_COUNTER], 2);
}

static void test_ring(void)
{
    struct nsc_trace_info info;
    uint32_t seq, chunk, emitted = 0;
    struct drain_rig r;

    rig_begin(&r, NSC_RECORD_RING, 1 << 20);
    add_process(&r, 0, getpid());
    add_thread(&r, 0, 0, getpid(), own_tid());
    for (seq = 1; seq <= 100; seq++) {
        for (chunk = 0; r.session.chunks[chunk].state != 0; chunk++)
            ;
        fill_chunk(&r, chunk, 0, seq, 50, NSC_LIVE_CHUNK_FULL, 0);
        emitted += 100;
        pass(&r);
    }
    info = drain_rig_end(&r);
    CHECK(info.calls >= 50 * 11 && info.calls <= 50 * 16);
    CHECK_U64(info.events + info.lost, emitted);
}

/* What threads had to turn away is the ration's doing as long as the pool had chunks. */
static void test_ration(void)
{
    struct drain_rig r;
    const struct nsc_tracee_thread *t;
    uint32_t chunk;

    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    add_process(&r, 0, getpid());
    add_thread(&r, 0, 0, getpid(), own_tid());
    fill_chunk(&r, 0, 0, 1, 10, NSC_LIVE_CHUNK_FULL, 0);
    nsc_drain_ration(&r.drain, 3);
    pass(&r);
    t = r.tracees.threads[0];
    CHECK_U64(r.session.header->chunks_free, 3);

    r.session.header->chunks_free = 0; /* it took them */
    r.session.threads[0].lost = 5;
    nsc_drain_ration(&r.drain, 3);
    pass(&r);
    CHECK_U64(t->turned_away, 5);
    r.session.threads[0].lost = 7; /* two more that saw no room then, and count it only now */
    pass(&r);
    CHECK_U64(t->turned_away, 7);

    for (chunk = 0; chunk < r.session.chunk_count; chunk++)
        fill_chunk(&r, chunk, 0, 2 + chunk, 0, NSC_LIVE_CHUNK_OWNED, 0);
    r.session.header->chunks_free = 0;
    r.session.threads[0].lost = 17; /* the pool was empty: these are lost */
    pass(&r);
    CHECK_U64(t->turned_away, 7);
    r.session.threads[0].lost = 18;
    r.session.header->chunks_free = 1;
    pass(&r);
    CHECK_U64(t->turned_away, 7);
    for (chunk = 0; chunk < r.session.chunk_count; chunk++)
        r.session.chunks[chunk].state = 0;
    drain_rig_end(&r);
}

struct seen {
    uint32_t calls, functions;
    uint32_t of[16];
    double rate;
};

static void saw(void *context, uint32_t function, double rate)
{
    struct seen *seen = context;

    seen->calls++;
    seen->rate += rate;
    for (uint32_t i = 0; i < seen->functions; i++)
        if (seen->of[i] == function)
            return;
    if (seen->functions < 16)
        seen->of[seen->functions++] = function;
}

/* The newest events of each thread, as they are before anything is read of them. */
static void test_glance(void)
{
    struct nsc_rate_estimate glance;
    struct seen seen = {0};
    uint64_t now = nsc_clock_reading_ticks(), *words;
    struct drain_rig r;
    uint32_t i;

    rig_begin(&r, NSC_RECORD_STREAM, 1 << 20);
    add_process(&r, 0, getpid());
    add_thread(&r, 0, 0, getpid(), own_tid());
    fill_chunk(&r, 0, 0, 1, 10, NSC_LIVE_CHUNK_FULL, 0);
    pass(&r); /* now the thread is known */
    fill_chunk(&r, 1, 0, 2, 500, NSC_LIVE_CHUNK_FULL, 0);
    glance = nsc_rate_estimate_look(&r.tracees, 2.0, saw, &seen);
    CHECK_U64(seen.calls, 500);
    CHECK_U64(seen.functions, 7);
    CHECK(glance.threads == 1);
    /* 1,000 slots, a tick each, of which there are two in a nanosecond: a call a nanosecond */
    CHECK(glance.calls > 0.99 && glance.calls < 1.01);
    CHECK(seen.rate > 0.99 && seen.rate < 1.01);

    /* The next chunk is the newest now, and its last 1,024 slots count, up to this moment. */
    seen = (struct seen){0};
    fill_chunk(&r, 2, 0, 3, 1000, NSC_LIVE_CHUNK_OWNED, 0);
    words = nsc_session_chunk_words(&r.session, 2);
    for (i = 0; i < 2000; i++)
        words[2 * i + 1] = now - 2000000 + 1000 * i;
    glance = nsc_rate_estimate_look(&r.tracees, 1.0, saw, &seen);
    CHECK_U64(seen.calls, 512);
    CHECK(glance.calls > 0 && glance.calls < 512.0 / (1000 * 1023)); /* later than the last event */

    seen = (struct seen){0}; /* a few events tell nothing */
    fill_chunk(&r, 3, 0, 4, 20, NSC_LIVE_CHUNK_OWNED, 0);
    glance = nsc_rate_estimate_look(&r.tracees, 1.0, saw, &seen);
    CHECK_U64(seen.calls, 0);
    CHECK(glance.calls == 0 && glance.threads == 0);
    drain_rig_end(&r);
}

static uint32_t home_of(const struct drain_rig *r, uint32_t thread)
{
    return r->session.pool_max + thread % r->session.home_count;
}

/* Pages of memory that the session takes beyond @before. */
static uint64_t pages_since(const struct drain_rig *r, uint64_t before)
{
    return (nsc_session_bytes(&r->session) - before) / 4096;
}

/* A thread's own chunk takes memory only where its events are, and only until they are read. */
static void test_home(void)
{
    uint64_t before;
    uint32_t home;
    struct drain_rig r;

    rig_begin(&r, NSC_RECORD_STREAM, 0);
    if (r.session.home_count == 0) {
        printf("# no homes: memory is not promised here\n");
        drain_rig_end(&r);
        return;
    }
    add_process(&r, 0, getpid());
    add_thread(&r, 700, 0, getpid(), own_tid());
    home = home_of(&r, 700);
    before = nsc_session_bytes(&r.session);
    fill_chunk(&r, home, 700, 1, 10, NSC_LIVE_CHUNK_OWNED, 0);
    CHECK_U64(pages_since(&r, before), 1);
    CHECK_U64(drain_rig_pass(&r, NSC_DRAIN_PARTLY), 0);
    CHECK_U64(pages_since(&r, before), 1); /* to look at it has not made more */
    fill_slots(&r, home, 1000000, 20, 2000);
    CHECK_U64(pages_since(&r, before), 8);
    CHECK_U64(pass(&r), 0);
    CHECK_U64(pages_since(&r, before), 8);
    CHECK_U64(drain_rig_pass(&r, NSC_DRAIN_PARTLY), 0);
    CHECK_U64(pages_since(&r, before), 1); /* that of the last slot */
    CHECK_U64(drain_rig_pass(&r, NSC_DRAIN_PARTLY), 0);
    fill_slots(&r, home, 1000000, 2000, 3000);
    r.session.chunks[home].state = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, 700u, 1);
    fill_chunk(&r, 3, 700, 2, 10, NSC_LIVE_CHUNK_OWNED, 0);
    CHECK_U64(pass(&r), 1);
    CHECK_U64(pages_since(&r, before), 0);
    CHECK(is_clear(&r, home));
    CHECK_U64(drain_rig_end(&r).calls, 1510);
}

/* Killed in a handler that came into a hook's slot: a whole page is reserved, and never written. */
static void test_home_with_holes(void)
{
    struct nsc_trace_info info;
    pid_t child = fork();
    struct drain_rig r;

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    rig_begin(&r, NSC_RECORD_STREAM, 0);
    if (r.session.home_count > 0) {
        add_process(&r, 0, child);
        add_thread(&r, 9000, 0, child, child); /* beyond the homes: shares one */
        fill_chunk(&r, home_of(&r, 9000), 9000, 1, 10, NSC_LIVE_CHUNK_OWNED, 0);
        fill_slots(&r, home_of(&r, 9000), 1000000, 2048, 2068);
        pass(&r);
        pass(&r);
        CHECK(is_clear(&r, home_of(&r, 9000)));
        info = drain_rig_end(&r);
        CHECK_U64(info.calls, 20);
        CHECK_U64(info.lost, 2048 - 20);
    } else {
        drain_rig_end(&r);
    }
}

/* Threads that hold most of the pool make it grow, which takes no memory; how much may wait to be
 * read stays bounded. */
static void test_growth(void)
{
    uint32_t threads, i, held = 0;
    struct drain_rig r;
    uint64_t before;

    rig_begin(&r, NSC_RECORD_STREAM, 0);
    add_process(&r, 0, getpid());
    before = nsc_session_bytes(&r.session);
    while (r.session.chunk_count < r.session.pool_max) {
        threads = r.session.chunk_count / 2 + 1;
        for (i = held; i < threads; i++) {
            add_thread(&r, i, 0, getpid(), own_tid());
            r.session.chunks[i].state = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, i, 1);
        }
        held = threads;
        i = r.session.chunk_count;
        pass(&r);
        CHECK(r.session.chunk_count > i);
        CHECK_U64(r.session.header->chunk_count, r.session.chunk_count);
        if (r.session.chunk_count == i)
            break;
    }
    if (r.session.promised)
        CHECK_U64(pages_since(&r, before), 0);
    for (i = held; i < r.session.chunk_count; i++)
        r.session.chunks[i].state = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_FULL, 0u, i);
    r.drain.mode = NSC_RECORD_BUFFER; /* which leaves them full */
    pass(&r);
    CHECK_U64(r.session.header->chunks_free, 0);
    for (i = held + 10; i < r.session.chunk_count; i++)
        r.session.chunks[i].state = 0;
    pass(&r);
    CHECK(r.session.header->chunks_free <= r.session.kept - 10);
    r.drain.mode = NSC_RECORD_STREAM;
    drain_rig_end(&r);
}

/* A program that writes nonsense into its session: the recorder must survive and finish. */
static void test_liar(void)
{
    unsigned round, i, sound = 0;
    uint64_t seed = 1;

    for (round = 0; round < 40; round++) {
        struct drain_rig r;
        uint8_t *tables;
        size_t bytes;

        rig_begin(&r, round % 3 == 0 ? NSC_RECORD_RING : NSC_RECORD_STREAM,
                  round % 8 == 1 ? 0 : 256 << 10);
        add_process(&r, 0, getpid());
        add_thread(&r, 0, 0, getpid(), own_tid());
        fill_chunk(&r, 0, 0, 1, 10, NSC_LIVE_CHUNK_FULL, 0);
        tables = (uint8_t *)r.session.header;
        bytes = (size_t)(r.session.data - r.session.base) + 4 * r.session.chunk_bytes;
        for (i = 0; i < 3000; i++) {
            size_t at;

            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            at = (size_t)(seed >> 20) % bytes & ~(size_t)3;
            if (round & 1) /* only what is in use */
                at = (i % 4 == 0   ? (size_t)((uint8_t *)r.session.chunks - tables)
                      : i % 4 == 1 ? (size_t)((uint8_t *)r.session.threads - tables)
                      : i % 4 == 2 ? (size_t)((uint8_t *)r.session.processes - tables)
                                   : (size_t)((uint8_t *)r.session.modules - tables)) +
                     (at & 0x7fc);
            *(uint32_t *)(void *)(tables + at) =
                seed & 1 ? (uint32_t)(seed >> 33) % 5 : (uint32_t)(seed >> 33);
            if (i % 300 == 0)
                pass(&r);
        }
        sound += drain_rig_end(&r).file_bytes > 0;
    }
    CHECK_U64(sound, 40);
}

int main(void)
{
    test_size_stays();
    test_order();
    test_dead_thread();
    test_short_life();
    test_exec();
    test_open_slot();
    test_notes();
    test_ring();
    test_ration();
    test_glance();
    test_home();
    test_home_with_holes();
    test_growth();
    test_liar();
    return t_done();
}
