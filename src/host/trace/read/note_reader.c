/*
 * note_reader.c - read samples, states, marks and counters of a trace. See nsc_note_cursor_open()
 * in reader.h. Source: docs/format.md section 9.
 */
#include <errno.h>

#include "trace/read/reader_state.h"
#include "util/array.h"
#include "util/search.h"

/* A name that the block contained before. */
struct note_name {
    const char *text;
    uint64_t before; /* counters: the last integer of this name */
};

struct nsc_note_cursor {
    struct nsc_trace *trace;
    const struct nsc_entry_notes *next, *end; /* blocks not read yet */
    const struct nsc_entry_notes *block;      /* block being read, or NULL */
    uint64_t from_ticks, ticks;
    uint64_t left; /* notes of the block not read yet */
    struct nsc_span records;
    struct nsc_buffer plain, packed;
    struct nsc_arena arena; /* texts of the block */
    struct note_name *names;
    uint32_t name_count, name_room;
    uint64_t values[NSC_SAMPLE_FIELDS];
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int add_block(struct nsc_trace *t, const struct nsc_entry_notes *block)
{
    struct nsc_entry_notes *blocks;

    if (block->kind >= NSC_NOTE_KINDS)
        return 0; /* kind of a later version */
    blocks = nsc_array_grow(t->note_blocks, &t->note_room, t->note_count, sizeof *blocks);
    if (blocks == NULL)
        return -ENOMEM;
    t->note_blocks = blocks;
    blocks[t->note_count++] = *block;
    return 0;
}

int nsc_trace_load_note_index(struct nsc_trace *t, const struct nsc_block *block,
                              struct nsc_diag *diag)
{
    struct nsc_span s = nsc_span_of(t->plain.data, t->plain.used);
    uint64_t count = nsc_span_leb(&s), base = 0;
    int error = nsc_trace_count_bytes(t, block, diag);

    if (error != 0)
        return error;

    for (uint64_t i = 0; i < count && error == 0; i++) {
        struct nsc_entry_notes row;

        if (nsc_entry_get_notes(&s, base, &row) != 0 || row.offset >= t->info.file_bytes ||
            (i > 0 && row.offset == base))
            return nsc_diag_set(diag, block->offset, EBADMSG,
                                "index of notes: row %llu is malformed", (unsigned long long)i);
        base = row.offset;
        error = add_block(t, &row);
    }
    if (error != 0)
        return nsc_diag_set(diag, block->offset, error, "out of memory");
    return s.bad ? nsc_diag_set(diag, block->offset, EBADMSG, "index of notes is malformed") : 0;
}

int nsc_trace_scan_notes(struct nsc_trace *t, const struct nsc_block *block)
{
    struct nsc_span s = nsc_span_of(t->plain.data, t->plain.used);
    struct nsc_entry_notes row = {.offset = block->offset,
                                  .kind = block->kind - (uint32_t)NSC_FORMAT_SAMPLES};
    int error = nsc_entry_get_notes_head(&s, &row);

    return error != 0 ? error : add_block(t, &row);
}

/* By kind, owner and place in the file. */
static int by_owner(const void *a, const void *b)
{
    const struct nsc_entry_notes *left = a, *right = b;

    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

static bool has_owner(const struct nsc_trace *t, const struct nsc_entry_notes *block)
{
    if ((block->owner & NSC_FORMAT_OWNER_PROCESS) != 0)
        return block->kind == NSC_NOTE_COUNTER && block->owner >> 1 < t->processes.count;
    return block->owner >> 1 < t->threads.count;
}

int nsc_trace_link_notes(struct nsc_trace *t, struct nsc_diag *diag)
{
    bool recovering = t->info.recovered;
    struct nsc_entry_notes *blocks = t->note_blocks;
    uint32_t kept = 0;

    if (t->note_count > 0)
        qsort(blocks, t->note_count, sizeof *blocks, by_owner);
    memset(t->info.notes, 0, sizeof t->info.notes);
    for (uint32_t i = 0; i < t->note_count; i++) {
        const struct nsc_entry_notes *before = kept > 0 ? &blocks[kept - 1] : NULL;
        bool ordered = before == NULL || before->kind != blocks[i].kind ||
                       before->owner != blocks[i].owner ||
                       blocks[i].first_ticks >= before->last_ticks;

        if (ordered && has_owner(t, &blocks[i])) {
            t->info.notes[blocks[i].kind] += blocks[i].count;
            blocks[kept++] = blocks[i];
        } else if (!recovering) {
            return nsc_diag_set(diag, blocks[i].offset, EBADMSG, "notes %s",
                                ordered ? "of an owner that is in no table" : "are out of order");
        }
    }
    t->note_count = kept;
    return 0;
}

/* Find the range [first, end) of an owner's blocks in t->note_blocks. */
static void find_owner(const struct nsc_trace *t, enum nsc_note_kind kind, uint32_t owner,
                       bool of_process, uint32_t *first, uint32_t *end)
{
    struct nsc_entry_notes key = {
        .kind = kind, .owner = (uint64_t)owner << 1 | (of_process ? NSC_FORMAT_OWNER_PROCESS : 0)};

    for (int side = 0; side < 2; side++) {
        key.offset = side == 0 ? 0 : UINT64_MAX;
        *(side == 0 ? first : end) =
            NSC_PARTITION_POINT(i, t->note_count, by_owner(&t->note_blocks[i], &key) < 0);
    }
}

uint64_t nsc_trace_note_count(const struct nsc_trace *t, enum nsc_note_kind kind, uint32_t owner,
                              bool of_process)
{
    uint32_t first, end;
    uint64_t count = 0;

    find_owner(t, kind, owner, of_process, &first, &end);
    for (; first < end; first++)
        count += t->note_blocks[first].count;
    return count;
}

int nsc_note_cursor_open(struct nsc_trace *t, enum nsc_note_kind kind, uint32_t owner,
                         bool of_process, uint64_t from_ticks, struct nsc_note_cursor **out,
                         struct nsc_diag *diag)
{
    struct nsc_note_cursor *n = calloc(1, sizeof *n);
    uint32_t first, end;

    if (n == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    find_owner(t, kind, owner, of_process, &first, &end);
    while (first < end && t->note_blocks[first].last_ticks < from_ticks)
        first++;
    n->trace = t;
    n->from_ticks = from_ticks;
    if (first < end) {
        n->next = &t->note_blocks[first];
        n->end = &t->note_blocks[end];
    }
    *out = n;
    return 0;
}

void nsc_note_cursor_close(struct nsc_note_cursor *n)
{
    if (n == NULL)
        return;
    nsc_buffer_free(&n->plain);
    nsc_buffer_free(&n->packed);
    nsc_arena_free(&n->arena);
    free(n->names);
    free(n);
}

static int read_block(struct nsc_note_cursor *n, struct nsc_diag *diag)
{
    const struct nsc_entry_notes *row = n->next;
    struct nsc_entry_notes head;
    struct nsc_block block;
    int error =
        nsc_block_header_read(n->trace->fd, n->trace->info.file_bytes, row->offset, &block, diag);

    if (error != 0)
        return error;
    if (block.kind != NSC_FORMAT_SAMPLES + row->kind)
        return nsc_diag_set(diag, row->offset, EBADMSG, "expected notes, found %s",
                            nsc_block_kind_name(block.kind));
    error = nsc_block_payload_read(n->trace->fd, &block, &n->plain, &n->packed, diag);
    if (error != 0)
        return error;
    n->records = nsc_span_of(n->plain.data, n->plain.used);
    if (nsc_entry_get_notes_head(&n->records, &head) != 0 || head.owner != row->owner ||
        head.first_ticks != row->first_ticks || head.last_ticks != row->last_ticks ||
        head.count != row->count)
        return nsc_diag_set(diag, row->offset, EBADMSG, "%s and their index disagree",
                            nsc_block_kind_name(block.kind));
    nsc_arena_free(&n->arena);
    n->name_count = 0;
    memset(n->values, 0, sizeof n->values);
    n->ticks = head.first_ticks;
    n->left = head.count;
    n->block = row;
    n->next++;
    return 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

static uint64_t get_difference(struct nsc_span *s, uint64_t before)
{
    uint64_t d = nsc_span_leb(s);

    return before + (d >> 1 ^ ((d & 1) != 0 ? UINT64_MAX : 0));
}

/* Decode a sample; skip fields of later versions. */
static void get_sample(struct nsc_note_cursor *n, struct nsc_sample *sample)
{
    uint64_t known = nsc_span_leb(&n->records);

    *sample = (struct nsc_sample){.known = (uint32_t)known & ((1u << NSC_SAMPLE_FIELDS) - 1)};
    for (int i = 0; i < 64 && !n->records.bad; i++) {
        if ((known >> i & 1) == 0)
            continue;
        if (i < NSC_SAMPLE_FIELDS)
            sample->values[i] = n->values[i] = get_difference(&n->records, n->values[i]);
        else
            (void)nsc_span_leb(&n->records);
    }
}

/* Decode a name and its flag. */
static int get_name(struct nsc_note_cursor *n, struct note_name **out, bool *flag)
{
    uint64_t v = nsc_span_leb(&n->records);
    struct note_name *names;
    const char *text;
    int error;

    *flag = (v & 1) != 0;
    if (v >> 1 > n->name_count)
        return -EBADMSG;
    if (v >> 1 > 0) {
        *out = &n->names[(v >> 1) - 1];
        return 0;
    }
    error = nsc_entry_get_text(&n->records, &n->arena, &text);
    if (error != 0)
        return error;
    names = nsc_array_grow(n->names, &n->name_room, n->name_count, sizeof *names);
    if (names == NULL)
        return -ENOMEM;
    n->names = names;
    *out = &names[n->name_count++];
    **out = (struct note_name){text, 0};
    return 0;
}

static int get_mark(struct nsc_note_cursor *n, struct nsc_mark *mark)
{
    struct note_name *name;
    int error = get_name(n, &name, &mark->cut);

    if (error != 0)
        return error;
    mark->name = name->text;
    return nsc_entry_get_text(&n->records, &n->arena, &mark->metadata);
}

static int get_counter(struct nsc_note_cursor *n, struct nsc_counter *c)
{
    struct note_name *name;
    int error = get_name(n, &name, &c->is_real);
    const uint8_t *at;
    uint64_t bits;

    if (error != 0)
        return error;
    c->name = name->text;
    c->integer = 0;
    c->real = 0;
    if (!c->is_real) {
        name->before = get_difference(&n->records, name->before);
        c->integer = (int64_t)name->before;
        return 0;
    }
    at = nsc_span_take(&n->records, 8);
    if (at == NULL)
        return -EBADMSG;
    bits = nsc_span_get64(at);
    memcpy(&c->real, &bits, sizeof bits);
    return 0;
}

static int get_note(struct nsc_note_cursor *n, struct nsc_note *note)
{
    uint64_t delta = nsc_span_leb(&n->records);
    int error = 0;

    if (delta > n->block->last_ticks - n->ticks)
        return -EBADMSG;
    n->ticks += delta;
    note->ticks = n->ticks;
    note->kind = n->block->kind;
    note->owner = (uint32_t)(n->block->owner >> 1);
    note->of_process = (n->block->owner & NSC_FORMAT_OWNER_PROCESS) != 0;
    switch ((enum nsc_note_kind)note->kind) {
    case NSC_NOTE_SAMPLE:
        get_sample(n, &note->sample);
        break;
    case NSC_NOTE_STATE:
        note->state.old_state = nsc_span_leb32(&n->records);
        note->state.new_state = nsc_span_leb32(&n->records);
        break;
    case NSC_NOTE_MARK:
        error = get_mark(n, &note->mark);
        break;
    case NSC_NOTE_COUNTER:
        error = get_counter(n, &note->counter);
        break;
    case NSC_NOTE_KINDS:
        break;
    }
    if (error != 0 || n->records.bad)
        return error != 0 ? error : -EBADMSG;
    /* The last note must have the time that the head says and end the block. */
    if (--n->left == 0 && (n->ticks != n->block->last_ticks || nsc_span_left(&n->records) != 0))
        return -EBADMSG;
    return 0;
}

int nsc_note_cursor_next(struct nsc_note_cursor *n, struct nsc_note *note, struct nsc_diag *diag)
{
    for (;;) {
        int error;

        if (n->left == 0 && n->next == n->end)
            return 0;
        error = n->left > 0 ? 0 : read_block(n, diag);
        if (error != 0)
            return error;
        error = get_note(n, note);
        if (error == -ENOMEM)
            return nsc_diag_set(diag, n->block->offset, error, "out of memory");
        if (error != 0)
            return nsc_diag_set(diag, n->block->offset, error, "%s are malformed",
                                nsc_block_kind_name(NSC_FORMAT_SAMPLES + n->block->kind));
        if (note->ticks >= n->from_ticks)
            return 1;
    }
}
