/*
 * handlers.h - the handlers of answer/, for its table, and the little that files share beside
 * context.h.
 *
 * Used inside answer/ only. Each is documented by its request in docs/viewer-protocol.md.
 */
#ifndef NSC_VIEWER_ENGINE_HANDLERS_H
#define NSC_VIEWER_ENGINE_HANDLERS_H

#include "analyze/calls/calls.h"
#include "viewer/engine/context.h"

/* handle_trace.c */
int nsc_engine_trace(struct nsc_engine_context *ask);
int nsc_engine_functions(struct nsc_engine_context *ask);
void nsc_engine_forget_facts(struct nsc_engine_source *source);
/* handle_tiles.c */
int nsc_engine_tiles(struct nsc_engine_context *ask);
/* handle_overview.c */
int nsc_engine_overview(struct nsc_engine_context *ask);
/* handle_analyses.c */
int nsc_engine_report(struct nsc_engine_context *ask);
int nsc_engine_tree(struct nsc_engine_context *ask);
int nsc_engine_sandwich(struct nsc_engine_context *ask);
int nsc_engine_histogram(struct nsc_engine_context *ask);
int nsc_engine_shares(struct nsc_engine_context *ask);
/* handle_diff.c: with two traces only */
int nsc_engine_diff(struct nsc_engine_context *ask);
/* handle_notes.c */
int nsc_engine_states(struct nsc_engine_context *ask);
int nsc_engine_samples(struct nsc_engine_context *ask);
int nsc_engine_counters(struct nsc_engine_context *ask);
int nsc_engine_marks(struct nsc_engine_context *ask);
int nsc_engine_left_out(struct nsc_engine_context *ask);
/* handle_search.c */
int nsc_engine_search(struct nsc_engine_context *ask);
/* handle_call.c */
int nsc_engine_call(struct nsc_engine_context *ask);
int nsc_engine_step(struct nsc_engine_context *ask);
/* The fields of a call, into the object that is open. @children: NULL if not known. */
void nsc_engine_put_call(struct nsc_engine_context *ask, const struct nsc_call *call,
                         const uint64_t *children);

#endif
