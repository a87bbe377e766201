/*
 * Fuzzes the reader of .nst files: opening, scanning, every event, every chunk head and node, every
 * note, verifying.
 *
 * Build and run: make fuzz-trace
 */
#include <stdlib.h>

#include "fuzz/rigs/trace_input.h"
#include "trace/format/duration_bucket.h"
#include "trace/read/levels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define EVENTS_MAX (1u << 22) /* a compressed chunk can be long: no use in reading all of it */

static void read_events(struct nsc_trace *t, uint32_t thread, uint64_t from)
{
    const struct nsc_event *events;
    const struct nsc_frame *frames;
    struct nsc_cursor *c;
    size_t count, read = 0;
    uint64_t before = 0;
    uint32_t depth;

    if (nsc_cursor_open(t, thread, from, &c, NULL) != 0)
        return;
    while (read < EVENTS_MAX && nsc_cursor_next(c, &events, &count, NULL) == 1) {
        for (size_t i = 0; i < count; i++) {
            if (events[i].ticks < before)
                abort();
            before = events[i].ticks;
            if (events[i].kind != NSC_EVENT_LOST &&
                nsc_trace_function(t, events[i].function) == NULL)
                abort();
        }
        read += count;
        nsc_cursor_stack(c, &frames, &depth);
        for (uint32_t i = 0; i < depth; i++)
            if (nsc_trace_function(t, frames[i].function) == NULL)
                abort();
    }
    nsc_cursor_close(c);
}

static void read_heads(struct nsc_trace *t, uint32_t thread)
{
    struct nsc_chunk_head head;
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    for (uint32_t i = 0; i < count; i++)
        (void)nsc_trace_chunk_head(t, &chunks[i], &head, NULL);
}

static volatile size_t sink;

/* Pieces follow each other, and what they tell is within the tables. */
static void read_levels(struct nsc_trace *t, uint32_t thread, uint32_t first, uint32_t end,
                        enum nsc_levels_wanted wanted, uint32_t shift)
{
    const uint32_t functions = nsc_trace_info(t)->function_count;
    struct nsc_levels_piece piece;
    struct nsc_levels *walk;
    uint32_t at = first;

    if (nsc_levels_open(t, thread, first, end, wanted, shift, &walk, NULL) != 0)
        abort();
    while (nsc_levels_next(walk, &piece, NULL) == 1) {
        if (piece.chunk_count == 0 || piece.first_chunk + piece.chunk_count <= at)
            abort();
        at = piece.first_chunk + piece.chunk_count;
        for (uint32_t i = 0; i < piece.row_count; i++)
            if (piece.rows[i].function >= functions ||
                piece.rows[i].duration_ticks > piece.rows[i].end_ticks)
                abort();
        for (uint32_t i = 0; i < piece.total_count; i++) {
            const struct nsc_chunk_total *total = &piece.totals[i];

            if (total->function >= functions)
                abort();
            for (uint32_t k = 0; piece.known && k < total->count_count; k++)
                sink += total->counts[k].calls + nsc_bucket_low(total->counts[k].bucket);
        }
    }
    nsc_levels_close(walk);
}

static void read_all_levels(struct nsc_trace *t, uint32_t thread)
{
    uint32_t count, first, end;
    struct nsc_levels_stack stack;

    (void)nsc_trace_chunks(t, thread, &count);
    read_levels(t, thread, 0, count, NSC_LEVELS_ROWS, 63);
    read_levels(t, thread, count / 3, count, NSC_LEVELS_ROWS, 12);
    read_levels(t, thread, 0, count, NSC_LEVELS_SUMS, 0);
    read_levels(t, thread, count / 3, count - count / 4, NSC_LEVELS_SUMS, 0);
    nsc_levels_range(t, thread, nsc_trace_info(t)->start_ticks, nsc_trace_info(t)->end_ticks,
                     &first, &end);
    if (end < first || end > count)
        abort();
    for (uint32_t i = 0; i <= count && i < 8; i++)
        if (nsc_levels_stack(t, thread, i, &stack, NULL) == 0)
            for (uint32_t k = 0; k < stack.depth; k++)
                sink += stack.frames[k].start_ticks + stack.child_ticks[k];
}

static void read_notes(struct nsc_trace *t, uint32_t owner, bool of_process, uint64_t from)
{
    for (int kind = 0; kind < NSC_NOTE_KINDS; kind++) {
        struct nsc_note_cursor *n;
        struct nsc_note note;
        uint64_t before = from;
        size_t read = 0;

        if (nsc_note_cursor_open(t, (enum nsc_note_kind)kind, owner, of_process, from, &n, NULL) !=
            0)
            return;
        while (read++ < EVENTS_MAX && nsc_note_cursor_next(n, &note, NULL) == 1) {
            if (note.ticks < before || note.kind != (uint32_t)kind || note.owner != owner ||
                note.of_process != of_process)
                abort();
            if (kind == NSC_NOTE_MARK) /* the texts end */
                sink += strlen(note.mark.name) + strlen(note.mark.metadata);
            else if (kind == NSC_NOTE_COUNTER)
                sink += strlen(note.counter.name);
            before = note.ticks;
        }
        nsc_note_cursor_close(n);
    }
}

static void read_left_out(struct nsc_trace *t)
{
    const struct nsc_left_out *l;

    for (uint32_t i = 0; (l = nsc_trace_left_out(t, i)) != NULL; i++)
        if ((l->function != NSC_NO_ID && nsc_trace_function(t, l->function) == NULL) ||
            (l->process != NSC_NO_ID && nsc_trace_process(t, l->process) == NULL))
            abort();
}

static void read_all(const char *path, unsigned flags)
{
    const struct nsc_trace_info *info;
    struct nsc_trace *t;

    if (nsc_trace_open(path, flags, &t, NULL) != 0)
        return;
    info = nsc_trace_info(t);
    for (uint32_t i = 0; i < info->thread_count && i < 64; i++) {
        if (nsc_trace_process(t, nsc_trace_thread(t, i)->process) == NULL)
            abort();
        read_events(t, i, 0);
        read_events(t, i, info->start_ticks + (info->end_ticks - info->start_ticks) / 2);
        read_heads(t, i);
        read_all_levels(t, i);
        read_notes(t, i, false, 0);
        read_notes(t, i, false, info->end_ticks);
    }
    for (uint32_t i = 0; i < info->process_count && i < 64; i++)
        read_notes(t, i, true, 0);
    read_left_out(t);
    (void)nsc_clock_ns(nsc_trace_clock(t), info->end_ticks);
    nsc_trace_close(t);
}

static void ignore(void *ctx, const struct nsc_diag *d)
{
    (void)ctx;
    (void)d;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_trace_file(data, bytes);

    if (path != NULL) {
        read_all(path, 0);
        read_all(path, NSC_NST_RECOVER | NSC_TRACE_SCAN);
        (void)nsc_trace_verify(path, ignore, NULL, NULL);
    }
    return 0;
}
