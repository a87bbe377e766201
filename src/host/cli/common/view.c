/*
 * view.c - shared code of the commands that read a trace; see view.h.
 */
#include "cli/common/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "util/text/units.h"

static bool is_named(const struct nsc_cli_given *given, const char *name)
{
    return strcmp(given->name, name) == 0;
}

static bool selects(const struct nsc_cli_given *given)
{
    static const char *const names[] = {"from", "to", "thread", "process", "only", "except"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_named(given, names[i]))
            return true;
    return false;
}

int nsc_cli_view_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                        struct nsc_cli_view *view)
{
    static const char *const formats[] = {
        [NSC_TABLE_ALIGNED] = "table", [NSC_TABLE_CSV] = "csv", [NSC_TABLE_JSON] = "json", NULL};
    unsigned choice = NSC_TABLE_JSON;
    int status = 0;

    if (selects(given))
        return 0;
    if (is_named(given, "format"))
        status = nsc_cli_choice(args, given, formats, &choice);
    else if (!is_named(given, "json"))
        return nsc_cli_usage(args, "nothing is known of --%s", given->name);
    if (status == 0)
        view->format = (enum nsc_table_format)choice;
    return status;
}

int nsc_cli_count(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                  uint64_t *count)
{
    if (nsc_units_parse_count(given->value, count) == 0)
        return 0;
    return nsc_cli_usage(args, "--%s wants a number such as 20 or 10k, not '%s'", given->name,
                         given->value);
}

int nsc_cli_top(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t *top)
{
    uint64_t count = 0;
    int status = nsc_cli_count(args, given, &count);

    if (status == 0 && count == 0)
        status = nsc_cli_usage(args, "--%s 0 would show nothing", given->name);
    if (status == 0)
        *top = count;
    return status;
}

int nsc_cli_share(const struct nsc_cli_args *args, const struct nsc_cli_given *given, double most,
                  double *share)
{
    char *end;
    double percent = strtod(given->value, &end);

    if (end == given->value || (*end == '%' && end[1]) || (*end && *end != '%') ||
        !(percent >= 0 && percent <= most * 100))
        return nsc_cli_usage(args, "--%s wants a share such as 0.5%%, not '%s'", given->name,
                             given->value);
    *share = percent / 100;
    return 0;
}

static int parse_time(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                      uint64_t *ns)
{
    if (nsc_units_parse_ns(given->value, ns) == 0)
        return 0;
    return nsc_cli_usage(args,
                         "--%s wants a time since the trace's start such as 250ms or 1.5s, "
                         "not '%s'",
                         given->name, given->value);
}

/* Warn about a window entirely outside the recording, which is probably a mistake. An empty window
 * within the recording is not. */
static void warn_outside(const struct nsc_trace *t, uint64_t from_ns, uint64_t to_ns)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    uint64_t first_ns = nsc_clock_ns(nsc_trace_clock(t), info->start_ticks);
    uint64_t last_ns = nsc_clock_ns(nsc_trace_clock(t), info->end_ticks);
    char first[NSC_UNITS_MAX], last[NSC_UNITS_MAX];

    if (info->events > 0 && (from_ns > last_ns || to_ns <= first_ns))
        nsc_cli_warn("nothing lies in that window: the events of %s are from %s to %s",
                     nsc_trace_name(t), nsc_units_format_time(first, first_ns),
                     nsc_units_format_time(last, last_ns));
}

static int select_window(const struct nsc_cli_args *args, struct nsc_cli_view *view)
{
    uint64_t from_ns = 0, to_ns = UINT64_MAX;
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++) {
        const struct nsc_cli_given *given = &args->options[i];

        if (is_named(given, "from"))
            status = parse_time(args, given, &from_ns);
        else if (is_named(given, "to"))
            status = parse_time(args, given, &to_ns);
    }
    if (status)
        return status;
    if (from_ns >= to_ns)
        return nsc_cli_usage(args, "--from must be before --to");
    nsc_selection_window(&view->selection, view->trace, from_ns, to_ns);
    warn_outside(view->trace, from_ns, to_ns);
    return 0;
}

static int select_threads(const struct nsc_cli_args *args, struct nsc_cli_view *view)
{
    for (size_t i = 0; i < args->option_count; i++) {
        const struct nsc_cli_given *given = &args->options[i];
        bool process = is_named(given, "process");
        int found;

        if (!process && !is_named(given, "thread"))
            continue;
        found = process ? nsc_selection_process(&view->selection, view->trace, given->value)
                        : nsc_selection_thread(&view->selection, view->trace, given->value);
        if (found < 0)
            return nsc_cli_error("out of memory");
        if (found == 0)
            return nsc_cli_error("no %s '%s' in %s (see nanoscope info --threads)", given->name,
                                 given->value, nsc_trace_name(view->trace));
    }
    return 0;
}

static int compile(const char *pattern, struct nsc_pattern **out)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (nsc_pattern_compile(pattern, out, &diag) == 0)
        return 0;
    nsc_cli_fail(&diag);
    return NSC_CLI_USAGE;
}

/* Patterns of -F and -N, compiled; both arrays have room for all options. */
struct patterns {
    struct nsc_pattern **only, **except;
    size_t only_count, except_count;
};

static int compile_patterns(const struct nsc_cli_args *args, struct patterns *p)
{
    for (size_t i = 0; i < args->option_count; i++) {
        const struct nsc_cli_given *given = &args->options[i];
        int status = 0;

        if (is_named(given, "only"))
            status = compile(given->value, &p->only[p->only_count++]);
        else if (is_named(given, "except"))
            status = compile(given->value, &p->except[p->except_count++]);
        if (status)
            return status;
    }
    return 0;
}

static void free_patterns(struct patterns *p)
{
    for (size_t i = 0; p->only && i < p->only_count; i++)
        nsc_pattern_free(p->only[i]);
    for (size_t i = 0; p->except && i < p->except_count; i++)
        nsc_pattern_free(p->except[i]);
    free(p->only);
    free(p->except);
}

static bool hides_all(const struct nsc_selection *selection, const struct nsc_trace *t)
{
    uint32_t count = nsc_trace_info(t)->function_count;

    return count > 0 && selection->hidden && !memchr(selection->hidden, 0, count);
}

static int select_functions(const struct nsc_cli_args *args, struct nsc_cli_view *view)
{
    struct nsc_selection *selection = &view->selection;
    const struct nsc_trace *t = view->trace;
    struct patterns p = {
        .only = calloc(args->option_count + 1, sizeof(*p.only)),
        .except = calloc(args->option_count + 1, sizeof(*p.except)),
    };
    int status;

    if (!p.only || !p.except)
        status = nsc_cli_error("out of memory");
    else
        status = compile_patterns(args, &p);
    if (status == 0 &&
        nsc_selection_filter(selection, t, p.only, p.only_count, p.except, p.except_count) < 0)
        status = nsc_cli_error("out of memory");
    if (status == 0 && hides_all(selection, t))
        status = nsc_cli_error("-F and -N leave no function of %s", nsc_trace_name(t));
    free_patterns(&p);
    return status;
}

int nsc_cli_view_open(const struct nsc_cli_args *args, size_t operand, struct nsc_cli_view *view)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status;

    if (nsc_formats_open(args->operands[operand], 0, &view->trace, &diag) < 0)
        return nsc_cli_fail_in(args->operands[operand], &diag);
    if (diag.message[0])
        nsc_cli_warn("%s", diag.message);
    nsc_selection_init(&view->selection);
    status = select_window(args, view);
    if (status == 0)
        status = select_threads(args, view);
    if (status == 0)
        status = select_functions(args, view);
    if (status)
        nsc_cli_view_close(view);
    return status;
}

int nsc_cli_view_open_only(const struct nsc_cli_args *args, struct nsc_cli_view *view)
{
    if (args->operand_count != 1)
        return nsc_cli_usage(args, "one trace is needed");
    return nsc_cli_view_open(args, 0, view);
}

void nsc_cli_view_close(struct nsc_cli_view *view)
{
    nsc_selection_free(&view->selection);
    nsc_left_out_free(&view->left_out);
    nsc_trace_close(view->trace);
    view->trace = NULL;
}

int nsc_cli_view_compensate(struct nsc_cli_view *view)
{
    int error = nsc_selection_compensate(&view->selection, view->trace);

    if (error == -EOPNOTSUPP)
        return nsc_cli_error(
            "%s: --compensate needs the ends of calls, and only entries were timed",
            nsc_trace_name(view->trace));
    if (error != 0)
        return nsc_cli_error("%s: the cost of its hooks was not measured when it was recorded, so "
                             "--compensate has nothing to go by",
                             nsc_trace_name(view->trace));
    return 0;
}

int nsc_cli_view_find_gaps(struct nsc_cli_view *view)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (nsc_gaps_find(view->trace, &view->selection, NULL, NULL, &view->gaps, &diag) < 0)
        return nsc_cli_fail_in(nsc_trace_name(view->trace), &diag);
    if (nsc_left_out_find(view->trace, &view->selection, &view->left_out, &diag) < 0)
        return nsc_cli_fail(&diag);
    return 0;
}

void nsc_cli_view_json_gaps(const struct nsc_cli_view *view, struct nsc_json *j)
{
    const struct nsc_gaps *gaps = &view->gaps;

    nsc_json_u64(j, "lost", gaps->lost);
    nsc_json_u64(j, "gaps", gaps->count);
    nsc_json_u64_or_null(j, "first_gap_ns", gaps->count > 0,
                         nsc_clock_ns(nsc_trace_clock(view->trace), gaps->first_ticks));
    nsc_json_u64(j, "left_out_functions", view->left_out.all_functions);
    nsc_json_bool(j, "ends_are_bounds", nsc_trace_info(view->trace)->exits_bound);
}

FILE *nsc_cli_view_remarks(const struct nsc_cli_view *view, const char **prefix)
{
    *prefix = view->format == NSC_TABLE_CSV ? "nanoscope: " : "";
    if (view->format == NSC_TABLE_JSON)
        return NULL;
    return view->format == NSC_TABLE_CSV ? stderr : stdout;
}

/* Print how many events were lost, and when. The recorder cannot always match the calls that return
 * after a gap with those open before it. Such a call counts as two. */
static void tell_gaps(const struct nsc_cli_view *view, FILE *out, const char *prefix)
{
    const struct nsc_gaps *gaps = &view->gaps;
    char events[NSC_UNITS_MAX], count[NSC_UNITS_MAX], first[NSC_UNITS_MAX];
    uint64_t elsewhere = gaps->lost > gaps->placed ? gaps->lost - gaps->placed : 0;
    bool windowed = view->selection.from_ticks > 0 || view->selection.to_ticks != UINT64_MAX;

    if (gaps->count > 0) {
        nsc_units_format_time(first, nsc_clock_ns(nsc_trace_clock(view->trace), gaps->first_ticks));
        if (gaps->placed > 0)
            fprintf(out, "%s%s %s", prefix, nsc_units_format_count(events, gaps->placed),
                    gaps->placed == 1 ? "event was lost" : "events were lost");
        else
            fprintf(out, "%sevents were lost, it is not known how many,", prefix);
        fprintf(out,
                " in %s gap%s, %s%s: calls are missing there, and a call around a gap may "
                "count as two (see nanoscope info --gaps)\n",
                nsc_units_format_count(count, gaps->count), nsc_units_plural(gaps->count),
                gaps->count == 1 ? "at " : "the first at ", first);
    }
    if (elsewhere > 0)
        fprintf(out, "%s%s %s%s\n", prefix, nsc_units_format_count(events, elsewhere),
                elsewhere == 1 ? "event was lost" : "events were lost",
                windowed          ? " outside the window, or it is not known when"
                : gaps->count > 0 ? " elsewhere: calls are missing"
                                  : ": calls are missing");
}

/* Print "calls of 12 functions were left out by the budget", one line per reason. */
static void tell_left_out(const struct nsc_cli_view *view, FILE *out, const char *prefix)
{
    static const char *const reasons[NSC_LEFT_OUT_REASONS] = {
        [NSC_LEFT_OUT_FILTER] = " by a filter",
        [NSC_LEFT_OUT_BUDGET] = " by the budget",
        [NSC_LEFT_OUT_TRIGGER] = " before a trigger",
        [NSC_LEFT_OUT_SHORT] = " where they were too short",
        [NSC_LEFT_OUT_DEPTH] = " where they were too deep",
        [NSC_LEFT_OUT_UNDER] = " outside of a caller",
        [NSC_LEFT_OUT_THREAD] = " in other threads",
    };
    const struct nsc_left_out_list *list = &view->left_out;
    char text[NSC_UNITS_MAX];

    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++) {
        const char *reason = reasons[i] != NULL ? reasons[i] : "";
        uint64_t events = nsc_left_out_events(view->trace, i);
        uint32_t count = list->functions[i];

        if (count > 0)
            fprintf(out, "%scalls of %s function%s were left out%s\n", prefix,
                    nsc_units_format_count(text, count), nsc_units_plural(count), reason);
        if (events > 0 && i == NSC_LEFT_OUT_BUDGET)
            fprintf(out,
                    "%s%s event%s of whatever functions %s left out by the budget, in gaps, whose "
                    "time is that of the calls around them\n",
                    prefix, nsc_units_format_count(text, events), nsc_units_plural(events),
                    events == 1 ? "was" : "were");
        else if (count == 0 && events > 0)
            fprintf(out, "%s%s event%s of calls %s left out%s\n", prefix,
                    nsc_units_format_count(text, events), nsc_units_plural(events),
                    events == 1 ? "was" : "were",
                    i != NSC_LEFT_OUT_OTHER ? reason
                                            : " as their functions had just been switched on");
        if (list->nothing_ns[i] > 0)
            fprintf(out, "%sfor %s all calls were left out%s\n", prefix,
                    nsc_units_format_ns(text, list->nothing_ns[i]), reason);
    }
    if (view->shows_estimates && list->worst > 0)
        fprintf(out, "%s~ marks what is estimated of them, with standard errors of up to %.0f %%\n",
                prefix, list->worst * 100 < 1 ? 1 : list->worst * 100);
    else if (view->shows_estimates)
        fprintf(out, "%s~ marks what is estimated of them\n", prefix);
    if (view->shows_least)
        fprintf(out, "%s>= marks what lacks calls of which nothing is known\n", prefix);
    if (!view->shows_estimates && list->unplaced)
        fprintf(out, "%sthey are estimated for whole processes only, not for single threads\n",
                prefix);
}

static void tell_untimed(const struct nsc_trace_info *info, uint64_t bounds, FILE *out,
                         const char *prefix)
{
    char count[NSC_UNITS_MAX + 1] = "";

    /* @bounds is 0 for callers and callees, where the number is not known. */
    if (info->some_exits_timed && bounds > 0)
        snprintf(count, sizeof count, "%s ", nsc_units_count(bounds).text);
    fprintf(out, "%sonly entries were timed%s: %scall%s may have ended earlier than is shown\n",
            prefix, info->some_exits_timed ? ", but for some modules" : "", count,
            count[0] != 0 ? nsc_units_plural(bounds) : "s");
}

void nsc_cli_view_footnotes(const struct nsc_cli_view *view, uint64_t bounds)
{
    const char *prefix;
    FILE *out = nsc_cli_view_remarks(view, &prefix);
    const struct nsc_trace_info *info = nsc_trace_info(view->trace);
    bool ends_early = view->selection.to_ticks != UINT64_MAX;
    char count[NSC_UNITS_MAX];

    if (!out)
        return;
    if (info->exits_bound)
        tell_untimed(info, bounds, out, prefix);
    else if (bounds == 1)
        fprintf(out, "%s1 call %s: its duration is an estimate\n", prefix,
                ends_early ? "is open at the window's end, or has no seen start or end"
                           : "has no seen start or end");
    else if (bounds > 0)
        fprintf(out, "%s%s calls %s: their durations are estimates\n", prefix,
                nsc_units_format_count(count, bounds),
                ends_early ? "are open at the window's end, or have no seen start or end"
                           : "have no seen start or end");
    tell_gaps(view, out, prefix);
    tell_left_out(view, out, prefix);
}

int nsc_cli_functions(const struct nsc_trace *t, const char *pattern, uint8_t **functions)
{
    struct nsc_pattern *match = NULL;
    uint8_t *fits;
    size_t found;
    int status = compile(pattern, &match);

    if (status)
        return status;
    fits = nsc_selection_functions(t, match, &found);
    nsc_pattern_free(match);
    if (!fits)
        return nsc_cli_error("out of memory");
    if (found == 0) {
        free(fits);
        return nsc_cli_error("no function fits '%s' in %s", pattern, nsc_trace_name(t));
    }
    *functions = fits;
    return 0;
}

const char *nsc_cli_thread_label(const struct nsc_trace *t, uint32_t thread, char *text,
                                 size_t bytes)
{
    const struct nsc_thread *info = nsc_trace_thread(t, thread);

    if (info->stack > 0)
        snprintf(text, bytes, "%u/%u%s%s", info->tid, info->stack, info->name[0] ? " " : "",
                 info->name);
    else
        snprintf(text, bytes, "%u%s%s", info->tid, info->name[0] ? " " : "", info->name);
    return text;
}

const char *nsc_cli_process_label(const struct nsc_trace *t, uint32_t process, char *text,
                                  size_t bytes)
{
    const struct nsc_process *info = nsc_trace_process(t, process);
    const char *base = strrchr(info->name, '/');

    snprintf(text, bytes, "%s (%u)", base && base[1] ? base + 1 : info->name, info->pid);
    return text;
}

int nsc_cli_table_status(int table_error)
{
    return table_error == -ENOMEM ? nsc_cli_error("out of memory") : NSC_CLI_OK;
}
