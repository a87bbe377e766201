/*
 * pieces.c - which pieces a window of a thread is drawn from; see pieces.h.
 *
 * Called by tiles.c. Reads no more than what the window and its zoom need: events of the chunks
 * that overlap it while these are wide, else what their heads tell. Pieces are kept in the engine's
 * cache.
 */
#include "answer/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A chunk that is wider than this has no summary that would do: it has about 64 spans. */
#define SUMMARY_COLUMNS_MAX 256u
/* Finer pieces than needed are used if they are in the cache, by up to so many levels. */
#define FINER_LEVELS        3u
/* So many chunks of a window with losses are read to find where these are. */
#define GAP_CHUNKS_MAX      16u

enum piece_kind { KIND_DECODED, KIND_SUMMARY, KIND_OPEN_CALLS };

/* The chunks of a thread, and a window of it. */
struct window {
    struct nsc_answer_ask *ask;
    const struct nsc_clock *clock;
    const struct nsc_chunk *chunks;
    uint32_t chunk_count;
    uint32_t thread, level;
    uint64_t from_ns, to_ns;
    uint32_t gap_chunks; /* with losses, that may still be read because of them */
};

static struct nsc_cache_key key_of(const struct window *w, enum piece_kind kind, uint32_t chunk,
                                   uint32_t level)
{
    return (struct nsc_cache_key){
        .trace = w->ask->trace, .kind = kind, .thread = w->thread, .chunk = chunk, .level = level};
}

static uint64_t first_ns(const struct window *w, uint32_t index)
{
    return nsc_clock_ns(w->clock, w->chunks[index].first_ticks);
}

static uint64_t last_ns(const struct window *w, uint32_t index)
{
    return nsc_clock_ns(w->clock, w->chunks[index].last_ticks);
}

/* The first chunk that ends (or, if @by_start, begins) at or after @ns, or their number. */
static uint32_t find_chunk(const struct window *w, uint64_t ns, bool by_start)
{
    uint32_t low = 0, high = w->chunk_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if ((by_start ? first_ns(w, middle) : last_ns(w, middle)) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- One chunk ------------------------------------------------------------------------------- */

static void keep(const struct window *w, struct nsc_cache_item *item, enum piece_kind kind,
                 uint32_t chunk, uint32_t level)
{
    item->key = key_of(w, kind, chunk, level);
    nsc_cache_add(w->ask->cache, item);
}

/* A piece with all events at this level or a finer one, if it was made before. */
static const struct nsc_piece *find_decoded(const struct window *w, uint32_t chunk)
{
    struct nsc_cache_key key = key_of(w, KIND_DECODED, chunk, 0);
    const struct nsc_piece *piece = nsc_cache_find(w->ask->cache, &key);

    /* One that is exact at any level stands at level 0. */
    for (uint32_t finer = 0; piece == NULL && finer <= FINER_LEVELS && finer < w->level; finer++) {
        key.level = w->level - finer;
        piece = nsc_cache_find(w->ask->cache, &key);
    }
    return piece;
}

static int decode(const struct window *w, uint32_t chunk, const struct nsc_piece **out)
{
    const struct nsc_piece *found = find_decoded(w, chunk);
    struct nsc_piece *piece;
    int error;

    if (found != NULL) {
        *out = found;
        return 0;
    }
    error = nsc_piece_decode(w->ask, w->thread, chunk, w->level, &piece);
    if (error != 0)
        return error;
    keep(w, &piece->item, KIND_DECODED, chunk, piece->exact ? 0 : w->level);
    *out = piece;
    return 0;
}

/* 1, or 0 if what the head tells is not enough. */
static int summarise(const struct window *w, uint32_t chunk, const struct nsc_piece **out)
{
    struct nsc_cache_key key = key_of(w, KIND_SUMMARY, chunk, 0);
    const struct nsc_piece *found = nsc_cache_find(w->ask->cache, &key);

    if (found == NULL) {
        struct nsc_piece *piece;
        int error = nsc_piece_summarise(w->ask, w->thread, chunk, &piece);

        if (error != 0)
            return error;
        keep(w, &piece->item, KIND_SUMMARY, chunk, 0);
        found = piece;
    }
    *out = found;
    return found->level <= w->level;
}

/* Whether what the head tells of a chunk may be enough. */
static bool may_summarise(const struct window *w, uint32_t chunk)
{
    uint64_t width = last_ns(w, chunk) - first_ns(w, chunk);

    /* What happened in a gap, and at the end of a file that was cut off, only its events tell. */
    if (nsc_piece_follows_gap(w->chunks, chunk) ||
        (chunk + 1 == w->chunk_count && nsc_trace_info(w->ask->trace)->recovered))
        return false;
    return width >> w->level < SUMMARY_COLUMNS_MAX;
}

static int add_piece(struct nsc_pieces *p, struct nsc_answer_ask *ask,
                     const struct nsc_piece *piece)
{
    if (p->count == p->room) {
        size_t room = p->room * 2 + 16;
        const struct nsc_piece **pieces = reallocarray(p->pieces, room, sizeof(*pieces));

        if (pieces == NULL)
            return nsc_ask_no_memory(ask);
        p->pieces = pieces;
        p->room = room;
    }
    p->pieces[p->count++] = piece;
    return 0;
}

/* A gap of which no more is known than the chunk it lies in. */
static int add_wide_gap(const struct window *w, struct nsc_pieces *p, uint32_t chunk, uint64_t lost)
{
    if (p->gap_count == p->gap_room) {
        size_t room = p->gap_room * 2 + 16;
        struct nsc_row_gap *gaps = reallocarray(p->gaps, room, sizeof(*gaps));

        if (gaps == NULL)
            return nsc_ask_no_memory(w->ask);
        p->gaps = gaps;
        p->gap_room = room;
    }
    p->gaps[p->gap_count++] =
        (struct nsc_row_gap){.from = first_ns(w, chunk), .to = last_ns(w, chunk), .lost = lost};
    return 0;
}

static int gather_chunk(struct window *w, uint32_t chunk, struct nsc_pieces *out)
{
    const struct nsc_chunk *c = &w->chunks[chunk];
    bool wide = (last_ns(w, chunk) - first_ns(w, chunk)) >> w->level > 0;
    const struct nsc_piece *piece = NULL;
    int result = 0;

    if (c->missing)
        return add_wide_gap(w, out, chunk, c->events + c->lost);
    if (c->lost > 0 && wide && w->gap_chunks > 0)
        w->gap_chunks--;
    else if (may_summarise(w, chunk))
        result = summarise(w, chunk, &piece);
    if (result > 0 && c->lost > 0)
        result = add_wide_gap(w, out, chunk, c->lost) == 0 ? 1 : -ENOMEM;
    if (result == 0)
        result = decode(w, chunk, &piece);
    return result < 0 ? result : add_piece(out, w->ask, piece);
}

/* ---- Calls that go on ------------------------------------------------------------------------ */

static int read_open_calls(const struct window *w, uint32_t chunk, struct nsc_open_calls **out)
{
    const struct nsc_frame *frames;
    struct nsc_open_calls *open;
    struct nsc_cursor *cursor;
    uint32_t count;
    int error = nsc_cursor_open_chunk(w->ask->trace, &w->chunks[chunk], &cursor, &w->ask->diag);

    if (error != 0)
        return error;
    error = nsc_cursor_stack(cursor, &frames, &count);
    open = error == 0 ? malloc(sizeof(*open) + count * sizeof(open->rows[0])) : NULL;
    if (open != NULL) {
        *open = (struct nsc_open_calls){.item.bytes = sizeof(*open) + count * sizeof(open->rows[0]),
                                        .count = count};
        for (uint32_t i = 0; i < count; i++) {
            uint64_t start = nsc_clock_ns(w->clock, frames[i].start_ticks);

            open->rows[i] = (struct nsc_row){.start = start,
                                             .end = NSC_ROW_OPEN_END,
                                             .first = start,
                                             .last = NSC_ROW_OPEN_END,
                                             .function = frames[i].function,
                                             .bound = (uint16_t)frames[i].bound};
        }
        *out = open;
    } else if (error == 0) {
        nsc_ask_no_memory(w->ask);
        error = -ENOMEM;
    }
    nsc_cursor_close(cursor);
    return error;
}

/* The calls that are open where chunks[@chunk] begins. */
static int gather_open_calls(const struct window *w, uint32_t chunk, struct nsc_pieces *out)
{
    struct nsc_cache_key key = key_of(w, KIND_OPEN_CALLS, chunk, 0);
    const struct nsc_open_calls *open = nsc_cache_find(w->ask->cache, &key);
    uint32_t low = 0, high;

    if (open == NULL) {
        struct nsc_open_calls *read = NULL;
        int error = read_open_calls(w, chunk, &read);

        if (error != 0)
            return error;
        keep(w, &read->item, KIND_OPEN_CALLS, chunk, 0);
        open = read;
    }
    for (high = open->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;

        if (open->rows[middle].start < w->to_ns)
            low = middle + 1;
        else
            high = middle;
    }
    out->open = open;
    out->open_count = low;
    return 0;
}

/* ---- The window ------------------------------------------------------------------------------ */

int nsc_pieces_gather(struct nsc_answer_ask *ask, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
                      uint32_t level, struct nsc_pieces *out)
{
    struct window w = {
        .ask = ask,
        .clock = nsc_trace_clock(ask->trace),
        .thread = thread,
        .level = level,
        .from_ns = from_ns,
        .to_ns = to_ns,
        .gap_chunks = GAP_CHUNKS_MAX,
    };
    uint32_t at, end;
    int error = 0;

    out->count = out->gap_count = 0;
    out->open = NULL;
    out->open_count = 0;
    w.chunks = nsc_trace_chunks(ask->trace, thread, &w.chunk_count);
    end = find_chunk(&w, to_ns, true);
    for (at = find_chunk(&w, from_ns, false); at < end && error == 0; at++)
        error = gather_chunk(&w, at, out);
    while (error == 0 && end < w.chunk_count && w.chunks[end].missing)
        end++;
    if (error != 0 || end == w.chunk_count)
        return error;
    /* Calls that a gap ended are told by what follows it. */
    if (nsc_piece_follows_gap(w.chunks, end))
        error = gather_chunk(&w, end, out);
    return error != 0 ? error : gather_open_calls(&w, end, out);
}

void nsc_pieces_free(struct nsc_pieces *p)
{
    free(p->pieces);
    free(p->gaps);
    *p = (struct nsc_pieces){0};
}
