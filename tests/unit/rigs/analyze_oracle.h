/*
 * analyze_oracle.h - the analyses once more, straight from their definitions and as slow as that
 * is; test_calls.c holds the real ones against it.
 *
 * From a thread's events come its calls, each with its caller; everything else is a sum over them.
 */
#ifndef NSC_TESTS_UNIT_RIGS_ANALYZE_ORACLE_H
#define NSC_TESTS_UNIT_RIGS_ANALYZE_ORACLE_H

#include "unit/rigs/trace_model.h"

struct oracle_call {
    uint32_t thread, function;
    uint64_t start, end;
    uint64_t number; /* by entry, within the thread */
    long caller;     /* index of the call that was open below it, -1 = none */
    long holder;     /* index of the call it lies in: the caller, or a late one between the two */
    size_t first, last; /* indexes of its first and last event; a late call has one event only */
    uint32_t depth;
    uint32_t bound;
};

struct oracle {
    uint64_t from, to;
    struct oracle_call *calls; /* in the order in which they end, thread after thread */
    size_t count, room;
};

struct oracle_events {
    struct model_event *at;
    size_t count;
};

static inline void oracle_push(struct oracle_events *out, struct model_event e)
{
    out->at[out->count++] = e;
}

/* A thread's events as a window and a filter leave them; see select.h. */
static inline struct oracle_events oracle_select(const struct model_thread *t, uint64_t from,
                                                 uint64_t to, const uint8_t *hidden)
{
    struct oracle_events all = {calloc(t->count * 2 + 2, sizeof(struct model_event)), 0};
    struct model_event *open = calloc(t->count + 1, sizeof *open);
    size_t depth = 0;
    bool told = from == 0;

    for (size_t i = 0; i < t->count; i++) {
        struct model_event e = t->events[i];
        bool starts = e.kind == NSC_EVENT_ENTER || e.kind == NSC_EVENT_LOST;

        if (e.function != NSC_NO_ID && hidden && hidden[e.function])
            continue;
        if (!told && (e.ticks > from || (e.ticks == from && starts))) {
            for (size_t d = 0; d < depth; d++)
                oracle_push(&all, open[d]);
            if (depth > 0)
                oracle_push(&all, (struct model_event){from, NSC_NO_ID, 0, NSC_EVENT_LOST, 0});
            told = true;
        }
        if (e.ticks > to || (e.ticks == to && starts))
            break;
        if (e.kind == NSC_EVENT_ENTER)
            open[depth++] = e;
        else if (e.kind != NSC_EVENT_LATE_EXIT && e.kind != NSC_EVENT_LOST)
            depth--;
        if (told)
            oracle_push(&all, e);
    }
    while (told && depth-- > 0)
        oracle_push(&all, (struct model_event){to, open[depth].function, 0, NSC_EVENT_UNWIND, 0});
    free(open);
    return all;
}

/* Open calls after each event, by counting. */
static inline long oracle_depth_after(const struct oracle_events *e, size_t index)
{
    long depth = 0;

    for (size_t i = 0; i <= index; i++)
        if (e->at[i].kind == NSC_EVENT_ENTER)
            depth++;
        else if (e->at[i].kind == NSC_EVENT_EXIT || e->at[i].kind == NSC_EVENT_UNWIND)
            depth--;
    return depth;
}

/*
 * Since which event a call that returns late at @index must have been open: the last gap, or, if
 * calls were open in it, the end of the last of them. -1: since the thread's start.
 */
static inline long oracle_since(const struct oracle_events *e, size_t index)
{
    long own = oracle_depth_after(e, index), gap = (long)index;

    while (gap >= 0 && e->at[gap].kind != NSC_EVENT_LOST)
        gap--;
    while (gap >= 0 && gap < (long)index && oracle_depth_after(e, (size_t)gap) > own)
        gap++;
    return gap;
}

static inline void oracle_add(struct oracle *o, struct oracle_call call)
{
    if (o->count == o->room) {
        o->room = o->room * 2 + 64;
        o->calls = realloc(o->calls, o->room * sizeof *o->calls);
        if (!o->calls)
            abort();
    }
    o->calls[o->count++] = call;
}

/* The event that ends the call entered at @enter. */
static inline size_t oracle_end_of(const struct oracle_events *e, size_t enter)
{
    long open = 1;
    size_t i = enter;

    while (open > 0) {
        i++;
        if (e->at[i].kind == NSC_EVENT_ENTER)
            open++;
        else if (e->at[i].kind == NSC_EVENT_EXIT || e->at[i].kind == NSC_EVENT_UNWIND)
            open--;
    }
    return i;
}

/* Callers: the innermost call whose events enclose one's last event. */
static inline void oracle_find_callers(struct oracle *o, size_t base)
{
    for (size_t i = base; i < o->count; i++) {
        struct oracle_call *call = &o->calls[i];

        call->caller = -1;
        for (size_t k = base; k < o->count; k++) {
            const struct oracle_call *outer = &o->calls[k];

            if (outer->first < outer->last && outer->first < call->first &&
                outer->last > call->last &&
                (call->caller < 0 || outer->first > o->calls[call->caller].first))
                call->caller = (long)k;
        }
        call->holder = call->caller;
    }
}

/* The call that the event at @index ends. @begin: the thread's start. */
static inline struct oracle_call oracle_call_ending(const struct oracle *o,
                                                    const struct oracle_events *e, size_t index,
                                                    uint64_t begin)
{
    struct oracle_call call = {.function = e->at[index].function,
                               .first = index,
                               .last = index,
                               .end = e->at[index].ticks};

    call.depth = (uint32_t)oracle_depth_after(e, index);
    if (e->at[index].kind == NSC_EVENT_LATE_EXIT) {
        long since = oracle_since(e, index);

        call.start = since < 0 ? begin : e->at[since].ticks;
        call.start = call.start < o->from ? o->from : call.start;
        call.bound = NSC_BOUND_START;
    } else {
        while (e->at[call.first].kind != NSC_EVENT_ENTER || oracle_end_of(e, call.first) != index)
            call.first--;
        call.start = e->at[call.first].ticks;
        call.bound = e->at[index].kind == NSC_EVENT_UNWIND ? NSC_BOUND_END : 0;
    }
    for (size_t k = 0; k <= call.first; k++)
        call.number += e->at[k].kind == NSC_EVENT_ENTER || e->at[k].kind == NSC_EVENT_LATE_EXIT;
    return call;
}

/* Late calls, in order, take what their callers did since. */
static inline void oracle_find_holders(struct oracle *o, size_t base, const struct oracle_events *e)
{
    for (size_t i = base; i < o->count; i++) {
        if (o->calls[i].first != o->calls[i].last)
            continue;
        for (size_t k = base; k < i; k++)
            if (o->calls[k].holder == o->calls[i].holder &&
                (long)o->calls[k].first > oracle_since(e, o->calls[i].first))
                o->calls[k].holder = (long)i;
    }
}

/* Add a thread's calls. @begin: its start. */
static inline void oracle_add_thread(struct oracle *o, const struct model_thread *t, uint64_t begin,
                                     const uint8_t *hidden)
{
    struct oracle_events e = oracle_select(t, o->from, o->to, hidden);
    size_t base = o->count;

    for (size_t i = 0; i < e.count; i++) {
        struct oracle_call call;

        if (e.at[i].kind == NSC_EVENT_ENTER || e.at[i].kind == NSC_EVENT_LOST)
            continue;
        call = oracle_call_ending(o, &e, i, begin);
        call.thread = t->id;
        oracle_add(o, call);
    }
    oracle_find_callers(o, base);
    oracle_find_holders(o, base, &e);
    free(e.at);
}

static inline uint64_t oracle_inside(const struct oracle *o, const struct oracle_call *c)
{
    uint64_t start = c->start > o->from ? c->start : o->from;
    uint64_t end = c->end < o->to ? c->end : o->to;

    return end > start ? end - start : 0;
}

static inline uint64_t oracle_self(const struct oracle *o, size_t index)
{
    uint64_t self = oracle_inside(o, &o->calls[index]);

    for (size_t i = 0; i < o->count; i++)
        if (o->calls[i].holder == (long)index)
            self -= oracle_inside(o, &o->calls[i]);
    return self;
}

/* Whether no call of the same function holds it. */
static inline bool oracle_is_outermost(const struct oracle *o, size_t index)
{
    for (long i = o->calls[index].holder; i >= 0; i = o->calls[i].holder)
        if (o->calls[i].function == o->calls[index].function)
            return false;
    return true;
}

/* Whether the call is a direct recursion of its caller's, and so shares its node. */
static inline bool oracle_is_shared(const struct oracle *o, size_t index)
{
    const struct oracle_call *c = &o->calls[index];

    return c->caller >= 0 && c->first < c->last && o->calls[c->caller].function == c->function;
}

/* The path of functions, outermost first, as text: "3/1/4/". With @fold, calls that share a node
 * are one step. Free it. */
static inline char *oracle_path(const struct oracle *o, size_t index, bool fold)
{
    char *path = strdup("");

    for (long i = (long)index; i >= 0; i = o->calls[i].holder) {
        char *longer;

        if (fold && oracle_is_shared(o, (size_t)i))
            continue;
        if (asprintf(&longer, "%u/%s", o->calls[i].function, path) < 0)
            abort();
        free(path);
        path = longer;
    }
    return path;
}

#endif
