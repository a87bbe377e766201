/*
 * test_untimed.c - exits that did not read the timer, and entries that tell their own exit
 * (NSC_LIVE_FLAG_ENTRY_TIMING): the trace must be the same as from slots in which each exit has a
 * slot and the time of the next event that has one.
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

enum { SLOTS = 600, ROUNDS = 3000, DEEP = 60 };

/* The same events twice. */
struct both {
    uint64_t plain[2 * SLOTS], untimed[2 * SLOTS];
    size_t plain_slots, untimed_slots;
    size_t waiting; /* plain slots from here on are exits that have no time yet */
    uint64_t ticks;
    size_t marked;
};

static void put_slot(uint64_t *words, size_t *slots, uint64_t word, uint64_t ticks)
{
    words[2 * *slots] = word;
    words[2 * *slots + 1] = ticks;
    ++*slots;
}

/* Something with a time: exits before it now have theirs. */
static void settle(struct both *b, uint64_t ticks)
{
    for (; b->waiting < b->plain_slots; b->waiting++)
        if (b->plain[2 * b->waiting + 1] == 0)
            b->plain[2 * b->waiting + 1] = ticks;
}

static void put_timed(struct both *b, uint64_t word)
{
    b->ticks += (unsigned)rand() % 40;
    settle(b, b->ticks);
    put_slot(b->plain, &b->plain_slots, word, b->ticks);
    put_slot(b->untimed, &b->untimed_slots, word, b->ticks);
    b->waiting = b->plain_slots;
}

static void put_record(struct both *b)
{
    size_t more = (size_t)rand() % 4;

    for (size_t i = 0; i <= more; i++) {
        uint64_t word = i == 0 ? NSC_LIVE_ESC_CLOCK | more << 12 : 1,
                 payload = (unsigned)rand() + 1u;

        put_slot(b->plain, &b->plain_slots, word, payload);
        put_slot(b->untimed, &b->untimed_slots, word, payload);
    }
}

/* @leaf: its entry is the last slot. */
static void put_exit(struct both *b, uint64_t word, bool leaf)
{
    if (rand() % 12 == 0) { /* one that came the slow way */
        put_timed(b, word);
        return;
    }
    put_slot(b->plain, &b->plain_slots, word, 0);
    if (leaf && rand() % 8 != 0) {
        b->untimed[2 * b->untimed_slots - 1] |= NSC_LIVE_TICKS_RETURNED;
        b->marked++;
    } else {
        put_slot(b->untimed, &b->untimed_slots, word, 0);
    }
}

/* Calls that nest, records in between, and now and then frames that are left without an exit. */
static void make(struct both *b)
{
    uint64_t positions[DEEP];
    uint32_t functions[DEEP], depth = 0;
    bool entered = false; /* the last slot is the entry of the innermost call */

    memset(b, 0, sizeof *b);
    b->ticks = 1000;
    while (b->plain_slots + 8 < SLOTS && b->untimed_slots + 8 < SLOTS) {
        unsigned what = (unsigned)rand() % 100;

        if (what < 3) {
            put_record(b);
            entered = false;
        } else if (what < 5 && depth > 2) {
            depth -= 1 + (unsigned)rand() % 2; /* longjmp */
            entered = false;
        } else if (depth < DEEP && (depth == 0 || what < 52)) {
            positions[depth] =
                (depth == 0 ? TOP : positions[depth - 1]) - 8 * (2 + (unsigned)rand() % 9);
            functions[depth] = (unsigned)rand() % 12;
            put_timed(b, word_of(functions[depth], positions[depth], false));
            depth++;
            entered = true;
        } else {
            depth--;
            put_exit(b, word_of(functions[depth], positions[depth], true), entered);
            entered = false;
        }
    }
}

static void begin(struct rig *rig, bool keep, bool marked)
{
    rig_begin(rig, false, keep);
    rig->stacks.marked = marked;
    nsc_stacks_begin_chunk(&rig->stacks, TOP, 900);
}

/* In pieces, as a recorder comes upon them; what has to wait is run again with more behind. */
static void run_pieces(struct rig *rig, const uint64_t *words, size_t slots)
{
    size_t at = 0, to = 0;

    while (to < slots) {
        to += 1 + (unsigned)rand() % 60;
        to = to < slots ? to : slots;
        while (to < slots && words[2 * to] == 1) /* no record is cut */
            to++;
        at = nsc_stacks_run(&rig->stacks, words, at, to, true);
    }
    if (at < slots)
        nsc_stacks_run(&rig->stacks, words, at, slots, false);
}

static bool same_logs(const struct log *a, const struct log *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++) {
        const struct entry *x = &a->entries[i], *y = &b->entries[i];

        same = x->ticks == y->ticks && x->kind == y->kind && x->lane == y->lane &&
               x->function == y->function && x->value == y->value;
    }
    return same;
}

/* @next_ticks: of what comes behind, 0: nothing does. */
static bool is_same(struct both *b, uint64_t next_ticks, bool keep)
{
    static struct rig rigs[2];
    bool same;

    settle(b, next_ticks != 0 ? next_ticks : b->ticks);
    begin(&rigs[0], keep, false);
    nsc_stacks_run(&rigs[0].stacks, b->plain, 0, b->plain_slots, false);
    begin(&rigs[1], keep, true);
    rigs[1].stacks.next_ticks = next_ticks;
    if (next_ticks != 0)
        nsc_stacks_run(&rigs[1].stacks, b->untimed, 0, b->untimed_slots, true);
    else
        run_pieces(&rigs[1], b->untimed, b->untimed_slots);
    same = rigs[0].stacks.stats.recorded == rigs[1].stacks.stats.recorded &&
           rigs[0].stacks.stats.dropped == rigs[1].stacks.stats.dropped;
    for (int i = 0; i < 2; i++)
        nsc_stacks_close(&rigs[i].stacks, b->ticks + 1000);
    same = same && same_logs(&rigs[0].log, &rigs[1].log);
    for (int i = 0; i < 2; i++)
        rig_end(&rigs[i]);
    return same;
}

static void test_random(void)
{
    static struct both b;
    size_t marked = 0, wrong = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        srand(round);
        make(&b);
        marked += b.marked;
        no_runs = round % 5 == 0;
        wrong += !is_same(&b, round % 3 == 0 ? b.ticks + 77 : 0, round % 4 != 0);
    }
    no_runs = false;
    CHECK_U64(wrong, 0);
    CHECK(marked > ROUNDS * 20);
}

/* What has no time yet is left for later. */
static void test_waits(void)
{
    const uint64_t returned[] = {IN(1, TOP, 10), IN(2, TOP - 32, 11 | NSC_LIVE_TICKS_RETURNED),
                                 OUT(1, TOP, 0), IN(3, TOP, 20)};
    struct rig rig;

    begin(&rig, true, true);
    CHECK_U64(nsc_stacks_run(&rig.stacks, returned, 0, 2, true), 1);
    CHECK_U64(nsc_stacks_run(&rig.stacks, returned, 1, 3, true), 1);
    CHECK_U64(nsc_stacks_run(&rig.stacks, returned, 1, 4, true), 4);
    CHECK_STR(log_text(&rig.log), "+1 +2 -2 -1 +3");
    CHECK_U64(rig.log.entries[2].ticks, 20);
    CHECK_U64(rig.log.entries[3].ticks, 20);
    CHECK_U64(rig.stacks.stats.recorded, 5);
    nsc_stacks_close(&rig.stacks, 100);
    rig_end(&rig);
}

int main(void)
{
    test_random();
    test_waits();
    return t_done();
}
