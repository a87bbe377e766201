/*
 * levels.h - what a thread did between two times, at any zoom, without reading its events: the
 * heads of its chunks and the nodes above them (docs/format.md 4 and 7).
 *
 * Called by answer/ for pictures and by analyze/ for statistics of a window. A walk gives pieces,
 * in order of time, each of one chunk or of the many that a node is above. It always takes the
 * largest that will do, so that a picture of 1,024 columns costs some dozens of reads, and the
 * sums of any window a few for each level, however long the trace. Files that lack nodes (older
 * ones, the end of a growing one) give more and smaller pieces.
 *
 *     nsc_levels_range(t, thread, from, to, &first, &end);
 *     nsc_levels_open(t, thread, first, end, NSC_LEVELS_ROWS, nsc_levels_shift(ticks), &walk,
 * diag); while ((more = nsc_levels_next(walk, &piece, diag)) == 1) if (piece.known)
 *             // paint piece.rows: the longest call of each depth and span of 2^piece.shift ticks,
 *             // of those that ended in the piece's chunks; rows may lie outside the window
 *         else
 *             // decode chunks [first_chunk, first_chunk + chunk_count): a cursor opened at
 *             // chunks[first_chunk].first_ticks, from there to nsc_cursor_at_chunk_end()
 *     nsc_levels_stack(t, thread, end, &stack, diag);  // calls that are still open behind them
 *     // paint stack.frames from their start_ticks to the right edge
 *
 * Every call that overlaps the window is in one of the three, or is shorter than a span and lies in
 * the span of a longer one of its depth. Depths from 512 on are told by events and stacks only.
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
    bool known;                        /* false: the events must be read */
    /* For ROWS. Function ids are canonical. */
    uint32_t shift;
    uint32_t row_count;
    const struct nsc_chunk_row *rows;
    /* For SUMS, of calls that ended in the chunks. Ids as stored: an alias has sums of its own. */
    uint32_t total_count;
    const struct nsc_chunk_total *totals;
};

/* The open calls at a chunk's start, outermost first; function ids are canonical. */
struct nsc_levels_stack {
    const struct nsc_frame *frames;
    const uint64_t *child_ticks; /* time in direct callees that have ended */
    uint32_t depth;
};

/* The shift of spans that are no longer than @ticks (at least 1). */
static inline uint32_t nsc_levels_shift(uint64_t ticks)
{
    return 63u - (uint32_t)__builtin_clzll(ticks | 1);
}

/* Chunks [*@first, *@end) of the thread hold its events of [@from_ticks, @to_ticks), if any. */
void nsc_levels_range(const struct nsc_trace *t, uint32_t thread, uint64_t from_ticks,
                      uint64_t to_ticks, uint32_t *first, uint32_t *end);

/**
 * nsc_levels_open - begin a walk over chunks [@first, @end) of a thread.
 * @shift: for ROWS, the longest spans that will do are of 2^@shift ticks; else not used.
 * @out: receives the walk; it uses @t until it is closed, beside any cursors.
 * Pieces lie within the chunks asked for, but for those of ROWS: the first and the last may be of
 * more chunks than that, before and behind. Chunks whose events are missing are passed over.
 * Returns 0, -EINVAL (no such thread or chunks) or -ENOMEM.
 */
int nsc_levels_open(struct nsc_trace *t, uint32_t thread, uint32_t first, uint32_t end,
                    enum nsc_levels_wanted wanted, uint32_t shift, struct nsc_levels **out,
                    struct nsc_diag *diag);

/**
 * nsc_levels_next - the next piece.
 * @piece: what it points at is valid until the next call with the walk.
 * Returns 1, 0 at the end, or -errno (-EBADMSG with @diag).
 */
int nsc_levels_next(struct nsc_levels *walk, struct nsc_levels_piece *piece, struct nsc_diag *diag);
void nsc_levels_close(struct nsc_levels *walk);

/**
 * nsc_levels_stack - the calls that are open where a chunk begins.
 * @chunk: index in nsc_trace_chunks(); their number: behind the last one, where none is open.
 * @stack: receives them, valid until the next call on this trace.
 * Of a recovered file it may lack outermost calls that no head tells, and those that are open at
 * its end. Returns 0, -EINVAL, -EBADMSG with @diag or -ENOMEM.
 */
int nsc_levels_stack(struct nsc_trace *t, uint32_t thread, uint32_t chunk,
                     struct nsc_levels_stack *stack, struct nsc_diag *diag);

#endif
