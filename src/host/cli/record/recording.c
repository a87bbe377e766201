/* recording.c - see recording.h. */
#include "cli/record/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/live.h"
#include "cli/record/deliver.h"
#include "util/os/partial_name.h"
#include "util/path.h"
#include "util/text/units.h"

#define BUFFER_MIN_BYTES   (64ull << 10)
#define BUFFER_MAX_BYTES   (1ull << 30)
#define BUDGET_MIN_PERCENT 0.1
#define BUDGET_MAX_PERCENT 100
/* In a shorter recording, the recorder has no time to reach the budget: no warning. */
#define BUDGET_SOON_NS     500000000ull
/* Of a default name that replaces no file. */
#define NUMBER_MAX         9999
/* A killed thread may lose up to this many events; a greater loss is due to a slow recorder. */
#define FEW_LOST           1000
/* A shorter recording has no progress line. */
#define PROGRESS_AFTER_NS  1000000000ull

/* The path of nanoscope-calibrate, in the folder of the libraries. NULL if it is missing: the cost
 * of the hooks is then not measured. */
static const char *find_calibrator(void)
{
    static char path[PATH_MAX + sizeof "/nanoscope-calibrate"];
    char folder[PATH_MAX];

    if (nsc_cli_libdir(folder, sizeof folder) != 0)
        return NULL;
    snprintf(path, sizeof path, "%s/nanoscope-calibrate", folder);
    return access(path, X_OK) == 0 ? path : NULL;
}

void nsc_recording_begin(struct nsc_recording *r)
{
    *r = (struct nsc_recording){
        .options = {.size = sizeof r->options, .calibrator = find_calibrator()}};
}

void nsc_recording_free(struct nsc_recording *r)
{
    nsc_filter_free(&r->options.filter);
    free(r->output);
    r->output = NULL;
}

/* ---- Options --------------------------------------------------------------------------------- */

static int read_mode(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                     struct nsc_recording *r)
{
    static const char *const modes[] = {"stream", "buffer", "ring", NULL};
    unsigned mode;
    int status = nsc_cli_choice(args, given, modes, &mode);

    if (status == 0)
        r->options.mode = (enum nsc_record_mode)mode;
    return status;
}

static int read_buffer(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct nsc_recording *r)
{
    uint64_t bytes;

    if (nsc_units_parse_bytes(given->value, &bytes) != 0 || bytes < BUFFER_MIN_BYTES ||
        bytes > BUFFER_MAX_BYTES)
        return nsc_cli_usage(args, "--buffer: a size from 64K to 1G is needed, not \"%s\"",
                             given->value);
    r->options.buffer_bytes = bytes;
    return 0;
}

static int read_ext(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                    struct nsc_recording *r)
{
    static const char *const kinds[] = {"none", "perf_timer", "cpu_timer", NULL};
    unsigned kind;
    int status = nsc_cli_choice(args, given, kinds, &kind);

    if (status != 0)
        return status;
    r->options.cpu_timer = kind == 2;
    r->no_samples = kind == 0;
    if (kind == 0)
        r->options.sample_ns = 0;
    else if (r->options.sample_ns == 0)
        r->options.sample_ns = NSC_METRICS_INTERVAL_NS;
    return 0;
}

static int read_timing(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct nsc_recording *r)
{
    static const char *const kinds[] = {"full", "entry", NULL};
    unsigned kind;
    int status = nsc_cli_choice(args, given, kinds, &kind);

    if (status == 0)
        r->options.entry_timing = kind == 1;
    return status;
}

static int read_interval(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                         struct nsc_recording *r)
{
    uint64_t ns;

    if (nsc_units_parse_ns(given->value, &ns) != 0 || ns < NSC_METRICS_INTERVAL_MIN_NS ||
        ns > NSC_METRICS_INTERVAL_MAX_NS)
        return nsc_cli_usage(args, "--interval: a time from 100us to 1s is needed, not \"%s\"",
                             given->value);
    r->options.sample_ns = r->no_samples ? 0 : ns;
    return 0;
}

static int read_budget(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct nsc_recording *r)
{
    char *end;
    double percent = strtod(given->value, &end);

    if (end != given->value && *end == '%')
        end++;
    if (end == given->value || *end != 0 ||
        !(percent >= BUDGET_MIN_PERCENT && percent <= BUDGET_MAX_PERCENT))
        return nsc_cli_usage(args, "--budget: a share from 0.1%% to 100%% is needed, not \"%s\"",
                             given->value);
    r->options.budget = percent / 100;
    return 0;
}

int nsc_recording_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                         struct nsc_recording *r)
{
    struct nsc_diag diag;
    int error;

    if (strcmp(given->name, "mode") == 0)
        return read_mode(args, given, r);
    if (strcmp(given->name, "buffer") == 0)
        return read_buffer(args, given, r);
    if (strcmp(given->name, "budget") == 0)
        return read_budget(args, given, r);
    if (strcmp(given->name, "timing") == 0)
        return read_timing(args, given, r);
    if (strcmp(given->name, "ext") == 0)
        return read_ext(args, given, r);
    if (strcmp(given->name, "interval") == 0)
        return read_interval(args, given, r);
    if (strcmp(given->name, "output") == 0)
        r->options.output = given->value;
    else if (strcmp(given->name, "compress") == 0)
        r->options.compress = true;
    else if (strcmp(given->name, "no-children") == 0)
        r->options.no_children = true;
    else if (strcmp(given->name, "quiet") == 0)
        r->quiet = true;
    else {
        error = nsc_filter_add(&r->options.filter, given->name, given->value, &diag);
        if (error == -ENOMEM)
            return nsc_cli_fail(&diag);
        if (error != 0)
            return nsc_cli_usage(args, "%s", diag.message);
    }
    return 0;
}

int nsc_recording_check(const struct nsc_cli_args *args, const struct nsc_recording *r)
{
    struct nsc_diag diag;

    if (r->options.budget > 0 && r->options.mode != NSC_RECORD_STREAM)
        return nsc_cli_usage(args, "--budget needs --mode stream");
    return nsc_filter_check(&r->options.filter, &diag) == 0
               ? 0
               : nsc_cli_usage(args, "%s", diag.message);
}

static int deliver(void *context, int fd, const char *trace, uint64_t *bytes, struct nsc_diag *diag)
{
    struct nsc_recording *r = context;
    int error;

    nsc_recording_hide_progress(r);
    error = nsc_deliver(fd, trace, r->options.output, r->quiet, bytes, diag);
    if (error == 0)
        snprintf(r->remark, sizeof r->remark, "%s", diag->message);
    return error;
}

/* Check an output that needs conversion. The recorder itself checks the name of a .nst file. */
static int check_output(struct nsc_recording *r)
{
    struct nsc_diag diag;

    if (nsc_deliver_format(r->options.output) == NULL)
        return 0;
    if (nsc_deliver_check(r->options.output, &diag) != 0)
        return nsc_cli_fail(&diag);
    r->options.deliver = deliver;
    r->options.context = r;
    return 0;
}

/* Set the default name, with @number if that is not 1. Returns 0 or -ENOMEM. */
static int set_default_name(struct nsc_recording *r, const char *program, unsigned number)
{
    const char *name = nsc_path_base_name(program);
    char suffix[16] = "", *output;

    if (number > 1)
        snprintf(suffix, sizeof suffix, "-%u", number);
    if (asprintf(&output, "%s%s.nst", *name != 0 ? name : "trace", suffix) < 0)
        return -ENOMEM;
    free(r->output);
    r->options.output = r->output = output;
    return 0;
}

int nsc_recording_name(struct nsc_recording *r, const char *program)
{
    if (r->options.output != NULL)
        return check_output(r);
    return set_default_name(r, program, 1) == 0 ? 0 : nsc_cli_error("out of memory");
}

/* Set the next default name that no file has. Returns 0, -ENOMEM, or -EEXIST if too many exist. */
static int set_free_name(struct nsc_recording *r)
{
    struct stat st;
    int error;

    do
        error = r->number < NUMBER_MAX ? set_default_name(r, r->program, ++r->number) : -EEXIST;
    while (error == 0 && lstat(r->options.output, &st) == 0);
    return error;
}

/* Rename the complete trace to its default name, or, if a file has that meanwhile, to the next. */
static int deliver_new(void *context, int fd, const char *trace, uint64_t *bytes,
                       struct nsc_diag *diag)
{
    struct nsc_recording *r = context;
    struct stat st;
    int error;

    while ((error = nsc_partial_publish_path(trace, r->options.output)) == -EEXIST &&
           (error = set_free_name(r)) == 0) {
    }
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                            "cannot write %s: %s; the recording is kept in %s", r->options.output,
                            strerror(-error), trace);
    if (fstat(fd, &st) == 0)
        *bytes = (uint64_t)st.st_size;
    return 0;
}

int nsc_recording_name_new(struct nsc_recording *r, const char *program)
{
    int error;

    if (r->options.output != NULL)
        return check_output(r);
    r->program = program;
    error = set_free_name(r);
    if (error == -EEXIST)
        return nsc_cli_error("%s exists, and all such names before it: name the trace with -o",
                             r->options.output);
    if (error != 0)
        return nsc_cli_error("out of memory");
    r->options.deliver = deliver_new;
    r->options.context = r;
    return 0;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static void show_progress(void *context, const struct nsc_record_progress *progress)
{
    struct nsc_recording *r = context;
    char calls[NSC_UNITS_MAX], size[NSC_UNITS_MAX];

    if (progress->elapsed_ns < PROGRESS_AFTER_NS)
        return;
    r->progress_shown = true;
    fprintf(stderr, "\r\033[Knanoscope: %s calls, %s, %llu s%s",
            nsc_units_format_count(calls, progress->calls),
            nsc_units_format_bytes(size, progress->file_bytes),
            (unsigned long long)(progress->elapsed_ns / 1000000000u),
            progress->waiting_for > 0 ? "; the program has ended, its children go on (Ctrl-C ends)"
                                      : "");
    fflush(stderr);
}

void nsc_recording_show_progress(struct nsc_recording *r)
{
    if (r->quiet || !isatty(STDERR_FILENO))
        return;
    r->options.progress = show_progress;
    r->options.context = r;
}

void nsc_recording_hide_progress(struct nsc_recording *r)
{
    if (r->progress_shown)
        fputs("\r\033[K", stderr);
    r->progress_shown = false;
}

/* ---- Summary --------------------------------------------------------------------------------- */

static const char *why_unread(int error)
{
    switch (error) {
    case -ENOENT:
    case -ESRCH:
        return geteuid() == 0 ? "deleted or replaced"
                              : "deleted or replaced, and only root may read it from the process";
    case -ESTALE:
        return "replaced by another build";
    case -EBADMSG:
    case -ENOEXEC:
        return "no ELF file of this machine, or a damaged one";
    case -EFBIG:
        return "it, or its symbols, are larger than nanoscope reads";
    case -ETIMEDOUT:
        return "its file system, or its parser, did not answer in time";
    case -EOPNOTSUPP:
        return "it is on FUSE, in /proc, /sys or the like, or on a mount that another user made";
    default:
        return strerror(-error);
    }
}

static void warn_problems(const struct nsc_recording *r, const struct nsc_record_result *result)
{
    if (result->lost > FEW_LOST && r->options.mode == NSC_RECORD_STREAM)
        nsc_cli_warn("the recorder could not keep up: give it a larger --buffer or a processor, or "
                     "leave busy functions out with -N");
    if ((result->problems & NSC_LIVE_PROBLEM_MPROTECT) != 0)
        nsc_cli_warn("some code could not be made writable: its calls are not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_FAR) != 0)
        nsc_cli_warn("some functions are out of reach of their hooks: they are not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_BARRIER) != 0)
        nsc_cli_warn(
            "code that runs could not be changed (membarrier is missing or forbidden): calls "
            "of modules that were loaded before the start are not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_NOPS) != 0)
        nsc_cli_warn("some functions have too few nops at their entries "
                     "(-fpatchable-function-entry=5, on AArch64 1): they are not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_MIXED) != 0)
        nsc_cli_warn("a program or library was linked from objects with different hooks: its "
                     "functions with patchable entries are not in the trace (compile all of it "
                     "with --hook patchable)");
    if ((result->problems & NSC_LIVE_PROBLEM_FILTER_TIMEOUT) != 0)
        nsc_cli_warn("a module got no answer on the filter in time: it is not in the trace");
    if ((result->problems & NSC_LIVE_PROBLEM_STATE) != 0)
        nsc_cli_warn("a process could not be recorded on this kernel");
    if ((result->problems & NSC_LIVE_PROBLEM_STALLED) != 0)
        nsc_cli_warn("the recorder stood still for minutes; a process gave it up, and what it did "
                     "after that is neither recorded nor counted");
    if ((result->problems & NSC_LIVE_PROBLEM_TIMER) != 0)
        nsc_cli_warn("some threads took no samples: the program handles SIGURG itself, or has too "
                     "many timers (ulimit -i); --ext perf_timer needs neither");
    if (result->unread_modules > 0)
        nsc_cli_warn("%u of the loaded files could not be read (the first: %s): their functions "
                     "have no names, and sleds in them stay off",
                     result->unread_modules, why_unread(result->unread_error));
    if (result->memory_failed)
        nsc_cli_warn("the system has no memory left for the session: the recording ended there");
    if (result->mistrusted)
        nsc_cli_warn("the program named a process of other privileges, or a module that is not "
                     "loaded where it said: hooks there were left as they were");
    if (result->limited)
        nsc_cli_warn("the program has more functions, modules, processes or threads than a "
                     "recording keeps: some calls are in the trace under '(functions beyond the "
                     "limit)', or count as lost");
    if (result->clamped > 0)
        nsc_cli_warn("the timer ran backwards %llu times; times around these places are wrong",
                     (unsigned long long)result->clamped);
}

/* With --timing entry: warn about modules whose hooks time exits nevertheless. */
static void say_timing(const struct nsc_record_result *result)
{
    uint32_t full = result->modules_in_full, all = result->modules_hooked;

    if (full > 0 && full == all)
        nsc_cli_warn("all calls were timed in full: the program's hooks, the header's or those of "
                     "patchable entries, always read the timer");
    else if (full > 0)
        nsc_cli_warn("calls of %u of %u modules were timed in full: their hooks, the header's or "
                     "those of patchable entries, always read the timer",
                     full, all);
}

/* Problems whose own warnings explain missing calls. */
#define WITHOUT_CALLS                                                                              \
    (NSC_LIVE_PROBLEM_MPROTECT | NSC_LIVE_PROBLEM_FAR | NSC_LIVE_PROBLEM_BARRIER |                 \
     NSC_LIVE_PROBLEM_NOPS | NSC_LIVE_PROBLEM_MIXED | NSC_LIVE_PROBLEM_FILTER_TIMEOUT |            \
     NSC_LIVE_PROBLEM_STATE)

/* Explain why a trace has no calls. */
static void warn_no_calls(const struct nsc_recording *r, const struct nsc_record_result *result)
{
    if (result->calls > 0 || result->lost > 0 || result->unread_modules > 0 ||
        (result->problems & WITHOUT_CALLS) != 0)
        return;
    if (result->left_out > 0)
        nsc_cli_warn("no call was recorded: the filter left out all there were");
    else if (r->filtered || nsc_filter_by_function(&r->options.filter))
        nsc_cli_warn("no call was recorded: the filter leaves no function that ran");
    else if (r->options.argv == NULL)
        nsc_cli_warn("no call was recorded: the program called nothing that has hooks meanwhile");
    else
        nsc_cli_warn("no call was recorded: no function that ran has hooks; are the sources "
                     "compiled with `nanoscope cc` or `nanoscope c++`, not only linked?");
}

/* Print the source and the number of samples, and warnings about them. */
static void summarise_metrics(const struct nsc_record_result *result)
{
    static const char *const sources[] = {
        [NSC_METRICS_PERF] = "perf_event_open",
        [NSC_METRICS_PERF_USER] = "perf_event_open in user mode",
        [NSC_METRICS_PROC] = "/proc",
    };
    const struct nsc_metrics_summary *m = &result->metrics;
    char taken[NSC_UNITS_MAX], share[NSC_UNITS_MAX], interval[NSC_UNITS_MAX];
    char due[NSC_UNITS_MAX + 16] = "";
    uint32_t all = m->threads + m->missed + m->refused;

    if (m->due > 0)
        snprintf(due, sizeof due, "%s of those due, ",
                 nsc_units_format_share(share, m->taken < m->due ? m->taken : m->due, m->due));
    fprintf(stderr, "nanoscope: %s samples every %s of CPU time by %s, %sof %u of %u thread%s\n",
            nsc_units_format_count(taken, m->taken), nsc_units_format_ns(interval, m->interval_ns),
            m->by_program ? "timers in the program" : sources[m->source], due, m->threads, all,
            nsc_units_plural(all));
    if (m->source == NSC_METRICS_PROC)
        nsc_cli_warn("perf_event_open is not permitted (%s), so %sstates are coarse; "
                     "`nanoscope doctor` says what mends that",
                     strerror(-m->perf_error), m->by_program ? "" : "samples and ");
    if (result->heap_uncounted > 0)
        nsc_cli_warn("what %u thread%s allocated is not counted: there were too many",
                     result->heap_uncounted, nsc_units_plural(result->heap_uncounted));
    if (m->refused > 0)
        nsc_cli_warn("%u thread%s could not be sampled: %s", m->refused,
                     nsc_units_plural(m->refused),
                     m->refused_error == -EMFILE ? "the limit on open files is reached (ulimit -Hn)"
                                                 : strerror(-m->refused_error));
    if (m->lost > 0)
        nsc_cli_warn("%llu records of samples and switches came faster than they could be read; "
                     "some states are missing",
                     (unsigned long long)m->lost);
}

static void say_budget(const struct nsc_recording *r, const struct nsc_record_result *result)
{
    if (r->options.budget <= 0)
        return;
    fprintf(stderr, "nanoscope: budget %.3g %%: recording took %.1f %% by its own count",
            r->options.budget * 100, result->overhead * 100);
    if (result->left_out_functions > 0)
        fprintf(stderr, "; %u function%s left out at the end (nanoscope info --left-out)",
                result->left_out_functions, nsc_units_plural(result->left_out_functions));
    fputc('\n', stderr);
    if (result->budget_error != 0)
        nsc_cli_warn("functions could not be switched off (%s): the budget was not kept",
                     strerror(-result->budget_error));
    else if (result->overhead > r->options.budget * 1.1 && result->elapsed_ns > BUDGET_SOON_NS)
        nsc_cli_warn("the budget was not kept: what costs most could not be switched off");
}

void nsc_recording_summarise(const struct nsc_recording *r, const struct nsc_record_result *result)
{
    char calls[NSC_UNITS_MAX], lost[NSC_UNITS_MAX], size[NSC_UNITS_MAX], time[NSC_UNITS_MAX];
    char processes[NSC_UNITS_MAX + 16] = "", calling[NSC_UNITS_MAX + 16] = "";
    const char *format = nsc_deliver_format(r->options.output);

    if (result->processes > 1)
        snprintf(processes, sizeof processes, "%u processes, ", result->processes);
    if (result->calling < result->threads) /* the number of threads in `report` */
        snprintf(calling, sizeof calling, " (%u with calls)", result->calling);
    nsc_cli_say("%s call%s, %s%u thread%s%s, %s lost, %s, %s -> %s%s%s",
                nsc_units_format_count(calls, result->calls), nsc_units_plural(result->calls),
                processes, result->threads, nsc_units_plural(result->threads), calling,
                nsc_units_format_count(lost, result->lost),
                nsc_units_format_bytes(size, result->file_bytes),
                nsc_units_format_ns(time, result->elapsed_ns), r->options.output,
                format != NULL ? ", format " : "", format != NULL ? format : "");
    if (r->remark[0] != 0)
        nsc_cli_warn("%s", r->remark);
    if (result->measured)
        summarise_metrics(result);
    else if (r->options.sample_ns != 0)
        nsc_cli_warn("no memory for samples: there are none");
    say_budget(r, result);
    warn_problems(r, result);
    say_timing(result);
    warn_no_calls(r, result);
}
