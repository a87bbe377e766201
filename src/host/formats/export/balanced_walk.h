/*
 * balanced_walk.h - iterates over one thread's calls in time order, as balanced begins and ends,
 * clipped to a window.
 *
 * Called by the exporters. A trace may hold calls that are open at its start or end, late exits
 * (exits without a recorded entry), gaps and hidden functions. The output always nests properly,
 * and every begin has an end.
 */
#ifndef NSC_FORMATS_EXPORT_BALANCED_WALK_H
#define NSC_FORMATS_EXPORT_BALANCED_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/read/reader.h"

enum nsc_walk_kind {
    NSC_WALK_BEGIN,
    NSC_WALK_END,
    NSC_WALK_LATE, /* only with @raw_late */
    NSC_WALK_LOST,
};

/* Further flags in nsc_walk_event.bound, beside NSC_BOUND_END and NSC_BOUND_START. */
#define NSC_WALK_CUT_SHIFT 8
#define NSC_WALK_CUT_START (NSC_BOUND_START << NSC_WALK_CUT_SHIFT) /* began before the window */
#define NSC_WALK_CUT_END   (NSC_BOUND_END << NSC_WALK_CUT_SHIFT)   /* ended after the window */

/* The call was already open at the start of the trace, which is part of a longer one. */
#define NSC_WALK_OPEN (1u << 16)

/* With NSC_BOUND_END: the call returned, but its exit was not timed. */
#define NSC_WALK_UNTIMED (1u << 17)

/* Returns the sides, as NSC_BOUND_*, on which the call extends beyond the window or the trace. */
static inline uint32_t nsc_walk_clipped(uint32_t bound)
{
    return (bound >> NSC_WALK_CUT_SHIFT & (NSC_BOUND_START | NSC_BOUND_END)) |
           ((bound & NSC_WALK_OPEN) != 0 ? NSC_BOUND_START : 0);
}

struct nsc_walk_event {
    uint64_t ticks;
    uint64_t start_ticks; /* END: start of the call */
    uint64_t value;       /* LOST: number of lost events */
    uint64_t left_out;    /* LOST: events that were not lost, but rejected by the budget */
    uint32_t kind;        /* enum nsc_walk_kind */
    uint32_t function;    /* BEGIN, END, LATE */
    uint32_t depth;       /* number of enclosing calls, without hidden ones */
    uint32_t bound;       /* flags of both sides for END, of the start only for BEGIN */
};

struct nsc_walk_options {
    uint64_t from_ticks, to_ticks; /* window, end exclusive; overlapping calls are clipped */
    const uint8_t *hidden;         /* a byte per function id; NULL = none */
    /*
     * Report late exits as NSC_WALK_LATE. Otherwise each becomes a call with NSC_BOUND_START, which
     * begins at the thread's first event or at a gap. This costs an additional pass over the
     * thread.
     */
    bool raw_late;
};

struct nsc_walk;

/**
 * nsc_walk_open - start an iteration over a thread.
 * @options: copied; @options->hidden is borrowed.
 * Returns 0 or -errno with @diag filled (-ENOMEM, or an error of the trace cursor).
 */
int nsc_walk_open(struct nsc_trace *t, uint32_t thread, const struct nsc_walk_options *options,
                  struct nsc_walk **out, struct nsc_diag *diag);

/**
 * nsc_walk_next - get the next begin, end or gap. Ticks never decrease.
 * Returns 1, 0 at the end (by then, every begin has had its end), or -errno with @diag filled.
 */
int nsc_walk_next(struct nsc_walk *w, struct nsc_walk_event *event, struct nsc_diag *diag);

/* Number of trace events read so far, for progress reports. */
uint64_t nsc_walk_events_read(const struct nsc_walk *w);

void nsc_walk_close(struct nsc_walk *w);

#endif
