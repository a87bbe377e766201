/* attach.c - see attach.h. */
#include "record/recorder/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/call/control_call.h"
#include "process/procfs/mapped_file.h"
#include "record/control/start_link.h"
#include "record/modules/filter_bitmap.h"
#include "record/recorder/recorder.h"
#include "record/recorder/recorder_end.h"
#include "record/session/clock_reading.h"
#include "record/session/session_processes.h"
#include "record/session/watchdog.h"
#include "record/switch/hook_switch.h"
#include "record/switch/patchable_switch.h"
#include "record/switch/switch_notice.h"
#include "util/now.h"

#define MS        1000000ull
/* Interval of checks for a requested end and for the program's end. */
#define LOOK_NS   (10 * MS)
/* The same interval if all of /proc must be searched. */
#define SEARCH_NS (200 * MS)
/* Timeout for a program that records itself to join, after it was allowed to. */
#define JOIN_NS   (10000 * MS)

struct attach {
    struct nsc_recorder recorder;
    const struct nsc_attach_options *options;
    struct nsc_attach_result *result;
    struct nsc_process_access *reach; /* NULL: the program joins by itself */
    struct nsc_start_link await;
    bool waits;       /* waiting for the program to join */
    int pidfd;        /* of the program; -1: none yet */
    bool from_inside; /* only the program can switch its sleds */
    bool exited;
    bool uncounted; /* the program has no /proc: the kernel does not count it as a user of the
                     * memory */
    uint64_t end_ns, looked_ns; /* end_ns UINT64_MAX: no limit */
    uint64_t searched_ns;       /* time of the last search for processes that map the memory */
};

/* ---- Signals --------------------------------------------------------------------------------- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static const int ignored[] = {SIGPIPE, SIGXFSZ, SIGIO /* from nsc_session_alone() */};
enum { ENDING = sizeof ending / sizeof ending[0], IGNORED = sizeof ignored / sizeof ignored[0] };

static struct sigaction before[ENDING + IGNORED];
static volatile sig_atomic_t interrupted; /* number of such signals */

static void on_signal(int number)
{
    (void)number;
    interrupted = interrupted + 1;
}

static void take_signals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    size_t i;

    interrupted = 0;
    nsc_watchdog_begin(&interrupted);
    for (i = 0; i < ENDING; i++) {
        sigaction(ending[i], &action, &before[i]);
        if (before[i].sa_handler == SIG_IGN) /* nohup, or a background job */
            sigaction(ending[i], &ignore, NULL);
    }
    for (i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &ignore, &before[ENDING + i]);
}

static void restore_signals(void)
{
    size_t i;

    nsc_watchdog_end();
    for (i = 0; i < ENDING; i++)
        sigaction(ending[i], &before[i], NULL);
    for (i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &before[ENDING + i], NULL);
}

/* ---- End of the recording -------------------------------------------------------------------- */

static bool user_wants_end(const struct attach *a)
{
    return interrupted != 0 ||
           (a->options->wants_end != NULL && a->options->wants_end(a->options->context));
}

static bool has_exited(const struct attach *a)
{
    struct pollfd set = {.fd = a->pidfd, .events = POLLIN};

    return a->pidfd >= 0 && poll(&set, 1, 0) > 0 && set.revents != 0;
}

/* Return true if any process has the session's memory. */
static bool is_mapped(struct attach *a)
{
    const struct nsc_record_session *session = &a->recorder.session;

    if (!nsc_session_alone(session))
        return true;
    if (!a->uncounted)
        return false;
    if (a->looked_ns - a->searched_ns < SEARCH_NS)
        return true;
    a->searched_ns = a->looked_ns;
    return nsc_session_processes_exist(session);
}

/* Return true if the program has ended, or executed another program: no process has the session's
 * memory any more. Its forked children keep the memory. */
static bool program_is_over(struct attach *a)
{
    struct nsc_recorder *r = &a->recorder;

    a->exited = a->exited || has_exited(a);
    r->waiting_for = a->exited ? r->tracees.live_processes : 0;
    if (is_mapped(a) && !(a->exited && r->options->no_children))
        return false;
    a->result->end = a->exited ? NSC_ATTACH_EXITED : NSC_ATTACH_EXEC;
    return true;
}

static bool end_as(struct attach *a, enum nsc_attach_end end)
{
    a->result->end = end;
    return true;
}

/* Make process @pid, which has joined, the recorded program. */
static void adopt_program(struct attach *a, pid_t pid)
{
    struct nsc_recorder *r = &a->recorder;
    char path[PATH_MAX];

    a->result->pid = pid;
    r->tracees.main_pid = pid;
    r->tracees.no_children = r->options->no_children;
    /* Not realpath(): the kernel's answer is resolved, and another user can have put links that
     * lead to a file system which never answers in its place. */
    nsc_mapped_program(pid, path, sizeof path);
    free(r->program);
    r->program = path[0] != 0 ? strdup(path) : NULL;
    r->tracees.main_path = r->program;
}

/* Check whether the awaited program has joined. */
static void look_for_program(struct attach *a, uint64_t now_ns)
{
    struct nsc_recorder *r = &a->recorder;
    pid_t pid = nsc_start_link_look(&r->session);

    if (pid == 0)
        return;
    nsc_start_link_end(&a->await);
    a->waits = false;
    adopt_program(a, pid);
    if (a->pidfd < 0)
        a->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (a->options->target == NULL && nsc_command_rename(&r->commands, pid, NULL) != 0)
        snprintf(a->result->warning, sizeof a->result->warning,
                 "another recorder listens for process %ld: stop this one by its own pid, %ld",
                 (long)pid, (long)getpid());
    r->phase = NSC_COMMAND_RECORDING;
    r->start_ns = now_ns;
    a->end_ns = a->options->duration_ns != 0 ? now_ns + a->options->duration_ns : UINT64_MAX;
    if (a->options->target == NULL && a->options->begun != NULL)
        a->options->begun(a->options->context, pid);
}

/* Return true if the program has requested the end in the shared memory. Any process that maps it
 * can do so. */
static bool program_wants_end(const struct attach *a)
{
    const struct nsc_live_header *header = a->recorder.session.header;

    return a->options->memory != 0 &&
           __atomic_load_n(&header->request, __ATOMIC_ACQUIRE) == NSC_LIVE_REQUEST_STOP;
}

static bool is_over(struct nsc_recorder *r, uint64_t now_ns)
{
    struct attach *a = r->context;

    if (a->waits)
        look_for_program(a, now_ns);
    if (now_ns >= a->end_ns)
        return end_as(a, NSC_ATTACH_DURATION);
    if (now_ns - a->looked_ns < LOOK_NS)
        return false;
    a->looked_ns = now_ns;
    if (user_wants_end(a) || program_wants_end(a))
        return end_as(a, NSC_ATTACH_ASKED);
    if (a->waits && a->options->memory != 0) /* it should have joined at once */
        return has_exited(a) || now_ns - a->recorder.start_ns > JOIN_NS;
    return !a->waits && program_is_over(a);
}

/* ---- Description of the program in the trace ------------------------------------------------- */

#define COMMAND_BYTES_MAX (128u << 10)

/* Read the program's command line, up to COMMAND_BYTES_MAX; the words end with NULL. The caller
 * frees both. Drops empty words at the end: a program that shows its own title there (setproctitle)
 * has cleared them. A program can make the command line as long as it likes (PR_SET_MM_MAP). */
static char **read_command(pid_t pid, char **text)
{
    char path[48], **words;
    size_t count = 0, i;
    ssize_t length = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
    file = fopen(path, "re");
    *text = malloc(COMMAND_BYTES_MAX + 1);
    if (file != NULL && *text != NULL)
        length = (ssize_t)fread(*text, 1, COMMAND_BYTES_MAX, file);
    if (*text != NULL)
        (*text)[length] = 0;
    if (file != NULL)
        fclose(file);
    for (i = 0; (ssize_t)i < length; i++)
        count += (*text)[i] == 0;
    words = calloc(count + 1, sizeof(char *));
    for (i = 0, count = 0; words != NULL && (ssize_t)i < length; i += strlen(*text + i) + 1)
        if (memchr(*text + i, 0, (size_t)length - i) != NULL)
            words[count++] = *text + i;
        else
            break;
    while (words != NULL && count > 1 && words[count - 1][0] == 0)
        words[--count] = NULL;
    return words;
}

static void describe(struct attach *a)
{
    char name[256] = "", directory[48], *named[] = {name, NULL}, *text = NULL, **words = NULL;
    const struct nsc_process_target *target = a->options->target;

    snprintf(directory, sizeof directory, "/proc/self/cwd");
    snprintf(name, sizeof name, "%s", target != NULL ? target->name : a->options->name);
    if (target != NULL) {
        snprintf(directory, sizeof directory, "/proc/%ld/cwd", (long)target->pid);
        words = read_command(target->pid, &text);
    }
    nsc_recorder_describe(&a->recorder, words != NULL && words[0] != NULL ? words : named,
                          directory);
    free(words);
    free(text);
}

/* ---- A running program ----------------------------------------------------------------------- */

/* Wait for the delay, before anything is changed in the program; false: the end was requested, or
 * the program ended. */
static bool wait_before(struct attach *a)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    uint64_t until_ns = nsc_now_ns() + a->options->delay_ns, now_ns;

    while ((now_ns = nsc_now_ns()) < until_ns) {
        nsc_recorder_serve(&a->recorder, now_ns);
        if (a->recorder.stop || user_wants_end(a) || has_exited(a)) {
            a->result->end = has_exited(a) ? NSC_ATTACH_EXITED : NSC_ATTACH_ASKED;
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Create the session in a memory file that the program has created, and make the program join. */
static int join(struct attach *a, struct nsc_diag *diag)
{
    struct nsc_recorder *r = &a->recorder;
    int made, memory, error = nsc_process_memory(a->reach, &made, diag);

    if (error != 0)
        return error;
    memory = fcntl(made, F_DUPFD_CLOEXEC, 3); /* never 0, which means none */
    close(made);
    if (memory < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot keep the session's memory: %s",
                            strerror(errno));
    r->target = *nsc_process_credentials(a->reach);
    error = nsc_recorder_open_session(r, memory, diag);
    if (error != 0)
        return error;
    nsc_session_hold_events(&r->session);
    describe(a);
    r->tracees.attached = true;
    nsc_switch_notice_begin(&r->tracees);
    nsc_recorder_begin(r);
    error = nsc_process_join(a->reach, diag);
    if (error != 0)
        return error;
    a->uncounted = nsc_session_alone(&r->session);
    if (a->uncounted)
        snprintf(a->result->warning, sizeof a->result->warning,
                 "process %ld sees no /proc (as in a chroot), and cannot make its hooks ready "
                 "without: mount /proc there",
                 (long)a->options->target->pid);
    adopt_program(a, a->options->target->pid);
    nsc_tracees_scan(&r->tracees, true);
    return 0;
}

/* Write the filter's verdicts to the shared memory, and let the program apply them. */
static int switch_on_inside(struct attach *a, struct nsc_diag *diag)
{
    struct nsc_recorder *r = &a->recorder;
    int64_t result;
    int error;
    uint32_t i;

    a->from_inside = true;
    for (i = 0; i < r->tracees.module_high && nsc_filter_by_function(r->in_force); i++) {
        const struct nsc_tracee_module *m = &r->tracees.module_slots[i];

        if (m->process != NULL && !m->unloaded)
            nsc_filter_bitmap_give(&r->session, &r->session.modules[i], &r->tracees.modules,
                                   &m->process->space.mappings[m->mapping]);
    }
    error = nsc_process_call(a->reach, NSC_CONTROL_APPLY, 0, &result, diag);
    if (error == 0 && result < 0)
        error =
            nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, (int)result,
                         "the program could not switch its hooks on: %s", strerror((int)-result));
    return error;
}

static int switch_on(struct attach *a, struct nsc_diag *diag)
{
    struct nsc_recorder *r = &a->recorder;
    struct nsc_sled_switch_stats stats = {0};
    int error = nsc_hook_switch_begin(&r->tracees, &stats, diag);

    a->result->switch_on_ns = stats.ns;
    if (error == -EPERM || error == -EACCES)
        error = switch_on_inside(a, diag);
    else if (error == 0)
        error = nsc_patchable_follow(&r->tracees, diag);
    nsc_switch_notice_enabled(&r->tracees, nsc_clock_reading_ticks());
    nsc_session_take_events(&r->session);
    return error;
}

/* Disable the hooks. The program itself must disable hooks that are not sleds, and sleds that the
 * recorder may not write. A process that cannot be asked stops at its next slow path, because the
 * session is closed. */
static void switch_off(struct attach *a)
{
    struct nsc_recorder *r = &a->recorder;
    struct nsc_diag diag;
    int64_t result;
    int error;

    nsc_call_limit_begin(&r->calls);
    nsc_switch_notice_end_recording(&r->tracees);
    if (a->reach != NULL && !a->exited && (a->from_inside || nsc_tracees_have_header(&r->tracees)))
        (void)nsc_process_call(a->reach, NSC_CONTROL_OFF, 0, &result, &diag);
    error = nsc_recorder_switch_off(r, &a->result->switch_off_ns, &diag);
    if (error != 0 && !a->from_inside)
        snprintf(a->result->warning, sizeof a->result->warning, "%s", diag.message);
}

static int begin_running(struct attach *a, struct nsc_diag *diag)
{
    struct nsc_recorder *r = &a->recorder;
    struct nsc_process_target target = *a->options->target;
    int error = nsc_command_open(target.pid, &r->commands, diag);

    target.limit = &r->calls;
    nsc_call_limit_begin(&r->calls);
    if (error == 0)
        error = nsc_process_open(&target, &a->reach, diag);
    if (error == 0)
        error = nsc_recorder_open_file(r, diag);
    if (error != 0)
        return error;
    a->pidfd = fcntl(nsc_process_pidfd(a->reach), F_DUPFD_CLOEXEC, 0);
    r->phase = NSC_COMMAND_WAITING;
    if (!wait_before(a))
        return 0;
    if (a->options->delay_ns != 0)
        nsc_call_limit_begin(&r->calls);
    error = join(a, diag);
    if (error != 0)
        return error;
    error = switch_on(a, diag);
    if (error != 0) {
        switch_off(a);
        return error;
    }
    r->phase = NSC_COMMAND_RECORDING;
    r->start_ns = nsc_now_ns();
    if (a->options->duration_ns != 0)
        a->end_ns = r->start_ns + a->options->duration_ns;
    if (a->options->begun != NULL)
        a->options->begun(a->options->context, target.pid);
    return 0;
}

/* ---- Waiting for a program ------------------------------------------------------------------- */

static int begin_waiting(struct attach *a, struct nsc_diag *diag)
{
    struct nsc_recorder *r = &a->recorder;
    int error = nsc_recorder_open_file(r, diag);

    if (error == 0)
        error = nsc_recorder_open_session(r, 0, diag);
    if (error == 0)
        error = nsc_command_open(getpid(), &r->commands, diag);
    if (error != 0)
        return error;
    r->phase = NSC_COMMAND_WAITING;
    r->program = strdup(a->options->name); /* by which `stop` finds this recorder */
    r->tracees.no_children = false;        /* until the program's process is known */
    describe(a);
    nsc_recorder_begin(r);
    a->waits = true;
    error = nsc_start_link_begin(&r->session, a->options->name, &a->await, diag);
    if (error == 0 && a->options->begun != NULL)
        a->options->begun(a->options->context, 0);
    return error;
}

/* ---- A program that requests its own recording ----------------------------------------------- */

static int begin_asked(struct attach *a, struct nsc_diag *diag)
{
    struct nsc_recorder *r = &a->recorder;
    int error = nsc_command_open(a->options->target->pid, &r->commands, diag);

    if (error == 0)
        error = nsc_recorder_open_file(r, diag);
    if (error == 0)
        error = nsc_recorder_open_session(r, a->options->memory, diag);
    if (error != 0)
        return error;
    /* The program releases the events when it has enabled its hooks. */
    nsc_session_hold_events(&r->session);
    a->pidfd = (int)syscall(SYS_pidfd_open, a->options->target->pid, 0);
    r->phase = NSC_COMMAND_WAITING;
    a->waits = true;
    describe(a);
    r->tracees.attached = true;
    nsc_switch_notice_begin(&r->tracees);
    nsc_recorder_begin(r);
    if (a->options->begun != NULL)
        a->options->begun(a->options->context, 0);
    return 0;
}

static int begin(struct attach *a, struct nsc_diag *diag)
{
    if (a->options->memory != 0)
        return begin_asked(a, diag);
    return a->options->target != NULL ? begin_running(a, diag) : begin_waiting(a, diag);
}

/* Write how long the program's code was being written, as a measure of the recording's influence.
 * It does not include changes that the program made itself, for instance when it requested the
 * recording. */
static void write_switching(struct attach *a)
{
    unsigned long long on = a->result->switch_on_ns, off = a->result->switch_off_ns;
    char text[64] = "";
    int at = 0;

    if (on > 0)
        at = snprintf(text, sizeof text, "on in %llu ns%s", on, off > 0 ? ", " : "");
    if (off > 0)
        snprintf(text + at, sizeof text - (size_t)at, "off in %llu ns", off);
    if (text[0] != 0)
        nsc_writer_meta(a->recorder.writer, "switching", text);
}

/* ---- Entry point ----------------------------------------------------------------------------- */

static void release(struct attach *a)
{
    nsc_start_link_end(&a->await);
    nsc_recorder_release(&a->recorder);
    nsc_process_close(a->reach);
    if (a->pidfd >= 0)
        close(a->pidfd);
    restore_signals();
}

/* Read the new name from a program that records itself. It may have exited right after sending
 * it. */
static void read_new_name(struct attach *a)
{
    const struct timespec pause = {0, 3000000}; /* the server polls every 2 ms */

    if (a->options->memory == 0)
        return;
    if (!a->recorder.stop) {
        nanosleep(&pause, NULL);
        nsc_recorder_serve(&a->recorder, nsc_now_ns());
    }
    memcpy(a->result->output, a->recorder.new_name, sizeof a->result->output);
}

int nsc_record_attach(const struct nsc_record_options *options,
                      const struct nsc_attach_options *attach, struct nsc_record_result *result,
                      struct nsc_attach_result *attach_result, struct nsc_diag *diag)
{
    struct attach a = {.options = attach,
                       .result = attach_result,
                       .await = {.directory = -1},
                       .pidfd = -1,
                       .end_ns = UINT64_MAX};
    int error;

    *result = (struct nsc_record_result){0};
    *attach_result = (struct nsc_attach_result){0};
    nsc_recorder_init(&a.recorder, options, is_over, &a);
    a.recorder.calls.signals = &interrupted;
    take_signals();
    error = begin(&a, diag);
    if (error == 0 && a.recorder.has_session) {
        nsc_recorder_loop(&a.recorder);
        read_new_name(&a);
        nsc_start_link_end(&a.await); /* free the name before clients are told of the end */
        switch_off(&a);
        write_switching(&a);
        error = nsc_recorder_complete(&a.recorder, result, diag);
    }
    release(&a);
    return error;
}
