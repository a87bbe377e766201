/*
 * levels.h - summaries and sums of a thread in a time window, at any zoom, without decoding its
 * events: from chunk heads and the index nodes above them (docs/format.md sections 4 and 7).
 *
 * Called by viewer/engine/ for rendering and by analyze/ for statistics of a window. A walk returns
 * pieces in time order. A piece covers one chunk or all chunks of a node. The walk always takes the
 * largest suitable node: a picture of 1,024 columns costs some dozens of reads, and the sums of any
 * window cost a few reads per level, for any length of the trace. Files without nodes (older
 * versions, the end of a growing file) give more and smaller pieces.
 *
 *     nsc_levels_range(t, thread, from, to, &first, &end);
 *     shift = nsc_levels_shift(ticks);
 *     nsc_levels_open(t, thread, first, end, NSC_LEVELS_ROWS, shift, &walk, diag);
 *     while ((more = nsc_levels_next(walk, &piece, diag)) == 1)
 *         if (piece.known)
 *             // draw piece.rows: the longest call of each depth and span of 2^piece.shift ticks,
 *             // of the calls that ended in the piece's chunks; rows may lie outside the window
 *         else
 *             // decode chunks [first_chunk, first_chunk + chunk_count): a cursor opened at
 *             // chunks[first_chunk].first_ticks, from there to nsc_cursor_at_chunk_end()
 *     nsc_levels_stack(t, thread, end, &stack, diag);  // calls still open after the pieces
 *     // draw stack.frames from their start_ticks to the right edge
 *
 * Every call that overlaps the window is in one of the three, except a call that is shorter than a
 * span and lies in the span of a longer call of the same depth. Calls at depth >= 512 are only in
 * events and stacks.
 */
#ifndef NSC_TRACE_READ_LEVELS_H
#define NSC_TRACE_READ_LEVELS_H

#include "trace/read/reader.h"

struct nsc_levels;

enum nsc_levels_wanted {
    NSC_LEVELS_ROWS, /* the summary */
    NSC_LEVELS_SUMS, /* totals with durations */
};

struct nsc_levels_piece {
    uint32_t first_chunk, chunk_count; /* index in nsc_trace_chunks() */
    uint32_t level;                    /* 0: a chunk */
    bool known;                        /* false: decode the events instead */
    /* For ROWS. Function ids are canonical. */
    uint32_t shift;
    uint32_t row_count;
    const struct nsc_chunk_row *rows;
    /* For SUMS, of calls that ended in the chunks. Ids as stored: an alias has its own sums. */
    uint32_t total_count;
    const struct nsc_chunk_total *totals;
};

/* The open calls at a chunk's start, outermost first; function ids are canonical. */
struct nsc_levels_stack {
    const struct nsc_frame *frames;
    const uint64_t *child_ticks; /* time in direct callees that had ended by then */
    uint32_t depth;
};

/* The largest shift of spans not longer than @ticks (at least 1). */
static inline uint32_t nsc_levels_shift(uint64_t ticks)
{
    return 63u - (uint32_t)__builtin_clzll(ticks | 1);
}

/* Find the chunks [*@first, *@end) that hold the thread's events in [@from_ticks, @to_ticks). */
void nsc_levels_range(const struct nsc_trace *t, uint32_t thread, uint64_t from_ticks,
                      uint64_t to_ticks, uint32_t *first, uint32_t *end);

/**
 * nsc_levels_open - begin a walk over chunks [@first, @end) of a thread.
 * @shift: for ROWS, the maximum span is 2^@shift ticks; else unused.
 * @out: receives the walk. It uses @t until it is closed; cursors may be used at the same time.
 * Pieces lie within the requested chunks, except for ROWS: there the first and the last piece may
 * include chunks before and after them. Chunks with missing events are skipped.
 * Returns 0, -EINVAL (no such thread or chunks) or -ENOMEM.
 */
int nsc_levels_open(struct nsc_trace *t, uint32_t thread, uint32_t first, uint32_t end,
                    enum nsc_levels_wanted wanted, uint32_t shift, struct nsc_levels **out,
                    struct nsc_diag *diag);

/**
 * nsc_levels_next - read the next piece.
 * @piece: its arrays are valid until the next call with the walk.
 * Returns 1, 0 at the end, or -errno (-EBADMSG with @diag).
 */
int nsc_levels_next(struct nsc_levels *walk, struct nsc_levels_piece *piece, struct nsc_diag *diag);
void nsc_levels_close(struct nsc_levels *walk);

/**
 * nsc_levels_stack - read the opening stack of a chunk.
 * @chunk: index in nsc_trace_chunks(). The number of chunks means the thread's end, with an empty
 *         stack.
 * @stack: receives the open calls, valid until the next call on this trace.
 * In a recovered file the outermost calls may be missing (their chunk heads are lost), and so are
 * calls open at the end. Returns 0, -EINVAL, -EBADMSG with @diag or -ENOMEM.
 */
int nsc_levels_stack(struct nsc_trace *t, uint32_t thread, uint32_t chunk,
                     struct nsc_levels_stack *stack, struct nsc_diag *diag);

#endif
