/*
 * Fuzzes the viewer's engine: the input is request after request, a line each, over a few fixed
 * traces. Whatever is asked, the answer has a status that makes sense, and tiles hold together.
 *
 * Build and run: make fuzz
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/rigs/engine_check.h"
#include "trace/write/writer.h"
#include "unit/rigs/trace_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define TRACES    3u
#define LINES_MAX 32u

struct kind {
    uint32_t threads, functions, events, depth;
    size_t memory_bytes;
};

static const struct kind kinds[TRACES] = {
    {2, 5, 3000, 9, 1 << 16}, /* many small chunks */
    {1, 300, 20000, 900, 0},  /* deep, one large chunk */
    {0, 0, 0, 0, 0},          /* nothing at all */
};

static struct nsc_engine *engines[TRACES];

/* Fuzzers run for long, so that everything that can be read is written: notes, too. */
static void add_notes(struct nsc_writer *w)
{
    for (uint32_t i = 0; i < 40; i++) {
        struct nsc_note sample = {.ticks = 100 * i,
                                  .kind = NSC_NOTE_SAMPLE,
                                  .sample = {.known = 3, .values = {i, 2 * i}}};
        struct nsc_note state = {.ticks = 90 * i, .kind = NSC_NOTE_STATE, .state = {i % 8, i % 3}};
        struct nsc_note mark = {
            .ticks = 80 * i, .kind = NSC_NOTE_MARK, .mark = {.name = "m", .metadata = "x"}};
        struct nsc_note counter = {.ticks = 70 * i,
                                   .kind = NSC_NOTE_COUNTER,
                                   .of_process = i % 2 == 0,
                                   .counter = {.name = "q", .integer = i}};

        nsc_writer_note(w, &sample);
        nsc_writer_note(w, &state);
        nsc_writer_note(w, &mark);
        nsc_writer_note(w, &counter);
    }
}

static void write_trace(const struct kind *k, const char *path)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .overwrite = true, .memory_bytes = k->memory_bytes};
    struct model_thread threads[2] = {{0}};
    struct model_random r = {7};
    struct nsc_writer *w;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    if (k->threads > 0) {
        model_tables(w, threads, k->threads, k->functions);
        add_notes(w);
    }
    for (uint32_t i = 0; i < k->threads; i++) {
        for (uint32_t n = 0; n < k->events; n++)
            model_step(&threads[i], &r, k->functions, k->depth, 20);
        model_close(&threads[i]);
        model_free(&threads[i]);
    }
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
}

static void make_engines(void)
{
    char path[] = "/tmp/fuzz-answer-XXXXXX";
    const struct nsc_engine_options options = {.size = sizeof options, .cache_bytes = 1 << 16};

    close(mkstemp(path));
    for (uint32_t i = 0; i < TRACES; i++) {
        struct nsc_trace *t;

        write_trace(&kinds[i], path);
        if (nsc_trace_open(path, 0, &t, NULL) != 0 ||
            nsc_engine_open(&t, 1, &options, &engines[i]) != 0)
            abort();
    }
    unlink(path);
}

static void ask(struct nsc_engine *engine, const char *request, size_t bytes)
{
    int status = ask_and_check(engine, request, bytes);

    if (status != 200 && status != 400 && status != 404)
        abort(); /* nothing of these traces is damaged */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *at = (const char *)data;

    if (engines[0] == NULL)
        make_engines();
    for (uint32_t i = 0; bytes > 0 && i < LINES_MAX; i++) {
        const char *newline = memchr(at, '\n', bytes);
        size_t length = newline != NULL ? (size_t)(newline - at) : bytes;

        /* The first byte of a line chooses the trace, unless it begins a path. */
        if (length > 0 && *at != '/')
            ask(engines[(uint8_t)*at % TRACES], at + 1, length - 1);
        else
            ask(engines[0], at, length);
        length += newline != NULL;
        at += length;
        bytes -= length;
    }
    return 0;
}
