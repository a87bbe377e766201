/*
 * check.c - is a trace what the program says it did?
 *
 * usage: check [--exits-on-throw] TRACE LOG...
 *
 * Compares TRACE with the logs that oracle.c wrote, one for each process: processes, threads,
 * stacks, every call with its name, order and depth, and how it ended. Exit 0 = equal; 1 = not,
 * with the first difference of each thread on stdout.
 *
 * --exits-on-throw: calls left by an exception may also have an ordinary end (gcc's header hook
 * runs as a cleanup).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/lanes.h"
#include "oracle/logfile.h"

static bool exits_on_throw;
static unsigned problems;

__attribute__((format(printf, 1, 2))) static void problem(const char *format, ...)
{
    va_list ap;

    problems++;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
}

/* ---- One stack ---- */

/* A call that is open in both. */
struct open_call {
    const struct log_record *record;
    bool carries; /* its tail call is nested in it: it ends with that call, in the same way */
};

struct walk {
    const struct lane *lane;
    const struct log_stack *stack;
    size_t at; /* next event */
    struct open_call *open;
    size_t depth;
    const char *where;
    bool failed;
};

static const struct lane_event *peek(const struct walk *w)
{
    static const struct lane_event none = {.kind = UINT32_MAX, .name = "nothing"};

    return w->at < w->lane->count ? &w->lane->events[w->at] : &none;
}

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {"enter", "exit", "unwind", "late exit", "lost"};

    return kind < sizeof names / sizeof names[0] ? names[kind] : "end of";
}

static void fail(struct walk *w, const char *expected, const struct log_record *record)
{
    const struct lane_event *e = peek(w);

    if (w->failed)
        return;
    w->failed = true;
    problem("%s: at event %zu of %zu, depth %zu: want %s %s (record %zu, ended %c), got %s %s at "
            "depth %u",
            w->where, w->at, w->lane->count, w->depth, expected, record->name,
            (size_t)(record - w->stack->records), record->end, kind_name(e->kind), e->name,
            e->depth);
    for (size_t i = w->depth; i > 0 && i + 6 > w->depth; i--)
        printf("#   in %s\n", w->open[i - 1].record->name);
    for (size_t i = w->at < 3 ? 0 : w->at - 3; i < w->lane->count && i < w->at + 4; i++)
        printf("#   %s event %zu: %s %s depth %u\n", i == w->at ? ">" : " ", i,
               kind_name(w->lane->events[i].kind), w->lane->events[i].name,
               w->lane->events[i].depth);
}

/* May a call with this end have this event? */
static bool end_fits(char end, uint32_t kind)
{
    switch (end) {
    case 'R':
    case 'T':
        return kind == NSC_EVENT_EXIT;
    case 'W':
        return kind == NSC_EVENT_UNWIND || (exits_on_throw && kind == NSC_EVENT_EXIT);
    default:
        return kind == NSC_EVENT_UNWIND;
    }
}

/* Ends the innermost open call, and those that it was the nested tail call of. */
static void close_top(struct walk *w)
{
    char end = w->open[w->depth - 1].record->end;

    do {
        const struct log_record *record = w->open[w->depth - 1].record;
        const struct lane_event *e = peek(w);

        if (!end_fits(end, e->kind) || strcmp(e->name, record->name) != 0) {
            fail(w, end == 'R' || end == 'T' ? "exit" : "unwind", record);
            return;
        }
        w->at++;
        w->depth--;
    } while (w->depth > 0 && w->open[w->depth - 1].carries);
}

static void close_down_to(struct walk *w, uint32_t depth)
{
    while (!w->failed && w->depth > 0 && w->open[w->depth - 1].record->depth >= depth)
        close_top(w);
}

/* Is @record the tail call of the innermost open call, and did the compiler make it an ordinary
 * one? */
static bool is_nested_tail(const struct walk *w, const struct log_record *record)
{
    const struct log_record *top = w->depth > 0 ? w->open[w->depth - 1].record : NULL;

    return record->flag == 't' && top != NULL && top->depth == record->depth && top->end == 'T' &&
           peek(w)->kind == NSC_EVENT_ENTER;
}

/*
 * Functions t<N> end in tail calls. Nested ones that were open when the process was forked off are
 * done for the log, and return late in the trace; @but is one that the log speaks of.
 */
static void skip_late_tails(struct walk *w, const char *but)
{
    while (w->depth == 0 && peek(w)->kind == NSC_EVENT_LATE_EXIT &&
           strcmp(peek(w)->name, but) != 0 && peek(w)->name[strspn(peek(w)->name, "space:")] == 't')
        w->at++;
}

static void open_one(struct walk *w, const struct log_record *record)
{
    const struct lane_event *e;
    bool nested;

    close_down_to(w, record->depth + 1);
    nested = is_nested_tail(w, record);
    if (!nested)
        close_down_to(w, record->depth);
    if (w->failed)
        return;
    skip_late_tails(w, "");
    e = peek(w);
    if (e->kind != NSC_EVENT_ENTER || strcmp(e->name, record->name) != 0) {
        fail(w, "enter", record);
        return;
    }
    if (nested)
        w->open[w->depth - 1].carries = true;
    w->open[w->depth++] = (struct open_call){record, false};
    w->at++;
}

static void late_one(struct walk *w, const struct log_record *record)
{
    close_down_to(w, 0);
    if (w->failed)
        return;
    skip_late_tails(w, record->name);
    if (record->end == 'W' && !(exits_on_throw && peek(w)->kind == NSC_EVENT_LATE_EXIT &&
                                strcmp(peek(w)->name, record->name) == 0))
        return; /* left by an exception, as a rule without an event */
    if (peek(w)->kind != NSC_EVENT_LATE_EXIT || strcmp(peek(w)->name, record->name) != 0)
        fail(w, "late exit", record);
    w->at++;
}

static void compare_stack(const struct lane *lane, const struct log_stack *stack, const char *where)
{
    static const struct log_record none = {.name = "nothing more", .end = 'O'};
    struct walk w = {.lane = lane, .stack = stack, .where = where};

    w.open = calloc(stack->count + 1, sizeof *w.open);
    if (w.open == NULL)
        abort();
    for (size_t i = 0; i < stack->count && !w.failed; i++) {
        if (stack->records[i].depth == LOG_LATE)
            late_one(&w, &stack->records[i]);
        else
            open_one(&w, &stack->records[i]);
    }
    close_down_to(&w, 0);
    skip_late_tails(&w, "");
    if (!w.failed && w.at != lane->count)
        fail(&w, "end", &none);
    free(w.open);
}

/* ---- Threads ---- */

/* Are the times in order, and every call inside the one around it? Follows from order alone. */
static void check_times(const struct lane *lane, const char *where)
{
    for (size_t i = 1; i < lane->count; i++)
        if (lane->events[i].ticks < lane->events[i - 1].ticks) {
            problem("%s: time runs backwards at event %zu", where, i);
            return;
        }
}

static void check_depths(const struct lane *lane, const char *where)
{
    uint32_t depth = 0;

    for (size_t i = 0; i < lane->count; i++) {
        const struct lane_event *e = &lane->events[i];
        bool is_end = e->kind == NSC_EVENT_EXIT || e->kind == NSC_EVENT_UNWIND;

        if (e->kind == NSC_EVENT_LOST)
            problem("%s: %llu events lost at event %zu", where, (unsigned long long)e->value, i);
        depth -= is_end;
        if (depth != e->depth && (is_end || e->kind == NSC_EVENT_ENTER)) {
            problem("%s: depth %u instead of %u at event %zu", where, e->depth, depth, i);
            return;
        }
        depth += e->kind == NSC_EVENT_ENTER;
    }
}

static void compare_thread(const struct log_thread *thread, unsigned pid, struct lane_thread *lanes)
{
    char where[96];

    if (lanes->count != thread->stack_count)
        problem("process %u thread %u: %zu stacks in the trace, %zu in the log", pid, thread->tid,
                lanes->count, thread->stack_count);
    for (size_t i = 0; i < thread->stack_count && i < lanes->count; i++) {
        snprintf(where, sizeof where, "process %u thread %u stack %zu", pid, thread->tid, i);
        compare_stack(&lanes->lanes[i], &thread->stacks[i], where);
    }
    snprintf(where, sizeof where, "process %u thread %u handlers", pid, thread->tid);
    compare_stack(&lanes->async, &thread->async, where);
}

static size_t compare_process(struct nsc_trace *trace, const struct log_process *process)
{
    size_t events = 0;

    for (size_t i = 0; i < process->thread_count; i++) {
        struct lane_thread lanes;
        char where[64];

        lanes_read(trace, process->pid, process->threads[i].tid, &lanes);
        snprintf(where, sizeof where, "process %u thread %u", process->pid,
                 process->threads[i].tid);
        for (size_t j = 0; j < lanes.whole_count; j++) {
            check_times(&lanes.whole[j], where);
            check_depths(&lanes.whole[j], where);
            events += lanes.whole[j].count;
        }
        compare_thread(&process->threads[i], process->pid, &lanes);
        lanes_free(&lanes);
    }
    return events;
}

int main(int argc, char **argv)
{
    struct nsc_diag diag = {0};
    struct nsc_trace *trace;
    uint64_t events = 0, all = 0;
    int at = 1;

    if (at < argc && strcmp(argv[at], "--exits-on-throw") == 0) {
        exits_on_throw = true;
        at++;
    }
    if (argc - at < 2) {
        fprintf(stderr, "usage: check [--exits-on-throw] TRACE LOG...\n");
        return 2;
    }
    if (nsc_trace_open(argv[at], 0, &trace, &diag) < 0) {
        printf("%s: %s\n", argv[at], diag.message);
        return 1;
    }
    for (at++; at < argc; at++) {
        struct log_process process;

        log_read(argv[at], &process);
        events += compare_process(trace, &process);
        log_free(&process);
    }
    for (uint32_t i = 0; i < nsc_trace_info(trace)->thread_count; i++)
        all += nsc_trace_thread(trace, i)->recorded;
    if (nsc_trace_info(trace)->lost != 0)
        problem("%llu events lost", (unsigned long long)nsc_trace_info(trace)->lost);
    if (all != nsc_trace_info(trace)->events)
        problem("threads hold %llu events, the trace %llu", (unsigned long long)all,
                (unsigned long long)nsc_trace_info(trace)->events);
    if (events == 0)
        problem("no events at all");
    lanes_check_unseen(trace, problem);
    nsc_trace_close(trace);
    return problems == 0 ? 0 : 1;
}
