/*
 * tree_nodes.c - the nodes of a call tree; see tree_nodes.h.
 *
 * Called by call_tree.c. Must not read events.
 */
#include "analyze/paths/tree_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "util/sort.h"

#define HUGE_BYTES  ((size_t)2 << 20)
#define NODES_SMALL 16384u

void nsc_tree_free(struct nsc_tree *tree)
{
    free(tree->nodes);
    free(tree->slots);
    *tree = (struct nsc_tree){0};
}

int nsc_nodes_init(struct nsc_tree *tree)
{
    *tree = (struct nsc_tree){.max = 256, .slots_max = 1024};
    tree->nodes = calloc(tree->max, sizeof(*tree->nodes));
    tree->slots = calloc(tree->slots_max, sizeof(*tree->slots));
    if (!tree->nodes || !tree->slots) {
        nsc_tree_free(tree);
        return -ENOMEM;
    }
    tree->nodes[0] = (struct nsc_tree_node){.function = NSC_NO_ID, .parent = NSC_NO_ID};
    tree->count = 1;
    return 0;
}

/*
 * A slot holds a node's index and the upper half of its key's hash. Keys that collide in a slot can
 * be told apart without reading the node, which would be another cache miss in a large tree.
 * Lookups dominate the cost of building a tree.
 */
static uint64_t hash_of(uint32_t parent, uint32_t function)
{
    uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15ull;

    return h ^ h >> 32;
}

static uint32_t place_of(const struct nsc_tree *tree, uint64_t hash)
{
    return (uint32_t)hash & (tree->slots_max - 1);
}

static uint64_t tag_of(uint64_t hash)
{
    return hash & ~(uint64_t)UINT32_MAX;
}

static uint32_t node_of(uint64_t slot)
{
    return (uint32_t)slot;
}

/* Insert a node that is not in the table. There is always a free slot: at most half are used. */
static void enter_slot(struct nsc_tree *tree, uint32_t node)
{
    uint64_t hash = hash_of(tree->nodes[node].parent, tree->nodes[node].function);
    uint32_t place = place_of(tree, hash);

    while (tree->slots[place])
        place = (place + 1) & (tree->slots_max - 1);
    tree->slots[place] = tag_of(hash) | node;
}

void nsc_nodes_reset(struct nsc_tree *tree)
{
    /* Clear from each node's home slot up to the next free one. This clears all slots: a free slot
     * in the middle of a run was cleared by an earlier pass, which continued to the run's end. */
    for (uint32_t node = 0; node < tree->count; node++) {
        uint64_t hash = hash_of(tree->nodes[node].parent, tree->nodes[node].function);
        uint32_t place = place_of(tree, hash);

        for (; tree->slots[place]; place = (place + 1) & (tree->slots_max - 1))
            tree->slots[place] = 0;
    }
    tree->nodes[0] = (struct nsc_tree_node){.function = NSC_NO_ID, .parent = NSC_NO_ID};
    tree->count = 1;
    tree->folded_calls = 0;
}

/* A large table is accessed in random order: with 4 KiB pages, most of the time would be spent on
 * TLB misses. */
static void want_huge_pages(void *table, size_t bytes)
{
#ifdef __linux__
    size_t skip = -(uintptr_t)table & (HUGE_BYTES - 1);
    size_t whole = bytes > skip ? (bytes - skip) & ~(HUGE_BYTES - 1) : 0;

    if (whole > 0) /* an optimisation only: failure is harmless */
        (void)madvise((char *)table + skip, whole, MADV_HUGEPAGE);
#else
    (void)table;
    (void)bytes;
#endif
}

/* Give a large tree room for the maximum at once. Unused memory is never touched, and repeated
 * moves would cost more than building the tree. */
static uint32_t next_max(uint32_t max)
{
    return max < NODES_SMALL ? max * 2 : NSC_TREE_NODES_MAX;
}

static int grow_nodes(struct nsc_tree *tree)
{
    uint32_t max = next_max(tree->max);
    struct nsc_tree_node *nodes = reallocarray(tree->nodes, max, sizeof(*nodes));

    if (!nodes)
        return -ENOMEM;
    want_huge_pages(nodes, (size_t)max * sizeof(*nodes));
    tree->nodes = nodes;
    tree->max = max;
    return 0;
}

static int grow_slots(struct nsc_tree *tree)
{
    uint32_t max = tree->slots_max * 2;
    uint64_t *slots = calloc(max, sizeof(*slots));

    if (!slots)
        return -ENOMEM;
    want_huge_pages(slots, (size_t)max * sizeof(*slots));
    free(tree->slots);
    tree->slots = slots;
    tree->slots_max = max;
    for (uint32_t node = 1; node < tree->count; node++)
        enter_slot(tree, node);
    return 0;
}

/* Create a node without a slot. Returns its index, 0 if the tree is full, NSC_NO_ID if out of
 * memory. */
static uint32_t new_node(struct nsc_tree *tree, uint32_t parent, uint32_t function)
{
    if (tree->count >= NSC_TREE_NODES_MAX)
        return 0;
    if ((tree->count == tree->max && grow_nodes(tree) < 0) ||
        (tree->count == tree->slots_max / 2 && grow_slots(tree) < 0))
        return NSC_NO_ID;
    tree->nodes[tree->count] = (struct nsc_tree_node){.function = function, .parent = parent};
    return tree->count++;
}

uint32_t nsc_nodes_child_slow(struct nsc_tree *tree, uint32_t parent, uint32_t function)
{
    uint64_t hash = hash_of(parent, function), slot;
    uint32_t node;

    for (uint32_t place = place_of(tree, hash); (slot = tree->slots[place]) != 0;
         place = (place + 1) & (tree->slots_max - 1)) {
        node = node_of(slot);
        if (tag_of(slot) == tag_of(hash) && tree->nodes[node].parent == parent &&
            tree->nodes[node].function == function) {
            tree->nodes[parent].last_hit = node;
            return node;
        }
    }
    node = new_node(tree, parent, function);
    if (node == 0 || node == NSC_NO_ID)
        return node;
    enter_slot(tree, node);
    tree->nodes[node].next_sibling = tree->nodes[parent].first_child;
    tree->nodes[parent].first_child = node;
    tree->nodes[parent].last_hit = node;
    return node;
}

uint32_t nsc_nodes_wrap(struct nsc_tree *tree, uint32_t node, uint32_t function)
{
    uint32_t above = new_node(tree, 0, NSC_NO_ID);

    if (above == 0 || above == NSC_NO_ID)
        return above;
    /* The slot of @node under its old key stays, but no lookup matches it any more. */
    tree->nodes[node].parent = above;
    tree->nodes[node].function = function;
    tree->nodes[node].next_sibling = 0;
    tree->nodes[above].first_child = node;
    enter_slot(tree, node);
    return above;
}

static void add_numbers(struct nsc_tree_node *to, const struct nsc_tree_node *from)
{
    to->calls += from->calls;
    to->bounds += from->bounds;
    to->total_ticks += from->total_ticks;
    to->child_ticks += from->child_ticks;
    to->folded_ticks += from->folded_ticks;
}

static uint64_t count_calls(const struct nsc_tree *tree, uint32_t node)
{
    uint64_t calls = 0;
    uint32_t at = node;

    /* Preorder without a stack: a scratch tree may be deeper than NSC_TREE_DEPTH_MAX. */
    for (;;) {
        calls += tree->nodes[at].calls;
        if (tree->nodes[at].first_child) {
            at = tree->nodes[at].first_child;
            continue;
        }
        while (at != node && !tree->nodes[at].next_sibling)
            at = tree->nodes[at].parent;
        if (at == node)
            return calls;
        at = tree->nodes[at].next_sibling;
    }
}

int nsc_nodes_merge(struct nsc_tree *to, uint32_t at, const struct nsc_tree *from, uint32_t node,
                    uint32_t depth)
{
    for (uint32_t child = from->nodes[node].first_child; child;
         child = from->nodes[child].next_sibling) {
        uint32_t same =
            depth < NSC_TREE_DEPTH_MAX ? nsc_nodes_child(to, at, from->nodes[child].function) : 0;
        int error;

        if (same == NSC_NO_ID)
            return -ENOMEM;
        if (same == 0) {
            /* No node for it: move its time from child_ticks to folded_ticks, count its calls as
             * folded. */
            to->nodes[at].folded_ticks += from->nodes[child].total_ticks;
            to->nodes[at].child_ticks -= from->nodes[child].total_ticks;
            to->folded_calls += count_calls(from, child);
            continue;
        }
        add_numbers(&to->nodes[same], &from->nodes[child]);
        error = nsc_nodes_merge(to, same, from, child, depth + 1);
        if (error)
            return error;
    }
    return 0;
}

struct sort_context {
    const struct nsc_tree *tree;
    const struct nsc_trace *trace;
};

static int compare_nodes(const void *a, const void *b, void *context)
{
    const struct sort_context *s = context;
    const struct nsc_tree_node *x = &s->tree->nodes[*(const uint32_t *)a];
    const struct nsc_tree_node *y = &s->tree->nodes[*(const uint32_t *)b];
    int names;

    if (x->total_ticks != y->total_ticks)
        return x->total_ticks > y->total_ticks ? -1 : 1;
    names = strcmp(nsc_trace_function(s->trace, x->function)->name,
                   nsc_trace_function(s->trace, y->function)->name);
    return names != 0 ? names : (x->function > y->function) - (x->function < y->function);
}

int nsc_nodes_sort(struct nsc_tree *tree, const struct nsc_trace *t)
{
    uint32_t *children = calloc(tree->count, sizeof(*children));
    struct sort_context context = {tree, t};

    if (!children)
        return -ENOMEM;
    for (uint32_t node = 0; node < tree->count; node++) {
        uint32_t count = 0, next = 0;

        for (uint32_t c = tree->nodes[node].first_child; c; c = tree->nodes[c].next_sibling)
            children[count++] = c;
        nsc_sort(children, count, sizeof(*children), compare_nodes, &context);
        while (count-- > 0) {
            tree->nodes[children[count]].next_sibling = next;
            next = children[count];
        }
        tree->nodes[node].first_child = next;
    }
    free(children);
    return 0;
}
