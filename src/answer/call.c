/*
 * call.c - single calls: /api/call, the one that is open at an instant.
 *
 * What finds them is analyze/at.c.
 */
#include <errno.h>

#include "analyze/at.h"
#include "answer/handlers.h"

#define CALLERS_MAX 1000u

/* The ticks that all show as the same ns. */
static void ticks_of(const struct nsc_clock *clock, uint64_t ns, uint64_t *from, uint64_t *to)
{
    *from = ns > 0 ? nsc_clock_ticks(clock, ns) : 0;
    *to = ns < UINT64_MAX ? nsc_clock_ticks(clock, ns + 1) - 1 : UINT64_MAX;
}

static void put_bounds(struct nsc_json *j, uint32_t bound)
{
    nsc_json_bool(j, "start_bound", (bound & NSC_BOUND_START) != 0);
    nsc_json_bool(j, "end_bound", (bound & NSC_BOUND_END) != 0);
}

void nsc_answer_put_call(struct nsc_answer_ask *ask, const struct nsc_call *call,
                         const uint64_t *children)
{
    struct nsc_json *j = &ask->json;

    nsc_json_u64(j, "thread", call->thread);
    nsc_json_u64(j, "function", call->function);
    nsc_json_u64(j, "depth", call->depth);
    nsc_ask_put_time(ask, "start", call->start_ticks);
    nsc_ask_put_time(ask, "end", call->end_ticks);
    nsc_json_u64(j, "self", nsc_clock_span_ns(nsc_trace_clock(ask->trace), call->self_ticks));
    nsc_json_u64(j, "number", call->number);
    put_bounds(j, call->bound);
    if (children != NULL)
        nsc_json_u64(j, "children", *children);
    else
        nsc_json_null(j, "children");
}

static void put_stack(struct nsc_answer_ask *ask, const struct nsc_at *at)
{
    struct nsc_json *j = &ask->json;

    nsc_json_open_array(j, "stack");
    for (uint32_t i = 0; i < at->caller_count; i++) {
        const struct nsc_at_frame *frame = &at->callers[i];

        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, "function", frame->function);
        nsc_ask_put_time(ask, "start", frame->start_ticks);
        nsc_ask_put_time(ask, "end", frame->end_ticks);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_u64(j, "more", at->callers_left_out);
}

int nsc_answer_call(struct nsc_answer_ask *ask)
{
    uint32_t thread = nsc_ask_thread(ask, "thread");
    uint64_t ns = nsc_ask_needed(ask, "at", UINT64_MAX), from, to;
    uint32_t depth = (uint32_t)nsc_ask_needed(ask, "depth", UINT32_MAX - 1);
    struct nsc_json *j;
    struct nsc_at at;
    int error;

    if (nsc_ask_check(ask) != 0)
        return -EINVAL;
    ticks_of(nsc_trace_clock(ask->trace), ns, &from, &to);
    error = nsc_at_find(ask->trace, thread, from, to, depth, CALLERS_MAX, &at, &ask->diag);
    if (error == -ENOENT)
        return nsc_ask_absent(ask, "no call is open there");
    if (error != 0)
        return error;
    j = nsc_ask_json(ask);
    if (j != NULL) {
        nsc_json_open_object(j, NULL);
        nsc_answer_put_call(ask, &at.call, at.children_known ? &at.children : NULL);
        put_stack(ask, &at);
        nsc_json_close_object(j);
    }
    nsc_at_free(&at);
    return j != NULL ? 0 : -ENOMEM;
}
