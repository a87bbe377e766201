/*
 * handlers.h - the handlers of viewer/engine/, for the table in engine.c, and functions that
 * several handlers share besides context.h.
 *
 * Internal to viewer/engine/. docs/viewer-protocol.md documents each request.
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
/* handle_diff.c: only if two traces are open */
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
/* Write the fields of a call into the open object. @children: NULL if unknown. */
void nsc_engine_put_call(struct nsc_engine_context *ask, const struct nsc_call *call,
                         const uint64_t *children);

#endif
