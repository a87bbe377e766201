/*
 * selected_events.h - one thread's events as a selection leaves them: what every analysis is fed
 * with.
 *
 * Between the trace's cursor and the consumers (report, tree, calls, replay), so that these need
 * not know about windows, filters or damage. What a feed gives:
 *
 * - ENTER, EXIT, UNWIND nest; every ENTER has its end: calls open at the window's end, or at the
 * end of an incomplete trace, get an UNWIND there.
 * - Calls open at the window's start come first, as ENTERs with their true (earlier) ticks; the
 *   consumer clips them. `value` of an ENTER holds its NSC_BOUND_* known so far. After them comes a
 *   LOST of NSC_SELECTED_EVENTS_WINDOW events: what happened before is not known, as after a gap.
 * - LATE_EXIT and LOST pass, unless hidden or outside the window.
 * - `depth` counts the open calls that are not hidden.
 * - With a cost of hooks in the selection, ticks are those of a thread without hooks.
 */
#ifndef NSC_ANALYZE_CALLS_SELECTED_EVENTS_H
#define NSC_ANALYZE_CALLS_SELECTED_EVENTS_H

#include "analyze/calls/selection.h"

struct nsc_selected_events;

/* Number of "lost" events where a window begins, which is no gap of the recording. */
#define NSC_SELECTED_EVENTS_WINDOW UINT64_MAX

/* Whether a thread is selected and has any events: a file may list millions that have none. */
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
 * @selection: borrowed until nsc_selected_events_close(); its threads are not looked at.
 * Returns 0 or -errno with @diag filled, as nsc_cursor_open().
 */
int nsc_selected_events_open(struct nsc_trace *t, uint32_t thread,
                             const struct nsc_selection *selection,
                             struct nsc_selected_events **out, struct nsc_diag *diag);

/**
 * nsc_selected_events_next - the next batch; valid until the next call.
 * Without window and filter the cursor's own batch is passed on, at no cost per event.
 * Returns 1, 0 at the end, or -errno with @diag filled.
 */
int nsc_selected_events_next(struct nsc_selected_events *f, const struct nsc_event **events,
                             size_t *count, struct nsc_diag *diag);
void nsc_selected_events_close(struct nsc_selected_events *f);

/**
 * nsc_selected_events_chunk - the chunk whose events come next, if everything before it has been
 * given. Returns its index in nsc_trace_chunks(), perhaps one behind the last; UINT32_MAX within a
 * chunk, before the window, and at its end.
 */
uint32_t nsc_selected_events_chunk(const struct nsc_selected_events *f);

/**
 * nsc_selected_events_skip - pass over chunks, nsc_selected_events_chunk() having named the first
 * of them.
 * @chunk: the one to go on with. All that is skipped must lie in the window, and nothing be hidden.
 * The consumer must know itself which calls are open there. Returns 0 or -errno with @diag.
 */
int nsc_selected_events_skip(struct nsc_selected_events *f, uint32_t chunk, struct nsc_diag *diag);

#endif
