/*
 * calls.h - complete calls, one by one: when, how long, called by whom.
 *
 * Called by cli/ (`calls`) and whoever needs calls rather than events. Nothing is kept of a call
 * once it has been given away.
 */
#ifndef NSC_ANALYZE_CALLS_CALLS_H
#define NSC_ANALYZE_CALLS_CALLS_H

#include "analyze/calls/open_calls.h"
#include "analyze/calls/selection.h"

/* Return false to end the scan early; that is no error. */
typedef bool (*nsc_call_fn)(void *context, const struct nsc_call *call);

enum nsc_calls_order {
    NSC_CALLS_BY_THREAD, /* thread after thread; within, as the calls end */
    NSC_CALLS_BY_END,    /* all threads together, as the calls end */
};

/**
 * nsc_calls_scan - give all selected calls to a function.
 * @wanted: a byte per function id, 0 = do not give; NULL = give all.
 * @fn, @context: called for each.
 * A call that returned without having been entered (LATE_EXIT) has NSC_BOUND_START and begins where
 * recording (or the window) began or the last gap was; calls inside it came before, with its caller
 * as their parent.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_calls_scan(struct nsc_trace *t, const struct nsc_selection *selection,
                   enum nsc_calls_order order, const uint8_t *wanted, nsc_call_fn fn, void *context,
                   struct nsc_diag *diag);

enum nsc_calls_key { NSC_CALLS_KEY_DURATION, NSC_CALLS_KEY_SELF, NSC_CALLS_KEY_START };

/* The first n calls by some key, gathered from a scan. */
struct nsc_calls_top {
    enum nsc_calls_key key;
    size_t max;
    size_t count;           /* in `calls`, at most max */
    uint64_t seen, bounds;  /* calls offered, and those of them with a bound */
    struct nsc_call *calls; /* while gathering: a heap, the one to go first at [0] */
};

/**
 * nsc_calls_top_init - prepare to keep @max calls: the longest, those with most self time, or the
 * earliest. Returns 0 or -ENOMEM.
 */
int nsc_calls_top_init(struct nsc_calls_top *top, enum nsc_calls_key key, size_t max);
/* An nsc_call_fn; @context is the struct nsc_calls_top. */
bool nsc_calls_top_offer(void *context, const struct nsc_call *call);
/* Put what was gathered in order, the first one first. */
void nsc_calls_top_sort(struct nsc_calls_top *top);
void nsc_calls_top_free(struct nsc_calls_top *top);

#endif
