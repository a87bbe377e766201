/*
 * run_program.c - `nanoscope record`: starts the program, and records until it and its children
 * have ended.
 *
 * See recording_options.h and spawn_program.h; recorder.c controls the course of the recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "metrics/malloc_samples.h"
#include "record/recorder/recorder.h"
#include "record/recorder/recorder_end.h"
#include "record/session/spawn_program.h"
#include "symbols/symbols.h"

/* After the program's end: time during which no process may have the session's memory, unless the
 * program was the only one ever. Other processes may be between exec and their first
 * constructor. */
#define GRACE_NS         100000000ull
#define LOOK_AT_CHILD_NS 10000000l

struct run {
    struct nsc_recorder recorder;
    struct nsc_child child;
    uint64_t alone_ns; /* since when no process has the memory; 0 = some process does */
};

/* Check that programs can open the session by its path. If the recorder cannot, they would silently
 * not be recorded. */
static int check_session(const struct nsc_record_session *session, struct nsc_diag *diag)
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

/* Return true if everything that belongs to the recording has ended. */
static bool is_over(struct nsc_recorder *r, uint64_t now_ns)
{
    struct run *run = r->context;

    if (!nsc_spawn_look(&run->child))
        return false;
    nsc_tracees_main_ended(&r->tracees, run->child.status);
    r->waiting_for = r->tracees.live_processes;
    if (r->options->until_main || r->options->no_children || nsc_spawn_interrupts() > 0)
        return true;
    if (!nsc_session_alone(&r->session)) {
        run->alone_ns = 0;
        return false;
    }
    if (nsc_tracees_main_only(&r->tracees))
        return true;
    if (run->alone_ns == 0)
        run->alone_ns = now_ns;
    return now_ns - run->alone_ns >= GRACE_NS;
}

/* Return true if the file at @path is built for tracing. */
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

/* Prepare counting the program's allocations. */
static int prepare_heap(struct nsc_recorder *r, struct nsc_diag *diag)
{
    const char *library = r->options->heap_library;

    if (strpbrk(library, " :") != NULL)
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, EINVAL,
            "calls of malloc cannot be counted: LD_PRELOAD cannot name %s, which has "
            "a space or a colon in its path",
            library);
    if (access(library, R_OK) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno,
                            "calls of malloc cannot be counted: %s: %s", library, strerror(errno));
    return nsc_malloc_samples_create(&r->heap, diag);
}

static int spawn(struct run *run, const char *path, struct nsc_diag *diag)
{
    const struct nsc_recorder *r = &run->recorder;
    struct nsc_spawn_heap heap = {.library = r->options->heap_library};

    if (r->heap != NULL)
        heap.memory = nsc_malloc_samples_path(r->heap);
    return nsc_spawn(path, r->options->argv, r->session.path, r->heap != NULL ? &heap : NULL,
                     &run->child, diag);
}

/* Do everything that precedes the program's start. */
static int prepare(struct run *run, char *path, struct nsc_diag *diag)
{
    struct nsc_recorder *r = &run->recorder;
    int error = nsc_recorder_open_file(r, diag);

    if (error == 0)
        error = nsc_recorder_open_session(r, 0, diag);
    if (error == 0)
        error = check_session(&r->session, diag);
    if (error == 0 && r->options->heap_library != NULL)
        error = prepare_heap(r, diag);
    if (error != 0)
        return error;
    nsc_recorder_describe(r, r->options->argv, "/proc/self/cwd");
    r->program = realpath(path, NULL);
    r->tracees.main_path = r->program;
    return 0;
}

/* Wait for the program: its status is needed even if the recording was stopped. */
static void wait_for(struct nsc_child *child)
{
    const struct timespec pause = {.tv_nsec = LOOK_AT_CHILD_NS};

    while (!nsc_spawn_look(child))
        nanosleep(&pause, NULL);
}

int nsc_record_run(const struct nsc_record_options *options, struct nsc_record_result *result,
                   struct nsc_diag *diag)
{
    struct run run = {0};
    struct nsc_recorder *r = &run.recorder;
    char *path;
    int error;

    *result = (struct nsc_record_result){0};
    nsc_recorder_init(r, options, is_over, &run);
    error = nsc_spawn_find(options->argv[0], &path, diag);
    if (error != 0) {
        result->no_program = error == -ENOENT || error == -EACCES;
        return error;
    }
    error = prepare(&run, path, diag);
    if (error == 0) {
        nsc_recorder_begin(r);
        error = spawn(&run, path, diag);
        result->no_program = error != 0;
    }
    free(path);
    if (error == 0) {
        r->tracees.main_pid = run.child.pid;
        result->started = true;
        (void)nsc_command_open(run.child.pid, &r->commands, NULL); /* optional */
        nsc_recorder_loop(r);
        if (!run.child.ended) {
            nsc_call_limit_begin(&r->calls);
            (void)nsc_recorder_switch_off(r, NULL, NULL); /* hooks left enabled cost little */
        }
        error = nsc_recorder_complete(r, result, diag);
        nsc_command_close(&r->commands);
        wait_for(&run.child);
        result->status = run.child.status;
        if (error == 0 && !result->recorded)
            result->built = has_sites(r->program);
        nsc_spawn_restore();
    }
    nsc_recorder_release(r);
    return error;
}
