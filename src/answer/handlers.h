/*
 * handlers.h - the handlers of answer/, for its table, and the little that files share beside
 * ask.h.
 *
 * Used inside answer/ only. Each is documented by its request in docs/viewer-protocol.md.
 */
#ifndef NSC_ANSWER_HANDLERS_H
#define NSC_ANSWER_HANDLERS_H

#include "analyze/calls.h"
#include "answer/ask.h"

/* trace.c */
int nsc_answer_trace(struct nsc_answer_ask *ask);
int nsc_answer_functions(struct nsc_answer_ask *ask);
void nsc_answer_forget_facts(struct nsc_answer_source *source);
/* tiles.c */
int nsc_answer_tiles(struct nsc_answer_ask *ask);
/* overview.c */
int nsc_answer_overview(struct nsc_answer_ask *ask);
/* analyses.c */
int nsc_answer_report(struct nsc_answer_ask *ask);
int nsc_answer_tree(struct nsc_answer_ask *ask);
int nsc_answer_sandwich(struct nsc_answer_ask *ask);
int nsc_answer_histogram(struct nsc_answer_ask *ask);
int nsc_answer_shares(struct nsc_answer_ask *ask);
/* diff.c: with two traces only */
int nsc_answer_diff(struct nsc_answer_ask *ask);
/* notes.c */
int nsc_answer_states(struct nsc_answer_ask *ask);
int nsc_answer_samples(struct nsc_answer_ask *ask);
int nsc_answer_counters(struct nsc_answer_ask *ask);
int nsc_answer_marks(struct nsc_answer_ask *ask);
int nsc_answer_left_out(struct nsc_answer_ask *ask);
/* search.c */
int nsc_answer_search(struct nsc_answer_ask *ask);
/* call.c */
int nsc_answer_call(struct nsc_answer_ask *ask);
int nsc_answer_step(struct nsc_answer_ask *ask);
/* The fields of a call, into the object that is open. @children: NULL if not known. */
void nsc_answer_put_call(struct nsc_answer_ask *ask, const struct nsc_call *call,
                         const uint64_t *children);

/* answer.c: the rules that the engine was opened with, or NULL. */
const struct nsc_category_rules *nsc_answer_rules(const struct nsc_answer *a);
/* answer.c: the list of what this engine can beside what is always there. */
void nsc_answer_put_abilities(struct nsc_answer_ask *ask);

#endif
