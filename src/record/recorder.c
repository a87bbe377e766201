/* recorder.c - see record.h: the course of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "record/clockpoint.h"
#include "record/drain.h"
#include "record/names.h"
#include "record/spawn.h"
#include "symbols/symbols.h"
#include "trace/format.h"

#define MS 1000000ull

#define STREAM_BUFFER_BYTES (32ull << 20)
#define KEEP_BUFFER_BYTES   (64ull << 20)
/* Together with the part of a pool that keeps its pages (session.c) and what else there is: less
 * than 256 MiB. Matters only with thousands of threads. */
#define WRITER_BYTES        (32ull << 20)

/* Between looks at the chunks. A pool of 32 MiB lasts a busy thread 17 ms. */
#define SLEEP_MIN_NS    (MS / 5)
#define SLEEP_MAX_NS    (2 * MS)
#define PROGRESS_NS     (200 * MS)
#define SECOND_NS       (1000 * MS)
/* The first of the seconds is this short: a file that breaks off early has a second clock point,
 * without which its ticks have no length. */
#define FIRST_SECOND_NS (20 * MS)
/* After the program's end: how long nobody must hold the session, unless the program was the only
 * one that ever did. Others may be between exec and their first constructor. */
#define GRACE_NS        (100 * MS)

struct recorder {
    const struct nsc_record_options *options;
    struct nsc_session session;
    struct nsc_writer *writer;
    struct nsc_tracees tracees;
    struct nsc_drain drain;
    struct nsc_child child;
    char *program; /* its path without links, NULL if that cannot be said */
    uint64_t start_ns, progress_ns, second_ns, sleep_ns, alone_ns;
};

static uint64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

    nanosleep(&t, NULL);
}

/* A slip of the finger (-o main.c) must not cost a file: only a trace is replaced by a trace. */
static int check_output(const char *path, struct nsc_diag *diag)
{
    uint8_t magic[sizeof(NSC_FORMAT_MAGIC) - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    struct stat st;
    ssize_t got;

    if (fd < 0)
        return 0; /* the writer says what is wrong, if anything is */
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return 0;
    }
    got = read(fd, magic, sizeof magic);
    close(fd);
    if (got == (ssize_t)sizeof magic && memcmp(magic, NSC_FORMAT_MAGIC, sizeof magic) == 0)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EEXIST,
                        "%s exists and is not a trace; it is left alone", path);
}

/* The command line as a shell would take it, roughly: for people to read. */
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

static void write_meta(struct recorder *r)
{
    static const char *const modes[] = {"stream", "buffer", "ring"};
    char *command = join_command(r->options->argv);
    char text[PATH_MAX];
    struct utsname host;

    nsc_writer_meta(r->writer, "nanoscope", NSC_VERSION);
    nsc_writer_meta(r->writer, "command", command != NULL ? command : r->options->argv[0]);
    free(command);
    if (getcwd(text, sizeof text) != NULL)
        nsc_writer_meta(r->writer, "directory", text);
    if (uname(&host) == 0) {
        nsc_writer_meta(r->writer, "host", host.nodename);
        snprintf(text, sizeof text, "%s %s %s", host.sysname, host.release, host.machine);
        nsc_writer_meta(r->writer, "system", text);
    }
    nsc_writer_meta(r->writer, "mode", modes[r->options->mode]);
    snprintf(text, sizeof text, "%llu",
             (unsigned long long)r->session.chunk_count * r->session.chunk_bytes);
    nsc_writer_meta(r->writer, "buffer_bytes", text);
}

static void write_clock(struct recorder *r)
{
    struct nsc_clock_point point = nsc_clockpoint_read();

    nsc_writer_clock(r->writer, &point);
}

/* ---- Beginning ------------------------------------------------------------------------------- */

/* Programs open the session by its path: if even we cannot, they would silently not be recorded. */
static int check_session(const struct nsc_session *session, struct nsc_diag *diag)
{
    int fd = open(session->path, O_RDWR | O_CLOEXEC), error = errno;

    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                            "programs cannot open the recorder's memory, %s: %s (is /proc "
                            "mounted, for this process's namespace?)",
                            session->path, strerror(error));
    close(fd);
    return 0;
}

static int prepare(struct recorder *r, struct nsc_diag *diag)
{
    const struct nsc_record_options *o = r->options;
    struct nsc_writer_options writer_options = {
        .size = sizeof writer_options,
        .memory_bytes = WRITER_BYTES,
        .compress = o->compress,
        .overwrite = true,
    };
    struct nsc_session_options session_options = {
        .buffer_bytes = o->buffer_bytes != 0           ? o->buffer_bytes
                        : o->mode == NSC_RECORD_STREAM ? STREAM_BUFFER_BYTES
                                                       : KEEP_BUFFER_BYTES,
        .fixed = o->buffer_bytes != 0 || o->mode != NSC_RECORD_STREAM,
        .filter = nsc_filter_active(&o->filter),
    };
    int error = check_output(o->output, diag);

    if (error == 0)
        error = nsc_writer_create(o->output, &writer_options, &r->writer, diag);
    if (error != 0)
        return error;
    error = nsc_session_create(&session_options, &r->session, diag);
    if (error != 0) {
        nsc_writer_abandon(r->writer);
        return error;
    }
    error = check_session(&r->session, diag);
    if (error != 0) {
        nsc_session_destroy(&r->session);
        nsc_writer_abandon(r->writer);
        return error;
    }
    error = nsc_tracees_init(&r->tracees, &r->session, r->writer, &o->filter);
    if (error == 0) {
        error = nsc_drain_init(&r->drain, &r->tracees, o->mode);
        if (error != 0)
            nsc_tracees_free(&r->tracees);
    }
    if (error != 0) {
        nsc_session_destroy(&r->session);
        nsc_writer_abandon(r->writer);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    return 0;
}

static void release(struct recorder *r)
{
    nsc_drain_free(&r->drain);
    nsc_tracees_free(&r->tracees);
    nsc_session_destroy(&r->session);
    free(r->program);
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void report_progress(struct recorder *r, uint64_t now_ns)
{
    struct nsc_record_progress progress = {
        .calls = nsc_writer_calls(r->writer),
        .file_bytes = nsc_writer_bytes(r->writer),
        .elapsed_ns = now_ns - r->start_ns,
        .waiting_for = r->child.ended ? r->tracees.live_processes : 0,
    };

    r->progress_ns = now_ns;
    if (r->options->progress != NULL)
        r->options->progress(r->options->context, &progress);
}

/* Adapts the pause to the flow: short enough that no more than a sixteenth of the first chunks is
 * full when we look, long enough to leave the processor alone otherwise. */
static void pause_between(struct recorder *r, uint32_t emptied)
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
        sleep_ns(r->sleep_ns);
}

/* Has everything ended that belongs to the recording? */
static bool is_over(struct recorder *r, uint64_t now_ns)
{
    if (!nsc_spawn_look(&r->child))
        return false;
    nsc_tracees_main_ended(&r->tracees, r->child.status);
    if (r->options->until_main || r->options->no_children || nsc_spawn_interrupts() > 0)
        return true;
    if (!nsc_session_alone(&r->session)) {
        r->alone_ns = 0;
        return false;
    }
    if (nsc_tracees_main_only(&r->tracees))
        return true;
    if (r->alone_ns == 0)
        r->alone_ns = now_ns;
    return now_ns - r->alone_ns >= GRACE_NS;
}

static void record(struct recorder *r)
{
    bool over;

    do {
        uint64_t now_ns = monotonic_ns();
        bool second = now_ns - r->second_ns >= SECOND_NS;

        /* Asked before the pass, so that the last pass comes after the last event. */
        over = is_over(r, now_ns);
        if (second) {
            r->second_ns = now_ns;
            write_clock(r);
        }
        if (now_ns - r->progress_ns >= PROGRESS_NS)
            report_progress(r, now_ns);
        if (!over)
            pause_between(
                r, nsc_drain_pass(&r->drain, second ? NSC_DRAIN_PARTLY : NSC_DRAIN_FULL, now_ns));
        if (second && r->options->mode == NSC_RECORD_STREAM)
            nsc_writer_flush(r->writer);
    } while (!over);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void drain_the_rest(struct recorder *r)
{
    uint32_t i;

    nsc_session_close(&r->session);
    if (r->options->mode == NSC_RECORD_RING)
        nsc_drain_keep_ring(&r->drain);
    /* A chunk may have moved on under the first round, when children are still at work. */
    nsc_drain_pass(&r->drain, NSC_DRAIN_THE_END, monotonic_ns());
    nsc_drain_pass(&r->drain, NSC_DRAIN_THE_END, monotonic_ns());
    for (i = 0; i < r->session.threads_max; i++)
        if (r->tracees.threads[i] != NULL)
            nsc_tracee_finish(r->tracees.threads[i], false);
    nsc_tracees_complete(&r->tracees);
    write_clock(r);
}

static void fill_result(const struct recorder *r, struct nsc_record_result *result)
{
    const struct nsc_tracee_stats *stats = &r->tracees.stats;

    result->status = r->child.status;
    result->recorded = stats->processes > 0;
    result->calls = nsc_writer_calls(r->writer);
    result->lost = stats->lost + stats->lost_unattributed + nsc_writer_dropped(r->writer);
    result->left_out = stats->left_out;
    result->clamped = stats->clamped;
    result->threads = stats->threads;
    result->processes = stats->processes;
    result->problems = stats->problems;
}

/* Entries and exits as the program emitted them: together with the losses, all that it did emit.
 * (The file's own count of events has the ends of unwound calls too.) */
static void write_counts(struct recorder *r)
{
    char text[24];

    snprintf(text, sizeof text, "%llu",
             (unsigned long long)r->tracees.stats.recorded - nsc_writer_dropped(r->writer));
    nsc_writer_meta(r->writer, "program_events", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)r->tracees.stats.left_out);
    if (r->tracees.stats.left_out > 0)
        nsc_writer_meta(r->writer, "left_out_events", text);
}

/* Is the file at @path built for tracing? */
static bool has_sites(const char *path)
{
    struct nsc_symbols_options options = {.size = sizeof options};
    struct nsc_symbols_site *sites = NULL;
    struct nsc_symbols *symbols = NULL;
    size_t count = 0;

    if (path == NULL || nsc_symbols_open(path, &options, &symbols, NULL) != 0)
        return false;
    if (nsc_symbols_sites(symbols, &sites, &count, NULL) != 0)
        count = 0;
    free(sites);
    nsc_symbols_close(symbols);
    return count > 0;
}

static int complete(struct recorder *r, struct nsc_record_result *result, struct nsc_diag *diag)
{
    int error = 0;
    struct stat st;

    drain_the_rest(r);
    fill_result(r, result);
    result->elapsed_ns = monotonic_ns() - r->start_ns;
    if (!result->recorded) {
        result->built = has_sites(r->program);
        nsc_writer_abandon(r->writer);
        return 0;
    }
    write_counts(r);
    nsc_names_resolve(&r->tracees.modules);
    result->file_bytes = nsc_writer_bytes(r->writer);
    error = nsc_writer_finish(r->writer, diag);
    if (error == 0 && stat(r->options->output, &st) == 0)
        result->file_bytes = (uint64_t)st.st_size;
    return error;
}

int nsc_record_run(const struct nsc_record_options *options, struct nsc_record_result *result,
                   struct nsc_diag *diag)
{
    struct recorder r = {.options = options};
    char *path;
    int error;

    *result = (struct nsc_record_result){0};
    error = nsc_spawn_find(options->argv[0], &path, diag);
    if (error != 0) {
        result->no_program = error == -ENOENT || error == -EACCES;
        return error;
    }
    error = prepare(&r, diag);
    if (error != 0) {
        free(path);
        return error;
    }
    write_meta(&r);
    if (nsc_clockpoint_frequency() != 0)
        nsc_writer_clock_frequency(r.writer, nsc_clockpoint_frequency());
    write_clock(&r);
    r.start_ns = r.progress_ns = monotonic_ns();
    r.second_ns = r.start_ns - (SECOND_NS - FIRST_SECOND_NS);
    r.sleep_ns = SLEEP_MIN_NS;
    r.drain.probed_ns = r.drain.checked_ns = r.start_ns;
    r.program = realpath(path, NULL);
    r.tracees.main_path = r.program;
    error = nsc_spawn(path, options->argv, r.session.path, &r.child, diag);
    free(path);
    if (error != 0) {
        result->no_program = true;
        nsc_writer_abandon(r.writer);
        release(&r);
        return error;
    }
    r.tracees.main_pid = r.child.pid;
    r.tracees.no_children = options->no_children;
    result->started = true;
    prctl(PR_SET_TIMERSLACK, 1000ul); /* only now: the program would inherit it */
    record(&r);
    error = complete(&r, result, diag);
    nsc_spawn_restore();
    release(&r);
    return error;
}
