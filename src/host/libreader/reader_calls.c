/*
 * reader_calls.c - iterate over the calls of a thread; see nanoscope/reader.h.
 *
 * Called by users of the library. Keeps the open calls and one batch of events in memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/open_calls.h"
#include "analyze/calls/selected_events.h"
#include "libreader/reader_handle.h"

struct nanoscope_calls {
    const struct nanoscope_trace *trace;
    struct nanoscope_calls_options options;
    struct nsc_selection selection;
    struct nsc_call_lane lane;
    struct nsc_selected_events *feed; /* NULL: no more events */
    const struct nsc_event *events;
    size_t at, count;
    int failed; /* -errno; `diag` says why */
    struct nsc_diag diag;
};

static int check(const struct nsc_trace *t, uint32_t thread,
                 struct nanoscope_calls_options *options, struct nanoscope_error *error)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);

    if (thread >= info->thread_count)
        return nsc_reader_refuse(EINVAL, error, "there is no thread %u: the trace has %u", thread,
                                 info->thread_count);
    if (options->one_function != 0 && options->function >= info->function_count)
        return nsc_reader_refuse(EINVAL, error, "there is no function %u: the trace has %u",
                                 options->function, info->function_count);
    if (options->one_function != 0)
        options->function = nsc_trace_canonical(t, options->function);
    return 0;
}

static int begin(struct nanoscope_calls *c, uint32_t thread, struct nanoscope_error *error)
{
    struct nsc_trace *t = c->trace->trace;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int code;

    if (!nsc_selected_events_is_wanted(t, &c->selection, thread))
        return 0;
    if (nsc_call_lane_begin(&c->lane, thread, nsc_trace_thread(t, thread)->start_ticks,
                            c->selection.from_ticks) != 0)
        return nsc_reader_refuse(ENOMEM, error, "no memory for the open calls");
    code = nsc_selected_events_open(t, thread, &c->selection, &c->feed, &diag);
    return code != 0 ? nsc_reader_fail(code, &diag, nsc_trace_name(t), error) : 0;
}

NSC_READER_API int nanoscope_calls_open(struct nanoscope_trace *trace, uint32_t thread,
                                        const struct nanoscope_calls_options *options,
                                        struct nanoscope_calls **calls,
                                        struct nanoscope_error *error)
{
    struct nanoscope_calls *c = calloc(1, sizeof *c);
    int code;

    if (c == NULL)
        return nsc_reader_refuse(ENOMEM, error, "out of memory");
    c->trace = trace;
    c->diag.offset = NSC_DIAG_NO_OFFSET;
    code = nsc_reader_take(options, &c->options, sizeof c->options, error);
    if (code == 0)
        code = check(trace->trace, thread, &c->options, error);
    if (code == 0)
        code = nsc_reader_window(trace, c->options.from_ns, c->options.to_ns, &c->selection, error);
    if (code == 0)
        code = begin(c, thread, error);
    if (code != 0) {
        nanoscope_calls_close(c);
        return code;
    }
    *calls = c;
    return 0;
}

NSC_READER_API void nanoscope_calls_close(struct nanoscope_calls *calls)
{
    if (calls == NULL)
        return;
    nsc_selected_events_close(calls->feed);
    nsc_call_lane_free(&calls->lane);
    free(calls);
}

/* Returns 1 if a call ended, 0 at the end, or -errno. */
static int next(struct nanoscope_calls *c, struct nsc_call *call)
{
    while (c->feed != NULL) {
        int code = 0;

        while (c->at < c->count && code == 0)
            code = nsc_call_lane_follow(&c->lane, &c->events[c->at++], call);
        if (code < 0)
            return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, ENOMEM,
                                "no memory for the open calls");
        if (code > 0)
            return code;
        c->at = c->count = 0;
        code = nsc_selected_events_next(c->feed, &c->events, &c->count, &c->diag);
        if (code < 0)
            return code;
        if (code == 0) {
            nsc_selected_events_close(c->feed);
            c->feed = NULL;
        }
    }
    return 0;
}

/* Convert a call for the caller. Returns false if the options exclude it. */
static bool translate(const struct nanoscope_calls *c, const struct nsc_call *call,
                      struct nanoscope_call *out)
{
    const struct nsc_clock *clock = nsc_trace_clock(c->trace->trace);
    uint64_t duration_ns = nsc_clock_span_ns(clock, call->end_ticks - call->start_ticks);

    if (duration_ns < c->options.least_ns ||
        (c->options.one_function != 0 && call->function != c->options.function))
        return false;
    *out = (struct nanoscope_call){
        .start_ns = nsc_clock_ns(clock, call->start_ticks),
        .end_ns = nsc_clock_ns(clock, call->end_ticks),
        .duration_ns = duration_ns,
        .self_ns = nsc_clock_span_ns(clock, call->self_ticks),
        .number = call->number,
        .parent = call->parent,
        .children = call->children,
        .function = call->function,
        .caller = call->caller,
        .depth = call->depth,
        .bound = call->bound,
    };
    return true;
}

NSC_READER_API int64_t nanoscope_calls_read(struct nanoscope_calls *calls,
                                            struct nanoscope_call *out, size_t size, size_t count,
                                            struct nanoscope_error *error)
{
    struct nanoscope_call translated;
    struct nsc_call call;
    size_t stored = 0;
    int code = calls->failed;

    if (out == NULL || size == 0 || count == 0)
        return nsc_reader_refuse(EINVAL, error, "there is no room for a call");
    while (code >= 0 && stored < count && (code = next(calls, &call)) > 0)
        if (translate(calls, &call, &translated))
            nsc_reader_give((char *)out + stored++ * size, size, &translated, sizeof translated);
    calls->failed = code < 0 ? code : 0;
    /* Calls that were read before the error are returned; the next read returns the error. */
    if (code < 0 && stored == 0)
        return nsc_reader_fail(code, &calls->diag, nsc_trace_name(calls->trace->trace), error);
    return (int64_t)stored;
}

_Static_assert(NANOSCOPE_BOUND_END == NSC_BOUND_END, "bounds are handed on as they are");
_Static_assert(NANOSCOPE_BOUND_START == NSC_BOUND_START, "bounds are handed on as they are");
