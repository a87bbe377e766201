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

#endif
