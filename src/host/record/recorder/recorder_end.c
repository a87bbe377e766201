/* recorder_end.c - see recorder_end.h. */
#include "record/recorder/recorder_end.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/budget/hook_cost.h"
#include "record/modules/function_names.h"
#include "record/modules/timed_modules.h"
#include "record/recorder/metrics_rounds.h"
#include "record/session/clock_reading.h"
#include "record/session/memory_fault.h"
#include "record/switch/hook_switch.h"
#include "record/switch/patchable_switch.h"
#include "trace/format/format.h"
#include "trace/write/writer.h"
#include "util/now.h"
#include "util/path.h"

/* Time for threads inside a hook when the sleds were disabled: a few time slices on a busy
 * machine. */
#define SETTLE_NS 300000000ull

void nsc_recorder_write_clock(struct nsc_recorder *r)
{
    struct nsc_clock_point point = nsc_clock_reading_read();
    struct nsc_live_clock *live = r->session.header->clock;

    if (r->revived) /* the clocks are unrelated: later, perhaps another machine */
        return;
    nsc_writer_clock(r->writer, &point);
    live += live[0].ticks != 0;
    live->monotonic_ns = point.monotonic_ns;
    live->boottime_ns = point.boottime_ns;
    live->realtime_ns = point.realtime_ns;
    __atomic_store_n(&live->ticks, point.ticks, __ATOMIC_RELEASE);
}

void nsc_recorder_reply(const struct nsc_recorder *r, struct nsc_command_reply *reply)
{
    const char *program = r->program != NULL ? nsc_path_base_name(r->program) : "";
    const char *output = r->options->output;
    char directory[PATH_MAX];

    *reply = (struct nsc_command_reply){
        .magic = NSC_COMMAND_MAGIC,
        .phase = r->phase,
        .recorder_pid = getpid(),
        .program_pid = r->tracees.main_pid,
        .mode = r->options->mode,
        .filtered =
            r->tracees.modules.filter != NULL && nsc_filter_by_function(r->tracees.modules.filter),
    };
    if (output[0] == '/' || getcwd(directory, sizeof directory) == NULL)
        directory[0] = 0;
    snprintf(reply->output, sizeof reply->output, "%.2047s%s%.2047s", directory,
             directory[0] != 0 ? "/" : "", output);
    snprintf(reply->program, sizeof reply->program, "%.63s", program);
    if (r->writer != NULL) {
        reply->result.calls = nsc_writer_calls(r->writer);
        reply->result.file_bytes = nsc_writer_bytes(r->writer);
        reply->result.lost = r->tracees.stats.lost + r->tracees.stats.lost_unattributed;
        reply->result.threads = r->tracees.stats.threads;
        reply->result.processes = r->tracees.stats.processes;
        reply->result.recorded = reply->result.processes > 0;
        if (r->start_ns != 0)
            reply->result.elapsed_ns = nsc_now_ns() - r->start_ns;
    }
}

static void tell_phase(struct nsc_recorder *r, enum nsc_command_phase phase)
{
    struct nsc_command_reply reply;

    r->phase = phase;
    nsc_recorder_reply(r, &reply);
    nsc_command_tell(&r->commands, &reply);
}

static void drain_the_rest(struct nsc_recorder *r)
{
    uint32_t i;

    /* From now on the program may begin another recording, while this one is being completed. */
    (void)nsc_command_rename(&r->commands, getpid(), NULL);
    r->drain.between = NULL; /* a function that the budget enables now would never be disabled */
    nsc_session_close(&r->session);
    if (r->options->mode == NSC_RECORD_RING)
        nsc_drain_keep_ring(&r->drain);
    /* A chunk's state may have changed during the first pass, if children are still running. */
    nsc_drain_pass(&r->drain, NSC_DRAIN_THE_END, nsc_now_ns());
    nsc_drain_pass(&r->drain, NSC_DRAIN_THE_END, nsc_now_ns());
    for (i = 0; i < r->session.threads_max; i++)
        if (r->tracees.threads[i] != NULL)
            nsc_tracee_finish(r->tracees.threads[i], false);
    nsc_tracees_complete(&r->tracees);
    nsc_recorder_write_clock(r);
}

/* Return the number of events left out for any reason. */
static uint64_t left_out_events(const struct nsc_recorder *r)
{
    uint64_t events = 0;
    uint32_t i;

    for (i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        events += r->tracees.stats.left_out[i];
    return events;
}

static void fill_result(const struct nsc_recorder *r, struct nsc_record_result *result)
{
    const struct nsc_tracee_stats *stats = &r->tracees.stats;

    result->recorded = stats->processes > 0;
    result->calls = nsc_writer_calls(r->writer);
    result->lost = stats->lost + stats->lost_unattributed + nsc_writer_dropped(r->writer);
    result->left_out = left_out_events(r);
    result->clamped = stats->clamped;
    result->threads = stats->threads;
    result->calling = stats->calling;
    result->processes = stats->processes;
    result->problems = stats->problems;
    result->unread_modules = r->tracees.modules.unread;
    result->unread_error = r->tracees.modules.unread_error;
    result->mistrusted = stats->mistrusted;
    result->limited = nsc_limits_were_reached(&r->tracees.modules.limits);
    result->memory_failed = nsc_memory_fault_happened();
}

/* Write the number of entries and exits that the program emitted and that were recorded. Together
 * with the losses these are all emitted events. (The file's own count includes the ends of unwound
 * calls.) */
static void write_counts(struct nsc_recorder *r)
{
    char text[24], key[48];
    uint32_t i;

    snprintf(text, sizeof text, "%llu",
             (unsigned long long)r->tracees.stats.recorded - nsc_writer_dropped(r->writer));
    nsc_writer_meta(r->writer, NSC_META_PROGRAM_EVENTS, text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)left_out_events(r));
    if (left_out_events(r) > 0)
        nsc_writer_meta(r->writer, NSC_META_LEFT_OUT, text);
    for (i = 0; i < NSC_LEFT_OUT_REASONS; i++) {
        if (r->tracees.stats.left_out[i] == 0)
            continue;
        snprintf(key, sizeof key, NSC_META_LEFT_OUT_BY, nsc_model_left_out_reason_name(i));
        snprintf(text, sizeof text, "%llu", (unsigned long long)r->tracees.stats.left_out[i]);
        nsc_writer_meta(r->writer, key, text);
    }
}

/* Measure and write the cost of hooks, while the machine is in the same state. */
static void write_hook_cost(struct nsc_recorder *r)
{
    struct nsc_hook_ticks ticks;
    char text[32];

    if (r->options->calibrator == NULL || r->revived ||
        nsc_hook_cost_measure(r->options->calibrator, &ticks) != 0)
        return;
    snprintf(text, sizeof text, "%.2f", ticks.call);
    nsc_writer_meta(r->writer, NSC_META_HOOK_TICKS, text);
    snprintf(text, sizeof text, "%.2f", ticks.inner);
    nsc_writer_meta(r->writer, NSC_META_HOOK_INNER_TICKS, text);
}

int nsc_recorder_switch_off(struct nsc_recorder *r, uint64_t *ns, struct nsc_diag *diag)
{
    struct nsc_sled_switch_stats stats = {0};
    int error;

    tell_phase(r, NSC_COMMAND_ENDING);
    nsc_tracees_scan(&r->tracees, true);
    error = nsc_hook_switch_end(&r->tracees, &stats, diag);
    if (error == 0)
        error = nsc_patchable_end(&r->tracees, diag);
    if (ns != NULL)
        *ns = stats.ns;
    nsc_hook_switch_settle(&r->tracees, SETTLE_NS);
    return error;
}

/* Send the result to all clients that wait for the end. */
static void tell_end(struct nsc_recorder *r, int error, const struct nsc_record_result *result,
                     const struct nsc_diag *diag)
{
    struct nsc_command_reply reply;

    r->phase = NSC_COMMAND_DONE;
    nsc_recorder_reply(r, &reply);
    reply.result = *result;
    reply.error = error;
    if (error == 0 && !result->recorded)
        snprintf(reply.message, sizeof reply.message, "no program took part: there is no trace");
    else if (error != 0 || r->options->deliver != NULL)
        snprintf(reply.message, sizeof reply.message, "%s", diag->message);
    nsc_command_tell(&r->commands, &reply);
}

/* Complete the file, and convert or deliver it if requested. */
static int finish_file(struct nsc_recorder *r, struct nsc_record_result *result,
                       struct nsc_diag *diag)
{
    const struct nsc_record_options *o = r->options;
    char *partial = strdup(nsc_writer_partial_path(r->writer));
    struct stat st;
    int fd = o->deliver != NULL ? fcntl(nsc_writer_fd(r->writer), F_DUPFD_CLOEXEC, 3) : -1, error;

    result->file_bytes = nsc_writer_bytes(r->writer);
    error = nsc_writer_finish(r->writer, diag);
    r->writer = NULL;
    if (error == 0 && o->deliver != NULL && partial == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (error == 0 && o->deliver != NULL) {
        tell_phase(r, NSC_COMMAND_CONVERTING);
        diag->message[0] = 0;
        error = o->deliver(o->context, fd, partial, &result->file_bytes, diag);
    } else if (error == 0 && stat(o->output, &st) == 0) {
        result->file_bytes = (uint64_t)st.st_size;
    }
    if (fd >= 0)
        close(fd);
    free(partial);
    return error;
}

int nsc_recorder_complete(struct nsc_recorder *r, struct nsc_record_result *result,
                          struct nsc_diag *diag)
{
    uint64_t end_ns = nsc_now_ns(); /* end of the recorded time; completing takes time, too */
    int error = 0;

    tell_phase(r, NSC_COMMAND_ENDING);
    drain_the_rest(r);
    nsc_session_empty(&r->session);
    fill_result(r, result);
    nsc_metrics_rounds_end(r, result);
    nsc_budget_end(&r->budget, result);
    result->elapsed_ns = end_ns - r->start_ns;
    if (result->recorded) {
        write_counts(r);
        nsc_timed_modules_end(&r->tracees.modules, result);
        write_hook_cost(r);
        tell_phase(r, NSC_COMMAND_NAMING);
        nsc_names_resolve(&r->tracees.modules);
        error = finish_file(r, result, diag);
    }
    tell_end(r, error, result, diag);
    return error;
}
