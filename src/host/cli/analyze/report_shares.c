/* report_shares.c - see report_shares.h. */
#include "cli/analyze/report_shares.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/functions/thread_usage.h"
#include "cli/common/categories.h"
#include "util/text/units.h"

#define LOADS_SHOWN 10 /* the busiest threads in the aligned table; JSON has all */

/* ---- Shares ---------------------------------------------------------------------------------- */

static const struct nsc_table_column share_columns[] = {
    {"category", "CATEGORY", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"functions", "FUNCTIONS", NSC_TABLE_COUNT, 0},
    {"calls", "CALLS", NSC_TABLE_COUNT, 0},
    {"self_ns", "SELF", NSC_TABLE_NS, 0},
    {"share", "SHARE", NSC_TABLE_SHARE, NSC_TABLE_NO_CSV},
    {"process", "PROCESS", NSC_TABLE_TEXT, 0},
};
#define SHARE_COLUMNS (sizeof share_columns / sizeof share_columns[0])

static struct nsc_table *table_of_shares(const struct nsc_cli_view *view,
                                         const struct nsc_cli_shares *options,
                                         const struct nsc_categories *categories,
                                         const struct nsc_shares *shares)
{
    size_t columns = options->per_process ? SHARE_COLUMNS : SHARE_COLUMNS - 1;
    struct nsc_table *table = nsc_table_new(share_columns, columns);

    for (size_t i = 0; table != NULL && i < shares->count && i < options->top; i++) {
        const struct nsc_share *share = &shares->rows[i];
        char process[128];

        nsc_table_add_text(table, categories->names[share->category]);
        nsc_table_add(table, share->functions);
        nsc_table_add(table, share->calls);
        nsc_table_add(table, share->self_ns);
        nsc_table_add_share(table, share->self_ns, shares->self_ns);
        if (options->per_process)
            nsc_table_add_text(
                table, nsc_cli_process_label(view->trace, share->process, process, sizeof process));
    }
    return table;
}

/* ---- Load ------------------------------------------------------------------------------------ */

static const struct nsc_table_column load_columns[] = {
    {"load", "LOAD", NSC_TABLE_SHARE, 0},
    {"cpu_ns", "CPU", NSC_TABLE_NS, 0},
    {"over_ns", "OVER", NSC_TABLE_NS, 0},
    {"pid", "PID", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
    {"tid", "TID", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
    {"name", "", NSC_TABLE_TEXT, NSC_TABLE_NO_HUMAN},
    {"who", "PROCESS, THREAD", NSC_TABLE_TEXT, NSC_TABLE_NO_JSON},
};
#define LOAD_COLUMNS (sizeof load_columns / sizeof load_columns[0])

/* CPU time of a thread, or of all threads of a process, during the time with samples or with known
 * states. */
struct load {
    uint32_t process, thread; /* thread NSC_NO_ID: the process */
    uint64_t cpu_ns, from_ns, to_ns;
};

struct loads {
    struct load *rows; /* processes, then threads */
    size_t count;
    bool by_states; /* from thread states, as no thread was sampled */
};

/* Processes first, then by descending CPU time. */
static int compare_loads(const void *a, const void *b)
{
    const struct load *x = a, *y = b;

    if ((x->thread == NSC_NO_ID) != (y->thread == NSC_NO_ID))
        return x->thread == NSC_NO_ID ? -1 : 1;
    if (x->cpu_ns != y->cpu_ns)
        return x->cpu_ns > y->cpu_ns ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Add a thread's load to that of its process, at the index of the process in @rows. */
static void add_to_process(struct load *rows, const struct load *thread)
{
    struct load *process = &rows[thread->process];

    if (process->thread != NSC_NO_ID) /* the first thread */
        *process = (struct load){.process = thread->process,
                                 .thread = NSC_NO_ID,
                                 .from_ns = thread->from_ns,
                                 .to_ns = thread->to_ns};
    process->cpu_ns += thread->cpu_ns;
    process->from_ns = thread->from_ns < process->from_ns ? thread->from_ns : process->from_ns;
    process->to_ns = thread->to_ns > process->to_ns ? thread->to_ns : process->to_ns;
}

/* Get a thread's load from its samples or, with @by_states, from its states. Returns false if it is
 * not known. */
static bool load_of(const struct nsc_usage_row *row, bool by_states, struct load *load)
{
    if (by_states)
        *load = (struct load){.cpu_ns = row->state_ns[NSC_STATE_RUNNING],
                              .from_ns = row->states_from_ns,
                              .to_ns = row->states_to_ns};
    else if ((row->known & 1u << NSC_SAMPLE_CPU_NS) != 0)
        *load = (struct load){.cpu_ns = row->values[NSC_SAMPLE_CPU_NS],
                              .from_ns = row->first_ns,
                              .to_ns = row->first_ns + row->sampled_ns};
    else
        return false;
    load->thread = row->thread;
    return load->to_ns > load->from_ns;
}

static bool is_sampled(const struct nsc_usage *usage)
{
    struct load load;
    bool sampled = false;

    for (size_t i = 0; i < usage->count; i++)
        sampled = sampled || load_of(&usage->rows[i], false, &load);
    return sampled;
}

static int find_loads(const struct nsc_cli_view *view, struct loads *out, struct nsc_diag *diag)
{
    uint32_t processes = nsc_trace_info(view->trace)->process_count;
    struct loads loads = {0};
    struct nsc_usage usage;
    int error = nsc_usage_find(view->trace, &view->selection, &usage, diag);

    if (error != 0)
        return error;
    loads.rows = calloc(processes + usage.count + 1, sizeof *loads.rows);
    loads.count = processes;
    loads.by_states = !is_sampled(&usage);
    for (size_t i = 0; loads.rows != NULL && i < usage.count; i++) {
        struct load *load = &loads.rows[loads.count];

        if (!load_of(&usage.rows[i], loads.by_states, load))
            continue;
        load->process = nsc_trace_thread(view->trace, load->thread)->process;
        add_to_process(loads.rows, load);
        loads.count++;
    }
    nsc_usage_free(&usage);
    if (loads.rows == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    qsort(loads.rows, loads.count, sizeof *loads.rows, compare_loads);
    *out = loads;
    return 0;
}

static void add_load(struct nsc_table *table, const struct nsc_trace *t, const struct load *load)
{
    const struct nsc_process *process = nsc_trace_process(t, load->process);
    char who[160];

    nsc_table_add_share(table, load->cpu_ns, load->to_ns - load->from_ns);
    nsc_table_add(table, load->cpu_ns);
    nsc_table_add(table, load->to_ns - load->from_ns);
    nsc_table_add(table, process->pid);
    if (load->thread == NSC_NO_ID) {
        nsc_table_add_nothing(table);
        nsc_table_add_text(table, process->name);
        nsc_table_add_text(table, nsc_cli_process_label(t, load->process, who, sizeof who));
    } else {
        nsc_table_add(table, nsc_trace_thread(t, load->thread)->tid);
        nsc_table_add_text(table, nsc_trace_thread(t, load->thread)->name);
        nsc_table_add_text(table, nsc_cli_thread_label(t, load->thread, who, sizeof who));
    }
}

/* @threads: maximum number of threads. Returns NULL if memory runs out. */
static struct nsc_table *table_of_loads(const struct nsc_trace *t, const struct loads *loads,
                                        size_t threads)
{
    struct nsc_table *table = nsc_table_new(load_columns, LOAD_COLUMNS);

    for (size_t i = 0; table != NULL && i < loads->count; i++) {
        const struct load *load = &loads->rows[i];

        if (load->to_ns == 0 || (load->thread != NSC_NO_ID && threads == 0))
            continue;
        threads -= load->thread != NSC_NO_ID;
        add_load(table, t, load);
    }
    return table;
}

/* ---- Both ------------------------------------------------------------------------------------ */

static int print_json(const struct nsc_cli_view *view, const struct nsc_shares *shares,
                      const struct nsc_report *r, const struct nsc_table *table,
                      const struct nsc_table *load_table, const char *source)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, false);
    nsc_json_u64(&j, "calls", r->calls);
    nsc_json_u64(&j, "self_ns", shares->self_ns);
    nsc_json_u64(&j, "bounds", r->bounds);
    nsc_cli_view_json_gaps(view, &j);
    error = nsc_table_write_json(table, &j, "categories");
    if (error == 0)
        error = nsc_table_write_json(load_table, &j, "cpu");
    nsc_json_text(&j, "cpu_from", nsc_table_rows(load_table) > 0 ? source : NULL);
    nsc_json_end(&j);
    return error;
}

static int print_tables(const struct nsc_cli_view *view, const struct nsc_shares *shares,
                        const struct nsc_report *r, const struct nsc_table *table,
                        const struct nsc_table *load_table, const char *source)
{
    int error;

    if (view->format == NSC_TABLE_JSON)
        return print_json(view, shares, r, table, load_table, source);
    error = nsc_table_write(table, view->format, stdout);
    if (error == 0 && view->format == NSC_TABLE_ALIGNED && nsc_table_rows(load_table) > 0) {
        printf("\nof one processor, by %s:\n", source);
        error = nsc_table_write(load_table, view->format, stdout);
    }
    return error;
}

static int print(const struct nsc_cli_view *view, const struct nsc_cli_shares *options,
                 const struct nsc_categories *categories, const struct nsc_shares *shares,
                 const struct nsc_report *r)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_table *table, *load_table;
    struct loads loads = {0};
    int error;

    if (find_loads(view, &loads, &diag) != 0)
        return nsc_cli_fail_in(nsc_trace_name(view->trace), &diag);
    table = table_of_shares(view, options, categories, shares);
    load_table = table_of_loads(view->trace, &loads,
                                view->format == NSC_TABLE_ALIGNED ? LOADS_SHOWN : SIZE_MAX);
    free(loads.rows);
    error = table != NULL && load_table != NULL
                ? print_tables(view, shares, r, table, load_table,
                               loads.by_states ? "states" : "samples")
                : -ENOMEM;
    nsc_table_free(table);
    nsc_table_free(load_table);
    if (error == 0)
        nsc_cli_view_footnotes(view, r->bounds);
    return nsc_cli_table_status(error);
}

int nsc_cli_shares_report(struct nsc_cli_view *view, const struct nsc_cli_shares *options)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_categories categories = {0};
    struct nsc_shares shares = {0};
    struct nsc_report r = {0};
    int status = nsc_cli_sort_functions(options->rules, view->trace, &categories);

    if (status == 0 &&
        nsc_report_make(view->trace, &view->selection, options->per_process, &r, &diag) < 0)
        status = nsc_cli_fail_in(nsc_trace_name(view->trace), &diag);
    if (status == 0 && nsc_shares_make(&r, &categories, &shares) < 0)
        status = nsc_cli_error("out of memory");
    if (status == 0) {
        nsc_shares_sort(&shares, &categories, options->sort);
        status = print(view, options, &categories, &shares, &r);
    }
    nsc_shares_free(&shares);
    nsc_report_free(&r);
    nsc_categories_free(&categories);
    return status;
}
