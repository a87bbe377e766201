/* left_out.c - see left_out.h. */
#include "analyze/calls/left_out.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void nsc_left_out_free(struct nsc_left_out_list *list)
{
    free(list->rows);
    *list = (struct nsc_left_out_list){0};
}

static uint64_t rounded(double value)
{
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)(value + 0.5);
}

void nsc_left_out_add(struct nsc_estimate *to, const struct nsc_estimate *more)
{
    to->error = rounded(hypot((double)to->error, (double)more->error));
    if (__builtin_add_overflow(to->value, more->value, &to->value))
        to->value = UINT64_MAX;
}

/* The fraction of an entry's period that lies in the window, from 0 to 1; @ticks receives its
 * length. */
static double part_inside(const struct nsc_trace *t, const struct nsc_selection *selection,
                          const struct nsc_left_out *l, uint64_t *ticks)
{
    uint64_t end = l->to_ticks != 0 ? l->to_ticks : nsc_trace_info(t)->end_ticks;
    uint64_t from = l->from_ticks, to;

    end = end < from ? from : end;
    to = end < selection->to_ticks ? end : selection->to_ticks;
    from = from > selection->from_ticks ? from : selection->from_ticks;
    *ticks = to > from ? to - from : 0;
    if (end == l->from_ticks) /* an instant */
        return from <= to ? 1 : 0;
    return (double)*ticks / (double)(end - l->from_ticks);
}

struct nsc_estimate nsc_left_out_scale(const struct nsc_estimate *e, double by)
{
    return (struct nsc_estimate){rounded((double)e->value * by), rounded((double)e->error * by)};
}

static struct nsc_estimate scale_ns(const struct nsc_trace *t, const struct nsc_estimate *e,
                                    double by)
{
    const struct nsc_clock *clock = nsc_trace_clock(t);
    struct nsc_estimate ticks = nsc_left_out_scale(e, by);

    return (struct nsc_estimate){nsc_clock_span_ns(clock, ticks.value),
                                 nsc_clock_span_ns(clock, ticks.error)};
}

static int by_function(const void *a, const void *b)
{
    const struct nsc_left_out_row *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

/* Merge the rows of the same function and process, which are adjacent. */
static void merge_rows(struct nsc_left_out_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct nsc_left_out_row *row = &list->rows[i];
        struct nsc_left_out_row *last = kept > 0 ? &list->rows[kept - 1] : NULL;

        if (last == NULL || by_function(last, row) != 0) {
            list->rows[kept++] = *row;
            continue;
        }
        last->reasons |= row->reasons;
        last->known |= row->known;
        last->estimated |= row->estimated;
        nsc_left_out_add(&last->calls, &row->calls);
        nsc_left_out_add(&last->total_ns, &row->total_ns);
        nsc_left_out_add(&last->self_ns, &row->self_ns);
    }
    list->count = kept;
}

static void note_error(struct nsc_left_out_list *list, const struct nsc_estimate *e)
{
    double part = e->value > 0 ? (double)e->error / (double)e->value : 0;

    if (part > list->worst)
        list->worst = part;
}

/* Count functions by reason, each once regardless of its number of rows. */
static void sum_up(struct nsc_left_out_list *list)
{
    uint32_t seen = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct nsc_left_out_row *row = &list->rows[i];
        bool first = i == 0 || list->rows[i - 1].function != row->function;

        seen = first ? 0 : seen;
        list->all_functions += first;
        for (uint32_t reason = 0; reason < NSC_LEFT_OUT_REASONS; reason++)
            list->functions[reason] += (row->reasons & ~seen) >> reason & 1;
        seen |= row->reasons;
        note_error(list, &row->calls);
        note_error(list, &row->total_ns);
    }
}

/* Which threads of a process are selected: bit flags. */
enum { SELECTED = 1, NOT_SELECTED = 2 };

/* One byte per process, then one for all processes together; NULL if out of memory. */
static uint8_t *find_parts(const struct nsc_trace *t, const struct nsc_selection *selection)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    uint8_t *parts = calloc((size_t)info->process_count + 1, 1);

    for (uint32_t i = 0; parts != NULL && i < info->thread_count; i++) {
        uint8_t part = nsc_selection_has_thread(selection, i) ? SELECTED : NOT_SELECTED;

        parts[nsc_trace_thread(t, i)->process] |= part;
        parts[info->process_count] |= part;
    }
    return parts;
}

/* Add one entry of the trace; @selected: the flags of its process, or of all processes. */
static void take(const struct nsc_trace *t, const struct nsc_selection *selection,
                 const struct nsc_left_out *l, uint8_t selected, struct nsc_left_out_list *list)
{
    bool whole = (selected & NOT_SELECTED) == 0;
    uint32_t reason = l->reason < NSC_LEFT_OUT_REASONS ? l->reason : 0;
    struct nsc_left_out_row *row = &list->rows[list->count];
    uint64_t ticks;
    double part = part_inside(t, selection, l, &ticks);

    if (part <= 0 || selected == NOT_SELECTED)
        return;
    if (l->function == NSC_NO_ID) {
        list->nothing_ns[reason] += nsc_clock_span_ns(nsc_trace_clock(t), ticks);
        return;
    }
    if (selection->hidden != NULL && selection->hidden[l->function])
        return;
    *row = (struct nsc_left_out_row){
        .function = l->function, .process = l->process, .reasons = 1u << reason};
    list->count++;
    list->unplaced |= !whole && l->known != 0;
    if (!whole)
        return;
    row->known = l->known;
    row->calls = nsc_left_out_scale(&l->calls, part);
    row->total_ns = scale_ns(t, &l->total_ticks, part);
    row->self_ns = scale_ns(t, &l->self_ticks, part);
    if (l->windows > 0 || l->calls.error > 0 || l->total_ticks.error > 0 || part < 1)
        row->estimated = l->known;
}

int nsc_left_out_find(const struct nsc_trace *t, const struct nsc_selection *selection,
                      struct nsc_left_out_list *out, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->left_out_count;
    uint32_t processes = nsc_trace_info(t)->process_count;
    struct nsc_left_out_list list = {.rows = calloc((size_t)count + 1, sizeof *list.rows)};
    uint8_t *parts = find_parts(t, selection);

    if (list.rows == NULL || parts == NULL) {
        free(list.rows);
        free(parts);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct nsc_left_out *l = nsc_trace_left_out(t, i);

        take(t, selection, l, parts[l->process == NSC_NO_ID ? processes : l->process], &list);
    }
    free(parts);
    if (list.count > 0)
        qsort(list.rows, list.count, sizeof *list.rows, by_function);
    merge_rows(&list);
    sum_up(&list);
    *out = list;
    return 0;
}

uint64_t nsc_left_out_events(const struct nsc_trace *t, uint32_t reason)
{
    const char *text;
    char key[48];

    snprintf(key, sizeof key, NSC_META_LEFT_OUT_BY, nsc_model_left_out_reason_name(reason));
    text = nsc_trace_meta(t, key);
    return text != NULL && text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : 0;
}
