/*
 * report_state.h - internal state of a report while it is computed. Shared by report.c (events) and
 * report_index.c (chunks that are not read).
 */
#ifndef NSC_ANALYZE_FUNCTIONS_REPORT_STATE_H
#define NSC_ANALYZE_FUNCTIONS_REPORT_STATE_H

#include "analyze/calls/selected_events.h"
#include "analyze/functions/duration_dist.h"

/* Running sums of a function. Every event touches one: smaller than a cache line. */
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
    uint64_t child_ticks; /* time in callees, inside the window */
    uint32_t function;
    uint32_t bound;
};

struct nsc_report_counter {
    struct nsc_trace *trace;
    const struct nsc_selection *selection;
    struct nsc_report_tally *tallies; /* by function id */
    uint32_t function_count;

    /* stack[0] is not a call but represents the thread. */
    struct nsc_report_call *stack;
    size_t depth, depth_max;

    /*
     * The current epoch: the time since which a call without a recorded entry (LATE_EXIT) must have
     * been open. It begins at the thread's start or at the last gap. It belongs to the call that
     * was innermost at that time, stack[epoch_depth]. When this call returns, a new epoch begins
     * for its caller.
     */
    size_t epoch_depth;
    uint64_t epoch_ticks;
    uint64_t epoch_child_ticks; /* child_ticks of that call at the start of the epoch */
    uint32_t epoch;             /* number of the epoch, from 1 */

    uint32_t process;
    bool any_call;
    bool no_memory;

    bool use_index;
    bool *has_aliases; /* by function id: several ids of this function have calls */
};

static inline uint64_t nsc_report_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Make room for at least one more call. Returns false and sets no_memory on failure. */
bool nsc_report_grow_stack(struct nsc_report_counter *c);
/* Create the distribution of a function. Returns NULL and sets no_memory on failure. */
struct nsc_dist *nsc_report_make_dist(struct nsc_report_counter *c, struct nsc_report_tally *f);

/* The chunks of the current thread that may be skipped. */
struct nsc_report_index {
    uint32_t thread;
    const struct nsc_chunk *chunks;
    uint32_t count;
    uint32_t first, end; /* chunks whose events all lie in the window */
    /* the last chunk in the window with a LATE_EXIT, plus 1; 0: none */
    uint32_t last_late;
    uint64_t *child_ticks; /* scratch: callee times of the stack where a skip begins */
};

/* Decide whether the index is used for these threads. Returns 0 or -ENOMEM. */
int nsc_report_index_decide(struct nsc_report_counter *c, const uint32_t *threads, uint32_t count);
void nsc_report_index_begin(const struct nsc_report_counter *c, struct nsc_report_index *x,
                            uint32_t thread);
void nsc_report_index_end(struct nsc_report_index *x);
/**
 * nsc_report_index_skip - count as many chunks as possible from the index, starting at @feed's
 * position, and skip them.
 * Returns 0 or -errno with @diag.
 */
int nsc_report_index_skip(struct nsc_report_counter *c, struct nsc_report_index *x,
                          struct nsc_selected_events *feed, struct nsc_diag *diag);

#endif
