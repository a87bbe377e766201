/*
 * tree_nodes.h - the nodes of a call tree: their contents, lookup and creation.
 *
 * Trees are built by call_tree.h and inverted_tree.h. nsc_nodes_*() are internal to analyze/.
 */
#ifndef NSC_ANALYZE_PATHS_TREE_NODES_H
#define NSC_ANALYZE_PATHS_TREE_NODES_H

#include <stdbool.h>

#include "trace/read/reader.h"

#define NSC_TREE_NODES_MAX (1u << 20)
#define NSC_TREE_DEPTH_MAX 4096u

struct nsc_tree_node {
    uint32_t function;     /* NSC_NO_ID: the root */
    uint32_t parent;       /* index of a node; NSC_NO_ID for the root */
    uint32_t first_child;  /* 0 = none */
    uint32_t next_sibling; /* 0 = none */
    uint32_t last_hit;     /* while building: the child that was entered last */
    uint32_t reserved;
    uint64_t calls, bounds;
    uint64_t total_ticks;  /* inside the window */
    uint64_t child_ticks;  /* the part of total_ticks that was spent in the children */
    uint64_t folded_ticks; /* the part of total_ticks that was spent in folded calls */
};

/* Nodes by index; 0 is the root, whose total is the sum of its children. */
struct nsc_tree {
    struct nsc_tree_node *nodes;
    uint32_t count, max;
    uint64_t *slots; /* hash table of nodes by parent and function, see tree_nodes.c; 0 = free */
    uint32_t slots_max;
    uint64_t folded_calls; /* number of calls without a node */
};

void nsc_tree_free(struct nsc_tree *tree);

/* Self time of a node: outside of all calls that it made. */
static inline uint64_t nsc_tree_self_ticks(const struct nsc_tree_node *node)
{
    return node->total_ticks - node->child_ticks - node->folded_ticks;
}

/* The node after @at in depth-first order, or 0. @down: whether to visit the children of @at.
 * @depth: depth of @at (0 for the root), updated to that of the returned node. */
static inline uint32_t nsc_tree_next(const struct nsc_tree *tree, uint32_t at, bool down,
                                     uint32_t *depth)
{
    if (down && tree->nodes[at].first_child != 0) {
        ++*depth;
        return tree->nodes[at].first_child;
    }
    while (at != 0 && tree->nodes[at].next_sibling == 0) {
        at = tree->nodes[at].parent;
        --*depth;
    }
    return at == 0 ? 0 : tree->nodes[at].next_sibling;
}

/* Create an empty tree with its root. Returns 0 or -ENOMEM. */
int nsc_nodes_init(struct nsc_tree *tree);

/* Remove all nodes except the root; the cost is proportional to the number of nodes. */
void nsc_nodes_reset(struct nsc_tree *tree);

/**
 * nsc_nodes_child_slow - find the child of @parent for @function, or create it.
 * Returns its index, 0 if the tree is full, or NSC_NO_ID if out of memory.
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
 * nsc_nodes_wrap - insert a node between @node and its parent, which must be the root 0.
 * @node: not 0; becomes a node of @function.
 * Returns the new node, whose only child is @node, 0 if the tree is full, or NSC_NO_ID if out of
 * memory. nsc_nodes_child() does not find the new node.
 */
uint32_t nsc_nodes_wrap(struct nsc_tree *tree, uint32_t node, uint32_t function);

/**
 * nsc_nodes_merge - add a subtree of @from to the node @at of @to, child by child.
 * @node: root of the subtree in @from; its own numbers are not added, those of its descendants are.
 * @depth: depth of @at; nodes that would be deeper than NSC_TREE_DEPTH_MAX are folded.
 * Returns 0 or -ENOMEM.
 */
int nsc_nodes_merge(struct nsc_tree *to, uint32_t at, const struct nsc_tree *from, uint32_t node,
                    uint32_t depth);

/* Sort all children by total, largest first, then by name. Returns 0 or -ENOMEM. */
int nsc_nodes_sort(struct nsc_tree *tree, const struct nsc_trace *t);

#endif
