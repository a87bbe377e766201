/*
 * Fuzzes the reader of .nst files: opening, scanning, every event, every chunk head, verifying.
 *
 * Build and run: make fuzz-trace
 */
#include <stdlib.h>

#include "fuzz/trace_input.h"
#include "trace/reader.h"

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
    }
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
        read_all(path, NSC_TRACE_RECOVER | NSC_TRACE_SCAN);
        (void)nsc_trace_verify(path, ignore, NULL, NULL);
    }
    return 0;
}
