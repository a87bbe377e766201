/*
 * inverted_tree.h - a merged call tree from the other end: functions, below each its callers.
 *
 * Called by answer/ and cli/. Works on a tree that is made already (call_tree.h); reads nothing.
 */
#ifndef NSC_ANALYZE_PATHS_INVERTED_TREE_H
#define NSC_ANALYZE_PATHS_INVERTED_TREE_H

#include "analyze/paths/call_tree.h"

/**
 * nsc_tree_invert - turn a tree upside down.
 * @tree: from the threads' starts, made without fold_recursion.
 * @leaves: a byte per function id: only calls of these, with all the time in them; a call inside
 *          another one of the same function adds no time. NULL: all functions, with their own time.
 * @out: filled on success; free with nsc_tree_free(). Below the root the functions, below each
 * those that called it, and so on; the numbers of a node are those of the topmost function's calls
 *       that came this way. Sorted as the tree was. Paths beyond NSC_TREE_NODES_MAX nodes end in
 * the last node that there was room for. Returns 0 or -ENOMEM.
 */
int nsc_tree_invert(const struct nsc_tree *tree, const struct nsc_trace *t, const uint8_t *leaves,
                    struct nsc_tree *out);

#endif
