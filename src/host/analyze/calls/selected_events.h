/*
 * selected_events.h - one thread's events after a selection was applied: the input of every
 * analysis.
 *
 * Sits between the trace's cursor and the consumers (report, tree, calls, replay). Consumers need
 * not handle windows, filters or damaged files. It guarantees:
 *
 * - ENTER, EXIT and UNWIND nest, and every ENTER has its end. Calls that are open at the window's
 *   end, or at the end of an incomplete trace, get an UNWIND there.
 * - Calls that are open at the window's start come first, as ENTERs with their true (earlier)
 *   ticks; the consumer clips them. `value` of an ENTER holds its NSC_BOUND_* known so far. A LOST
 *   of NSC_SELECTED_EVENTS_WINDOW events follows them: what happened earlier is unknown, as after a
 *   gap.
 * - LATE_EXIT and LOST are passed on, unless hidden or outside the window.
 * - `depth` counts the open calls that are not hidden.
 * - If the selection has a hook cost, ticks are corrected to those of a thread without hooks.
 */
#ifndef NSC_ANALYZE_CALLS_SELECTED_EVENTS_H
#define NSC_ANALYZE_CALLS_SELECTED_EVENTS_H

#include "analyze/calls/selection.h"

struct nsc_selected_events;

/* Number of "lost" events at the start of a window, where the recording has no gap. */
#define NSC_SELECTED_EVENTS_WINDOW UINT64_MAX

/* Whether a thread is selected and has events. A file may list millions of threads without
 * events. */
static inline bool nsc_selected_events_is_wanted(const struct nsc_trace *t,
                                                 const struct nsc_selection *selection,
                                                 uint32_t thread)
{
    uint32_t chunks;

    return nsc_selection_has_thread(selection, thread) &&
           nsc_trace_chunks(t, thread, &chunks) != NULL;
}

/**
 * nsc_selected_events_open - begin to read a thread.
 * @selection: borrowed until nsc_selected_events_close(); its list of threads is ignored.
 * Returns 0 or -errno with @diag filled, as nsc_cursor_open().
 */
int nsc_selected_events_open(struct nsc_trace *t, uint32_t thread,
                             const struct nsc_selection *selection,
                             struct nsc_selected_events **out, struct nsc_diag *diag);

/**
 * nsc_selected_events_next - return the next batch; valid until the next call of this function.
 * Without window, filter and hook cost the cursor's own batch is passed on, at no cost per event.
 * Returns 1, 0 at the end, or -errno with @diag filled.
 */
int nsc_selected_events_next(struct nsc_selected_events *f, const struct nsc_event **events,
                             size_t *count, struct nsc_diag *diag);
void nsc_selected_events_close(struct nsc_selected_events *f);

/**
 * nsc_selected_events_chunk - return the chunk whose events come next, if everything before it has
 * been returned. Returns its index in nsc_trace_chunks(), possibly one past the last. Returns
 * UINT32_MAX within a chunk, before the window, and at its end.
 */
uint32_t nsc_selected_events_chunk(const struct nsc_selected_events *f);

/**
 * nsc_selected_events_skip - skip chunks, starting with the one that nsc_selected_events_chunk()
 * returned.
 * @chunk: the chunk to continue with. All skipped chunks must lie in the window, and no function
 *         may be hidden.
 * The consumer must itself know which calls are open there. Returns 0 or -errno with @diag.
 */
int nsc_selected_events_skip(struct nsc_selected_events *f, uint32_t chunk, struct nsc_diag *diag);

#endif
