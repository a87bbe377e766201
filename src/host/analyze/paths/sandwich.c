/*
 * sandwich.c - callers and callees of one function; see sandwich.h.
 *
 * Called by viewer/engine/ and cli/. Calls of other functions cost only a push and a pop.
 */
#include "analyze/paths/sandwich.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/selected_events.h"
#include "util/sort.h"

/* Running sums of a set of calls; report_state.h explains epochs. */
struct tally {
    uint64_t calls, total_ticks;
    uint64_t epoch_base; /* total_ticks when the calls first became active in epoch `epoch` */
    uint32_t epoch;
    uint32_t active; /* open calls on the current thread */
};

struct open_call {
    uint64_t start_ticks, child_ticks;
    uint32_t function;
};

struct counter {
    const struct nsc_selection *selection;
    uint32_t function, function_count;
    struct tally own;
    uint64_t self_ticks;
    struct tally *callers, *callees; /* by function; calls without a caller: at function_count */
    struct open_call *stack;         /* stack[0] is not a call but represents the thread */
    size_t depth, depth_max;
    size_t epoch_depth;
    uint64_t epoch_ticks, epoch_child_ticks;
    uint32_t epoch;
};

static bool grow_stack(struct counter *c)
{
    size_t max = c->depth_max * 2 + 256;
    struct open_call *stack = reallocarray(c->stack, max, sizeof(*stack));

    if (!stack)
        return false;
    c->stack = stack;
    c->depth_max = max;
    return true;
}

static void begin_epoch(struct counter *c, uint64_t ticks)
{
    c->epoch++;
    c->epoch_depth = c->depth;
    c->epoch_ticks = ticks;
    c->epoch_child_ticks = c->stack[c->depth].child_ticks;
}

static struct tally *caller_tally(struct counter *c, uint32_t caller)
{
    return &c->callers[caller != NSC_NO_ID ? caller : c->function_count];
}

static void enter_tally(const struct counter *c, struct tally *t)
{
    if (t->active++ == 0 && t->epoch != c->epoch) {
        t->epoch = c->epoch;
        t->epoch_base = t->total_ticks;
    }
}

static void leave_tally(struct tally *t, uint64_t inside)
{
    t->calls++;
    if (--t->active == 0)
        t->total_ticks += inside;
}

static void end_late_tally(const struct counter *c, struct tally *t, uint64_t inside)
{
    t->calls++;
    if (t->active > 0)
        return;
    if (t->epoch != c->epoch) {
        t->epoch = c->epoch;
        t->epoch_base = t->total_ticks;
    }
    t->total_ticks = t->epoch_base + inside;
}

/* Returns false if out of memory. */
static bool enter(struct counter *c, const struct nsc_event *e)
{
    uint32_t caller = c->stack[c->depth].function;

    if (c->depth + 1 >= c->depth_max && !grow_stack(c))
        return false;
    c->stack[++c->depth] = (struct open_call){.start_ticks = e->ticks, .function = e->function};
    if (e->function == c->function) {
        enter_tally(c, &c->own);
        enter_tally(c, caller_tally(c, caller));
    }
    if (caller == c->function)
        enter_tally(c, &c->callees[e->function]);
    return true;
}

static void leave(struct counter *c, const struct nsc_event *e)
{
    const struct open_call *call = &c->stack[c->depth];
    struct open_call *caller = &c->stack[c->depth - 1];
    uint64_t from = c->selection->from_ticks;
    uint64_t inside = e->ticks - (call->start_ticks > from ? call->start_ticks : from);

    if (call->function == c->function) {
        leave_tally(&c->own, inside);
        leave_tally(caller_tally(c, caller->function), inside);
        c->self_ticks += inside > call->child_ticks ? inside - call->child_ticks : 0;
    }
    if (caller->function == c->function)
        leave_tally(&c->callees[call->function], inside);
    caller->child_ticks += inside;
    if (--c->depth < c->epoch_depth)
        begin_epoch(c, e->ticks);
}

static void end_late(struct counter *c, const struct nsc_event *e)
{
    struct open_call *caller = &c->stack[c->depth];
    uint64_t start, inside, children;

    if (c->depth != c->epoch_depth) /* no gap was recorded here: the trace is damaged */
        begin_epoch(c, e->ticks);
    start = c->epoch_ticks > c->selection->from_ticks ? c->epoch_ticks : c->selection->from_ticks;
    inside = e->ticks > start ? e->ticks - start : 0;
    children = caller->child_ticks - c->epoch_child_ticks;
    if (e->function == c->function) {
        end_late_tally(c, &c->own, inside);
        end_late_tally(c, caller_tally(c, caller->function), inside);
        c->self_ticks += inside > children ? inside - children : 0;
    }
    if (caller->function == c->function)
        end_late_tally(c, &c->callees[e->function], inside);
    caller->child_ticks = c->epoch_child_ticks + inside;
}

static bool follow(struct counter *c, const struct nsc_event *e)
{
    if (e->kind == NSC_EVENT_ENTER)
        return enter(c, e);
    if (e->kind == NSC_EVENT_LATE_EXIT)
        end_late(c, e);
    else if (e->kind == NSC_EVENT_LOST)
        begin_epoch(c, e->ticks);
    else if (c->depth > 0)
        leave(c, e);
    return true;
}

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for callers and callees");
}

static int count_thread(struct counter *c, struct nsc_trace *t, uint32_t thread,
                        struct nsc_diag *diag)
{
    const struct nsc_event *events;
    struct nsc_selected_events *feed;
    size_t n;
    bool enough = true;
    int result = nsc_selected_events_open(t, thread, c->selection, &feed, diag);

    if (result < 0)
        return result;
    c->depth = 0;
    c->stack[0] = (struct open_call){.function = NSC_NO_ID};
    begin_epoch(c, nsc_trace_thread(t, thread)->start_ticks);
    while (enough && (result = nsc_selected_events_next(feed, &events, &n, diag)) > 0)
        for (size_t i = 0; i < n && enough; i++)
            enough = follow(c, &events[i]);
    nsc_selected_events_close(feed);
    return enough ? result : no_memory(diag);
}

static const char *name_of(const struct nsc_trace *t, uint32_t function)
{
    return function == NSC_NO_ID ? "" : nsc_trace_function(t, function)->name;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct nsc_sandwich_row *x = a, *y = b;
    int names;

    if (x->total_ticks != y->total_ticks)
        return x->total_ticks > y->total_ticks ? -1 : 1;
    names = strcmp(name_of(context, x->function), name_of(context, y->function));
    return names != 0 ? names : (x->function > y->function) - (x->function < y->function);
}

/* Make rows of the tallies: one per function, and the last one for no function. */
static int make_rows(struct nsc_trace *t, const struct tally *tallies, uint32_t count,
                     struct nsc_sandwich_row **out, uint32_t *row_count)
{
    struct nsc_sandwich_row *rows;
    uint32_t n = 0;

    for (uint32_t i = 0; i <= count; i++)
        n += tallies[i].calls > 0;
    rows = reallocarray(NULL, n + 1u, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    n = 0;
    for (uint32_t i = 0; i <= count; i++)
        if (tallies[i].calls > 0)
            rows[n++] = (struct nsc_sandwich_row){.function = i < count ? i : NSC_NO_ID,
                                                  .calls = tallies[i].calls,
                                                  .total_ticks = tallies[i].total_ticks};
    nsc_sort(rows, n, sizeof(*rows), compare_rows, t);
    *out = rows;
    *row_count = n;
    return 0;
}

static int finish(const struct counter *c, struct nsc_trace *t, struct nsc_sandwich *out,
                  struct nsc_diag *diag)
{
    struct nsc_sandwich s = {
        .calls = c->own.calls, .total_ticks = c->own.total_ticks, .self_ticks = c->self_ticks};

    if (make_rows(t, c->callers, c->function_count, &s.callers, &s.caller_count) < 0 ||
        make_rows(t, c->callees, c->function_count, &s.callees, &s.callee_count) < 0) {
        nsc_sandwich_free(&s);
        return no_memory(diag);
    }
    *out = s;
    return 0;
}

int nsc_sandwich_make(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t function,
                      struct nsc_sandwich *out, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    struct counter c = {
        .selection = selection, .function = function, .function_count = info->function_count};
    int error = 0;

    c.callers = calloc(c.function_count + 1u, sizeof(*c.callers));
    c.callees = calloc(c.function_count + 1u, sizeof(*c.callees));
    if (!c.callers || !c.callees || !grow_stack(&c))
        error = no_memory(diag);
    for (uint32_t i = 0; i < info->thread_count && error == 0; i++)
        if (nsc_selected_events_is_wanted(t, selection, i))
            error = count_thread(&c, t, i, diag);
    if (error == 0)
        error = finish(&c, t, out, diag);
    free(c.callers);
    free(c.callees);
    free(c.stack);
    return error;
}

void nsc_sandwich_free(struct nsc_sandwich *s)
{
    free(s->callers);
    free(s->callees);
    *s = (struct nsc_sandwich){0};
}
