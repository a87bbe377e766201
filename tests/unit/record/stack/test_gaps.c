/*
 * test_gaps.c - the stack rule around gaps: what the lost events cannot have ended stays
 * open, everything else is closed; and a call is one call, however many gaps there are.
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

#define AT(depth) (TOP - 32 * (uint64_t)(depth))

static void feed(struct rig *rig, const uint64_t *words, size_t bytes)
{
    nsc_stacks_run(&rig->stacks, words, 0, bytes / 16, false);
}

static void set_up(struct rig *rig)
{
    rig_begin(rig, false, true);
    nsc_stacks_begin_chunk(&rig->stacks, TOP, 1);
}

/* Two calls are open when @lost and @left_out events go missing, up to @highest; then they return.
 */
static void expect(uint64_t lost, uint64_t left_out, uint64_t highest, const char *want,
                   const char *what)
{
    const uint64_t before[] = {IN(1, AT(0), 10), IN(2, AT(1), 11), IN(3, AT(2), 12),
                               OUT(3, AT(2), 13)};
    const uint64_t behind[] = {OUT(2, AT(1), 30), IN(4, AT(1), 31), OUT(4, AT(1), 32),
                               OUT(1, AT(0), 33)};
    struct rig rig;

    set_up(&rig);
    feed(&rig, before, sizeof before);
    nsc_stacks_gap(&rig.stacks, 20, lost, left_out, highest);
    feed(&rig, behind, sizeof behind);
    nsc_stacks_close(&rig.stacks, 40);
    t_report_str(log_text(&rig.log), want, __FILE__, __LINE__, what);
    CHECK_U64(rig.stacks.stats.recorded, 8);
    CHECK_U64(nsc_stacks_lost_total(&rig.stacks), lost);
    rig_end(&rig);
}

static void test_by_hand(void)
{
    expect(0, 40, AT(2), "+1 +2 +3 -3 ?40 -2 +4 -4 -1", "all were lost inside of what is open");
    expect(0, 40, AT(1), "+1 +2 +3 -3 ~2 ?40 <2 +4 -4 -1",
           "the inner call returned, and is another one behind the gap");
    expect(7, 0, AT(1), "+1 +2 +3 -3 ~2 !7 <2 +4 -4 -1", "the same for losses");
    expect(7, 40, AT(1), "+1 +2 +3 -3 ~2 !7 ?40 <2 +4 -4 -1", "and for both");
    expect(0, 40, AT(0), "+1 +2 +3 -3 ~2 ~1 ?40 <2 +4 -4 <1", "both returned");
    expect(0, 40, 0, "+1 +2 +3 -3 ~2 ~1 ?40 <2 +4 -4 <1", "where that is not known");
    expect(0, 40, UINT64_MAX, "+1 +2 +3 -3 ~2 ~1 ?40 <2 +4 -4 <1", "another stack was gone to");
}

/* Times: the closed call ends with the last event that was seen, the others go on. */
static void test_times(void)
{
    const uint64_t before[] = {IN(1, AT(0), 10), IN(2, AT(1), 11)};
    const uint64_t behind[] = {OUT(1, AT(0), 30)};
    struct rig rig;

    set_up(&rig);
    feed(&rig, before, sizeof before);
    nsc_stacks_gap(&rig.stacks, 20, 0, 2, AT(1));
    feed(&rig, behind, sizeof behind);
    CHECK_STR(log_text(&rig.log), "+1 +2 ~2 ?2 -1");
    CHECK_U64(rig.log.entries[2].ticks, 11);
    CHECK_U64(rig.log.entries[3].ticks, 20);
    CHECK_U64(rig.log.entries[4].ticks, 30);
    rig_end(&rig);
}

/* An exit without entry that cannot be of a call from the gap is still one event lost. */
static void test_other_exits(void)
{
    const uint64_t before[] = {IN(1, AT(0), 10), IN(2, AT(4), 11)};
    const uint64_t behind[] = {OUT(3, AT(2), 30), OUT(1, AT(0), 31)};
    const uint64_t later[] = {OUT(3, AT(6), 30), IN(5, AT(5), 31), OUT(6, AT(6), 32),
                              OUT(5, AT(5), 33), OUT(1, AT(0), 34)};
    struct rig rig;

    set_up(&rig);
    feed(&rig, before, sizeof before);
    nsc_stacks_gap(&rig.stacks, 20, 5, 0, AT(4));
    feed(&rig, behind, sizeof behind);
    CHECK_STR(log_text(&rig.log), "+1 +2 ~2 !5 !1 -1");
    rig_end(&rig);

    set_up(&rig);
    feed(&rig, before, sizeof before);
    nsc_stacks_gap(&rig.stacks, 20, 5, 0, AT(4));
    feed(&rig, later, sizeof later);
    CHECK_STR(log_text(&rig.log), "+1 +2 ~2 !5 <3 +5 !1 -5 -1");
    CHECK_U64(rig.stacks.stats.recorded + nsc_stacks_lost_total(&rig.stacks), 7 + 5);
    rig_end(&rig);
}

/* Calls that are not written before they have lasted are not carried. */
static void test_pending(void)
{
    const struct nsc_filter_rules rules = {
        .min_ticks = 100, .depth = UINT32_MAX, .until_ticks = UINT64_MAX};
    const uint64_t before[] = {IN(1, AT(0), 10), IN(2, AT(1), 150)};
    const uint64_t behind[] = {OUT(2, AT(1), 400), OUT(1, AT(0), 500)};
    struct rig rig;

    rig_begin(&rig, false, true);
    nsc_stacks_free(&rig.stacks);
    rig.stacks.rules = &rules;
    nsc_stacks_init(&rig.stacks);
    nsc_stacks_begin_chunk(&rig.stacks, TOP, 1);
    feed(&rig, before, sizeof before);
    nsc_stacks_gap(&rig.stacks, 200, 0, 2, AT(2));
    feed(&rig, behind, sizeof behind);
    CHECK_STR(log_text(&rig.log), "+1 ~1 ?2 <2 <1");
    rig_end(&rig);
}

/* ---- A thread that loses events now and then ------------------------------------------------- */

enum { STEPS = 20000, CALLS_MAX = STEPS + 1, FUNCTIONS = 6 };

struct sim {
    struct thread t;
    struct {
        uint32_t function;
        uint64_t position;
        bool seen; /* one of its events was kept */
    } open[DEPTH_MAX];
    uint32_t depth;
    bool losing;
    uint64_t lost, highest; /* since the last event that was kept */
    uint64_t calls[FUNCTIONS];
};

static void event(struct sim *s, bool exit)
{
    uint32_t function = s->open[s->depth - 1].function;
    uint64_t position = s->open[s->depth - 1].position;

    s->t.ticks += 1 + draw(&s->t, 50);
    s->t.emitted++;
    if (s->losing) {
        s->lost++;
        s->highest = position > s->highest ? position : s->highest;
        return;
    }
    if (s->lost > 0 || s->t.slots > 1000) {
        nsc_stacks_run(&s->t.rig.stacks, s->t.words, 0, s->t.slots, false);
        s->t.slots = 0;
        nsc_stacks_begin_chunk(&s->t.rig.stacks, TOP, s->t.ticks);
        if (s->lost > 0)
            nsc_stacks_gap(&s->t.rig.stacks, s->t.ticks, s->lost, 0, s->highest);
        s->lost = s->highest = 0;
    }
    put(&s->t, word_of(function, position, exit), s->t.ticks);
    s->open[s->depth - 1].seen = true;
}

static void step(struct sim *s, bool jumps)
{
    struct thread *t = &s->t;

    if (draw(t, s->losing ? 10 : 40) == 0)
        s->losing = !s->losing;
    if (s->depth == 0 || (s->depth < 12 && draw(t, 2) == 0)) {
        uint64_t above = s->depth == 0 ? TOP + 16 : s->open[s->depth - 1].position;

        s->open[s->depth].function = draw(t, FUNCTIONS);
        s->open[s->depth].position = above - 16 - 16 * draw(t, 3);
        s->open[s->depth].seen = false;
        s->depth++;
        event(s, false);
    } else if (jumps && draw(t, 12) == 0) { /* a jump leaves calls without an event */
        s->depth--;
        s->calls[s->open[s->depth].function] += s->open[s->depth].seen;
    } else {
        event(s, true);
        s->depth--;
        s->calls[s->open[s->depth].function] += s->open[s->depth].seen;
    }
}

/* Each call that any event was seen of is in the trace once, unless all that was seen is an exit
 * which can belong nowhere: that is counted as lost. */
static void test_simulated(bool jumps, unsigned seed)
{
    struct sim *s = calloc(1, sizeof *s);
    uint64_t calls[FUNCTIONS] = {0}, unmatched = 0, differ = 0;
    size_t i;

    rig_begin(&s->t.rig, false, true);
    s->t.seed = seed;
    s->t.ticks = 1;
    nsc_stacks_begin_chunk(&s->t.rig.stacks, TOP, 1);
    for (i = 0; i < STEPS; i++)
        step(s, jumps);
    s->losing = false;
    while (s->depth > 0) {
        event(s, true);
        s->calls[s->open[--s->depth].function] += 1;
    }
    nsc_stacks_run(&s->t.rig.stacks, s->t.words, 0, s->t.slots, false);
    nsc_stacks_close(&s->t.rig.stacks, s->t.ticks);
    for (i = 0; i < s->t.rig.log.count; i++) {
        const struct entry *e = &s->t.rig.log.entries[i];

        if (e->kind == ENTER || e->kind == LATE)
            calls[e->function]++;
    }
    for (i = 0; i < FUNCTIONS; i++)
        differ += calls[i] > s->calls[i] ? calls[i] - s->calls[i] : s->calls[i] - calls[i];
    unmatched = s->t.rig.stacks.stats.unmatched;
    printf("# seed %u: %llu calls differ, %llu unmatched, %llu lost of %llu\n", seed,
           (unsigned long long)differ, (unsigned long long)unmatched,
           (unsigned long long)nsc_stacks_lost_total(&s->t.rig.stacks),
           (unsigned long long)s->t.emitted);
    CHECK_U64(differ, unmatched);
    CHECK_U64(s->t.rig.stacks.stats.recorded + nsc_stacks_lost_total(&s->t.rig.stacks),
              s->t.emitted);
    rig_end(&s->t.rig);
    free(s);
}

int main(void)
{
    unsigned seed;

    test_by_hand();
    test_times();
    test_other_exits();
    test_pending();
    for (seed = 1; seed <= 6; seed++)
        test_simulated(seed % 2 == 0, seed);
    return t_done();
}
