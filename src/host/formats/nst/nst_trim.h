/*
 * nst_trim.h - write a selection of a trace as a trace of its own.
 *
 * Called by cli/ (export --format nst and html). The new trace contains only: the calls, notes and
 * left-out entries of the selection; the threads and names that these refer to; and the metadata
 * of the recording. Times do not change. Memory: that of the writer.
 *
 * Calls that cross an end of the window are cut there, and that side is marked as a bound. Calls
 * of hidden functions are left out as if they had not been recorded.
 */
#ifndef NSC_FORMATS_NST_NST_TRIM_H
#define NSC_FORMATS_NST_NST_TRIM_H

#include "analyze/calls/selection.h"
#include "trace/write/writer.h"

struct nsc_nst_trim_result {
    uint64_t calls;
    uint64_t cut;     /* of these, calls that cross the start or end of the window */
    uint64_t lost;    /* lost events with a known position in the selection */
    uint32_t threads; /* in the new trace, without further stacks */
};

/**
 * nsc_nst_trim_write - write a selection of a trace.
 * @w: writer of a new, empty trace. Owned by the caller, who also finishes it.
 * @progress: called with events done so far; may be NULL.
 * @result: filled on success.
 * Returns 0, or -errno with @diag: -EBADMSG (the trace is damaged), -ENOMEM, or a write error.
 */
int nsc_nst_trim_write(struct nsc_trace *t, const struct nsc_selection *selection,
                       struct nsc_writer *w,
                       void (*progress)(void *context, uint64_t done, uint64_t total),
                       void *context, struct nsc_nst_trim_result *result, struct nsc_diag *diag);

#endif
