/*
 * handle_tiles.c - /api/tiles: the spans to draw, in tiles aligned in time and zoom.
 *
 * The pieces of a thread (pieces.h) contain rows in order of time. Rows that begin in the same
 * column are merged into one span. For each depth:
 *
 * - Rows that begin in one column get the longest call's function. If this call is at least one
 *   column wide, the span is that call, to the nanosecond. Otherwise the span extends from the
 *   first call's start to the last one's end, so that no column with a call is empty.
 * - Hence a call that is at least one column wide has a span of its own at every zoom: the next
 *   call of its depth begins in a later column.
 * - Spans do not overlap: if two share a 1/65,536 of the tile, the earlier one is shortened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "util/search.h"
#include "viewer/engine/handlers.h"
#include "viewer/engine/pieces.h"

#define ZOOM_MAX     62u
#define TILES_MAX    64u
#define ROWS_MAX     512u
#define COLUMN_BITS  10u /* 1,024 columns */
#define X_BITS       16u
#define X_LAST       ((1u << X_BITS) - 1)
#define HEAD_BYTES   24u
#define SPAN_BYTES   12u
#define ANSWER_BYTES ((size_t)64 << 20) /* limit for all tiles of an answer */

enum tile_flag { TILE_COARSE = 1, TILE_GROWS = 2 };

enum span_flag {
    SPAN_BEGAN_BEFORE = 1,
    SPAN_ENDS_AFTER = 2,
    SPAN_START_BOUND = 4,
    SPAN_END_BOUND = 8,
    SPAN_SEVERAL = 16,
};

struct span {
    uint32_t x0, x1, row, flags, function;
};

struct tile {
    struct nsc_engine_context *ask;
    const struct nsc_pieces *pieces;
    uint64_t from_ns, to_ns;
    uint32_t zoom;
    uint32_t level; /* a column is 2^level ns, or less than 1 ns below zoom 10 */
    uint32_t depth, row_count;
    uint32_t max_depth;
    uint32_t span_count, gap_count;
    bool failed;
};

/* ---- Positions ------------------------------------------------------------------------------- */

/* x of an instant in the tile, rounded down. */
static uint32_t x_at(const struct tile *t, uint64_t ns)
{
    uint64_t in = ns - t->from_ns;

    return (uint32_t)(t->zoom >= X_BITS ? in >> (t->zoom - X_BITS) : in << (X_BITS - t->zoom));
}

/* x of the last part of an interval that ends at @ns. */
static uint32_t x_before(const struct tile *t, uint64_t ns)
{
    uint32_t x = x_at(t, ns);
    bool begins_there = t->zoom <= X_BITS || (ns & (((uint64_t)1 << (t->zoom - X_BITS)) - 1)) == 0;

    return x > 0 && begins_there ? x - 1 : x;
}

/* Whether a row reaches into the tile or begins after the tile's start. A call occupies the time
 * from its start to its end, and at least the instant of its start. */
static bool is_after_start(const struct tile *t, const struct nsc_row *r)
{
    return r->last > t->from_ns || r->first >= t->from_ns;
}

/* The rows of a piece at a depth, without those that end before the tile. */
static void rows_of(const struct tile *t, const struct nsc_piece *p, uint32_t depth,
                    const struct nsc_row **rows, const struct nsc_row **end)
{
    const struct nsc_row *first;
    uint32_t count;

    *rows = *end = NULL;
    if (depth < p->depth || depth - p->depth >= p->depth_count)
        return;
    first = p->rows + p->first_row[depth - p->depth];
    count = p->first_row[depth - p->depth + 1] - p->first_row[depth - p->depth];
    *rows = first;
    *end = first + count;
    if (count > 0 && !is_after_start(t, first))
        *rows += NSC_PARTITION_POINT(i, count, !is_after_start(t, &first[i]));
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static void put_span(struct tile *t, const struct span *s)
{
    uint8_t *at = nsc_context_bytes(t->ask, SPAN_BYTES);

    if (at == NULL || t->ask->reply->count > ANSWER_BYTES) {
        t->failed = true;
        return;
    }
    nsc_span_put32(at, s->x0 | s->x1 << 16);
    nsc_span_put32(at + 4, s->row | s->flags << 16);
    nsc_span_put32(at + 8, s->function);
    t->span_count++;
}

/* One depth of a tile while its spans are made. */
struct line {
    struct tile *tile;
    uint32_t row_number;
    bool gathers;       /* `row` is valid */
    struct nsc_row row; /* the row being merged, of the current column */
    uint64_t behind;    /* no later row begins before this time */
    bool holds;         /* `span` is valid */
    struct span span;   /* finished, but the next span may still shorten it */
};

static void flush_span(struct line *l)
{
    if (l->holds)
        put_span(l->tile, &l->span);
    l->holds = false;
}

static void make_span(struct line *l)
{
    struct tile *t = l->tile;
    const struct nsc_row *r = &l->row;
    bool is_wide = r->end == NSC_ROW_OPEN_END || (r->end - r->start) >> t->level > 0;
    bool several = r->merged && !is_wide;
    uint64_t start = several ? r->first : r->start, end = several ? r->last : r->end;
    struct span s = {.row = l->row_number, .function = r->function};

    s.x0 = start < t->from_ns ? 0 : x_at(t, start < t->to_ns ? start : t->to_ns);
    s.x1 = end > t->to_ns ? X_LAST : x_before(t, end);
    s.x0 = s.x0 > X_LAST ? X_LAST : s.x0; /* possible only in a damaged file */
    s.x1 = s.x1 < s.x0 ? s.x0 : s.x1;
    s.flags = (start < t->from_ns ? SPAN_BEGAN_BEFORE : 0u) |
              (end > t->to_ns ? SPAN_ENDS_AFTER : 0u) |
              ((r->bound & NSC_BOUND_START) != 0 ? SPAN_START_BOUND : 0u) |
              ((r->bound & NSC_BOUND_END) != 0 && end <= t->to_ns ? SPAN_END_BOUND : 0u) |
              (several ? SPAN_SEVERAL : 0u);
    if (l->holds && l->span.x1 >= s.x0) {
        if (l->span.x0 < s.x0)
            l->span.x1 = s.x0 - 1;
        /* the previous span has only this place: it ended at the left edge */
        else
            s.x0 = l->span.x0 + 1;
        s.x1 = s.x1 < s.x0 ? s.x0 : s.x1;
    }
    flush_span(l);
    l->span = s;
    l->holds = s.x0 <= X_LAST;
    l->gathers = false;
}

/* Add the next row. */
static void add_row(struct line *l, const struct nsc_row *row)
{
    const struct tile *t = l->tile;
    struct nsc_row r = *row;

    if (r.first < l->behind) { /* calls of one depth overlap only in a damaged file */
        r.first = l->behind;
        r.start = r.start < r.first ? r.first : r.start;
        r.end = r.end < r.start ? r.start : r.end;
        r.last = r.last < r.end ? r.end : r.last;
        if (r.first >= t->to_ns)
            return;
    }
    l->behind = r.last;
    if (r.end > t->to_ns)
        r.end = r.last = NSC_ROW_OPEN_END;
    if (l->gathers && l->row.first >> t->level == r.first >> t->level) {
        nsc_piece_row_merge(&l->row, &r);
        return;
    }
    if (l->gathers)
        make_span(l);
    l->row = r;
    l->gathers = true;
}

static void build_line(struct tile *t, uint32_t depth)
{
    struct line l = {.tile = t, .row_number = depth - t->depth};

    for (size_t i = 0; i < t->pieces->count; i++) {
        const struct nsc_row *row, *end;

        rows_of(t, t->pieces->pieces[i], depth, &row, &end);
        for (; row < end && row->first < t->to_ns; row++)
            add_row(&l, row);
    }
    if (depth < t->pieces->open_count)
        add_row(&l, &t->pieces->open->rows[depth]);
    if (l.gathers)
        make_span(&l);
    flush_span(&l);
}

/* ---- Depth and gaps -------------------------------------------------------------------------- */

static bool has_rows(const struct tile *t, const struct nsc_piece *p, uint32_t depth)
{
    const struct nsc_row *row, *end;

    rows_of(t, p, depth, &row, &end);
    return row < end && row->first < t->to_ns;
}

static void find_depth(struct tile *t)
{
    t->max_depth =
        t->pieces->open_count > t->pieces->max_depth ? t->pieces->open_count : t->pieces->max_depth;
    for (size_t i = 0; i < t->pieces->count; i++) {
        const struct nsc_piece *p = t->pieces->pieces[i];
        uint32_t depth = p->depth + p->depth_count;

        while (depth > t->max_depth && depth > p->depth && !has_rows(t, p, depth - 1))
            depth--;
        if (depth > t->max_depth && depth > p->depth)
            t->max_depth = depth;
    }
}

/* A gap while it is merged with its neighbours in the same column. */
struct gap_line {
    struct tile *tile;
    bool holds;
    uint32_t x0, x1;
    uint64_t lost; /* UINT64_MAX: unknown */
    uint64_t left_out;
};

static void flush_gap(struct gap_line *g)
{
    uint8_t *at = g->holds ? nsc_context_bytes(g->tile->ask, SPAN_BYTES) : NULL;

    if (!g->holds)
        return;
    g->holds = false;
    if (at == NULL) {
        g->tile->failed = true;
        return;
    }
    nsc_span_put32(at, g->x0 | g->x1 << 16);
    nsc_span_put32(at + 4, g->lost < UINT32_MAX ? (uint32_t)g->lost : UINT32_MAX);
    nsc_span_put32(at + 8, g->left_out < UINT32_MAX ? (uint32_t)g->left_out : UINT32_MAX);
    g->tile->gap_count++;
}

static void add_gap(struct gap_line *g, const struct nsc_row_gap *gap)
{
    const struct tile *t = g->tile;
    uint64_t lost = gap->lost != 0 || gap->left_out != 0 ? gap->lost : UINT64_MAX;
    uint32_t x0, x1;

    if (gap->to < t->from_ns || gap->from >= t->to_ns)
        return;
    x0 = gap->from < t->from_ns ? 0 : x_at(t, gap->from);
    x1 = gap->to >= t->to_ns ? X_LAST : x_at(t, gap->to);
    if (g->holds && x0 >> (X_BITS - COLUMN_BITS) <= g->x1 >> (X_BITS - COLUMN_BITS)) {
        g->x1 = x1 > g->x1 ? x1 : g->x1;
        if (__builtin_add_overflow(g->lost, lost, &g->lost))
            g->lost = UINT64_MAX;
        if (__builtin_add_overflow(g->left_out, gap->left_out, &g->left_out))
            g->left_out = UINT64_MAX;
        return;
    }
    flush_gap(g);
    g->x0 = x0;
    g->x1 = x1;
    g->lost = lost;
    g->left_out = gap->left_out;
    g->holds = true;
}

static void put_gaps(struct tile *t)
{
    const struct nsc_pieces *p = t->pieces;
    struct gap_line g = {.tile = t};
    size_t wide = 0;

    /* The pieces' gaps and the additional gaps are each in order of time: merge them. */
    for (size_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; k < p->pieces[i]->gap_count; k++) {
            const struct nsc_row_gap *gap = &p->pieces[i]->gaps[k];

            while (wide < p->gap_count && p->gaps[wide].from <= gap->from)
                add_gap(&g, &p->gaps[wide++]);
            add_gap(&g, gap);
        }
    while (wide < p->gap_count)
        add_gap(&g, &p->gaps[wide++]);
    flush_gap(&g);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static uint32_t flags_of(const struct tile *t)
{
    const struct nsc_engine_context *ask = t->ask;
    uint64_t end = nsc_clock_ns(nsc_trace_clock(ask->trace), nsc_trace_info(ask->trace)->end_ticks);
    uint32_t flags = 0;

    for (size_t i = 0; i < t->pieces->count; i++)
        if (t->pieces->pieces[i]->summary)
            flags = TILE_COARSE;
    if (ask->source->growing && t->to_ns > end)
        flags |= TILE_GROWS;
    return flags;
}

static void put_tile(struct tile *t, uint32_t thread, uint32_t number)
{
    struct nsc_engine_reply *reply = t->ask->reply;
    size_t head = reply->count;
    uint8_t *at = nsc_context_bytes(t->ask, HEAD_BYTES);

    if (at == NULL) {
        t->failed = true;
        return;
    }
    find_depth(t);
    for (uint32_t i = 0; i < t->row_count && t->depth + i < t->max_depth && !t->failed; i++)
        build_line(t, t->depth + i);
    if (!t->failed)
        put_gaps(t);
    at = reply->bytes + head;
    nsc_span_put32(at, thread);
    nsc_span_put32(at + 4, number);
    nsc_span_put32(at + 8, flags_of(t));
    nsc_span_put32(at + 12, t->max_depth);
    nsc_span_put32(at + 16, t->span_count);
    nsc_span_put32(at + 20, t->gap_count);
}

struct wanted {
    uint32_t zoom, count, depth, rows, thread_count;
    uint64_t first;
    uint32_t *threads;
};

/* A tile of an earlier answer. */
struct kept_tile {
    struct nsc_cache_item item;
    size_t count;
    uint8_t bytes[];
};

static struct nsc_cache_key key_of(const struct tile *t, uint32_t thread)
{
    return (struct nsc_cache_key){.trace = t->ask->trace,
                                  .kind = NSC_CACHE_TILE,
                                  .thread = thread,
                                  .place = t->from_ns >> t->zoom,
                                  .form = (uint64_t)t->depth << 32 | t->row_count << 8 | t->zoom};
}

/* Cache the tile that begins at @head of the answer, if there is enough memory. */
static void keep_tile(const struct tile *t, const struct nsc_cache_key *key, size_t head)
{
    const struct nsc_engine_reply *reply = t->ask->reply;
    size_t count = reply->count - head;
    struct kept_tile *kept = malloc(sizeof(*kept) + count);

    if (kept == NULL)
        return;
    *kept =
        (struct kept_tile){.item = {.key = *key, .bytes = sizeof(*kept) + count}, .count = count};
    memcpy(kept->bytes, reply->bytes + head, count);
    nsc_cache_add(t->ask->tiles, &kept->item);
}

static int answer_tile(struct tile *t, struct nsc_pieces *pieces, uint32_t thread, uint32_t number)
{
    struct nsc_engine_context *ask = t->ask;
    struct nsc_cache_key key = key_of(t, thread);
    const struct kept_tile *kept = nsc_cache_find(ask->tiles, &key);
    size_t head = ask->reply->count;
    int error;

    if (kept != NULL) {
        uint8_t *at = nsc_context_bytes(ask, kept->count);

        if (at == NULL)
            return -ENOMEM;
        memcpy(at, kept->bytes, kept->count);
        nsc_span_put32(at + 4, number); /* relative to the first tile of a request */
        return 0;
    }
    nsc_cache_begin(ask->cache);
    error = nsc_pieces_gather(ask, thread, t->from_ns, t->to_ns, t->level, t->depth + t->row_count,
                              pieces);
    if (error != 0)
        return error;
    put_tile(t, thread, number);
    if (!t->failed)
        keep_tile(t, &key, head);
    return t->failed && ask->reply->count <= ANSWER_BYTES ? -ENOMEM : 0;
}

static int answer_tiles(struct nsc_engine_context *ask, const struct wanted *w)
{
    struct nsc_pieces pieces = {0};
    int error = nsc_context_bytes(ask, 0) != NULL ? 0 : -ENOMEM;

    for (uint64_t i = 0; i < (uint64_t)w->thread_count * w->count && error == 0; i++) {
        uint32_t number = (uint32_t)(i % w->count);
        struct tile t = {
            .ask = ask,
            .pieces = &pieces,
            .from_ns = (w->first + number) << w->zoom,
            .to_ns = (w->first + number + 1) << w->zoom,
            .zoom = w->zoom,
            .level = w->zoom > COLUMN_BITS ? w->zoom - COLUMN_BITS : 0,
            .depth = w->depth,
            .row_count = w->rows,
        };

        error = answer_tile(&t, &pieces, w->threads[i / w->count], number);
        if (error == 0 && ask->reply->count > ANSWER_BYTES)
            error = nsc_context_refuse(ask, "that is more than %u MiB: ask for fewer tiles or rows",
                                       (unsigned)(ANSWER_BYTES >> 20));
    }
    nsc_pieces_free(&pieces);
    return error;
}

int nsc_engine_tiles(struct nsc_engine_context *ask)
{
    uint32_t threads = nsc_trace_info(ask->trace)->thread_count;
    struct wanted w = {
        .zoom = (uint32_t)nsc_context_needed(ask, "zoom", ZOOM_MAX),
        .first = nsc_context_needed(ask, "first", UINT64_MAX),
        .count = (uint32_t)nsc_context_number(ask, "count", 1, TILES_MAX),
        .depth = (uint32_t)nsc_context_number(ask, "depth", 0, UINT32_MAX - ROWS_MAX),
        .rows = (uint32_t)nsc_context_number(ask, "rows", ROWS_MAX, ROWS_MAX),
    };
    uint64_t tiles_there = (uint64_t)1 << (63 - w.zoom); /* times end at 2^63 */
    int error;

    w.threads = nsc_context_ids(ask, "threads", threads, TILES_MAX, &w.thread_count);
    if (!ask->refused && w.threads == NULL)
        nsc_context_refuse(ask, "`threads` is missing");
    if (!ask->refused && (uint64_t)w.thread_count * w.count > TILES_MAX)
        nsc_context_refuse(ask, "that is more than %u tiles", TILES_MAX);
    if (!ask->refused && (w.first >= tiles_there || w.count > tiles_there - w.first))
        nsc_context_refuse(ask, "`first` and `count` are beyond the end of time");
    error = nsc_context_check(ask);
    if (error == 0 && w.threads != NULL)
        error = answer_tiles(ask, &w);
    free(w.threads);
    return error;
}
