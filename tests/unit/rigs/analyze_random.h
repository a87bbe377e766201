/*
 * analyze_random.h - random traces with unwinds, late exits, gaps and recursion, for tests that
 * hold analyses against analyze_oracle.h.
 */
#ifndef NSC_TESTS_UNIT_RIGS_ANALYZE_RANDOM_H
#define NSC_TESTS_UNIT_RIGS_ANALYZE_RANDOM_H

#include <stdio.h>

#include "trace/write/writer.h"
#include "unit/rigs/analyze_oracle.h"

#define RANDOM_THREADS   3u
#define RANDOM_FUNCTIONS 7u

/* @w, @chunk_steps: if not 0, a chunk ends after so many steps, and but every third has late exits.
 */
static inline void random_thread(struct model_thread *t, struct model_random *r, unsigned steps,
                                 struct nsc_writer *w, unsigned chunk_steps)
{
    uint32_t gap_depth = 0; /* a late exit is possible at this depth only */

    for (unsigned i = 0; i < steps; i++) {
        uint32_t what = model_random(r) % 100, function = model_random(r) % RANDOM_FUNCTIONS;

        if (chunk_steps != 0 && i % chunk_steps == 0)
            nsc_writer_flush(w);
        t->ticks += model_random(r) % 4 == 0 ? 0 : 2 * (model_random(r) % 50);
        if (what < 6 && t->depth == gap_depth && (chunk_steps == 0 || i / chunk_steps % 3 == 1)) {
            nsc_lane_late_exit(t->lane, t->ticks, function);
            model_note(t, NSC_EVENT_LATE_EXIT, function, 0);
        } else if (what < 8) {
            if (what == 7)
                nsc_lane_left_out(t->lane, t->ticks, what);
            else
                nsc_lane_lost(t->lane, t->ticks, what);
            model_note(t, NSC_EVENT_LOST, NSC_NO_ID, what | (what == 7 ? NSC_GAP_LEFT_OUT : 0));
            gap_depth = t->depth;
        } else if (t->depth == 0 || (t->depth < 9 && what < 53)) {
            model_enter(t, function);
        } else {
            model_end(t, what % 8 == 0 ? NSC_EVENT_UNWIND : NSC_EVENT_EXIT);
            gap_depth = gap_depth > t->depth ? t->depth : gap_depth;
        }
    }
    model_close(t);
}

static inline struct nsc_trace *random_chunks(const char *path, struct model_thread *threads,
                                              uint64_t seed, unsigned steps, unsigned chunk_steps)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct model_random r = {seed * 7919 + 1};
    struct nsc_diag diag = {0};
    struct nsc_writer *w;
    struct nsc_trace *t = NULL;

    if (nsc_writer_create(path, &options, &w, &diag) != 0) {
        printf("# %s\n", diag.message);
        return NULL;
    }
    memset(threads, 0, RANDOM_THREADS * sizeof *threads);
    model_tables(w, threads, RANDOM_THREADS, RANDOM_FUNCTIONS);
    for (uint32_t i = 0; i < RANDOM_THREADS; i++) {
        threads[i].ticks = 1000 + 100 * i;
        random_thread(&threads[i], &r, steps, w, chunk_steps);
    }
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

/* All of a thread in one chunk. */
static inline struct nsc_trace *random_trace(const char *path, struct model_thread *threads,
                                             uint64_t seed, unsigned steps)
{
    return random_chunks(path, threads, seed, steps, 0);
}

#endif
