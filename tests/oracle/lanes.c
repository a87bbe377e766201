/* lanes.c - see lanes.h. */
#include "oracle/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/pattern.h"

#define HANDLER "on_alarm" /* the one that comes at any time */

static bool seen[1u << 16];
static const char **names; /* by function id */

static void add(struct lane *lane, const struct lane_event *event)
{
    if ((lane->count & (lane->count - 1)) == 0) {
        lane->events =
            reallocarray(lane->events, lane->count == 0 ? 1 : 2 * lane->count, sizeof *event);
        if (lane->events == NULL)
            abort();
    }
    if (lane->count == 0)
        lane->first_ticks = event->ticks;
    lane->events[lane->count++] = *event;
}

static const char *short_name(const struct nsc_trace *trace, uint32_t function)
{
    const char *full;
    size_t start, length;

    if (function == NSC_NO_ID)
        return "";
    if (names == NULL)
        names = calloc(nsc_trace_info(trace)->function_count, sizeof *names);
    if (names == NULL)
        abort();
    if (names[function] == NULL) {
        full = nsc_trace_function(trace, function)->name;
        nsc_pattern_name_span(full, &start, &length);
        for (size_t i = 0; i < length; i++) /* f.constprop.0, inner.0 */
            if (full[start + i] == '.')
                length = i;
        names[function] = strndup(full + start, length);
    }
    return names[function];
}

static void read_lane(struct nsc_trace *trace, uint32_t thread, struct lane *lane)
{
    const struct nsc_event *events;
    struct nsc_diag diag = {0};
    struct nsc_cursor *cursor;
    size_t count = 0;
    int rc = nsc_cursor_open(trace, thread, 0, &cursor, &diag);

    while (rc >= 0 && (rc = nsc_cursor_next(cursor, &events, &count, &diag)) > 0) {
        for (size_t i = 0; i < count; i++) {
            struct lane_event e = {.ticks = events[i].ticks,
                                   .value = events[i].value,
                                   .kind = events[i].kind,
                                   .depth = events[i].depth,
                                   .name = short_name(trace, events[i].function)};
            add(lane, &e);
        }
    }
    if (rc < 0) {
        printf("cannot read thread %u: %s\n", thread, diag.message);
        exit(1);
    }
    nsc_cursor_close(cursor);
}

/*
 * The constructors and destructors of guards may consist of two functions of the same name at -O0
 * (complete and base object): the inner one goes.
 */
static bool is_twin(const struct lane *lane, const struct lane_event *e)
{
    const struct lane_event *before = lane->count > 0 ? &lane->events[lane->count - 1] : NULL;

    return e->kind == NSC_EVENT_ENTER && strncmp(e->name, "Guard", 5) == 0 && before != NULL &&
           before->kind == NSC_EVENT_ENTER && strcmp(before->name, e->name) == 0;
}

/* Splits a whole lane into the program's own calls and those of the handler. */
static void split(const struct lane *whole, struct lane *own, struct lane *handlers)
{
    uint32_t handler_depth = UINT32_MAX, twin_depth = UINT32_MAX;

    for (size_t i = 0; i < whole->count; i++) {
        struct lane_event e = whole->events[i];
        bool is_end = e.kind == NSC_EVENT_EXIT || e.kind == NSC_EVENT_UNWIND;

        if (handler_depth == UINT32_MAX && e.kind == NSC_EVENT_ENTER &&
            strcmp(e.name, HANDLER) == 0)
            handler_depth = e.depth;
        if (handler_depth != UINT32_MAX) {
            bool last = is_end && e.depth == handler_depth;

            e.depth -= handler_depth;
            add(handlers, &e);
            if (last)
                handler_depth = UINT32_MAX;
        } else if (twin_depth == UINT32_MAX && is_twin(own, &e)) {
            twin_depth = e.depth;
        } else if (is_end && e.depth == twin_depth) {
            twin_depth = UINT32_MAX;
        } else {
            add(own, &e);
        }
    }
}

static int compare_first(const void *left, const void *right)
{
    const struct lane *a = left, *b = right;

    return a->first_ticks < b->first_ticks ? -1 : a->first_ticks > b->first_ticks;
}

static int compare_ticks(const void *left, const void *right)
{
    const struct lane_event *a = left, *b = right;

    return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

void lanes_read(struct nsc_trace *trace, uint32_t pid, uint32_t tid, struct lane_thread *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < nsc_trace_info(trace)->thread_count; i++) {
        const struct nsc_thread *t = nsc_trace_thread(trace, i);
        struct lane own = {0};

        if (t->tid != tid || nsc_trace_process(trace, t->process)->pid != pid ||
            out->whole_count == sizeof out->whole / sizeof out->whole[0] ||
            i >= sizeof seen / sizeof seen[0])
            continue;
        seen[i] = true;
        read_lane(trace, i, &out->whole[out->whole_count]);
        split(&out->whole[out->whole_count++], &own, &out->async);
        if (own.count > 0)
            out->lanes[out->count++] = own;
    }
    qsort(out->lanes, out->count, sizeof out->lanes[0], compare_first);
    /* stable in glibc, so that events of one instant keep their order */
    if (out->async.count > 0)
        qsort(out->async.events, out->async.count, sizeof out->async.events[0], compare_ticks);
}

void lanes_free(struct lane_thread *lanes)
{
    for (size_t i = 0; i < lanes->whole_count; i++)
        free(lanes->whole[i].events);
    for (size_t i = 0; i < lanes->count; i++)
        free(lanes->lanes[i].events);
    free(lanes->async.events);
}

void lanes_check_unseen(const struct nsc_trace *trace, void (*problem)(const char *format, ...))
{
    for (uint32_t i = 0; i < nsc_trace_info(trace)->thread_count; i++) {
        const struct nsc_thread *t = nsc_trace_thread(trace, i);

        if (i < sizeof seen / sizeof seen[0] && !seen[i] && t->recorded > 0)
            problem("process %u thread %u has %llu events in the trace, but no log",
                    nsc_trace_process(trace, t->process)->pid, t->tid,
                    (unsigned long long)t->recorded);
    }
}
