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
int nsc_answer_trace(struct nsc_answer_ask *ask);
int nsc_answer_functions(struct nsc_answer_ask *ask);
void nsc_answer_forget_facts(struct nsc_answer_source *source);
/* handle_tiles.c */
int nsc_answer_tiles(struct nsc_answer_ask *ask);
/* handle_overview.c */
int nsc_answer_overview(struct nsc_answer_ask *ask);
/* handle_analyses.c */
int nsc_answer_report(struct nsc_answer_ask *ask);
int nsc_answer_tree(struct nsc_answer_ask *ask);
int nsc_answer_sandwich(struct nsc_answer_ask *ask);
int nsc_answer_histogram(struct nsc_answer_ask *ask);
int nsc_answer_shares(struct nsc_answer_ask *ask);
/* handle_diff.c: with two traces only */
int nsc_answer_diff(struct nsc_answer_ask *ask);
/* handle_notes.c */
int nsc_answer_states(struct nsc_answer_ask *ask);
int nsc_answer_samples(struct nsc_answer_ask *ask);
int nsc_answer_counters(struct nsc_answer_ask *ask);
int nsc_answer_marks(struct nsc_answer_ask *ask);
int nsc_answer_left_out(struct nsc_answer_ask *ask);
/* handle_search.c */
int nsc_answer_search(struct nsc_answer_ask *ask);
/* handle_call.c */
int nsc_answer_call(struct nsc_answer_ask *ask);
int nsc_answer_step(struct nsc_answer_ask *ask);
/* The fields of a call, into the object that is open. @children: NULL if not known. */
void nsc_answer_put_call(struct nsc_answer_ask *ask, const struct nsc_call *call,
                         const uint64_t *children);

/* engine.c: the rules that the engine was opened with, or NULL. */
const struct nsc_category_rules *nsc_answer_rules(const struct nsc_answer *a);
/* engine.c: the list of what this engine can beside what is always there. */
void nsc_answer_put_abilities(struct nsc_answer_ask *ask);

#endif
