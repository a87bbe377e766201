/*
 * test_limits.c - a program that fills the session's memory with lies makes the recorder
 * neither grow nor work without bounds; what it left out is counted.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "trace/write/writer_state.h"
#include "unit/rigs/drain_rig.h"
#include "util/now.h"

#define TOP          0x7ffd00001000ull
#define EXIT         (1ull << 47)
#define BUFFER_BYTES (32u << 20)

/* Fills the slot that is the @number-th of all: two words. */
typedef void fill_slot(uint64_t number, uint64_t *slot);

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

static void rig_begin(struct drain_rig *r, uint32_t threads)
{
    struct nsc_session_options options = {.buffer_bytes = BUFFER_BYTES, .fixed = true};
    uint32_t i;

    drain_rig_begin(r, NSC_RECORD_STREAM, &options);
    r->session.processes[0] =
        (struct nsc_live_process){.pid = (uint32_t)getpid(), .start_ticks = 1};
    r->session.processes[0].state = NSC_LIVE_LIVE;
    for (i = 0; i < threads; i++) {
        r->session.threads[i] = (struct nsc_live_thread){
            .pid = (uint32_t)getpid(), .tid = (uint32_t)syscall(SYS_gettid), .start_ticks = 1};
        r->session.threads[i].state = NSC_LIVE_LIVE;
    }
}

/* @slots slots by @fill, dealt to @threads threads. @step: bytes from call to call. */
static void flood(struct drain_rig *r, uint64_t slots, uint32_t threads, uint64_t step,
                  fill_slot *fill)
{
    uint32_t a_chunk = r->session.chunk_bytes / 16, seq = 1, chunk, i;
    uint64_t done = 0;

    while (done < slots) {
        for (chunk = 0; chunk + threads <= r->session.chunk_count && done < slots; seq++)
            for (uint32_t thread = 0; thread < threads; thread++, chunk++) {
                uint64_t *words = nsc_session_chunk_words(&r->session, chunk);

                for (i = 0; i < a_chunk; i++)
                    fill(done + i, words + 2 * (size_t)i);
                r->session.chunks[chunk].anchor = TOP - step * done;
                done += a_chunk;
                r->session.chunks[chunk].open_ticks = 1;
                r->session.chunks[chunk].state =
                    NSC_LIVE_CHUNK_STATE((uint64_t)NSC_LIVE_CHUNK_FULL, thread, seq);
            }
        drain_rig_pass(r, NSC_DRAIN_FULL);
    }
}

/* ---- Addresses that no module has ------------------------------------------------------------ */

static void random_call(uint64_t number, uint64_t *slot)
{
    slot[0] = ((mix(number / 2) & 0x7ffffffff000ull) | 0x1000) | (number & 1 ? EXIT : 0) |
              TOP << NSC_LIVE_POSITION_SHIFT;
    slot[1] = number + 2;
}

static void test_addresses(void)
{
    struct drain_rig r;
    struct nsc_trace_info info;
    uint64_t events;

    rig_begin(&r, 1);
    flood(&r, 4000000, 1, 0, random_call);
    CHECK(r.tracees.modules.place_count <= (1u << 16) + 1);
    CHECK(r.tracees.modules.limits.refused[NSC_LIMIT_ADDRESSES] > 0);
    CHECK(r.tracees.processes[0]->space.codes.shift >= 64 - 20);
    info = drain_rig_end(&r);
    events = 2 * info.calls + r.tracees.stats.lost;
    CHECK(events >= 4000000);
    CHECK(info.function_count <= (1u << 16) + 1);
}

/* ---- Calls that never return ----------------------------------------------------------------- */

static void deeper_call(uint64_t number, uint64_t *slot)
{
    slot[0] = 0x400000 | (TOP - 8 * (number + 1)) << NSC_LIVE_POSITION_SHIFT;
    slot[1] = number + 2;
}

static void test_depth(void)
{
    struct drain_rig r;
    struct nsc_trace_info info;

    rig_begin(&r, 1);
    flood(&r, 3000000, 1, 8, deeper_call);
    CHECK(r.writer->frames_room <= 1u << 21);
    info = drain_rig_end(&r);
    CHECK(r.tracees.stats.lost > 0);
    CHECK(info.calls + r.tracees.stats.lost >= 3000000);
}

/* ---- Stacks, threads without end ------------------------------------------------------------- */

/* Each call lies on a stack of its own. */
static void scattered_call(uint64_t number, uint64_t *slot)
{
    uint64_t position = TOP - ((number % 2000) << 25);

    slot[0] = 0x400000 | position << NSC_LIVE_POSITION_SHIFT;
    slot[1] = number + 2;
}

static void test_stacks(void)
{
    struct drain_rig r;

    rig_begin(&r, 100);
    flood(&r, 400000, 100, 0, scattered_call);
    CHECK(r.tracees.modules.limits.extra_stacks <= 1u << 16);
    drain_rig_end(&r);
    CHECK(r.tracees.stats.lost + r.tracees.stats.recorded >= 400000);
}

/* ---- Modules that come and go ---------------------------------------------------------------- */

static void name_modules(struct drain_rig *r, uint32_t round)
{
    uint32_t i;

    for (i = 0; i < r->session.modules_max; i++) {
        struct nsc_live_module *m = &r->session.modules[i];

        if (m->state != NSC_LIVE_FREE)
            continue;
        *m = (struct nsc_live_module){.text_start = 0x400000 + 4096ull * (round + i % 7),
                                      .text_end = 0x800000,
                                      .hooks = 1u << NSC_LIVE_HOOK_SLED,
                                      .load_ticks = round + 1,
                                      .unload_ticks = round + 2};
        snprintf(m->path, sizeof m->path, "/nowhere/%u.%u", round, i);
        m->state = NSC_LIVE_DEAD;
    }
}

static void test_modules(void)
{
    enum { ROUNDS = 12 };
    struct drain_rig r;
    struct nsc_limits *limits;
    uint64_t begun_ns = nsc_now_ns();
    uint32_t round;

    rig_begin(&r, 1);
    limits = &r.tracees.modules.limits;
    for (round = 0; round < ROUNDS; round++) {
        name_modules(&r, round);
        nsc_tracees_scan(&r.tracees, true);
    }
    CHECK(r.tracees.modules.count > 0 && r.tracees.modules.count <= 1u << 14);
    CHECK(limits->used[NSC_LIMIT_MAPPINGS] <=
          limits->adoptions.most +
              (nsc_now_ns() - begun_ns) * limits->adoptions.per_second / 1000000000);
    limits->searches.left = 100000000;
    flood(&r, 100000, 1, 0, random_call); /* each is looked for among all of them */
    limits->searches.left = limits->searches.per_second = 0;
    flood(&r, 1000000, 1, 0, random_call);
    CHECK(limits->skipped > 0);
    CHECK(r.tracees.modules.other != NSC_NO_ID);
    drain_rig_end(&r);
}

/* The same module again and again takes no more room each time. */
static void test_reload(void)
{
    struct drain_rig r;
    struct nsc_live_module *m;
    struct nsc_trace_info info;
    uint32_t round;

    rig_begin(&r, 1);
    m = &r.session.modules[0];
    for (round = 0; round < 1000; round++) {
        *m = (struct nsc_live_module){.text_start = 0x400000,
                                      .text_end = 0x500000,
                                      .path = "/nowhere/plugin",
                                      .load_ticks = 10 * round + 1,
                                      .unload_ticks = 10 * round + 5};
        m->state = NSC_LIVE_DEAD;
        nsc_tracees_scan(&r.tracees, true);
    }
    CHECK(r.tracees.processes[0]->space.count == 1);
    info = drain_rig_end(&r);
    CHECK(info.mapping_count == 1000);
}

/* ---- Processes that are none ----------------------------------------------------------------- */

static void test_processes(void)
{
    struct drain_rig r;
    uint32_t round, i;

    rig_begin(&r, 1);
    r.tracees.modules.limits.adoptions.left = 1000000;
    r.tracees.modules.limits.used[NSC_LIMIT_PROCESSES] = (1u << 17) - 1000;
    for (round = 0; round < 2; round++) {
        for (i = 1; i < r.session.processes_max; i++) {
            r.session.processes[i] = (struct nsc_live_process){.start_ticks = 1};
            r.session.processes[i].state = NSC_LIVE_LIVE;
        }
        nsc_tracees_scan(&r.tracees, true);
        nsc_tracees_reap(&r.tracees);
    }
    CHECK(r.tracees.has_other);
    CHECK(r.tracees.modules.limits.refused[NSC_LIMIT_PROCESSES] > 0);
    CHECK(drain_rig_end(&r).process_count == 1001);
}

static void bounded(const char *name, void (*test)(void))
{
    uint64_t begun_ns = nsc_now_ns();
    struct rusage usage;

    test();
    getrusage(RUSAGE_SELF, &usage);
    printf("# %s: %llu ms; %ld MiB so far\n", name,
           (unsigned long long)(nsc_now_ns() - begun_ns) / 1000000, usage.ru_maxrss >> 10);
    CHECK(T_SANITIZED || usage.ru_maxrss < 256 << 10);
}

int main(void)
{
    bounded("addresses", test_addresses);
    bounded("depth", test_depth);
    bounded("stacks", test_stacks);
    bounded("modules", test_modules);
    bounded("processes", test_processes);
    bounded("reload", test_reload);
    return t_done();
}
