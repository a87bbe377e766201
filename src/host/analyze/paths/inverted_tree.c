/* inverted_tree.c - an inverted call tree; see inverted_tree.h. */
#include "analyze/paths/inverted_tree.h"

#include <errno.h>

#include "analyze/paths/tree_nodes.h"

static bool has_same_above(const struct nsc_tree *tree, uint32_t at)
{
    uint32_t function = tree->nodes[at].function;

    for (at = tree->nodes[at].parent; at != 0; at = tree->nodes[at].parent)
        if (tree->nodes[at].function == function)
            return true;
    return false;
}

/* Add the numbers of a node's calls to the inverted path from that node up to the root. */
static int add_path(const struct nsc_tree *tree, uint32_t from, uint64_t total_ticks,
                    struct nsc_tree *out)
{
    const struct nsc_tree_node *leaf = &tree->nodes[from];
    uint64_t self_ticks = nsc_tree_self_ticks(leaf);
    uint32_t to = 0;

    for (uint32_t at = from; at != 0; at = tree->nodes[at].parent) {
        uint32_t child = nsc_nodes_child(out, to, tree->nodes[at].function);
        struct nsc_tree_node *node;

        if (child == NSC_NO_ID)
            return -ENOMEM;
        if (child == 0) /* the tree is full */
            break;
        node = &out->nodes[child];
        node->calls += leaf->calls;
        node->bounds += leaf->bounds;
        node->total_ticks += total_ticks;
        /* Total minus child_ticks is the self time: here that of the topmost function. Modular
         * arithmetic: a recursive call adds self time, but nothing to the total. */
        node->child_ticks += total_ticks - self_ticks;
        to = child;
    }
    return 0;
}

int nsc_tree_invert(const struct nsc_tree *tree, const struct nsc_trace *t, const uint8_t *leaves,
                    struct nsc_tree *out)
{
    struct nsc_tree result;
    int error = nsc_nodes_init(&result);

    if (error != 0)
        return error;
    for (uint32_t i = 1; i < tree->count && error == 0; i++) {
        const struct nsc_tree_node *node = &tree->nodes[i];
        uint64_t total = nsc_tree_self_ticks(node);

        if (node->function == NSC_NO_ID || (leaves && !leaves[node->function]))
            continue;
        if (leaves)
            total = has_same_above(tree, i) ? 0 : node->total_ticks;
        result.nodes[0].child_ticks += total;
        error = add_path(tree, i, total, &result);
    }
    if (error == 0)
        error = nsc_nodes_sort(&result, t);
    if (error != 0) {
        nsc_tree_free(&result);
        return error;
    }
    result.folded_calls = tree->folded_calls;
    result.nodes[0].total_ticks = result.nodes[0].child_ticks;
    *out = result;
    return 0;
}
