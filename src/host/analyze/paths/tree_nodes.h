/*
 * tree_nodes.h - the nodes of a call tree: what they hold, and how they are found and made.
 *
 * Trees come from call_tree.h and inverted_tree.h; nsc_nodes_*() are for inside analyze/.
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
    uint64_t child_ticks;  /* of these, in the children */
    uint64_t folded_ticks; /* of these, in calls below that have no node */
};

/* Nodes by index; 0 is the root, whose total is that of its children. */
struct nsc_tree {
    struct nsc_tree_node *nodes;
    uint32_t count, max;
    uint64_t *slots; /* hash table: nodes by parent and function, see tree_nodes.c; 0 = free */
    uint32_t slots_max;
    uint64_t folded_calls; /* calls that have no node */
};

void nsc_tree_free(struct nsc_tree *tree);

/* A node's own time: outside of all calls that it made. */
static inline uint64_t nsc_tree_self_ticks(const struct nsc_tree_node *node)
{
    return node->total_ticks - node->child_ticks - node->folded_ticks;
}

/* The node behind @at in depth-first order, or 0. @down: whether to look below @at.
 * @depth: of @at, 0 for the root; becomes that of the node. */
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
