/*
 * reader_tables.c - open a trace and read its tables; see nanoscope/reader.h.
 *
 * Called by users of the library. Must not read events.
 */
#include <errno.h>
#include <stdlib.h>

#include "libreader/reader_handle.h"

NSC_READER_API const char *nanoscope_reader_version(void)
{
    return NSC_VERSION;
}

NSC_READER_API int nanoscope_trace_open(const char *path, unsigned flags,
                                        struct nanoscope_trace **trace,
                                        struct nanoscope_error *error)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nanoscope_trace *opened;
    int code;

    if (path == NULL || trace == NULL || (flags & ~NANOSCOPE_OPEN_RECOVER) != 0)
        return nsc_reader_refuse(EINVAL, error, "a path and known flags are needed");
    opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return nsc_reader_refuse(ENOMEM, error, "out of memory");
    code = nsc_trace_open(path, (flags & NANOSCOPE_OPEN_RECOVER) != 0 ? NSC_NST_RECOVER : 0,
                          &opened->trace, &diag);
    if (code != 0) {
        free(opened);
        return nsc_reader_fail(code, &diag, path, error);
    }
    *trace = opened;
    return 0;
}

NSC_READER_API void nanoscope_trace_close(struct nanoscope_trace *trace)
{
    if (trace == NULL)
        return;
    nsc_trace_close(trace->trace);
    free(trace);
}

NSC_READER_API int nanoscope_trace_facts(const struct nanoscope_trace *trace,
                                         struct nanoscope_facts *facts, size_t size)
{
    const struct nsc_trace_info *info = nsc_trace_info(trace->trace);
    struct nsc_clock_point zero = nsc_trace_zero(trace->trace);
    const char *command = nsc_trace_meta(trace->trace, "command");
    struct nanoscope_facts mine = {
        .calls = info->calls,
        .events = info->events,
        .lost = info->lost,
        .start_ns = nsc_reader_ns(trace, info->start_ticks),
        .end_ns = nsc_reader_ns(trace, info->end_ticks),
        .epoch_ns = zero.realtime_ns,
        .monotonic_ns = zero.monotonic_ns,
        .ns_per_tick = nsc_trace_clock(trace->trace)->ns_per_tick,
        .samples = info->notes[NSC_NOTE_SAMPLE],
        .states = info->notes[NSC_NOTE_STATE],
        .marks = info->notes[NSC_NOTE_MARK],
        .counters = info->notes[NSC_NOTE_COUNTER],
        .processes = info->process_count,
        .threads = info->thread_count,
        .functions = info->function_count,
        .modules = info->module_count,
        .left_out = info->left_out_count,
        .whole = info->complete,
        .entries_only = info->exits_bound,
        .command = command != NULL ? command : "",
        .warning = info->warning,
    };

    return nsc_reader_give(facts, size, &mine, sizeof mine);
}

NSC_READER_API const char *nanoscope_trace_meta(const struct nanoscope_trace *trace,
                                                const char *key)
{
    return nsc_trace_meta(trace->trace, key);
}

NSC_READER_API int nanoscope_trace_process(const struct nanoscope_trace *trace, uint32_t id,
                                           struct nanoscope_process *process, size_t size)
{
    const struct nsc_process *p;
    struct nanoscope_process mine;

    if (id >= nsc_trace_info(trace->trace)->process_count)
        return -EINVAL;
    p = nsc_trace_process(trace->trace, id);
    mine = (struct nanoscope_process){
        .pid = p->pid,
        .parent = p->parent,
        .start_ns = nsc_reader_ns(trace, p->start_ticks),
        .end_ns = nsc_reader_end_ns(trace, p->end_ticks),
        .exit_status = p->exit_status,
        .name = p->name,
    };
    return nsc_reader_give(process, size, &mine, sizeof mine);
}

NSC_READER_API int nanoscope_trace_thread(const struct nanoscope_trace *trace, uint32_t id,
                                          struct nanoscope_thread *thread, size_t size)
{
    const struct nsc_thread *t;
    struct nanoscope_thread mine;

    if (id >= nsc_trace_info(trace->trace)->thread_count)
        return -EINVAL;
    t = nsc_trace_thread(trace->trace, id);
    mine = (struct nanoscope_thread){
        .process = t->process,
        .tid = t->tid,
        .stack = t->stack,
        .start_ns = nsc_reader_ns(trace, t->start_ticks),
        .end_ns = nsc_reader_end_ns(trace, t->end_ticks),
        .events = t->recorded,
        .lost = t->lost,
        .name = t->name,
    };
    return nsc_reader_give(thread, size, &mine, sizeof mine);
}

NSC_READER_API int nanoscope_trace_module(const struct nanoscope_trace *trace, uint32_t id,
                                          struct nanoscope_module *module, size_t size)
{
    const struct nsc_module *m;
    struct nanoscope_module mine;

    if (id >= nsc_trace_info(trace->trace)->module_count)
        return -EINVAL;
    m = nsc_trace_module(trace->trace, id);
    mine = (struct nanoscope_module){
        .path = m->path, .build_id = m->build_id, .build_id_bytes = m->build_id_bytes};
    return nsc_reader_give(module, size, &mine, sizeof mine);
}

NSC_READER_API int nanoscope_trace_function(const struct nanoscope_trace *trace, uint32_t id,
                                            struct nanoscope_function *function, size_t size)
{
    const struct nsc_function *f;
    struct nanoscope_function mine;

    if (id >= nsc_trace_info(trace->trace)->function_count)
        return -EINVAL;
    f = nsc_trace_function(trace->trace, id);
    mine = (struct nanoscope_function){
        .name = f->name,
        .symbol = f->symbol,
        .file = f->file,
        .line = f->line,
        .module = f->module,
        .address = f->va,
        .canonical = nsc_trace_canonical(trace->trace, id),
    };
    return nsc_reader_give(function, size, &mine, sizeof mine);
}

NSC_READER_API int nanoscope_trace_left_out(const struct nanoscope_trace *trace, uint32_t number,
                                            struct nanoscope_left_out *left_out, size_t size)
{
    const struct nsc_clock *clock = nsc_trace_clock(trace->trace);
    const struct nsc_left_out *l;
    struct nanoscope_left_out mine;

    if (number >= nsc_trace_info(trace->trace)->left_out_count)
        return -EINVAL;
    l = nsc_trace_left_out(trace->trace, number);
    mine = (struct nanoscope_left_out){
        .function = l->function,
        .process = l->process,
        .known = l->known & (NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL | NSC_LEFT_OUT_SELF),
        .reason = nsc_model_left_out_reason_name(l->reason),
        .from_ns = nsc_reader_ns(trace, l->from_ticks),
        .to_ns = nsc_reader_end_ns(trace, l->to_ticks),
        .calls = l->calls.value,
        .calls_error = l->calls.error,
        .total_ns = nsc_clock_span_ns(clock, l->total_ticks.value),
        .total_error_ns = nsc_clock_span_ns(clock, l->total_ticks.error),
        .self_ns = nsc_clock_span_ns(clock, l->self_ticks.value),
        .self_error_ns = nsc_clock_span_ns(clock, l->self_ticks.error),
    };
    return nsc_reader_give(left_out, size, &mine, sizeof mine);
}

_Static_assert(NANOSCOPE_KNOWS_CALLS == NSC_LEFT_OUT_CALLS, "the file's own bits");
_Static_assert(NANOSCOPE_KNOWS_TOTAL == NSC_LEFT_OUT_TOTAL, "the file's own bits");
_Static_assert(NANOSCOPE_KNOWS_SELF == NSC_LEFT_OUT_SELF, "the file's own bits");
_Static_assert(NANOSCOPE_NONE == NSC_NO_ID, "ids are handed on as they are");
