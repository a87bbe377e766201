/*
 * pieces.c - collects the pieces of a window of a thread; see pieces.h.
 *
 * Called by handle_tiles.c and handle_overview.c. Reads only what the window and its zoom need: the
 * events of chunks that are wide on screen, else the summary in their heads. Pieces are kept in the
 * engine's cache.
 */
#include "viewer/engine/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/levels.h"
#include "util/search.h"

/* A wider chunk needs its events: its summary has only about 64 spans. */
#define SUMMARY_COLUMNS_MAX 128u
/* Cached pieces that are finer than needed by up to this many levels are used. */
#define FINER_LEVELS        3u
/* Maximum number of chunks of a window that are read to locate lost events. */
#define GAP_CHUNKS_MAX      16u
/* Summaries end at this depth; for deeper calls, up to DEEP_CHUNKS_MAX chunks of a window are
 * read. */
#define SUMMARY_DEPTH_MAX   512u
#define DEEP_CHUNKS_MAX     64u

/* A window of a thread, and the thread's chunks. */
struct window {
    struct nsc_engine_context *ask;
    const struct nsc_clock *clock;
    const struct nsc_chunk *chunks;
    uint32_t chunk_count;
    uint32_t thread, level;
    uint64_t column_ticks; /* at least 1 */
    uint64_t from_ns, to_ns;
    uint32_t gap_chunks;  /* how many more chunks may be read to locate lost events */
    uint32_t deep_chunks; /* the same for calls too deep for summaries; 0: not wanted */
};

static struct nsc_cache_key key_of(const struct window *w, enum nsc_cache_kind kind, uint64_t place,
                                   uint64_t form)
{
    return (struct nsc_cache_key){
        .trace = w->ask->trace, .kind = kind, .thread = w->thread, .place = place, .form = form};
}

static uint64_t first_ns(const struct window *w, uint32_t index)
{
    return nsc_clock_ns(w->clock, w->chunks[index].first_ticks);
}

static uint64_t last_ns(const struct window *w, uint32_t index)
{
    return nsc_clock_ns(w->clock, w->chunks[index].last_ticks);
}

/* The first chunk that ends (or, if @by_start, begins) at or after @ns, or the number of chunks. */
static uint32_t find_chunk(const struct window *w, uint64_t ns, bool by_start)
{
    return NSC_PARTITION_POINT(i, w->chunk_count, (by_start ? first_ns(w, i) : last_ns(w, i)) < ns);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void keep(const struct window *w, struct nsc_cache_item *item,
                 const struct nsc_cache_key *key)
{
    item->key = *key;
    nsc_cache_add(w->ask->cache, item);
}

/* Find a cached piece with all events at this level or a finer one. */
static const struct nsc_piece *find_decoded(const struct window *w, uint32_t chunk)
{
    /* A piece that is exact at any level is stored at level 0. */
    struct nsc_cache_key key = key_of(w, NSC_CACHE_DECODED, chunk, 0);
    const struct nsc_piece *piece = nsc_cache_find(w->ask->cache, &key);

    for (uint32_t finer = 0; piece == NULL && finer <= FINER_LEVELS && finer < w->level; finer++) {
        key.form = w->level - finer;
        piece = nsc_cache_find(w->ask->cache, &key);
    }
    return piece;
}

static int decode(const struct window *w, uint32_t chunk, const struct nsc_piece **out)
{
    const struct nsc_piece *found = find_decoded(w, chunk);
    struct nsc_cache_key key;
    struct nsc_piece *piece;
    int error;

    if (found != NULL) {
        *out = found;
        return 0;
    }
    error = nsc_piece_decode(w->ask, w->thread, chunk, w->level, &piece);
    if (error != 0)
        return error;
    key = key_of(w, NSC_CACHE_DECODED, chunk, piece->exact ? 0 : w->level);
    keep(w, &piece->item, &key);
    *out = piece;
    return 0;
}

/* Make or find the summary of chunks [@first, @end), or of the first of them. */
static int summarise(const struct window *w, uint32_t first, uint32_t end,
                     const struct nsc_piece **out)
{
    struct nsc_cache_key key = key_of(w, NSC_CACHE_SUMMARY, (uint64_t)first << 32 | end, w->level);
    const struct nsc_piece *found = nsc_cache_find(w->ask->cache, &key);

    if (found == NULL) {
        struct nsc_piece *piece;
        int error = nsc_piece_summarise(w->ask, w->thread, first, end, w->level, &piece);

        if (error != 0)
            return error;
        keep(w, &piece->item, &key);
        found = piece;
    }
    *out = found;
    return 0;
}

static int add_piece(struct nsc_pieces *p, struct nsc_engine_context *ask,
                     const struct nsc_piece *piece)
{
    if (p->count == p->room) {
        size_t room = p->room * 2 + 16;
        const struct nsc_piece **pieces = reallocarray(p->pieces, room, sizeof(*pieces));

        if (pieces == NULL)
            return nsc_context_no_memory(ask);
        p->pieces = pieces;
        p->room = room;
    }
    p->pieces[p->count++] = piece;
    return 0;
}

/* Add a gap that is located only as far as its chunk. */
static int add_wide_gap(const struct window *w, struct nsc_pieces *p, uint32_t chunk, uint64_t lost)
{
    if (p->gap_count == p->gap_room) {
        size_t room = p->gap_room * 2 + 16;
        struct nsc_row_gap *gaps = reallocarray(p->gaps, room, sizeof(*gaps));

        if (gaps == NULL)
            return nsc_context_no_memory(w->ask);
        p->gaps = gaps;
        p->gap_room = room;
    }
    p->gaps[p->gap_count++] =
        (struct nsc_row_gap){.from = first_ns(w, chunk), .to = last_ns(w, chunk), .lost = lost};
    return 0;
}

/* Whether the events of a chunk must be read. */
static bool needs_events(struct window *w, uint32_t chunk)
{
    const struct nsc_chunk *c = &w->chunks[chunk];
    uint64_t width = c->last_ticks - c->first_ticks;

    /* Only events show what happened in a gap, or at the end of a truncated file. */
    if (nsc_piece_follows_gap(w->chunks, chunk) ||
        (chunk + 1 == w->chunk_count && nsc_trace_info(w->ask->trace)->recovered))
        return true;
    if (c->lost > 0 && width > w->column_ticks && w->gap_chunks > 0) {
        w->gap_chunks--;
        return true;
    }
    if (c->max_depth > SUMMARY_DEPTH_MAX && w->deep_chunks > 0) {
        w->deep_chunks--;
        return true;
    }
    return width / SUMMARY_COLUMNS_MAX >= w->column_ticks;
}

static int gather_decoded(struct window *w, uint32_t chunk, struct nsc_pieces *out)
{
    const struct nsc_piece *piece;
    int error = decode(w, chunk, &piece);

    return error != 0 ? error : add_piece(out, w->ask, piece);
}

/* Add what the chunk index states beyond the summary: depth and losses. */
static int add_chunk_facts(const struct window *w, struct nsc_pieces *p, uint32_t chunk)
{
    const struct nsc_chunk *c = &w->chunks[chunk];

    if (c->max_depth > p->max_depth && first_ns(w, chunk) >= w->from_ns &&
        last_ns(w, chunk) < w->to_ns)
        p->max_depth = c->max_depth;
    return c->lost > 0 ? add_wide_gap(w, p, chunk, c->lost) : 0;
}

/* Collect chunks [@first, @end), none of which needs its events unless its summary is
 * insufficient. */
static int gather_run(struct window *w, uint32_t first, uint32_t end, struct nsc_pieces *out)
{
    int error = 0;

    while (first < end && error == 0) {
        const struct nsc_piece *piece;

        error = summarise(w, first, end, &piece);
        if (error == 0 && piece->chunk_end > first) {
            for (; first < piece->chunk_end && error == 0; first++)
                error = add_chunk_facts(w, out, first);
            if (error == 0)
                error = add_piece(out, w->ask, piece);
        } else if (error == 0) {
            error = gather_decoded(w, first++, out);
        }
    }
    return error;
}

/* Collect chunks [@first, @end). */
static int gather_chunks(struct window *w, uint32_t first, uint32_t end, struct nsc_pieces *out)
{
    uint32_t run = first; /* start of the run of chunks that are not collected yet */
    int error = 0;

    for (uint32_t i = first; i < end && error == 0; i++) {
        bool missing = w->chunks[i].missing;

        if (!missing && !needs_events(w, i))
            continue;
        error = gather_run(w, run, i, out);
        run = i + 1;
        if (error == 0 && missing)
            error = add_wide_gap(w, out, i, w->chunks[i].events + w->chunks[i].lost);
        else if (error == 0)
            error = gather_decoded(w, i, out);
    }
    return error == 0 && run < end ? gather_run(w, run, end, out) : error;
}

/* ---- Calls that continue after the window ---------------------------------------------------- */

static int read_open_calls(const struct window *w, uint32_t chunk, struct nsc_open_calls **out)
{
    struct nsc_levels_stack stack;
    struct nsc_open_calls *open;
    size_t bytes;
    int error = nsc_levels_stack(w->ask->trace, w->thread, chunk, &stack, &w->ask->diag);

    if (error != 0)
        return error;
    bytes = sizeof(*open) + stack.depth * sizeof(open->rows[0]);
    open = malloc(bytes);
    if (open == NULL)
        return nsc_context_no_memory(w->ask);
    *open = (struct nsc_open_calls){.item.bytes = bytes, .count = stack.depth};
    for (uint32_t i = 0; i < stack.depth; i++) {
        uint64_t start = nsc_clock_ns(w->clock, stack.frames[i].start_ticks);

        open->rows[i] = (struct nsc_row){.start = start,
                                         .end = NSC_ROW_OPEN_END,
                                         .first = start,
                                         .last = NSC_ROW_OPEN_END,
                                         .function = stack.frames[i].function,
                                         .bound = (uint16_t)stack.frames[i].bound};
    }
    *out = open;
    return 0;
}

/* Get the calls that are open at the start of chunks[@chunk]. */
static int gather_open_calls(const struct window *w, uint32_t chunk, struct nsc_pieces *out)
{
    struct nsc_cache_key key = key_of(w, NSC_CACHE_OPEN_CALLS, chunk, 0);
    const struct nsc_open_calls *open = nsc_cache_find(w->ask->cache, &key);

    if (open == NULL) {
        struct nsc_open_calls *read = NULL;
        int error = read_open_calls(w, chunk, &read);

        if (error != 0)
            return error;
        keep(w, &read->item, &key);
        open = read;
    }
    out->open = open;
    out->open_count = NSC_PARTITION_POINT(i, open->count, open->rows[i].start < w->to_ns);
    return 0;
}

/* ---- The window ------------------------------------------------------------------------------ */

int nsc_pieces_gather(struct nsc_engine_context *ask, uint32_t thread, uint64_t from_ns,
                      uint64_t to_ns, uint32_t level, uint32_t depth_end, struct nsc_pieces *out)
{
    struct window w = {
        .ask = ask,
        .clock = nsc_trace_clock(ask->trace),
        .thread = thread,
        .level = level,
        .from_ns = from_ns,
        .to_ns = to_ns,
        .gap_chunks = GAP_CHUNKS_MAX,
        .deep_chunks = depth_end > SUMMARY_DEPTH_MAX ? DEEP_CHUNKS_MAX : 0,
    };
    uint32_t end;
    int error;

    out->count = out->gap_count = 0;
    out->max_depth = 0;
    out->open = NULL;
    out->open_count = 0;
    w.chunks = nsc_trace_chunks(ask->trace, thread, &w.chunk_count);
    w.column_ticks = nsc_piece_column_ticks(w.clock, level);
    end = find_chunk(&w, to_ns, true);
    error = gather_chunks(&w, find_chunk(&w, from_ns, false), end, out);
    while (error == 0 && end < w.chunk_count && w.chunks[end].missing)
        end++;
    if (error != 0 || end == w.chunk_count)
        return error;
    /* Calls that ended in a gap are reported by the chunk after it. */
    if (nsc_piece_follows_gap(w.chunks, end))
        error = gather_decoded(&w, end, out);
    return error != 0 ? error : gather_open_calls(&w, end, out);
}

void nsc_pieces_free(struct nsc_pieces *p)
{
    free(p->pieces);
    free(p->gaps);
    *p = (struct nsc_pieces){0};
}
