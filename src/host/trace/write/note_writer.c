/*
 * note_writer.c - encode samples, states, marks and counters into blocks. See nsc_writer_note() in
 * writer.h. Source: docs/format.md section 9, which is normative.
 *
 * Each kind of each owner is a stream with one open block in memory. A block is written when it is
 * full. All open blocks are written when together they take too much memory.
 */
#include <errno.h>

#include "trace/write/writer_state.h"
#include "util/array.h"

#define BLOCK_BYTES ((size_t)16 << 10) /* a block of this size is written */
#define NAMES_MAX   256                /* names that a block's notes can refer to */
#define MEMORY_PART 8                  /* of the writer's bound */

/* A name that the block already contains. */
struct note_name {
    uint32_t at, bytes; /* offset and length in the stream's records */
    uint64_t before;    /* counters: the last integer of this name */
};

struct nsc_note_stream {
    struct nsc_buffer records; /* of the open block */
    struct nsc_entry_notes block;
    uint64_t last_ticks; /* of all blocks */
    struct note_name *names;
    uint32_t name_count, name_room;
    uint64_t values[NSC_SAMPLE_FIELDS]; /* of the block's last sample that had the field */
};

/* Append a signed difference, zigzag-encoded: small differences become small numbers. */
static void put_difference(struct nsc_buffer *b, uint64_t now, uint64_t before)
{
    uint64_t d = now - before;

    nsc_buffer_leb(b, d << 1 ^ (d >> 63 != 0 ? UINT64_MAX : 0));
}

static size_t held(const struct nsc_note_stream *s)
{
    return s->records.room + s->name_room * sizeof *s->names;
}

static void put_index(struct nsc_writer *w)
{
    struct nsc_buffer *b = &w->head;
    uint64_t base = 0;

    if (w->note_row_count == 0)
        return;
    nsc_buffer_clear(b);
    nsc_buffer_leb(b, w->note_row_count);
    for (uint32_t i = 0; i < w->note_row_count; i++) {
        nsc_entry_put_notes(b, &w->note_rows[i], base);
        base = w->note_rows[i].offset;
    }
    w->note_row_count = 0;
    if (b->failed)
        nsc_writer_fail(w, -ENOMEM);
    else
        nsc_writer_list_block(
            w, NSC_FORMAT_NOTE_INDEX,
            nsc_trace_file_block(&w->sink, NSC_FORMAT_NOTE_INDEX, b->data, b->used));
}

static void add_row(struct nsc_writer *w, const struct nsc_entry_notes *row)
{
    struct nsc_entry_notes *rows =
        nsc_array_grow(w->note_rows, &w->note_row_room, w->note_row_count, sizeof *rows);

    if (rows == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return;
    }
    w->note_rows = rows;
    rows[w->note_row_count++] = *row;
    if (w->note_row_count == NSC_WRITER_ROWS_MAX)
        put_index(w);
}

/* Write the stream's open block; keep its memory. */
static void write_block(struct nsc_writer *w, struct nsc_note_stream *s)
{
    struct nsc_buffer *b = &w->head;
    enum nsc_format_kind kind = (enum nsc_format_kind)(NSC_FORMAT_SAMPLES + s->block.kind);

    if (s->block.count == 0)
        return;
    nsc_writer_put_new_entries(w);
    s->block.last_ticks = s->last_ticks;
    nsc_buffer_clear(b);
    nsc_entry_put_notes_head(b, &s->block);
    nsc_buffer_bytes(b, s->records.data, s->records.used);
    if (b->failed || s->records.failed)
        nsc_writer_fail(w, -ENOMEM);
    if (nsc_writer_error(w) == 0) {
        s->block.offset = nsc_trace_file_block(&w->sink, kind, b->data, b->used);
        add_row(w, &s->block);
    }
    s->block.count = 0;
    s->name_count = 0;
    nsc_buffer_clear(&s->records);
    memset(s->values, 0, sizeof s->values);
}

/* Call @visit for each stream. */
static void each_stream(struct nsc_writer *w,
                        void (*visit)(struct nsc_writer *w, struct nsc_note_stream *s))
{
    for (uint32_t kind = 0; kind < NSC_NOTE_KINDS; kind++)
        for (uint32_t of = 0; of < 2; of++)
            for (uint32_t i = 0; i < w->notes[kind][of].count; i++)
                if (w->notes[kind][of].streams[i] != NULL)
                    visit(w, w->notes[kind][of].streams[i]);
}

static void write_and_free(struct nsc_writer *w, struct nsc_note_stream *s)
{
    write_block(w, s);
    w->note_bytes -= held(s);
    nsc_buffer_free(&s->records);
    free(s->names);
    s->names = NULL;
    s->name_room = 0;
}

static void free_stream(struct nsc_writer *w, struct nsc_note_stream *s)
{
    (void)w;
    nsc_buffer_free(&s->records);
    free(s->names);
    free(s);
}

void nsc_writer_close_notes(struct nsc_writer *w, uint32_t owner, bool of_process)
{
    for (uint32_t kind = 0; kind < NSC_NOTE_KINDS; kind++) {
        struct nsc_writer_notes *notes = &w->notes[kind][of_process];

        if (owner >= notes->count || notes->streams[owner] == NULL)
            continue;
        write_and_free(w, notes->streams[owner]);
        free(notes->streams[owner]);
        notes->streams[owner] = NULL;
    }
}

void nsc_writer_flush_notes(struct nsc_writer *w)
{
    each_stream(w, write_block);
}

void nsc_writer_finish_notes(struct nsc_writer *w)
{
    each_stream(w, write_block);
    put_index(w);
}

void nsc_writer_free_notes(struct nsc_writer *w)
{
    each_stream(w, free_stream);
    for (uint32_t kind = 0; kind < NSC_NOTE_KINDS; kind++)
        for (uint32_t of = 0; of < 2; of++)
            free(w->notes[kind][of].streams);
    free(w->note_rows);
}

/* The stream of a note's kind and owner, created on first use. NULL if out of memory. */
static struct nsc_note_stream *stream_of(struct nsc_writer *w, const struct nsc_note *note)
{
    struct nsc_writer_notes *notes = &w->notes[note->kind][note->of_process];
    struct nsc_note_stream *s;

    while (notes->count <= note->owner) {
        struct nsc_note_stream **grown =
            nsc_array_grow(notes->streams, &notes->room, notes->count, sizeof *grown);

        if (grown == NULL)
            return NULL;
        notes->streams = grown;
        grown[notes->count++] = NULL;
    }
    if (notes->streams[note->owner] != NULL)
        return notes->streams[note->owner];
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->block.kind = note->kind;
    s->block.owner = (uint64_t)note->owner << 1 | (note->of_process ? NSC_FORMAT_OWNER_PROCESS : 0);
    return notes->streams[note->owner] = s;
}

/* ---- Records --------------------------------------------------------------------------------- */

static void put_sample(struct nsc_note_stream *s, const struct nsc_sample *sample)
{
    nsc_buffer_leb(&s->records, sample->known);
    for (int i = 0; i < NSC_SAMPLE_FIELDS; i++) {
        if ((sample->known & 1u << i) == 0)
            continue;
        put_difference(&s->records, sample->values[i], s->values[i]);
        s->values[i] = sample->values[i];
    }
}

/* Length of @text, truncated to NSC_NOTE_TEXT_MAX. */
static size_t text_bytes(const char *text)
{
    return text == NULL ? 0 : strnlen(text, NSC_NOTE_TEXT_MAX);
}

static void put_text(struct nsc_buffer *b, const char *text, size_t bytes)
{
    nsc_buffer_leb(b, bytes);
    nsc_buffer_bytes(b, text, bytes);
}

/* Append a name's number in the block with @flag, and the text of a new name. NULL if out of
 * memory. */
static struct note_name *put_name(struct nsc_note_stream *s, const char *text, uint64_t flag)
{
    size_t bytes = text_bytes(text);
    struct note_name *name;

    for (uint32_t i = 0; i < s->name_count; i++) {
        name = &s->names[i];
        if (name->bytes == bytes &&
            (bytes == 0 || memcmp(s->records.data + name->at, text, bytes) == 0)) {
            nsc_buffer_leb(&s->records, (uint64_t)(i + 1) << 1 | flag);
            return name;
        }
    }
    name = nsc_array_grow(s->names, &s->name_room, s->name_count, sizeof *name);
    if (name == NULL)
        return NULL;
    s->names = name;
    name += s->name_count++;
    nsc_buffer_leb(&s->records, flag);
    put_text(&s->records, text, bytes);
    *name = (struct note_name){(uint32_t)(s->records.used - bytes), (uint32_t)bytes, 0};
    return name;
}

static bool put_mark(struct nsc_note_stream *s, const struct nsc_mark *mark)
{
    size_t bytes = text_bytes(mark->metadata);
    bool cut = mark->cut || (mark->name != NULL && mark->name[text_bytes(mark->name)] != '\0') ||
               (mark->metadata != NULL && mark->metadata[bytes] != '\0');

    if (put_name(s, mark->name, cut ? NSC_FORMAT_MARK_CUT : 0) == NULL)
        return false;
    put_text(&s->records, mark->metadata, bytes);
    return true;
}

static bool put_counter(struct nsc_note_stream *s, const struct nsc_counter *c)
{
    struct note_name *name = put_name(s, c->name, c->is_real ? NSC_FORMAT_COUNTER_REAL : 0);
    uint8_t fixed[8];
    uint64_t bits;

    if (name == NULL)
        return false;
    if (c->is_real) {
        memcpy(&bits, &c->real, sizeof bits);
        nsc_span_put64(fixed, bits);
        nsc_buffer_bytes(&s->records, fixed, sizeof fixed);
    } else {
        put_difference(&s->records, (uint64_t)c->integer, name->before);
        name->before = (uint64_t)c->integer;
    }
    return true;
}

static bool put_note(struct nsc_note_stream *s, const struct nsc_note *note, uint64_t ticks)
{
    if (s->block.count++ == 0)
        s->block.first_ticks = s->last_ticks = ticks;
    nsc_buffer_leb(&s->records, ticks - s->last_ticks);
    s->last_ticks = ticks;
    switch ((enum nsc_note_kind)note->kind) {
    case NSC_NOTE_SAMPLE:
        put_sample(s, &note->sample);
        return true;
    case NSC_NOTE_STATE:
        nsc_buffer_leb(&s->records, note->state.old_state);
        nsc_buffer_leb(&s->records, note->state.new_state);
        return true;
    case NSC_NOTE_MARK:
        return put_mark(s, &note->mark);
    case NSC_NOTE_COUNTER:
        return put_counter(s, &note->counter);
    case NSC_NOTE_KINDS:
        break;
    }
    return true;
}

int nsc_writer_note(struct nsc_writer *w, const struct nsc_note *note)
{
    uint32_t owners = w->tables[note->of_process ? NSC_WRITER_PROCESSES : NSC_WRITER_THREADS].count;
    struct nsc_note_stream *s;
    size_t before;
    bool kept;

    if (note->kind >= NSC_NOTE_KINDS || note->owner >= owners ||
        (note->of_process && note->kind != NSC_NOTE_COUNTER) ||
        (note->kind == NSC_NOTE_SAMPLE && note->sample.known >> NSC_SAMPLE_FIELDS != 0))
        return -EINVAL;
    if (nsc_writer_error(w) != 0)
        return nsc_writer_error(w);
    s = stream_of(w, note);
    if (s == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return -ENOMEM;
    }
    before = held(s);
    kept = put_note(s, note, note->ticks < s->last_ticks ? s->last_ticks : note->ticks);
    w->note_bytes += held(s) - before;
    if (!kept || s->records.failed)
        nsc_writer_fail(w, -ENOMEM);
    if (s->records.used >= BLOCK_BYTES || s->name_count == NAMES_MAX)
        write_block(w, s);
    if (w->note_bytes > w->options.memory_bytes / MEMORY_PART)
        each_stream(w, write_and_free);
    return nsc_writer_error(w);
}
