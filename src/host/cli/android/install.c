/*
 * install.c - see install.h.
 *
 * The output of adb goes to a pipe. It is searched for the reason of a failure, and shown only
 * then.
 */
#include "cli/android/install.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"

#define SAID_MOST 16384 /* bytes of adb's output that are kept */

struct adb {
    const char *program;
    char said[SAID_MOST];
    int status; /* as from waitpid() */
};

/* Read all output, so that adb does not block on a full pipe, and keep its first part. */
static void listen_to(struct adb *adb, int fd)
{
    char rest[4096];
    size_t used = 0;

    for (;;) {
        size_t room = sizeof adb->said - 1 - used;
        ssize_t n = room > 0 ? read(fd, adb->said + used, room) : read(fd, rest, sizeof rest);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (room > 0)
            used += (size_t)n;
    }
    adb->said[used] = '\0';
}

static int spawn(const char *program, const char *const *argv, int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    char *words[8];
    int error;

    /* posix_spawnp() changes none of them. */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        memcpy(&words[i], &argv[i], sizeof words[i]);
        if (words[i] == NULL)
            break;
    }
    error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return -error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    if (error == 0)
        error = posix_spawnp(pid, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

/* Run adb with the arguments @a, @b ... Returns 0 if it could be run, or -errno. */
static int run(struct adb *adb, const char *a, const char *b, const char *c, const char *d)
{
    const char *argv[8] = {adb->program, a, b, c, d, NULL};
    int ends[2], error;
    pid_t pid = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    error = spawn(adb->program, argv, ends[1], &pid);
    close(ends[1]);
    if (error == 0) {
        listen_to(adb, ends[0]);
        while (waitpid(pid, &adb->status, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return error;
}

/* Older versions of adb exit with 0 even if the device reports a failure. */
static bool succeeded(const struct adb *adb)
{
    return WIFEXITED(adb->status) && WEXITSTATUS(adb->status) == 0 &&
           strstr(adb->said, "Failure") == NULL;
}

/* Whether the installed app has another signature. */
static bool clashes(const struct adb *adb)
{
    static const char *const words[] = {
        "INSTALL_FAILED_UPDATE_INCOMPATIBLE",
        "INSTALL_PARSE_FAILED_INCONSISTENT_CERTIFICATES",
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(adb->said, words[i]) != NULL)
            return true;
    return false;
}

/* Find the line with the reason of a failure in adb's output: the first with "Failure" or the
 * prefix "adb: ", else the last. */
static const char *reason(struct adb *adb, char out[512])
{
    const char *best = "";
    bool told = false;
    char *rest = NULL;

    for (char *line = strtok_r(adb->said, "\r\n", &rest); line != NULL && !told;
         line = strtok_r(NULL, "\r\n", &rest)) {
        if (line[strspn(line, " \t")] == '\0')
            continue;
        line += strspn(line, " \t");
        best = strncmp(line, "adb: ", 5) == 0 ? line + 5 : line;
        told = strstr(line, "Failure") != NULL || strncmp(line, "adb: ", 5) == 0;
    }
    if (*best == '\0' && WIFSIGNALED(adb->status))
        snprintf(out, 512, "it was ended by signal %d", WTERMSIG(adb->status));
    else if (*best == '\0')
        snprintf(out, 512, "it ended with status %d", WEXITSTATUS(adb->status));
    else
        snprintf(out, 512, "%.400s", best);
    for (char *p = out; *p != '\0'; p++) /* text from a device: no control characters */
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    return out;
}

static int failed(struct adb *adb, const char *what, const char *name)
{
    char why[512];

    return nsc_cli_error("cannot %s %s: adb: %s", what, name, reason(adb, why));
}

static int cannot_run(const struct adb *adb, int error)
{
    if (error == -ENOENT)
        return nsc_cli_error(
            "cannot install: there is no %s (Debian: apt install adb; or name it in "
            "the environment variable ADB)",
            adb->program);
    return nsc_cli_error("cannot run %s: %s", adb->program, strerror(-error));
}

/* Ask at the terminal whether to uninstall the app, unless @yes. Returns 0, or an exit status after
 * a message. */
static int permitted(const char *package, bool yes)
{
    char answer[16] = "";

    if (yes)
        return 0;
    if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0)
        return nsc_cli_error(
            "%s is installed with another signature: it must be uninstalled first, "
            "and its data are lost then; --yes does it",
            package);
    fflush(stdout);
    fprintf(stderr,
            "%s is installed with another signature. It must be uninstalled first, and its data "
            "are lost then.\nUninstall it? [y/N] ",
            package);
    fflush(stderr);
    if (fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y'))
        return 0;
    return nsc_cli_error("%s was not installed", package);
}

int nsc_cli_install(const char *apk, const char *package, bool yes, bool quiet)
{
    const char *named = secure_getenv("ADB");
    struct adb *adb = calloc(1, sizeof *adb);
    int error, status = 0;

    if (adb == NULL)
        return nsc_cli_error("out of memory");
    adb->program = named != NULL && *named != '\0' ? named : "adb";
    error = run(adb, "install", "-r", "-t", apk);
    if (error == 0 && !succeeded(adb) && clashes(adb)) {
        status = permitted(package, yes);
        if (status == 0)
            error = run(adb, "uninstall", package, NULL, NULL);
        if (status == 0 && error == 0 && !succeeded(adb))
            status = failed(adb, "uninstall", package);
        if (status == 0 && error == 0)
            error = run(adb, "install", "-r", "-t", apk);
    }
    if (status == 0 && error != 0)
        status = cannot_run(adb, error);
    else if (status == 0 && !succeeded(adb))
        status = failed(adb, "install", apk);
    if (status == 0 && !quiet)
        printf("%s is installed\n", package);
    free(adb);
    return status;
}
