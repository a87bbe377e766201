/* report_usage.c - see report_usage.h. */
#include "cli/analyze/report_usage.h"

#include <stdio.h>

#include "analyze/functions/thread_usage.h"

static const struct nsc_table_column columns[] = {
    {"tid", "TID", NSC_TABLE_NUMBER, 0},
    {"samples", "SAMPLES", NSC_TABLE_COUNT, 0},
    {"sampled_ns", "OVER", NSC_TABLE_NS, 0},
    {"cpu_ns", "CPU", NSC_TABLE_NS, 0},
    {"major_faults", "MAJOR", NSC_TABLE_COUNT, 0},
    {"minor_faults", "MINOR", NSC_TABLE_COUNT, 0},
    {"switches", "SWITCHES", NSC_TABLE_COUNT, 0},
    {"preemptions", "PREEMPTED", NSC_TABLE_COUNT, 0},
    {"allocated_bytes", "ALLOCATED", NSC_TABLE_BYTES, 0},
    {"freed_bytes", "FREED", NSC_TABLE_BYTES, 0},
    {"process_bytes", "PROCESS", NSC_TABLE_BYTES, 0},
    {"process_objects", "OBJECTS", NSC_TABLE_COUNT, 0},
    {"running_ns", "RUNNING", NSC_TABLE_NS, 0},
    {"runnable_ns", "WAITING", NSC_TABLE_NS, 0},
    {"sleeping_ns", "SLEEPING", NSC_TABLE_NS, 0},
    {"blocked_io_ns", "ON I/O", NSC_TABLE_NS, 0},
    {"blocked_lock_ns", "ON LOCKS", NSC_TABLE_NS, 0},
    {"stopped_ns", "STOPPED", NSC_TABLE_NS, 0},
    {"unknown_ns", "UNKNOWN", NSC_TABLE_NS, 0},
    {"pid", "PID", NSC_TABLE_NUMBER, NSC_TABLE_NO_HUMAN},
    {"name", "NAME", NSC_TABLE_TEXT, 0},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], FIELDS_AT = 3, STATES_AT = 12 };

/* In the order of their columns. */
static const enum nsc_sample_field fields[] = {
    NSC_SAMPLE_CPU_NS,      NSC_SAMPLE_MAJOR_FAULTS,  NSC_SAMPLE_MINOR_FAULTS,
    NSC_SAMPLE_SWITCHES,    NSC_SAMPLE_PREEMPTIONS,   NSC_SAMPLE_ALLOCATED_BYTES,
    NSC_SAMPLE_FREED_BYTES, NSC_SAMPLE_PROCESS_BYTES, NSC_SAMPLE_PROCESS_OBJECTS,
};
static const enum nsc_thread_state states[] = {
    NSC_STATE_RUNNING,      NSC_STATE_RUNNABLE, NSC_STATE_SLEEPING, NSC_STATE_BLOCKED_IO,
    NSC_STATE_BLOCKED_LOCK, NSC_STATE_STOPPED,  NSC_STATE_UNKNOWN,
};

enum { FIELDS = sizeof fields / sizeof fields[0], STATES = sizeof states / sizeof states[0] };

static void add_row(struct nsc_table *table, const struct nsc_trace *t,
                    const struct nsc_usage_row *row)
{
    const struct nsc_thread *thread = nsc_trace_thread(t, row->thread);

    nsc_table_add(table, thread->tid);
    nsc_table_add(table, row->samples);
    nsc_table_add(table, row->sampled_ns);
    for (int i = 0; i < FIELDS; i++) {
        if ((row->known >> fields[i] & 1) != 0)
            nsc_table_add(table, row->values[fields[i]]);
        else
            nsc_table_add_nothing(table);
    }
    for (int i = 0; i < STATES; i++) {
        if (row->has_states)
            nsc_table_add(table, row->state_ns[states[i]]);
        else
            nsc_table_add_nothing(table);
    }
    nsc_table_add(table, nsc_trace_process(t, thread->process)->pid);
    nsc_table_add_text(table, thread->name);
}

/* Hide columns without data in aligned tables: values never sampled, states that never occurred. */
static void hide_empty(const struct nsc_usage *usage, struct nsc_table_column own[COLUMNS])
{
    uint32_t known = 0;
    uint64_t state_ns[NSC_STATES] = {0};

    for (size_t i = 0; i < usage->count; i++) {
        known |= usage->rows[i].known;
        for (int k = 0; k < NSC_STATES; k++)
            state_ns[k] += usage->rows[i].state_ns[k];
    }
    for (int i = 0; i < FIELDS; i++)
        if ((known >> fields[i] & 1) == 0)
            own[FIELDS_AT + i].flags |= NSC_TABLE_NO_HUMAN;
    for (int i = 0; i < STATES; i++)
        if (state_ns[states[i]] == 0)
            own[STATES_AT + i].flags |= NSC_TABLE_NO_HUMAN;
}

static int write(const struct nsc_cli_view *view, const struct nsc_table *table)
{
    struct nsc_json j;
    int error;

    if (view->format != NSC_TABLE_JSON)
        return nsc_table_write(table, view->format, stdout);
    nsc_json_begin(&j, stdout, false);
    error = nsc_table_write_json(table, &j, "threads");
    nsc_json_end(&j);
    return error;
}

int nsc_cli_usage_report(const struct nsc_cli_view *view)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_table_column own[COLUMNS];
    struct nsc_usage usage;
    struct nsc_table *table;
    int error;

    if (nsc_usage_find(view->trace, &view->selection, &usage, &diag) != 0)
        return nsc_cli_fail_in(nsc_trace_name(view->trace), &diag);
    if (usage.count == 0) {
        nsc_usage_free(&usage);
        return nsc_cli_error("%s has no samples and no thread states there: record with --ext",
                             nsc_trace_name(view->trace));
    }
    for (int i = 0; i < COLUMNS; i++)
        own[i] = columns[i];
    hide_empty(&usage, own);
    table = nsc_table_new(own, COLUMNS);
    for (size_t i = 0; table != NULL && i < usage.count; i++)
        add_row(table, view->trace, &usage.rows[i]);
    nsc_usage_free(&usage);
    if (table == NULL)
        return nsc_cli_error("out of memory");
    error = write(view, table);
    nsc_table_free(table);
    return nsc_cli_table_status(error);
}
