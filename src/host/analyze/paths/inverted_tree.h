/*
 * inverted_tree.h - an inverted call tree: functions at the top, and below each its callers.
 *
 * Called by viewer/engine/ and cli/. Works on an existing tree (call_tree.h); reads no events.
 */
#ifndef NSC_ANALYZE_PATHS_INVERTED_TREE_H
#define NSC_ANALYZE_PATHS_INVERTED_TREE_H

#include "analyze/paths/call_tree.h"

/**
 * nsc_tree_invert - invert a call tree.
 * @tree: built from the threads' starts, without fold_recursion.
 * @leaves: one byte per function id: only calls of these functions, with their total time; a call
 *          inside another call of the same function adds no time. NULL: all functions, with their
 *          self time.
 * @out: filled on success; free with nsc_tree_free(). Below the root are the functions, below each
 *       its callers, and so on. A node's numbers are those of the topmost function's calls that
 *       were made through this path. Sorted like call_tree.h. Paths beyond NSC_TREE_NODES_MAX nodes
 *       end at the last node that fits.
 * Returns 0 or -ENOMEM.
 */
int nsc_tree_invert(const struct nsc_tree *tree, const struct nsc_trace *t, const uint8_t *leaves,
                    struct nsc_tree *out);

#endif
