/*
 * pieces.h - pieces: drawable parts of a thread at a zoom level, as rows by depth in order of time.
 *
 * Used by handle_tiles.c and handle_overview.c. They request a window of a thread and get
 * consecutive pieces. A piece is made from one chunk's events (piece.c), or from the summary in
 * chunk heads and index nodes. Only this file and pieces.c know the sources; add a coarser source
 * to pieces.c.
 *
 * Columns are 2^level ns wide and begin at multiples of that. A row stands for calls of one depth
 * that begin and end in the same column. A call that extends beyond its column has a row of its
 * own. Hence a row that stands for several calls lies completely inside or outside a tile, and
 * merging the rows of finer pieces gives the rows of coarser ones. A tile is the same, whichever
 * pieces it is made from.
 */
#ifndef NSC_VIEWER_ENGINE_PIECES_H
#define NSC_VIEWER_ENGINE_PIECES_H

#include "viewer/engine/cache.h"
#include "viewer/engine/context.h"

#define NSC_ROW_OPEN_END UINT64_MAX /* end of a call that continues beyond what was read */

struct nsc_row {
    uint64_t start, end;  /* of the longest call, ns */
    uint64_t first, last; /* start of the first call, end of the last one */
    uint32_t function;    /* of the longest call */
    uint16_t bound;       /* NSC_BOUND_* of the longest call */
    bool merged;          /* stands for several calls */
    bool alone;           /* no other row of its piece is merged into it */
};

struct nsc_row_gap {
    uint64_t from, to; /* ns */
    uint64_t lost;     /* events; 0 with left_out 0: unknown */
    uint64_t left_out; /* events rejected by the budget */
};

/* The calls that ended in a part of a thread. Rows of one depth do not overlap. */
struct nsc_piece {
    struct nsc_cache_item item;
    bool exact;                  /* no row stands for several calls */
    bool summary;                /* short calls may be missing, see struct nsc_chunk_row */
    uint32_t chunk_end;          /* of a summary: it covers the chunks before this one */
    uint32_t depth, depth_count; /* depths of its rows: from depth to depth + depth_count - 1 */
    uint32_t gap_count;
    const uint32_t *first_row; /* by depth - `depth`; one more entry at the end */
    const struct nsc_row *rows;
    const struct nsc_row_gap *gaps;
};

/* The calls that are open at a chunk's start, outermost first. */
struct nsc_open_calls {
    struct nsc_cache_item item;
    uint32_t count;
    struct nsc_row rows[]; /* with open ends */
};

/* Everything needed to draw a window of a thread. */
struct nsc_pieces {
    const struct nsc_piece **pieces; /* in order of time */
    size_t count, room;
    uint32_t max_depth;                /* of unread chunks that lie inside the window */
    const struct nsc_open_calls *open; /* calls that continue after the last piece, or NULL */
    uint32_t open_count;               /* how many of them begin before the window's end */
    struct nsc_row_gap *gaps;          /* in addition to those of the pieces */
    size_t gap_count, gap_room;
};

/**
 * nsc_pieces_gather - collect the pieces of a window of a thread.
 * @from_ns, @to_ns: the window, half open.
 * @level: columns are 2^level ns wide.
 * @depth_end: rows of depths below this one are wanted.
 * @out: initialise with zeros; may be reused; release with nsc_pieces_free(). The pieces belong to
 *       the engine's cache and are valid until its next nsc_cache_begin().
 * Returns 0 or -errno with the ask's diagnostic.
 */
int nsc_pieces_gather(struct nsc_engine_context *ask, uint32_t thread, uint64_t from_ns,
                      uint64_t to_ns, uint32_t level, uint32_t depth_end, struct nsc_pieces *out);
void nsc_pieces_free(struct nsc_pieces *p);

/* Merge @more, which begins in the same column and depth, into @row. */
static inline void nsc_piece_row_merge(struct nsc_row *row, const struct nsc_row *more)
{
    uint64_t first = row->first < more->first ? row->first : more->first;
    uint64_t last = row->last > more->last ? row->last : more->last;

    /* A call with an unknown end counts as longer than calls with a known one. */
    if (more->end == NSC_ROW_OPEN_END ||
        (row->end != NSC_ROW_OPEN_END && more->end - more->start > row->end - row->start))
        *row = *more;
    row->first = first;
    row->last = last;
    row->merged = true;
}

/* ---- piece.c -------------------------------------------------------------------------------- */

/**
 * nsc_piece_decode - make a piece from a chunk's events.
 * @index: among the thread's chunks; the chunk must not be missing.
 * The piece includes calls that were open before a gap preceding the chunk and ended in the gap.
 * @out: receives the piece, without a key; malloc'ed.
 * Returns 0 or -errno with the ask's diagnostic.
 */
int nsc_piece_decode(struct nsc_engine_context *ask, uint32_t thread, uint32_t index,
                     uint32_t level, struct nsc_piece **out);
/**
 * nsc_piece_summarise - make a piece from the heads and index nodes of several chunks.
 * @first, @end: range of the thread's chunks, @first < @end.
 * @out: receives the piece, as above. It ends before @end if a chunk's events are needed. If these
 *       are the first chunk's, it has no rows and ends at @first. Its chunk_end says where it ends.
 * Returns 0 or -errno.
 */
int nsc_piece_summarise(struct nsc_engine_context *ask, uint32_t thread, uint32_t first,
                        uint32_t end, uint32_t level, struct nsc_piece **out);
/* Approximate number of ticks in a column of 2^level ns; at least 1. */
uint64_t nsc_piece_column_ticks(const struct nsc_clock *clock, uint32_t level);
/* Whether chunks before this one are missing although the thread had begun. */
bool nsc_piece_follows_gap(const struct nsc_chunk *chunks, uint32_t index);

#endif
