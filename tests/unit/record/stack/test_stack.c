/*
 * test_stack.c - the stack rule against hand-written events and against simulated threads
 * that know their own call trees.
 *
 * The lanes of trace/ are replaced by a log of what the rule says; a simulation writes the same log
 * from what really happened.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "abi/live.h"
#include "tap.h"
#include "unit/rigs/lane_log.h"

/* The sources themselves, over those lanes. */
#include "record/stack/call_filter.c"
#include "record/stack/disabled_calls.c"
#include "record/stack/disabled_functions.c"
#include "record/stack/event_loop.c"
#include "record/stack/fast_path.c"
#include "record/stack/filter_change.c"
#include "record/stack/open_frames.c"
#include "record/stack/stack.c"
#include "unit/rigs/thread_rig.h"

static void expect(const uint64_t *words, size_t slots, const char *want, const char *what)
{
    struct rig rig;

    rig_begin(&rig, false, true);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    nsc_stacks_run(&rig.stacks, words, 0, slots, false);
    nsc_stacks_close(&rig.stacks, 100000);
    t_report_str(log_text(&rig.log), want, __FILE__, __LINE__, what);
    rig_end(&rig);
}

#define EXPECT(want, what, ...)                                                                    \
    do {                                                                                           \
        const uint64_t words_[] = {__VA_ARGS__};                                                   \
        expect(words_, sizeof words_ / 16, want, what);                                            \
    } while (0)

static void test_by_hand(void)
{
    EXPECT("+1 +2 -2 -1", "plain nesting", IN(1, TOP, 10), IN(2, TOP - 32, 11),
           OUT(2, TOP - 32, 12), OUT(1, TOP, 13));
    EXPECT("+1 +2 +3 ~3 ~2 +4 -4 -1", "longjmp, then a call from the frame that caught it",
           IN(1, TOP, 10), IN(2, TOP - 32, 11), IN(3, TOP - 64, 12), IN(4, TOP - 32, 13),
           OUT(4, TOP - 32, 14), OUT(1, TOP, 15));
    EXPECT("+1 +2 +3 ~3 ~2 -1", "throw through two frames, then a return", IN(1, TOP, 10),
           IN(2, TOP - 32, 11), IN(3, TOP - 64, 12), OUT(1, TOP, 13));
    EXPECT("+1 +2 -2 +3 -3 -1", "tail call", IN(1, TOP, 10), IN(2, TOP - 32, 11),
           OUT(2, TOP - 32, 12), IN(3, TOP - 32, 13), OUT(3, TOP - 32, 14), OUT(1, TOP, 15));
    EXPECT("+1 +2 ~2 +3 -3 -1", "tail call whose exit is missing", IN(1, TOP, 10),
           IN(2, TOP - 32, 11), IN(3, TOP - 32, 13), OUT(3, TOP - 32, 14), OUT(1, TOP, 15));
    EXPECT("+1 -1 <2 <3", "calls that began before the recording", IN(1, TOP, 10), OUT(1, TOP, 11),
           OUT(2, TOP + 64, 12), OUT(3, TOP + 4096, 13));
    EXPECT("+1 !1 -1", "an exit without entry inside a call", IN(1, TOP, 10), OUT(2, TOP - 32, 11),
           OUT(1, TOP, 12));
    EXPECT("+1 +1 +1 ~1 +2 -2 -1 -1", "longjmp inside a recursion", IN(1, TOP, 1),
           IN(1, TOP - 32, 2), IN(1, TOP - 64, 3), IN(2, TOP - 64, 4), OUT(2, TOP - 64, 5),
           OUT(1, TOP - 32, 6), OUT(1, TOP, 7));
    EXPECT("+1 !1 +2 -2 !1 -1", "a slot that was never completed", IN(1, TOP, 10), 0, 0,
           IN(2, TOP - 32, 11), OUT(2, TOP - 32, 12), 0, 77, OUT(1, TOP, 13));
    EXPECT("+1 +2 -2 ~1", "a filler", IN(1, TOP, 10), NSC_LIVE_ESC_LOST, 0, IN(2, TOP - 32, 11),
           OUT(2, TOP - 32, 12));
    EXPECT("+1 +2 ~2 ~1 !7 <2 <1", "a gap closes what was open", IN(1, TOP, 10),
           IN(2, TOP - 32, 11), NSC_LIVE_ESC_LOST, 7, OUT(2, TOP - 32, 20), OUT(1, TOP, 21));
    EXPECT("+1 +2 -2 -1", "a frame of 3 MiB", IN(1, TOP, 10), NSC_LIVE_ESC_ANCHOR, TOP - (3 << 20),
           IN(2, TOP - (3 << 20), 11), OUT(2, TOP - (3 << 20), 12), NSC_LIVE_ESC_ANCHOR, TOP,
           OUT(1, TOP, 13));
}

#define ALT 0x7f0000010000ull
#define CO  0x555500020000ull
#define CO2 0x555500030000ull

#define SWITCH(from, to) NSC_LIVE_ESC_SWITCH | 1 << 12, (from), 1, (to)

static void test_stacks_by_hand(void)
{
    EXPECT("+1 +2 1:+8 1:+9 1:-9 1:-8 -2 -1", "signal stack", IN(1, TOP, 10), IN(2, TOP - 32, 11),
           NSC_LIVE_ESC_ANCHOR, ALT, IN(8, ALT, 12), IN(9, ALT - 64, 13), OUT(9, ALT - 64, 14),
           OUT(8, ALT, 15), NSC_LIVE_ESC_ANCHOR, TOP, OUT(2, TOP - 32, 16), OUT(1, TOP, 17));
    EXPECT("+1 +2 1:+8 ~2 +3 -3 -1 1:~8", "siglongjmp from a signal stack", IN(1, TOP, 10),
           IN(2, TOP - 32, 11), NSC_LIVE_ESC_ANCHOR, ALT, IN(8, ALT, 12), NSC_LIVE_ESC_ANCHOR, TOP,
           IN(3, TOP - 32, 13), OUT(3, TOP - 32, 14), OUT(1, TOP, 15));
    EXPECT("+1 1:+8 -1 +1 1:~8 1:+8 1:-8 -1", "the next signal ends what siglongjmp left behind",
           IN(1, TOP, 10), NSC_LIVE_ESC_ANCHOR, ALT, IN(8, ALT, 12), NSC_LIVE_ESC_ANCHOR, TOP,
           OUT(1, TOP, 13), IN(1, TOP, 14), NSC_LIVE_ESC_ANCHOR, ALT, IN(8, ALT, 15),
           OUT(8, ALT, 16), NSC_LIVE_ESC_ANCHOR, TOP, OUT(1, TOP, 17));
    EXPECT("+1 1:+4 +2 1:+5 1:-5 -2 1:-4 -1", "coroutine with markers", IN(1, TOP, 10),
           SWITCH(100, 200), NSC_LIVE_ESC_ANCHOR, CO, IN(4, CO, 11), SWITCH(200, 100),
           NSC_LIVE_ESC_ANCHOR, TOP, IN(2, TOP - 32, 12), SWITCH(100, 200), NSC_LIVE_ESC_ANCHOR, CO,
           IN(5, CO - 32, 13), OUT(5, CO - 32, 14), SWITCH(200, 100), NSC_LIVE_ESC_ANCHOR, TOP,
           OUT(2, TOP - 32, 15), SWITCH(100, 200), NSC_LIVE_ESC_ANCHOR, CO, OUT(4, CO, 16),
           NSC_LIVE_ESC_ANCHOR, TOP, OUT(1, TOP, 17));
    EXPECT("+1 1:+4 1:+9 1:-9 1:+5 1:-5 +2 -2 1:-4 -1",
           "a signal handler after the record of a switch, before the switch", IN(1, TOP, 10),
           SWITCH(100, 200), NSC_LIVE_ESC_ANCHOR, CO, IN(4, CO, 11), SWITCH(200, 100),
           IN(9, CO - 256, 12), OUT(9, CO - 256, 13), SWITCH(100, 200), IN(5, CO - 64, 14),
           OUT(5, CO - 64, 15), SWITCH(200, 100), NSC_LIVE_ESC_ANCHOR, TOP, IN(2, TOP - 32, 16),
           OUT(2, TOP - 32, 17), SWITCH(100, 200), NSC_LIVE_ESC_ANCHOR, CO, OUT(4, CO, 18),
           NSC_LIVE_ESC_ANCHOR, TOP, OUT(1, TOP, 19));
    EXPECT("+1 +2 1:+4 1:-4 +3 -3 -2 -1", "a coroutine's stack inside a frame; back by uc_link",
           IN(1, TOP, 10), IN(2, TOP - 0x8000, 11), SWITCH(1, 2), IN(4, TOP - 0x1000, 12),
           OUT(4, TOP - 0x1000, 13), IN(3, TOP - 0x8040, 14), OUT(3, TOP - 0x8040, 15),
           OUT(2, TOP - 0x8000, 16), OUT(1, TOP, 17));
    EXPECT("+1 1:+4 -1 +1 1:+5 1:-5 1:-4 -1", "coroutine without markers", IN(1, TOP, 10),
           NSC_LIVE_ESC_ANCHOR, CO, IN(4, CO, 11), NSC_LIVE_ESC_ANCHOR, TOP, OUT(1, TOP, 12),
           IN(1, TOP, 13), NSC_LIVE_ESC_ANCHOR, CO, IN(5, CO - 64, 14), OUT(5, CO - 64, 15),
           OUT(4, CO, 16), NSC_LIVE_ESC_ANCHOR, TOP, OUT(1, TOP, 17));
}

#define LEFT(position, ticks) NSC_LIVE_ESC_UNWIND | 1 << 12, (position), 1, (ticks)

static void test_jumps_by_hand(void)
{
    EXPECT("+1 +2 ~2 +3 -3 -1", "after a catch, a call from farther down than the dead frame",
           IN(1, TOP, 10), IN(2, TOP - 32, 11), LEFT(TOP - 32, 12), IN(3, TOP - 96, 13),
           OUT(3, TOP - 96, 14), OUT(1, TOP, 15));
    EXPECT("+1 +2 +3 ~3 ~2 -1", "a jump over several frames, nothing called after it",
           IN(1, TOP, 10), IN(2, TOP - 32, 11), IN(3, TOP - 64, 12), LEFT(TOP - 24, 13),
           OUT(1, TOP, 14));
    EXPECT("+1 +2 1:+4 ~2 -1 1:~4", "out of a handler on a stack of its own", IN(1, TOP, 10),
           IN(2, TOP - 32, 11), NSC_LIVE_ESC_ANCHOR, CO, IN(4, CO, 12), LEFT(TOP - 32, 13),
           NSC_LIVE_ESC_ANCHOR, TOP, OUT(1, TOP, 14));
    EXPECT("", "before anything is open", LEFT(TOP, 10));
}

static void test_ticks(void)
{
    struct rig rig;
    /* A handler (8) interrupts the hook of 2 after the slot's reservation. */
    const uint64_t words[] = {IN(1, TOP, 10),        IN(2, TOP - 32, 25),  IN(8, TOP - 256, 20),
                              OUT(8, TOP - 256, 21), OUT(2, TOP - 32, 30), OUT(1, TOP, 29),
                              OUT(3, TOP + 64, 40)};

    rig_begin(&rig, false, true);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    nsc_stacks_run(&rig.stacks, words, 0, 7, false);
    CHECK_STR(log_text(&rig.log), "+1 +2 +8 -8 -2 -1 <3");
    CHECK_U64(rig.log.entries[1].ticks, 20);
    CHECK_U64(rig.log.entries[4].ticks, 29);
    CHECK_U64(rig.stacks.stats.clamped, 0);
    CHECK_U64(rig.stacks.stats.recorded, 7);
    rig_end(&rig);
}

static void test_hole_and_late_switch_ticks(void)
{
    struct rig rig;
    uint64_t words[] = {IN(1, TOP, 10), IN(2, TOP - 32, 11), 0, 0, OUT(2, TOP - 32, 13)};
    size_t at;

    rig_begin(&rig, false, true);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    at = nsc_stacks_run(&rig.stacks, words, 0, 4, true);
    CHECK_U64(at, 2);
    words[4] = word_of(3, TOP - 64, false);
    words[5] = 12;
    at = nsc_stacks_run(&rig.stacks, words, at, 4, true);
    CHECK_U64(at, 4);
    CHECK_STR(log_text(&rig.log), "+1 +2 +3 ~3 -2");
    CHECK_U64(rig.stacks.stats.holes, 0);
    rig_end(&rig);
}

#define HIN(f, p, t)  word_of((f), (p), false), stamp((t), (f), 0)
#define HINL(f, p, t) word_of((f), (p), false), stamp((t), (f), 1)
#define HOUT(f, p, t) word_of((f), (p), true), stamp((t), (f), 0)

static void test_header(void)
{
    const uint64_t far = 0x0123456789abcdefull; /* bits above 48 come from the chunk's time */
    const uint64_t words[] = {
        HIN(1, TOP, far),      HINL(2, TOP, far + 1),  HINL(3, TOP, far + 2),
        HOUT(3, TOP, far + 3), HOUT(2, TOP, far + 4),  HINL(2, TOP, far + 5),
        HINL(2, TOP, far + 6), HOUT(2, TOP, far + 7),  HIN(4, TOP - 48, far + 8),
        HINL(5, TOP, far + 9), HOUT(1, TOP, far + 10), HIN(1, TOP, far + 11),
        HIN(6, TOP, far + 12), HOUT(6, TOP, far + 13),
    };
    struct rig rig;

    rig_begin(&rig, true, true);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, far - 1000);
    nsc_stacks_run(&rig.stacks, words, 0, sizeof words / 16, false);
    CHECK_STR(log_text(&rig.log), "+1 +2 +3 -3 -2 +2 ~2 +2 -2 +4 ~4 +5 ~5 -1 +1 ~1 +6 -6");
    CHECK_U64(rig.log.entries[0].ticks, far);
    CHECK_U64(rig.log.entries[rig.log.count - 1].ticks, far + 13);
    rig_end(&rig);
}

/* A module that is loaded while its chunk is read: the first with the header hook. */
static void test_header_found_late(void)
{
    const uint64_t words[] = {IN(1, TOP, 10),         HIN(20, TOP - 32, 11),  HIN(21, TOP - 64, 12),
                              HOUT(21, TOP - 64, 13), HOUT(20, TOP - 32, 14), IN(2, TOP - 32, 15),
                              OUT(2, TOP - 32, 16),   OUT(1, TOP, 17)};
    struct rig rig;
    size_t i;

    rig_begin(&rig, false, true);
    rig.late = true;
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    CHECK_U64(nsc_stacks_run(&rig.stacks, words, 0, sizeof words / 16, false), 8);
    CHECK_STR(log_text(&rig.log), "+1 +20 +21 -21 -20 +2 -2 -1");
    for (i = 0; i < rig.log.count; i++)
        CHECK_U64(rig.log.entries[i].ticks, 10 + i);
    CHECK_U64(rig.stacks.stats.clamped, 0);
    rig_end(&rig);
}

static void test_ring(void)
{
    const uint64_t old[] = {IN(1, TOP, 10), IN(2, TOP - 32, 11), OUT(2, TOP - 32, 12),
                            IN(3, TOP - 32, 13)};
    const uint64_t new[] = {IN(4, TOP - 64, 14), OUT(4, TOP - 64, 15), OUT(3, TOP - 32, 16),
                            OUT(1, TOP, 17)};
    struct rig rig;

    rig_begin(&rig, false, false);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    nsc_stacks_run(&rig.stacks, old, 0, 4, false);
    CHECK_U64(rig.log.count, 0);
    nsc_stacks_keep(&rig.stacks);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 13);
    nsc_stacks_run(&rig.stacks, new, 0, 4, false);
    nsc_stacks_close(&rig.stacks, 20);
    CHECK_STR(log_text(&rig.log), "!2 +1 +3 +4 -4 -3 -1");
    CHECK_U64(rig.log.entries[1].ticks, 10);
    CHECK_U64(rig.stacks.stats.recorded + nsc_stacks_lost_total(&rig.stacks), 8);
    rig_end(&rig);
}

/* The budget turned events away: a gap, but nothing is lost. */
static void test_turned_away(void)
{
    const uint64_t old[] = {IN(1, TOP, 10), IN(2, TOP - 32, 11)};
    const uint64_t new[] = {OUT(1, TOP, 20), IN(3, TOP, 21), OUT(3, TOP, 22)};
    struct rig rig;

    rig_begin(&rig, false, true);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    nsc_stacks_run(&rig.stacks, old, 0, 2, false);
    nsc_stacks_lost(&rig.stacks, 19, 2);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 19);
    nsc_stacks_left_out(&rig.stacks, 19, 40);
    nsc_stacks_run(&rig.stacks, new, 0, 3, false);
    nsc_stacks_close(&rig.stacks, 23);
    CHECK_STR(log_text(&rig.log), "+1 +2 ~2 ~1 !2 ?40 <1 +3 -3");
    CHECK_U64(nsc_stacks_lost_total(&rig.stacks), 2);
    CHECK_U64(rig.stacks.stats.left_out[NSC_LEFT_OUT_BUDGET], 40);
    CHECK_U64(rig.stacks.stats.recorded, 5);
    rig_end(&rig);
}

/* ---- Simulated threads ------------------------------------------------------------------------
 */

static void drop_losses(struct log *log)
{
    size_t from, to = 0;

    for (from = 0; from < log->count; from++)
        if (log->entries[from].kind != LOST)
            log->entries[to++] = log->entries[from];
    log->count = to;
}

static bool same_log(struct log *got, const struct log *want, unsigned seed)
{
    size_t i;

    drop_losses(got);

    for (i = 0; i < want->count; i++) {
        const struct entry *g = &got->entries[i], *w = &want->entries[i];

        if (i >= got->count || g->kind != w->kind || g->function != w->function ||
            g->ticks != w->ticks || g->lane != w->lane) {
            printf("# seed %u: entry %zu of %zu: want kind %u function %u ticks %llu lane %u\n",
                   seed, i, want->count, w->kind, w->function, (unsigned long long)w->ticks,
                   w->lane);
            if (i < got->count)
                printf("#   got kind %u function %u ticks %llu lane %u\n", g->kind, g->function,
                       (unsigned long long)g->ticks, g->lane);
            return false;
        }
    }
    return got->count == want->count;
}

static bool simulate(unsigned seed, bool header, bool fibres)
{
    static struct thread t;
    unsigned op, ops;
    bool same;

    memset(&t, 0, sizeof t);
    t.seed = seed * 0x9e3779b97f4a7c15ull + 1;
    t.ticks = header ? (uint64_t)seed << 40 : 1000;
    t.anchor = TOP;
    t.lanes = 1;
    t.fibres[0].used = true;
    rig_begin(&t.rig, header, true);
    nsc_stacks_begin_chunk(&t.rig.stacks, t.anchor, t.ticks);
    ops = 1 + draw(&t, OPS);
    for (op = 0; op < ops; op++) {
        uint32_t what = draw(&t, 1000);

        if (what < 480)
            call(&t, header && draw(&t, 3) == 0);
        else if (what < 940)
            leave(&t);
        else if (what < 970) { /* tail call */
            leave(&t);
            call(&t, false);
        } else if (what < 990 || !fibres)
            jump(&t);
        else
            hop(&t);
    }
    flush(&t);
    same = same_log(&t.rig.log, &t.truth, seed) &&
           t.rig.stacks.stats.recorded + nsc_stacks_lost_total(&t.rig.stacks) == t.emitted;
    free(t.truth.entries);
    rig_end(&t.rig);
    return same;
}

static void test_simulated(bool header, bool fibres, const char *what)
{
    unsigned seed, wrong = 0;

    for (seed = 1; seed <= 1500; seed++)
        wrong += !simulate(seed, header, fibres);
    t_report_u64(wrong, 0, __FILE__, __LINE__, what);
}

/* ---- Plain events and others ------------------------------------------------------------------
 */

enum { MIX_SLOTS = 1500, MIX_DEPTH = 60 };

struct mixer {
    struct thread *t;
    uint64_t exit_mask, anchor;
    uint64_t positions[MIX_DEPTH];
    uint32_t functions[MIX_DEPTH], depth;
    bool header;
};

static void mix_event(struct mixer *m, uint32_t function, uint64_t position, bool exit,
                      uint32_t inlined)
{
    struct thread *t = m->t;
    uint64_t ticks = t->ticks += draw(t, 10) == 0 ? draw(t, 60) : 1;

    if (draw(t, 40) == 0)
        ticks -= draw(t, 200);
    if (position - m->anchor + NSC_LIVE_ANCHOR_REACH >= 2 * NSC_LIVE_ANCHOR_REACH)
        put(t, NSC_LIVE_ESC_ANCHOR, m->anchor = position);
    put(t, (word_of(function, position, false) & ~1ull) | (exit ? m->exit_mask : 0),
        m->header ? stamp(ticks, function, inlined) : ticks);
}

static void mix_call(struct mixer *m)
{
    static const uint32_t sizes[] = {0, 8, 16, 64, 4096, 100000, 17 << 20};
    struct thread *t = m->t;
    uint32_t at = m->depth < MIX_DEPTH ? m->depth : MIX_DEPTH - 1, function = draw(t, 12);
    uint64_t above = at > 0 ? m->positions[at - 1] : TOP - 64 * draw(t, 3);
    uint64_t position = above - sizes[draw(t, draw(t, 20) == 0 ? 7 : 5)];

    mix_event(m, function, position, false, draw(t, 3));
    m->positions[at] = position;
    m->functions[at] = function;
    m->depth = at + 1;
    if (draw(t, 2) == 0) { /* a leaf, more or less */
        mix_event(m, draw(t, 30) == 0 ? draw(t, 12) : function,
                  draw(t, 30) == 0 ? position + 8 : position, true, 0);
        m->depth--;
    }
}

static void mix_other(struct mixer *m)
{
    struct thread *t = m->t;

    switch (draw(t, 10)) {
    case 0:
        put(t, NSC_LIVE_ESC_LOST, draw(t, 4) == 0);
        break;
    case 1:
        put(t, 0, draw(t, 2) * t->ticks);
        break;
    case 2:
        put(t, NSC_LIVE_ESC_UNWIND | 1 << 12, TOP - 8 * draw(t, 400));
        put(t, 1, t->ticks);
        break;
    case 3:
        put(t, NSC_LIVE_ESC_SWITCH | 1 << 12, 1 + draw(t, 3));
        put(t, 1, 1 + draw(t, 3));
        break;
    case 4:
        put(t, NSC_LIVE_ESC_ANCHOR, m->anchor = ALT);
        m->depth = 1;
        m->positions[0] = ALT - 8 * draw(t, 9);
        mix_event(m, draw(t, 12), m->positions[0], false, 0);
        break;
    case 5:
        m->depth -= draw(t, m->depth + 1);
        break;
    case 6: /* another stack's end: what is on the first goes on */
        m->depth = 0;
        break;
    default:
        mix_event(m, draw(t, 12), TOP - 8 * draw(t, 1000), draw(t, 2) == 0, draw(t, 2));
    }
}

static void mix(struct mixer *m)
{
    struct thread *t = m->t;
    uint32_t what;

    t->slots = 0;
    while (t->slots < MIX_SLOTS) {
        what = draw(t, 100);
        if (what < 50)
            mix_call(m);
        else if (what < 96 && m->depth > 0) {
            m->depth--;
            mix_event(m, m->functions[m->depth], m->positions[m->depth], true, 0);
        } else if (what >= 96)
            mix_other(m);
    }
}

/* The same slots once more, in the same pieces, with or without runs. */
static void run_mixed(struct rig *rig, const struct mixer *m, unsigned seed, bool runs)
{
    struct thread *t = m->t;
    uint64_t before = t->seed;
    size_t at = 0, to;

    rig_begin(rig, m->header, true);
    rig->stacks.exit_bit = m->exit_mask == 1 ? 0 : 47;
    rig->epoch = seed % 3 == 0 ? 150 + seed % 100 : 0;
    if (rig->epoch != 0)
        rig->codes.until_ticks = 0;
    no_runs = !runs;
    nsc_stacks_begin_chunk(&rig->stacks, TOP, 5000);
    for (t->seed = seed; at < t->slots; at = to) {
        to = at + 1 + draw(t, 300) < t->slots ? at + 1 + draw(t, 300) : t->slots;
        to = to < t->slots ? to : t->slots;
        while (to < t->slots && t->words[2 * to] == 1) /* no record is cut */
            to++;
        nsc_stacks_run(&rig->stacks, t->words, at, to, false);
    }
    nsc_stacks_close(&rig->stacks, 0);
    no_runs = false;
    t->seed = before;
}

static bool mixed_the_same(unsigned seed, bool header, uint64_t exit_mask)
{
    static struct thread t;
    static struct rig rigs[2];
    struct mixer m = {.t = &t, .exit_mask = exit_mask, .anchor = TOP, .header = header};
    size_t i;
    bool same;

    memset(&t, 0, sizeof t);
    t.seed = seed * 0x9e3779b97f4a7c15ull + 1;
    t.ticks = 5000;
    mix(&m);
    run_mixed(&rigs[0], &m, seed, true);
    run_mixed(&rigs[1], &m, seed, false);
    same = rigs[0].log.count == rigs[1].log.count &&
           memcmp(&rigs[0].stacks.stats, &rigs[1].stacks.stats, sizeof rigs[0].stacks.stats) == 0 &&
           rigs[0].stacks.last_ticks == rigs[1].stacks.last_ticks;
    for (i = 0; i < rigs[0].log.count && i < rigs[1].log.count; i++) {
        const struct entry *a = &rigs[0].log.entries[i], *b = &rigs[1].log.entries[i];

        if (a->ticks == b->ticks && a->kind == b->kind && a->lane == b->lane &&
            a->function == b->function && a->value == b->value)
            continue;
        same = false;
        printf("# seed %u: entry %zu: in a run kind %u function %u ticks %llu lane %u, alone kind "
               "%u function %u ticks %llu lane %u\n",
               seed, i, a->kind, a->function, (unsigned long long)a->ticks, a->lane, b->kind,
               b->function, (unsigned long long)b->ticks, b->lane);
        break;
    }
    rig_end(&rigs[0]);
    rig_end(&rigs[1]);
    return same;
}

/* Whatever the mix: events that go in runs have the same outcome as one by one. */
static void test_runs_are_the_same(void)
{
    unsigned seed, wrong = 0;

    for (seed = 1; seed <= 2000; seed++)
        wrong += !mixed_the_same(seed, seed & 1, seed & 2 ? 1 : 1ull << 47);
    CHECK_U64(wrong, 0);
}

/* Words of no meaning at all: nothing may crash, and every event is accounted for. */
static void test_garbage(void)
{
    struct thread *t = calloc(1, sizeof *t);
    unsigned round, i;
    uint64_t total = 0;

    t->seed = 7;
    for (round = 0; round < 300; round++) {
        const struct nsc_stacks_stats *stats = &t->rig.stacks.stats;
        uint64_t calls = 0;

        rig_begin(&t->rig, round & 1, true);
        for (i = 0; i < 2000; i++) {
            uint64_t word = (uint64_t)draw(t, UINT32_MAX) << 32 ^ (uint64_t)draw(t, UINT32_MAX);

            if (draw(t, 4) == 0)
                word &= 0xffff000000000fffull;
            else if (draw(t, 2) == 0)
                word = word_of(draw(t, 9), word & 0x3fff8, draw(t, 2) == 0);
            t->words[2 * i] = word;
            t->words[2 * i + 1] = draw(t, 2) == 0 ? word >> 7 : i;
            /* Few stacks: the log's lanes are limited. */
            if ((word & 0xfff0ffffffff) < NSC_LIVE_ESC_LIMIT && (word & 0xfff) != 8)
                t->words[2 * i] = 0;
            if ((t->words[2 * i] & NSC_LIVE_ADDRESS_MASK & ~(1ull << 47)) >= NSC_LIVE_ESC_LIMIT)
                calls++;
        }
        t->rig.stacks.stats.recorded = 0;
        nsc_stacks_begin_chunk(&t->rig.stacks, draw(t, UINT32_MAX), 5);
        nsc_stacks_run(&t->rig.stacks, t->words, 0, 2000, false);
        total += stats->recorded;
        nsc_stacks_close(&t->rig.stacks, 0);
        rig_end(&t->rig);
    }
    CHECK(total > 0);
    free(t);
}

/* Sleds were switched on while calls were open: their ends are no loss. */
static void test_switched(void)
{
    const uint64_t words[] = {OUT(4, TOP + 64, 9), IN(1, TOP, 10), OUT(2, TOP - 32, 11),
                              OUT(1, TOP, 12)};
    struct rig rig;

    rig_begin(&rig, false, true);
    rig.stacks.switched = true;
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    nsc_stacks_run(&rig.stacks, words, 0, 4, false);
    CHECK_STR(log_text(&rig.log), "<4 +1 -1");
    CHECK_U64(rig.stacks.stats.recorded, 3);
    CHECK_U64(rig.stacks.stats.left_out[NSC_LEFT_OUT_OTHER], 1);
    CHECK_U64(nsc_stacks_lost_total(&rig.stacks), 0);
    rig_end(&rig);
}

/* Exits are switched on before entries: what ends meanwhile and can not have been open before is
 * not made a call of. */
static void test_switching_on(void)
{
    const uint64_t words[] = {
        OUT(1, TOP - 64, 1), OUT(2, TOP - 64, 2), OUT(1, TOP - 64, 3),  OUT(3, TOP - 96, 4),
        OUT(4, TOP, 5),      OUT(1, TOP - 64, 6), OUT(4, TOP, 7),       IN(5, TOP, 8),
        OUT(6, TOP - 32, 9), OUT(5, TOP, 11),     OUT(7, TOP + 64, 12), OUT(8, TOP - 32, 13),
    };
    const uint64_t after[] = {OUT(1, TOP - 64, 14), NSC_LIVE_ESC_LOST, 7, OUT(9, TOP, 15)};
    struct rig rig;

    rig_begin(&rig, false, true);
    nsc_stacks_switched_on(&rig.stacks, 10);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    nsc_stacks_run(&rig.stacks, words, 0, sizeof words / 16, false);
    /* Where the 8 was, events came after the switching: it is of a stack of its own near by. */
    CHECK_STR(log_text(&rig.log), "<1 <4 +5 -5 <7 <8");
    CHECK_U64(rig.stacks.stats.recorded, 6);
    CHECK_U64(rig.stacks.stats.left_out[NSC_LEFT_OUT_OTHER], 6);
    nsc_stacks_switched_on(&rig.stacks, 20); /* as another filter does */
    nsc_stacks_run(&rig.stacks, after, 0, 3, false);
    CHECK_STR(log_text(&rig.log), "<1 <4 +5 -5 <7 <8 !7 <9");
    CHECK_U64(rig.stacks.stats.left_out[NSC_LEFT_OUT_OTHER], 7);
    CHECK_U64(nsc_stacks_lost_total(&rig.stacks), 7);
    rig_end(&rig);
}

/* With the header hook a function that was inlined shares the position of its caller. */
static void test_switching_on_inlined(void)
{
    const uint64_t words[] = {OUT(2, TOP - 64, 1), OUT(1, TOP - 64, 2), OUT(3, TOP - 96, 3)};
    struct rig rig;

    rig_begin(&rig, true, true);
    nsc_stacks_switched_on(&rig.stacks, 10);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    nsc_stacks_run(&rig.stacks, words, 0, sizeof words / 16, false);
    CHECK_STR(log_text(&rig.log), "<2 <1");
    CHECK_U64(rig.stacks.stats.left_out[NSC_LEFT_OUT_OTHER], 1);
    rig_end(&rig);
}

/* Once a thread's time stands at its end, each event asks for its code at a time that no table
 * holds for: still one place for one address. */
static void test_time_at_its_end(void)
{
    struct rig rig;
    int i;

    rig_begin(&rig, false, true);
    for (i = 0; i < 3000; i++)
        nsc_codes_find(&rig.codes, 0x55550000, UINT64_MAX);
    CHECK_U64(rig.codes.count, 1);
    rig_end(&rig);
}

int main(void)
{
    test_time_at_its_end();
    test_by_hand();
    test_turned_away();
    test_switched();
    test_switching_on();
    test_switching_on_inlined();
    test_stacks_by_hand();
    test_jumps_by_hand();
    test_ticks();
    test_hole_and_late_switch_ticks();
    test_header();
    test_header_found_late();
    test_ring();
    test_simulated(false, false, "sleds: 1500 simulated threads");
    test_simulated(true, false, "header hook: 1500 simulated threads");
    test_simulated(false, true, "sleds with coroutines: 1500 simulated threads");
    test_simulated(true, true, "header hook with coroutines: 1500 simulated threads");
    test_runs_are_the_same();
    test_garbage();
    return t_done();
}
