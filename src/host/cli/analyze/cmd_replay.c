/* cmd_replay.c - nanoscope replay: print all calls in the order of time, indented by depth. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/replay/replay.h"
#include "cli/common/reader_rights.h"
#include "cli/common/view.h"
#include "cli/replay_options.h"
#include "util/text/escape.h"
#include "util/text/units.h"

#define INDENT_MAX 64u /* levels; deeper calls show their depth as a number */

struct settings {
    struct nsc_cli_view view;
    uint64_t depth, limit;
};

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    switch (given->id) {
    case NSC_REPLAY_OPT_DEPTH:
        return nsc_cli_count(args, given, &s->depth);
    case NSC_REPLAY_OPT_LIMIT:
        return nsc_cli_count(args, given, &s->limit);
    default:
        return nsc_cli_view_option(args, given, &s->view);
    }
}

struct print {
    const struct nsc_trace *trace;
    enum nsc_table_format format;
    uint64_t lines, limit;
    bool cut;          /* the limit was reached */
    int thread_width;  /* columns for the thread; 0 = no such column */
    bool csv_terminal; /* CSV goes to a terminal */
    uint64_t bounds;
};

static void put_spaces(int n)
{
    printf("%*s", n > 0 ? n : 0, "");
}

/* Print "main()" for a C name. A C++ name contains its parameters already. */
static void put_function(const struct print *p, uint32_t function)
{
    const char *name = nsc_trace_function(p->trace, function)->name;

    nsc_text_put(stdout, name);
    if (!strchr(name, '('))
        fputs("()", stdout);
}

/* The text of the comment on a call, or NULL. */
static const char *remark_of(const struct nsc_replay_item *item)
{
    bool no_start = (item->bound & NSC_BOUND_START) != 0;

    if (item->open)
        return no_start ? "start not seen, still open" : "still open";
    if ((item->bound & NSC_BOUND_END) != 0 && !item->untimed)
        return no_start ? "start and end not seen" : "end not seen";
    return no_start ? "start not seen" : NULL;
}

static void put_action(const struct print *p, const struct nsc_replay_item *item)
{
    const char *remark = remark_of(item);

    switch (item->kind) {
    case NSC_REPLAY_BEGIN:
        put_function(p, item->function);
        fputs(" {", stdout);
        break;
    case NSC_REPLAY_CALL:
        put_function(p, item->function);
        putchar(';');
        if (remark)
            printf(" /* %s */", remark);
        break;
    case NSC_REPLAY_END:
    case NSC_REPLAY_LATE:
        fputs("} /* ", stdout);
        nsc_text_put(stdout, nsc_trace_function(p->trace, item->function)->name);
        printf("%s%s */", remark ? ": " : "", remark ? remark : "");
        break;
    case NSC_REPLAY_LOST:
        if (item->lost == 0)
            fputs("/* events lost, not known how many */", stdout);
        else
            printf("/* %" PRIu64 " event%s lost */", item->lost, nsc_units_plural(item->lost));
        break;
    case NSC_REPLAY_LEFT_OUT:
        printf("/* %" PRIu64 " event%s left out by the budget */", item->lost,
               nsc_units_plural(item->lost));
        break;
    case NSC_REPLAY_MARK:
        fputs("/* mark ", stdout);
        nsc_text_put(stdout, item->mark->name);
        if (item->mark->metadata[0] != 0) {
            fputs(": ", stdout);
            nsc_text_put(stdout, item->mark->metadata);
        }
        printf("%s */", item->mark->cut ? "..." : "");
        break;
    }
}

static void print_line(const struct print *p, const struct nsc_replay_item *item)
{
    const struct nsc_clock *clock = nsc_trace_clock(p->trace);
    char time[NSC_UNITS_MAX], duration[NSC_UNITS_MAX] = "", label[128];
    char shown[NSC_UNITS_MAX + 1];

    nsc_units_format_time(time, nsc_clock_ns(clock, item->ticks));
    if (item->kind == NSC_REPLAY_CALL || item->kind == NSC_REPLAY_END)
        nsc_units_format_ns(duration, nsc_clock_span_ns(clock, item->duration_ticks));
    snprintf(shown, sizeof shown, "%s%s", item->untimed && duration[0] != 0 ? "~" : "", duration);
    printf("%14s %13s  ", time, shown);
    if (p->thread_width > 0) {
        size_t own = nsc_text_put(
            stdout, nsc_cli_thread_label(p->trace, item->thread, label, sizeof(label)));

        put_spaces(p->thread_width - (int)own + 2);
    }
    put_spaces(2 * (int)(item->depth < INDENT_MAX ? item->depth : INDENT_MAX));
    if (item->depth > INDENT_MAX)
        printf("[%" PRIu32 "] ", item->depth);
    put_action(p, item);
    putchar('\n');
}

static const char *kind_name(enum nsc_replay_kind kind)
{
    static const char *const names[] = {"begin", "end",      "call", "late_end",
                                        "lost",  "left_out", "mark"};

    return names[kind];
}

static bool has_duration(const struct nsc_replay_item *item)
{
    return item->kind == NSC_REPLAY_CALL || item->kind == NSC_REPLAY_END;
}

static void print_json(const struct print *p, const struct nsc_replay_item *item)
{
    const struct nsc_clock *clock = nsc_trace_clock(p->trace);
    const struct nsc_thread *thread = nsc_trace_thread(p->trace, item->thread);
    struct nsc_json j;

    nsc_json_begin(&j, stdout, true);
    nsc_json_text(&j, "kind", kind_name(item->kind));
    nsc_json_u64(&j, "time_ns", nsc_clock_ns(clock, item->ticks));
    if (has_duration(item))
        nsc_json_u64(&j, "duration_ns", nsc_clock_span_ns(clock, item->duration_ticks));
    nsc_json_u64(&j, "pid", nsc_trace_process(p->trace, thread->process)->pid);
    nsc_json_u64(&j, "tid", thread->tid);
    nsc_json_u64(&j, "stack", thread->stack);
    nsc_json_u64(&j, "depth", item->depth);
    if (item->function != NSC_NO_ID)
        nsc_json_text(&j, "function", nsc_trace_function(p->trace, item->function)->name);
    if (item->bound)
        nsc_json_text(&j, "bound", nsc_model_bound_name(item->bound));
    if (item->kind == NSC_REPLAY_LOST)
        nsc_json_u64(&j, "lost", item->lost);
    if (item->kind == NSC_REPLAY_LEFT_OUT)
        nsc_json_u64(&j, "left_out", item->lost);
    if (item->kind == NSC_REPLAY_MARK) {
        nsc_json_text(&j, "name", item->mark->name);
        nsc_json_text(&j, "text", item->mark->metadata);
    }
    nsc_json_end(&j);
}

static void print_csv(const struct print *p, const struct nsc_replay_item *item)
{
    const struct nsc_clock *clock = nsc_trace_clock(p->trace);
    const struct nsc_thread *thread = nsc_trace_thread(p->trace, item->thread);

    printf("%s,%" PRIu64 ",", kind_name(item->kind), nsc_clock_ns(clock, item->ticks));
    if (has_duration(item))
        printf("%" PRIu64, nsc_clock_span_ns(clock, item->duration_ticks));
    printf(",%u,%u,%u,%" PRIu32 ",", nsc_trace_process(p->trace, thread->process)->pid, thread->tid,
           thread->stack, item->depth);
    if (item->function != NSC_NO_ID)
        nsc_text_put_csv(stdout, nsc_trace_function(p->trace, item->function)->name,
                         p->csv_terminal);
    printf(",%s,", item->bound ? nsc_model_bound_name(item->bound) : "");
    if (item->kind == NSC_REPLAY_LOST || item->kind == NSC_REPLAY_LEFT_OUT)
        printf("%" PRIu64, item->lost);
    putchar(',');
    if (item->kind == NSC_REPLAY_MARK) {
        nsc_text_put_csv(stdout, item->mark->name, p->csv_terminal);
        putchar(',');
        nsc_text_put_csv(stdout, item->mark->metadata, p->csv_terminal);
    } else {
        putchar(',');
    }
    putchar('\n');
}

static bool print_item(void *context, const struct nsc_replay_item *item)
{
    struct print *p = context;

    if (p->lines == p->limit) {
        p->cut = true;
        return false;
    }
    p->lines++;
    p->bounds += item->bound != 0 && item->kind != NSC_REPLAY_BEGIN;
    if (p->format == NSC_TABLE_JSON)
        print_json(p, item);
    else if (p->format == NSC_TABLE_CSV)
        print_csv(p, item);
    else
        print_line(p, item);
    return !ferror(stdout); /* stop if the reader has closed the pipe */
}

/* The width of the thread column: that of the widest label; 0 (no column) for a single thread. */
static int find_thread_width(const struct nsc_trace *t, const struct nsc_selection *selection)
{
    uint32_t count = nsc_trace_info(t)->thread_count, selected = 0;
    size_t width = 0;

    for (uint32_t i = 0; i < count; i++) {
        char label[128];
        size_t own;

        if (!nsc_selection_has_thread(selection, i))
            continue;
        own = nsc_text_width(nsc_cli_thread_label(t, i, label, sizeof(label)));
        width = own > width ? own : width;
        selected++;
    }
    return selected > 1 ? (int)width : 0;
}

static void print_heading(const struct print *p)
{
    bool colour = nsc_text_wants_colour(stdout);

    if (p->format == NSC_TABLE_CSV)
        puts("kind,time_ns,duration_ns,pid,tid,stack,depth,function,bound,lost,mark,text");
    if (p->format != NSC_TABLE_ALIGNED)
        return;
    printf("%s%13s %13s  ", colour ? "\x1b[1m" : "", "TIME", "DURATION");
    if (p->thread_width > 0)
        printf("%-*s  ", p->thread_width, "THREAD");
    printf("FUNCTION%s\n", colour ? "\x1b[0m" : "");
}

/* Print what --limit cut off, and what was not recorded. */
static int print_footnotes(struct settings *s, const struct print *p)
{
    const char *prefix;
    FILE *out = nsc_cli_view_remarks(&s->view, &prefix);

    if (p->cut)
        fprintf(out ? out : stderr, "%sthere is more: only %" PRIu64 " %s asked for (--limit)\n",
                out ? prefix : "nanoscope: ", s->limit, s->limit == 1 ? "line was" : "lines were");
    if (out) {
        int status = nsc_cli_view_find_gaps(&s->view);

        if (status)
            return status;
        nsc_cli_view_footnotes(&s->view, p->bounds);
    }
    return 0;
}

static int run(struct settings *s)
{
    uint32_t depth = s->depth < UINT32_MAX ? (uint32_t)s->depth : UINT32_MAX;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_trace *t = s->view.trace;
    struct print p = {.trace = t, .format = s->view.format, .limit = s->limit};

    p.thread_width = find_thread_width(t, &s->view.selection);
    p.csv_terminal = nsc_text_is_terminal(stdout);
    print_heading(&p);
    if (nsc_replay(t, &s->view.selection, depth, print_item, &p, &diag) < 0)
        return nsc_cli_fail_in(nsc_trace_name(t), &diag);
    return ferror(stdout) ? 0 : print_footnotes(s, &p);
}

int nsc_cmd_replay(const struct nsc_cli_args *args)
{
    struct settings s = {.depth = UINT64_MAX, .limit = UINT64_MAX};
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    nsc_cli_confine(NULL);
    if (status == 0)
        status = nsc_cli_view_open_only(args, &s.view);
    if (status)
        return status;
    status = run(&s);
    nsc_cli_view_close(&s.view);
    return status;
}
