/* cmd_info.c - nanoscope info: print a trace's metadata and totals. Only --gaps may read events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "analyze/calls/gaps.h"
#include "analyze/calls/left_out.h"
#include "cli/analyze/info_left_out.h"
#include "cli/command.h"
#include "cli/common/reader_rights.h"
#include "cli/info_options.h"
#include "formats/formats.h"
#include "trace/read/reader.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/table.h"
#include "util/text/units.h"

#define NAME_COLUMNS                                                                               \
    16 /* width of the names in terminal columns; a longer name moves its value to the right */

/* Format the start of the recording as local time, from the first clock point. Returns false if it
 * is unknown. */
static bool start_time(const struct nsc_trace *t, char *out, size_t bytes)
{
    const struct nsc_clock_point *point = nsc_trace_clock_point(t, 0);
    struct tm local;
    time_t seconds;

    if (point == NULL || point->realtime_ns == 0)
        return false;
    seconds = (time_t)(point->realtime_ns / 1000000000u);
    return localtime_r(&seconds, &local) != NULL &&
           strftime(out, bytes, "%Y-%m-%dT%H:%M:%S%z", &local) > 0;
}

static uint64_t duration_ns(const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    const struct nsc_clock *clock = nsc_trace_clock(t);

    return nsc_clock_ns(clock, info->end_ticks) - nsc_clock_ns(clock, info->start_ticks);
}

/* Print a name and its value. */
static void line(const char *name, const char *value)
{
    size_t columns = nsc_text_put(stdout, name);

    printf("%*s", columns < NAME_COLUMNS ? (int)(NAME_COLUMNS - columns) : 1, "");
    nsc_text_put(stdout, value);
    putchar('\n');
}

static void count_line(const char *name, uint64_t count)
{
    char text[NSC_UNITS_MAX];

    line(name, nsc_units_format_count(text, count));
}

#define BUFFER_BYTES "buffer_bytes"

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Print a filter that was set during the recording. @value: "TICKS OPTIONS". */
static void show_filter(const struct nsc_trace *t, const char *value)
{
    char time[NSC_UNITS_MAX], *options, *text;
    uint64_t ticks = strtoull(value, &options, 10);

    nsc_units_format_time(time, nsc_clock_ns(nsc_trace_clock(t), ticks));
    options += *options == ' ';
    if (asprintf(&text, "from %s: %s", time, *options != 0 ? options : "none") < 0)
        return;
    line(NSC_META_FILTER, text);
    free(text);
}

/* Whether a metadata key is printed in a line of its own. */
static bool is_told_elsewhere(const char *key)
{
    static const char *const keys[] = {
        NSC_META_PROGRAM_EVENTS, BUFFER_BYTES,           NSC_META_METRICS_INTERVAL,
        NSC_META_SAMPLES_DUE,    NSC_META_SAMPLES_TAKEN, NSC_META_TIMED_FULL,
    };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return starts_with(key, "left_out_");
}

static void show_timing(const struct nsc_trace *t)
{
    for (uint32_t i = 0; i < nsc_trace_info(t)->module_count; i++)
        if (nsc_trace_timed_in_full(t, i))
            line("timed in full", nsc_trace_module(t, i)->path);
}

static void show_meta(const struct nsc_trace *t)
{
    const char *key, *value;

    for (uint32_t i = 0; nsc_trace_meta_at(t, i, &key, &value) == 0; i++) {
        if (starts_with(key, NSC_META_FILTER "."))
            show_filter(t, value);
        else if (!is_told_elsewhere(key))
            line(key, value);
    }
}

static bool meta_number(const struct nsc_trace *t, const char *key, uint64_t *out)
{
    const char *text = nsc_trace_meta(t, key);
    char *end = NULL;
    uint64_t value;

    if (text == NULL || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *out = value;
    return true;
}

/* What the program emitted: recorded + lost + left out. */
struct emitted {
    uint64_t recorded; /* events of the file that the program emitted itself */
    uint64_t added;    /* the others: added ends of calls that did not return */
    uint64_t left_out; /* events left out during the recording */
    uint64_t sum;
};

/* Returns false if the file has no number of emitted events. */
static bool find_emitted(const struct nsc_trace *t, struct emitted *e)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);

    *e = (struct emitted){0};
    if (!meta_number(t, NSC_META_PROGRAM_EVENTS, &e->recorded) || e->recorded > info->events)
        return false;
    meta_number(t, NSC_META_LEFT_OUT, &e->left_out);
    e->added = info->events - e->recorded;
    e->sum = e->recorded + info->lost + e->left_out;
    return true;
}

/* Print the number of left-out events per reason. */
static void show_left_out(const struct nsc_trace *t)
{
    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++) {
        uint64_t events = nsc_left_out_events(t, i);
        char name[32];

        snprintf(name, sizeof name, "  by %s", nsc_model_left_out_reason_name(i));
        if (events > 0)
            count_line(name, events);
    }
}

static void show_events(const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    struct emitted e;
    bool known = find_emitted(t, &e);

    count_line("events", info->events);
    if (known && e.added > 0)
        count_line("added ends", e.added);
    if (known)
        count_line("recorded", e.recorded);
    count_line("lost", info->lost);
    if (known && e.left_out > 0) {
        count_line("left out", e.left_out);
        show_left_out(t);
    }
    if (known)
        count_line("emitted", e.sum);
}

static void show_size(const struct nsc_trace_info *info)
{
    char bytes[NSC_UNITS_MAX], text[NSC_UNITS_MAX + 64];
    const char *packed = info->compressed ? ", compressed" : "";

    nsc_units_format_bytes(bytes, info->file_bytes);
    if (info->calls == 0)
        snprintf(text, sizeof text, "%s%s", bytes, packed);
    else
        snprintf(text, sizeof text, "%s, %.2f bytes a call%s", bytes,
                 (double)info->file_bytes / (double)info->calls, packed);
    line("size", text);
}

static void show_buffer(const struct nsc_trace *t)
{
    char text[NSC_UNITS_MAX];
    uint64_t bytes;

    if (meta_number(t, BUFFER_BYTES, &bytes))
        line("buffer", nsc_units_format_bytes(text, bytes));
}

/* Print the duration and the times of the first and last event, as the other commands do. */
static void show_duration(const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    const struct nsc_clock *clock = nsc_trace_clock(t);
    char span[NSC_UNITS_MAX], from[NSC_UNITS_MAX], to[NSC_UNITS_MAX];
    char text[3 * NSC_UNITS_MAX + 16];

    nsc_units_format_ns(span, duration_ns(t));
    if (info->events == 0)
        snprintf(text, sizeof text, "%s", span);
    else
        snprintf(text, sizeof text, "%s, from %s to %s", span,
                 nsc_units_format_time(from, nsc_clock_ns(clock, info->start_ticks)),
                 nsc_units_format_time(to, nsc_clock_ns(clock, info->end_ticks)));
    line("duration", text);
}

/* The wait(2) status of the recorded program, or -1. That of its child processes is not known. */
static int32_t program_status(const struct nsc_trace *t)
{
    int32_t status = -1;

    for (uint32_t i = 0; status < 0 && i < nsc_trace_info(t)->process_count; i++)
        status = nsc_trace_process(t, i)->exit_status;
    return status;
}

static void show_end(const struct nsc_trace *t)
{
    int32_t status = program_status(t);
    char text[64];

    if (status < 0)
        return;
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "by signal %d, %s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, sizeof text, "with status %d", WEXITSTATUS(status));
    line("ended", text);
}

/* The number of functions, not counting aliases. */
static uint32_t count_functions(const struct nsc_trace *t)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < nsc_trace_info(t)->function_count; i++)
        count += nsc_trace_canonical(t, i) == i;
    return count;
}

/* Print how many of the due samples were taken. There may be more than due, as a thread that goes
 * to sleep is sampled too. */
static void show_share(const struct nsc_trace *t)
{
    char interval[NSC_UNITS_MAX], share[NSC_UNITS_MAX], text[4 * NSC_UNITS_MAX];
    uint64_t interval_ns, due, taken;

    if (!meta_number(t, NSC_META_METRICS_INTERVAL, &interval_ns) ||
        !meta_number(t, NSC_META_SAMPLES_DUE, &due) ||
        !meta_number(t, NSC_META_SAMPLES_TAKEN, &taken))
        return;
    if (taken > due)
        taken = due;
    snprintf(text, sizeof text, "%llu of %llu due, %s: one every %s of CPU time",
             (unsigned long long)taken, (unsigned long long)due,
             nsc_units_format_share(share, taken, due), nsc_units_format_ns(interval, interval_ns));
    line("samples due", text);
}

/* Print the numbers of records other than calls, if they are not 0. */
static void show_notes(const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    static const char *const names[NSC_NOTE_KINDS] = {"samples", "state changes", "marks",
                                                      "counter values"};

    for (int kind = 0; kind < NSC_NOTE_KINDS; kind++)
        if (info->notes[kind] > 0)
            count_line(names[kind], info->notes[kind]);
    show_share(t);
    if (info->left_out_count > 0)
        count_line("left-out spans", info->left_out_count);
}

static void show(const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    char text[NSC_UNITS_MAX + 64];

    show_meta(t);
    show_timing(t);
    show_buffer(t);
    if (start_time(t, text, sizeof text))
        line("date", text);
    show_duration(t);
    show_end(t);
    count_line("calls", info->calls);
    show_events(t);
    count_line("processes", info->process_count);
    count_line("threads", info->system_threads);
    if (info->thread_count != info->system_threads)
        count_line("stacks", info->thread_count);
    count_line("functions", count_functions(t));
    count_line("modules", info->module_count);
    show_notes(t);
    show_size(info);
    if (!nsc_trace_clock(t)->identity) {
        snprintf(text, sizeof text, "%.6f ns a tick, %u calibration points",
                 nsc_trace_clock(t)->ns_per_tick, info->clock_count);
        line("clock", text);
    }
    if (!info->complete)
        line("incomplete", info->warning);
}

static void write_events(struct nsc_json *j, const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    struct emitted e;
    bool known = find_emitted(t, &e);

    nsc_json_u64(j, "events", info->events);
    nsc_json_u64_or_null(j, "added_ends", known, e.added);
    nsc_json_u64_or_null(j, "recorded", known, e.recorded);
    nsc_json_u64(j, "lost", info->lost);
    nsc_json_u64_or_null(j, "left_out", known, e.left_out);
    nsc_json_open_object(j, "left_out_by");
    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        if (nsc_left_out_events(t, i) > 0)
            nsc_json_u64(j, nsc_model_left_out_reason_name(i), nsc_left_out_events(t, i));
    nsc_json_close_object(j);
    nsc_json_u64_or_null(j, "emitted", known, e.sum);
}

static void write_numbers(struct nsc_json *j, const struct nsc_trace *t)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);

    int32_t status = program_status(t);
    bool signaled = status >= 0 && WIFSIGNALED(status);

    nsc_json_u64(j, "duration_ns", duration_ns(t));
    nsc_json_u64_or_null(j, "exit_status", status >= 0 && !signaled, (uint64_t)WEXITSTATUS(status));
    nsc_json_u64_or_null(j, "exit_signal", signaled, (uint64_t)WTERMSIG(status));
    nsc_json_u64(j, "calls", info->calls);
    write_events(j, t);
    nsc_json_u64(j, "lost_unattributed", info->lost_unattributed);
    nsc_json_u64(j, "processes", info->process_count);
    nsc_json_u64(j, "threads", info->system_threads);
    nsc_json_u64(j, "stacks", info->thread_count);
    nsc_json_u64(j, "functions", count_functions(t));
    nsc_json_u64(j, "modules", info->module_count);
    nsc_json_u64(j, "mappings", info->mapping_count);
    nsc_json_u64(j, "chunks", info->chunks);
    nsc_json_u64(j, "samples", info->notes[NSC_NOTE_SAMPLE]);
    nsc_json_u64(j, "state_changes", info->notes[NSC_NOTE_STATE]);
    nsc_json_u64(j, "marks", info->notes[NSC_NOTE_MARK]);
    nsc_json_u64(j, "counter_values", info->notes[NSC_NOTE_COUNTER]);
    nsc_json_u64(j, "left_out_spans", info->left_out_count);
    nsc_json_u64(j, "file_bytes", info->file_bytes);
    nsc_json_bool(j, "complete", info->complete);
    nsc_json_bool(j, "compressed", info->compressed);
    nsc_json_real(j, "ns_per_tick", nsc_trace_clock(t)->ns_per_tick, 9);
    nsc_json_text(j, "warning", info->warning[0] != '\0' ? info->warning : NULL);
}

static void write_modules(struct nsc_json *j, const struct nsc_trace *t)
{
    nsc_json_open_array(j, "module_list");
    for (uint32_t i = 0; i < nsc_trace_info(t)->module_count; i++) {
        const struct nsc_module *module = nsc_trace_module(t, i);
        char build_id[2 * sizeof module->build_id + 1] = "";

        for (uint32_t k = 0; k < module->build_id_bytes; k++)
            snprintf(build_id + (size_t)2 * k, 3, "%02x", module->build_id[k]);
        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "path", module->path);
        nsc_json_text(j, "build_id", build_id);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
}

static const struct nsc_table_column thread_columns[] = {
    {"index", "#", NSC_TABLE_NUMBER, 0},      {"pid", "PID", NSC_TABLE_NUMBER, 0},
    {"tid", "TID", NSC_TABLE_NUMBER, 0},      {"stack", "STACK", NSC_TABLE_NUMBER, 0},
    {"start_ns", "START", NSC_TABLE_TIME, 0}, {"end_ns", "END", NSC_TABLE_TIME, 0},
    {"events", "EVENTS", NSC_TABLE_COUNT, 0}, {"lost", "LOST", NSC_TABLE_COUNT, 0},
    {"name", "NAME", NSC_TABLE_TEXT, 0},      {"process", "PROCESS", NSC_TABLE_TEXT, 0},
};

/* Returns the table of threads, or NULL if memory runs out. */
static struct nsc_table *list_threads(const struct nsc_trace *t)
{
    struct nsc_table *table =
        nsc_table_new(thread_columns, sizeof thread_columns / sizeof thread_columns[0]);

    for (uint32_t i = 0; table != NULL && i < nsc_trace_info(t)->thread_count; i++) {
        const struct nsc_thread *thread = nsc_trace_thread(t, i);
        const struct nsc_process *process = nsc_trace_process(t, thread->process);

        nsc_table_add(table, i);
        nsc_table_add(table, process->pid);
        nsc_table_add(table, thread->tid);
        nsc_table_add(table, thread->stack);
        nsc_table_add(table, nsc_clock_ns(nsc_trace_clock(t), thread->start_ticks));
        nsc_table_add(table, nsc_clock_ns(nsc_trace_clock(t), thread->end_ticks));
        nsc_table_add(table, thread->recorded);
        nsc_table_add(table, thread->lost);
        nsc_table_add_text(table, thread->name);
        nsc_table_add_text(table, process->name);
    }
    return table;
}

static const struct nsc_table_column gap_columns[] = {
    {"time_ns", "TIME", NSC_TABLE_TIME, 0},  {"lost", "LOST", NSC_TABLE_COUNT, 0},
    {"pid", "PID", NSC_TABLE_NUMBER, 0},     {"tid", "TID", NSC_TABLE_NUMBER, 0},
    {"stack", "STACK", NSC_TABLE_NUMBER, 0}, {"name", "NAME", NSC_TABLE_TEXT, 0},
};

struct gap_list {
    const struct nsc_trace *trace;
    struct nsc_table *table;
};

static void list_gap(void *context, const struct nsc_gap *gap)
{
    const struct gap_list *list = context;
    const struct nsc_thread *thread = nsc_trace_thread(list->trace, gap->thread);

    nsc_table_add(list->table, nsc_clock_ns(nsc_trace_clock(list->trace), gap->ticks));
    if (gap->lost > 0)
        nsc_table_add(list->table, gap->lost);
    else
        nsc_table_add_nothing(list->table);
    nsc_table_add(list->table, nsc_trace_process(list->trace, thread->process)->pid);
    nsc_table_add(list->table, thread->tid);
    nsc_table_add(list->table, thread->stack);
    nsc_table_add_text(list->table, thread->name);
}

/* Make the table of gaps. @out: receives it. Returns 0, or an exit status after a message. */
static int list_gaps(struct nsc_trace *t, struct nsc_table **out)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct gap_list list = {t,
                            nsc_table_new(gap_columns, sizeof gap_columns / sizeof gap_columns[0])};
    struct nsc_selection all;
    struct nsc_gaps gaps;

    if (list.table == NULL)
        return nsc_cli_error("out of memory");
    nsc_selection_init(&all);
    if (nsc_gaps_find(t, &all, list_gap, &list, &gaps, &diag) != 0) {
        nsc_table_free(list.table);
        return nsc_cli_fail_in(nsc_trace_name(t), &diag);
    }
    *out = list.table;
    return 0;
}

/* Print a table, or write it to @j under @key, and free it. @table: NULL if memory ran out. Returns
 * an exit status, after a message on failure. */
static int write_table(struct nsc_table *table, struct nsc_json *j, const char *key)
{
    int error = -ENOMEM;

    if (table != NULL)
        error = j != NULL ? nsc_table_write_json(table, j, key)
                          : nsc_table_write(table, NSC_TABLE_ALIGNED, stdout);
    nsc_table_free(table);
    return error == -ENOMEM ? nsc_cli_error("out of memory") : NSC_CLI_OK;
}

/* What to print. JSON always contains the threads, the other lists only on request. */
struct wanted {
    bool json, threads, gaps, left_out;
};

static int write_json(struct nsc_trace *t, const struct wanted *wanted)
{
    struct nsc_table *gaps = NULL;
    int status = wanted->gaps ? list_gaps(t, &gaps) : 0;
    const char *key, *value;
    struct nsc_json j;
    char text[64];

    if (status != 0)
        return status;
    nsc_json_begin(&j, stdout, false);
    nsc_json_text(&j, "date", start_time(t, text, sizeof text) ? text : NULL);
    write_numbers(&j, t);
    nsc_json_open_object(&j, "meta");
    for (uint32_t i = 0; nsc_trace_meta_at(t, i, &key, &value) == 0; i++)
        nsc_json_text(&j, key, value);
    nsc_json_close_object(&j);
    write_modules(&j, t);
    status = write_table(list_threads(t), &j, "thread_list");
    if (status == 0 && gaps != NULL)
        status = write_table(gaps, &j, "gap_list");
    if (status == 0 && wanted->left_out)
        status = write_table(nsc_cli_left_out_table(t), &j, "left_out_list");
    nsc_json_end(&j);
    return status;
}

static int print(struct nsc_trace *t, const struct wanted *wanted)
{
    struct nsc_table *gaps = NULL;
    int status = 0;

    if (wanted->json)
        return write_json(t, wanted);
    if (wanted->threads)
        return write_table(list_threads(t), NULL, NULL);
    if (wanted->left_out)
        return write_table(nsc_cli_left_out_table(t), NULL, NULL);
    if (!wanted->gaps) {
        show(t);
        return NSC_CLI_OK;
    }
    status = list_gaps(t, &gaps);
    return status != 0 ? status : write_table(gaps, NULL, NULL);
}

int nsc_cmd_info(const struct nsc_cli_args *args)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_trace *t;
    struct wanted wanted = {0};
    int status;

    for (size_t i = 0; i < args->option_count; i++) {
        wanted.json |= args->options[i].id == NSC_INFO_OPT_JSON;
        wanted.threads |= args->options[i].id == NSC_INFO_OPT_THREADS;
        wanted.gaps |= args->options[i].id == NSC_INFO_OPT_GAPS;
        wanted.left_out |= args->options[i].id == NSC_INFO_OPT_LEFT_OUT;
    }
    if (args->operand_count != 1)
        return nsc_cli_usage(args, "one trace is needed");
    if (wanted.threads + wanted.gaps + wanted.left_out > 1 && !wanted.json)
        return nsc_cli_usage(args, "one of --threads, --gaps and --left-out");
    nsc_cli_confine(NULL);
    if (nsc_formats_open(args->operands[0], NSC_NST_RECOVER, &t, &diag) != 0)
        return nsc_cli_fail_in(args->operands[0], &diag);
    if (nsc_trace_info(t)->warning[0] == '\0' && diag.message[0] != '\0')
        nsc_cli_warn("%s", diag.message); /* of an import; show() prints a warning of the trace */
    status = print(t, &wanted);
    nsc_trace_close(t);
    return status;
}
