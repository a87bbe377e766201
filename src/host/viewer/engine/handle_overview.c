/*
 * handle_overview.c - /api/overview: the whole trace in a few columns, for the minimap.
 *
 * Uses the chunk index where chunks are narrower than a column, else the chunks' pieces (which
 * tiles use as well) or their events.
 */
#include <errno.h>
#include <stdlib.h>

#include "viewer/engine/handlers.h"
#include "viewer/engine/pieces.h"

#define WIDTH_MAX       4096u
/* A thread is drawn from the index if its chunks have fewer columns on average, or deeper calls. */
#define COLUMNS_A_CHUNK 4u
#define DEPTH_MAX       512u
/* Maximum number of chunks of such threads that are read: the widest ones, if wider than a
 * column. */
#define READ_CHUNKS_MAX 256u
#define SPANS           64u

struct overview {
    struct nsc_engine_context *ask;
    const struct nsc_clock *clock;
    uint64_t from_ns, step_ns; /* of the first column; width of a column */
    uint32_t width, level;
    uint32_t read_span; /* chunks in at least this many columns are read */
    uint32_t *depth;    /* by column */
    uint64_t *lost;
};

static uint32_t column_of(const struct overview *o, uint64_t ns)
{
    uint64_t column = ns > o->from_ns ? (ns - o->from_ns) / o->step_ns : 0;

    return column < o->width ? (uint32_t)column : o->width - 1;
}

static void raise_depth(struct overview *o, uint64_t from_ns, uint64_t to_ns, uint32_t depth)
{
    uint32_t end = column_of(o, to_ns);

    for (uint32_t i = column_of(o, from_ns); i <= end; i++)
        o->depth[i] = depth > o->depth[i] ? depth : o->depth[i];
}

static void add_lost(struct overview *o, const struct nsc_row_gap *gap)
{
    uint64_t *lost = &o->lost[column_of(o, gap->from)];

    if (gap->left_out > 0 && gap->lost == 0)
        return;
    if (__builtin_add_overflow(*lost, gap->lost > 0 ? gap->lost : 1, lost))
        *lost = UINT64_MAX;
}

static void add_pieces(struct overview *o, const struct nsc_pieces *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct nsc_piece *piece = p->pieces[i];

        for (uint32_t d = 0; d < piece->depth_count; d++)
            for (uint32_t r = piece->first_row[d]; r < piece->first_row[d + 1]; r++)
                raise_depth(o, piece->rows[r].first, piece->rows[r].last, piece->depth + d + 1);
        for (uint32_t g = 0; g < piece->gap_count; g++)
            add_lost(o, &piece->gaps[g]);
    }
    for (size_t g = 0; g < p->gap_count; g++)
        add_lost(o, &p->gaps[g]);
}

/* Add a thread whose chunks are wider than some columns. */
static int add_by_pieces(struct overview *o, uint32_t thread)
{
    struct nsc_pieces pieces = {0};
    uint64_t end_ns = o->from_ns + o->step_ns * o->width;
    int error = nsc_pieces_gather(o->ask, thread, 0, end_ns, o->level, DEPTH_MAX, &pieces);

    if (error == 0)
        add_pieces(o, &pieces);
    nsc_pieces_free(&pieces);
    return error;
}

static bool goes_by_index(const struct overview *o, const struct nsc_chunk *chunks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (chunks[i].max_depth > DEPTH_MAX)
            return true;
    return count > o->width / COLUMNS_A_CHUNK;
}

/* Raise the depth of the columns by a chunk's events. @open, @since_ns: number of open calls, and
 * since when. */
static void follow_events(struct overview *o, const struct nsc_event *events, size_t count,
                          struct nsc_clock_run *run, uint32_t *open, uint64_t *since_ns)
{
    uint32_t column = column_of(o, *since_ns);
    uint64_t end_ns = o->from_ns + (column + 1) * o->step_ns; /* end of the column */

    for (size_t i = 0; i < count; i++) {
        const struct nsc_event *e = &events[i];
        bool ends = e->kind == NSC_EVENT_EXIT || e->kind == NSC_EVENT_UNWIND ||
                    e->kind == NSC_EVENT_LATE_EXIT;
        uint64_t ns = nsc_clock_run_ns(run, e->ticks);

        *open = ends && e->depth + 1 > *open ? e->depth + 1 : *open;
        if (ns >= end_ns) {
            raise_depth(o, *since_ns, ns, *open);
            column = column_of(o, ns);
            end_ns = o->from_ns + (column + 1) * o->step_ns;
        } else if (*open > o->depth[column]) {
            o->depth[column] = *open;
        }
        *open = e->depth + (e->kind == NSC_EVENT_ENTER);
        *since_ns = ns;
    }
}

/* Add chunks that each lie in several columns: the maximum number of open calls in every column. */
static int add_by_events(struct overview *o, const struct nsc_chunk *chunks, uint32_t count)
{
    struct nsc_clock_run run;
    struct nsc_cursor *cursor;
    const struct nsc_chunk *chunk = NULL;
    const struct nsc_event *events;
    uint64_t since_ns = 0;
    uint32_t open = 0;
    size_t n;
    int more = nsc_cursor_open_chunk(o->ask->trace, chunks, &cursor, &o->ask->diag);

    if (more != 0)
        return more;
    nsc_clock_run_begin(&run, o->clock);
    while ((more = nsc_cursor_next(cursor, &events, &n, &o->ask->diag)) > 0) {
        if (nsc_cursor_chunk(cursor) == NULL)
            continue;
        if (nsc_cursor_chunk(cursor) != chunk) {
            chunk = nsc_cursor_chunk(cursor);
            if (chunk >= chunks + count)
                break;
            open = chunk->depth;
            since_ns = nsc_clock_ns(o->clock, chunk->first_ticks);
        }
        follow_events(o, events, n, &run, &open, &since_ns);
        if (chunk == chunks + count - 1 && nsc_cursor_at_chunk_end(cursor))
            break;
    }
    nsc_cursor_close(cursor);
    return more < 0 ? more : 0;
}

static uint32_t columns_of(const struct overview *o, const struct nsc_chunk *chunk)
{
    uint32_t columns = column_of(o, nsc_clock_ns(o->clock, chunk->last_ticks)) -
                       column_of(o, nsc_clock_ns(o->clock, chunk->first_ticks)) + 1;

    return chunk->missing || chunk->max_depth == chunk->min_depth ? 1 : columns;
}

/* Choose read_span such that at most READ_CHUNKS_MAX chunks are read. */
static void choose_read_span(struct overview *o)
{
    uint32_t threads = nsc_trace_info(o->ask->trace)->thread_count, spans[SPANS] = {0}, sum = 0;

    for (uint32_t t = 0; t < threads; t++) {
        uint32_t count;
        const struct nsc_chunk *chunks = nsc_trace_chunks(o->ask->trace, t, &count);

        for (uint32_t i = 0; goes_by_index(o, chunks, count) && i < count; i++) {
            uint32_t columns = columns_of(o, &chunks[i]);

            spans[columns < SPANS ? columns : SPANS - 1]++;
        }
    }
    o->read_span = SPANS;
    while (o->read_span > 2 && sum + spans[o->read_span - 1] <= READ_CHUNKS_MAX)
        sum += spans[--o->read_span];
}

/* Add a thread with many chunks: the depth of each chunk and, between chunks, the number of open
 * calls at the start of the next one. */
static int add_by_index(struct overview *o, const struct nsc_chunk *chunks, uint32_t count)
{
    uint64_t before_ns = nsc_clock_ns(o->clock, chunks[0].first_ticks);
    uint32_t read_end = 0; /* chunks before this one were read */
    int error = 0;

    for (uint32_t i = 0; i < count && error == 0; i++) {
        uint64_t first_ns = nsc_clock_ns(o->clock, chunks[i].first_ticks);
        uint64_t last_ns = nsc_clock_ns(o->clock, chunks[i].last_ticks);
        struct nsc_row_gap gap = {.from = first_ns, .lost = chunks[i].lost};

        if (chunks[i].missing) {
            gap.lost += chunks[i].events;
        } else if (columns_of(o, &chunks[i]) < o->read_span) {
            raise_depth(o, first_ns, last_ns, chunks[i].max_depth);
        } else if (i >= read_end) {
            for (read_end = i + 1;
                 read_end < count && columns_of(o, &chunks[read_end]) >= o->read_span;)
                read_end++;
            error = add_by_events(o, &chunks[i], read_end - i);
        }
        raise_depth(o, before_ns, first_ns, chunks[i].depth);
        before_ns = last_ns;
        if (gap.lost > 0)
            add_lost(o, &gap);
    }
    return error;
}

static int make_overview(struct overview *o)
{
    uint32_t threads = nsc_trace_info(o->ask->trace)->thread_count;
    int error = 0;

    choose_read_span(o);
    for (uint32_t i = 0; i < threads && error == 0; i++) {
        uint32_t count;
        const struct nsc_chunk *chunks = nsc_trace_chunks(o->ask->trace, i, &count);

        if (count == 0)
            continue;
        if (goes_by_index(o, chunks, count))
            error = add_by_index(o, chunks, count);
        else
            error = add_by_pieces(o, i);
    }
    return error;
}

static int put_overview(const struct overview *o)
{
    struct nsc_json *j = nsc_context_json(o->ask);

    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "width", o->width);
    nsc_json_open_array(j, "depth");
    for (uint32_t i = 0; i < o->width; i++)
        nsc_json_u64(j, NULL, o->depth[i]);
    nsc_json_close_array(j);
    nsc_json_open_array(j, "lost");
    for (uint32_t i = 0; i < o->width; i++)
        nsc_json_u64(j, NULL, o->lost[i]);
    nsc_json_close_array(j);
    nsc_json_close_object(j);
    return 0;
}

int nsc_engine_overview(struct nsc_engine_context *ask)
{
    const struct nsc_trace_info *info = nsc_trace_info(ask->trace);
    struct overview o = {.ask = ask, .clock = nsc_trace_clock(ask->trace)};
    uint64_t end_ns = nsc_clock_ns(o.clock, info->end_ticks), all_ns;
    int error;

    o.width = (uint32_t)nsc_context_needed(ask, "width", WIDTH_MAX);
    if (nsc_context_check(ask) != 0)
        return -EINVAL;
    if (o.width == 0)
        return nsc_context_refuse(ask, "`width` must not be 0");
    o.from_ns = nsc_clock_ns(o.clock, info->start_ticks);
    all_ns = end_ns > o.from_ns ? end_ns - o.from_ns : 0;
    o.step_ns = all_ns / o.width + 1;
    /* A column has whole nanoseconds: in a short trace fewer columns suffice to reach the end. */
    o.width = (uint32_t)(all_ns / o.step_ns) + 1;
    o.level = 63u - (uint32_t)__builtin_clzll(o.step_ns);
    o.depth = calloc(o.width, sizeof(*o.depth));
    o.lost = calloc(o.width, sizeof(*o.lost));
    error = o.depth != NULL && o.lost != NULL ? make_overview(&o) : nsc_context_no_memory(ask);
    if (error == 0)
        error = put_overview(&o);
    free(o.depth);
    free(o.lost);
    return error;
}
