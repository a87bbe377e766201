/* browser_launch.c - see browser_launch.h. */
#include "cli/export/browser_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "viewer/server/entry_file.h"

enum { ADDRESS_MAX = 512 };

static bool has_desktop(void)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

    return (x11 != NULL && *x11 != '\0') || (wayland != NULL && *wayland != '\0');
}

/* ---- In the helper --------------------------------------------------------------------------- */

/* @url: must contain no secrets, as every user can read a process's arguments. The browser runs in
 * its own session, so that Ctrl-C does not end it. */
static bool open_browser(const char *url)
{
    char *argv[] = {(char[]){"xdg-open"}, strdup(url), NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t reset;
    pid_t pid;
    bool started;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&reset);
    sigaddset(&reset, SIGCHLD);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    started =
        argv[1] != NULL && posix_spawnp(&pid, argv[0], &files, &attributes, argv, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(argv[1]);
    return started;
}

/* Whether the URL is one of our server's: a compromised server process could send any URL. A host
 * of digits and points that begins with 127 can only be an address of 127.0.0.0/8. */
static bool is_own(const char *address)
{
    static const char start[] = "http://127.";
    static const char harmless[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?#=&";
    const char *end = address + strlen(address), *rest;

    if (strncmp(address, start, sizeof start - 1) != 0)
        return false;
    rest = address + sizeof start - 1;
    rest += strspn(rest, "0123456789.");
    return *rest == ':' && rest + 1 + strspn(rest + 1, harmless) == end;
}

static bool show(const char *address, struct nsc_entry *entry)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (!is_own(address))
        return false;
    if (nsc_entry_create(address, entry, &diag) != 0) {
        nsc_cli_warn("%s", diag.message);
        return false;
    }
    if (open_browser(entry->url))
        return true;
    nsc_entry_remove(entry);
    return false;
}

__attribute__((noreturn)) static void help(int socket)
{
    struct nsc_entry entry = {0};
    char address[ADDRESS_MAX], done;
    ssize_t got;

    signal(SIGCHLD, SIG_IGN); /* a browser that ends leaves no zombie */
    setsid(); /* Ctrl-C ends the server only; the closed socket then ends the helper */
    got = recv(socket, address, sizeof address - 1, 0);
    if (got > 0) {
        address[got] = '\0';
        done = (char)show(address, &entry);
        (void)send(socket, &done, 1, MSG_NOSIGNAL);
        (void)recv(socket, &done, 1, 0); /* returns when the other end is closed */
    }
    nsc_entry_remove(&entry);
    _exit(0);
}

/* ---- In the server --------------------------------------------------------------------------- */

void nsc_launch_prepare(struct nsc_launch *launch)
{
    int ends[2];

    *launch = (struct nsc_launch){.socket = -1, .helper = -1};
    if (!has_desktop() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    launch->helper = fork();
    if (launch->helper == 0) {
        close(ends[0]);
        help(ends[1]);
    }
    close(ends[1]);
    if (launch->helper > 0)
        launch->socket = ends[0];
    else
        close(ends[0]);
}

bool nsc_launch_browser(struct nsc_launch *launch, const char *address)
{
    char done = 0;

    if (launch->socket < 0 || send(launch->socket, address, strlen(address), MSG_NOSIGNAL) < 0)
        return false;
    while (recv(launch->socket, &done, 1, 0) < 0 && errno == EINTR)
        ;
    return done != 0;
}

void nsc_launch_forget(struct nsc_launch *launch)
{
    if (launch->socket >= 0)
        close(launch->socket);
    launch->socket = -1;
    if (launch->helper > 0 && waitpid(launch->helper, NULL, WNOHANG) == launch->helper)
        launch->helper = -1;
}

void nsc_launch_end(struct nsc_launch *launch)
{
    nsc_launch_forget(launch);
    while (launch->helper > 0 && waitpid(launch->helper, NULL, 0) < 0 && errno == EINTR)
        ;
    launch->helper = -1;
}
