/*
 * tree.c - the merged call tree; see tree.h.
 *
 * Called by cli/. Builds one epoch of one thread at a time in a scratch tree (an epoch is what
 * report.c says), so that a call which returns without having been entered can take all that went
 * before under itself; then adds it to the result.
 */
#include "analyze/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/feed.h"
#include "analyze/nodes.h"

struct open_call {
    uint64_t start_ticks;
    uint32_t node;
    uint32_t bound  : 2;
    uint32_t folded : 1; /* has no node: `node` is that of the nearest caller that has one */
    uint32_t shares : 1; /* recursion on its caller's node: its time is counted there already */
};

struct builder {
    const struct nsc_selection *selection;
    const struct nsc_tree_options *options;
    struct nsc_tree *result;
    struct nsc_tree scratch;
    uint32_t epoch_root; /* node of the scratch tree */
    uint64_t epoch_ticks;
    bool gap_pending;
    struct open_call *stack; /* stack[0] is no call; its node is the epoch's root */
    size_t depth, depth_max;
    bool no_memory;
};

static bool begin_epoch(struct builder *b, uint64_t ticks)
{
    nsc_nodes_reset(&b->scratch);
    b->epoch_root = nsc_nodes_child(&b->scratch, 0, NSC_NO_ID);
    b->epoch_ticks = ticks;
    b->gap_pending = false;
    b->stack[0] = (struct open_call){.node = b->epoch_root};
    return b->epoch_root != NSC_NO_ID;
}

/* Add what the epoch saw to the result. */
static bool end_epoch(struct builder *b)
{
    const struct nsc_tree_node *root = &b->scratch.nodes[b->epoch_root];

    b->result->nodes[0].child_ticks += root->child_ticks;
    b->result->nodes[0].folded_ticks += root->folded_ticks;
    b->result->folded_calls += b->scratch.folded_calls;
    return nsc_nodes_merge(b->result, 0, &b->scratch, b->epoch_root, 0) == 0;
}

static void next_epoch(struct builder *b, uint64_t ticks)
{
    if (!end_epoch(b) || !begin_epoch(b, ticks))
        b->no_memory = true;
}

static bool grow_stack(struct builder *b)
{
    size_t max = b->depth_max * 2 + 256;
    struct open_call *stack = reallocarray(b->stack, max, sizeof(*stack));

    if (!stack)
        return false;
    b->stack = stack;
    b->depth_max = max;
    return true;
}

static void enter(struct builder *b, const struct nsc_event *e)
{
    const struct open_call *caller;
    struct open_call call = {.start_ticks = e->ticks, .bound = e->value & 3u};

    if (b->depth + 1 >= b->depth_max && !grow_stack(b)) {
        b->no_memory = true;
        return;
    }
    caller = &b->stack[b->depth];
    call.node = caller->node;
    call.folded = caller->folded || b->depth >= NSC_TREE_DEPTH_MAX;
    if (b->options->fold_recursion && b->depth > 0 && !caller->folded &&
        b->scratch.nodes[caller->node].function == e->function) {
        call.shares = 1;
        call.folded = 0;
    } else if (!call.folded) {
        uint32_t node = nsc_nodes_child(&b->scratch, caller->node, e->function);

        if (node == NSC_NO_ID)
            b->no_memory = true;
        else if (node == 0)
            call.folded = 1;
        else
            call.node = node;
    }
    b->stack[++b->depth] = call;
}

static void leave(struct builder *b, const struct nsc_event *e)
{
    uint64_t from = b->selection->from_ticks, inside;
    const struct open_call *call, *caller;
    struct nsc_tree_node *node;

    if (b->depth == 0)
        return;
    call = &b->stack[b->depth--];
    caller = &b->stack[b->depth];
    inside = e->ticks - (call->start_ticks > from ? call->start_ticks : from);
    node = &b->scratch.nodes[call->node];
    if (call->folded) {
        b->scratch.folded_calls++;
        if (!caller->folded)
            node->folded_ticks += inside;
    } else {
        node->calls++;
        node->bounds += call->bound || e->kind == NSC_EVENT_UNWIND;
        if (!call->shares) {
            node->total_ticks += inside;
            b->scratch.nodes[caller->node].child_ticks += inside;
        }
    }
    if (b->depth == 0 && b->gap_pending)
        next_epoch(b, e->ticks);
}

/* A call returns whose entry was not seen: it held all that the epoch saw. */
static void end_late(struct builder *b, const struct nsc_event *e)
{
    uint64_t from = b->selection->from_ticks;
    uint64_t start = b->epoch_ticks > from ? b->epoch_ticks : from;
    uint32_t above;
    struct nsc_tree_node *node;

    if (b->depth > 0)
        return;
    above = nsc_nodes_wrap(&b->scratch, b->epoch_root, e->function);
    if (above == NSC_NO_ID) {
        b->no_memory = true;
        return;
    }
    if (above == 0) {
        b->scratch.folded_calls++;
        return;
    }
    node = &b->scratch.nodes[b->epoch_root];
    node->calls = 1;
    node->bounds = 1;
    node->total_ticks = e->ticks > start ? e->ticks - start : 0;
    b->scratch.nodes[above].child_ticks = node->total_ticks;
    b->epoch_root = above;
    b->stack[0].node = above;
}

static void feed_events(struct builder *b, const struct nsc_event *events, size_t n)
{
    for (size_t i = 0; i < n && !b->no_memory; i++) {
        const struct nsc_event *e = &events[i];

        if (e->kind == NSC_EVENT_ENTER)
            enter(b, e);
        else if (e->kind == NSC_EVENT_EXIT || e->kind == NSC_EVENT_UNWIND)
            leave(b, e);
        else if (e->kind == NSC_EVENT_LATE_EXIT)
            end_late(b, e);
        else if (b->depth == 0)
            next_epoch(b, e->ticks);
        else
            b->gap_pending = true;
    }
}

static int build_thread(struct builder *b, struct nsc_trace *t, uint32_t thread,
                        struct nsc_diag *diag)
{
    const struct nsc_event *events;
    struct nsc_feed *feed;
    size_t n;
    int result = nsc_feed_open(t, thread, b->selection, &feed, diag);

    if (result < 0)
        return result;
    b->depth = 0;
    b->no_memory = !begin_epoch(b, nsc_trace_thread(t, thread)->start_ticks);
    while (!b->no_memory && (result = nsc_feed_next(feed, &events, &n, diag)) > 0)
        feed_events(b, events, n);
    nsc_feed_close(feed);
    if (result == 0 && !end_epoch(b))
        b->no_memory = true;
    if (b->no_memory)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the call tree");
    return result;
}

/* The trees below the outermost nodes of the wanted functions, merged into @out. */
static int take_roots(const struct nsc_tree *whole, const uint8_t *roots, struct nsc_tree *out)
{
    uint32_t at = 0;

    for (;;) {
        const struct nsc_tree_node *node = &whole->nodes[at];
        bool wanted = node->function != NSC_NO_ID && roots[node->function];

        if (wanted) {
            uint32_t same = nsc_nodes_child(out, 0, node->function);
            struct nsc_tree_node *to;

            if (same == NSC_NO_ID)
                return -ENOMEM;
            to = &out->nodes[same];
            to->calls += node->calls;
            to->bounds += node->bounds;
            to->total_ticks += node->total_ticks;
            to->child_ticks += node->child_ticks;
            to->folded_ticks += node->folded_ticks;
            out->nodes[0].child_ticks += node->total_ticks;
            if (nsc_nodes_merge(out, same, whole, at, 1) < 0)
                return -ENOMEM;
        }
        if (!wanted && node->first_child) {
            at = node->first_child;
            continue;
        }
        while (at != 0 && !whole->nodes[at].next_sibling)
            at = whole->nodes[at].parent;
        if (at == 0)
            break;
        at = whole->nodes[at].next_sibling;
    }
    out->folded_calls += whole->folded_calls;
    return 0;
}

static int build(struct builder *b, struct nsc_trace *t, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    int error = 0;

    if (!grow_stack(b) || nsc_nodes_init(&b->scratch) < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the call tree");
    for (uint32_t i = 0; i < count && error == 0; i++)
        if (nsc_selection_has_thread(b->selection, i))
            error = build_thread(b, t, i, diag);
    return error;
}

static int finish(struct nsc_tree *whole, struct nsc_trace *t,
                  const struct nsc_tree_options *options, struct nsc_tree *out)
{
    struct nsc_tree tree = *whole;
    int error = 0;

    *whole = (struct nsc_tree){0};
    if (options->roots) {
        struct nsc_tree part;

        error = nsc_nodes_init(&part);
        if (error == 0)
            error = take_roots(&tree, options->roots, &part);
        nsc_tree_free(&tree);
        tree = part;
    }
    if (error == 0)
        error = nsc_nodes_sort(&tree, t);
    if (error) {
        nsc_tree_free(&tree);
        return error;
    }
    tree.nodes[0].total_ticks = tree.nodes[0].child_ticks + tree.nodes[0].folded_ticks;
    *out = tree;
    return 0;
}

int nsc_tree_make(struct nsc_trace *t, const struct nsc_selection *selection,
                  const struct nsc_tree_options *options, struct nsc_tree *out,
                  struct nsc_diag *diag)
{
    static const struct nsc_tree_options defaults;
    struct nsc_tree result;
    struct builder b = {
        .selection = selection, .options = options ? options : &defaults, .result = &result};
    int error;

    if (nsc_nodes_init(&result) < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the call tree");
    error = build(&b, t, diag);
    nsc_tree_free(&b.scratch);
    free(b.stack);
    if (error == 0 && finish(&result, t, b.options, out) < 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the call tree");
    nsc_tree_free(&result);
    return error;
}

void nsc_tree_free(struct nsc_tree *tree)
{
    free(tree->nodes);
    free(tree->slots);
    *tree = (struct nsc_tree){0};
}
