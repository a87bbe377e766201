/* recorder.c - see recorder.h. */
#include "record/recorder/recorder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "metrics/malloc_samples.h"
#include "record/recorder/metrics_rounds.h"
#include "record/recorder/recorder_end.h"
#include "record/recorder/snapshot.h"
#include "record/recorder/trace_output.h"
#include "record/session/clock_reading.h"
#include "record/session/memory_fault.h"
#include "record/session/scheduler_slice.h"
#include "record/session/spawn_program.h"
#include "record/switch/hook_switch.h"
#include "record/switch/patchable_switch.h"
#include "record/switch/switch_notice.h"
#include "trace/format/format.h"
#include "util/now.h"

#define MS 1000000ull

#define STREAM_BUFFER_BYTES (32ull << 20)
#define KEEP_BUFFER_BYTES   (64ull << 20)
/* With a budget events are few. The program maps the whole buffer at its start, which must not take
 * longer than the events. */
#define BUDGET_BUFFER_BYTES (8ull << 20)
/* With the part of a pool that keeps its pages (session.c) and everything else: less than 256 MiB.
 * Matters only with thousands of threads. */
#define WRITER_BYTES        (32ull << 20)

/* Pause between passes. A pool of 32 MiB lasts a busy thread 17 ms. */
#define SLEEP_MIN_NS    (MS / 5)
#define SLEEP_MAX_NS    (2 * MS)
#define PROGRESS_NS     (200 * MS)
#define SECOND_NS       (1000 * MS)
/* The first second is this short: so a file that ends early has a second clock point, without which
 * its ticks cannot be converted to time. */
#define FIRST_SECOND_NS (20 * MS)

void nsc_recorder_init(struct nsc_recorder *r, const struct nsc_record_options *options,
                       bool (*is_over)(struct nsc_recorder *r, uint64_t now_ns), void *context)
{
    size_t i;

    *r = (struct nsc_recorder){.options = options,
                               .in_force = &options->filter,
                               .is_over = is_over,
                               .context = context,
                               .phase = NSC_COMMAND_RECORDING,
                               .commands = {.fd = -1}};
    for (i = 0; i < NSC_SNAPSHOTS_MAX; i++)
        r->snapshots[i].copied = -1;
    (void)nsc_credentials_read(0, &r->target); /* on failure no process is admitted */
    nsc_spawn_own_children();
}

static void sleep_ns(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

    nanosleep(&t, NULL);
}

/* Return the command line, roughly as in shell syntax: for display only. */
static char *join_command(char *const *argv)
{
    size_t bytes = 1, at = 0, i;
    char *text;

    for (i = 0; argv[i] != NULL; i++)
        bytes += strlen(argv[i]) + 3;
    text = malloc(bytes);
    for (i = 0; text != NULL && argv[i] != NULL; i++) {
        bool quote = argv[i][0] == 0 || strpbrk(argv[i], " \t\n\"'\\$&;|<>()*?[]#~`") != NULL;

        at += (size_t)sprintf(text + at, quote ? "%s'%s'" : "%s%s", i > 0 ? " " : "", argv[i]);
    }
    return text;
}

void nsc_recorder_describe(struct nsc_recorder *r, char *const *argv, const char *directory)
{
    static const char *const modes[] = {"stream", "buffer", "ring"};
    char *filter = nsc_filter_text(r->in_force), *command = join_command(argv);
    char text[PATH_MAX];
    struct utsname host;
    ssize_t length;

    nsc_writer_meta(r->writer, "nanoscope", NSC_VERSION);
    nsc_writer_meta(r->writer, "command", command != NULL ? command : argv[0]);
    free(command);
    length = readlink(directory, text, sizeof text - 1);
    if (length > 0 && text[0] == '/') {
        text[length] = 0;
        nsc_writer_meta(r->writer, "directory", text);
    }
    if (uname(&host) == 0) {
        nsc_writer_meta(r->writer, "host", host.nodename);
        snprintf(text, sizeof text, "%s %s %s", host.sysname, host.release, host.machine);
        nsc_writer_meta(r->writer, "system", text);
    }
    if (r->options->entry_timing)
        nsc_writer_meta(r->writer, NSC_META_TIMING, NSC_TIMING_ENTRY);
    nsc_writer_meta(r->writer, "mode", modes[r->options->mode]);
    snprintf(text, sizeof text, "%llu",
             (unsigned long long)r->session.chunk_count * r->session.chunk_bytes);
    nsc_writer_meta(r->writer, "buffer_bytes", text);
    if (filter != NULL && filter[0] != 0)
        nsc_writer_meta(r->writer, NSC_META_FILTER, filter);
    free(filter);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

int nsc_recorder_open_file(struct nsc_recorder *r, struct nsc_diag *diag)
{
    const struct nsc_record_options *o = r->options;
    struct nsc_writer_options options = {
        .size = sizeof options,
        .memory_bytes = WRITER_BYTES,
        .compress = o->compress,
        .sums = o->budget > 0,
        .overwrite = true,
        .keep_partial = o->deliver != NULL,
    };
    int error = o->deliver != NULL ? 0 : nsc_output_check(o->output, diag);

    return error != 0 ? error : nsc_writer_create(o->output, &options, &r->writer, diag);
}

int nsc_recorder_open_session(struct nsc_recorder *r, int memory, struct nsc_diag *diag)
{
    const struct nsc_record_options *o = r->options;
    struct nsc_session_options options = {
        .memory = memory,
        .memory_owner = r->target.user.file_system,
        .buffer_bytes = o->buffer_bytes != 0           ? o->buffer_bytes
                        : o->budget > 0                ? BUDGET_BUFFER_BYTES
                        : o->mode == NSC_RECORD_STREAM ? STREAM_BUFFER_BYTES
                                                       : KEEP_BUFFER_BYTES,
        .fixed = o->buffer_bytes != 0 || o->mode != NSC_RECORD_STREAM,
        .filter = nsc_filter_by_function(r->in_force),
        .entry_timing = o->entry_timing,
        /* The budget needs to see every call. */
        .rewind = nsc_filter_rewind_ns(r->in_force) != 0 && o->budget == 0,
        .ring = o->mode == NSC_RECORD_RING,
        .dump = o->mode == NSC_RECORD_RING,
        .sample_ns = o->cpu_timer ? o->sample_ns : 0,
    };
    int error = nsc_session_create(&options, &r->session, diag);

    if (error != 0)
        return error;
    return nsc_recorder_follow_session(r, diag);
}

static void set_rewind(struct nsc_recorder *r)
{
    double ns = (double)nsc_filter_rewind_ns(r->in_force);

    if (r->session.rewind)
        __atomic_store_n(&r->session.header->rewind_ticks,
                         (uint64_t)(ns * (double)nsc_clock_reading_rate() / 1e9), __ATOMIC_RELAXED);
}

int nsc_recorder_follow_session(struct nsc_recorder *r, struct nsc_diag *diag)
{
    const struct nsc_record_options *o = r->options;
    int error = nsc_tracees_init(&r->tracees, &r->session, r->writer, r->in_force);

    if (error == 0) {
        r->tracees.calls = &r->calls;
        error = nsc_drain_init(&r->drain, &r->tracees, o->mode);
        if (error == 0)
            error = nsc_budget_init(&r->budget, o->budget, o->entry_timing, &r->tracees, &r->drain);
        if (error != 0) {
            nsc_drain_free(&r->drain);
            nsc_tracees_free(&r->tracees);
        }
    }
    if (error != 0) {
        nsc_session_destroy(&r->session);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    r->tracees.admission.target = r->target;
    set_rewind(r);
    r->tracees.no_children = o->no_children;
    r->has_session = true;
    return 0;
}

void nsc_recorder_release(struct nsc_recorder *r)
{
    if (r->writer != NULL)
        nsc_writer_abandon(r->writer);
    if (r->has_session) {
        nsc_session_close(&r->session);
        nsc_session_empty(&r->session);
        nsc_budget_free(&r->budget);
        nsc_drain_free(&r->drain);
        nsc_tracees_free(&r->tracees);
        nsc_session_destroy(&r->session);
    }
    nsc_command_close(&r->commands);
    nsc_filter_free(&r->filter);
    nsc_malloc_samples_free(r->heap);
    free(r->program);
}

void nsc_recorder_begin(struct nsc_recorder *r)
{
    if (nsc_clock_reading_frequency() != 0)
        nsc_writer_clock_frequency(r->writer, nsc_clock_reading_frequency());
    nsc_recorder_write_clock(r);
    r->start_ns = r->progress_ns = nsc_now_ns();
    r->second_ns = r->start_ns - (SECOND_NS - FIRST_SECOND_NS);
    r->sleep_ns = SLEEP_MIN_NS;
    r->drain.probed_ns = r->drain.checked_ns = r->start_ns;
}

/* ---- Requests on the socket ------------------------------------------------------------------ */

/* Write metadata about the filter in force since @ticks. */
static void note_filter(struct nsc_recorder *r, uint64_t ticks)
{
    char key[32], *options = nsc_filter_text(r->in_force), *text;

    snprintf(key, sizeof key, NSC_META_FILTER_LATER, ++r->filters + 1);
    if (options != NULL && asprintf(&text, "%llu %s", (unsigned long long)ticks, options) >= 0) {
        nsc_writer_meta(r->writer, key, text);
        free(text);
    }
    free(options);
}

/* Change the filter: switches sleds; modules that are loaded later wait for their verdict. */
static int change_filter(struct nsc_recorder *r, const char *text, size_t bytes,
                         struct nsc_diag *diag)
{
    struct nsc_sled_switch_stats stats = {0};
    struct nsc_filter filter;
    uint64_t ticks, from;
    int error = nsc_filter_read(text, bytes, &filter, diag);

    if (error != 0)
        return error;
    if (!r->has_session) {
        nsc_filter_free(&r->filter);
        r->filter = filter;
        r->in_force = &r->filter;
        return 0;
    }
    nsc_call_limit_begin(&r->calls);
    nsc_tracees_scan_threads(&r->tracees);
    ticks = nsc_clock_reading_ticks();
    if (nsc_tracees_set_filter(&r->tracees, &filter, ticks) != 0) {
        nsc_filter_free(&filter);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    r->in_force = r->tracees.modules.filter;
    set_rewind(r);
    note_filter(r, ticks);
    if (nsc_filter_by_function(r->in_force))
        __atomic_fetch_or(&r->session.header->flags, NSC_LIVE_FLAG_FILTER, __ATOMIC_RELEASE);
    nsc_tracees_scan(&r->tracees, true);
    from = nsc_clock_reading_ticks();
    error = nsc_hook_switch_follow(&r->tracees, &stats, diag);
    if (error == 0)
        nsc_hook_switch_tell_offs(&r->tracees, from, nsc_clock_reading_ticks());
    if (error == 0)
        error = nsc_patchable_follow(&r->tracees, diag);
    nsc_switch_notice_enabled(&r->tracees, nsc_clock_reading_ticks());
    return error;
}

void nsc_recorder_serve(struct nsc_recorder *r, uint64_t now_ns)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_command_reply reply;

    while (nsc_command_next(&r->commands, now_ns, &r->command)) {
        int error = 0;

        switch (r->command.verb) {
        case NSC_COMMAND_STATUS:
            break;
        case NSC_COMMAND_STOP:
            r->stop = true;
            if (r->command.text_bytes < sizeof r->new_name)
                memcpy(r->new_name, r->command.text, r->command.text_bytes);
            break;
        case NSC_COMMAND_SNAPSHOT:
            error = nsc_snapshot_take(r, &diag);
            if (error == 0)
                continue; /* the snapshot's process answers the client */
            break;
        case NSC_COMMAND_FILTER:
            error = change_filter(r, r->command.text, r->command.text_bytes, &diag);
            break;
        default:
            error = nsc_diag_set(&diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                                 "this recorder does not know the command");
        }
        nsc_recorder_reply(r, &reply);
        reply.error = error;
        if (error != 0)
            snprintf(reply.message, sizeof reply.message, "%s", diag.message);
        else if (r->command.verb == NSC_COMMAND_FILTER && r->has_session &&
                 nsc_filter_by_function(r->in_force) &&
                 nsc_hook_switch_lets_nothing_through(&r->tracees.modules))
            snprintf(reply.message, sizeof reply.message,
                     "no function that is loaded now passes the filter");
        nsc_command_answer(&r->commands, &r->command, &reply);
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void report_progress(struct nsc_recorder *r, uint64_t now_ns)
{
    struct nsc_record_progress progress = {
        .calls = nsc_writer_calls(r->writer),
        .file_bytes = nsc_writer_bytes(r->writer),
        .elapsed_ns = now_ns - r->start_ns,
        .waiting_for = r->waiting_for,
    };

    r->progress_ns = now_ns;
    if (r->options->progress != NULL)
        r->options->progress(r->options->context, &progress);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Pause between passes, adapted to the event rate: short enough that at most a sixteenth of the
 * first chunks is full at the next pass; otherwise long, to leave the processor to others; at most
 * @most_ns. */
static void pause_between(struct nsc_recorder *r, uint32_t emptied, uint64_t most_ns)
{
    uint32_t chunks = r->session.backed;

    if (emptied > chunks / 16)
        r->sleep_ns /= 2;
    else if (emptied <= chunks / 64)
        r->sleep_ns += r->sleep_ns / 4;
    if (r->sleep_ns < SLEEP_MIN_NS)
        r->sleep_ns = SLEEP_MIN_NS;
    if (r->sleep_ns > SLEEP_MAX_NS)
        r->sleep_ns = SLEEP_MAX_NS;
    if (emptied <= chunks / 8)
        sleep_ns(r->sleep_ns < most_ns ? r->sleep_ns : most_ns);
}

void nsc_recorder_loop(struct nsc_recorder *r)
{
    uint32_t emptied;
    uint64_t wait_ns;
    bool over;

    /* Only now: a program started by the recorder would inherit it. */
    prctl(PR_SET_TIMERSLACK, 1000ul);
    if (r->options->budget > 0)
        nsc_scheduler_slice_shorten();
    nsc_metrics_rounds_begin(r);
    do {
        uint64_t now_ns = nsc_now_ns();
        bool second = now_ns - r->second_ns >= SECOND_NS;

        nsc_recorder_serve(r, now_ns);
        nsc_snapshot_look(r);
        over = r->is_over(r, now_ns) || r->stop || nsc_memory_fault_happened();
        if (second) {
            r->second_ns = now_ns;
            nsc_recorder_write_clock(r);
        }
        if (now_ns - r->progress_ns >= PROGRESS_NS)
            report_progress(r, now_ns);
        if (!over) {
            wait_ns = nsc_budget_round(&r->budget, now_ns);
            emptied = nsc_drain_pass(&r->drain, second ? NSC_DRAIN_PARTLY : NSC_DRAIN_FULL, now_ns);
            pause_between(r, emptied, least(nsc_metrics_rounds_round(r), wait_ns));
        }
        if (second && r->options->mode == NSC_RECORD_STREAM)
            nsc_writer_flush(r->writer);
    } while (!over);
}
