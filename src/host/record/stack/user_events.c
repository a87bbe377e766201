/* user_events.c - see user_events.h. */
#include "record/stack/user_events.h"

#include <stdlib.h>
#include <string.h>

#include "abi/live.h"

/* The head of a record: word 0. */
#define TEXT_BYTES(word) ((size_t)((word) >> 48 & 0x7ff))
#define WAS_CUT          (1ull << 59)
#define GOES_ON          (1ull << 63)

#define COUNTER_INTEGER 1ull /* word 0 of a counter's value */
#define COUNTER_REAL    0x101ull

enum { SLOT_TEXT = 15, SAMPLE_SLOTS = 4 };

#define TICKS_MAX (1ull << 62)

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Append the text of @slots slots, of which @bytes bytes are valid. */
static void append(struct nsc_user_events *r, const uint64_t *words, size_t slots, size_t bytes)
{
    if (bytes > slots * SLOT_TEXT) {
        bytes = slots * SLOT_TEXT;
        r->cut = true;
    }
    for (size_t at = 0; at < bytes; at += SLOT_TEXT, words += 2) {
        uint64_t slot[2] = {load(&words[0]) >> 8, load(&words[1])};
        char text[SLOT_TEXT];
        size_t n = bytes - at < SLOT_TEXT ? bytes - at : SLOT_TEXT;

        memcpy(text, &slot[0], 7);
        memcpy(text + 7, &slot[1], 8);
        if (n > NSC_NOTE_RECORD_TEXT - r->bytes) {
            n = NSC_NOTE_RECORD_TEXT - r->bytes;
            r->cut = true;
        }
        memcpy(r->text + r->bytes, text, n);
        r->bytes += n;
    }
}

/* Pass the open note to the callback. Text: name, NUL, metadata. */
static void finish(struct nsc_user_events *r)
{
    size_t name;

    r->text[r->bytes] = '\0';
    name = strlen(r->text);
    if (r->open.kind == NSC_NOTE_MARK) {
        r->open.mark.name = r->text;
        r->open.mark.metadata = name < r->bytes ? r->text + name + 1 : "";
        r->open.mark.cut = r->cut;
    } else {
        r->open.counter.name = r->text;
    }
    r->take(r->context, &r->open);
    free(r->text);
    r->text = NULL;
}

void nsc_user_events_break(struct nsc_user_events *r)
{
    if (r->text == NULL)
        return;
    r->cut = true;
    finish(r);
}

void nsc_user_events_free(struct nsc_user_events *r)
{
    free(r->text);
    r->text = NULL;
}

/* Begin a note with text; false without memory. */
static bool begin(struct nsc_user_events *r, enum nsc_note_kind kind, uint64_t ticks)
{
    r->text = malloc(NSC_NOTE_RECORD_TEXT + 1);
    r->bytes = 0;
    r->cut = false;
    r->open = (struct nsc_note){.ticks = ticks, .kind = kind};
    return r->text != NULL;
}

static void add_mark(struct nsc_user_events *r, const uint64_t *words, size_t slots, uint64_t ticks)
{
    uint64_t head = load(&words[0]);

    if (r->text != NULL && r->open.kind != NSC_NOTE_MARK)
        nsc_user_events_break(r);
    if (r->text == NULL && !begin(r, NSC_NOTE_MARK, ticks))
        return;
    append(r, words + 2, slots - 1, TEXT_BYTES(head));
    r->cut = r->cut || (head & WAS_CUT) != 0;
    if ((head & GOES_ON) == 0)
        finish(r);
}

/* The first record has the value; records that continue it contribute only their text. */
static bool begin_counter(struct nsc_user_events *r, const uint64_t *words, uint64_t ticks)
{
    uint64_t type = load(&words[2]), value = load(&words[3]);

    if ((type != COUNTER_INTEGER && type != COUNTER_REAL) || !begin(r, NSC_NOTE_COUNTER, ticks))
        return false;
    r->open.counter.is_real = type == COUNTER_REAL;
    if (type == COUNTER_REAL)
        memcpy(&r->open.counter.real, &value, sizeof value);
    else
        r->open.counter.integer = (int64_t)value;
    return true;
}

static void add_counter(struct nsc_user_events *r, const uint64_t *words, size_t slots,
                        uint64_t ticks)
{
    uint64_t head = load(&words[0]);

    if (r->text != NULL && r->open.kind != NSC_NOTE_COUNTER)
        nsc_user_events_break(r);
    if (slots < 2 || (r->text == NULL && !begin_counter(r, words, ticks)))
        return;
    append(r, words + 4, slots - 2, TEXT_BYTES(head));
    if ((head & GOES_ON) == 0)
        finish(r);
}

static void add_sample(struct nsc_user_events *r, const uint64_t *words, size_t slots,
                       uint64_t ticks)
{
    static const enum nsc_sample_field fields[SAMPLE_SLOTS] = {
        NSC_SAMPLE_CPU_NS, NSC_SAMPLE_MAJOR_FAULTS, NSC_SAMPLE_MINOR_FAULTS, NSC_SAMPLE_SWITCHES};
    struct nsc_note note = {.ticks = ticks, .kind = NSC_NOTE_SAMPLE};

    for (size_t i = 0; i < SAMPLE_SLOTS && i + 1 < slots; i++) {
        if (load(&words[2 * (i + 1)]) == 0) /* the code that stored them was left by a jump */
            break;
        note.sample.known |= 1u << fields[i];
        note.sample.values[fields[i]] = load(&words[2 * (i + 1) + 1]);
    }
    /* A signal handler that interrupted the handler of this sample took a later sample, which came
     * first. */
    if (note.sample.known == 0 || note.sample.values[NSC_SAMPLE_CPU_NS] < r->cpu_ns)
        return;
    r->cpu_ns = note.sample.values[NSC_SAMPLE_CPU_NS];
    r->take(r->context, &note);
}

void nsc_user_events_add(struct nsc_user_events *r, const uint64_t *words, size_t slots,
                         uint64_t near_ticks)
{
    uint64_t ticks = load(&words[1]);

    if (ticks >= TICKS_MAX)
        ticks = near_ticks;
    switch (load(&words[0]) & 0xfff) {
    case NSC_LIVE_ESC_MARK:
        add_mark(r, words, slots, ticks);
        break;
    case NSC_LIVE_ESC_COUNTER:
        add_counter(r, words, slots, ticks);
        break;
    case NSC_LIVE_ESC_SAMPLE:
        add_sample(r, words, slots, ticks);
        break;
    default:
        break;
    }
}
