/* chunk_head.c - decode chunk heads: opening stack, totals, summary, durations. Source:
 * docs/format.md section 4. */
#include <errno.h>

#include "trace/format/call_sums.h"
#include "trace/read/reader_state.h"

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
    fields->chunk = nsc_reader_chunk_of(&row);
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

/* Make room for @count elements, each encoded in at least @least bytes of @s. The check against the
 * remaining bytes bounds the allocation by the file's size. */
static int make_room(void *array, uint32_t *room, uint64_t count, size_t item, size_t least,
                     const struct nsc_span *s)
{
    void **at = array;
    void *grown;

    if (s->bad || count > nsc_span_left(s) / least)
        return -EBADMSG;
    if (count <= *room && *at != NULL)
        return 0;
    grown = reallocarray(*at, (size_t)(count + 1), item);
    if (grown == NULL)
        return -ENOMEM;
    *at = grown;
    *room = (uint32_t)count;
    return 0;
}

static int read_stack(struct nsc_chunk_stack *stack, const struct nsc_chunk *c, struct nsc_span *s)
{
    uint32_t count = c->depth - c->common;
    uint64_t later = c->first_ticks;
    int error = make_room(&stack->frames, &stack->frame_room, count, sizeof *stack->frames, 3, s);

    if (error == 0)
        error = make_room(&stack->child_ticks, &stack->child_room, count,
                          sizeof *stack->child_ticks, 3, s);
    if (error != 0)
        return error;
    for (uint32_t i = count; i-- > 0;) { /* innermost first in the file */
        uint64_t before = nsc_span_leb(s), function = nsc_span_leb(s);

        stack->child_ticks[i] = nsc_span_leb(s);
        if (s->bad || before > later || function >> 1 >= NSC_NO_ID)
            return -EBADMSG;
        later -= before;
        stack->frames[i].start_ticks = later;
        stack->frames[i].function = (uint32_t)(function >> 1);
        stack->frames[i].bound = (function & 1) != 0 ? NSC_BOUND_START : 0;
    }
    return 0;
}

static int read_totals(const struct nsc_trace *t, struct nsc_span *s, struct nsc_sections *into,
                       uint32_t *count)
{
    uint64_t n = nsc_span_leb(s);
    int error = make_room(&into->totals, &into->total_room, n, sizeof *into->totals, 5, s);

    if (error != 0)
        return error;
    for (uint64_t i = 0; i < n; i++) {
        struct nsc_chunk_total *total = &into->totals[i];

        *total = (struct nsc_chunk_total){0};
        nsc_sums_get_total(s, total);
        if (s->bad || total->function >= t->functions.count)
            return -EBADMSG;
    }
    *count = (uint32_t)n;
    return 0;
}

/* Decode the durations of all totals. */
static int read_durations(struct nsc_span *s, struct nsc_sections *into, uint32_t totals)
{
    struct nsc_duration_count histogram[NSC_BUCKETS], *counts = into->counts;
    uint32_t used = 0;

    for (uint32_t i = 0; i < totals; i++) {
        uint32_t n = nsc_sums_get_durations(s, &into->totals[i], histogram);

        if (n == 0)
            return -EBADMSG;
        if (used > UINT32_MAX - NSC_BUCKETS)
            return -EBADMSG;
        if (used + n > into->count_room) {
            uint32_t room = used + NSC_BUCKETS + used / 2;

            counts = reallocarray(counts, room, sizeof *counts);
            if (counts == NULL)
                return -ENOMEM;
            into->counts = counts;
            into->count_room = room;
        }
        memcpy(counts + used, histogram, n * sizeof *histogram);
        into->totals[i].count_count = n;
        used += n;
    }
    used = 0;
    for (uint32_t i = 0; i < totals; i++) { /* after the loop: the array may have moved in it */
        into->totals[i].counts = counts + used;
        used += into->totals[i].count_count;
    }
    return 0;
}

static int read_rows(const struct nsc_trace *t, const struct nsc_chunk *c, struct nsc_span *s,
                     struct nsc_sections *into, uint32_t *shift, uint32_t *count)
{
    uint64_t n;
    int error;

    *shift = (uint32_t)nsc_span_leb_max(s, 63);
    n = nsc_span_leb(s);
    error = make_room(&into->rows, &into->row_room, n, sizeof *into->rows, 4, s);
    if (error != 0)
        return error;
    for (uint64_t i = 0; i < n; i++) {
        struct nsc_chunk_row *row = &into->rows[i];
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

int nsc_reader_sections_read(const struct nsc_trace *t, uint64_t flags, const struct nsc_chunk *of,
                             struct nsc_span *s, struct nsc_sections *into,
                             struct nsc_chunk_head *head)
{
    int error = 0;

    head->has_totals = (flags & NSC_FORMAT_HEAD_TOTALS) != 0;
    head->has_summary = (flags & NSC_FORMAT_HEAD_SUMMARY) != 0;
    head->has_durations =
        head->has_totals && (flags & NSC_FORMAT_HEAD_DURATIONS) != 0 && !into->passes_durations;
    if (head->has_totals)
        error = read_totals(t, s, into, &head->total_count);
    if (error == 0 && head->has_summary)
        error = read_rows(t, of, s, into, &head->summary_shift, &head->row_count);
    if (error == 0 && head->has_durations)
        error = read_durations(s, into, head->total_count);
    head->totals = into->totals;
    head->rows = into->rows;
    return error;
}

void nsc_reader_sections_free(struct nsc_sections *sections)
{
    free(sections->totals);
    free(sections->counts);
    free(sections->rows);
    *sections = (struct nsc_sections){0};
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
    error = read_stack(&t->stack, chunk, &fields.rest);
    if (error == 0)
        error = nsc_reader_sections_read(t, fields.flags, chunk, &fields.rest, &t->sections, &h);
    if (error == -ENOMEM)
        return nsc_diag_set(diag, chunk->offset, error, "out of memory");
    if (error != 0)
        return nsc_diag_set(diag, chunk->offset, error, "chunk head is malformed");
    h.frame_count = chunk->depth - chunk->common;
    h.frames = t->stack.frames;
    h.child_ticks = t->stack.child_ticks;
    *head = h;
    return 0;
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

bool nsc_trace_stand_in(const struct nsc_trace *t, uint64_t *function)
{
    if (!t->info.recovered || t->functions.count == 0)
        return false;
    *function = t->functions.count - 1;
    return true;
}

int nsc_chunk_stack_reserve(struct nsc_chunk_stack *stack, uint32_t depth)
{
    uint32_t room = stack->frame_room < 64 ? 64 : stack->frame_room;
    struct nsc_frame *frames;

    if (depth <= stack->frame_room)
        return 0;
    while (room < depth)
        room = room > UINT32_MAX / 2 ? UINT32_MAX : room * 2;
    frames = reallocarray(stack->frames, room, sizeof *frames);
    if (frames == NULL)
        return -ENOMEM;
    stack->frames = frames;
    stack->frame_room = room;
    return 0;
}

static int reserve_child_ticks(struct nsc_chunk_stack *stack)
{
    uint64_t *child_ticks;

    if (stack->child_room >= stack->frame_room)
        return 0;
    child_ticks = reallocarray(stack->child_ticks, stack->frame_room, sizeof *child_ticks);
    if (child_ticks == NULL)
        return -ENOMEM;
    stack->child_ticks = child_ticks;
    stack->child_room = stack->frame_room;
    return 0;
}

static int bad_stack(const struct nsc_chunk *chunk, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, chunk->offset, EBADMSG,
                        "the opening stack of chunk %llu of thread %u refers to chunks that "
                        "do not tell it",
                        (unsigned long long)chunk->sequence, chunk->thread);
}

/* Read frames [from->common, @needed) of a stack of @depth from the head of @from. */
static int take_frames(struct nsc_trace *t, const struct nsc_chunk *from, uint32_t needed,
                       uint32_t depth, struct nsc_chunk_stack *stack, bool with_child_ticks,
                       struct nsc_diag *diag)
{
    struct nsc_chunk_head head;
    int error = nsc_trace_chunk_head(t, from, &head, diag);

    if (error != 0)
        return error;
    /* Allocate after reading the head, which proves that the file holds that many frames. */
    if (nsc_chunk_stack_reserve(stack, depth) != 0 ||
        (with_child_ticks && reserve_child_ticks(stack) != 0))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = from->common; i < needed; i++) {
        uint64_t function = head.frames[i - from->common].function;

        if (function >= t->functions.count && !nsc_trace_stand_in(t, &function))
            return bad_stack(from, diag);
        stack->frames[i] = head.frames[i - from->common];
        stack->frames[i].function = t->canonical[function];
        if (with_child_ticks)
            stack->child_ticks[i] = head.child_ticks[i - from->common];
    }
    return 0;
}

int nsc_head_gather(struct nsc_trace *t, const struct nsc_chunk *chunks, uint32_t index,
                    struct nsc_chunk_stack *stack, bool with_child_ticks, uint32_t *untold,
                    uint64_t *next, struct nsc_diag *diag)
{
    const struct nsc_chunk *chunk = &chunks[index];
    uint32_t needed = chunk->depth;

    *untold = 0;
    for (uint32_t at = index; needed > 0; at--) {
        const struct nsc_chunk *from = &chunks[at];

        if (from->sequence != chunk->sequence - (index - at) && t->info.recovered) {
            *untold = needed;
            *next = chunk->sequence - (index - at) + 1;
            return 0;
        }
        if (from->depth < needed || from->sequence != chunk->sequence - (index - at))
            return bad_stack(chunk, diag);
        if (from->common < needed) {
            int error = take_frames(t, from, needed, chunk->depth, stack, with_child_ticks, diag);

            if (error != 0)
                return error;
            needed = from->common;
        }
        if (at == 0 && needed > 0 && !t->info.recovered)
            return bad_stack(chunk, diag);
        if (at == 0 && needed > 0) {
            *untold = needed;
            *next = from->sequence;
            return 0;
        }
    }
    return 0;
}
