/*
 * nst_trim.h - a part of a trace as a trace of its own.
 *
 * Called by cli/ (export --format nst and html). What is in it: the selection's calls, notes and
 * what was left out of it, the threads and names that these need, and what is known of the
 * recording; times stay what they were. Nothing else. Memory as the writer's.
 *
 * Calls that are open at an end of the window are cut there and marked as bounds. Calls of hidden
 * functions are left out as if they had not been recorded.
 */
#ifndef NSC_FORMATS_NST_NST_TRIM_H
#define NSC_FORMATS_NST_NST_TRIM_H

#include "analyze/calls/selection.h"
#include "trace/write/writer.h"

struct nsc_nst_trim_result {
    uint64_t calls;
    uint64_t cut;     /* of these, calls that were open where the window begins or ends */
    uint64_t lost;    /* events that the recording lost, where known */
    uint32_t threads; /* in the new trace; their further stacks do not count */
};

/**
 * nsc_nst_trim_write - write a selection of a trace.
 * @w: of a new trace, without anything in it; the caller's, also to finish.
 * @progress: called with events done so far; may be NULL.
 * @result: filled on success.
 * Returns 0, or -errno with @diag: -EBADMSG (the trace is damaged), -ENOMEM, or a write error.
 */
int nsc_nst_trim_write(struct nsc_trace *t, const struct nsc_selection *selection,
                       struct nsc_writer *w,
                       void (*progress)(void *context, uint64_t done, uint64_t total),
                       void *context, struct nsc_nst_trim_result *result, struct nsc_diag *diag);

#endif
