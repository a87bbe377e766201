/*
 * user_event.c - marks and counters of the program (nanoscope.h), written into the chunk of the
 * calling thread. live.h describes the records; the rules of current_session.h apply.
 */
#include <nanoscope/nanoscope.h>

#include "arch/arch.h"
#include "linux/events/thread.h"
#include "linux/session/current_session.h"

enum {
    SLOT_TEXT = 15,     /* bytes of text in a slot */
    FOLLOWING_MAX = 15, /* slots that follow the head of a record */
    SLOTS_MAX = 112,    /* of all records of a mark */
    TEXT_MAX = 1440,    /* bytes of a mark's text: fit into that many slots with their heads */
    COUNTER_TEXT_MAX = SLOT_TEXT * (FOLLOWING_MAX - 1),
};

#define WAS_CUT   (1ull << 59) /* the text was truncated */
#define GOES_ON   (1ull << 63) /* the next record continues the text */
#define TEXT_AT   48           /* bit position of the text's length in a record's head */
#define TEXT_SLOT 1ull         /* word 0 of a slot of text or of an integer */
#define REAL_SLOT 0x101ull     /* word 0 of a slot with a double */

/* Text of a mark or counter: a name and, for a mark, NUL and metadata. */
struct text {
    const char *name, *metadata; /* metadata NULL: none */
    unsigned name_bytes, bytes, at;
};

static unsigned length_of(const char *text, unsigned max)
{
    unsigned n = 0;

    while (n < max && text[n] != 0)
        n++;
    return n;
}

static unsigned char next_byte(struct text *t)
{
    unsigned at = t->at++;

    if (at < t->name_bytes)
        return (unsigned char)t->name[at];
    return at == t->name_bytes ? 0 : (unsigned char)t->metadata[at - t->name_bytes - 1];
}

/* Fill up to @max slots with the remaining text; returns the number of slots used. */
static unsigned put_text(struct nsc_slot *slots, unsigned max, struct text *t)
{
    unsigned n, i;

    for (n = 0; n < max && t->at < t->bytes; n++) {
        slots[n].word0 = TEXT_SLOT;
        slots[n].word1 = 0;
        for (i = 0; i < SLOT_TEXT && t->at < t->bytes; i++) {
            uint64_t byte = next_byte(t);

            if (i < 7)
                slots[n].word0 |= byte << (8 + 8 * i);
            else
                slots[n].word1 |= byte << (8 * (i - 7));
        }
    }
    return n;
}

NSC_RUNTIME_EXPORT void nanoscope_put_mark(const char *name, const char *metadata)
{
    struct nsc_slot slots[SLOTS_MAX];
    struct text text = {.name = name, .metadata = metadata};
    uint64_t ticks = nsc_arch_ticks(), more, cut;
    unsigned count = 0, whole;

    if (name == NULL || nsc_session_present() == NULL)
        return;
    whole = text.name_bytes = length_of(name, TEXT_MAX + 1);
    if (metadata != NULL && whole <= TEXT_MAX)
        whole += 1 + length_of(metadata, TEXT_MAX - whole);
    cut = whole > TEXT_MAX ? WAS_CUT : 0;
    text.bytes = cut ? TEXT_MAX : whole;
    do {
        unsigned head = count++, before = text.at;

        count += put_text(&slots[count], FOLLOWING_MAX, &text);
        more = text.at < text.bytes ? GOES_ON : cut;
        slots[head].word0 = NSC_RECORD(NSC_LIVE_ESC_MARK, count - head - 1) |
                            (uint64_t)(text.at - before) << TEXT_AT | more;
        slots[head].word1 = ticks;
    } while (text.at < text.bytes);
    nsc_runtime_record(slots, count, 0);
}

NSC_RUNTIME_EXPORT void nanoscope_put_counter(const char *name, unsigned long long value, int real)
{
    struct nsc_slot slots[1 + FOLLOWING_MAX];
    struct text text = {.name = name};
    unsigned count;

    if (name == NULL || nsc_session_present() == NULL)
        return;
    text.bytes = text.name_bytes = length_of(name, COUNTER_TEXT_MAX);
    slots[0].word1 = nsc_arch_ticks();
    slots[1].word0 = real ? REAL_SLOT : TEXT_SLOT;
    slots[1].word1 = value;
    count = 2 + put_text(&slots[2], FOLLOWING_MAX - 1, &text);
    slots[0].word0 = NSC_RECORD(NSC_LIVE_ESC_COUNTER, count - 1) | (uint64_t)text.bytes << TEXT_AT;
    nsc_runtime_record(slots, count, 0);
}
