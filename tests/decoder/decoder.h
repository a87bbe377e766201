/*
 * decoder.h - a second, small reader of .nst files, written from docs/format.md alone: it shares no
 * code with src/host/trace, so that the two check each other and the page. Include once a program.
 *
 * decoder_print() lists a whole file as text. It holds the file in memory and stops at the first
 * thing that is not as the page says. Not made for hostile or large files.
 */
#ifndef NSC_TESTS_DECODER_H
#define NSC_TESTS_DECODER_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct decoder_bytes {
    const uint8_t *at, *end;
};

struct decoder_frame {
    uint64_t function, start, child; /* child: ticks of direct callees that have ended */
};

struct decoder_call {
    uint64_t thread, chunk; /* in which it ended */
    uint64_t function, depth, start, end, self;
    bool outermost, unwound;
};

struct decoder {
    const uint8_t *file;
    size_t file_bytes;
    FILE *out;
    const char *wrong; /* first deviation from the page */
    char (*names)[64]; /* of functions */
    uint64_t *canonical;
    size_t function_count;
    uint64_t *opened; /* per thread: calls that its last chunk left open */
    uint64_t *sequence;
    struct decoder_frame *stack; /* of the chunk being listed */
    size_t stack_room;
    uint64_t least;             /* of the chunk being listed */
    bool after_plain;           /* the record before was ENTER or EXIT */
    struct decoder_call *calls; /* that ended, in the order of the file */
    size_t call_count, call_room;
    char note_names[1024][64]; /* of the block being listed */
    uint64_t note_integers[1024];
    size_t note_name_count;
};

static inline void decoder_fail(struct decoder *d, const char *what)
{
    if (d->wrong == NULL)
        d->wrong = what;
}

static inline uint64_t decoder_fixed(const uint8_t *at, int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0)
        v = v << 8 | at[bytes];
    return v;
}

/* Bit by bit: slow, and nothing like the product's. */
static inline uint32_t decoder_crc(const uint8_t *at, size_t bytes)
{
    uint32_t crc = 0xffffffff;

    while (bytes-- > 0) {
        crc ^= *at++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return crc ^ 0xffffffff;
}

static inline uint64_t decoder_leb(struct decoder *d, struct decoder_bytes *b)
{
    uint64_t v = 0;

    for (int shift = 0; b->at < b->end && shift < 64; shift += 7) {
        v |= (uint64_t)(*b->at & 127) << shift;
        if (*b->at++ < 128)
            return v;
    }
    decoder_fail(d, "a number is cut off");
    return 0;
}

static inline struct decoder_bytes decoder_part(struct decoder *d, struct decoder_bytes *b)
{
    uint64_t bytes = decoder_leb(d, b);
    struct decoder_bytes part = {b->at, b->at};

    if (bytes > (uint64_t)(b->end - b->at)) {
        decoder_fail(d, "a length goes beyond the end");
        return part;
    }
    part.end = b->at += bytes;
    return part;
}

static inline void decoder_text(struct decoder *d, struct decoder_bytes *b, char out[64])
{
    struct decoder_bytes text = decoder_part(d, b);

    snprintf(out, 64, "%.*s", (int)(text.end - text.at), (const char *)text.at);
}

/* The payload of the block at @offset, decompressed into *@owned if need be. */
static inline struct decoder_bytes decoder_block(struct decoder *d, uint64_t offset, uint64_t *kind,
                                                 uint64_t *next, uint8_t **owned)
{
    const uint8_t *at = d->file + offset;
    struct decoder_bytes payload = {at, at};
    uint64_t stored, plain;

    *owned = NULL;
    *kind = 0;
    if (offset + 32 > d->file_bytes || memcmp(at, "NSB\xb1", 4) != 0 ||
        decoder_fixed(at + 28, 4) != decoder_crc(at, 28)) {
        decoder_fail(d, "a block header is wrong");
        return payload;
    }
    stored = decoder_fixed(at + 8, 8);
    plain = decoder_fixed(at + 16, 8);
    *kind = decoder_fixed(at + 4, 2);
    *next = offset + 32 + stored;
    if (*next > d->file_bytes || decoder_fixed(at + 24, 4) != decoder_crc(at + 32, stored)) {
        decoder_fail(d, "a payload is wrong");
        return payload;
    }
    payload.at = at + 32;
    payload.end = payload.at + stored;
    if (decoder_fixed(at + 6, 2) & (*kind == 2 ? 0xfffc : 0xfffe))
        decoder_fail(d, "a block has a strange flag");
    if (decoder_fixed(at + 6, 2) & 1) {
        *owned = malloc(plain + 1);
        if (ZSTD_decompress(*owned, plain, payload.at, stored) != plain)
            decoder_fail(d, "a payload does not decompress");
        payload.at = *owned;
        payload.end = *owned + plain;
    } else if (stored != plain) {
        decoder_fail(d, "a block's sizes are wrong");
    }
    return payload;
}

static inline void decoder_functions(struct decoder *d, struct decoder_bytes b)
{
    uint64_t first = decoder_leb(d, &b), count = decoder_leb(d, &b);

    if (first != d->function_count)
        decoder_fail(d, "the function table has a hole");
    d->names = realloc(d->names, (first + count + 1) * sizeof *d->names);
    d->canonical = realloc(d->canonical, (first + count + 1) * sizeof *d->canonical);
    for (uint64_t i = first; i < first + count && d->wrong == NULL; i++) {
        struct decoder_bytes entry = decoder_part(d, &b);
        uint64_t module = decoder_leb(d, &entry), va = decoder_leb(d, &entry);
        uint64_t canonical = decoder_leb(d, &entry);

        decoder_text(d, &entry, d->names[i]);
        if (d->names[i][0] == '\0')
            snprintf(d->names[i], sizeof d->names[i], "0x%" PRIx64, va);
        d->canonical[i] = canonical == 0 ? i : canonical - 1;
        fprintf(d->out, "function %" PRIu64 " %s module %" PRIu64 "\n", i, d->names[i], module);
    }
    d->function_count = first + count;
}

static inline void decoder_threads(struct decoder *d, struct decoder_bytes b)
{
    uint64_t first = decoder_leb(d, &b), count = decoder_leb(d, &b);

    d->opened = realloc(d->opened, (first + count + 1) * sizeof *d->opened);
    d->sequence = realloc(d->sequence, (first + count + 1) * sizeof *d->sequence);
    for (uint64_t i = first; i < first + count && d->wrong == NULL; i++) {
        struct decoder_bytes entry = decoder_part(d, &b);
        uint64_t field[7];
        char name[64];

        for (int k = 0; k < 7; k++)
            field[k] = decoder_leb(d, &entry);
        decoder_text(d, &entry, name);
        fprintf(d->out,
                "thread %" PRIu64 " tid %" PRIu64 " %s: %" PRIu64 " events, %" PRIu64 " lost\n", i,
                field[1], name, field[5], field[6]);
        d->opened[i] = d->sequence[i] = 0;
    }
}

static inline const char *decoder_name(struct decoder *d, uint64_t function)
{
    if (function < d->function_count)
        return d->names[d->canonical[function]];
    decoder_fail(d, "no such function");
    return "?";
}

static inline void decoder_push(struct decoder *d, uint64_t depth, struct decoder_frame frame)
{
    if (depth >= d->stack_room) {
        d->stack_room = depth * 2 + 64;
        d->stack = realloc(d->stack, d->stack_room * sizeof *d->stack);
    }
    d->stack[depth] = frame;
}

/* The innermost of @depth calls ends. */
static inline void decoder_end(struct decoder *d, uint64_t thread, uint64_t depth, uint64_t ticks,
                               bool unwound)
{
    const struct decoder_frame *frame = &d->stack[depth - 1];
    struct decoder_call *c;

    if (d->call_count == d->call_room) {
        d->call_room = d->call_room * 2 + 1000;
        d->calls = realloc(d->calls, d->call_room * sizeof *d->calls);
    }
    c = &d->calls[d->call_count++];
    *c = (struct decoder_call){.thread = thread,
                               .chunk = d->sequence[thread] - 1,
                               .function = frame->function,
                               .depth = depth - 1,
                               .start = frame->start,
                               .end = ticks,
                               .self = ticks - frame->start - frame->child,
                               .outermost = true,
                               .unwound = unwound};
    for (uint64_t i = 0; i + 1 < depth; i++)
        c->outermost &= d->stack[i].function != frame->function;
    if (depth > 1)
        d->stack[depth - 2].child += ticks - frame->start;
}

/* One record. Returns the depth after it. */
static inline uint64_t decoder_event(struct decoder *d, struct decoder_bytes *b, uint64_t thread,
                                     uint64_t *ticks, uint64_t depth)
{
    uint64_t v = decoder_leb(d, b), other, value;
    bool plain = (v & 3) < 2;

    *ticks += (v >> 2) + (plain && d->after_plain ? d->least : 0);
    d->after_plain = plain;
    fprintf(d->out, "%" PRIu64 " %" PRIu64 " ", thread, *ticks);
    switch (v & 3) {
    case 0:
        value = decoder_leb(d, b);
        decoder_push(d, depth, (struct decoder_frame){value, *ticks, 0});
        fprintf(d->out, "%" PRIu64 " enter %s\n", depth, decoder_name(d, value));
        return depth + 1;
    case 1:
    case 2:
        if (depth == 0) {
            decoder_fail(d, "an end without a call");
            return 0;
        }
        fprintf(d->out, "%" PRIu64 " %s %s\n", depth - 1, (v & 3) == 1 ? "exit" : "unwind",
                decoder_name(d, d->stack[depth - 1].function));
        decoder_end(d, thread, depth, *ticks, (v & 3) == 2);
        return depth - 1;
    default:
        other = decoder_leb(d, b);
        if (other % 2 == 1) {
            decoder_part(d, b);
            fprintf(d->out, "other %" PRIu64 "\n", other);
            return depth;
        }
        value = decoder_leb(d, b);
        if (other == 0)
            fprintf(d->out, "%" PRIu64 " late %s\n", depth, decoder_name(d, value));
        else if (other == 2)
            fprintf(d->out, "%" PRIu64 " lost %" PRIu64 "\n", depth, value);
        else if (other == 8)
            fprintf(d->out, "%" PRIu64 " left out %" PRIu64 "\n", depth, value);
        else
            fprintf(d->out, "other %" PRIu64 "\n", other);
        return depth;
    }
}

/* The opening stack into d->stack, as far as this head tells it; the rest is there from before. */
static inline void decoder_stack(struct decoder *d, struct decoder_bytes *b, uint64_t depth,
                                 uint64_t common, uint64_t first)
{
    uint64_t later = first;

    for (uint64_t i = depth; i-- > common && d->wrong == NULL;) {
        struct decoder_frame frame;

        later -= decoder_leb(d, b);
        frame.start = later;
        frame.function = decoder_leb(d, b) >> 1;
        frame.child = decoder_leb(d, b);
        decoder_push(d, i, frame);
    }
}

/* ---- Sections (docs/format.md section 4) ---- */

/* What a head or node is about. */
struct decoder_range {
    uint64_t thread, chunk, chunks, first;
};

static inline bool decoder_is_in(const struct decoder_range *r, const struct decoder_call *c)
{
    return c->thread == r->thread && c->chunk >= r->chunk && c->chunk - r->chunk < r->chunks;
}

static inline uint64_t decoder_bucket(uint64_t ticks)
{
    uint64_t s = 0;

    if (ticks < 16)
        return ticks;
    while (ticks >> s >= 16)
        s++;
    return 8 * s + (ticks >> s);
}

struct decoder_sums {
    uint64_t calls, total, self, longest, shortest, unwinds, counts[496];
};

static inline void decoder_add_up(const struct decoder *d, const struct decoder_range *r,
                                  uint64_t function, struct decoder_sums *s)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < d->call_count; i++) {
        const struct decoder_call *c = &d->calls[i];
        uint64_t ticks = c->end - c->start;

        if (c->function != function || !decoder_is_in(r, c))
            continue;
        s->shortest = s->calls == 0 || ticks < s->shortest ? ticks : s->shortest;
        s->longest = ticks > s->longest ? ticks : s->longest;
        s->calls++;
        s->total += c->outermost ? ticks : 0;
        s->self += c->self;
        s->unwinds += c->unwound;
        s->counts[decoder_bucket(ticks)]++;
    }
}

/* All rows of totals; where they stand is told again by decoder_durations(). */
static inline void decoder_totals(struct decoder *d, struct decoder_bytes *b,
                                  const struct decoder_range *r)
{
    uint64_t calls = 0, all = 0;
    struct decoder_sums s;

    for (uint64_t n = decoder_leb(d, b); n > 0 && d->wrong == NULL; n--) {
        decoder_add_up(d, r, decoder_leb(d, b), &s);
        calls += s.calls;
        if (decoder_leb(d, b) != s.calls || s.calls == 0 || decoder_leb(d, b) != s.total ||
            decoder_leb(d, b) != s.self || decoder_leb(d, b) != s.longest)
            decoder_fail(d, "totals are wrong");
    }
    for (size_t i = 0; i < d->call_count; i++)
        all += decoder_is_in(r, &d->calls[i]);
    if (calls != all)
        decoder_fail(d, "totals leave calls out");
}

static inline void decoder_histogram(struct decoder *d, struct decoder_bytes *b,
                                     struct decoder_sums *s)
{
    uint64_t bucket = decoder_bucket(s->longest), left = s->calls - 2;

    s->counts[bucket]--;
    s->counts[decoder_bucket(s->shortest)]--;
    for (bool first = true; left > 0 && d->wrong == NULL; first = false) {
        uint64_t v = decoder_leb(d, b), passed = v % 4;

        if (passed == 3)
            passed += decoder_leb(d, b);
        passed += !first;
        if (passed > bucket || v / 4 + 1 > left || s->counts[bucket - passed] != v / 4 + 1) {
            decoder_fail(d, "a histogram is wrong");
            return;
        }
        bucket -= passed;
        left -= v / 4 + 1;
    }
}

/* @totals: the totals of the same head or node. */
static inline void decoder_durations(struct decoder *d, struct decoder_bytes *b,
                                     struct decoder_bytes totals, const struct decoder_range *r)
{
    struct decoder_sums s;

    for (uint64_t n = decoder_leb(d, &totals); n > 0 && d->wrong == NULL; n--) {
        decoder_add_up(d, r, decoder_leb(d, &totals), &s);
        for (int i = 0; i < 4; i++)
            (void)decoder_leb(d, &totals);
        if (decoder_leb(d, b) != s.unwinds ||
            (s.calls > 1 && decoder_leb(d, b) != s.longest - s.shortest))
            decoder_fail(d, "durations are wrong");
        if (s.calls > 2)
            decoder_histogram(d, b, &s);
    }
}

static inline void decoder_summary(struct decoder *d, struct decoder_bytes *b,
                                   const struct decoder_range *r)
{
    uint64_t k = decoder_leb(d, b), rows = decoder_leb(d, b), spans = 0;
    uint64_t last[512]; /* span + 1 of the last call of each depth */

    memset(last, 0, sizeof last);
    for (size_t i = 0; i < d->call_count; i++) {
        const struct decoder_call *c = &d->calls[i];

        if (!decoder_is_in(r, c) || c->depth >= 512)
            continue;
        spans += last[c->depth] != (c->start >> k) + 1;
        last[c->depth] = (c->start >> k) + 1;
    }
    if (rows != spans)
        decoder_fail(d, "a summary has too many rows or too few");
    for (; rows > 0 && d->wrong == NULL; rows--) {
        uint64_t depth = decoder_leb(d, b), function = decoder_leb(d, b);
        uint64_t end = r->first + decoder_leb(d, b), start = end - decoder_leb(d, b);
        bool found = false;

        for (size_t i = 0; i < d->call_count; i++) {
            const struct decoder_call *c = &d->calls[i];

            if (!decoder_is_in(r, c) || c->depth != depth || c->start >> k != start >> k)
                continue;
            if (c->start == start && c->end == end && c->function == function)
                found = true;
            else if (c->end - c->start > end - start ||
                     (c->end - c->start == end - start && !found))
                decoder_fail(d, "a summary does not tell the longest call");
        }
        if (!found)
            decoder_fail(d, "a summary tells a call that is not there");
    }
}

static inline void decoder_sections(struct decoder *d, struct decoder_bytes *b, uint64_t sections,
                                    const struct decoder_range *r)
{
    struct decoder_bytes totals = *b;

    if (sections & 1)
        decoder_totals(d, b, r);
    if (sections & 2)
        decoder_summary(d, b, r);
    if (sections & 4)
        decoder_durations(d, b, totals, r);
    if (b->at != b->end)
        decoder_fail(d, "there is more than the sections");
}

/* The chunk whose head is at @offset. Chunks of one thread must come one after the other. */
static inline void decoder_chunk(struct decoder *d, uint64_t offset)
{
    uint64_t kind, next = 0, events_at, field[12], ticks, depth;
    uint8_t *owned, *owned_events = NULL;
    struct decoder_bytes b = decoder_block(d, offset, &kind, &next, &owned), events;

    if (kind != 1)
        decoder_fail(d, "the index does not point at a chunk head");
    for (int i = 0; i < 12; i++)
        field[i] = decoder_leb(d, &b);
    if (d->wrong == NULL)
        decoder_stack(d, &b, field[10], field[11], field[3]);
    if (d->wrong == NULL) {
        if (field[10] != d->opened[field[0]] || field[1] != d->sequence[field[0]]++)
            decoder_fail(d, "a chunk does not go on where the one before ended");
        events_at = next;
        events = decoder_block(d, next, &kind, &next, &owned_events);
        if (kind != 2)
            decoder_fail(d, "no events behind a chunk head");
        d->after_plain = false;
        d->least = d->file[events_at + 6] & 2 ? decoder_leb(d, &events) : 0;
        ticks = field[3];
        depth = field[10];
        while (d->wrong == NULL && events.at < events.end)
            depth = decoder_event(d, &events, field[0], &ticks, depth);
        if (ticks != field[3] + field[4])
            decoder_fail(d, "a chunk ends at another time than its head says");
        d->opened[field[0]] = depth;
        decoder_sections(d, &b, field[2], &(struct decoder_range){field[0], field[1], 1, field[3]});
    }
    free(owned);
    free(owned_events);
}

static inline void decoder_index(struct decoder *d, struct decoder_bytes b)
{
    uint64_t offset = 0;

    for (uint64_t count = decoder_leb(d, &b); count > 0 && d->wrong == NULL; count--) {
        offset += decoder_leb(d, &b);
        for (int i = 0; i < 10; i++)
            (void)decoder_leb(d, &b);
        decoder_chunk(d, offset);
    }
}

/* ---- Nodes (docs/format.md section 7) ---- */

/* The node at @offset; @row: what the index says of it, from its thread on. */
static inline void decoder_node(struct decoder *d, uint64_t offset, const uint64_t row[6])
{
    uint64_t kind, next, field[12];
    uint8_t *owned;
    struct decoder_bytes b = decoder_block(d, offset, &kind, &next, &owned);
    struct decoder_bytes head = decoder_part(d, &b);

    if (kind != 22)
        decoder_fail(d, "the index of nodes does not point at a node");
    for (int i = 0; i < 12; i++)
        field[i] = decoder_leb(d, &head);
    for (int i = 0; i < 5; i++)
        if (field[i] != row[i])
            decoder_fail(d, "a node and its index disagree");
    if (d->wrong == NULL)
        decoder_sections(d, &b, field[4],
                         &(struct decoder_range){field[0], field[2], field[3], field[5]});
    fprintf(d->out,
            "node of thread %" PRIu64 " level %" PRIu64 " chunks %" PRIu64 " %" PRIu64
            " events %" PRIu64 "\n",
            field[0], field[1], field[2], field[3], field[7]);
    free(owned);
}

static inline void decoder_node_index(struct decoder *d, struct decoder_bytes b)
{
    uint64_t offset = 0, row[6];

    for (uint64_t count = decoder_leb(d, &b); count > 0 && d->wrong == NULL; count--) {
        offset += decoder_leb(d, &b);
        for (int i = 0; i < 6; i++)
            row[i] = decoder_leb(d, &b);
        decoder_node(d, offset, row);
    }
}

/* ---- Notes (docs/format.md section 9) ---- */

static inline uint64_t decoder_difference(struct decoder *d, struct decoder_bytes *b,
                                          uint64_t before)
{
    uint64_t v = decoder_leb(d, b);

    return v % 2 == 0 ? before + v / 2 : before - v / 2 - 1;
}

/* The number of a name in the block; *@bit is what stands beside it. */
static inline size_t decoder_note_name(struct decoder *d, struct decoder_bytes *b, unsigned *bit)
{
    uint64_t v = decoder_leb(d, b);

    *bit = v % 2;
    if (v / 2 > d->note_name_count || d->note_name_count == 1023) {
        decoder_fail(d, "no such name");
        return 0;
    }
    if (v / 2 > 0)
        return v / 2;
    decoder_text(d, b, d->note_names[++d->note_name_count]);
    d->note_integers[d->note_name_count] = 0;
    return d->note_name_count;
}

static inline void decoder_sample(struct decoder *d, struct decoder_bytes *b, uint64_t values[64])
{
    uint64_t known = decoder_leb(d, b);

    fprintf(d->out, "sample");
    for (int i = 0; i < 64; i++) {
        if ((known >> i & 1) == 0)
            continue;
        values[i] = decoder_difference(d, b, values[i]);
        fprintf(d->out, " %d=%" PRIu64, i, values[i]);
    }
}

static inline void decoder_mark(struct decoder *d, struct decoder_bytes *b)
{
    unsigned cut;
    size_t name = decoder_note_name(d, b, &cut);
    char metadata[64];

    decoder_text(d, b, metadata);
    fprintf(d->out, "mark %s [%s]%s", d->note_names[name], metadata, cut ? " cut" : "");
}

static inline void decoder_counter(struct decoder *d, struct decoder_bytes *b)
{
    unsigned real;
    size_t name = decoder_note_name(d, b, &real);
    uint64_t bits;
    double value;

    if (!real) {
        d->note_integers[name] = decoder_difference(d, b, d->note_integers[name]);
        fprintf(d->out, "counter %s %" PRId64, d->note_names[name],
                (int64_t)d->note_integers[name]);
        return;
    }
    if (b->end - b->at < 8) {
        decoder_fail(d, "a double is cut off");
        return;
    }
    bits = decoder_fixed(b->at, 8);
    b->at += 8;
    memcpy(&value, &bits, sizeof value);
    fprintf(d->out, "counter %s %a", d->note_names[name], value);
}

/* The block of notes at @offset; @row: what the index says of it, from its kind on. */
static inline void decoder_notes(struct decoder *d, uint64_t offset, const uint64_t row[5])
{
    uint64_t kind, next, old, values[64] = {0}, ticks = row[2];
    uint8_t *owned;
    struct decoder_bytes b = decoder_block(d, offset, &kind, &next, &owned);
    struct decoder_bytes head = decoder_part(d, &b);

    if (kind != row[0])
        decoder_fail(d, "the index of notes names another kind");
    for (int i = 1; i < 5; i++)
        if (decoder_leb(d, &head) != row[i])
            decoder_fail(d, "notes and their index disagree");
    d->note_name_count = 0;
    for (uint64_t i = 0; i < row[4] && d->wrong == NULL; i++) {
        ticks += decoder_leb(d, &b);
        fprintf(d->out, "note %s %" PRIu64 " %" PRIu64 " ", row[1] % 2 ? "process" : "thread",
                row[1] / 2, ticks);
        if (kind == 16) {
            decoder_sample(d, &b, values);
        } else if (kind == 17) {
            old = decoder_leb(d, &b);
            fprintf(d->out, "state %" PRIu64 " %" PRIu64, old, decoder_leb(d, &b));
        } else if (kind == 18) {
            decoder_mark(d, &b);
        } else {
            decoder_counter(d, &b);
        }
        fputc('\n', d->out);
    }
    if (ticks != row[2] + row[3] || b.at != b.end)
        decoder_fail(d, "notes do not end where their head says");
    free(owned);
}

static inline void decoder_note_index(struct decoder *d, struct decoder_bytes b)
{
    uint64_t offset = 0, row[5];

    for (uint64_t count = decoder_leb(d, &b); count > 0 && d->wrong == NULL; count--) {
        offset += decoder_leb(d, &b);
        for (int i = 0; i < 5; i++)
            row[i] = decoder_leb(d, &b);
        decoder_notes(d, offset, row);
    }
}

static inline void decoder_left_out(struct decoder *d, struct decoder_bytes b)
{
    uint64_t first = decoder_leb(d, &b), count = decoder_leb(d, &b);

    for (uint64_t i = first; i < first + count && d->wrong == NULL; i++) {
        struct decoder_bytes entry = decoder_part(d, &b);
        uint64_t field[14];

        for (int k = 0; k < 14; k++)
            field[k] = decoder_leb(d, &entry);
        fprintf(d->out, "left out %s", field[0] == 0 ? "all" : decoder_name(d, field[0] - 1));
        for (int k = 1; k < 14; k++)
            fprintf(d->out, " %" PRIu64, field[k]);
        fputc('\n', d->out);
    }
}

/* Tables in a first pass, chunks in a second, nodes above them in a third. */
static inline void decoder_directory(struct decoder *d, struct decoder_bytes directory)
{
    for (int pass = 0; pass < 3; pass++) {
        struct decoder_bytes b = directory;

        for (uint64_t count = decoder_leb(d, &b); count > 0 && d->wrong == NULL; count--) {
            uint64_t listed = decoder_leb(d, &b), kind, next;
            uint8_t *owned;
            struct decoder_bytes block = decoder_block(d, decoder_leb(d, &b), &kind, &next, &owned);

            if (kind != listed)
                decoder_fail(d, "the directory names another kind");
            if (pass == 0 && kind == 7)
                decoder_functions(d, block);
            else if (pass == 0 && kind == 4)
                decoder_threads(d, block);
            else if (pass == 1 && kind == 10)
                decoder_index(d, block);
            else if (pass == 1 && kind == 20)
                decoder_left_out(d, block);
            else if (pass == 1 && kind == 23)
                decoder_note_index(d, block);
            else if (pass == 2 && kind == 24)
                decoder_node_index(d, block);
            free(owned);
        }
    }
}

/* List the file of @bytes bytes at @file. Returns NULL, or what is not as docs/format.md says. */
static inline const char *decoder_print(const uint8_t *file, size_t bytes, FILE *out)
{
    struct decoder d = {.file = file, .file_bytes = bytes, .out = out};
    const uint8_t *footer = file + bytes - 24;
    uint64_t kind, next;
    uint8_t *owned = NULL;

    if (bytes < 64 + 24 || memcmp(file, "\x89NST\r\n\x1a\n", 8) != 0 ||
        decoder_fixed(file + 60, 4) != decoder_crc(file, 60) || decoder_fixed(file + 16, 8) != 0)
        decoder_fail(&d, "the header is wrong");
    else if (memcmp(footer + 16, "NSTEND\r\n", 8) != 0 ||
             decoder_fixed(footer + 8, 4) != decoder_crc(footer, 8))
        decoder_fail(&d, "the footer is wrong");
    else {
        struct decoder_bytes directory =
            decoder_block(&d, decoder_fixed(footer, 8), &kind, &next, &owned);

        if (kind != 11 || next != bytes - 24)
            decoder_fail(&d, "the directory is not where the footer says");
        else
            decoder_directory(&d, directory);
    }
    free(owned);
    free(d.names);
    free(d.canonical);
    free(d.opened);
    free(d.sequence);
    free(d.stack);
    free(d.calls);
    return d.wrong;
}

#endif
