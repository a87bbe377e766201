/*
 * level_writer.c - write the upper levels of the index. Source: docs/format.md section 7.
 *
 * Called by lane.c for every chunk. Eight chunks make a node, eight nodes make a node of the next
 * level. The children of an incomplete node are kept encoded in memory. All threads together get a
 * quarter of the writer's memory for this; a thread that exceeds it gets smaller nodes. Must not
 * read the file.
 */
#include <errno.h>

#include "trace/write/writer_state.h"
#include "util/array.h"

#define FAN_OUT      8u
#define LEVELS       20u  /* 8^20 chunks exceed any file */
#define ROWS_MAX     4096 /* of a node's summary: 64 spans of 64 depths; then spans become longer */
#define SPANS        64
#define DEPTHS       512u /* docs/format.md section 4 */
#define MEMORY_PART  4
/* A section is omitted if it exceeds 1/PART of the events' bytes. */
#define SUMS_PART    8
#define SUMMARY_PART 8
#define INDEX_ROWS   16384u
#define NO_PLACE     UINT32_MAX

/* A child that waits for its node: data holds its sections one after the other, then the places. */
struct nsc_level_child {
    struct nsc_level_child *next;
    struct nsc_entry_level node;
    uint64_t event_bytes;
    size_t bytes; /* size of this allocation */
    uint32_t place_count, row_count;
    uint32_t durations_at, rows_at, rows_end; /* offsets in data */
    bool has_sums, has_rows;
    const struct nsc_level_place *places;
    uint8_t data[];
};

/* One function's row in one child, in a list of the function's rows. */
struct link {
    const struct nsc_level_child *child;
    const struct nsc_level_place *place;
    uint32_t next; /* or NO_PLACE */
};

struct nsc_level_scratch {
    uint32_t *first; /* by function: its first link, or NO_PLACE */
    uint32_t function_room;
    uint32_t *functions; /* in order of appearance */
    uint32_t function_count;
    struct link *links;
    uint32_t link_count, link_room;
    struct nsc_chunk_row *rows;
    uint32_t row_count, row_room;
    uint32_t last[DEPTHS]; /* index + 1 of a depth's newest row, 0: none */
    struct nsc_buffer coded_rows, block;
    struct nsc_duration_count histogram[NSC_BUCKETS];
};

void nsc_level_begin(struct nsc_writer *w)
{
    w->place_count = 0;
}

void nsc_level_place(struct nsc_writer *w, uint32_t function)
{
    struct nsc_level_place *places =
        nsc_array_grow(w->places, &w->place_room, w->place_count, sizeof *places);

    if (places == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return;
    }
    w->places = places;
    places[w->place_count++] =
        (struct nsc_level_place){function, (uint32_t)w->section.used, (uint32_t)w->durations.used};
}

static void free_child(struct nsc_writer *w, struct nsc_level_child *child)
{
    w->level_bytes -= child->bytes;
    free(child);
}

static void empty_level(struct nsc_writer *w, struct nsc_writer_level *level)
{
    while (level->first != NULL) {
        struct nsc_level_child *next = level->first->next;

        free_child(w, level->first);
        level->first = next;
    }
    level->last = NULL;
    level->count = 0;
}

void nsc_level_free(struct nsc_lane *lane)
{
    for (uint32_t i = 0; i < lane->level_count; i++)
        empty_level(lane->writer, &lane->levels[i]);
    lane->writer->level_bytes -= lane->level_count * sizeof *lane->levels;
    free(lane->levels);
    lane->levels = NULL;
    lane->level_count = 0;
}

void nsc_writer_free_levels(struct nsc_writer *w)
{
    struct nsc_level_scratch *x = w->level_scratch;

    if (x != NULL) {
        free(x->first);
        free(x->functions);
        free(x->links);
        free(x->rows);
        nsc_buffer_free(&x->coded_rows);
        nsc_buffer_free(&x->block);
    }
    free(x);
    free(w->level_rows);
    free(w->places);
    nsc_buffer_free(&w->durations);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static bool grow_functions(struct nsc_level_scratch *x, uint32_t count)
{
    uint32_t *first, *functions;

    if (count <= x->function_room)
        return true;
    first = realloc(x->first, count * sizeof *first);
    if (first == NULL)
        return false;
    x->first = first;
    functions = realloc(x->functions, count * sizeof *functions);
    if (functions == NULL)
        return false;
    x->functions = functions;
    memset(first + x->function_room, 0xff, (count - x->function_room) * sizeof *first);
    x->function_room = count;
    return true;
}

/* Build the list of rows of each function. */
static bool link_children(struct nsc_level_scratch *x, const struct nsc_level_child *children)
{
    x->function_count = x->link_count = 0;
    for (const struct nsc_level_child *c = children; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->place_count; i++) {
            uint32_t function = c->places[i].function;
            struct link *links =
                nsc_array_grow(x->links, &x->link_room, x->link_count, sizeof *links);

            if (links == NULL)
                return false;
            x->links = links;
            if (x->first[function] == NO_PLACE)
                x->functions[x->function_count++] = function;
            links[x->link_count] = (struct link){c, &c->places[i], x->first[function]};
            x->first[function] = x->link_count++;
        }
    return true;
}

/* Add one row of a child to @sums and w->counts. */
static void add_row_sums(struct nsc_writer *w, struct nsc_chunk_total *sums,
                         const struct link *link)
{
    struct nsc_duration_count *histogram = w->level_scratch->histogram;
    const uint8_t *data = link->child->data;
    struct nsc_span totals =
        nsc_span_of(data + link->place->totals, link->child->durations_at - link->place->totals);
    struct nsc_span durations =
        nsc_span_of(data + link->child->durations_at + link->place->durations,
                    link->child->rows_at - link->child->durations_at - link->place->durations);
    struct nsc_chunk_total row;
    uint32_t buckets;

    nsc_sums_get_total(&totals, &row);
    buckets = nsc_sums_get_durations(&durations, &row, histogram);
    for (uint32_t i = 0; i < buckets; i++)
        w->counts[histogram[i].bucket] += histogram[i].calls;
    sums->calls += row.calls;
    sums->total_ticks += row.total_ticks;
    sums->self_ticks += row.self_ticks;
    sums->unwinds += row.unwinds;
    sums->max_ticks = row.max_ticks > sums->max_ticks ? row.max_ticks : sums->max_ticks;
    sums->min_ticks = row.min_ticks < sums->min_ticks ? row.min_ticks : sums->min_ticks;
}

/* Merge the children's sums; encode them into w->section and w->durations. */
static bool merge_sums(struct nsc_writer *w, const struct nsc_level_child *children)
{
    struct nsc_level_scratch *x = w->level_scratch;
    bool linked =
        grow_functions(x, w->tables[NSC_WRITER_FUNCTIONS].count) && link_children(x, children);

    nsc_level_begin(w);
    nsc_buffer_clear(&w->section);
    nsc_buffer_clear(&w->durations);
    nsc_buffer_leb(&w->section, x->function_count);
    for (uint32_t i = 0; i < x->function_count; i++) {
        struct nsc_chunk_total sums = {.function = x->functions[i], .min_ticks = UINT64_MAX};
        uint32_t at = x->first[sums.function];

        x->first[sums.function] = NO_PLACE;
        for (; linked && at != NO_PLACE; at = x->links[at].next)
            add_row_sums(w, &sums, &x->links[at]);
        nsc_level_place(w, sums.function);
        if (linked)
            nsc_sums_put(&w->section, &w->durations, &sums, w->counts);
    }
    return linked && !w->section.failed && !w->durations.failed;
}

/* ---- Summary --------------------------------------------------------------------------------- */

/* Add a row, keeping only the longest call of each depth and span (the entry times agree from bit
 * @shift on). Rows of a depth must be added in time order. */
static bool add_row(struct nsc_level_scratch *x, const struct nsc_chunk_row *row, uint32_t shift)
{
    struct nsc_chunk_row *rows = x->rows;
    uint32_t *last = &x->last[row->depth];

    if (*last != 0) {
        struct nsc_chunk_row *before = &rows[*last - 1];

        if ((before->end_ticks - before->duration_ticks) >> shift ==
            (row->end_ticks - row->duration_ticks) >> shift) {
            if (row->duration_ticks > before->duration_ticks)
                *before = *row;
            return true;
        }
    }
    rows = nsc_array_grow(rows, &x->row_room, x->row_count, sizeof *rows);
    if (rows == NULL)
        return false;
    x->rows = rows;
    rows[x->row_count++] = *row;
    *last = x->row_count;
    return true;
}

/* Merge the rows into longer spans, in place. */
static void coarsen(struct nsc_level_scratch *x, uint32_t shift)
{
    uint32_t count = x->row_count;

    memset(x->last, 0, sizeof x->last);
    x->row_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct nsc_chunk_row row = x->rows[i];

        (void)add_row(x, &row, shift); /* cannot fail: the number of rows does not grow */
    }
}

static bool add_child_rows(struct nsc_level_scratch *x, const struct nsc_level_child *c,
                           uint32_t *shift)
{
    struct nsc_span s = nsc_span_of(c->data + c->rows_at, c->rows_end - c->rows_at);

    for (uint32_t i = 0; i < c->row_count; i++) {
        struct nsc_chunk_row row;

        row.depth = nsc_span_leb32(&s);
        row.function = nsc_span_leb32(&s);
        row.end_ticks = c->node.first_ticks + nsc_span_leb(&s);
        row.duration_ticks = nsc_span_leb(&s);
        if (!add_row(x, &row, *shift))
            return false;
        while (x->row_count > ROWS_MAX && *shift < 63)
            coarsen(x, ++*shift);
    }
    return true;
}

/* Merge the children's summaries; encode them into x->coded_rows. */
static bool merge_rows(struct nsc_level_scratch *x, const struct nsc_level_child *children,
                       struct nsc_entry_level *node)
{
    uint64_t span = (node->last_ticks - node->first_ticks) / SPANS;
    uint32_t shift = span == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(span);

    for (const struct nsc_level_child *c = children; c != NULL; c = c->next)
        shift = c->node.shift > shift ? c->node.shift : shift;
    memset(x->last, 0, sizeof x->last);
    x->row_count = 0;
    for (const struct nsc_level_child *c = children; c != NULL; c = c->next)
        if (!add_child_rows(x, c, &shift))
            return false;
    node->shift = shift;
    nsc_buffer_clear(&x->coded_rows);
    for (uint32_t i = 0; i < x->row_count; i++) {
        const struct nsc_chunk_row *row = &x->rows[i];

        nsc_buffer_leb(&x->coded_rows, row->depth);
        nsc_buffer_leb(&x->coded_rows, row->function);
        nsc_buffer_leb(&x->coded_rows, row->end_ticks - node->first_ticks);
        nsc_buffer_leb(&x->coded_rows, row->duration_ticks);
    }
    return !x->coded_rows.failed;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

void nsc_writer_put_level_index(struct nsc_writer *w)
{
    struct nsc_buffer *b = &w->entry;
    uint64_t base = 0;

    if (w->level_row_count == 0)
        return;
    nsc_buffer_clear(b);
    nsc_buffer_leb(b, w->level_row_count);
    for (uint32_t i = 0; i < w->level_row_count; i++) {
        nsc_entry_put_level(b, &w->level_rows[i], base);
        base = w->level_rows[i].offset;
    }
    w->level_row_count = 0;
    if (b->failed)
        nsc_writer_fail(w, -ENOMEM);
    else
        nsc_writer_list_block(
            w, NSC_FORMAT_LEVEL_INDEX,
            nsc_trace_file_block(&w->sink, NSC_FORMAT_LEVEL_INDEX, b->data, b->used));
}

/* Write a node whose sums and summary have been merged; omit sections that are too large. */
static void put_node(struct nsc_writer *w, const struct nsc_level_part *part)
{
    struct nsc_level_scratch *x = w->level_scratch;
    struct nsc_entry_level node = part->node, *rows;
    struct nsc_buffer *b = &x->block;

    if (part->has_sums && w->section.used + w->durations.used <= part->event_bytes / SUMS_PART)
        node.sections |= NSC_FORMAT_HEAD_TOTALS | NSC_FORMAT_HEAD_DURATIONS;
    if (part->has_rows && part->rows->used <= part->event_bytes / SUMMARY_PART)
        node.sections |= NSC_FORMAT_HEAD_SUMMARY;
    if (node.sections == 0)
        return;
    rows = nsc_array_grow(w->level_rows, &w->level_row_room, w->level_row_count, sizeof *rows);
    if (rows == NULL)
        return;
    w->level_rows = rows;
    nsc_buffer_clear(b);
    nsc_entry_put_level_head(b, &node);
    if ((node.sections & NSC_FORMAT_HEAD_TOTALS) != 0)
        nsc_buffer_bytes(b, w->section.data, w->section.used);
    if ((node.sections & NSC_FORMAT_HEAD_SUMMARY) != 0) {
        nsc_buffer_leb(b, node.shift);
        nsc_buffer_leb(b, part->row_count);
        nsc_buffer_bytes(b, part->rows->data, part->rows->used);
    } else {
        node.shift = 0;
    }
    if ((node.sections & NSC_FORMAT_HEAD_DURATIONS) != 0)
        nsc_buffer_bytes(b, w->durations.data, w->durations.used);
    if (b->failed || b->used > NSC_FORMAT_PLAIN_MAX)
        return;
    node.offset = nsc_trace_file_block(&w->sink, NSC_FORMAT_LEVEL, b->data, b->used);
    rows[w->level_row_count++] = node;
    if (w->level_row_count == INDEX_ROWS)
        nsc_writer_put_level_index(w);
}

/* Sum up the children of a node, without their sections. */
static struct nsc_level_part sum_children(const struct nsc_level_child *children, uint32_t level)
{
    struct nsc_level_part part = {.node = children->node,
                                  .event_bytes = children->event_bytes,
                                  .has_sums = children->has_sums,
                                  .has_rows = children->has_rows};

    for (const struct nsc_level_child *c = children->next; c != NULL; c = c->next) {
        part.node.chunks += c->node.chunks;
        part.node.last_ticks = c->node.last_ticks;
        part.node.events += c->node.events;
        part.node.calls += c->node.calls;
        part.node.lost += c->node.lost;
        if (c->node.min_depth < part.node.min_depth)
            part.node.min_depth = c->node.min_depth;
        if (c->node.max_depth > part.node.max_depth)
            part.node.max_depth = c->node.max_depth;
        part.event_bytes += c->event_bytes;
        part.has_sums &= c->has_sums;
        part.has_rows &= c->has_rows;
    }
    part.node.level = level;
    part.node.sections = 0;
    part.node.offset = 0;
    return part;
}

/* Make a node of the children that wait at @level and write it. Returns it for the next level, with
 * its sections in the writer's buffers. */
static struct nsc_level_part make_node(struct nsc_lane *lane, uint32_t level)
{
    struct nsc_writer *w = lane->writer;
    struct nsc_level_scratch *x = w->level_scratch;
    const struct nsc_level_child *children = lane->levels[level].first;
    struct nsc_level_part part = sum_children(children, level + 1);

    part.has_sums = part.has_sums && merge_sums(w, children);
    part.has_rows = part.has_rows && merge_rows(x, children, &part.node);
    part.rows = &x->coded_rows;
    part.row_count = x->row_count;
    put_node(w, &part);
    empty_level(w, &lane->levels[level]);
    return part;
}

static bool add_level(struct nsc_lane *lane)
{
    struct nsc_writer_level *levels =
        realloc(lane->levels, (lane->level_count + 1) * sizeof *levels);

    if (levels == NULL)
        return false;
    lane->levels = levels;
    levels[lane->level_count++] = (struct nsc_writer_level){0};
    lane->writer->level_bytes += sizeof *levels;
    return true;
}

/* Copy the part to the children that wait at @level. Returns false if memory is short. */
static bool keep(struct nsc_lane *lane, uint32_t level, const struct nsc_level_part *part)
{
    struct nsc_writer *w = lane->writer;
    struct nsc_writer_level *to;
    size_t totals = part->has_sums ? w->section.used : 0;
    size_t durations = part->has_sums ? w->durations.used : 0;
    size_t rows = part->has_rows ? part->rows->used : 0;
    size_t sections = (totals + durations + rows + 7) / 8 * 8;
    size_t places = part->has_sums ? w->place_count * sizeof *w->places : 0;
    size_t bytes = sizeof(struct nsc_level_child) + sections + places;
    struct nsc_level_child *child =
        w->level_bytes + bytes > w->options.memory_bytes / MEMORY_PART || sections > UINT32_MAX
            ? NULL
            : malloc(bytes);

    if (child == NULL || (level == lane->level_count && !add_level(lane))) {
        free(child);
        return false;
    }
    to = &lane->levels[level];
    *child = (struct nsc_level_child){.node = part->node,
                                      .event_bytes = part->event_bytes,
                                      .bytes = bytes,
                                      .place_count = part->has_sums ? w->place_count : 0,
                                      .row_count = part->row_count,
                                      .durations_at = (uint32_t)totals,
                                      .rows_at = (uint32_t)(totals + durations),
                                      .rows_end = (uint32_t)(totals + durations + rows),
                                      .has_sums = part->has_sums,
                                      .has_rows = part->has_rows};
    if (totals > 0)
        memcpy(child->data, w->section.data, totals);
    if (durations > 0)
        memcpy(child->data + totals, w->durations.data, durations);
    if (rows > 0)
        memcpy(child->data + totals + durations, part->rows->data, rows);
    child->places = (const void *)(child->data + sections);
    if (places > 0)
        memcpy(child->data + sections, w->places, places);
    w->level_bytes += bytes;
    if (to->last != NULL)
        to->last->next = child;
    else
        to->first = child;
    to->last = child;
    to->count++;
    return true;
}

/* Make nodes of all waiting children, complete or not, at levels with more than one child. */
static void close_levels(struct nsc_lane *lane)
{
    for (uint32_t i = 0; i < lane->level_count; i++) {
        struct nsc_level_part part;

        if (lane->levels[i].count >= 2) {
            part = make_node(lane, i);
            if (i + 1 < LEVELS)
                (void)keep(lane, i + 1, &part);
        }
        empty_level(lane->writer, &lane->levels[i]);
    }
}

void nsc_level_add(struct nsc_lane *lane, const struct nsc_level_part *part)
{
    struct nsc_writer *w = lane->writer;
    struct nsc_level_part node = *part;

    if (w->level_scratch == NULL)
        w->level_scratch = calloc(1, sizeof *w->level_scratch);
    if (w->level_scratch == NULL)
        return;
    for (uint32_t i = 0; i < LEVELS; i++) {
        if (!keep(lane, i, &node)) {
            close_levels(lane);
            return;
        }
        if (lane->levels[i].count < FAN_OUT)
            return;
        node = make_node(lane, i);
    }
}

void nsc_level_finish(struct nsc_lane *lane)
{
    if (lane->writer->level_scratch != NULL && nsc_writer_error(lane->writer) == 0)
        close_levels(lane);
}
