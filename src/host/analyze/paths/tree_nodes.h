/*
 * tree_nodes.h - the nodes of a call tree and how they are found; inside analyze/ only.
 */
#ifndef NSC_ANALYZE_PATHS_TREE_NODES_H
#define NSC_ANALYZE_PATHS_TREE_NODES_H

#include "analyze/paths/call_tree.h"

/* An empty tree with its root. Returns 0 or -ENOMEM. */
int nsc_nodes_init(struct nsc_tree *tree);

/* Forget all nodes but the root; costs as much as there are nodes. */
void nsc_nodes_reset(struct nsc_tree *tree);

/**
 * nsc_nodes_child - the child of @parent for @function, made if it is not there.
 * Returns its index, 0 if the tree is full, or NSC_NO_ID if there is no memory.
 */
uint32_t nsc_nodes_child_slow(struct nsc_tree *tree, uint32_t parent, uint32_t function);

static inline uint32_t nsc_nodes_child(struct nsc_tree *tree, uint32_t parent, uint32_t function)
{
    uint32_t hit = tree->nodes[parent].last_hit;

    if (hit && tree->nodes[hit].function == function)
        return hit;
    return nsc_nodes_child_slow(tree, parent, function);
}

/**
 * nsc_nodes_wrap - put a node between @node and its parent, which must be the root 0.
 * @node: not 0; stands for @function from now on.
 * Returns the new node, whose only child is @node, 0 if the tree is full, or NSC_NO_ID if there is
 * no memory. The new node is not found by nsc_nodes_child().
 */
uint32_t nsc_nodes_wrap(struct nsc_tree *tree, uint32_t node, uint32_t function);

/**
 * nsc_nodes_merge - add @from's subtree to @to's node @at, children by children.
 * @node: a node of @from; its own numbers are not added, those of its descendants are.
 * @depth: of @at; what comes to lie deeper than NSC_TREE_DEPTH_MAX is folded.
 * Returns 0 or -ENOMEM.
 */
int nsc_nodes_merge(struct nsc_tree *to, uint32_t at, const struct nsc_tree *from, uint32_t node,
                    uint32_t depth);

/* Sort all children by total, largest first, then by name. Returns 0 or -ENOMEM. */
int nsc_nodes_sort(struct nsc_tree *tree, const struct nsc_trace *t);

#endif
