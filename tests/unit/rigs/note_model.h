/*
 * note_model.h - random notes (samples, states, marks, counters) with what must be read back;
 * shared by the tests of trace/ and formats/.
 */
#ifndef NSC_TESTS_UNIT_RIGS_NOTE_MODEL_H
#define NSC_TESTS_UNIT_RIGS_NOTE_MODEL_H

#include "unit/rigs/trace_model.h"

#define NOTE_TEXT 24

struct model_note {
    struct nsc_note note;
    char name[NOTE_TEXT], metadata[NOTE_TEXT]; /* what the note's texts point at */
};

struct model_notes {
    struct model_note *items;
    size_t count, room;
    uint64_t ticks; /* of the newest one */
};

static inline uint64_t note_number(struct model_random *r)
{
    return ((uint64_t)model_random(r) << 33 ^ (uint64_t)model_random(r) << 11 ^ model_random(r)) >>
           model_random(r) % 64;
}

static inline void note_text(struct model_random *r, char out[NOTE_TEXT])
{
    uint32_t bytes = model_random(r) % 4 == 0 ? 0 : 1 + model_random(r) % 3;

    for (uint32_t i = 0; i < bytes; i++)
        out[i] = (char)("ab \xc3\t"[model_random(r) % 5]);
    out[bytes] = '\0';
}

static inline void note_fill(struct model_note *m, struct model_random *r)
{
    struct nsc_note *n = &m->note;

    note_text(r, m->name);
    note_text(r, m->metadata);
    switch ((enum nsc_note_kind)n->kind) {
    case NSC_NOTE_SAMPLE:
        n->sample.known = model_random(r) % 3 == 0 ? model_random(r) % (1u << NSC_SAMPLE_FIELDS)
                                                   : (1u << NSC_SAMPLE_FIELDS) - 1;
        for (int i = 0; i < NSC_SAMPLE_FIELDS; i++)
            n->sample.values[i] = (n->sample.known >> i & 1) != 0 ? note_number(r) : 0;
        break;
    case NSC_NOTE_STATE:
        n->state.old_state = model_random(r) % NSC_STATES;
        n->state.new_state = model_random(r) % NSC_STATES;
        break;
    case NSC_NOTE_MARK:
        n->mark.cut = model_random(r) % 8 == 0;
        break;
    case NSC_NOTE_COUNTER:
        n->counter.is_real = model_random(r) % 4 == 0;
        if (n->counter.is_real)
            n->counter.real = (double)note_number(r) / 7 - 1e6;
        else
            n->counter.integer = (int64_t)note_number(r) * (model_random(r) % 2 == 0 ? 1 : -1);
        break;
    case NSC_NOTE_KINDS:
        break;
    }
}

/* Texts point into the array, which may have moved. */
static inline const struct nsc_note *note_at(struct model_notes *notes, size_t i)
{
    struct model_note *m = &notes->items[i];

    if (m->note.kind == NSC_NOTE_MARK) {
        m->note.mark.name = m->name;
        m->note.mark.metadata = m->metadata;
    } else if (m->note.kind == NSC_NOTE_COUNTER) {
        m->note.counter.name = m->name;
    }
    return &m->note;
}

/* Add a random note of one of @threads threads, or a counter of process 0, to model and writer. */
static inline void note_step(struct model_notes *notes, struct nsc_writer *w,
                             struct model_random *r, uint32_t threads)
{
    struct model_note *m;

    if (notes->count == notes->room) {
        notes->room = notes->room == 0 ? 1024 : notes->room * 2;
        notes->items = realloc(notes->items, notes->room * sizeof *m);
        if (notes->items == NULL)
            abort();
    }
    m = &notes->items[notes->count++];
    memset(m, 0, sizeof *m);
    notes->ticks += model_random(r) % 8 == 0 ? model_random(r) : model_random(r) % 50;
    m->note.ticks = notes->ticks;
    m->note.kind = model_random(r) % NSC_NOTE_KINDS;
    m->note.of_process = m->note.kind == NSC_NOTE_COUNTER && model_random(r) % 3 == 0;
    m->note.owner = m->note.of_process ? 0 : model_random(r) % threads;
    note_fill(m, r);
    if (nsc_writer_note(w, note_at(notes, notes->count - 1)) != 0)
        abort();
}

static inline bool note_same(const struct nsc_note *a, const struct nsc_note *b)
{
    if (a->ticks != b->ticks || a->kind != b->kind || a->owner != b->owner ||
        a->of_process != b->of_process)
        return false;
    switch ((enum nsc_note_kind)a->kind) {
    case NSC_NOTE_SAMPLE:
        return a->sample.known == b->sample.known &&
               memcmp(a->sample.values, b->sample.values, sizeof a->sample.values) == 0;
    case NSC_NOTE_STATE:
        return a->state.old_state == b->state.old_state && a->state.new_state == b->state.new_state;
    case NSC_NOTE_MARK:
        return strcmp(a->mark.name, b->mark.name) == 0 && a->mark.cut == b->mark.cut &&
               strcmp(a->mark.metadata, b->mark.metadata) == 0;
    case NSC_NOTE_COUNTER:
        return strcmp(a->counter.name, b->counter.name) == 0 &&
               a->counter.is_real == b->counter.is_real &&
               a->counter.integer == b->counter.integer &&
               memcmp(&a->counter.real, &b->counter.real, sizeof a->counter.real) == 0;
    case NSC_NOTE_KINDS:
        break;
    }
    return false;
}

/* Whether @note is of this kind and owner and not before @from. */
static inline bool note_matches(const struct nsc_note *note, uint32_t kind, uint32_t owner,
                                bool of_process, uint64_t from)
{
    return note->kind == kind && note->owner == owner && note->of_process == of_process &&
           note->ticks >= from;
}

/*
 * Read one stream and compare it with the model from its first note at @from on. @part: it may end
 * early, and notes may be missing. Returns how many were read, or -1 for one that is wrong.
 */
static inline long note_read(struct model_notes *notes, struct nsc_trace *t, uint32_t kind,
                             uint32_t owner, bool of_process, uint64_t from, bool part)
{
    struct nsc_note_cursor *n;
    struct nsc_note got;
    size_t at = 0;
    long count = 0;
    int more;

    if (nsc_note_cursor_open(t, (enum nsc_note_kind)kind, owner, of_process, from, &n, NULL) != 0)
        return -1;
    while ((more = nsc_note_cursor_next(n, &got, NULL)) == 1) {
        while (at < notes->count &&
               (!note_matches(&notes->items[at].note, kind, owner, of_process, from) ||
                (part && !note_same(note_at(notes, at), &got))))
            at++;
        if (at == notes->count || !note_same(note_at(notes, at), &got))
            break;
        at++;
        count++;
    }
    nsc_note_cursor_close(n);
    while (at < notes->count &&
           !note_matches(&notes->items[at].note, kind, owner, of_process, from))
        at++;
    if (more == 1 || (!part && (more != 0 || at != notes->count)))
        return -1;
    return count;
}

/* All streams. Returns how many notes were read, or -1 for one that is wrong or missing. */
static inline long note_read_all(struct model_notes *notes, struct nsc_trace *t, uint32_t threads,
                                 uint64_t from, bool part)
{
    long sum = 0;

    for (uint32_t kind = 0; kind < NSC_NOTE_KINDS; kind++) {
        for (uint32_t owner = 0; owner <= threads; owner++) {
            long count = note_read(notes, t, kind, owner == threads ? 0 : owner, owner == threads,
                                   from, part);

            if (count < 0)
                return -1;
            sum += count;
        }
    }
    return sum;
}

#endif
