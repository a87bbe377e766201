/*
 * reader_totals.c - totals per function, and lost events, as lists; see nanoscope/reader.h.
 *
 * Called by users of the library.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/calls/gaps.h"
#include "analyze/functions/report.h"
#include "libreader/reader_handle.h"

struct nanoscope_totals {
    struct nsc_report report;
};

struct nanoscope_losses {
    const struct nanoscope_trace *trace;
    struct nsc_gap *rows;
    uint32_t count;
};

static int choose_threads(const struct nanoscope_trace *trace,
                          const struct nanoscope_totals_options *options,
                          struct nsc_selection *selection, struct nanoscope_error *error)
{
    uint32_t count = nsc_trace_info(trace->trace)->thread_count;

    if (options->threads == NULL)
        return 0;
    selection->threads = calloc((size_t)count + 1, 1);
    if (selection->threads == NULL)
        return nsc_reader_refuse(ENOMEM, error, "out of memory");
    for (size_t i = 0; i < options->thread_count; i++) {
        if (options->threads[i] >= count)
            return nsc_reader_refuse(EINVAL, error, "there is no thread %u: the trace has %u",
                                     options->threads[i], count);
        selection->threads[options->threads[i]] = 1;
    }
    return 0;
}

static int make(struct nanoscope_trace *trace, const struct nanoscope_totals_options *given,
                struct nsc_selection *selection, struct nsc_report *report,
                struct nanoscope_error *error)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nanoscope_totals_options options;
    int code = nsc_reader_take(given, &options, sizeof options, error);

    if (code == 0)
        code = nsc_reader_window(trace, options.from_ns, options.to_ns, selection, error);
    if (code == 0)
        code = choose_threads(trace, &options, selection, error);
    if (code != 0)
        return code;
    if (options.exact != 0)
        selection->index = NSC_SELECTION_INDEX_NEVER;
    code = nsc_report_make(trace->trace, selection, false, report, &diag);
    if (code != 0)
        return nsc_reader_fail(code, &diag, nsc_trace_name(trace->trace), error);
    nsc_report_sort(report, trace->trace, NSC_REPORT_BY_TOTAL);
    return 0;
}

NSC_READER_API int nanoscope_totals_make(struct nanoscope_trace *trace,
                                         const struct nanoscope_totals_options *options,
                                         struct nanoscope_totals **totals,
                                         struct nanoscope_error *error)
{
    struct nanoscope_totals *made = calloc(1, sizeof *made);
    struct nsc_selection selection;
    int code;

    if (made == NULL)
        return nsc_reader_refuse(ENOMEM, error, "out of memory");
    nsc_selection_init(&selection);
    code = make(trace, options, &selection, &made->report, error);
    nsc_selection_free(&selection);
    if (code != 0)
        free(made);
    else
        *totals = made;
    return code;
}

NSC_READER_API int64_t nanoscope_totals_read(const struct nanoscope_totals *totals, size_t first,
                                             struct nanoscope_total *out, size_t size, size_t count)
{
    size_t stored = 0;

    for (size_t i = first; i < totals->report.row_count && stored < count; i++) {
        const struct nsc_report_row *row = &totals->report.rows[i];
        struct nanoscope_total total = {
            .calls = row->calls,
            .bounds = row->bounds,
            .total_ns = row->total_ns,
            .self_ns = row->self_ns,
            .min_ns = row->min_ns,
            .p50_ns = row->p50_ns,
            .p90_ns = row->p90_ns,
            .p99_ns = row->p99_ns,
            .max_ns = row->max_ns,
            .function = row->function,
            .rough = totals->report.coarse,
        };

        if (nsc_reader_give((char *)out + stored++ * size, size, &total, sizeof total) != 0)
            return -EINVAL;
    }
    return (int64_t)stored;
}

NSC_READER_API void nanoscope_totals_close(struct nanoscope_totals *totals)
{
    if (totals == NULL)
        return;
    nsc_report_free(&totals->report);
    free(totals);
}

NSC_READER_API int nanoscope_losses_find(struct nanoscope_trace *trace,
                                         struct nanoscope_losses **losses,
                                         struct nanoscope_error *error)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nanoscope_losses *found = calloc(1, sizeof *found);
    int code;

    if (found == NULL)
        return nsc_reader_refuse(ENOMEM, error, "out of memory");
    found->trace = trace;
    code = nsc_gaps_list(trace->trace, &found->rows, &found->count, &diag);
    if (code != 0) {
        free(found);
        return nsc_reader_fail(code, &diag, nsc_trace_name(trace->trace), error);
    }
    *losses = found;
    return 0;
}

NSC_READER_API int64_t nanoscope_losses_read(const struct nanoscope_losses *losses, size_t first,
                                             struct nanoscope_loss *out, size_t size, size_t count)
{
    size_t stored = 0;

    for (size_t i = first; i < losses->count && stored < count; i++) {
        const struct nsc_gap *gap = &losses->rows[i];
        struct nanoscope_loss loss = {
            .time_ns = gap->ticks != NSC_GAP_UNPLACED ? nsc_reader_ns(losses->trace, gap->ticks)
                                                      : NANOSCOPE_END,
            .events = gap->lost,
            .thread = gap->thread,
        };

        if (nsc_reader_give((char *)out + stored++ * size, size, &loss, sizeof loss) != 0)
            return -EINVAL;
    }
    return (int64_t)stored;
}

NSC_READER_API void nanoscope_losses_close(struct nanoscope_losses *losses)
{
    if (losses == NULL)
        return;
    free(losses->rows);
    free(losses);
}
