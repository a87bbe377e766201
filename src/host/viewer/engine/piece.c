/*
 * piece.c - makes pieces from chunks: from their events, or from heads and index nodes. See
 * pieces.h.
 *
 * Called by pieces.c. The loop over events dominates the cost of a picture that is not in the
 * cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/levels.h"
#include "viewer/engine/pieces.h"

/* Collects rows, in the order in which their calls end. */
struct maker {
    struct nsc_clock_run run; /* ticks are mostly converted within one or two clock segments */
    uint32_t level;
    struct nsc_row *rows;
    uint32_t *depths; /* by row */
    size_t count, room;
    size_t *tails; /* by depth: index of the last row plus 1; 0 = none yet */
    uint32_t tail_count;
    struct nsc_row_gap *gaps;
    size_t gap_count, gap_room;
    bool any_merged, summary;
    bool disordered; /* heads and nodes may give their rows in any order */
    /* Open calls of the thread; times in ticks. */
    struct nsc_frame *stack;
    uint32_t depth, stack_room;
    uint32_t opened;      /* how many of them began before the piece */
    uint64_t epoch_ticks; /* time since which a LATE_EXIT's call must have been open */
};

static void free_maker(struct maker *m)
{
    free(m->rows);
    free(m->depths);
    free(m->tails);
    free(m->gaps);
    free(m->stack);
}

static bool grow_rows(struct maker *m)
{
    size_t room = m->room * 2 + 1024;
    struct nsc_row *rows = reallocarray(m->rows, room, sizeof(*rows));
    uint32_t *depths;

    if (rows == NULL)
        return false;
    m->rows = rows;
    depths = reallocarray(m->depths, room, sizeof(*depths));
    if (depths == NULL)
        return false;
    m->depths = depths;
    m->room = room;
    return true;
}

static bool grow_tails(struct maker *m, uint32_t depth)
{
    size_t count = (size_t)depth * 2 + 64;
    size_t *tails = reallocarray(m->tails, count, sizeof(*tails));

    if (tails == NULL || count > UINT32_MAX)
        return false;
    memset(tails + m->tail_count, 0, (count - m->tail_count) * sizeof(*tails));
    m->tails = tails;
    m->tail_count = (uint32_t)count;
    return true;
}

/* The column that contains the last ns of the interval from @start to @end. */
static inline uint64_t last_column(const struct maker *m, uint64_t start, uint64_t end)
{
    return (end - (end > start)) >> m->level;
}

/* Add a call; calls are added in order of their ends. */
static bool add_call(struct maker *m, uint32_t depth, struct nsc_row *call)
{
    struct nsc_row *tail = NULL;

    if (depth >= m->tail_count && !grow_tails(m, depth))
        return false;
    if (m->tails[depth] > 0)
        tail = &m->rows[m->tails[depth] - 1];
    m->disordered |= tail != NULL && call->last < tail->last;
    call->alone |= last_column(m, call->first, call->last) != call->first >> m->level;
    if (tail != NULL && !tail->alone && !call->alone &&
        tail->first >> m->level == call->first >> m->level) {
        nsc_piece_row_merge(tail, call);
        m->any_merged = true;
        return true;
    }
    if (m->count == m->room && !grow_rows(m))
        return false;
    m->rows[m->count] = *call;
    m->depths[m->count] = depth;
    m->tails[depth] = ++m->count;
    return true;
}

static bool add_gap(struct maker *m, uint64_t ns, uint64_t value)
{
    if (m->gap_count == m->gap_room) {
        size_t room = m->gap_room * 2 + 16;
        struct nsc_row_gap *gaps = reallocarray(m->gaps, room, sizeof(*gaps));

        if (gaps == NULL)
            return false;
        m->gaps = gaps;
        m->gap_room = room;
    }
    m->gaps[m->gap_count++] = (struct nsc_row_gap){.from = ns,
                                                   .to = ns,
                                                   .lost = nsc_model_gap_lost(value),
                                                   .left_out = nsc_model_gap_left_out(value)};
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct nsc_row *x = a, *y = b;

    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Make the piece, in one block of memory: rows sorted by depth, within a depth in order of their
 * ends. */
static int finish(struct maker *m, struct nsc_piece **out)
{
    uint32_t low = 0, count = 0;
    struct nsc_piece *piece;
    struct nsc_row *rows;
    struct nsc_row_gap *gaps;
    uint32_t *first_row;
    size_t bytes;

    for (size_t i = 0; i < m->count; i++) {
        uint32_t end = m->depths[i] + 1;

        low = i == 0 || m->depths[i] < low ? m->depths[i] : low;
        count = end > count ? end : count;
    }
    count -= low;
    bytes = sizeof(*piece) + m->count * sizeof(*rows) + m->gap_count * sizeof(*gaps) +
            ((size_t)count + 2) * sizeof(*first_row);
    piece = m->count < UINT32_MAX ? malloc(bytes) : NULL;
    if (piece == NULL)
        return -ENOMEM;
    rows = (struct nsc_row *)(piece + 1);
    gaps = (struct nsc_row_gap *)(rows + m->count);
    first_row = (uint32_t *)(gaps + m->gap_count);
    *piece = (struct nsc_piece){
        .item.bytes = bytes,
        .exact = !m->any_merged && !m->summary,
        .summary = m->summary,
        .depth = low,
        .depth_count = count,
        .gap_count = (uint32_t)m->gap_count,
        .first_row = first_row,
        .rows = rows,
        .gaps = gaps,
    };
    if (m->gap_count > 0)
        memcpy(gaps, m->gaps, m->gap_count * sizeof(*gaps));
    memset(first_row, 0, ((size_t)count + 2) * sizeof(*first_row));
    /* Count two places ahead: the prefix sums then give the starts, which become the ends as rows
     * are placed, one place ahead. */
    for (size_t i = 0; i < m->count; i++)
        first_row[m->depths[i] - low + 2]++;
    for (uint32_t i = 2; i < count + 2; i++)
        first_row[i] += first_row[i - 1];
    for (size_t i = 0; i < m->count; i++)
        rows[first_row[m->depths[i] - low + 1]++] = m->rows[i];
    for (uint32_t i = 0; m->disordered && i < count; i++)
        qsort(rows + first_row[i], first_row[i + 1] - first_row[i], sizeof(*rows), compare_rows);
    *out = piece;
    return 0;
}

/* ---- From events ----------------------------------------------------------------------------- */

static bool grow_stack(struct maker *m)
{
    uint32_t room = m->stack_room * 2 + 64;
    struct nsc_frame *stack = reallocarray(m->stack, room, sizeof(*stack));

    if (stack == NULL)
        return false;
    m->stack = stack;
    m->stack_room = room;
    return true;
}

static inline bool push(struct maker *m, uint64_t start_ticks, uint32_t function, uint32_t bound)
{
    struct nsc_frame *frame;

    if (m->depth == m->stack_room && !grow_stack(m))
        return false;
    frame = &m->stack[m->depth++];
    frame->start_ticks = start_ticks;
    frame->function = function;
    frame->bound = bound;
    return true;
}

static inline bool end_call(struct maker *m, const struct nsc_frame *frame, uint32_t bound,
                            uint64_t end_ticks)
{
    uint64_t start = nsc_clock_run_ns(&m->run, frame->start_ticks);
    uint64_t end = nsc_clock_run_ns(&m->run, end_ticks);
    size_t tail = m->depth < m->tail_count ? m->tails[m->depth] : 0;
    bool opened = m->depth < m->opened;

    /* Most calls of a picture are shorter than the row that they join, and begin after it. */
    if (tail > 0) {
        struct nsc_row *row = &m->rows[tail - 1];

        if (row->first >> m->level == last_column(m, start, end) && !row->alone &&
            end - start <= row->end - row->start) {
            row->last = end;
            row->merged = true;
            m->any_merged = true;
            return true;
        }
    }
    /* In a damaged file a call from before the piece may overlap rows that are already there.
     * handle_tiles.c corrects this, so the call must not be merged here. */
    m->opened = opened ? m->depth : m->opened;
    return add_call(m, m->depth,
                    &(struct nsc_row){
                        .start = start,
                        .end = end,
                        .first = start,
                        .last = end,
                        .function = frame->function,
                        .bound = (uint16_t)bound,
                        .alone = opened,
                    });
}

/* A call without a recorded entry fills the free time at its depth before its end. */
static bool end_late(struct maker *m, const struct nsc_event *e)
{
    uint64_t start = nsc_clock_run_ns(&m->run, m->epoch_ticks);
    uint64_t end = nsc_clock_run_ns(&m->run, e->ticks);

    if (m->depth < m->tail_count && m->tails[m->depth] > 0) {
        uint64_t last = m->rows[m->tails[m->depth] - 1].last;

        start = last > start ? last : start;
    }
    return add_call(m, m->depth,
                    &(struct nsc_row){
                        .start = start,
                        .end = end,
                        .first = start,
                        .last = end,
                        .function = e->function,
                        .bound = (uint16_t)(NSC_BOUND_START | nsc_model_end_bound(e)),
                    });
}

/* Apply one event. @told: false for events before the piece, whose calls are not added. */
static inline bool follow(struct maker *m, const struct nsc_event *e, bool told)
{
    const struct nsc_frame *frame;

    switch ((enum nsc_event_kind)e->kind) {
    case NSC_EVENT_ENTER:
        return push(m, e->ticks, e->function, (uint32_t)e->value);
    case NSC_EVENT_EXIT:
    case NSC_EVENT_UNWIND:
        if (m->depth == 0)
            return true;
        frame = &m->stack[--m->depth];
        return !told || end_call(m, frame, frame->bound | nsc_model_end_bound(e), e->ticks);
    case NSC_EVENT_LATE_EXIT:
        return !told || end_late(m, e);
    case NSC_EVENT_LOST:
        m->epoch_ticks = e->ticks;
        return !told || add_gap(m, nsc_clock_run_ns(&m->run, e->ticks), e->value);
    }
    return true;
}

bool nsc_piece_follows_gap(const struct nsc_chunk *chunks, uint32_t index)
{
    return index > 0 ? chunks[index - 1].missing ||
                           chunks[index].sequence != chunks[index - 1].sequence + 1
                     : chunks[index].sequence != 0;
}

/* The chunk to start reading from, so that the events of a gap before chunks[@index] are
 * included. */
static uint32_t first_to_read(const struct nsc_chunk *chunks, uint32_t index)
{
    if (!nsc_piece_follows_gap(chunks, index))
        return index;
    while (index > 0 && chunks[--index].missing)
        continue;
    return index;
}

static int read_chunk(struct nsc_engine_context *ask, struct maker *m, struct nsc_cursor *c,
                      const struct nsc_chunk *chunks, uint32_t from, uint32_t index)
{
    const struct nsc_event *events;
    const struct nsc_frame *frames;
    uint32_t depth, count;
    bool to_end, told = from == index;
    size_t n;
    int result = nsc_cursor_stack(c, &frames, &depth);

    nsc_trace_chunks(ask->trace, chunks[index].thread, &count);
    /* At the end of a truncated file, all open calls end. */
    to_end = index + 1 == count && nsc_trace_info(ask->trace)->recovered;
    for (uint32_t i = 0; i < depth; i++)
        if (!push(m, frames[i].start_ticks, frames[i].function, frames[i].bound))
            return nsc_context_no_memory(ask);
    m->opened = depth;
    m->epoch_ticks = chunks[from].first_ticks;
    while (result >= 0 && (result = nsc_cursor_next(c, &events, &n, &ask->diag)) > 0) {
        const struct nsc_chunk *chunk = nsc_cursor_chunk(c);

        told = told || chunk != &chunks[from];
        for (size_t i = 0; i < n; i++)
            if (!follow(m, &events[i], told))
                return nsc_context_no_memory(ask);
        if (chunk == &chunks[index] && nsc_cursor_at_chunk_end(c) && !to_end)
            break;
    }
    return result < 0 ? result : 0;
}

int nsc_piece_decode(struct nsc_engine_context *ask, uint32_t thread, uint32_t index,
                     uint32_t level, struct nsc_piece **out)
{
    struct maker m = {.level = level};
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(ask->trace, thread, &count);
    uint32_t from = first_to_read(chunks, index);
    struct nsc_cursor *cursor;
    int error;

    nsc_clock_run_begin(&m.run, nsc_trace_clock(ask->trace));
    /* If all earlier chunks are missing, the cursor begins at the thread's start. */
    if (chunks[from].missing)
        error = nsc_cursor_open(ask->trace, thread, 0, &cursor, &ask->diag);
    else
        error = nsc_cursor_open_chunk(ask->trace, &chunks[from], &cursor, &ask->diag);
    if (error != 0)
        return error;
    error = read_chunk(ask, &m, cursor, chunks, from, index);
    nsc_cursor_close(cursor);
    if (error == 0 && finish(&m, out) != 0)
        error = nsc_context_no_memory(ask);
    free_maker(&m);
    return error;
}

/* ---- From heads and nodes -------------------------------------------------------------------- */

uint64_t nsc_piece_column_ticks(const struct nsc_clock *clock, uint32_t level)
{
    double ticks = (double)((uint64_t)1 << level) / clock->ns_per_tick;

    if (ticks < 1)
        return 1;
    return ticks < 0x1p62 ? (uint64_t)ticks : (uint64_t)1 << 62;
}

/* Add the rows of calls that ended from @from_ticks to @to_ticks. Returns false if out of
 * memory. */
static bool add_rows(struct maker *m, const struct nsc_levels_piece *piece, uint64_t from_ticks,
                     uint64_t to_ticks)
{
    for (uint32_t i = 0; i < piece->row_count; i++) {
        const struct nsc_chunk_row *r = &piece->rows[i];
        uint64_t end = nsc_clock_run_ns(&m->run, r->end_ticks);
        uint64_t start = nsc_clock_run_ns(&m->run, r->end_ticks - r->duration_ticks);
        struct nsc_row row = {.start = start,
                              .end = end,
                              .first = start,
                              .last = end,
                              .function = r->function,
                              .merged = r->duration_ticks >> piece->shift == 0};

        if (r->end_ticks >= from_ticks && r->end_ticks <= to_ticks && !add_call(m, r->depth, &row))
            return false;
    }
    return true;
}

int nsc_piece_summarise(struct nsc_engine_context *ask, uint32_t thread, uint32_t first,
                        uint32_t end, uint32_t level, struct nsc_piece **out)
{
    const struct nsc_clock *clock = nsc_trace_clock(ask->trace);
    struct maker m = {.level = level, .summary = true};
    uint32_t count, chunk_end = first;
    const struct nsc_chunk *chunks = nsc_trace_chunks(ask->trace, thread, &count);
    struct nsc_levels_piece piece;
    struct nsc_levels *walk;
    int more =
        nsc_levels_open(ask->trace, thread, first, end, NSC_LEVELS_ROWS,
                        nsc_levels_shift(nsc_piece_column_ticks(clock, level)), &walk, &ask->diag);

    if (more != 0)
        return more;
    nsc_clock_run_begin(&m.run, clock);
    while ((more = nsc_levels_next(walk, &piece, &ask->diag)) > 0 && piece.known) {
        /* A node may cover further chunks on either side: their calls belong to other pieces. */
        if (!add_rows(&m, &piece, chunks[first].first_ticks, chunks[end - 1].last_ticks)) {
            more = nsc_context_no_memory(ask);
            break;
        }
        chunk_end = piece.first_chunk + piece.chunk_count;
    }
    nsc_levels_close(walk);
    if (more >= 0)
        more = finish(&m, out) == 0 ? 0 : nsc_context_no_memory(ask);
    if (more == 0)
        (*out)->chunk_end = chunk_end < end ? chunk_end : end;
    free_maker(&m);
    return more;
}
