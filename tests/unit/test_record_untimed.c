/*
 * test_record_untimed.c - exits without a time get that of the next event that has one: compared
 * with a search for each of them, on made-up chunks that are read in pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "nanoscope/live.h"
#include "record/untimed.h"
#include "tap.h"

enum { SLOTS = 400, ROUNDS = 2000, EXIT_BIT = 47 };

#define CODE 0x555555554000ull
#define EXIT (1ull << EXIT_BIT)

struct chunk {
    uint64_t words[2 * SLOTS];
    bool starts[SLOTS]; /* of a record or an event */
    bool untimed[SLOTS];
};

/* Times rise; some exits have one, as those that come the slow way. */
static void fill(struct chunk *c)
{
    uint64_t ticks = 1000;
    size_t at = 0;

    memset(c, 0, sizeof *c);
    while (at < SLOTS) {
        unsigned what = (unsigned)rand() % 20;
        size_t more = what == 0 ? (size_t)rand() % 6 : 0;

        c->starts[at] = true;
        ticks += (unsigned)rand() % 50 + 1;
        if (what == 0 && at + more < SLOTS) { /* a record with slots that look like anything */
            c->words[2 * at] = NSC_LIVE_ESC_MARK | more << 12;
            c->words[2 * at + 1] = 0;
            for (size_t i = 1; i <= more; i++) {
                c->words[2 * (at + i)] = rand() % 2 != 0 ? 1 : (CODE | EXIT);
                c->words[2 * (at + i) + 1] = 0;
            }
            at += more + 1;
            continue;
        }
        c->words[2 * at] = CODE + (unsigned)rand() % 1000 * 8;
        c->words[2 * at + 1] = ticks;
        if (what > 10) {
            c->words[2 * at] |= EXIT;
            c->untimed[at] = what > 12;
            if (c->untimed[at])
                c->words[2 * at + 1] = 0;
        }
        at++;
    }
}

/* The time that the exit at @at is to have; 0: none yet. */
static uint64_t expected(const struct chunk *c, size_t at, uint64_t end_ticks, bool final)
{
    uint64_t last = 0;

    for (size_t i = at; i < SLOTS; i++)
        if (c->starts[i] && !c->untimed[i] && (c->words[2 * i] & 0xffffffffffff) > 0xffff)
            return c->words[2 * i + 1];
    if (end_ticks != 0 || !final)
        return end_ticks;
    for (size_t i = 0; i < at; i++)
        if (c->starts[i] && !c->untimed[i] && (c->words[2 * i] & 0xffffffffffff) > 0xffff)
            last = c->words[2 * i + 1];
    return last;
}

static void check_round(uint64_t end_ticks, bool final, bool in_pieces)
{
    static struct chunk c, before;
    size_t from = 0, bad = 0, got;

    fill(&c);
    before = c;
    while (in_pieces && from < SLOTS / 2) { /* parts, as of a chunk that is still being written */
        size_t to = from + (size_t)rand() % 40;

        while (to < SLOTS && !c.starts[to])
            to++;
        got = nsc_untimed_fill(c.words, from, to, EXIT_BIT, 0, false);
        bad += got < from || got > to || (got < to && (!c.untimed[got] || !c.starts[got]));
        if (got < to)
            break;
        from = got;
    }
    got = nsc_untimed_fill(c.words, from, SLOTS, EXIT_BIT, end_ticks, final);
    for (size_t i = 0; i < SLOTS; i++) {
        uint64_t want =
            c.untimed[i] ? expected(&before, i, end_ticks, final) : before.words[2 * i + 1];

        bad += c.words[2 * i] != before.words[2 * i];
        /* Read in pieces, the last event may have been in an earlier one. */
        if (!(in_pieces && c.untimed[i] && end_ticks == 0))
            bad += c.words[2 * i + 1] != want;
        bad += i < got && c.starts[i] && c.untimed[i] && !(final && end_ticks == 0) &&
               c.words[2 * i + 1] == 0;
    }
    if (bad != 0)
        CHECK_U64(bad, 0);
}

int main(void)
{
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        check_round(0, false, false);
        check_round(0, true, false);
        check_round(1u << 30, false, false);
        check_round(1u << 30, true, true);
        check_round(0, true, true);
    }
    CHECK(true);
    return t_done();
}
