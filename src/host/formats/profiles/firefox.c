/*
 * firefox.c - write a trace as a processed profile of the Firefox Profiler. Called through
 * exporters.c.
 *
 * Each interval without a stack change becomes a sample, weighted with its duration. The file
 * stores samples in columns, so each thread is walked once per column. The Firefox Profiler
 * upgrades older versions of the format.
 * Source: firefox-devtools/profiler, docs-developer/CHANGELOG-formats.md and src/types/profile.js.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/call_paths.h"
#include "formats/export/export.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

static const char file_start[] = "{\"meta\":{\"preprocessedProfileVersion\":48,";

enum column { COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT, COLUMNS };

struct firefox {
    struct nsc_export *job;
    struct nsc_output *out;
    struct nsc_paths paths;  /* of the thread */
    uint32_t *local;         /* by function id: its number in the thread */
    uint32_t *stamps;        /* by function id: thread + 1 for which local[] is valid */
    uint32_t *functions;     /* by number in the thread */
    uint32_t function_count; /* in the thread */
    uint64_t samples;        /* of the thread */
    uint64_t first_ns, last_ns;
    uint64_t momentary; /* calls with zero duration, which are not in the file */
    bool any_thread;
};

static void put_text(struct firefox *f, const char *text)
{
    nsc_output_text(f->out, text);
}

static int put_json(struct firefox *f, const char *text)
{
    size_t bytes;
    char *json = nsc_names_json(text, &bytes);

    if (json == NULL)
        return -ENOMEM;
    nsc_output_put(f->out, json, bytes);
    free(json);
    return 0;
}

static void put_ms(struct firefox *f, uint64_t ns)
{
    char text[40];

    snprintf(text, sizeof text, "%llu.%06u", (unsigned long long)(ns / 1000000),
             (unsigned)(ns % 1000000));
    put_text(f, text);
}

/* Writes @key and a JSON array with @count copies of @text. */
static void put_repeated(struct firefox *f, const char *key, const char *text, uint64_t count)
{
    put_text(f, key);
    for (uint64_t i = 0; i < count; i++) {
        put_text(f, i > 0 ? "," : "[");
        put_text(f, text);
    }
    put_text(f, count > 0 ? "]" : "[]");
}

/* Writes @key and a JSON array of value(f, 0) to value(f, count - 1); UINT32_MAX becomes null. */
static void put_column(struct firefox *f, const char *key, uint32_t count,
                       uint32_t (*value)(const struct firefox *f, uint32_t index))
{
    put_text(f, key);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = value(f, i);

        put_text(f, i > 0 ? "," : "[");
        if (number == UINT32_MAX)
            put_text(f, "null");
        else
            nsc_output_u64(f->out, number);
    }
    put_text(f, count > 0 ? "]" : "[]");
}

/* ---- Samples ------------------------------------------------------------------------------ */

/* Writes one column of a sample: from @ns on, for @span_ns, the stack was @path. */
static void put_sample(struct firefox *f, enum column column, uint32_t path, uint64_t ns,
                       uint64_t span_ns)
{
    put_text(f, f->samples++ > 0 ? "," : "[");
    if (column == COLUMN_TIME)
        put_ms(f, ns);
    else if (column == COLUMN_WEIGHT)
        put_ms(f, span_ns);
    else if (path == NSC_PATHS_ROOT)
        put_text(f, "null");
    else
        nsc_output_u64(f->out, path);
}

static int step(struct firefox *f, enum column column, const struct nsc_walk_event *e)
{
    uint64_t ns = nsc_clock_ns(f->job->clock, e->ticks);

    if (e->kind != NSC_WALK_BEGIN && e->kind != NSC_WALK_END)
        return 0;
    if (f->last_ns == UINT64_MAX)
        f->first_ns = ns;
    else if (ns > f->last_ns)
        put_sample(f, column, nsc_paths_current(&f->paths, NSC_PATHS_ROOT), f->last_ns,
                   ns - f->last_ns);
    if (column == COLUMN_STACK && e->kind == NSC_WALK_END)
        f->momentary += ns == nsc_clock_ns(f->job->clock, e->start_ticks);
    f->last_ns = ns;
    if (nsc_paths_step(&f->paths, NSC_PATHS_ROOT, e) != 0)
        return -ENOMEM;
    return nsc_output_error(f->out);
}

/* Writes one column, with one pass over the thread. Only the first pass counts the exported calls.
 */
static int put_samples(struct firefox *f, enum column column, uint32_t thread,
                       struct nsc_diag *diag)
{
    static const char *const keys[COLUMNS] = {
        "\"samples\":{\"stack\":", ",\"time\":", ",\"weight\":"};
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    int more = 0, error = nsc_export_walk(f->job, thread, false, &walk, diag);

    if (error != 0)
        return error;
    put_text(f, keys[column]);
    f->samples = 0;
    f->last_ns = UINT64_MAX;
    while (error == 0) {
        more = column == COLUMN_STACK ? nsc_export_next(f->job, thread, walk, &event, diag)
                                      : nsc_walk_next(walk, &event, diag);
        if (more <= 0)
            break;
        error = step(f, column, &event);
    }
    put_sample(f, column, NSC_PATHS_ROOT, f->last_ns, 0);
    put_text(f, "]");
    if (column == COLUMN_STACK)
        nsc_export_walked(f->job, walk);
    else
        nsc_walk_close(walk);
    if (error == -ENOMEM && nsc_output_error(f->out) == 0)
        return nsc_paths_no_memory(&f->paths, diag);
    return more < 0 ? more : 0; /* nsc_output_finish() reports output errors */
}

/* ---- Tables of a thread ------------------------------------------------------------------- */

static uint32_t parent_of(const struct firefox *f, uint32_t path)
{
    return f->paths.all[path].parent;
}

static uint32_t frame_of(const struct firefox *f, uint32_t path)
{
    return f->local[f->paths.all[path].function];
}

static uint32_t same(const struct firefox *f, uint32_t number)
{
    (void)f;
    return number;
}

static const struct nsc_function *function_of(const struct firefox *f, uint32_t number)
{
    return nsc_trace_function(f->job->trace, f->functions[number]);
}

static uint32_t line_of(const struct firefox *f, uint32_t number)
{
    uint32_t line = function_of(f, number)->line;

    return line > 0 ? line : UINT32_MAX;
}

/* Index of a function's file in the string table, which holds all function names, then their files.
 */
static uint32_t file_of(const struct firefox *f, uint32_t number)
{
    return function_of(f, number)->file[0] != '\0' ? f->function_count + number : UINT32_MAX;
}

static void number_functions(struct firefox *f, uint32_t thread)
{
    f->function_count = 0;
    for (uint32_t i = 0; i < f->paths.count; i++) {
        uint32_t function = f->paths.all[i].function;

        if (f->stamps[function] == thread + 1)
            continue;
        f->stamps[function] = thread + 1;
        f->local[function] = f->function_count;
        f->functions[f->function_count++] = function;
    }
}

static void put_length(struct firefox *f, const char *key, uint64_t length)
{
    put_text(f, key);
    nsc_output_u64(f->out, length);
}

static void put_tables(struct firefox *f)
{
    uint32_t paths = f->paths.count, functions = f->function_count;

    put_length(f, ",\n\"stackTable\":{\"length\":", paths);
    put_column(f, ",\"prefix\":", paths, parent_of);
    put_column(f, ",\"frame\":", paths, frame_of);
    put_repeated(f, ",\"category\":", "0", paths);
    put_repeated(f, ",\"subcategory\":", "0", paths);
    put_length(f, "},\n\"frameTable\":{\"length\":", functions);
    put_column(f, ",\"func\":", functions, same);
    put_column(f, ",\"line\":", functions, line_of);
    put_repeated(f, ",\"address\":", "-1", functions);
    put_repeated(f, ",\"inlineDepth\":", "0", functions);
    put_repeated(f, ",\"category\":", "0", functions);
    put_repeated(f, ",\"subcategory\":", "0", functions);
    put_repeated(f, ",\"nativeSymbol\":", "null", functions);
    put_repeated(f, ",\"innerWindowID\":", "null", functions);
    put_repeated(f, ",\"implementation\":", "null", functions);
    put_repeated(f, ",\"column\":", "null", functions);
    put_length(f, "},\n\"funcTable\":{\"length\":", functions);
    put_column(f, ",\"name\":", functions, same);
    put_column(f, ",\"fileName\":", functions, file_of);
    put_column(f, ",\"lineNumber\":", functions, line_of);
    put_repeated(f, ",\"isJS\":", "false", functions);
    put_repeated(f, ",\"relevantForJS\":", "false", functions);
    put_repeated(f, ",\"resource\":", "-1", functions);
    put_repeated(f, ",\"columnNumber\":", "null", functions);
    put_text(f, "},\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],"
                "\"type\":[]},\n"
                "\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],"
                "\"libIndex\":[],\"name\":[]},\n"
                "\"markers\":{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],"
                "\"name\":[],\"phase\":[],\"startTime\":[]},\n");
}

static int put_strings(struct firefox *f)
{
    int error = 0;

    put_text(f, "\"stringArray\":[");
    for (uint32_t i = 0; i < f->function_count && error == 0; i++) {
        const struct nsc_cooked *name = nsc_export_name(f->job, f->functions[i]);

        if (name == NULL)
            return -ENOMEM;
        put_text(f, i > 0 ? "," : "");
        nsc_output_put(f->out, name->text, name->bytes);
    }
    for (uint32_t i = 0; i < f->function_count && error == 0; i++) {
        put_text(f, ",");
        error = put_json(f, function_of(f, i)->file);
    }
    put_text(f, "]");
    return error;
}

/* Starts a thread. A further stack becomes a thread of its own, with a tid (stack number << 32)
 * that no thread of the system has. */
static int put_thread_head(struct firefox *f, uint32_t id)
{
    const struct nsc_thread *thread = nsc_trace_thread(f->job->trace, id);
    const struct nsc_process *process = nsc_trace_process(f->job->trace, thread->process);
    char text[160];
    int error;

    put_text(f, f->any_thread ? ",\n{\"name\":" : "\n{\"name\":");
    f->any_thread = true;
    error = put_json(f, thread->name);
    put_text(f, ",\"processName\":");
    if (error == 0)
        error = put_json(f, process->name);
    snprintf(text, sizeof text,
             ",\"pid\":\"%u\",\"tid\":%llu,\"isMainThread\":%s,\"processType\":\"default\","
             "\"pausedRanges\":[],\n",
             process->pid, (unsigned long long)thread->tid + ((uint64_t)thread->stack << 32),
             thread->tid == process->pid && thread->stack == 0 ? "true" : "false");
    put_text(f, text);
    return error;
}

static int put_thread_tail(struct firefox *f, uint32_t thread)
{
    int error;

    put_length(f, ",\"weightType\":\"tracing-ms\",\"length\":", f->samples);
    put_text(f, "}");
    number_functions(f, thread);
    put_tables(f);
    error = put_strings(f);
    put_text(f, ",\n\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":");
    put_ms(f, f->first_ns);
    put_text(f, ",\"unregisterTime\":null}");
    return error;
}

static int export_thread(struct firefox *f, uint32_t thread, struct nsc_diag *diag)
{
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    int more, error = nsc_export_walk(f->job, thread, false, &walk, diag);

    if (error != 0)
        return error;
    more = nsc_walk_next(walk, &event, diag);
    nsc_walk_close(walk);
    if (more <= 0) /* nothing in the window */
        return more;
    f->paths = (struct nsc_paths){.max_depth = UINT32_MAX};
    if (put_thread_head(f, thread) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (int column = 0; column < COLUMNS && error == 0; column++)
        error = put_samples(f, (enum column)column, thread, diag);
    if (error == 0 && nsc_output_error(f->out) == 0 && put_thread_tail(f, thread) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    nsc_paths_free(&f->paths);
    return error;
}

/* ---- The file ----------------------------------------------------------------------------- */

static int put_meta(struct firefox *f)
{
    int error;

    put_text(f, file_start);
    put_text(f, "\"version\":24,\"interval\":1,\"processType\":0,\"debug\":false,"
                "\"symbolicated\":true,\"startTime\":");
    put_ms(f, nsc_trace_zero(f->job->trace).realtime_ns);
    put_text(f, ",\"product\":");
    error = put_json(f, f->job->info->process_count > 0 ? nsc_trace_process(f->job->trace, 0)->name
                                                        : "");
    put_text(f, ",\n\"importedFrom\":\"nanoscope " NSC_VERSION "\",\"stackwalk\":1,"
                "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
                "\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],"
                "\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},"
                "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\","
                "\"subcategories\":[\"Other\"]}]},\n"
                "\"libs\":[],\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n"
                "\"threads\":[");
    return error;
}

static int put_threads(struct firefox *f, struct nsc_diag *diag)
{
    size_t functions = (size_t)f->job->info->function_count + 1;
    int error = 0;

    f->local = calloc(functions, sizeof *f->local);
    f->stamps = calloc(functions, sizeof *f->stamps);
    f->functions = calloc(functions, sizeof *f->functions);
    if (f->local == NULL || f->stamps == NULL || f->functions == NULL || put_meta(f) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < f->job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(f->job, i))
            error = export_thread(f, i, diag);
    put_text(f, "\n]}\n");
    return error;
}

static int export_firefox(struct nsc_export *job, struct nsc_diag *diag)
{
    struct firefox f = {.job = job};
    int error = nsc_output_create(job->path, job->gzip, &f.out, diag);

    if (error != 0)
        return error;
    error = put_threads(&f, diag);
    if (f.momentary > 0)
        nsc_job_notes_add(&job->result->notes,
                          "the Firefox Profiler has no place for %s call%s of no time",
                          nsc_units_count(f.momentary).text, f.momentary == 1 ? "" : "s");
    nsc_export_note_unmarked(job, "the Firefox Profiler's format");
    nsc_export_note_left_out(job, "the Firefox Profiler's format, as written here,", ~0u);
    free(f.local);
    free(f.stamps);
    free(f.functions);
    return nsc_export_publish(job, f.out, error, diag);
}

static bool sniff_firefox(const uint8_t *bytes, size_t count)
{
    return count >= sizeof file_start - 1 && memcmp(bytes, file_start, sizeof file_start - 1) == 0;
}

static const char *const firefox_suffixes[] = {".firefox.json", ".firefox", NULL};

const struct nsc_exporter nsc_firefox_exporter = {
    .name = "firefox",
    .suffixes = firefox_suffixes,
    .sniff = sniff_firefox,
    .cook = nsc_names_json,
    .run = export_firefox,
};
