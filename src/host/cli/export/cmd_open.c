/*
 * cmd_open.c - nanoscope open: serve the page that shows a trace, and open it in the browser.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/common/categories.h"
#include "cli/common/enter_key.h"
#include "cli/common/naming.h"
#include "cli/common/partial_trace.h"
#include "cli/common/reader_rights.h"
#include "cli/export/browser_launch.h"
#include "cli/open_options.h"
#include "cli/progress.h"
#include "formats/formats.h"
#include "util/os/partial_name.h"
#include "util/text/escape.h"
#include "util/text/units.h"
#include "viewer/server/serve.h"

#define TRACES_MAX 2
#define END_S      2 /* for workers that are busy with a request; a file can keep them for ever */

struct open_request {
    uint64_t port, idle_ns; /* idle_ns 0: no limit */
    const char **sources;   /* folders */
    size_t source_count;
    const char *categories;
    struct nsc_category_rules *rules;
    bool no_browser;
    struct nsc_serve_trace traces[TRACES_MAX];
    size_t trace_count;
    struct nsc_launch launch;
};

static volatile sig_atomic_t told_to_end;

/* ---- Options --------------------------------------------------------------------------------- */

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct open_request *r)
{
    switch ((enum nsc_open_option)given->id) {
    case NSC_OPEN_OPT_PORT:
        return nsc_cli_number(args, given, 1, UINT16_MAX, &r->port);
    case NSC_OPEN_OPT_IDLE:
        return nsc_cli_time(args, given, &r->idle_ns);
    case NSC_OPEN_OPT_SOURCE:
        r->sources[r->source_count++] = given->value;
        return 0;
    case NSC_OPEN_OPT_CATEGORIES:
        r->categories = given->value;
        return 0;
    case NSC_OPEN_OPT_NO_BROWSER:
        r->no_browser = true;
        return 0;
    }
    return 0;
}

static int check(const struct nsc_cli_args *args, const struct open_request *r)
{
    struct stat st;

    if (args->operand_count < 1 || args->operand_count > TRACES_MAX)
        return nsc_cli_usage(args, "a trace is needed, or two to compare");
    for (size_t i = 0; i < r->source_count; i++)
        if (stat(r->sources[i], &st) != 0 || !S_ISDIR(st.st_mode))
            return nsc_cli_error("--source: %s is no folder", r->sources[i]);
    return 0;
}

/* ---- Traces ---------------------------------------------------------------------------------- */

static void tick(void *context, uint64_t done, uint64_t total)
{
    nsc_progress_show(context, "importing", done, total);
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

/* Print what the trace contains, or why it cannot be opened. An unfinished file is read as far as
 * it is complete. @writer: the process that writes the file, or 0. Returns an exit status. */
static int look_into(struct nsc_serve_trace *file, pid_t writer)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    char calls[NSC_UNITS_MAX], threads[NSC_UNITS_MAX];
    const struct nsc_trace_info *info;
    struct nsc_trace *t;
    int error = nsc_trace_open_fd(dup(file->fd), file->name, 0, &t, &diag);

    file->growing = error == -EINPROGRESS && writer != 0 && is_alive(writer);
    if (error == -EINPROGRESS)
        error = nsc_trace_open_fd(dup(file->fd), file->name, NSC_NST_RECOVER, &t, &diag);
    if (error != 0)
        return nsc_cli_fail_in(file->name, &diag);
    info = nsc_trace_info(t);
    if (info->warning[0] != '\0' && !file->growing)
        nsc_cli_warn("%s", info->warning);
    nsc_text_put(stdout, file->name);
    printf(": %s call%s in %s thread%s%s\n", nsc_units_format_count(calls, info->calls),
           nsc_units_plural(info->calls), nsc_units_format_count(threads, info->system_threads),
           nsc_units_plural(info->system_threads),
           file->growing ? " so far: it is being recorded" : "");
    nsc_trace_close(t);
    return 0;
}

/* Name the functions of a growing trace from the programs and libraries that it lists. Another
 * user's trace is excluded: it could list any file, and we would open that with our rights. */
static void name_growing(struct nsc_serve_trace *file)
{
    struct stat st;

    if (fstat(file->fd, &st) != 0 || st.st_uid != geteuid()) {
        nsc_cli_warn("%s belongs to another user: its functions have no names until the recording "
                     "has ended",
                     file->name);
        return;
    }
    file->context = nsc_naming_new();
    file->name_functions = file->context != NULL ? nsc_naming_apply : NULL;
}

static int open_trace(struct open_request *r, const char *path)
{
    struct nsc_serve_trace *file = &r->traces[r->trace_count];
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_progress progress;
    struct nsc_formats_progress on_progress = {tick, &progress};
    bool absent = strcmp(path, "-") != 0 && access(path, F_OK) != 0;
    char *partial = absent ? nsc_cli_partial_of(path) : NULL;
    pid_t writer = 0;
    int error;

    nsc_partial_length(partial != NULL ? partial : path, &writer);
    nsc_progress_begin(&progress);
    error = nsc_formats_file(partial != NULL ? partial : path, &on_progress, &file->fd, &diag);
    nsc_progress_end(&progress);
    free(partial);
    if (error != 0)
        return nsc_cli_fail_in(path, &diag);
    file->name = path;
    r->trace_count++;
    if (diag.message[0] != '\0')
        nsc_cli_warn("%s", diag.message);
    error = look_into(file, writer);
    if (error == 0 && file->growing)
        name_growing(file);
    return error;
}

/* ---- Serving --------------------------------------------------------------------------------- */

static void on_signal(int number)
{
    (void)number;
    told_to_end = 1;
}

/* A second signal ends the process at once. */
static void watch_signals(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaction(ending[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void end_now(int number)
{
    (void)number;
    _exit(NSC_CLI_OK);
}

/* Warn once about a refused connection of another user. It may come from the browser of the person
 * who runs nanoscope as root. */
static void report_refused(struct nsc_serve *server, bool *is_reported)
{
    int64_t user = nsc_serve_refused_user(server);

    if (*is_reported || user == NSC_SERVE_REFUSED_NONE)
        return;
    *is_reported = true;
    if (user == NSC_SERVE_REFUSED_UNKNOWN)
        nsc_cli_warn("refused a connection whose user the kernel does not tell: run 'nanoscope "
                     "open' as another user than root");
    else
        nsc_cli_warn("refused a connection of user %" PRId64 ": only user %u may open the page%s",
                     user, geteuid(),
                     geteuid() == 0 ? "; run 'nanoscope open' as the user that runs the browser"
                                    : "");
}

static void serve_until_end(struct open_request *r, struct nsc_serve *server)
{
    bool watches = true, is_reported = false;

    while (!told_to_end && !nsc_cli_enter_pressed(&watches)) {
        poll(NULL, 0, 100);
        nsc_serve_look_after(server);
        report_refused(server, &is_reported);
        if (nsc_serve_is_logged_in(server))
            nsc_launch_forget(&r->launch);
        if (r->idle_ns != 0 && nsc_serve_idle_ns(server) > r->idle_ns) {
            char idle[NSC_UNITS_MAX];

            nsc_cli_warn("no page was open for %s: ended", nsc_units_format_ns(idle, r->idle_ns));
            return;
        }
    }
}

static int serve(struct open_request *r)
{
    struct nsc_serve_options options = {.size = sizeof options,
                                        .traces = r->traces,
                                        .trace_count = r->trace_count,
                                        .source_folders = r->sources,
                                        .source_folder_count = r->source_count,
                                        .rules = r->rules,
                                        .port = (uint16_t)r->port};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_serve *server;
    bool shown;

    watch_signals();
    if (nsc_serve_start(&options, &server, &diag) != 0)
        return nsc_cli_fail(&diag);
    puts(nsc_serve_address(server));
    fflush(stdout);
    shown = nsc_launch_browser(&r->launch, nsc_serve_entry_address(server));
    if (isatty(STDIN_FILENO) != 0)
        fputs(
            shown
                ? "Opened in the browser; if it shows no trace (one in a sandbox, such as snap's, "
                  "cannot read nanoscope's file), open this address there. (Press ENTER to end)\n"
                : "Open this address in a browser. (Press ENTER to end)\n",
            stderr);
    serve_until_end(r, server);
    nsc_launch_forget(&r->launch);
    signal(SIGALRM, end_now);
    alarm(END_S);
    nsc_serve_stop(server);
    alarm(0);
    return NSC_CLI_OK;
}

int nsc_cmd_open(const struct nsc_cli_args *args)
{
    struct open_request r = {.idle_ns = 600000000000u, .launch = {.socket = -1, .helper = -1}};
    int status = 0;

    r.sources = calloc(args->option_count + 1, sizeof *r.sources);
    if (r.sources == NULL)
        return nsc_cli_error("out of memory");
    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &r);
    if (status == 0)
        status = check(args, &r);
    if (status == 0)
        status = nsc_cli_read_rules(r.categories, &r.rules);
    if (status == 0 && !r.no_browser)
        nsc_launch_prepare(&r.launch);
    if (status == 0)
        nsc_cli_confine_server();
    for (size_t i = 0; i < args->operand_count && status == 0; i++)
        status = open_trace(&r, args->operands[i]);
    if (status == 0)
        status = serve(&r);
    nsc_launch_end(&r.launch);
    nsc_category_rules_free(r.rules);
    free(r.sources);
    for (size_t i = 0; i < r.trace_count; i++) {
        nsc_naming_free(r.traces[i].context);
        close(r.traces[i].fd);
    }
    return status;
}
