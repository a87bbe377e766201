/*
 * report.c - statistics per function; see report.h.
 *
 * The loop over events, feed_events(), dominates the cost: about 10 ns per call in addition to
 * decoding. It must not look up names, nor allocate except for a new depth or bucket.
 */
#include "analyze/functions/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions/report_state.h"
#include "util/search.h"
#include "util/sort.h"

bool nsc_report_grow_stack(struct nsc_report_counter *c)
{
    size_t max = c->depth_max * 2 + 256;
    struct nsc_report_call *stack = reallocarray(c->stack, max, sizeof(*stack));

    if (!stack) {
        c->no_memory = true;
        return false;
    }
    c->stack = stack;
    c->depth_max = max;
    return true;
}

static void begin_epoch(struct nsc_report_counter *c, uint64_t ticks)
{
    c->epoch++;
    c->epoch_depth = c->depth;
    c->epoch_ticks = ticks;
    c->epoch_child_ticks = c->stack[c->depth].child_ticks;
}

struct nsc_dist *nsc_report_make_dist(struct nsc_report_counter *c, struct nsc_report_tally *f)
{
    f->dist = malloc(sizeof(*f->dist));
    if (!f->dist) {
        c->no_memory = true;
        return NULL;
    }
    nsc_dist_init(f->dist);
    f->process = c->process;
    return f->dist;
}

static inline void enter(struct nsc_report_counter *c, const struct nsc_event *e)
{
    struct nsc_report_tally *f = &c->tallies[e->function];

    if (c->depth + 1 >= c->depth_max && !nsc_report_grow_stack(c))
        return;
    c->stack[++c->depth] = (struct nsc_report_call){
        .start_ticks = e->ticks, .function = e->function, .bound = (uint32_t)e->value};
    if (f->active++ == 0 && f->epoch != c->epoch) {
        f->epoch = c->epoch;
        f->epoch_base = f->total_ticks;
    }
}

/* Count a call that ended; @inside: its ticks inside the window. */
static inline void count_call(struct nsc_report_counter *c, struct nsc_report_tally *f,
                              uint64_t duration, uint64_t inside, uint64_t children)
{
    struct nsc_dist *dist = f->dist ? f->dist : nsc_report_make_dist(c, f);

    f->self_ticks += inside > children ? inside - children : 0;
    if (!dist || nsc_dist_add(dist, duration) < 0)
        c->no_memory = true;
    if (f->process != c->process)
        f->process = NSC_NO_ID;
}

static inline void leave(struct nsc_report_counter *c, const struct nsc_event *e)
{
    struct nsc_report_call *call = &c->stack[c->depth];
    struct nsc_report_tally *f = &c->tallies[call->function];
    uint64_t inside = e->ticks - nsc_report_later(call->start_ticks, c->selection->from_ticks);

    if (--f->active == 0)
        f->total_ticks += inside;
    if ((call->bound | nsc_model_end_bound(e)) != 0)
        f->bounds++;
    count_call(c, f, e->ticks - call->start_ticks, inside, call->child_ticks);
    c->stack[--c->depth].child_ticks += inside;
    if (c->depth < c->epoch_depth)
        begin_epoch(c, e->ticks);
}

/*
 * End a call without a recorded entry. It contains what its caller did since the epoch began,
 * including other calls of the same function. Their total is subtracted, as it is part of this
 * call's total.
 */
static void end_late(struct nsc_report_counter *c, const struct nsc_event *e)
{
    struct nsc_report_tally *f = &c->tallies[e->function];
    struct nsc_report_call *caller = &c->stack[c->depth];
    uint64_t start, inside;

    if (c->depth != c->epoch_depth) /* no gap was recorded here: the trace is damaged */
        begin_epoch(c, e->ticks);
    start = nsc_report_later(c->epoch_ticks, c->selection->from_ticks);
    inside = e->ticks > start ? e->ticks - start : 0;
    if (f->active == 0) {
        if (f->epoch != c->epoch) {
            f->epoch = c->epoch;
            f->epoch_base = f->total_ticks;
        }
        f->total_ticks = f->epoch_base + inside;
    }
    f->bounds++;
    count_call(c, f, inside, inside, caller->child_ticks - c->epoch_child_ticks);
    caller->child_ticks = c->epoch_child_ticks + inside;
}

static void feed_events(struct nsc_report_counter *c, const struct nsc_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct nsc_event *e = &events[i];

        if (e->kind == NSC_EVENT_ENTER)
            enter(c, e);
        else if (e->kind == NSC_EVENT_LATE_EXIT)
            end_late(c, e);
        else if (e->kind == NSC_EVENT_LOST)
            begin_epoch(c, e->ticks);
        else if (c->depth > 0)
            leave(c, e);
    }
}

static int count_thread(struct nsc_report_counter *c, uint32_t thread, struct nsc_diag *diag)
{
    const struct nsc_thread *info = nsc_trace_thread(c->trace, thread);
    const struct nsc_event *events;
    struct nsc_report_index index;
    struct nsc_selected_events *feed;
    size_t n;
    int result = nsc_selected_events_open(c->trace, thread, c->selection, &feed, diag);

    if (result < 0)
        return result;
    c->depth = 0;
    c->stack[0] = (struct nsc_report_call){.function = NSC_NO_ID};
    begin_epoch(c, info->start_ticks);
    c->any_call = false;
    nsc_report_index_begin(c, &index, thread);
    while ((result = nsc_report_index_skip(c, &index, feed, diag)) == 0 &&
           (result = nsc_selected_events_next(feed, &events, &n, diag)) > 0 && !c->no_memory) {
        feed_events(c, events, n);
        c->any_call = true;
    }
    nsc_report_index_end(&index);
    nsc_selected_events_close(feed);
    if (c->no_memory)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the statistics");
    return result;
}

static void make_row(struct nsc_report_counter *c, uint32_t function, struct nsc_report_row *row)
{
    const struct nsc_clock *clock = nsc_trace_clock(c->trace);
    struct nsc_report_tally *f = &c->tallies[function];

    *row = (struct nsc_report_row){
        .function = function,
        .process = f->process,
        .calls = f->dist->count,
        .bounds = f->bounds,
        .total_ns = nsc_clock_span_ns(clock, f->total_ticks),
        .self_ns = nsc_clock_span_ns(clock, f->self_ticks),
        .min_ns = nsc_clock_span_ns(clock, f->dist->min),
        .p50_ns = nsc_clock_span_ns(clock, nsc_dist_quantile(f->dist, 50)),
        .p90_ns = nsc_clock_span_ns(clock, nsc_dist_quantile(f->dist, 90)),
        .p99_ns = nsc_clock_span_ns(clock, nsc_dist_quantile(f->dist, 99)),
        .max_ns = nsc_clock_span_ns(clock, f->dist->max),
    };
}

/* Turn the tallies into rows and reset them. */
static int flush_rows(struct nsc_report_counter *c, struct nsc_report *r, struct nsc_diag *diag)
{
    size_t more = 0;
    struct nsc_report_row *rows;

    for (uint32_t i = 0; i < c->function_count; i++)
        more += c->tallies[i].dist != NULL;
    rows = reallocarray(r->rows, r->row_count + more + 1, sizeof(*rows));
    if (!rows)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the report");
    r->rows = rows;
    for (uint32_t i = 0; i < c->function_count; i++) {
        struct nsc_report_row *row = &r->rows[r->row_count];

        if (!c->tallies[i].dist)
            continue;
        make_row(c, i, row);
        r->row_count++;
        r->calls += row->calls;
        r->bounds += row->bounds;
        r->coarse |= c->tallies[i].dist->coarse;
        nsc_dist_free(c->tallies[i].dist);
        free(c->tallies[i].dist);
        c->tallies[i] = (struct nsc_report_tally){0};
    }
    return 0;
}

static int compare_processes(const void *a, const void *b, void *context)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t px = nsc_trace_thread(context, x)->process, py = nsc_trace_thread(context, y)->process;

    return px != py ? (px > py) - (px < py) : (x > y) - (x < y);
}

/* The selected threads, grouped by process; @count receives their number. NULL if out of memory. */
static uint32_t *list_threads(const struct nsc_report_counter *c, uint32_t *count)
{
    uint32_t all = nsc_trace_info(c->trace)->thread_count;
    uint32_t *threads = calloc(all + 1u, sizeof(*threads));

    *count = 0;
    for (uint32_t i = 0; threads && i < all; i++)
        if (nsc_selected_events_is_wanted(c->trace, c->selection, i))
            threads[(*count)++] = i;
    if (threads)
        nsc_sort(threads, *count, sizeof(*threads), compare_processes, c->trace);
    return threads;
}

static int count_threads(struct nsc_report_counter *c, const uint32_t *threads, uint32_t count,
                         bool per_process, struct nsc_report *r, struct nsc_diag *diag)
{
    int error = 0;

    for (uint32_t i = 0; i < count && error == 0; i++) {
        const struct nsc_thread *thread = nsc_trace_thread(c->trace, threads[i]);

        if (per_process && i > 0 && thread->process != c->process)
            error = flush_rows(c, r, diag);
        c->process = thread->process;
        if (error == 0)
            error = count_thread(c, threads[i], diag);
        /* A coroutine's stack is not a thread of its own. */
        r->threads += c->any_call && thread->stack == 0;
    }
    return error ? error : flush_rows(c, r, diag);
}

static void free_tallies(struct nsc_report_counter *c)
{
    for (uint32_t i = 0; c->tallies && i < c->function_count; i++) {
        if (!c->tallies[i].dist)
            continue;
        nsc_dist_free(c->tallies[i].dist);
        free(c->tallies[i].dist);
    }
    free(c->tallies);
    free(c->stack);
    free(c->has_aliases);
}

int nsc_report_make(struct nsc_trace *t, const struct nsc_selection *selection, bool per_process,
                    struct nsc_report *out, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    struct nsc_report_counter c = {
        .trace = t, .selection = selection, .function_count = info->function_count};
    struct nsc_report r = {.per_process = per_process};
    uint32_t count;
    uint32_t *threads = list_threads(&c, &count);
    int error;

    c.tallies = calloc(c.function_count + 1u, sizeof(*c.tallies));
    if (!threads || !c.tallies || !nsc_report_grow_stack(&c) ||
        nsc_report_index_decide(&c, threads, count) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the report");
    else
        error = count_threads(&c, threads, count, per_process, &r, diag);
    free(threads);
    free_tallies(&c);
    if (error)
        nsc_report_free(&r);
    else
        *out = r;
    return error;
}

void nsc_report_free(struct nsc_report *r)
{
    free(r->rows);
    *r = (struct nsc_report){0};
}

/* ---- Calls that were left out ---------------------------------------------------------------- */

/* The order of the rows that nsc_report_make() returns. */
static int compare_places(const struct nsc_report_row *row, const struct nsc_left_out_row *l,
                          bool per_process)
{
    if (per_process && row->process != l->process)
        return row->process < l->process ? -1 : 1;
    return (row->function > l->function) - (row->function < l->function);
}

/* The row that @l belongs to: one of the first @made, or the last one; NULL if it needs a new
 * row. */
static struct nsc_report_row *find_row(struct nsc_report *r, size_t made,
                                       const struct nsc_left_out_row *l)
{
    size_t at = NSC_PARTITION_POINT(i, made, compare_places(&r->rows[i], l, r->per_process) < 0);

    if (at < made && compare_places(&r->rows[at], l, r->per_process) == 0)
        return &r->rows[at];
    if (r->row_count > made && compare_places(&r->rows[r->row_count - 1], l, r->per_process) == 0)
        return &r->rows[r->row_count - 1];
    return NULL;
}

int nsc_report_add_left_out(struct nsc_report *r, const struct nsc_left_out_list *list,
                            struct nsc_diag *diag)
{
    size_t made = r->row_count;
    struct nsc_report_row *rows = reallocarray(r->rows, made + list->count + 1, sizeof(*rows));

    if (!rows)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the report");
    r->rows = rows;
    for (size_t i = 0; i < list->count; i++) {
        const struct nsc_left_out_row *l = &list->rows[i];
        struct nsc_report_row *row = find_row(r, made, l);

        if (!row && l->known == 0)
            continue;
        if (!row) {
            row = &rows[r->row_count++];
            *row = (struct nsc_report_row){.function = l->function, .process = l->process};
        }
        row->left_out |= l->reasons;
        row->more_known |= l->known;
        row->more_estimated |= l->estimated;
        nsc_left_out_add(&row->more_calls, &l->calls);
        nsc_left_out_add(&row->more_total_ns, &l->total_ns);
        nsc_left_out_add(&row->more_self_ns, &l->self_ns);
        if (l->known != 0 && row->process != l->process)
            row->process = NSC_NO_ID;
    }
    return 0;
}

/* ---- Order ----------------------------------------------------------------------------------- */

struct sort_context {
    const struct nsc_trace *trace;
    enum nsc_report_key key;
};

static uint64_t key_of(const struct nsc_report_row *row, enum nsc_report_key key)
{
    switch (key) {
    case NSC_REPORT_BY_TOTAL:
        return row->total_ns + row->more_total_ns.value;
    case NSC_REPORT_BY_SELF:
        return row->self_ns + row->more_self_ns.value;
    case NSC_REPORT_BY_CALLS:
        return row->calls + row->more_calls.value;
    case NSC_REPORT_BY_MIN:
        return row->min_ns;
    case NSC_REPORT_BY_P50:
        return row->p50_ns;
    case NSC_REPORT_BY_P90:
        return row->p90_ns;
    case NSC_REPORT_BY_P99:
        return row->p99_ns;
    case NSC_REPORT_BY_MAX:
        return row->max_ns;
    case NSC_REPORT_BY_NAME:
        break;
    }
    return 0;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct sort_context *s = context;
    const struct nsc_report_row *x = a, *y = b;
    uint64_t kx = key_of(x, s->key), ky = key_of(y, s->key);
    int names;

    if (kx != ky)
        return kx > ky ? -1 : 1;
    names = strcmp(nsc_trace_function(s->trace, x->function)->name,
                   nsc_trace_function(s->trace, y->function)->name);
    if (names != 0)
        return names;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

void nsc_report_sort(struct nsc_report *r, const struct nsc_trace *t, enum nsc_report_key key)
{
    struct sort_context context = {t, key};

    nsc_sort(r->rows, r->row_count, sizeof(*r->rows), compare_rows, &context);
}
