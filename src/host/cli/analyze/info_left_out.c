/* info_left_out.c - see info_left_out.h. */
#include "cli/analyze/info_left_out.h"

static const struct nsc_table_column columns[] = {
    {"function", "FUNCTION", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"reason", "REASON", NSC_TABLE_TEXT, 0},
    {"from_ns", "FROM", NSC_TABLE_TIME, 0},
    {"to_ns", "TO", NSC_TABLE_TIME, 0},
    {"windows", "WINDOWS", NSC_TABLE_COUNT, 0},
    {"windows_ns", "OF", NSC_TABLE_NS, 0},
    {"calls", "CALLS", NSC_TABLE_COUNT, 0},
    {"calls_error", "+-", NSC_TABLE_COUNT, 0},
    {"total_ns", "TOTAL", NSC_TABLE_NS, 0},
    {"total_error_ns", "+-", NSC_TABLE_NS, 0},
    {"self_ns", "", NSC_TABLE_NS, NSC_TABLE_NO_HUMAN},
    {"self_error_ns", "", NSC_TABLE_NS, NSC_TABLE_NO_HUMAN},
    {"pid", "", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
};

static void add_estimate(struct nsc_table *table, const struct nsc_left_out *l, uint32_t which,
                         uint64_t value, uint64_t error)
{
    if ((l->known & which) != 0) {
        nsc_table_add(table, value);
        nsc_table_add(table, error);
    } else {
        nsc_table_add_nothing(table);
        nsc_table_add_nothing(table);
    }
}

static void add_row(struct nsc_table *table, const struct nsc_trace *t,
                    const struct nsc_left_out *l)
{
    const struct nsc_clock *clock = nsc_trace_clock(t);

    nsc_table_add_text(table, l->function == NSC_NO_ID ? "(all functions)"
                                                       : nsc_trace_function(t, l->function)->name);
    nsc_table_add_text(table, nsc_model_left_out_reason_name(l->reason));
    nsc_table_add(table, nsc_clock_ns(clock, l->from_ticks));
    if (l->to_ticks != 0)
        nsc_table_add(table, nsc_clock_ns(clock, l->to_ticks));
    else
        nsc_table_add_nothing(table);
    nsc_table_add(table, l->windows);
    nsc_table_add(table, nsc_clock_span_ns(clock, l->window_ticks));
    add_estimate(table, l, NSC_LEFT_OUT_CALLS, l->calls.value, l->calls.error);
    add_estimate(table, l, NSC_LEFT_OUT_TOTAL, nsc_clock_span_ns(clock, l->total_ticks.value),
                 nsc_clock_span_ns(clock, l->total_ticks.error));
    add_estimate(table, l, NSC_LEFT_OUT_SELF, nsc_clock_span_ns(clock, l->self_ticks.value),
                 nsc_clock_span_ns(clock, l->self_ticks.error));
    if (l->process != NSC_NO_ID)
        nsc_table_add(table, nsc_trace_process(t, l->process)->pid);
    else
        nsc_table_add_nothing(table);
}

struct nsc_table *nsc_cli_left_out_table(const struct nsc_trace *t)
{
    struct nsc_table *table = nsc_table_new(columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; table != NULL && i < nsc_trace_info(t)->left_out_count; i++)
        add_row(table, t, nsc_trace_left_out(t, i));
    return table;
}
