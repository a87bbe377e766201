/*
 * lane.c - one thread's stream in the writer: chunks, their heads, memory. The fast path is in
 * lane.h, the totals of each function in lane_totals.c, the choice of the delta bias in
 * lane_delta.c.
 *
 * A "cold" lane has no buffers, only its frames. The next event allocates the buffers.
 * Invariants of a warm lane: totals[f].active == number of open frames of f; stack and rows belong
 * to the open chunk.
 *
 * Invariants of short_ticks of a depth:
 * - UINT64_MAX at depths without spans;
 * - 0 for the lowest frame of the chunk (`low`) and all depths above `high`: the next call that
 *   ends there goes to nsc_lane_settle();
 * - else 0, or 1 + the longest call of the current time span.
 */
#include "trace/write/lane.h"

#include <errno.h>

#include "trace/write/writer_state.h"
#include "util/os/zero_pages.h"

#define CHUNK_BYTES        ((size_t)128 << 10) /* about 64 Ki events of a busy program */
#define BUFFER_FIRST_BYTES ((size_t)1 << 10)
#define TICKS_MAX          (((uint64_t)1 << 63) - 1)
#define PAUSE_MAX          ((uint64_t)1 << 60) /* delta limit: a longer pause starts a new chunk */
/* A chunk ends after so many FULL records: `least` does not suit its events. */
#define FULL_MAX           1024u
#define FRAMES_FIRST       16u
#define FRAMES_MAX         (1u << 21) /* of all lanes: 80 MiB; FRAMES_FIRST per lane are allowed */
#define SPANS_MAX          512u       /* deeper calls have no summary rows */
#define SPAN_SHIFT_MIN     10u
#define SPAN_SHIFT_FIRST   14u
#define SPAN_SHIFT_MAX     60u
#define ROWS_MAX_BYTES     ((size_t)32 << 10)
#define SIDE_BUFFER_KEPT   ((size_t)64 << 10)
/* A section of the head is omitted if it exceeds 1/PART of the events' bytes. */
#define TOTALS_PART        4
#define SUMMARY_PART       8
#define DURATIONS_PART     8
/* When a chunk holds its complete opening stack: always up to SMALL frames; up to MAX frames, once
 * per RATIO * depth events. */
#define WHOLE_STACK_SMALL  1024u
#define WHOLE_STACK_RATIO  8u
#define WHOLE_STACK_MAX    (1u << 20)

_Static_assert(sizeof(struct nsc_lane_total) == 64, "a function's sums: a cache line");

struct nsc_lane *nsc_lane_new(struct nsc_writer *w, uint32_t thread)
{
    struct nsc_lane *lane = calloc(1, sizeof *lane);

    if (lane == NULL)
        return NULL;
    lane->writer = w;
    lane->thread = thread;
    lane->shorts = w->shorts + NSC_LANE_LEAST_MAX;
    lane->span_shift = SPAN_SHIFT_FIRST;
    lane->next = w->lanes;
    if (lane->next != NULL)
        lane->next->previous = lane;
    w->lanes = lane;
    return lane;
}

static void hold(struct nsc_lane *lane, size_t more)
{
    lane->held_bytes += more;
    lane->writer->held_bytes += more;
}

/* Update the count of the side buffers' memory. Free a stack buffer that a deep recursion left
 * large. */
static void hold_side_buffers(struct nsc_lane *lane)
{
    size_t bytes;

    if (!lane->chunk_open && lane->stack.room > SIDE_BUFFER_KEPT)
        nsc_buffer_free(&lane->stack);
    bytes = lane->stack.room + lane->rows.room + lane->many_room * sizeof *lane->many +
            lane->counts_room * NSC_LANE_BUCKETS * sizeof *lane->counts;
    hold(lane, bytes - lane->side_bytes); /* may wrap: sizes are modular */
    lane->side_bytes = bytes;
}

/* Add the lane to the list of warm lanes, or remove it: relieve() must not search the cold ones. */
static void set_warm(struct nsc_lane *lane, bool warm)
{
    struct nsc_writer *w = lane->writer;

    if (lane->warm == warm)
        return;
    lane->warm = warm;
    if (warm) {
        lane->warm_previous = NULL;
        lane->warm_next = w->warm;
        w->warm = lane;
    } else if (lane->warm_previous != NULL) {
        lane->warm_previous->warm_next = lane->warm_next;
    } else {
        w->warm = lane->warm_next;
    }
    if (lane->warm_next != NULL)
        lane->warm_next->warm_previous = warm ? lane : lane->warm_previous;
}

/* Size of the allocation of @count totals, with padding for alignment to cache lines. */
static size_t totals_bytes(uint64_t count)
{
    return (count + 1) * sizeof(struct nsc_lane_total);
}

static void free_totals(struct nsc_lane *lane)
{
    nsc_pages_free(lane->totals_memory, totals_bytes(lane->totals_count));
}

/* Free all buffers and discard their contents. */
static void drop_buffers(struct nsc_lane *lane)
{
    set_warm(lane, false);
    free(lane->buffer);
    free_totals(lane);
    free(lane->touched);
    free(lane->spans);
    free(lane->counts);
    free(lane->many);
    nsc_buffer_free(&lane->stack);
    nsc_buffer_free(&lane->rows);
    lane->writer->held_bytes -= lane->held_bytes;
    lane->held_bytes = lane->side_bytes = 0;
    lane->buffer = lane->at = lane->limit = NULL;
    lane->buffer_bytes = 0;
    lane->totals = NULL;
    lane->totals_memory = NULL;
    lane->touched = NULL;
    lane->spans = NULL;
    lane->counts = NULL;
    lane->many = NULL;
    lane->counts_room = lane->many_count = lane->many_room = 0;
    lane->totals_count = lane->touched_count = 0;
    lane->span_count = 0;
}

void nsc_lane_free(struct nsc_lane *lane)
{
    nsc_level_free(lane);
    drop_buffers(lane);
    if (lane->previous != NULL)
        lane->previous->next = lane->next;
    else
        lane->writer->lanes = lane->next;
    if (lane->next != NULL)
        lane->next->previous = lane->previous;
    lane->writer->frames_room -= lane->frames_room;
    free(lane->floor);
    free(lane);
}

/* Out of memory: drop all further events of this lane. */
static void give_up(struct nsc_lane *lane)
{
    nsc_writer_fail(lane->writer, -ENOMEM);
    drop_buffers(lane);
    lane->dead = true;
    lane->chunk_open = false;
}

static bool grow_buffer(struct nsc_lane *lane, size_t bytes)
{
    size_t used = (size_t)(lane->at - lane->buffer);
    uint8_t *bigger = realloc(lane->buffer, bytes);

    if (bigger == NULL)
        return false;
    hold(lane, bytes - lane->buffer_bytes);
    lane->buffer = bigger;
    lane->buffer_bytes = bytes;
    lane->at = bigger + used;
    lane->limit = bigger + bytes - NSC_LANE_SLACK;
    return true;
}

/* Make room for the totals of all functions up to @function. The kernel allocates only the pages
 * of functions that the lane calls. */
static bool grow_totals(struct nsc_lane *lane, uint32_t function)
{
    uint64_t count = lane->totals_count == 0 ? 64 : lane->totals_count;
    struct nsc_lane_total *totals, *memory;
    uint32_t *touched;

    while (count <= function)
        count *= 2;
    memory = nsc_pages_new(totals_bytes(count));
    touched = realloc(lane->touched, count * sizeof *touched);
    if (touched != NULL)
        lane->touched = touched;
    if (memory == NULL || touched == NULL) {
        nsc_pages_free(memory, totals_bytes(count));
        return false;
    }
    totals = (void *)((char *)memory + (-(uintptr_t)memory & (sizeof *totals - 1)));
    if (lane->totals_count > 0)
        memcpy(totals, lane->totals, lane->totals_count * sizeof *totals);
    free_totals(lane);
    lane->totals_memory = memory;
    lane->totals = totals;
    hold(lane, (count - lane->totals_count) * (sizeof *totals + sizeof *touched));
    lane->totals_count = (uint32_t)count;
    return true;
}

/* Make room for the spans of as many depths as there are frames, up to SPANS_MAX. */
static bool grow_spans(struct nsc_lane *lane)
{
    uint32_t count = lane->frames_room < SPANS_MAX ? lane->frames_room : SPANS_MAX;
    struct nsc_lane_span *spans;

    if (count <= lane->span_count)
        return true;
    spans = realloc(lane->spans, count * sizeof *spans);
    if (spans == NULL)
        return false;
    for (uint32_t i = lane->span_count; i < count; i++)
        spans[i].span = UINT64_MAX;
    lane->spans = spans;
    hold(lane, (count - lane->span_count) * sizeof *spans);
    lane->span_count = count;
    return true;
}

/* Resize the frame array to @room frames; @room >= depth. */
static bool move_frames(struct nsc_lane *lane, uint64_t room)
{
    size_t top = (size_t)(lane->top - lane->floor), high = (size_t)(lane->high - lane->floor);
    size_t low = (size_t)(lane->low - lane->floor);
    struct nsc_lane_frame *floor = realloc(lane->floor, (room + 1) * sizeof *floor);

    if (floor == NULL)
        return false;
    if (lane->floor == NULL)
        *floor = (struct nsc_lane_frame){.position = NSC_LANE_NOWHERE};
    for (uint64_t i = (uint64_t)lane->frames_room + 1; i <= room; i++)
        floor[i].short_ticks = i <= SPANS_MAX ? 0 : UINT64_MAX;
    lane->floor = floor;
    lane->top = floor + top;
    lane->high = floor + high;
    lane->low = floor + low;
    lane->writer->frames_room += room - lane->frames_room; /* may wrap */
    lane->frames_room = (uint32_t)room;
    return true;
}

static bool grow_frames(struct nsc_lane *lane)
{
    uint64_t room = lane->frames_room == 0 ? FRAMES_FIRST : (uint64_t)lane->frames_room * 2;

    return room < NSC_NO_ID && move_frames(lane, room) && grow_spans(lane);
}

bool nsc_lane_may_deepen(const struct nsc_lane *lane)
{
    return nsc_lane_depth(lane) < lane->frames_room || lane->frames_room == 0 ||
           lane->writer->frames_room + lane->frames_room <= FRAMES_MAX;
}

/* Shrink a large frame array that is no longer needed. */
static void shrink_frames(struct nsc_lane *lane)
{
    uint32_t room = lane->frames_room / 4;

    if (lane->frames_room < 65536 || nsc_lane_depth(lane) > room / 2)
        return;
    lane->high = lane->low = lane->top; /* the chunk has been written */
    (void)move_frames(lane, room);
}

static bool warm_up(struct nsc_lane *lane)
{
    uint32_t top = 0;

    set_warm(lane, true);
    for (uint32_t i = 0; i < nsc_lane_depth(lane); i++)
        top = lane->floor[i + 1].function > top ? lane->floor[i + 1].function : top;
    if ((lane->floor == NULL && !grow_frames(lane)) || !grow_buffer(lane, BUFFER_FIRST_BYTES) ||
        !grow_totals(lane, top) || !grow_spans(lane) || !nsc_lane_grow_counts(lane))
        return false;
    for (uint32_t i = 0; i < nsc_lane_depth(lane); i++)
        lane->totals[lane->floor[i + 1].function].active++;
    return true;
}

/*
 * Encode the opening stack, innermost call first. Omit the frames in common with the previous
 * chunk's opening stack: repeating 1e6 frames of a deep, stable stack in every chunk would cost
 * more than the events.
 */
static bool code_stack(struct nsc_lane *lane)
{
    uint64_t later = lane->first_ticks;
    bool whole = nsc_lane_depth(lane) <= WHOLE_STACK_SMALL ||
                 (nsc_lane_depth(lane) <= WHOLE_STACK_MAX &&
                  lane->since_whole / WHOLE_STACK_RATIO >= nsc_lane_depth(lane));

    lane->common = whole ? 0 : lane->next_common;
    if (lane->common == 0)
        lane->since_whole = 0;
    nsc_buffer_clear(&lane->stack);
    for (uint32_t i = nsc_lane_depth(lane); i-- > lane->common;) {
        const struct nsc_lane_frame *frame = &lane->floor[i + 1];

        nsc_buffer_leb(&lane->stack, later - frame->start_ticks);
        nsc_buffer_leb(&lane->stack, (uint64_t)frame->function << 1 | (frame->bound != 0));
        nsc_buffer_leb(&lane->stack, frame->child_ticks);
        later = frame->start_ticks;
    }
    return !lane->stack.failed;
}

/* End of the time span that holds @ticks. */
static uint64_t span_end(const struct nsc_lane *lane, uint64_t ticks)
{
    return ((ticks >> lane->span_shift) + 1) << lane->span_shift;
}

static bool begin_chunk(struct nsc_lane *lane, uint64_t ticks)
{
    lane->first_ticks = lane->last_ticks = ticks;
    lane->open_depth = nsc_lane_depth(lane);
    lane->low = lane->high = lane->top;
    lane->low->short_ticks = 0;
    lane->span_until = span_end(lane, ticks);
    lane->late_calls = lane->lost = 0;
    lane->row_count = 0;
    lane->rows_cut = false;
    nsc_buffer_clear(&lane->rows);
    lane->at = lane->buffer;
    lane->limit = lane->buffer + lane->buffer_bytes - NSC_LANE_SLACK;
    lane->chunk_open = true;
    lane->full_count = 0;
    lane->full = lane->least > 0;
    if (lane->least > 0)
        lane->at = nsc_leb_put(lane->at, lane->least);
    if (!code_stack(lane))
        return false;
    hold_side_buffers(lane);
    return true;
}

/* Prepare buffers and an open chunk for an event at @ticks. Returns false if out of memory. */
static bool make_ready(struct nsc_lane *lane, uint64_t ticks)
{
    if (lane->buffer == NULL && !warm_up(lane))
        return false;
    if (lane->chunk_open && (ticks - lane->last_ticks > PAUSE_MAX || lane->full_count == FULL_MAX))
        nsc_lane_flush(lane);
    if (lane->chunk_open && lane->at >= lane->limit) {
        if (lane->buffer_bytes < CHUNK_BYTES)
            return grow_buffer(lane, lane->buffer_bytes * 2);
        nsc_lane_flush(lane);
    }
    return lane->chunk_open || begin_chunk(lane, ticks);
}

void nsc_lane_cool(struct nsc_lane *lane)
{
    nsc_lane_flush(lane);
    drop_buffers(lane);
}

static int by_last_ticks(const void *a, const void *b)
{
    const struct nsc_lane *const *left = a, *const *right = b;

    return ((*left)->last_ticks > (*right)->last_ticks) -
           ((*left)->last_ticks < (*right)->last_ticks);
}

/* Memory exceeds the limit: write and free buffers, those of the longest idle lanes first, but not
 * those of @keep. */
static void relieve(struct nsc_writer *w, const struct nsc_lane *keep)
{
    size_t goal = w->options.memory_bytes / 4 * 3, count = 0, at = 0;
    struct nsc_lane **warm;

    for (struct nsc_lane *lane = w->warm; lane != NULL; lane = lane->warm_next)
        count += lane != keep && lane->held_bytes > 0;
    warm = malloc((count + 1) * sizeof *warm);
    if (warm == NULL)
        return; /* exceed the limit for a while rather than lose events */
    for (struct nsc_lane *lane = w->warm; lane != NULL; lane = lane->warm_next)
        if (lane != keep && lane->held_bytes > 0)
            warm[at++] = lane;
    qsort(warm, count, sizeof *warm, by_last_ticks);
    for (at = 0; at < count && w->held_bytes > goal; at++)
        nsc_lane_cool(warm[at]);
    free(warm);
}

/*
 * Prepare for an event that a run refused: make room, begin a new chunk, add frames. May raise
 * @ticks. @function is NSC_NO_ID for exits. Returns whether the event can be kept.
 */
static bool prepare(struct nsc_lane *lane, uint64_t *ticks, uint32_t function)
{
    struct nsc_writer *w = lane->writer;
    bool entering = function != NSC_NO_ID;

    if (entering && function >= w->tables[NSC_WRITER_FUNCTIONS].count) {
        nsc_writer_fail(w, -EINVAL);
        w->dropped++;
        return false;
    }
    if (*ticks > TICKS_MAX)
        *ticks = TICKS_MAX;
    if (*ticks < lane->last_ticks)
        *ticks = lane->last_ticks;
    if (!lane->dead) {
        bool ready = make_ready(lane, *ticks);

        if (ready && entering && function >= lane->totals_count)
            ready = grow_totals(lane, function);
        if (ready && entering && nsc_lane_depth(lane) == lane->frames_room)
            ready = grow_frames(lane);
        if (!ready)
            give_up(lane);
    }
    if (lane->dead) {
        if (entering) /* exits are counted when their frame is popped */
            w->dropped++;
        return false;
    }
    if (entering && lane->top >= lane->high)
        lane->high = lane->top + 1;
    if (w->held_bytes > w->options.memory_bytes)
        relieve(w, lane);
    return true;
}

/* The delta to encode for an event at @ticks, reduced by `least` if possible. Writes a FULL record
 * before an event that is closer than `least` to the last one. */
static __attribute__((noinline)) uint64_t told_delta(struct nsc_lane *lane, uint64_t ticks,
                                                     enum nsc_format_record kind)
{
    bool timed = kind == NSC_FORMAT_ENTER || kind == NSC_FORMAT_EXIT, full = lane->full;
    uint64_t delta = ticks - lane->last_ticks;

    lane->full = !timed && lane->least > 0;
    if (!timed || full)
        return delta;
    if (delta >= lane->least)
        return delta - lane->least;
    lane->at = nsc_leb_put(lane->at, NSC_FORMAT_OTHER);
    lane->at = nsc_leb_put(lane->at, NSC_FORMAT_OTHER_FULL);
    lane->at = nsc_leb_put(lane->at, 0);
    lane->full_count++;
    return delta;
}

/* Write a delta of any size, after prepare(). */
static inline void put_delta(struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t ticks,
                             enum nsc_format_record kind)
{
    uint64_t delta = told_delta(lane, ticks, kind);

    (void)nsc_lane_run_begin(lane, run);
    run->at = nsc_leb_put(run->at, delta << 2 | kind);
    run->last_ticks = ticks;
}

void nsc_lane_enter(struct nsc_lane *lane, uint64_t ticks, uint32_t function, uint64_t position)
{
    uint64_t coded = nsc_lane_code_function(function);
    struct nsc_lane_run run;

    if (nsc_lane_run_begin(lane, &run) == 0 ||
        !nsc_lane_run_enter(lane, &run, ticks, function, coded, position)) {
        if (!prepare(lane, &ticks, function))
            return;
        put_delta(lane, &run, ticks, NSC_FORMAT_ENTER);
        nsc_lane_push(lane, &run, ticks, function, coded, position);
    }
    nsc_lane_run_end(lane, &run);
}

static void end_call(struct nsc_lane *lane, uint64_t ticks, enum nsc_format_record kind)
{
    struct nsc_lane_run run;

    if ((kind == NSC_FORMAT_EXIT || lane->least == 0) && nsc_lane_run_begin(lane, &run) > 0 &&
        nsc_lane_run_fits(lane, &run, ticks)) {
        nsc_lane_run_put(lane, &run, ticks, kind);
    } else {
        if (!prepare(lane, &ticks, NSC_NO_ID)) {
            lane->top--;
            lane->writer->dropped++;
            return;
        }
        put_delta(lane, &run, ticks, kind);
    }
    if (kind == NSC_FORMAT_UNWIND) /* before nsc_lane_pop(), which changes run.top */
        lane->totals[run.top->function].unwinds++;
    nsc_lane_pop(lane, &run, ticks);
    nsc_lane_run_end(lane, &run);
}

void nsc_lane_exit(struct nsc_lane *lane, uint64_t ticks)
{
    end_call(lane, ticks, NSC_FORMAT_EXIT);
}

void nsc_lane_unwind(struct nsc_lane *lane, uint64_t ticks)
{
    end_call(lane, ticks, NSC_FORMAT_UNWIND);
}

uint8_t *nsc_lane_put_long(uint8_t *at, uint64_t v)
{
    return nsc_leb_put(at, v);
}

/* Encode the summary row of the current span at @depth. */
static void put_row(struct nsc_lane *lane, uint32_t depth)
{
    const struct nsc_lane_span *span = &lane->spans[depth];

    if (span->span == UINT64_MAX)
        return;
    if (lane->rows.used >= ROWS_MAX_BYTES) {
        lane->rows_cut = true;
        return;
    }
    nsc_buffer_leb(&lane->rows, depth);
    nsc_buffer_leb(&lane->rows, span->function);
    nsc_buffer_leb(&lane->rows, span->end_ticks - lane->first_ticks);
    nsc_buffer_leb(&lane->rows, span->longest_ticks);
    lane->row_count++;
}

/* Number of depths that may have a row in the chunk. */
static uint32_t depths_used(const struct nsc_lane *lane)
{
    uint32_t high = (uint32_t)(lane->high - lane->floor);

    return high < lane->span_count ? high : lane->span_count;
}

void nsc_lane_settle(struct nsc_lane *lane, struct nsc_lane_frame *frame, uint32_t function,
                     uint64_t start_ticks, uint64_t end_ticks)
{
    uint32_t depth = (uint32_t)(frame - 1 - lane->floor), count = depths_used(lane);
    uint64_t index = start_ticks >> lane->span_shift;
    struct nsc_lane_span *span;

    if (frame - 1 < lane->low) {
        lane->low = frame - 1;
        lane->low->short_ticks = 0;
    }
    if (end_ticks >= lane->span_until) {
        for (uint32_t i = 1; i <= count; i++)
            lane->floor[i].short_ticks = 0;
        lane->span_until = span_end(lane, end_ticks);
    }
    if (depth >= lane->span_count) {
        frame->short_ticks = UINT64_MAX;
        return;
    }
    span = &lane->spans[depth];
    if (index != span->span || end_ticks - start_ticks > span->longest_ticks) {
        if (index != span->span)
            put_row(lane, depth);
        *span = (struct nsc_lane_span){index, end_ticks - start_ticks, end_ticks, function};
    }
    /* Later calls of the span begin in it, too, if the current time is still in it. */
    frame->short_ticks = index == end_ticks >> lane->span_shift ? span->longest_ticks + 1 : 0;
}

static void end_spans(struct nsc_lane *lane)
{
    uint32_t count = depths_used(lane);

    for (uint32_t i = 0; i < count; i++) {
        put_row(lane, i);
        lane->spans[i].span = UINT64_MAX;
        lane->floor[i + 1].short_ticks = 0;
    }
}

/* Adapt the span length: aim at 64 spans per chunk, fewer when their rows take too much room. */
static void adapt_spans(struct nsc_lane *lane, size_t event_bytes)
{
    uint64_t wanted = (lane->last_ticks - lane->first_ticks) / 64;
    uint32_t shift = wanted == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(wanted);

    if (lane->rows_cut || lane->rows.used > event_bytes / SUMMARY_PART)
        lane->span_bias += 2;
    else if (lane->rows.used > event_bytes / (SUMMARY_PART * 2))
        lane->span_bias += 1;
    else if (lane->span_bias > 0 && lane->rows.used < event_bytes / (SUMMARY_PART * 8))
        lane->span_bias -= 1;
    shift = (shift < SPAN_SHIFT_MIN ? SPAN_SHIFT_MIN : shift) + lane->span_bias;
    lane->span_shift = shift > SPAN_SHIFT_MAX ? SPAN_SHIFT_MAX : shift;
}

/* Encode the head of the open chunk into w->head. Its totals must be in w->section. */
static void code_head(struct nsc_lane *lane, const struct nsc_entry_chunk *c, size_t event_bytes)
{
    struct nsc_writer *w = lane->writer;
    struct nsc_buffer *b = &w->head;
    bool totals = w->section.used <= event_bytes / TOTALS_PART;
    bool summary = !lane->rows_cut && lane->rows.used <= event_bytes / SUMMARY_PART;
    bool durations = totals && w->durations.used <= event_bytes / DURATIONS_PART;

    nsc_buffer_clear(b);
    nsc_buffer_leb(b, c->thread);
    nsc_buffer_leb(b, lane->sequence);
    nsc_buffer_leb(b, (totals ? NSC_FORMAT_HEAD_TOTALS : 0) |
                          (summary ? NSC_FORMAT_HEAD_SUMMARY : 0) |
                          (durations ? NSC_FORMAT_HEAD_DURATIONS : 0));
    nsc_entry_put_extent(b, c);
    nsc_buffer_bytes(b, lane->stack.data, lane->stack.used);
    if (totals)
        nsc_buffer_bytes(b, w->section.data, w->section.used);
    if (summary) {
        nsc_buffer_leb(b, lane->span_shift);
        nsc_buffer_leb(b, lane->row_count);
        nsc_buffer_bytes(b, lane->rows.data, lane->rows.used);
    }
    if (durations)
        nsc_buffer_bytes(b, w->durations.data, w->durations.used);
}

/* Add the chunk's sums and summary to the index level above. */
static void pass_up(struct nsc_lane *lane, const struct nsc_entry_chunk *c, size_t event_bytes)
{
    const struct nsc_level_part part = {.node = {.first_chunk = lane->sequence,
                                                 .chunks = 1,
                                                 .first_ticks = c->first_ticks,
                                                 .last_ticks = c->last_ticks,
                                                 .events = c->events,
                                                 .calls = c->calls,
                                                 .lost = c->lost,
                                                 .thread = c->thread,
                                                 .min_depth = c->min_depth,
                                                 .max_depth = c->max_depth,
                                                 .shift = lane->span_shift},
                                        .event_bytes = event_bytes,
                                        .has_sums = true,
                                        .has_rows = !lane->rows_cut,
                                        .row_count = lane->row_count,
                                        .rows = &lane->rows};

    nsc_level_add(lane, &part);
}

static uint64_t entered(const struct nsc_lane *lane, uint64_t ended)
{
    return ended + nsc_lane_depth(lane) - lane->open_depth;
}

uint64_t nsc_lane_pending_calls(const struct nsc_lane *lane)
{
    return lane->chunk_open ? entered(lane, nsc_lane_calls_ended(lane)) + lane->late_calls : 0;
}

/* Fill @c and finish the chunk's spans and totals. */
static void sum_chunk(struct nsc_lane *lane, struct nsc_entry_chunk *c)
{
    uint64_t ended;

    end_spans(lane);
    if (lane->writer->sums != NULL)
        nsc_lane_add_sums(lane, lane->writer->sums, lane->writer->sum_room);
    ended = nsc_lane_code_totals(lane);
    c->thread = lane->thread;
    c->first_ticks = lane->first_ticks;
    c->last_ticks = lane->last_ticks;
    c->calls = entered(lane, ended) + lane->late_calls;
    c->events = c->calls + ended;
    c->lost = lane->lost;
    c->min_depth = (uint32_t)(lane->low - lane->floor);
    c->max_depth = (uint32_t)(lane->high - lane->floor);
    c->depth = lane->open_depth;
    c->common = lane->common;
}

void nsc_lane_flush(struct nsc_lane *lane)
{
    struct nsc_writer *w = lane->writer;
    size_t bytes = (size_t)(lane->at - lane->buffer);
    struct nsc_entry_chunk c = {0};

    if (!lane->chunk_open)
        return;
    sum_chunk(lane, &c);
    code_head(lane, &c, bytes);
    if (w->head.failed || w->section.failed || w->durations.failed || lane->rows.failed)
        nsc_writer_fail(w, -ENOMEM);
    if (nsc_writer_error(w) == 0) {
        nsc_writer_put_new_entries(w);
        c.offset = nsc_trace_file_block(&w->sink, NSC_FORMAT_HEAD, w->head.data, w->head.used);
        nsc_trace_file_flagged_block(&w->sink, NSC_FORMAT_EVENTS,
                                     lane->least > 0 ? NSC_FORMAT_BLOCK_LEAST : 0, lane->buffer,
                                     bytes);
    }
    if (nsc_writer_error(w) == 0) {
        nsc_writer_add_chunk(w, &c);
        pass_up(lane, &c, bytes);
        lane->sequence++;
    } else {
        w->dropped += c.events;
    }
    adapt_spans(lane, bytes);
    if (lane->until_choice == 0 || lane->full_count == FULL_MAX)
        nsc_lane_choose_least(lane);
    else
        lane->until_choice--;
    /* Frames below the chunk's minimum depth stayed open and are unchanged, except the child time
     * of the innermost of them. */
    lane->next_common = lane->low > lane->floor ? (uint32_t)(lane->low - lane->floor) - 1 : 0;
    lane->since_whole += c.events;
    lane->chunk_open = false;
    lane->at = lane->limit = lane->buffer;
    hold_side_buffers(lane);
    shrink_frames(lane);
}

/* Append an OTHER record of type @kind. Returns false if it cannot be kept. */
static bool put_other(struct nsc_lane *lane, uint64_t ticks, uint8_t kind, uint64_t value)
{
    struct nsc_lane_run run;

    if (!prepare(lane, &ticks, NSC_NO_ID))
        return false;
    put_delta(lane, &run, ticks, NSC_FORMAT_OTHER);
    *run.at++ = kind;
    run.at = nsc_leb_put(run.at, value);
    nsc_lane_run_end(lane, &run);
    return true;
}

void nsc_lane_late_exit(struct nsc_lane *lane, uint64_t ticks, uint32_t function)
{
    bool known = function < lane->writer->tables[NSC_WRITER_FUNCTIONS].count;

    if (!known)
        nsc_writer_fail(lane->writer, -EINVAL);
    if (known && put_other(lane, ticks, NSC_FORMAT_OTHER_LATE_EXIT, function))
        lane->late_calls++;
    else
        lane->writer->dropped++;
}

void nsc_lane_enter_earlier(struct nsc_lane *lane, uint64_t ticks, uint32_t function,
                            uint64_t position)
{
    size_t depth = nsc_lane_depth(lane);
    struct nsc_lane_frame *frame;

    /* Keep the EARLIER record and its ENTER in one chunk. */
    if (lane->chunk_open && lane->limit - lane->at < NSC_LANE_EVENT_BYTES)
        nsc_lane_flush(lane);
    put_other(lane, ticks, NSC_FORMAT_OTHER_EARLIER, 1);
    nsc_lane_enter(lane, ticks, function, position);
    frame = nsc_lane_top(lane);
    if (frame != NULL && nsc_lane_depth(lane) > depth)
        frame->bound = NSC_BOUND_START;
}

void nsc_lane_end_chunk(struct nsc_lane *lane)
{
    nsc_lane_flush(lane);
}

/* Limit a count to what readers accept: a count from damaged memory may have any value. */
static uint64_t gap_events(uint64_t events)
{
    return events < NSC_GAP_LEFT_OUT ? events : NSC_GAP_LEFT_OUT - 1;
}

void nsc_lane_lost(struct nsc_lane *lane, uint64_t ticks, uint64_t events)
{
    events = gap_events(events);
    if (put_other(lane, ticks, NSC_FORMAT_OTHER_LOST, events))
        lane->lost += events;
}

void nsc_lane_left_out(struct nsc_lane *lane, uint64_t ticks, uint64_t events)
{
    put_other(lane, ticks, NSC_FORMAT_OTHER_LEFT_OUT, gap_events(events));
}

void nsc_lane_close(struct nsc_lane *lane, uint64_t ticks)
{
    while (nsc_lane_depth(lane) > 0)
        nsc_lane_unwind(lane, ticks);
    nsc_lane_flush(lane);
    nsc_level_finish(lane);
    nsc_lane_free(lane);
}
