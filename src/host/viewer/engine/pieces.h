/*
 * pieces.h - what a stretch of a thread looks like at some zoom: calls by depth, in order of time.
 *
 * Used by handle_tiles.c, which asks for a window of a thread and gets pieces that follow each
 * other, each made of one chunk's events (piece.c) or of what its head tells of them. Where the
 * rows of a piece come from is known here only: whoever adds a coarser source adds it to pieces.c.
 *
 * Columns are 2^level ns wide and begin at multiples of that. A *row* stands for calls of one depth
 * that begin and end in the same column; one that goes on behind its column has a row of its own.
 * So a row that stands for several lies within a tile or outside of it, and rows of finer pieces
 * put together are those of coarser ones: a tile is the same, whichever of them it is made of.
 */
#ifndef NSC_VIEWER_ENGINE_PIECES_H
#define NSC_VIEWER_ENGINE_PIECES_H

#include "viewer/engine/cache.h"
#include "viewer/engine/context.h"

#define NSC_ROW_OPEN_END UINT64_MAX /* end of a call that goes on behind what was read */

struct nsc_row {
    uint64_t start, end;  /* of the longest, ns */
    uint64_t first, last; /* from the first one's start to the last one's end */
    uint32_t function;    /* of the longest */
    uint16_t bound;       /* NSC_BOUND_* of the longest */
    bool merged;          /* stands for several */
    bool alone;           /* in its piece, no other is put to it */
};

struct nsc_row_gap {
    uint64_t from, to; /* ns */
    uint64_t lost;     /* events; 0 = unknown, if none is left out */
    uint64_t left_out; /* by the budget */
};

/* The calls that ended in a part of a thread. Rows of one depth do not overlap. */
struct nsc_piece {
    struct nsc_cache_item item;
    bool exact;                  /* no row stands for several calls */
    bool summary;                /* short calls may be missing: see struct nsc_chunk_row */
    uint32_t chunk_end;          /* of a summary: it tells of the chunks before this one */
    uint32_t depth, depth_count; /* of the rows: from depth to depth + depth_count - 1 */
    uint32_t gap_count;
    const uint32_t *first_row; /* by depth - `depth`; one more at the end */
    const struct nsc_row *rows;
    const struct nsc_row_gap *gaps;
};

/* Calls that are open at a chunk's start, outermost first. */
struct nsc_open_calls {
    struct nsc_cache_item item;
    uint32_t count;
    struct nsc_row rows[]; /* with open ends */
};

/* All that is to be seen in a window of a thread. */
struct nsc_pieces {
    const struct nsc_piece **pieces; /* in order of time */
    size_t count, room;
    uint32_t max_depth; /* open calls in the chunks that were not read, as far as they lie inside */
    const struct nsc_open_calls *open; /* calls that go on behind the last piece, or NULL */
    uint32_t open_count;               /* of these, those that begin before the window's end */
    struct nsc_row_gap *gaps;          /* beside those of the pieces */
    size_t gap_count, gap_room;
};

/**
 * nsc_pieces_gather - find what a window of a thread is drawn from.
 * @from_ns, @to_ns: the window, half open.
 * @level: columns of 2^level ns.
 * @depth_end: rows of depths below this one are wanted.
 * @out: begin with zeros; its room is used again; nsc_pieces_free() it. The pieces belong to the
 *       engine's cache, valid until the next request.
 * Returns 0 or -errno with the ask's diagnostic.
 */
int nsc_pieces_gather(struct nsc_engine_context *ask, uint32_t thread, uint64_t from_ns,
                      uint64_t to_ns, uint32_t level, uint32_t depth_end, struct nsc_pieces *out);
void nsc_pieces_free(struct nsc_pieces *p);

/* Put @more, which begins in the same column of the same depth, to @row. */
static inline void nsc_piece_row_merge(struct nsc_row *row, const struct nsc_row *more)
{
    uint64_t first = row->first < more->first ? row->first : more->first;
    uint64_t last = row->last > more->last ? row->last : more->last;

    /* A call whose end is not known is longer than those that are. */
    if (more->end == NSC_ROW_OPEN_END ||
        (row->end != NSC_ROW_OPEN_END && more->end - more->start > row->end - row->start))
        *row = *more;
    row->first = first;
    row->last = last;
    row->merged = true;
}

/* ---- piece.c -------------------------------------------------------------------------------- */

/**
 * nsc_piece_decode - make a piece of a chunk's events.
 * @index: of the thread's chunks; not missing.
 * Calls that were open in a gap before it and ended there are its own, too.
 * @out: receives the piece, without a key; malloc'ed.
 * Returns 0 or -errno with the ask's diagnostic.
 */
int nsc_piece_decode(struct nsc_engine_context *ask, uint32_t thread, uint32_t index,
                     uint32_t level, struct nsc_piece **out);
/**
 * nsc_piece_summarise - make a piece of what heads and nodes tell of several chunks.
 * @first, @end: of the thread's chunks, @first < @end.
 * @out: likewise. It ends before @end if the events of a chunk are needed; at @first, with no rows,
 *       if they are of that one. Its chunk_end says so.
 * Returns 0 or -errno.
 */
int nsc_piece_summarise(struct nsc_engine_context *ask, uint32_t thread, uint32_t first,
                        uint32_t end, uint32_t level, struct nsc_piece **out);
/* About how many ticks a column of 2^level ns has; at least 1. */
uint64_t nsc_piece_column_ticks(const struct nsc_clock *clock, uint32_t level);
/* Whether chunks before this one are not there, though its thread had begun. */
bool nsc_piece_follows_gap(const struct nsc_chunk *chunks, uint32_t index);

#endif
