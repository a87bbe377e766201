/*
 * call_tree.h - the merged call tree: one node per path of functions, with the times of its calls.
 *
 * Called by cli/, viewer/engine/ and trace_diff.c. One pass over the events. Memory grows with the
 * number of different paths, up to NSC_TREE_NODES_MAX nodes. Calls on further paths, and calls
 * deeper than NSC_TREE_DEPTH_MAX, get no node of their own: they are folded. Their time is counted
 * in `folded_ticks` of the node above them.
 */
#ifndef NSC_ANALYZE_PATHS_CALL_TREE_H
#define NSC_ANALYZE_PATHS_CALL_TREE_H

#include "analyze/calls/selection.h"
#include "analyze/paths/tree_nodes.h"

struct nsc_tree_options {
    /* one byte per function id: build the tree of the calls of these functions, their outermost
     * occurrences merged; NULL = from the threads' starts */
    const uint8_t *roots;
    bool fold_recursion; /* a function's direct calls of itself share its node */
};

/**
 * nsc_tree_make - build the call tree of the selected threads. Children are sorted by total, then
 * by name.
 * @options: may be NULL.
 * @out: filled on success; free with nsc_tree_free().
 * Returns 0 or -errno with @diag filled.
 */
int nsc_tree_make(struct nsc_trace *t, const struct nsc_selection *selection,
                  const struct nsc_tree_options *options, struct nsc_tree *out,
                  struct nsc_diag *diag);

#endif
