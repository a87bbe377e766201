/*
 * test_user_events.c - marks, counters and samples out of hand-made slots: whole, in parts, cut,
 * and as nobody should write them.
 */
#include <stdint.h>

#include "abi/live.h"
#include "record/stack/user_events.h"
#include "tap.h"

#define GOES_ON (1ull << 63)
#define NEAR    1000000ull

/* What was taken last, and how often. */
struct taken {
    struct nsc_note note;
    char name[5000], metadata[5000];
    int count;
};

static void take(void *context, struct nsc_note *note)
{
    struct taken *taken = context;

    taken->note = *note;
    taken->count++;
    taken->name[0] = taken->metadata[0] = '\0';
    if (note->kind == NSC_NOTE_MARK) {
        snprintf(taken->name, sizeof taken->name, "%s", note->mark.name);
        snprintf(taken->metadata, sizeof taken->metadata, "%s", note->mark.metadata);
    } else if (note->kind == NSC_NOTE_COUNTER) {
        snprintf(taken->name, sizeof taken->name, "%s", note->counter.name);
    }
}

/* A record with @bytes bytes of text behind @first slots of its own. Returns its slots. */
static size_t put_record(uint64_t *words, uint64_t kind, uint64_t ticks, size_t first,
                         const char *text, size_t bytes)
{
    size_t slots = 1 + first + (bytes + 14) / 15;

    words[0] = kind | (uint64_t)(slots - 1) << 12 | (uint64_t)bytes << 48;
    words[1] = ticks;
    for (size_t i = 0; i < bytes; i += 15) {
        uint64_t *slot = words + 2 * (1 + first + i / 15);
        uint8_t raw[16] = {1};

        memcpy(raw + 1, text + i, bytes - i < 15 ? bytes - i : 15);
        memcpy(slot, raw, sizeof raw);
    }
    return slots;
}

static void add_mark(struct nsc_user_events *r, uint64_t ticks, const char *text, size_t bytes,
                     uint64_t flags)
{
    uint64_t words[32];
    size_t slots = put_record(words, NSC_LIVE_ESC_MARK, ticks, 0, text, bytes);

    words[0] |= flags;
    nsc_user_events_add(r, words, slots, NEAR);
}

static void add_counter(struct nsc_user_events *r, uint64_t type, uint64_t value, const char *name)
{
    uint64_t words[32];
    size_t slots = put_record(words, NSC_LIVE_ESC_COUNTER, 7, 1, name, strlen(name));

    words[2] = type;
    words[3] = value;
    nsc_user_events_add(r, words, slots, NEAR);
}

static void test_marks(void)
{
    struct taken taken = {.count = 0};
    struct nsc_user_events r = {.take = take, .context = &taken};
    const char text[] = "a frame of some length\0and what it is about, in no few words";

    add_mark(&r, 5, text, sizeof text - 1, 0);
    CHECK_U64((unsigned)taken.count, 1);
    CHECK_U64(taken.note.ticks, 5);
    CHECK_STR(taken.name, text);
    CHECK_STR(taken.metadata, text + strlen(text) + 1);
    CHECK(!taken.note.mark.cut);
    add_mark(&r, 6, "name", 4, 0);
    CHECK_STR(taken.name, "name");
    CHECK_STR(taken.metadata, "");
    add_mark(&r, 7, "", 0, 0);
    CHECK_STR(taken.name, "");
    CHECK_U64((unsigned)taken.count, 3);
    add_mark(&r, UINT64_MAX - 5, "x", 1, 0);
    CHECK_U64(taken.note.ticks, NEAR); /* a time that cannot be */
}

static void test_long_marks(void)
{
    struct taken taken = {.count = 0};
    struct nsc_user_events r = {.take = take, .context = &taken};
    char part[225];

    memset(part, 'm', sizeof part);
    add_mark(&r, 5, "name\0meta", 9, GOES_ON);
    CHECK_U64((unsigned)taken.count, 0);
    add_mark(&r, 9, "data", 4, 0);
    CHECK_U64((unsigned)taken.count, 1);
    CHECK_U64(taken.note.ticks, 5);
    CHECK_STR(taken.metadata, "metadata");
    CHECK(!taken.note.mark.cut);

    add_mark(&r, 5, "n\0", 2, GOES_ON);
    for (int i = 0; i < 100; i++)
        add_mark(&r, 5, part, sizeof part, i < 99 ? GOES_ON : 0);
    CHECK_U64((unsigned)taken.count, 2);
    CHECK_U64(strlen(taken.name) + strlen(taken.metadata) + 1, NSC_NOTE_RECORD_TEXT);
    CHECK(taken.note.mark.cut);

    add_mark(&r, 5, "lost", 4, GOES_ON);
    nsc_user_events_break(&r);
    CHECK_U64((unsigned)taken.count, 3);
    CHECK_STR(taken.name, "lost");
    CHECK(taken.note.mark.cut);
    nsc_user_events_break(&r);
    CHECK_U64((unsigned)taken.count, 3);

    add_mark(&r, 5, "open", 4, GOES_ON);
    add_counter(&r, 1, 1, "c"); /* ends it */
    CHECK_U64((unsigned)taken.count, 5);
    CHECK_STR(taken.name, "c");
    add_mark(&r, 5, "fresh", 5, 0);
    CHECK_STR(taken.name, "fresh");
    CHECK(!taken.note.mark.cut);

    add_mark(&r, 5, "for ever", 8, GOES_ON);
    nsc_user_events_free(&r);
}

static void test_counters(void)
{
    struct taken taken = {.count = 0};
    struct nsc_user_events r = {.take = take, .context = &taken};
    double real = -0.25;
    uint64_t bits;

    memcpy(&bits, &real, sizeof bits);
    add_counter(&r, 1, (uint64_t)-9, "queue");
    CHECK_STR(taken.name, "queue");
    CHECK(taken.note.counter.integer == -9 && !taken.note.counter.is_real);
    add_counter(&r, 0x101, bits, "a counter with a name of several slots");
    CHECK_STR(taken.name, "a counter with a name of several slots");
    CHECK(taken.note.counter.is_real && taken.note.counter.real == -0.25);
    CHECK(taken.note.counter.integer == 0);
    CHECK_U64((unsigned)taken.count, 2);
    add_counter(&r, 0x201, 5, "another type");
    CHECK_U64((unsigned)taken.count, 2);
}

static void test_samples(void)
{
    struct taken taken = {.count = 0};
    struct nsc_user_events r = {.take = take, .context = &taken};
    const uint64_t words[] = {NSC_LIVE_ESC_SAMPLE | 4ull << 12, 99, 1, 10, 1, 20, 1, 30, 1, 40};
    const struct nsc_sample *sample = &taken.note.sample;

    nsc_user_events_add(&r, words, 5, NEAR);
    CHECK_U64(sample->known, 1u << NSC_SAMPLE_CPU_NS | 1u << NSC_SAMPLE_MAJOR_FAULTS |
                                 1u << NSC_SAMPLE_MINOR_FAULTS | 1u << NSC_SAMPLE_SWITCHES);
    CHECK_U64(sample->values[NSC_SAMPLE_CPU_NS], 10);
    CHECK_U64(sample->values[NSC_SAMPLE_SWITCHES], 40);
    nsc_user_events_add(&r, words, 2, NEAR);
    CHECK_U64(sample->known, 1u << NSC_SAMPLE_CPU_NS);
    nsc_user_events_add(&r, words, 1, NEAR);
    CHECK_U64((unsigned)taken.count, 2);
}

/* Fewer slots than the text needs, more text than a record holds, kinds that are none of ours. */
static void test_nonsense(void)
{
    struct taken taken = {.count = 0};
    struct nsc_user_events r = {.take = take, .context = &taken};
    uint64_t words[32];
    size_t slots = put_record(words, NSC_LIVE_ESC_MARK, 5, 0, "a text of more than one slot", 28);

    nsc_user_events_add(&r, words, slots - 1, NEAR);
    CHECK_STR(taken.name, "a text of more ");
    CHECK(taken.note.mark.cut);
    nsc_user_events_add(&r, words, 1, NEAR);
    CHECK_STR(taken.name, "");
    CHECK(taken.note.mark.cut);
    words[0] |= 0x7ffull << 48;
    nsc_user_events_add(&r, words, slots, NEAR);
    CHECK(taken.note.mark.cut);
    CHECK_U64((unsigned)taken.count, 3);
    words[0] = NSC_LIVE_ESC_COUNTER;
    nsc_user_events_add(&r, words, 1, NEAR);
    words[0] = NSC_LIVE_ESC_STATE;
    nsc_user_events_add(&r, words, 1, NEAR);
    CHECK_U64((unsigned)taken.count, 3);
}

int main(void)
{
    test_marks();
    test_long_marks();
    test_counters();
    test_samples();
    test_nonsense();
    return t_done();
}
