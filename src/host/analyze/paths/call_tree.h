/*
 * call_tree.h - the merged call tree: one node for each path of functions, with what its calls
 * took.
 *
 * Called by cli/ and answer/. One pass. Memory by the number of different paths, and never more
 * than NSC_TREE_NODES_MAX nodes: calls on further paths, and calls deeper than NSC_TREE_DEPTH_MAX,
 * have no node of their own; their time is told in `folded_ticks` of the node above them.
 */
#ifndef NSC_ANALYZE_PATHS_CALL_TREE_H
#define NSC_ANALYZE_PATHS_CALL_TREE_H

#include "analyze/calls/selection.h"
#include "analyze/paths/tree_nodes.h"

struct nsc_tree_options {
    const uint8_t *roots; /* a byte per function id: the tree of the calls of these functions, all
                           * their outermost occurrences merged; NULL = from the threads' starts */
    bool fold_recursion;  /* a function's direct calls of itself share its node */
};

/**
 * nsc_tree_make - build the tree of the selected threads, children sorted by total, then by name.
 * @options: may be NULL.
 * @out: filled on success; free with nsc_tree_free().
 * Returns 0 or -errno with @diag filled.
 */
int nsc_tree_make(struct nsc_trace *t, const struct nsc_selection *selection,
                  const struct nsc_tree_options *options, struct nsc_tree *out,
                  struct nsc_diag *diag);

#endif
