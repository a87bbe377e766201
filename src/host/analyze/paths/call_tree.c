/*
 * call_tree.c - the merged call tree; see call_tree.h.
 *
 * Called by cli/, viewer/engine/ and trace_diff.c. A call that returns without a recorded entry
 * contains everything that its caller did since the current epoch began (see report_state.h).
 * Therefore the calls of an epoch are collected in a scratch tree, which is added to the result
 * when the epoch ends. If the index shows that a thread has no such calls, its calls go directly to
 * the result.
 */
#include "analyze/paths/call_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/selected_events.h"
#include "trace/read/levels.h"

struct open_call {
    uint64_t start_ticks;
    uint32_t function;
    /* A node of the result up to the epoch's depth, above it one of the scratch tree. For a folded
     * call: the node of the nearest caller that has one. */
    uint32_t node;
    uint32_t level; /* level of that node: recursion that shares a node adds no level */
    bool bound;
    bool folded; /* has no node */
    bool shares; /* recursion on its caller's node, which already counts its time */
};

struct builder {
    const struct nsc_selection *selection;
    const struct nsc_tree_options *options;
    struct nsc_tree result;
    struct nsc_tree scratch;
    struct open_call *stack; /* stack[0] is not a call but represents the thread */
    size_t depth, depth_max;
    bool direct; /* every call of the thread has an entry: no epochs needed */
    size_t epoch_depth;
    uint64_t epoch_ticks;
    /* scratch node that stands for stack[epoch_depth]; its children are that call's callees */
    uint32_t epoch_node;
    bool no_memory;
};

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

/* Give nodes of the result to the open calls above the epoch's call. */
static void move_stack(struct builder *b)
{
    for (size_t i = b->epoch_depth + 1; i <= b->depth; i++) {
        struct open_call *call = &b->stack[i], *caller = &b->stack[i - 1];
        uint32_t node = 0;

        if (!call->folded && !call->shares)
            node = nsc_nodes_child(&b->result, caller->node, call->function);
        if (node == NSC_NO_ID)
            b->no_memory = true;
        else if (node == 0 && !call->shares)
            call->folded = true;
        call->node = node == 0 || node == NSC_NO_ID ? caller->node : node;
    }
}

/* Move the counts of calls that share the node of the epoch's call to that node. */
static void move_shared_calls(struct builder *b)
{
    struct nsc_tree_node *from = &b->scratch.nodes[b->epoch_node];
    struct nsc_tree_node *to = &b->result.nodes[b->stack[b->epoch_depth].node];

    to->calls += from->calls;
    to->bounds += from->bounds;
    from->calls = from->bounds = 0;
}

/* Add the epoch's scratch tree to the result. */
static void end_epoch(struct builder *b)
{
    uint32_t at = b->stack[b->epoch_depth].node;
    const struct nsc_tree_node *from = &b->scratch.nodes[b->epoch_node];
    struct nsc_tree_node *to = &b->result.nodes[at];

    move_shared_calls(b);
    to->child_ticks += from->child_ticks;
    to->folded_ticks += from->folded_ticks;
    b->result.folded_calls += b->scratch.folded_calls;
    if (nsc_nodes_merge(&b->result, at, &b->scratch, b->epoch_node,
                        b->stack[b->epoch_depth].level) < 0)
        b->no_memory = true;
}

/* Begin an epoch of the innermost open call. */
static void begin_epoch(struct builder *b, uint64_t ticks)
{
    nsc_nodes_reset(&b->scratch);
    b->epoch_node = nsc_nodes_child(&b->scratch, 0, NSC_NO_ID);
    if (b->epoch_node == NSC_NO_ID) {
        b->epoch_node = 0;
        b->no_memory = true;
    }
    b->epoch_depth = b->depth;
    b->epoch_ticks = ticks;
}

static void pass_gap(struct builder *b, uint64_t ticks)
{
    if (b->direct)
        return;
    end_epoch(b);
    move_stack(b);
    begin_epoch(b, ticks);
}

static void enter(struct builder *b, const struct nsc_event *e)
{
    struct open_call call = {
        .start_ticks = e->ticks, .function = e->function, .bound = e->value != 0};
    struct nsc_tree *tree = b->direct ? &b->result : &b->scratch;
    const struct open_call *caller;
    uint32_t above;

    if (b->depth + 1 >= b->depth_max && !grow_stack(b)) {
        b->no_memory = true;
        return;
    }
    caller = &b->stack[b->depth];
    above = !b->direct && b->depth == b->epoch_depth ? b->epoch_node : caller->node;
    call.node = above;
    call.level = caller->level;
    call.folded = caller->folded;
    call.shares = !caller->folded && b->options->fold_recursion && caller->function == e->function;
    if (!call.shares)
        call.folded |= call.level++ >= NSC_TREE_DEPTH_MAX;
    if (!call.shares && !call.folded) {
        uint32_t node = nsc_nodes_child(tree, above, e->function);

        if (node == NSC_NO_ID)
            b->no_memory = true;
        else if (node == 0)
            call.folded = true;
        else
            call.node = node;
    }
    b->stack[++b->depth] = call;
}

/* Count an ended call on its node, and its time as callee time of its caller. */
static void count_call(const struct open_call *call, bool caller_folded, struct nsc_tree *tree,
                       uint32_t above, uint64_t inside, bool bound)
{
    struct nsc_tree_node *node = &tree->nodes[call->node];

    if (call->folded) {
        tree->folded_calls++;
        if (!caller_folded)
            tree->nodes[above].folded_ticks += inside;
        return;
    }
    node->calls++;
    node->bounds += bound;
    if (!call->shares) {
        node->total_ticks += inside;
        tree->nodes[above].child_ticks += inside;
    }
}

static void leave(struct builder *b, const struct nsc_event *e)
{
    uint64_t from = b->selection->from_ticks;
    const struct open_call *call = &b->stack[b->depth], *caller = call - 1;
    uint64_t inside = e->ticks - (call->start_ticks > from ? call->start_ticks : from);
    bool bound = (call->bound | nsc_model_end_bound(e)) != 0;

    if (b->direct) {
        count_call(call, caller->folded, &b->result, caller->node, inside, bound);
        b->depth--;
        return;
    }
    if (b->depth > b->epoch_depth) {
        uint32_t above = b->depth - 1 == b->epoch_depth ? b->epoch_node : caller->node;

        count_call(call, caller->folded, &b->scratch, above, inside, bound);
        b->depth--;
        return;
    }
    end_epoch(b);
    count_call(call, caller->folded, &b->result, caller->node, inside, bound);
    b->depth--;
    begin_epoch(b, e->ticks);
}

/* End a call without a recorded entry: it contains what its caller did in the epoch. */
static void end_late(struct builder *b, const struct nsc_event *e)
{
    const struct open_call *caller = &b->stack[b->depth];
    uint64_t from = b->selection->from_ticks, start;
    struct nsc_tree_node *node;
    uint32_t above;

    if (b->depth != b->epoch_depth) /* no gap was recorded here: the trace is damaged */
        pass_gap(b, e->ticks);
    start = b->epoch_ticks > from ? b->epoch_ticks : from;
    above = caller->folded ? 0 : nsc_nodes_wrap(&b->scratch, b->epoch_node, e->function);
    if (above == NSC_NO_ID) {
        b->no_memory = true;
        return;
    }
    if (above == 0) {
        b->scratch.folded_calls++;
        return;
    }
    move_shared_calls(b);
    node = &b->scratch.nodes[b->epoch_node];
    node->calls = 1;
    node->bounds = 1;
    node->total_ticks = e->ticks > start ? e->ticks - start : 0;
    b->scratch.nodes[above].child_ticks = node->total_ticks;
    b->epoch_node = above;
}

/* Returns 0 or -EBADMSG: a call without an entry, although the index says there is none. */
static int feed_events(struct builder *b, const struct nsc_event *events, size_t n)
{
    for (size_t i = 0; i < n && !b->no_memory; i++) {
        const struct nsc_event *e = &events[i];

        if (e->kind == NSC_EVENT_ENTER)
            enter(b, e);
        else if (e->kind == NSC_EVENT_LATE_EXIT && b->direct)
            return -EBADMSG;
        else if (e->kind == NSC_EVENT_LATE_EXIT)
            end_late(b, e);
        else if (e->kind == NSC_EVENT_LOST)
            pass_gap(b, e->ticks);
        else if (b->depth > 0)
            leave(b, e);
    }
    return 0;
}

/* Whether every call of a thread in the window has a recorded entry. */
static bool has_all_entries(const struct builder *b, struct nsc_trace *t, uint32_t thread)
{
    const struct nsc_selection *s = b->selection;
    uint32_t count, first, end;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    nsc_levels_range(t, thread, s->from_ticks, s->to_ticks, &first, &end);
    for (; first < end; first++)
        if (nsc_reader_may_have_late(chunks, count, first))
            return false;
    return true;
}

static int build_thread(struct builder *b, struct nsc_trace *t, uint32_t thread,
                        struct nsc_diag *diag)
{
    const struct nsc_event *events;
    struct nsc_selected_events *feed;
    size_t n;
    int result = nsc_selected_events_open(t, thread, b->selection, &feed, diag);

    if (result < 0)
        return result;
    b->depth = 0;
    b->stack[0] = (struct open_call){.function = NSC_NO_ID};
    b->direct = has_all_entries(b, t, thread);
    if (!b->direct)
        begin_epoch(b, nsc_trace_thread(t, thread)->start_ticks);
    while (!b->no_memory && (result = nsc_selected_events_next(feed, &events, &n, diag)) > 0) {
        result = feed_events(b, events, n);
        if (result < 0) {
            nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                         "thread %u holds other events than its index says", thread);
            break;
        }
    }
    nsc_selected_events_close(feed);
    if (result == 0 && !b->direct)
        end_epoch(b);
    if (b->no_memory)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the call tree");
    return result;
}

/* Merge the subtrees below the outermost nodes of the wanted functions into @out. */
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

    if (!grow_stack(b) || nsc_nodes_init(&b->scratch) < 0 || nsc_nodes_init(&b->result) < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the call tree");
    for (uint32_t i = 0; i < count && error == 0; i++)
        if (nsc_selected_events_is_wanted(t, b->selection, i))
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
    struct builder b = {.selection = selection, .options = options ? options : &defaults};
    int error = build(&b, t, diag);

    nsc_tree_free(&b.scratch);
    free(b.stack);
    if (error == 0 && finish(&b.result, t, b.options, out) < 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the call tree");
    nsc_tree_free(&b.result);
    return error;
}
