/* spawn_program.c - see spawn_program.h. */
#include "record/session/spawn_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "abi/live.h"
#include "abi/malloc_counts.h"
#include "record/session/watchdog.h"

/* Signals handled while the program runs. */
static const struct {
    int number;
    bool pass_on; /* forward to the program, unless the terminal sent it */
} handled[] = {
    {SIGINT, false},  {SIGQUIT, false}, {SIGTERM, true},  {SIGHUP, true},
    {SIGTSTP, false}, {SIGTTIN, false}, {SIGTTOU, false}, {SIGXFSZ, false},
    {SIGPIPE, false}, {SIGIO, false}, /* raised by the lease of nsc_session_alone() */
};
enum { HANDLED = sizeof handled / sizeof handled[0] };

static struct sigaction before[HANDLED];
static struct sigaction children_before; /* previous action of SIGCHLD, if it was changed */
static bool children_taken;
static volatile pid_t program; /* 0 once it has ended */
static volatile sig_atomic_t interrupts;

static int refuse_privileged(const char *path, const struct stat *st, struct nsc_diag *diag)
{
    const char *what = NULL;
    char capability[64];

    if ((st->st_mode & S_ISUID) != 0 && st->st_uid != geteuid())
        what = "set-user-ID";
    else if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getegid())
        what = "set-group-ID";
    else if (geteuid() != 0 &&
             getxattr(path, "security.capability", capability, sizeof capability) > 0)
        what = "equipped with file capabilities";
    if (what == NULL)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPERM,
                        "%s is %s: a program with privileges of its own is not recorded; record a "
                        "plain copy of it",
                        path, what);
}

static int check_program(const char *path, struct nsc_diag *diag)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot run %s: %s", path,
                            strerror(errno));
    if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EACCES, "cannot run %s: %s", path,
                            S_ISDIR(st.st_mode) ? "it is a directory" : "it is not executable");
    return refuse_privileged(path, &st, diag);
}

int nsc_spawn_find(const char *program_name, char **path, struct nsc_diag *diag)
{
    const char *at = getenv("PATH");
    char *candidate = NULL;
    int error;

    if (strchr(program_name, '/') != NULL) {
        error = check_program(program_name, diag);
        if (error != 0)
            return error;
        candidate = strdup(program_name);
        if (candidate == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        *path = candidate;
        return 0;
    }
    error = -ENOENT;
    for (at = at != NULL ? at : "/bin:/usr/bin"; *program_name != 0; at++) {
        size_t length = strcspn(at, ":");
        struct stat st;

        if (asprintf(&candidate, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "", program_name) <
            0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        if (stat(candidate, &st) == 0 && S_ISREG(st.st_mode)) {
            if (access(candidate, X_OK) == 0) {
                error = check_program(candidate, diag);
                if (error != 0)
                    free(candidate);
                else
                    *path = candidate;
                return error;
            }
            error = -EACCES;
        }
        free(candidate);
        at += length;
        if (*at == 0)
            break;
    }
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -error, "cannot run %s: %s", program_name,
                        error == -EACCES ? "it is not executable" : "no such program in PATH");
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    size_t i;

    (void)context;
    if (program == 0 && (number == SIGINT || number == SIGTERM || number == SIGHUP))
        interrupts++;
    for (i = 0; i < HANDLED && program != 0; i++)
        /* SI_KERNEL: the terminal has signalled the whole process group, including the program. */
        if (handled[i].number == number && handled[i].pass_on && info->si_code != SI_KERNEL)
            kill(program, number);
    errno = saved;
}

/* Installs a handler even for signals that need no action: exec resets caught signals to their
 * default, but keeps ignored ones ignored. */
static void take_signals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    size_t i;

    nsc_watchdog_begin(&interrupts);
    sigfillset(&action.sa_mask);
    for (i = 0; i < HANDLED; i++) {
        sigaction(handled[i].number, &action, &before[i]);
        if (before[i].sa_handler == SIG_IGN) /* nohup: keep it ignored */
            sigaction(handled[i].number, &ignore, NULL);
    }
    /* If the program takes the terminal, this process is in the background, where `stty tostop`
     * would stop it at the next progress line. Ignoring the signal lets it write. */
    sigaction(SIGTTOU, &ignore, NULL);
}

void nsc_spawn_own_children(void)
{
    const struct sigaction deflt = {.sa_handler = SIG_DFL};

    children_taken = sigaction(SIGCHLD, &deflt, &children_before) == 0;
}

void nsc_spawn_restore(void)
{
    size_t i;

    nsc_watchdog_end();
    for (i = 0; i < HANDLED; i++)
        sigaction(handled[i].number, &before[i], NULL);
}

/* Runs a script that names no interpreter with /bin/sh, as execvp(3), nohup, env and time do. */
static void run_script(const char *path, char *const *argv)
{
    static char interpreter[] = "/bin/sh";
    char *script = strdup(path);
    size_t count = 0, i;
    char **shell;

    while (argv[count] != NULL)
        count++;
    shell = calloc(count + 2, sizeof(char *));
    if (shell != NULL && script != NULL) {
        shell[0] = interpreter;
        shell[1] = script;
        for (i = 1; i < count; i++)
            shell[i + 1] = argv[i];
        execv(interpreter, shell);
    }
    free(shell);
    free(script);
}

/* Puts @library first in LD_PRELOAD. */
static int preload(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char *all = NULL;

    if (others == NULL || *others == 0)
        return setenv("LD_PRELOAD", library, 1);
    if (asprintf(&all, "%s:%s", library, others) < 0 || setenv("LD_PRELOAD", all, 1) != 0) {
        errno = ENOMEM;
        return -1;
    }
    free(all);
    return 0;
}

static int set_environment(const char *live_path, const struct nsc_spawn_heap *heap)
{
    if (setenv(NSC_LIVE_ENV, live_path, 1) != 0)
        return -1;
    if (heap == NULL)
        return 0;
    return setenv(NSC_MALLOC_ENV, heap->memory, 1) == 0 ? preload(heap->library) : -1;
}

static _Noreturn void run_program(const char *path, char *const *argv, const char *live_path,
                                  const struct nsc_spawn_heap *heap, const sigset_t *mask,
                                  int report)
{
    int error;

    if (set_environment(live_path, heap) == 0) {
        if (children_taken)
            sigaction(SIGCHLD, &children_before, NULL);
        sigprocmask(SIG_SETMASK, mask, NULL);
        execv(path, argv);
        if (errno == ENOEXEC)
            run_script(path, argv);
    }
    error = errno;
    if (write(report, &error, sizeof error) != (ssize_t)sizeof error)
        _exit(127);
    _exit(126);
}

int nsc_spawn(const char *path, char *const *argv, const char *live_path,
              const struct nsc_spawn_heap *heap, struct nsc_child *child, struct nsc_diag *diag)
{
    sigset_t all, mask;
    int report[2], error = 0;
    ssize_t got;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot make a pipe: %s",
                            strerror(errno));
    /* Block all signals until the handlers are in place and the program's pid is known. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    pid = fork();
    if (pid == 0)
        run_program(path, argv, live_path, heap, &mask, report[1]);
    error = pid < 0 ? errno : 0;
    close(report[1]);
    if (pid > 0) {
        program = pid;
        interrupts = 0;
        take_signals();
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (pid > 0) {
        do
            got = read(report[0], &error, sizeof error);
        while (got < 0 && errno == EINTR);
        if (got == (ssize_t)sizeof error) {
            waitpid(pid, NULL, 0);
            program = 0;
            nsc_spawn_restore();
        } else {
            error = 0;
        }
    }
    close(report[0]);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot run %s: %s", path,
                            strerror(error));
    *child = (struct nsc_child){.pid = pid};
    return 0;
}

/* Stops this process when the terminal has stopped the program, so that the shell sees one stopped
 * job. Continues the program when this process is continued. */
static void stop_along(const struct nsc_child *child, int number)
{
    struct sigaction deflt = {.sa_handler = SIG_DFL}, ours;

    if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU)
        return; /* not stopped by the terminal: the sender will continue it */
    sigaction(number, &deflt, &ours);
    kill(getpid(), number);
    sigaction(number, &ours, NULL);
    kill(child->pid, SIGCONT);
}

bool nsc_spawn_look(struct nsc_child *child)
{
    int status;

    pid_t pid;

    if (child->ended)
        return true;
    pid = waitpid(child->pid, &status, WNOHANG | WUNTRACED);
    if (pid < 0 && errno == ECHILD)
        status = 0; /* already reaped elsewhere */
    else if (pid != child->pid)
        return false;
    if (WIFSTOPPED(status)) {
        stop_along(child, WSTOPSIG(status));
        return false;
    }
    program = 0;
    child->ended = true;
    child->status = status;
    return true;
}

unsigned nsc_spawn_interrupts(void)
{
    return (unsigned)interrupts;
}

int nsc_spawn_exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
