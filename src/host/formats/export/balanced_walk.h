/*
 * balanced_walk.h - one thread's calls in time order, as balanced begins and ends, clipped to a
 * window.
 *
 * Called by the exporters: whatever a trace holds (calls open at its start or end, late exits,
 * gaps, hidden functions), what comes out nests properly and every begin has its end.
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

/* Joined with NSC_BOUND_END and NSC_BOUND_START in @bound. */
#define NSC_WALK_CUT_SHIFT 8
#define NSC_WALK_CUT_START (NSC_BOUND_START << NSC_WALK_CUT_SHIFT) /* began before the window */
#define NSC_WALK_CUT_END   (NSC_BOUND_END << NSC_WALK_CUT_SHIFT)   /* ended after the window */

/* The call was open where the trace, a part of a longer one, begins. */
#define NSC_WALK_OPEN (1u << 16)

/* With NSC_BOUND_END: the call returned, when nobody read the timer. */
#define NSC_WALK_UNTIMED (1u << 17)

/* Sides on which the call is known to go on beyond the window or the trace, as NSC_BOUND_*. */
static inline uint32_t nsc_walk_clipped(uint32_t bound)
{
    return (bound >> NSC_WALK_CUT_SHIFT & (NSC_BOUND_START | NSC_BOUND_END)) |
           ((bound & NSC_WALK_OPEN) != 0 ? NSC_BOUND_START : 0);
}

struct nsc_walk_event {
    uint64_t ticks;
    uint64_t start_ticks; /* END: of the call */
    uint64_t value;       /* LOST: events */
    uint64_t left_out;    /* LOST: events that were not lost, but turned away by the budget */
    uint32_t kind;        /* enum nsc_walk_kind */
    uint32_t function;    /* BEGIN, END, LATE */
    uint32_t depth;       /* open calls below this one, hidden ones not counted */
    uint32_t bound;       /* END: all that is known; BEGIN: what is known of the start */
};

struct nsc_walk_options {
    uint64_t from_ticks, to_ticks; /* half open: calls that overlap it are clipped to it */
    const uint8_t *hidden;         /* a byte per function id; NULL = none */
    /*
     * Late exits as they come. Otherwise each becomes a call with NSC_BOUND_START that begins at
     * the thread's first event or where a gap left room for it, which costs one more pass.
     */
    bool raw_late;
};

struct nsc_walk;

/**
 * nsc_walk_open - begin a thread.
 * @options: copied; @options->hidden is borrowed.
 * Returns 0 or -errno with @diag filled (-ENOMEM, or what the cursor says).
 */
int nsc_walk_open(struct nsc_trace *t, uint32_t thread, const struct nsc_walk_options *options,
                  struct nsc_walk **out, struct nsc_diag *diag);

/**
 * nsc_walk_next - the next begin, end or gap; ticks never run backwards.
 * Returns 1, 0 at the end (every begin has had its end), or -errno with @diag filled.
 */
int nsc_walk_next(struct nsc_walk *w, struct nsc_walk_event *event, struct nsc_diag *diag);

/* Events of the trace read so far, for progress. */
uint64_t nsc_walk_events_read(const struct nsc_walk *w);

void nsc_walk_close(struct nsc_walk *w);

#endif
