/*
 * handle_call.c - single calls: /api/call, the call that is open at an instant, and /api/step, from
 * one call of a function to another.
 *
 * The searches are in analyze/: call_at.c, late_call.c, nearest_call.c, calls.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/late_call.h"
#include "analyze/calls/nearest_call.h"
#include "viewer/engine/handlers.h"

#define CALLERS_MAX 1000u
#define NTH_MAX     1000u

/* The range of ticks that are displayed as the same ns. */
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

void nsc_engine_put_call(struct nsc_engine_context *ask, const struct nsc_call *call,
                         const uint64_t *children)
{
    struct nsc_json *j = &ask->json;

    nsc_json_u64(j, "thread", call->thread);
    nsc_json_u64(j, "function", call->function);
    nsc_json_u64(j, "depth", call->depth);
    nsc_context_put_time(ask, "start", call->start_ticks);
    nsc_context_put_time(ask, "end", call->end_ticks);
    nsc_json_u64(j, "self", nsc_clock_span_ns(nsc_trace_clock(ask->trace), call->self_ticks));
    nsc_json_u64(j, "number", call->number);
    put_bounds(j, call->bound);
    if (children != NULL)
        nsc_json_u64(j, "children", *children);
    else
        nsc_json_null(j, "children");
}

static void put_stack(struct nsc_engine_context *ask, const struct nsc_at *at)
{
    struct nsc_json *j = &ask->json;

    nsc_json_open_array(j, "stack");
    for (uint32_t i = 0; i < at->caller_count; i++) {
        const struct nsc_at_frame *frame = &at->callers[i];

        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, "function", frame->function);
        nsc_context_put_time(ask, "start", frame->start_ticks);
        nsc_context_put_time(ask, "end", frame->end_ticks);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_u64(j, "more", at->callers_left_out);
}

int nsc_engine_call(struct nsc_engine_context *ask)
{
    uint32_t thread = nsc_context_thread(ask, "thread");
    uint64_t ns = nsc_context_needed(ask, "at", UINT64_MAX), from, to;
    uint32_t depth = (uint32_t)nsc_context_needed(ask, "depth", UINT32_MAX - 1);
    struct nsc_json *j;
    struct nsc_at at;
    int error;

    if (nsc_context_check(ask) != 0)
        return -EINVAL;
    ticks_of(nsc_trace_clock(ask->trace), ns, &from, &to);
    error =
        nsc_at_find(ask->trace, thread, from, to, depth, NSC_NO_ID, CALLERS_MAX, &at, &ask->diag);
    if (error == -ENOENT)
        error = nsc_late_find(ask->trace, thread, from, to, depth, CALLERS_MAX, &at, &ask->diag);
    if (error == -ENOENT)
        return nsc_context_absent(ask, "no call is open there");
    if (error != 0)
        return error;
    j = nsc_context_json(ask);
    if (j != NULL) {
        nsc_json_open_object(j, NULL);
        nsc_engine_put_call(ask, &at.call, at.children_known ? &at.children : NULL);
        put_stack(ask, &at);
        nsc_json_close_object(j);
    }
    nsc_at_free(&at);
    return j != NULL ? 0 : -ENOMEM;
}

/* ---- /api/step ------------------------------------------------------------------------------- */

/* Find the @nth longest call of a selection. */
static int find_longest(struct nsc_engine_context *ask, const struct nsc_selection *s,
                        uint32_t function, uint64_t nth, struct nsc_call *out)
{
    uint8_t *wanted = calloc(nsc_trace_info(ask->trace)->function_count + 1u, 1);
    struct nsc_calls_top top = {0};
    int error = 0;

    if (wanted == NULL || nsc_calls_top_init(&top, NSC_CALLS_KEY_DURATION, (size_t)nth) < 0) {
        free(wanted);
        return nsc_context_no_memory(ask);
    }
    wanted[function] = 1;
    error = nsc_calls_scan(ask->trace, s, NSC_CALLS_BY_THREAD, wanted, nsc_calls_top_offer, &top,
                           &ask->diag);
    nsc_calls_top_sort(&top);
    if (error == 0 && top.count < nth) {
        nsc_context_absent(ask, "the selection has %zu calls of this function", top.count);
        error = -ENOENT;
    } else if (error == 0) {
        *out = top.calls[nth - 1];
    }
    nsc_calls_top_free(&top);
    free(wanted);
    return error;
}

static int put_one(struct nsc_engine_context *ask, const struct nsc_call *call,
                   const uint64_t *children)
{
    struct nsc_json *j = nsc_context_json(ask);

    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_engine_put_call(ask, call, children);
    nsc_json_close_object(j);
    return 0;
}

/* Answer with the nearest call of a function before or after an instant. */
static int answer_nearest(struct nsc_engine_context *ask, const struct nsc_selection *s,
                          uint32_t function, uint64_t ns, bool forwards)
{
    struct nsc_nearest_call_place place;
    struct nsc_at at;
    uint64_t from, to;
    int error;

    ticks_of(nsc_trace_clock(ask->trace), ns, &from, &to);
    error = nsc_nearest_call_find(ask->trace, s, function, forwards ? to : from, forwards, &place,
                                  &ask->diag);
    if (error == 0)
        error = nsc_at_find(ask->trace, place.thread, place.ticks, place.ticks, place.depth,
                            function, 0, &at, &ask->diag);
    if (error == -ENOENT)
        return nsc_context_absent(ask, "there is no %s call of this function",
                                  forwards ? "later" : "earlier");
    if (error != 0)
        return error;
    error = put_one(ask, &at.call, at.children_known ? &at.children : NULL);
    nsc_at_free(&at);
    return error;
}

/* Restrict the selection to `thread`, if given in addition to `threads`. */
static int take_thread(struct nsc_engine_context *ask, struct nsc_selection *s)
{
    uint32_t threads = nsc_trace_info(ask->trace)->thread_count;
    uint64_t thread = nsc_context_number(ask, "thread", NSC_NO_ID, UINT32_MAX - 1);
    bool has_it;

    if (thread == NSC_NO_ID)
        return 0;
    if (thread >= threads)
        return nsc_context_refuse(ask, "there is no thread %llu", (unsigned long long)thread);
    has_it = nsc_selection_has_thread(s, (uint32_t)thread);
    free(s->threads);
    s->threads = calloc(threads + 1u, 1);
    if (s->threads == NULL)
        return nsc_context_no_memory(ask);
    s->threads[thread] = has_it;
    return 0;
}

int nsc_engine_step(struct nsc_engine_context *ask)
{
    static const char *const ways[] = {"next", "previous", "longest"};
    uint32_t function = nsc_context_function(ask, "function");
    uint32_t way = nsc_context_word(ask, "go", ways, 3, 3);
    uint64_t ns = nsc_context_number(ask, "at", UINT64_MAX, INT64_MAX);
    uint64_t nth = nsc_context_number(ask, "nth", 1, NTH_MAX);
    struct nsc_call call;
    struct nsc_selection s;
    int error = nsc_context_selection(ask, &s);

    if (error == 0)
        error = take_thread(ask, &s);
    if (way == 3)
        nsc_context_refuse(ask, "`go` is missing");
    if (way < 2 && ns == UINT64_MAX)
        nsc_context_refuse(ask, "`at` is missing");
    if (nth == 0)
        nsc_context_refuse(ask, "`nth` counts from 1");
    if (error == 0)
        error = nsc_context_check(ask);
    if (error == 0 && way == 2) {
        error = find_longest(ask, &s, function, nth, &call);
        if (error == 0)
            error = put_one(ask, &call, &call.children);
    } else if (error == 0) {
        error = answer_nearest(ask, &s, function, ns, way == 0);
    }
    nsc_selection_free(&s);
    return error;
}
