/*
 * report_state.h - the inside of a report while it is counted, shared by report.c (events) and
 * report_index.c (chunks that need not be read).
 */
#ifndef NSC_ANALYZE_FUNCTIONS_REPORT_STATE_H
#define NSC_ANALYZE_FUNCTIONS_REPORT_STATE_H

#include "analyze/calls/selected_events.h"
#include "analyze/functions/duration_dist.h"

/* What is known of a function while counting. Every event touches one: less than a cache line. */
struct nsc_report_tally {
    uint64_t total_ticks; /* of outermost calls */
    uint64_t self_ticks;
    /* total_ticks when the function first became active in epoch `epoch`: see end_late(). */
    uint64_t epoch_base;
    uint32_t epoch;
    uint32_t active; /* open calls on the current thread */
    struct nsc_dist *dist;
    uint64_t bounds;
    uint32_t process; /* NSC_NO_ID = several; meaningless without calls */
};

struct nsc_report_call {
    uint64_t start_ticks;
    uint64_t child_ticks; /* time inside the window spent in callees */
    uint32_t function;
    uint32_t bound;
};

struct nsc_report_counter {
    struct nsc_trace *trace;
    const struct nsc_selection *selection;
    struct nsc_report_tally *tallies; /* by function id */
    uint32_t function_count;

    /* stack[0] is no call: it stands for the thread. */
    struct nsc_report_call *stack;
    size_t depth, depth_max;

    /*
     * An epoch tells since when a call that returns without having been entered (LATE_EXIT) must
     * have been open: since the thread's start, or the last gap. It belongs to the call that was
     * innermost then, stack[epoch_depth]; calls further out get one of their own when they are
     * innermost again.
     */
    size_t epoch_depth;
    uint64_t epoch_ticks;
    uint64_t epoch_child_ticks; /* child_ticks of that call when the epoch began */
    uint32_t epoch;             /* its number, from 1 */

    uint32_t process;
    bool any_call;
    bool no_memory;

    bool use_index;
    bool *has_aliases; /* by function id: calls have several ids that stand for the same */
};

static inline uint64_t nsc_report_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Room for one more call on the stack, at least. False (and no_memory) without. */
bool nsc_report_grow_stack(struct nsc_report_counter *c);
/* The distribution of a function that had none. NULL (and no_memory) without memory. */
struct nsc_dist *nsc_report_make_dist(struct nsc_report_counter *c, struct nsc_report_tally *f);

/* What may be skipped of the thread being counted. */
struct nsc_report_index {
    uint32_t thread;
    const struct nsc_chunk *chunks;
    uint32_t count;
    uint32_t first, end; /* chunks that lie in the window with all their events */
    uint32_t last_late; /* the last chunk, of those in the window, with a LATE EXIT, plus 1; or 0 */
    uint64_t *child_ticks; /* scratch: of the stack where a skip begins */
};

/* Whether the index is to be used at all for these threads. Returns 0 or -ENOMEM. */
int nsc_report_index_decide(struct nsc_report_counter *c, const uint32_t *threads, uint32_t count);
void nsc_report_index_begin(const struct nsc_report_counter *c, struct nsc_report_index *x,
                            uint32_t thread);
void nsc_report_index_end(struct nsc_report_index *x);
/**
 * nsc_report_index_skip - count as many chunks as possible from the index, where @feed stands.
 * Returns 0 or -errno with @diag.
 */
int nsc_report_index_skip(struct nsc_report_counter *c, struct nsc_report_index *x,
                          struct nsc_selected_events *feed, struct nsc_diag *diag);

#endif
