/* levels.c - see levels.h; also loads the level index. Source: docs/format.md section 7. */
#include "trace/read/levels.h"

#include <errno.h>

#include "trace/format/call_sums.h"
#include "trace/read/reader_state.h"
#include "util/array.h"
#include "util/search.h"

struct nsc_levels {
    struct nsc_trace *trace;
    const struct nsc_chunk *chunks;
    uint32_t thread;
    uint32_t at, end, count; /* chunks */
    uint32_t node_limit;     /* nodes must end at or before this chunk */
    enum nsc_levels_wanted wanted;
    uint32_t shift;
    struct nsc_sections sections;
};

/* ---- Loading --------------------------------------------------------------------------------- */

static int add_level(struct nsc_trace *t, const struct nsc_entry_level *level)
{
    struct nsc_entry_level *levels =
        nsc_array_grow(t->levels, &t->level_room, t->level_count, sizeof *levels);

    if (levels == NULL)
        return -ENOMEM;
    t->levels = levels;
    levels[t->level_count++] = *level;
    return 0;
}

int nsc_trace_load_levels(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag)
{
    struct nsc_span s = nsc_span_of(t->plain.data, t->plain.used);
    uint64_t count = nsc_span_leb(&s), base = 0;
    int error = nsc_trace_count_bytes(t, block, diag);

    if (error != 0)
        return error;
    for (uint64_t i = 0; i < count && error == 0; i++) {
        struct nsc_entry_level row = {0};

        if (nsc_entry_get_level(&s, base, &row) != 0 || row.offset >= t->info.file_bytes ||
            (i > 0 && row.offset == base))
            return nsc_diag_set(diag, block->offset, EBADMSG,
                                "index of nodes: row %llu is malformed", (unsigned long long)i);
        base = row.offset;
        error = add_level(t, &row);
    }
    if (error != 0)
        return nsc_diag_set(diag, block->offset, error, "out of memory");
    return s.bad ? nsc_diag_set(diag, block->offset, EBADMSG, "index of nodes is malformed") : 0;
}

/* Read the shift of a node's summary, which follows its totals. */
static uint32_t find_shift(struct nsc_span s, uint32_t sections)
{
    struct nsc_chunk_total total;

    if ((sections & NSC_FORMAT_HEAD_SUMMARY) == 0)
        return 0;
    if ((sections & NSC_FORMAT_HEAD_TOTALS) != 0)
        for (uint64_t n = nsc_span_leb(&s); n > 0 && !s.bad; n--)
            nsc_sums_get_total(&s, &total);
    return (uint32_t)nsc_span_leb_max(&s, 63);
}

int nsc_trace_scan_level(struct nsc_trace *t, const struct nsc_block *block)
{
    struct nsc_span s = nsc_span_of(t->plain.data, t->plain.used);
    struct nsc_entry_level node = {.offset = block->offset};
    int error = nsc_entry_get_level_head(&s, &node);

    if (error != 0)
        return error;
    node.shift = find_shift(s, node.sections);
    return add_level(t, &node);
}

static int by_place(const void *a, const void *b)
{
    const struct nsc_entry_level *left = a, *right = b;

    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->level != right->level)
        return left->level < right->level ? -1 : 1;
    return (left->first_chunk > right->first_chunk) - (left->first_chunk < right->first_chunk);
}

/* Whether a node's chunks exist and do not overlap those of @before, the previous node or NULL. */
static bool is_above(const struct nsc_trace *t, const struct nsc_entry_level *node,
                     const struct nsc_entry_level *before)
{
    uint32_t count;

    if (before != NULL && before->thread == node->thread && before->level == node->level &&
        node->first_chunk < before->first_chunk + before->chunks)
        return false;
    (void)nsc_trace_chunks(t, node->thread, &count);
    return node->first_chunk + node->chunks <= count;
}

int nsc_trace_link_levels(struct nsc_trace *t, struct nsc_diag *diag)
{
    struct nsc_entry_level *levels = t->levels;
    uint32_t kept = 0;

    if (t->level_count > 1)
        qsort(levels, t->level_count, sizeof *levels, by_place);
    for (uint32_t i = 0; i < t->level_count; i++) {
        if (is_above(t, &levels[i], kept > 0 ? &levels[kept - 1] : NULL)) {
            if (levels[i].level > t->level_max)
                t->level_max = levels[i].level;
            levels[kept++] = levels[i];
        } else if (!t->info.recovered) {
            return nsc_diag_set(diag, levels[i].offset, EBADMSG,
                                "index of nodes: a node of thread %u is not above its chunks",
                                levels[i].thread);
        }
    }
    t->level_count = kept;
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

int nsc_level_read(struct nsc_trace *t, const struct nsc_entry_level *node,
                   struct nsc_sections *sections, struct nsc_entry_level *found,
                   struct nsc_chunk_head *head, struct nsc_diag *diag)
{
    struct nsc_chunk range = {0};
    struct nsc_block block;
    struct nsc_span s;
    int error = nsc_block_header_read(t->fd, t->info.file_bytes, node->offset, &block, diag);

    if (error == 0 && block.kind != NSC_FORMAT_LEVEL)
        error =
            nsc_diag_set(diag, node->offset, EBADMSG, "expected %s, found %s",
                         nsc_block_kind_name(NSC_FORMAT_LEVEL), nsc_block_kind_name(block.kind));
    if (error == 0)
        error = nsc_block_payload_read(t->fd, &block, &t->plain, &t->packed, diag);
    if (error != 0)
        return error;
    s = nsc_span_of(t->plain.data, t->plain.used);
    if (nsc_entry_get_level_head(&s, found) != 0 || by_place(found, node) != 0 ||
        found->chunks != node->chunks || found->sections != node->sections)
        return nsc_diag_set(diag, node->offset, EBADMSG, "a node and the index of nodes disagree");
    range.first_ticks = found->first_ticks;
    range.last_ticks = found->last_ticks;
    range.max_depth = found->max_depth;
    error = nsc_reader_sections_read(t, found->sections, &range, &s, sections, head);
    if (error == 0 && head->has_summary && head->summary_shift != node->shift)
        error = -EBADMSG;
    if (error != 0)
        nsc_diag_set(diag, node->offset, error,
                     error == -ENOMEM ? "out of memory" : "a node of the index is malformed");
    return error;
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* Index of the first chunk whose first ticks (or last ticks, if @last) are >= @ticks, or @count. */
static uint32_t find_chunk(const struct nsc_chunk *chunks, uint32_t count, uint64_t ticks,
                           bool last)
{
    return NSC_PARTITION_POINT(i, count,
                               (last ? chunks[i].last_ticks : chunks[i].first_ticks) < ticks);
}

void nsc_levels_range(const struct nsc_trace *t, uint32_t thread, uint64_t from_ticks,
                      uint64_t to_ticks, uint32_t *first, uint32_t *end)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    *first = find_chunk(chunks, count, from_ticks, true);
    *end = find_chunk(chunks, count, to_ticks, false);
    if (*end < *first)
        *end = *first;
}

/*
 * Nodes refer to chunks by sequence number, so nodes after a missing chunk cannot be used. At the
 * end of an incomplete file calls are open that are in no opening stack, so the events of the last
 * chunk must be decoded.
 */
static uint32_t find_node_limit(const struct nsc_trace *t, const struct nsc_chunk *chunks,
                                uint32_t count)
{
    uint32_t whole = 0;

    if (!t->info.recovered)
        return count;
    while (whole < count && chunks[whole].sequence == whole && !chunks[whole].missing)
        whole++;
    return whole == count && count > 0 ? count - 1 : whole;
}

int nsc_levels_open(struct nsc_trace *t, uint32_t thread, uint32_t first, uint32_t end,
                    enum nsc_levels_wanted wanted, uint32_t shift, struct nsc_levels **out,
                    struct nsc_diag *diag)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);
    struct nsc_levels *walk;

    if (thread >= t->threads.count || first > end || end > count)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "no such chunks");
    walk = calloc(1, sizeof *walk);
    if (walk == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    walk->trace = t;
    walk->chunks = chunks;
    walk->thread = thread;
    walk->at = first;
    walk->end = end;
    walk->count = count;
    walk->wanted = wanted;
    walk->shift = shift;
    walk->sections.passes_durations = wanted == NSC_LEVELS_ROWS; /* most of a node's bytes */
    walk->node_limit = find_node_limit(t, chunks, count);
    *out = walk;
    return 0;
}

void nsc_levels_close(struct nsc_levels *walk)
{
    if (walk == NULL)
        return;
    nsc_reader_sections_free(&walk->sections);
    free(walk);
}

/* The node of @level that covers chunk @chunk, or NULL. */
static const struct nsc_entry_level *find_node(const struct nsc_levels *walk, uint32_t level,
                                               uint32_t chunk)
{
    const struct nsc_entry_level key = {
        .thread = walk->thread, .level = level, .first_chunk = chunk};
    const struct nsc_entry_level *levels = walk->trace->levels, *node;
    uint32_t next =
        NSC_PARTITION_POINT(i, walk->trace->level_count, by_place(&levels[i], &key) <= 0);

    if (next == 0)
        return NULL;
    node = &levels[next - 1];
    return node->thread == walk->thread && node->level == level &&
                   chunk - node->first_chunk < node->chunks
               ? node
               : NULL;
}

static bool will_do(const struct nsc_levels *walk, const struct nsc_entry_level *node)
{
    const uint32_t sums = NSC_FORMAT_HEAD_TOTALS | NSC_FORMAT_HEAD_DURATIONS;

    if (node->first_chunk + node->chunks > walk->node_limit)
        return false;
    if (walk->wanted == NSC_LEVELS_ROWS)
        return (node->sections & NSC_FORMAT_HEAD_SUMMARY) != 0 && node->shift <= walk->shift;
    return (node->sections & sums) == sums && node->first_chunk == walk->at &&
           node->first_chunk + node->chunks <= walk->end;
}

static const struct nsc_entry_level *choose_node(const struct nsc_levels *walk)
{
    for (uint32_t level = walk->trace->level_max; level > 0; level--) {
        const struct nsc_entry_level *node = find_node(walk, level, walk->at);

        if (node != NULL && will_do(walk, node))
            return node;
    }
    return NULL;
}

/* Read a chunk's own head into the walk's memory. */
static int read_head(struct nsc_levels *walk, const struct nsc_chunk *chunk,
                     struct nsc_chunk_head *head, struct nsc_diag *diag)
{
    struct nsc_sections of_trace = walk->trace->sections;
    int error;

    walk->trace->sections = walk->sections;
    error = nsc_trace_chunk_head(walk->trace, chunk, head, diag);
    walk->sections = walk->trace->sections;
    walk->trace->sections = of_trace;
    return error;
}

static void fill_piece(struct nsc_levels *walk, const struct nsc_chunk_head *head,
                       struct nsc_levels_piece *piece)
{
    const uint32_t *canonical = walk->trace->canonical;

    if (walk->wanted == NSC_LEVELS_SUMS) {
        piece->known = head->has_durations;
        piece->totals = head->totals;
        piece->total_count = head->total_count;
        return;
    }
    piece->known = head->has_summary && head->summary_shift <= walk->shift;
    if (!piece->known)
        return;
    for (uint32_t i = 0; i < head->row_count; i++)
        walk->sections.rows[i].function = canonical[walk->sections.rows[i].function];
    piece->shift = head->summary_shift;
    piece->rows = head->rows;
    piece->row_count = head->row_count;
}

/* Whether the current chunk's head may be used instead of its events. */
static bool may_use_head(const struct nsc_levels *walk)
{
    if (walk->at < walk->node_limit)
        return true;
    return walk->wanted == NSC_LEVELS_ROWS && walk->at + 1 < walk->count;
}

int nsc_levels_next(struct nsc_levels *walk, struct nsc_levels_piece *piece, struct nsc_diag *diag)
{
    const struct nsc_entry_level *node;
    struct nsc_chunk_head head = {0};
    int error = 0;

    while (walk->at < walk->end && walk->chunks[walk->at].missing)
        walk->at++;
    if (walk->at >= walk->end)
        return 0;
    *piece = (struct nsc_levels_piece){.first_chunk = walk->at, .chunk_count = 1};
    node = choose_node(walk);
    if (node != NULL) {
        piece->first_chunk = (uint32_t)node->first_chunk;
        piece->chunk_count = (uint32_t)node->chunks;
        piece->level = node->level;
        error = nsc_level_read(walk->trace, node, &walk->sections, &(struct nsc_entry_level){0},
                               &head, diag);
    } else if (may_use_head(walk)) {
        error = read_head(walk, &walk->chunks[walk->at], &head, diag);
    }
    if (error != 0)
        return error;
    fill_piece(walk, &head, piece);
    walk->at = piece->first_chunk + piece->chunk_count;
    return 1;
}

int nsc_levels_stack(struct nsc_trace *t, uint32_t thread, uint32_t chunk,
                     struct nsc_levels_stack *stack, struct nsc_diag *diag)
{
    uint32_t count, untold;
    uint64_t next;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);
    int error;

    if (thread >= t->threads.count || chunk > count)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "no such chunk");
    *stack = (struct nsc_levels_stack){0};
    if (chunk == count)
        return 0;
    error = nsc_head_gather(t, chunks, chunk, &t->gathered, true, &untold, &next, diag);
    if (error != 0)
        return error;
    stack->depth = chunks[chunk].depth - untold;
    if (stack->depth > 0) {
        stack->frames = t->gathered.frames + untold;
        stack->child_ticks = t->gathered.child_ticks + untold;
    }
    return 0;
}
