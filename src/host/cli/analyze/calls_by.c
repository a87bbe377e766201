/* calls_by.c - see calls_by.h. */
#include "cli/analyze/calls_by.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/calls.h"
#include "analyze/functions/duration_dist.h"
#include "analyze/paths/sandwich.h"
#include "cli/common/labels.h"
#include "util/text/units.h"

#define FUNCTIONS_MAX 100 /* each takes a pass over all events */
#define BAR_MAX       40u /* characters of the longest bar */

static uint64_t to_ns(const struct nsc_trace *t, uint64_t ticks)
{
    return nsc_clock_span_ns(nsc_trace_clock(t), ticks);
}

/* ---- By caller, by callee ------------------------------------------------------------------- */

static const struct nsc_table_column callers[] = {
    {"function", "FUNCTION", NSC_TABLE_TEXT, 0},
    {"calls", "CALLS", NSC_TABLE_COUNT, 0},
    {"total_ns", "TOTAL", NSC_TABLE_NS, 0},
    {"share", "SHARE", NSC_TABLE_TEXT, NSC_TABLE_RIGHT | NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
    {"caller", "CALLER", NSC_TABLE_TEXT, NSC_TABLE_LAST},
};
#define COLUMNS (sizeof callers / sizeof callers[0])

/* The callers or callees of all matching functions, from one pass over the events per function. */
struct sides {
    struct nsc_cli_view *view;
    bool callees;
    uint64_t top;
    struct nsc_table *table;
    struct nsc_cli_labels *labels; /* NULL: names only */
    uint64_t rows;                 /* including those not shown */
};

static const char *label(const struct sides *s, uint32_t function)
{
    return s->labels ? nsc_cli_label(s->labels, function)
                     : nsc_trace_function(s->view->trace, function)->name;
}

static void add_rows(struct sides *s, uint32_t function, const struct nsc_sandwich *sandwich)
{
    const struct nsc_sandwich_row *rows = s->callees ? sandwich->callees : sandwich->callers;
    uint32_t count = s->callees ? sandwich->callee_count : sandwich->caller_count;
    char share[NSC_UNITS_MAX];

    for (uint32_t i = 0; i < count; i++) {
        if (s->rows++ >= s->top)
            continue;
        nsc_table_add_text(s->table, label(s, function));
        nsc_table_add(s->table, rows[i].calls);
        nsc_table_add(s->table, to_ns(s->view->trace, rows[i].total_ticks));
        nsc_table_add_text(
            s->table, nsc_units_format_share(share, rows[i].total_ticks, sandwich->total_ticks));
        if (rows[i].function == NSC_NO_ID)
            nsc_table_add_nothing(s->table);
        else
            nsc_table_add_text(s->table, label(s, rows[i].function));
    }
}

static bool is_meant(const struct nsc_trace *t, const uint8_t *wanted, uint32_t function)
{
    return wanted[function] != 0 && nsc_trace_canonical(t, function) == function;
}

static int gather_sides(struct sides *s, const uint8_t *wanted)
{
    struct nsc_trace *t = s->view->trace;
    uint32_t functions = nsc_trace_info(t)->function_count, meant = 0;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_sandwich sandwich;

    for (uint32_t i = 0; i < functions; i++)
        meant += is_meant(t, wanted, i);
    if (meant > FUNCTIONS_MAX)
        return nsc_cli_error("%u functions fit, and %d at most can be told by caller or callee:"
                             " `nanoscope tree` has those of all",
                             meant, FUNCTIONS_MAX);
    for (uint32_t i = 0; i < functions; i++) {
        if (!is_meant(t, wanted, i))
            continue;
        if (nsc_sandwich_make(t, &s->view->selection, i, &sandwich, &diag) < 0)
            return nsc_cli_fail_in(nsc_trace_name(t), &diag);
        add_rows(s, i, &sandwich);
        nsc_sandwich_free(&sandwich);
    }
    return 0;
}

/* ---- By duration ---------------------------------------------------------------------------- */

static const struct nsc_table_column durations[] = {
    {"from_ns", "FROM", NSC_TABLE_NS, 0},
    {"to_ns", "TO", NSC_TABLE_NS, 0},
    {"calls", "CALLS", NSC_TABLE_COUNT, 0},
    {"share", "SHARE", NSC_TABLE_TEXT, NSC_TABLE_RIGHT | NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
    {"", "", NSC_TABLE_TEXT, NSC_TABLE_NO_CSV | NSC_TABLE_NO_JSON},
};

struct bars {
    const struct nsc_trace *trace;
    struct nsc_dist dist;
    uint64_t bounds;
    bool no_memory;
    uint64_t most; /* calls of the largest bar */
    struct nsc_table *table;
};

static bool take_call(void *context, const struct nsc_call *call)
{
    struct bars *b = context;

    b->bounds += call->bound != 0;
    b->no_memory = nsc_dist_add(&b->dist, call->end_ticks - call->start_ticks) < 0;
    return !b->no_memory;
}

static void find_most(void *context, uint64_t from, uint64_t to, uint64_t count)
{
    struct bars *b = context;

    (void)from;
    (void)to;
    b->most = count > b->most ? count : b->most;
}

/* @from and @to are inclusive, in ticks. The table has the exclusive end, so that bars adjoin. */
static void add_bar(void *context, uint64_t from, uint64_t to, uint64_t count)
{
    struct bars *b = context;
    char share[NSC_UNITS_MAX], bar[BAR_MAX + 1];
    size_t length = (size_t)((double)count / (double)b->most * BAR_MAX + 0.5);

    memset(bar, '#', length);
    bar[length] = '\0';
    nsc_table_add(b->table, to_ns(b->trace, from));
    nsc_table_add(b->table, to_ns(b->trace, to < UINT64_MAX ? to + 1 : to));
    nsc_table_add(b->table, count);
    nsc_table_add_text(b->table, nsc_units_format_share(share, count, b->dist.count));
    nsc_table_add_text(b->table, bar);
}

static int gather_bars(struct nsc_cli_view *view, const uint8_t *wanted, struct bars *b)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error = nsc_calls_scan(view->trace, &view->selection, NSC_CALLS_BY_THREAD, wanted,
                               take_call, b, &diag);

    if (error == 0 && b->no_memory)
        return nsc_cli_error("out of memory");
    if (error < 0)
        return nsc_cli_fail_in(nsc_trace_name(view->trace), &diag);
    nsc_dist_each_bar(&b->dist, find_most, b);
    nsc_dist_each_bar(&b->dist, add_bar, b);
    return 0;
}

/* ---- Both ----------------------------------------------------------------------------------- */

/* @bars: NULL for callers or callees, which have no number of bounds; `report` has it. */
static int print(const struct nsc_cli_view *view, const struct nsc_table *table, const char *key,
                 const struct bars *bars)
{
    struct nsc_json j;
    int error;

    if (view->format != NSC_TABLE_JSON)
        return nsc_cli_table_status(nsc_table_write(table, view->format, stdout));
    nsc_json_begin(&j, stdout, false);
    if (bars)
        nsc_json_u64(&j, "bounds", bars->bounds);
    nsc_cli_view_json_gaps(view, &j);
    error = nsc_table_write_json(table, &j, key);
    nsc_json_end(&j);
    return nsc_cli_table_status(error);
}

static int by_side(struct nsc_cli_view *view, bool callees, const uint8_t *wanted, uint64_t top)
{
    struct sides s = {.view = view, .callees = callees, .top = top};
    struct nsc_table_column columns[COLUMNS];
    char shown[NSC_UNITS_MAX], all[NSC_UNITS_MAX];
    struct nsc_cli_labels labels;
    int status;

    memcpy(columns, callers, sizeof columns);
    if (callees) {
        columns[COLUMNS - 1].key = "callee";
        columns[COLUMNS - 1].title = "CALLEE";
    }
    s.table = nsc_table_new(columns, COLUMNS);
    if (!s.table)
        return nsc_cli_error("out of memory");
    nsc_cli_labels_init(&labels, view->trace);
    s.labels = view->format == NSC_TABLE_ALIGNED ? &labels : NULL;
    status = gather_sides(&s, wanted);
    nsc_cli_labels_free(&labels);
    if (status == 0)
        status = print(view, s.table, callees ? "callees" : "callers", NULL);
    if (status == 0 && view->format == NSC_TABLE_ALIGNED && s.rows > s.top)
        printf("\n%s of %s %s\n", nsc_units_format_count(shown, s.top),
               nsc_units_format_count(all, s.rows), callees ? "callees" : "callers");
    nsc_table_free(s.table);
    return status;
}

static int by_duration(struct nsc_cli_view *view, const uint8_t *wanted)
{
    struct bars b = {.trace = view->trace};
    int status;

    b.table = nsc_table_new(durations, sizeof durations / sizeof durations[0]);
    if (!b.table)
        return nsc_cli_error("out of memory");
    nsc_dist_init(&b.dist);
    status = gather_bars(view, wanted, &b);
    nsc_dist_free(&b.dist);
    if (status == 0)
        status = print(view, b.table, "durations", &b);
    if (status == 0)
        nsc_cli_view_footnotes(view, b.bounds);
    nsc_table_free(b.table);
    return status;
}

int nsc_cli_calls_by(struct nsc_cli_view *view, enum nsc_cli_calls_by by, const uint8_t *wanted,
                     uint64_t top)
{
    int status;

    if (by == NSC_CLI_CALLS_BY_DURATION)
        return by_duration(view, wanted);
    status = by_side(view, by == NSC_CLI_CALLS_BY_CALLEE, wanted, top);
    if (status == 0)
        nsc_cli_view_footnotes(view, 0);
    return status;
}
