/*
 * calls.h - complete calls, one by one: start, duration and caller.
 *
 * Called by cli/ (`calls`) and by code that needs calls rather than events. Keeps nothing of a call
 * after the callback has returned.
 */
#ifndef NSC_ANALYZE_CALLS_CALLS_H
#define NSC_ANALYZE_CALLS_CALLS_H

#include "analyze/calls/open_calls.h"
#include "analyze/calls/selection.h"

/* Return false to end the scan early; this is not an error. */
typedef bool (*nsc_call_fn)(void *context, const struct nsc_call *call);

enum nsc_calls_order {
    NSC_CALLS_BY_THREAD, /* one thread after the other; within a thread by end of call */
    NSC_CALLS_BY_END,    /* all threads merged, by end of call */
};

/**
 * nsc_calls_scan - pass all selected calls to a callback.
 * @wanted: one byte per function id, 0 = skip its calls; NULL = all functions.
 * @fn, @context: called for each call.
 * A call that returned without a recorded entry (LATE_EXIT) has NSC_BOUND_START. Its start is taken
 * as the start of the recording (or of the window) or the last gap. Calls inside it are passed
 * earlier, with its caller as their parent.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_calls_scan(struct nsc_trace *t, const struct nsc_selection *selection,
                   enum nsc_calls_order order, const uint8_t *wanted, nsc_call_fn fn, void *context,
                   struct nsc_diag *diag);

enum nsc_calls_key { NSC_CALLS_KEY_DURATION, NSC_CALLS_KEY_SELF, NSC_CALLS_KEY_START };

/* The first n calls by a sort key, collected during a scan. */
struct nsc_calls_top {
    enum nsc_calls_key key;
    size_t max;
    size_t count;           /* number of entries in `calls`, at most max */
    uint64_t seen, bounds;  /* calls offered, and how many of them have a bound */
    struct nsc_call *calls; /* while collecting: a heap with the call to evict next at [0] */
};

/**
 * nsc_calls_top_init - prepare to keep @max calls: the longest, those with the most self time, or
 * the earliest. Returns 0 or -ENOMEM.
 */
int nsc_calls_top_init(struct nsc_calls_top *top, enum nsc_calls_key key, size_t max);
/* An nsc_call_fn; @context is a struct nsc_calls_top. */
bool nsc_calls_top_offer(void *context, const struct nsc_call *call);
/* Sort the collected calls by the key, the first one first. */
void nsc_calls_top_sort(struct nsc_calls_top *top);
void nsc_calls_top_free(struct nsc_calls_top *top);

#endif
