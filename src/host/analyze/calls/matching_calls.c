/*
 * matching_calls.c - see matching_calls.h.
 *
 * There are two ways to read a thread. A thread with a LATE_EXIT or a missing chunk is read from
 * its beginning, as nsc_calls_scan() does: the start of such a call depends on earlier events. In
 * all other threads chunks can be skipped. The index states the number and depth of each chunk's
 * calls. The head of the next chunk states the open calls and the time of their callees.
 */
#include "analyze/calls/matching_calls.h"

#include <stdlib.h>

#include "analyze/calls/open_calls.h"
#include "analyze/calls/selected_events.h"
#include "util/search.h"

enum way { WAY_UNKNOWN = 0, WAY_WHOLE, WAY_SEEK };

struct known_thread {
    enum way way;
    uint64_t *before; /* by chunk: calls before it; one more entry at the end. WAY_SEEK only */
};

struct nsc_matching_calls_index {
    struct nsc_trace *trace;
    struct nsc_selection everything;
    struct known_thread threads[];
};

struct nsc_matching_calls {
    struct nsc_matching_calls_index *index;
    struct nsc_trace *trace;
    uint32_t thread;
    struct nsc_call_wish wish;
    bool seeks;
    bool done;

    struct nsc_selected_events *feed; /* WAY_WHOLE */

    const struct nsc_chunk *chunks; /* WAY_SEEK */
    const uint64_t *before;
    uint32_t chunk_count;
    uint32_t next_chunk; /* to continue with when there is no cursor */
    uint32_t entered;    /* the chunk where the current reading began */
    uint32_t kept;       /* open calls that stay the same when reading continues elsewhere */
    struct nsc_cursor *cursor;

    struct nsc_call_lane lane;
    struct nsc_call *calls; /* the batch */
    size_t count, room;
};

void nsc_call_wish_init(struct nsc_call_wish *wish)
{
    *wish =
        (struct nsc_call_wish){.to_ticks = UINT64_MAX, .max_depth = UINT32_MAX, .numbers = true};
}

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory to read calls");
}

/* ---- Index of a thread ----------------------------------------------------------------------- */

int nsc_matching_calls_index_new(struct nsc_trace *t, struct nsc_matching_calls_index **out)
{
    uint32_t threads = nsc_trace_info(t)->thread_count;
    struct nsc_matching_calls_index *index =
        calloc(1, sizeof(*index) + (size_t)threads * sizeof(index->threads[0]));

    if (!index)
        return -ENOMEM;
    index->trace = t;
    nsc_selection_init(&index->everything);
    *out = index;
    return 0;
}

void nsc_matching_calls_index_free(struct nsc_matching_calls_index *index)
{
    if (!index)
        return;
    for (uint32_t i = 0; i < nsc_trace_info(index->trace)->thread_count; i++)
        free(index->threads[i].before);
    free(index);
}

static int get_to_know(struct nsc_matching_calls_index *index, uint32_t thread)
{
    struct known_thread *known = &index->threads[thread];
    const struct nsc_chunk *chunks;
    uint64_t sum = 0;
    uint32_t count;
    bool seeks;

    if (known->way != WAY_UNKNOWN)
        return 0;
    chunks = nsc_trace_chunks(index->trace, thread, &count);
    seeks = count == 0 || chunks[0].depth == 0;
    for (uint32_t i = 0; i < count && seeks; i++)
        seeks = !nsc_reader_may_have_late(chunks, count, i);
    if (seeks) {
        known->before = calloc((size_t)count + 1, sizeof(*known->before));
        if (!known->before)
            return -ENOMEM;
        for (uint32_t i = 0; i < count; i++) {
            known->before[i] = sum;
            sum += chunks[i].calls;
        }
        known->before[count] = sum;
    }
    known->way = seeks ? WAY_SEEK : WAY_WHOLE;
    return 0;
}

/* The first of @p's chunks that ends at or after @ticks, or the number of chunks. */
static uint32_t find_by_ticks(const struct nsc_matching_calls *p, uint64_t ticks)
{
    return NSC_PARTITION_POINT(i, p->chunk_count, p->chunks[i].last_ticks < ticks);
}

/* The chunk in which the call with this number (from 1) is entered, or the number of chunks. */
static uint32_t find_by_number(const struct nsc_matching_calls *p, uint64_t number)
{
    return NSC_PARTITION_POINT(i, p->chunk_count, p->before[i + 1] < number);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static int begin_whole(struct nsc_matching_calls *p, struct nsc_diag *diag)
{
    if (nsc_call_lane_begin(&p->lane, p->thread, nsc_trace_thread(p->trace, p->thread)->start_ticks,
                            0) < 0)
        return no_memory(diag);
    return nsc_selected_events_open(p->trace, p->thread, &p->index->everything, &p->feed, diag);
}

static int begin(struct nsc_matching_calls *p, struct nsc_diag *diag)
{
    p->chunks = nsc_trace_chunks(p->trace, p->thread, &p->chunk_count);
    if (p->chunk_count == 0 || p->wish.from_ticks >= p->wish.to_ticks) {
        p->done = true;
        return 0;
    }
    if (!p->seeks)
        return begin_whole(p, diag);
    p->before = p->index->threads[p->thread].before;
    p->next_chunk = p->wish.number != 0 ? find_by_number(p, p->wish.number)
                                        : find_by_ticks(p, p->wish.from_ticks);
    return 0;
}

int nsc_matching_calls_open(struct nsc_matching_calls_index *index, uint32_t thread,
                            const struct nsc_call_wish *wish, struct nsc_matching_calls **out,
                            struct nsc_diag *diag)
{
    struct nsc_matching_calls *p = calloc(1, sizeof(*p));
    int error;

    if (!p || get_to_know(index, thread) < 0) {
        free(p);
        return no_memory(diag);
    }
    p->index = index;
    p->trace = index->trace;
    p->thread = thread;
    p->wish = *wish;
    p->seeks = index->threads[thread].way == WAY_SEEK;
    error = begin(p, diag);
    if (error != 0)
        nsc_matching_calls_close(p);
    else
        *out = p;
    return error;
}

void nsc_matching_calls_close(struct nsc_matching_calls *p)
{
    if (!p)
        return;
    nsc_selected_events_close(p->feed);
    nsc_cursor_close(p->cursor);
    nsc_call_lane_free(&p->lane);
    free(p->calls);
    free(p);
}

/* ---- Entering the middle of a thread --------------------------------------------------------- */

/* Set the callee time of the calls that are open at the start of chunks[@index]. A chunk head
 * states the innermost ones; the others are as in the previous head. */
static int set_child_ticks(struct nsc_matching_calls *p, uint32_t index, struct nsc_diag *diag)
{
    uint32_t needed = p->chunks[index].depth;

    while (needed > 0) {
        const struct nsc_chunk *chunk = &p->chunks[index];
        struct nsc_chunk_head head;

        if (chunk->common < needed) {
            int error = nsc_trace_chunk_head(p->trace, chunk, &head, diag);

            if (error != 0)
                return error;
            for (uint32_t i = chunk->common; i < needed && i - chunk->common < head.frame_count;
                 i++)
                p->lane.stack[i + 1].child_ticks = head.child_ticks[i - chunk->common];
            needed = chunk->common;
        }
        if (needed > 0 && index-- == 0)
            return nsc_diag_set(diag, chunk->offset, EBADMSG,
                                "the opening stacks of thread %u disagree", p->thread);
    }
    return 0;
}

/* Continue with chunk @next_chunk. The numbers of open calls that began in skipped chunks are
 * unknown. */
static int enter_chunk(struct nsc_matching_calls *p, struct nsc_diag *diag)
{
    const struct nsc_chunk *chunk = &p->chunks[p->next_chunk];
    const struct nsc_frame *frames;
    uint32_t depth;
    int error = nsc_cursor_open_chunk(p->trace, chunk, &p->cursor, diag);

    if (error == 0)
        error = nsc_cursor_stack(p->cursor, &frames, &depth);
    if (error != 0)
        return error;
    if (nsc_call_lane_begin(&p->lane, p->thread, chunk->first_ticks, 0) < 0)
        return no_memory(diag);
    for (uint32_t i = 0; i < depth; i++) {
        if (p->lane.depth + 1 >= p->lane.depth_max && nsc_call_lane_grow(&p->lane) < 0)
            return no_memory(diag);
        p->lane.stack[++p->lane.depth] = (struct nsc_open_call){
            .start_ticks = frames[i].start_ticks,
            .function = frames[i].function,
            .bound = frames[i].bound,
            .number = i < p->kept ? p->lane.stack[i + 1].number : 0,
        };
    }
    p->entered = p->next_chunk;
    p->lane.numbers = p->before[p->next_chunk];
    return set_child_ticks(p, p->next_chunk, diag);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/*
 * Find the number of the call at stack[@at] by reading the chunks where it was entered, which come
 * before `entered`. If several calls of its depth began at the same tick, it is the last of them.
 */
static int find_number(struct nsc_matching_calls *p, size_t at, struct nsc_diag *diag)
{
    struct nsc_open_call *call = &p->lane.stack[at];
    uint32_t first = find_by_ticks(p, call->start_ticks);
    const struct nsc_event *events;
    struct nsc_cursor *cursor;
    uint64_t number = first < p->chunk_count ? p->before[first] : 0, last_ticks = 0;
    size_t n;
    int result;

    if (first == p->chunk_count)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "a call of thread %u begins behind its end", p->thread);
    result = nsc_cursor_open_chunk(p->trace, &p->chunks[first], &cursor, diag);
    if (result != 0)
        return result;
    while (last_ticks <= call->start_ticks &&
           (result = nsc_cursor_next(cursor, &events, &n, diag)) > 0 &&
           nsc_cursor_chunk(cursor) < &p->chunks[p->entered])
        for (size_t i = 0; i < n; i++) {
            last_ticks = events[i].ticks;
            if (last_ticks > call->start_ticks)
                break;
            if (events[i].kind != NSC_EVENT_ENTER)
                continue;
            number++;
            if (events[i].depth + 1 == at && last_ticks == call->start_ticks)
                call->number = number;
        }
    nsc_cursor_close(cursor);
    if (result >= 0 && call->number == 0)
        return nsc_diag_set(diag, p->chunks[first].offset, EBADMSG,
                            "a call of thread %u that is open does not begin", p->thread);
    return result < 0 ? result : 0;
}

/* Fill in the numbers of a call that just ended, at stack[@at], and of its caller. Their stack
 * entries are still valid. */
static int complete(struct nsc_matching_calls *p, struct nsc_call *call, size_t at,
                    struct nsc_diag *diag)
{
    int error = 0;

    if (call->number == 0 && p->wish.numbers) {
        error = find_number(p, at, diag);
        call->number = p->lane.stack[at].number;
    }
    if (error == 0 && p->wish.parents && call->parent == 0 && at > 1) {
        error = find_number(p, at - 1, diag);
        call->parent = p->lane.stack[at - 1].number;
    }
    return error;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct nsc_call_wish *w, uint64_t start_ticks, uint32_t depth,
                      uint32_t function, uint64_t number)
{
    return start_ticks >= w->from_ticks && start_ticks < w->to_ticks && depth >= w->min_depth &&
           depth <= w->max_depth && (w->functions == NULL || w->functions[function] != 0) &&
           (w->number == 0 || w->number == number);
}

static int follow(struct nsc_matching_calls *p, const struct nsc_event *events, size_t n,
                  struct nsc_diag *diag)
{
    if (p->room < n) {
        free(p->calls);
        p->calls = calloc(n, sizeof(*p->calls));
        p->room = p->calls ? n : 0;
        if (!p->calls)
            return no_memory(diag);
    }
    for (size_t i = 0; i < n; i++) {
        struct nsc_call *call = &p->calls[p->count];
        int result;

        if (p->seeks && events[i].kind == NSC_EVENT_LATE_EXIT)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                                "thread %u holds other events than its index says", p->thread);
        result = nsc_call_lane_follow(&p->lane, &events[i], call);
        if (result < 0)
            return no_memory(diag);
        if (result == 0 ||
            !is_wanted(&p->wish, call->start_ticks, call->depth, call->function, call->number))
            continue;
        if (p->seeks) {
            result = complete(p, call, p->lane.depth + 1, diag);
            if (result != 0)
                return result;
        }
        p->count++;
        if (p->wish.number != 0)
            p->done = true;
    }
    return 0;
}

/* ---- What to read next ----------------------------------------------------------------------- */

/* Whether a wanted call may end in a chunk, according to its head. Returns 1, 0 or -errno. */
static int ends_wanted(struct nsc_matching_calls *p, const struct nsc_chunk *chunk,
                       struct nsc_diag *diag)
{
    struct nsc_chunk_head head;
    int error;

    if (chunk->min_depth > p->wish.max_depth)
        return 0;
    if (p->wish.functions == NULL)
        return 1;
    error = nsc_trace_chunk_head(p->trace, chunk, &head, diag);
    if (error != 0)
        return error;
    for (uint32_t i = 0; i < head.total_count; i++)
        if (p->wish.functions[nsc_trace_canonical(p->trace, head.totals[i].function)] != 0)
            return 1;
    return !head.has_totals;
}

/* The depth of the innermost open call that is wanted, plus 1; 0 if there is none. */
static size_t innermost_wanted(const struct nsc_matching_calls *p)
{
    for (size_t at = p->lane.depth; at > 0; at--) {
        const struct nsc_open_call *call = &p->lane.stack[at];
        /* Calls that were open where reading began are older than the wanted number. */
        bool older = p->wish.number != 0 && call->number == 0;

        if (!older &&
            is_wanted(&p->wish, call->start_ticks, (uint32_t)at - 1, call->function, call->number))
            return at;
    }
    return 0;
}

/* Find the first chunk from chunks[@index] on in which a wanted call may end; the number of chunks
 * if there is none. */
static int find_next(struct nsc_matching_calls *p, uint32_t index, uint32_t *next,
                     struct nsc_diag *diag)
{
    bool begins_none = index >= p->chunk_count ||
                       p->chunks[index].first_ticks >= p->wish.to_ticks ||
                       (p->wish.number != 0 && p->before[index] >= p->wish.number);
    size_t wanted = begins_none ? innermost_wanted(p) : 0;
    int result = 0;

    if (begins_none && wanted == 0)
        index = p->chunk_count;
    while (index < p->chunk_count) {
        if (begins_none)
            result = p->chunks[index].min_depth < wanted;
        else
            result = ends_wanted(p, &p->chunks[index], diag);
        if (result != 0)
            break;
        index++;
        if (!begins_none && index < p->chunk_count &&
            p->chunks[index].first_ticks >= p->wish.to_ticks)
            break; /* its opening stack decides which open calls are wanted */
    }
    *next = index;
    return result < 0 ? result : 0;
}

/* Decide what to read after a chunk has been read to its end. */
static int plan(struct nsc_matching_calls *p, struct nsc_diag *diag)
{
    uint32_t following = (uint32_t)(nsc_cursor_chunk(p->cursor) - p->chunks) + 1;
    int error = find_next(p, following, &p->next_chunk, diag);

    if (error != 0 || (p->next_chunk == following && following < p->chunk_count))
        return error;
    p->kept = (uint32_t)p->lane.depth;
    for (uint32_t i = following; i < p->next_chunk; i++)
        p->kept = p->chunks[i].min_depth < p->kept ? p->chunks[i].min_depth : p->kept;
    nsc_cursor_close(p->cursor);
    p->cursor = NULL;
    return 0;
}

static int next_seek(struct nsc_matching_calls *p, struct nsc_diag *diag)
{
    const struct nsc_event *events;
    size_t n;
    int result;

    if (!p->cursor) {
        if (p->next_chunk >= p->chunk_count) {
            p->done = true;
            return 0;
        }
        result = enter_chunk(p, diag);
        if (result != 0)
            return result;
    }
    result = nsc_cursor_next(p->cursor, &events, &n, diag);
    p->done = result == 0;
    if (result > 0)
        result = follow(p, events, n, diag);
    if (result == 0 && !p->done && nsc_cursor_chunk(p->cursor) != NULL &&
        nsc_cursor_at_chunk_end(p->cursor))
        result = plan(p, diag);
    return result;
}

static int next_whole(struct nsc_matching_calls *p, struct nsc_diag *diag)
{
    const struct nsc_event *events;
    size_t n;
    int result = nsc_selected_events_next(p->feed, &events, &n, diag);

    p->done = result == 0;
    return result > 0 ? follow(p, events, n, diag) : result;
}

int nsc_matching_calls_next(struct nsc_matching_calls *p, const struct nsc_call **calls,
                            size_t *count, struct nsc_diag *diag)
{
    int error = 0;

    p->count = 0;
    if (p->done)
        return 0;
    error = p->seeks ? next_seek(p, diag) : next_whole(p, diag);
    if (error != 0)
        return error;
    *calls = p->calls;
    *count = p->count;
    return 1;
}
