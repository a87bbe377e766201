/*
 * doctor_running.c - checks whether programs that already run can be traced. Tries ptrace on a
 * process that is not our child. Leaves no process and no file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "process/find/process_find.h"
#include "process/find/user_folder.h"

#define LISTEN_INSTEAD "programs started by `nanoscope run` can be traced all the same"

/* ---- ptrace ---------------------------------------------------------------------------------- */

/* The target of the ptrace test: waits for the end of the test, then exits. */
static _Noreturn void wait_for_end(int hold)
{
    char byte;

    while (read(hold, &byte, 1) < 0 && errno == EINTR)
        ;
    _exit(0);
}

/* Start a process that is not our child, like the processes that users trace: some systems permit
 * ptrace of children only. Returns its pid or -errno. The process exits when @hold[1] is closed. */
static pid_t make_stranger(const int hold[2])
{
    pid_t child, stranger = -EIO;
    int told[2];

    if (pipe2(told, O_CLOEXEC) != 0)
        return -errno;
    child = fork();
    if (child == 0) {
        close(hold[1]);
        stranger = fork();
        if (stranger == 0)
            wait_for_end(hold[0]);
        _exit(write(told[1], &stranger, sizeof stranger) != (ssize_t)sizeof stranger);
    }
    close(told[1]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (read(told[0], &stranger, sizeof stranger) != (ssize_t)sizeof stranger || stranger <= 0)
        stranger = -EIO;
    close(told[0]);
    return stranger;
}

/* Returns 0 or a positive errno. The process stays seized until it exits, as the test ends. */
static int try_ptrace(void)
{
    int hold[2], error;
    pid_t stranger;

    if (pipe2(hold, O_CLOEXEC) != 0)
        return errno;
    stranger = make_stranger(hold);
    if (stranger <= 0)
        error = (int)-stranger;
    else
        error = ptrace(PTRACE_SEIZE, stranger, NULL, NULL) != 0 ? errno : 0;
    close(hold[1]);
    close(hold[0]);
    if (stranger > 0 && error == 0)
        waitpid(stranger, NULL, 0); /* a tracer must reap it, else its parent is not notified */
    return error;
}

static void check_ptrace(struct nsc_doctor *d)
{
    int scope = nsc_process_yama_scope(), error = try_ptrace();

    if (error == 0)
        nsc_doctor_add(d, "running", "ptrace", NSC_DOCTOR_OK, NULL,
                       "programs that run already can be traced as they are");
    else if (scope >= 3)
        nsc_doctor_add(d, "running", "ptrace", NSC_DOCTOR_NOTE, NULL,
                       "forbidden to everybody until the next boot "
                       "(kernel.yama.ptrace_scope=%d); " LISTEN_INSTEAD,
                       scope);
    else if (scope > 0)
        nsc_doctor_add(d, "running", "ptrace", NSC_DOCTOR_NOTE,
                       "sudo sysctl kernel.yama.ptrace_scope=0",
                       "kernel.yama.ptrace_scope=%d permits %s; " LISTEN_INSTEAD, scope,
                       scope == 1 ? "a parent to trace its child, not more" : "root only");
    else
        nsc_doctor_add(d, "running", "ptrace", NSC_DOCTOR_NOTE,
                       "in a container: start it with --cap-add SYS_PTRACE",
                       "not permitted here (%s); " LISTEN_INSTEAD, strerror(error));
}

/* ---- Where endpoints and recorders listen ---------------------------------------------------- */

/* Find the first candidate folder that is private to this user. The preferred one may be absent, as
 * it is created on demand. */
static void check_directory(struct nsc_doctor *d)
{
    char path[NSC_USER_FOLDER_MAX], usual[NSC_USER_FOLDER_MAX], remedy[128];
    struct stat st;

    nsc_user_folder_path(geteuid(), 0, usual);
    for (unsigned i = 0; i < NSC_CONTROL_FOLDERS; i++) {
        nsc_user_folder_path(geteuid(), i, path);
        if (nsc_user_folder_is_private(path, geteuid())) {
            nsc_doctor_add(d, "running", "endpoints", NSC_DOCTOR_OK, NULL,
                           "%s is this user's alone", path);
            return;
        }
        if (lstat(path, &st) != 0 && errno == ENOENT && i == 0) {
            nsc_doctor_add(d, "running", "endpoints", NSC_DOCTOR_OK, NULL,
                           "%s: made when it is needed", path);
            return;
        }
    }
    snprintf(remedy, sizeof remedy, "sudo rm -r %s", usual);
    nsc_doctor_add(d, "running", "endpoints", NSC_DOCTOR_NOTE, remedy,
                   "%s is not this user's alone; another folder takes its place where one can be "
                   "made",
                   usual);
}

void nsc_doctor_running(struct nsc_doctor *d)
{
    check_ptrace(d);
    check_directory(d);
}
