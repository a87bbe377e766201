/*
 * parquet_export.c - write the calls of a trace as a Parquet file: the SQL table `calls` with the
 * names of functions, threads and processes. Called through exporters.c.
 *
 * Rows are collected per row group. Apart from that, memory grows with the number of calls only by
 * the footer: about 2 KiB per row group.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/calls.h"
#include "analyze/calls/gaps.h"
#include "formats/export/export.h"
#include "formats/parquet/parquet_file.h"
#include "util/array.h"
#include "util/text/name_text.h"

#define GROUP_ROWS   131072u
#define THREAD_SHIFT 40 /* position of the thread id in call_id, as in host/query */
#define NO_CALL      (-1)

enum column {
    CALL_ID,
    PARENT_ID,
    THREAD_ID,
    FUNCTION_ID,
    DEPTH,
    START_NS,
    DURATION_NS,
    SELF_NS,
    BOUND,
    FUNCTION,
    MODULE,
    THREAD,
    TID,
    PROCESS,
    PID,
    COLUMNS,
};

/* INT32 is signed. pid and tid may use all 32 bits, so they need INT64. */
static const struct nsc_parquet_column columns[COLUMNS] = {
    [CALL_ID] = {"call_id", NSC_PARQUET_INT64, false},
    [PARENT_ID] = {"parent_id", NSC_PARQUET_INT64, true},
    [THREAD_ID] = {"thread_id", NSC_PARQUET_INT32, false},
    [FUNCTION_ID] = {"function_id", NSC_PARQUET_INT32, false},
    [DEPTH] = {"depth", NSC_PARQUET_INT32, false},
    [START_NS] = {"start_ns", NSC_PARQUET_INT64, false},
    [DURATION_NS] = {"duration_ns", NSC_PARQUET_INT64, false},
    [SELF_NS] = {"self_ns", NSC_PARQUET_INT64, false},
    [BOUND] = {"bound", NSC_PARQUET_TEXT, true},
    [FUNCTION] = {"function", NSC_PARQUET_TEXT, false},
    [MODULE] = {"module", NSC_PARQUET_TEXT, true},
    [THREAD] = {"thread", NSC_PARQUET_TEXT, false},
    [TID] = {"tid", NSC_PARQUET_INT64, false},
    [PROCESS] = {"process", NSC_PARQUET_TEXT, false},
    [PID] = {"pid", NSC_PARQUET_INT64, false},
};

/* Number columns that are stored per row. */
enum number { N_CALL, N_PARENT, N_DEPTH, N_START, N_DURATION, N_SELF, NUMBERS };

/* Distinct texts of a column in one row group. */
struct texts {
    struct nsc_names names;
    struct nsc_parquet_value *values;
    uint32_t count, room;
};

struct parquet {
    struct nsc_export *job;
    struct nsc_output *out;
    struct nsc_parquet *file;
    int64_t *numbers[NUMBERS];
    uint32_t *functions; /* per row: index into `used` */
    uint32_t *threads;   /* per row: thread id */
    uint32_t *bounds;    /* per row: NSC_BOUND_* */
    uint32_t *index;     /* scratch */
    int64_t *scratch;
    uint32_t rows;
    /* Functions of the current row group. */
    struct nsc_parquet_value *used;
    uint32_t *slot_of; /* by function id: index into `used` plus 1; 0 = not in the group */
    uint32_t used_count, used_room;
    uint32_t last_thread;
    bool no_memory;
};

static bool allocate(struct parquet *p)
{
    bool all = true;

    for (int i = 0; i < NUMBERS; i++) {
        p->numbers[i] = calloc(GROUP_ROWS, sizeof *p->numbers[i]);
        all = all && p->numbers[i] != NULL;
    }
    p->functions = calloc(GROUP_ROWS, sizeof *p->functions);
    p->threads = calloc(GROUP_ROWS, sizeof *p->threads);
    p->bounds = calloc(GROUP_ROWS, sizeof *p->bounds);
    p->index = calloc(GROUP_ROWS, sizeof *p->index);
    p->scratch = calloc(GROUP_ROWS, sizeof *p->scratch);
    p->slot_of = calloc((size_t)p->job->info->function_count + 1, sizeof *p->slot_of);
    return all && p->functions != NULL && p->threads != NULL && p->bounds != NULL &&
           p->index != NULL && p->scratch != NULL && p->slot_of != NULL;
}

static void release(struct parquet *p)
{
    for (int i = 0; i < NUMBERS; i++)
        free(p->numbers[i]);
    free(p->functions);
    free(p->threads);
    free(p->bounds);
    free(p->index);
    free(p->scratch);
    free(p->slot_of);
    free(p->used);
    nsc_parquet_free(p->file);
}

/* ---- A row group ----------------------------------------------------------------------------- */

/* Returns the index of a text, which is added if it is new. UINT32_MAX when out of memory. */
static uint32_t index_of(struct texts *t, const char *name)
{
    struct nsc_parquet_value *grown;
    struct nsc_names_entry *entry;
    uint32_t index = UINT32_MAX;
    size_t bytes;
    char *clean = nsc_names_utf8(name, &bytes);

    if (clean == NULL)
        return UINT32_MAX;
    grown = nsc_array_grow(t->values, &t->room, t->count, sizeof *grown);
    if (grown != NULL) {
        t->values = grown;
        if (nsc_names_find(&t->names, clean, bytes, &entry) == 0) {
            if (entry->id == UINT32_MAX) {
                entry->id = t->count++;
                grown[entry->id] = (struct nsc_parquet_value){entry->text, entry->bytes, 0};
            }
            index = entry->id;
        }
    }
    free(clean);
    return index;
}

static void free_texts(struct texts *t)
{
    nsc_names_free(&t->names);
    free(t->values);
}

static const char *module_of(const struct nsc_trace *t, uint32_t function)
{
    uint32_t module = nsc_trace_function(t, function)->module;

    return module != NSC_NO_ID ? nsc_trace_module(t, module)->path : NULL;
}

static const char *text_of(const struct nsc_trace *t, enum column column, uint32_t id)
{
    if (column == FUNCTION)
        return nsc_trace_function(t, id)->name;
    if (column == MODULE)
        return module_of(t, id);
    if (column == THREAD)
        return nsc_trace_thread(t, id)->name;
    return nsc_trace_process(t, nsc_trace_thread(t, id)->process)->name;
}

/* Writes a function or module column: a text per function in use, then an index per row. */
static void put_function_texts(struct parquet *p, enum column column)
{
    uint32_t *of_slot = calloc((size_t)p->used_count + 1, sizeof *of_slot);
    struct texts texts = {.count = 0};

    for (uint32_t i = 0; i < p->used_count && of_slot != NULL; i++) {
        const char *text = text_of(p->job->trace, column, (uint32_t)p->used[i].number);

        of_slot[i] = text != NULL ? index_of(&texts, text) : UINT32_MAX;
        p->no_memory |= text != NULL && of_slot[i] == UINT32_MAX;
    }
    p->no_memory |= of_slot == NULL;
    for (uint32_t i = 0; i < p->rows && !p->no_memory; i++)
        p->index[i] = of_slot[p->functions[i]];
    if (!p->no_memory)
        nsc_parquet_put_chosen(p->file, texts.values, texts.count, p->index);
    free(of_slot);
    free_texts(&texts);
}

/* Writes a thread or process column. Consecutive rows of one thread need one lookup only. */
static void put_thread_texts(struct parquet *p, enum column column)
{
    struct texts texts = {.count = 0};

    for (uint32_t i = 0; i < p->rows && !p->no_memory; i++) {
        if (i > 0 && p->threads[i] == p->threads[i - 1]) {
            p->index[i] = p->index[i - 1];
            continue;
        }
        p->index[i] = index_of(&texts, text_of(p->job->trace, column, p->threads[i]));
        p->no_memory |= p->index[i] == UINT32_MAX;
    }
    if (!p->no_memory)
        nsc_parquet_put_chosen(p->file, texts.values, texts.count, p->index);
    free_texts(&texts);
}

static void put_thread_numbers(struct parquet *p, enum column column)
{
    const struct nsc_trace *t = p->job->trace;

    for (uint32_t i = 0; i < p->rows; i++) {
        const struct nsc_thread *thread = nsc_trace_thread(t, p->threads[i]);
        uint32_t number = p->threads[i];

        if (column == TID)
            number = thread->tid;
        else if (column == PID)
            number = nsc_trace_process(t, thread->process)->pid;
        p->scratch[i] = number;
    }
    nsc_parquet_put_numbers(p->file, p->scratch, 0);
}

/* Writes the bound column. The dictionary holds only those of the three values that occur. */
static void put_bounds(struct parquet *p)
{
    struct nsc_parquet_value values[3];
    uint32_t index[4], count = 0;
    bool any[4] = {false};

    for (uint32_t i = 0; i < p->rows; i++)
        any[p->bounds[i]] = true;
    index[0] = UINT32_MAX;
    for (uint32_t bound = 1; bound < 4; bound++) {
        const char *name = nsc_model_bound_name(bound);

        index[bound] = count;
        if (any[bound])
            values[count++] = (struct nsc_parquet_value){name, strlen(name), 0};
    }
    for (uint32_t i = 0; i < p->rows; i++)
        p->index[i] = index[p->bounds[i]];
    nsc_parquet_put_chosen(p->file, values, count, p->index);
}

static void put_column(struct parquet *p, enum column column)
{
    static const enum number number_of[COLUMNS] = {
        [CALL_ID] = N_CALL,   [PARENT_ID] = N_PARENT,     [DEPTH] = N_DEPTH,
        [START_NS] = N_START, [DURATION_NS] = N_DURATION, [SELF_NS] = N_SELF,
    };

    switch (column) {
    case THREAD_ID:
    case TID:
    case PID:
        put_thread_numbers(p, column);
        break;
    case FUNCTION_ID:
        nsc_parquet_put_chosen(p->file, p->used, p->used_count, p->functions);
        break;
    case FUNCTION:
    case MODULE:
        put_function_texts(p, column);
        break;
    case THREAD:
    case PROCESS:
        put_thread_texts(p, column);
        break;
    case BOUND:
        put_bounds(p);
        break;
    case CALL_ID:
    case PARENT_ID:
    case DEPTH:
    case START_NS:
    case DURATION_NS:
    case SELF_NS:
    case COLUMNS:
        nsc_parquet_put_numbers(p->file, p->numbers[number_of[column]], NO_CALL);
        break;
    }
}

static void put_group(struct parquet *p)
{
    if (p->rows == 0)
        return;
    nsc_parquet_begin_group(p->file, p->rows);
    for (int i = 0; i < COLUMNS && !p->no_memory; i++)
        put_column(p, (enum column)i);
    nsc_parquet_end_group(p->file);
    for (uint32_t i = 0; i < p->used_count; i++)
        p->slot_of[p->used[i].number] = 0;
    p->used_count = 0;
    p->rows = 0;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static uint32_t slot_of(struct parquet *p, uint32_t function)
{
    struct nsc_parquet_value *grown;

    if (p->slot_of[function] != 0)
        return p->slot_of[function] - 1;
    grown = nsc_array_grow(p->used, &p->used_room, p->used_count, sizeof *grown);
    if (grown == NULL) {
        p->no_memory = true;
        return 0;
    }
    p->used = grown;
    grown[p->used_count] = (struct nsc_parquet_value){.number = function};
    p->slot_of[function] = ++p->used_count;
    return p->used_count - 1;
}

static int64_t call_id(uint32_t thread, uint64_t number)
{
    return number == 0 ? NO_CALL : (int64_t)((uint64_t)thread << THREAD_SHIFT | number);
}

/* Clamps times above INT64_MAX, which no valid trace has. */
static int64_t signed_of(uint64_t ns)
{
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static void count(struct parquet *p, const struct nsc_call *call, bool clipped)
{
    struct nsc_export *job = p->job;

    job->result->calls++;
    job->result->bounds += call->bound != 0 && !clipped;
    job->result->clipped += clipped;
    if (p->last_thread != call->thread) {
        p->last_thread = call->thread;
        job->result->threads += nsc_trace_thread(job->trace, call->thread)->stack == 0;
    }
    if (job->options.progress.tick != NULL && job->result->calls % 65536 == 0)
        job->options.progress.tick(job->options.progress.context, job->result->calls,
                                   job->info->calls);
}

static bool add(void *context, const struct nsc_call *call)
{
    struct parquet *p = context;
    const struct nsc_clock *clock = p->job->clock;
    bool late = call->start_ticks < p->job->options.from_ticks;
    bool cut = (call->bound & NSC_BOUND_END) != 0 && call->end_ticks == p->job->options.to_ticks;
    uint64_t start = late ? p->job->options.from_ticks : call->start_ticks;
    uint32_t row = p->rows++;

    p->numbers[N_CALL][row] = call_id(call->thread, call->number);
    p->numbers[N_PARENT][row] = call_id(call->thread, call->parent);
    p->numbers[N_DEPTH][row] = call->depth;
    p->numbers[N_START][row] = signed_of(nsc_clock_ns(clock, start));
    p->numbers[N_DURATION][row] = signed_of(nsc_clock_span_ns(clock, call->end_ticks - start));
    p->numbers[N_SELF][row] = signed_of(nsc_clock_span_ns(clock, call->self_ticks));
    p->bounds[row] =
        (call->bound & (NSC_BOUND_START | NSC_BOUND_END)) | (late ? NSC_BOUND_START : 0);
    p->functions[row] = slot_of(p, call->function);
    p->threads[row] = call->thread;
    count(p, call, late || cut);
    if (p->rows == GROUP_ROWS)
        put_group(p);
    return !p->no_memory && nsc_output_error(p->out) == 0;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Converts the export options to a selection. memcpy() drops `const`: a selection has writable
 * arrays, but its readers do not write to them. */
static void select_part(const struct nsc_export *job, struct nsc_selection *s)
{
    nsc_selection_init(s);
    s->from_ticks = job->options.from_ticks;
    s->to_ticks = job->options.to_ticks;
    memcpy(&s->threads, &job->options.threads, sizeof s->threads);
    memcpy(&s->hidden, &job->options.hidden, sizeof s->hidden);
}

static int put_all(struct parquet *p, struct nsc_diag *diag)
{
    static const char *const keys[] = {"nanoscope.command", "nanoscope.zero"};
    const char *command = nsc_trace_meta(p->job->trace, "command");
    struct nsc_selection selection;
    struct nsc_gaps gaps;
    char zero[32], *clean;
    size_t bytes;
    int error;

    select_part(p->job, &selection);
    error = nsc_calls_scan(p->job->trace, &selection, NSC_CALLS_BY_THREAD, NULL, add, p, diag);
    if (error == 0)
        error = nsc_gaps_find(p->job->trace, &selection, NULL, NULL, &gaps, diag);
    if (error != 0)
        return error;
    p->job->result->lost = gaps.placed;
    put_group(p);
    clean = nsc_names_utf8(command != NULL ? command : "", &bytes);
    snprintf(zero, sizeof zero, "%llu",
             (unsigned long long)nsc_trace_zero(p->job->trace).realtime_ns);
    if (clean == NULL || p->no_memory ||
        nsc_parquet_end(p->file, keys, (const char *const[]){clean, zero}, 2) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    free(clean);
    return error;
}

static int export_parquet(struct nsc_export *job, struct nsc_diag *diag)
{
    struct parquet p = {.job = job, .last_thread = NSC_NO_ID};
    struct nsc_output *out;
    int error = nsc_output_create(job->path, job->gzip, &out, diag);

    if (error != 0)
        return error;
    p.out = out;
    p.file = nsc_parquet_new(out, columns, COLUMNS);
    if (p.file == NULL || !allocate(&p))
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else
        error = put_all(&p, diag);
    release(&p);
    nsc_export_note_losses(job, "Parquet's table of calls");
    nsc_export_note_left_out(job, "Parquet's table of calls", ~0u);
    return nsc_export_publish(job, out, error, diag);
}

static bool sniff_parquet(const uint8_t *bytes, size_t count)
{
    return count >= 4 && memcmp(bytes, "PAR1", 4) == 0;
}

static const char *const parquet_suffixes[] = {".parquet", NULL};

const struct nsc_exporter nsc_parquet_exporter = {
    .name = "parquet",
    .suffixes = parquet_suffixes,
    .sniff = sniff_parquet,
    .form = NSC_FORM_BINARY,
    .cook = nsc_names_utf8,
    .run = export_parquet,
};
