/* head.c - chunk heads: opening stack, totals, summary. docs/format.md section 4. */
#include <errno.h>

#include "trace/reader_state.h"

int nsc_head_parse(const struct nsc_block *block, const struct nsc_buffer *plain,
                   struct nsc_head_fields *fields, struct nsc_diag *diag)
{
    struct nsc_span s = nsc_span_of(plain->data, plain->used);
    struct nsc_entry_chunk row = {.offset = block->offset};
    uint64_t sequence, flags;

    row.thread = nsc_span_leb32(&s);
    sequence = nsc_span_leb(&s);
    flags = nsc_span_leb(&s);
    if (nsc_entry_get_extent(&s, &row) != 0)
        return nsc_diag_set(diag, block->offset, EBADMSG, "chunk head is malformed");
    fields->chunk = nsc_chunk_of(&row);
    fields->chunk.sequence = sequence;
    fields->flags = flags;
    fields->rest = s;
    return 0;
}

int nsc_head_read(struct nsc_trace *t, const struct nsc_chunk *chunk, struct nsc_block *block,
                  struct nsc_head_fields *fields, struct nsc_diag *diag)
{
    int error = nsc_block_header_read(t->fd, t->info.file_bytes, chunk->offset, block, diag);

    if (error != 0)
        return error;
    if (block->kind != NSC_FORMAT_HEAD)
        return nsc_diag_set(diag, chunk->offset, EBADMSG, "expected a chunk head, found %s",
                            nsc_block_kind_name(block->kind));
    error = nsc_block_payload_read(t->fd, block, &t->plain, &t->packed, diag);
    if (error == 0)
        error = nsc_head_parse(block, &t->plain, fields, diag);
    if (error != 0)
        return error;
    if (fields->chunk.thread != chunk->thread || fields->chunk.sequence != chunk->sequence ||
        fields->chunk.depth != chunk->depth || fields->chunk.common != chunk->common ||
        fields->chunk.first_ticks != chunk->first_ticks ||
        fields->chunk.last_ticks != chunk->last_ticks || fields->chunk.events != chunk->events ||
        fields->chunk.calls != chunk->calls || fields->chunk.lost != chunk->lost ||
        fields->chunk.min_depth != chunk->min_depth || fields->chunk.max_depth != chunk->max_depth)
        return nsc_diag_set(diag, chunk->offset, EBADMSG,
                            "chunk head and index disagree (thread %u, chunk %llu)", chunk->thread,
                            (unsigned long long)chunk->sequence);
    return 0;
}

/* An array for @count elements, each of which took at least @least bytes of @s: no file can make us
 * allocate much more than it holds. */
static int make_room(void *array, uint32_t *room, uint64_t count, size_t item, size_t least,
                     const struct nsc_span *s)
{
    void **at = array;
    void *grown;

    if (s->bad || count > nsc_span_left(s) / least)
        return -EBADMSG;
    if (count <= *room && *at != NULL)
        return 0;
    grown = realloc(*at, (size_t)(count + 1) * item);
    if (grown == NULL)
        return -ENOMEM;
    *at = grown;
    *room = (uint32_t)count;
    return 0;
}

static int read_stack(struct nsc_trace *t, const struct nsc_chunk *c, struct nsc_span *s)
{
    uint32_t count = c->depth - c->common;
    uint64_t later = c->first_ticks;
    int error = make_room(&t->frames, &t->frame_room, count, sizeof *t->frames, 3, s);

    if (error == 0)
        error = make_room(&t->child_ticks, &t->child_room, count, sizeof *t->child_ticks, 3, s);
    if (error != 0)
        return error;
    for (uint32_t i = count; i-- > 0;) { /* innermost first in the file */
        uint64_t before = nsc_span_leb(s), function = nsc_span_leb(s);

        t->child_ticks[i] = nsc_span_leb(s);
        if (s->bad || before > later || function >> 1 >= NSC_NO_ID)
            return -EBADMSG;
        later -= before;
        t->frames[i].start_ticks = later;
        t->frames[i].function = (uint32_t)(function >> 1);
        t->frames[i].bound = (function & 1) != 0 ? NSC_BOUND_START : 0;
    }
    return 0;
}

static int read_totals(struct nsc_trace *t, struct nsc_span *s, uint32_t *count)
{
    uint64_t n = nsc_span_leb(s);
    int error = make_room(&t->totals, &t->total_room, n, sizeof *t->totals, 5, s);

    if (error != 0)
        return error;
    for (uint64_t i = 0; i < n; i++) {
        struct nsc_chunk_total *total = &t->totals[i];

        total->function = nsc_span_leb32(s);
        total->calls = nsc_span_leb(s);
        total->total_ticks = nsc_span_leb(s);
        total->self_ticks = nsc_span_leb(s);
        total->max_ticks = nsc_span_leb(s);
        if (s->bad || total->function >= t->functions.count)
            return -EBADMSG;
    }
    *count = (uint32_t)n;
    return 0;
}

static int read_rows(struct nsc_trace *t, const struct nsc_chunk *c, struct nsc_span *s,
                     uint32_t *shift, uint32_t *count)
{
    uint64_t n;
    int error;

    *shift = (uint32_t)nsc_span_leb_max(s, 63);
    n = nsc_span_leb(s);
    error = make_room(&t->rows, &t->row_room, n, sizeof *t->rows, 4, s);
    if (error != 0)
        return error;
    for (uint64_t i = 0; i < n; i++) {
        struct nsc_chunk_row *row = &t->rows[i];
        uint64_t end;

        row->depth = nsc_span_leb32(s);
        row->function = nsc_span_leb32(s);
        end = nsc_span_leb(s);
        row->duration_ticks = nsc_span_leb(s);
        row->end_ticks = c->first_ticks + end;
        if (s->bad || row->function >= t->functions.count || row->depth >= c->max_depth ||
            end > c->last_ticks - c->first_ticks || row->duration_ticks > row->end_ticks)
            return -EBADMSG;
    }
    *count = (uint32_t)n;
    return 0;
}

int nsc_trace_chunk_head(struct nsc_trace *t, const struct nsc_chunk *chunk,
                         struct nsc_chunk_head *head, struct nsc_diag *diag)
{
    struct nsc_chunk_head h = {0};
    struct nsc_head_fields fields;
    struct nsc_block block;
    int error = nsc_head_read(t, chunk, &block, &fields, diag);

    if (error != 0)
        return error;
    h.has_totals = (fields.flags & NSC_FORMAT_HEAD_TOTALS) != 0;
    h.has_summary = (fields.flags & NSC_FORMAT_HEAD_SUMMARY) != 0;
    error = read_stack(t, chunk, &fields.rest);
    if (error == 0 && h.has_totals)
        error = read_totals(t, &fields.rest, &h.total_count);
    if (error == 0 && h.has_summary)
        error = read_rows(t, chunk, &fields.rest, &h.summary_shift, &h.row_count);
    if (error == -ENOMEM)
        return nsc_diag_set(diag, chunk->offset, error, "out of memory");
    if (error != 0)
        return nsc_diag_set(diag, chunk->offset, error, "chunk head is malformed");
    h.frame_count = chunk->depth - chunk->common;
    h.frames = t->frames;
    h.child_ticks = t->child_ticks;
    h.totals = t->totals;
    h.rows = t->rows;
    *head = h;
    return 0;
}
