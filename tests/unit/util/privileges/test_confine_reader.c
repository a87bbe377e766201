/*
 * The rights of a process after nsc_confine_reader(). Each attempt runs in a child of its own,
 * whose exit status says what happened.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "util/privileges/child.h"
#include "util/privileges/confine.h"
#include "util/privileges/confine_reader.h"
#include "util/privileges/landlock.h"

enum { DONE = 0, REFUSED = 1, WRONG = 2, NO_FILTER = 3, KILLED = 100 };

static char folder[] = "/tmp/nsc-reader.XXXXXX"; /* of outputs; other/ holds other files */
static pid_t parent;
static int terminal; /* opened before, as standard input is */

static char *in(const char *name)
{
    static char paths[4][64];
    static unsigned at;
    char *path = paths[at++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* DONE; REFUSED: the errors of confinement; WRONG: other errors. */
static int outcome(long result)
{
    if (result >= 0)
        return DONE;
    return errno == EPERM || errno == EACCES || errno == ENOSYS || errno == ENOTTY ? REFUSED
                                                                                   : WRONG;
}

/* ---- Allowed ---------------------------------------------------------------------- */

static void *put_one(void *argument)
{
    *(int *)argument = 1;
    return NULL;
}

static int try_thread(void)
{
    pthread_t thread;
    int ran = 0;

    if (pthread_create(&thread, NULL, put_one, &ran) != 0)
        return REFUSED;
    pthread_join(thread, NULL);
    return ran == 1 ? DONE : WRONG;
}

static int try_read(void)
{
    char text[8];
    int fd = open(in("another's"), O_RDONLY | O_CLOEXEC);

    return fd < 0 ? REFUSED : read(fd, text, sizeof text) == 4 ? DONE : WRONG;
}

static int try_nameless(void)
{
    int fd = open(in("scratch"), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        return DONE; /* not every file system can */
    return fd >= 0 && write(fd, "x", 1) == 1 && ftruncate(fd, 100) == 0 ? DONE : REFUSED;
}

/* As symbols/isolated_child.c does. */
static int try_confined_child(void)
{
    const struct nsc_confine confine = {
        .keep = {-1, -1, -1, -1}, .memory_bytes = 256u << 20, .cpu_seconds = 10};
    pid_t child = fork();
    int status;

    if (child == 0) {
        if (nsc_confine_enter(&confine) != 0)
            _exit(1);
        (void)nsc_confine_seal();
        for (;;)
            ;
    }
    status = nsc_child_end(child, 20);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? DONE : REFUSED;
}

static int try_own_signal(void)
{
    signal(SIGUSR1, SIG_IGN);
    return raise(SIGUSR1) == 0 && kill(getpid(), SIGUSR1) == 0 ? DONE : REFUSED;
}

/* ---- Refused ---------------------------------------------------------------------- */

static int try_execve(void)
{
    char program[] = "/bin/true", *words[] = {program, NULL};

    return outcome(execve(words[0], words, words + 1));
}

static int try_ptrace(void)
{
    return outcome(ptrace(PTRACE_SEIZE, parent, NULL, NULL));
}

static int try_memory(void)
{
    return outcome(syscall(SYS_process_vm_writev, parent, NULL, 0, NULL, 0, 0));
}

static int try_signal(void)
{
    return outcome(kill(parent, SIGCONT));
}

static int try_signal_later(void)
{
    return outcome(fcntl(STDIN_FILENO, F_SETOWN, parent));
}

static int try_limits(void)
{
    return outcome(syscall(SYS_prlimit64, parent, 7, NULL, NULL));
}

static int try_datagram(void)
{
    return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0 ? DONE : REFUSED;
}

/* SCTP, MPTCP, and netlink for routes: of a type that is allowed. */
static int try_protocols(void)
{
    return socket(AF_INET, SOCK_STREAM, 132) < 0 && errno == EACCES &&
                   socket(AF_INET, SOCK_STREAM, 262) < 0 && errno == EACCES &&
                   socket(AF_INET, SOCK_RAW, 0) < 0 && errno == EACCES &&
                   socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT) < 0 && errno == EACCES
               ? REFUSED
               : DONE;
}

static int try_diagnosis(void)
{
    return outcome(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
}

static int try_fast_open(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sendto(fd, "", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (void *)&to, sizeof to) < 0 &&
                   errno == EPERM
               ? REFUSED
               : DONE;
}

static int try_socket(void)
{
    return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int try_unix_socket(void)
{
    return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int try_type(void)
{
    /* If the kernel itself refuses it, the error is another. */
    return ioctl(terminal, TIOCSTI, "x") == 0 ? DONE : errno == ENOTTY ? REFUSED : WRONG;
}

static int try_users(void)
{
    return outcome(setresuid(65534, 65534, 65534));
}

static int try_unshare(void)
{
    return outcome(unshare(CLONE_NEWUSER));
}

static int try_clone(void)
{
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

    if (child == 0)
        _exit(0);
    return outcome(child);
}

static int try_clone3(void)
{
    return outcome(syscall(SYS_clone3, NULL, 0));
}

static int try_mount(void)
{
    return outcome(mount("none", "/mnt", "tmpfs", 0, NULL));
}

static int try_bpf(void)
{
    return outcome(syscall(SYS_bpf, 0, NULL, 0));
}

static int try_io_uring(void)
{
    return outcome(syscall(SYS_io_uring_setup, 1, NULL));
}

static int try_younger(void)
{
    return outcome(syscall(463, 0, 0, 0, 0)); /* setxattrat */
}

static int try_mode(void)
{
    return outcome(chmod(in("other/file"), 0600));
}

static int try_write(void)
{
    return outcome(open(in("other/file"), O_WRONLY | O_CLOEXEC));
}

static int try_append(void)
{
    return outcome(open(in("other/file"), O_RDWR | O_APPEND | O_CLOEXEC));
}

static int try_truncate(void)
{
    return outcome(open(in("other/file"), O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int try_openat2(void)
{
    const unsigned long long how[3] = {O_WRONLY, 0, 0};

    return outcome(syscall(SYS_openat2, AT_FDCWD, in("other/file"), how, sizeof how));
}

static int try_create(void)
{
    return outcome(open(in("other/new"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

static int try_folder(void)
{
    return outcome(mkdir(in("other/new"), 0700));
}

static int try_rename(void)
{
    return outcome(rename(in("other/file"), in("other/new")));
}

static int try_link(void)
{
    return outcome(link(in("other/file"), in("other/new")));
}

static int try_unlink(void)
{
    return outcome(unlink(in("other/file")));
}

/* Create, rename and remove below the folder of the output. */
static int try_output(void)
{
    int fd = open(in("a"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool done = fd >= 0 && write(fd, "x", 1) == 1 && rename(in("a"), in("b")) == 0;

    done = done && mkdir(in("c"), 0700) == 0 && rename(in("c"), in("d")) == 0;
    return done && rmdir(in("d")) == 0 && unlink(in("b")) == 0 ? DONE : REFUSED;
}

/* ---- Attempts -------------------------------------------------------------------------------- */

static struct nsc_confine_reader reads, serves, writes, beside;

static void check(const char *what, const struct nsc_confine_reader *reader, int (*attempt)(void),
                  int want)
{
    pid_t child;
    int status, got;

    fflush(stdout); /* a sanitizer's _exit() would print it once more */
    child = fork();
    if (child == 0)
        _exit(nsc_confine_reader(reader) != 0 && want == REFUSED ? NO_FILTER : attempt());
    waitpid(child, &status, 0);
    got = WIFSIGNALED(status) ? KILLED + WTERMSIG(status) : WEXITSTATUS(status);
    if (got == NO_FILTER) {
        printf("ok %d - %s # skip no system call filter here\n", ++t_count, what);
        return;
    }
    t_report(got == want, __FILE__, __LINE__, what);
    if (got != want)
        printf("#   got %d, want %d\n", got, want);
}

static void what_stays(const struct nsc_confine_reader *reader)
{
    check("threads start", reader, try_thread, DONE);
    check("files are read", reader, try_read, DONE);
    check("temporary files without a name", reader, try_nameless, DONE);
    check("children are confined, and killed when they stay", reader, try_confined_child, DONE);
    check("signals to itself", reader, try_own_signal, DONE);
}

static void what_goes(const struct nsc_confine_reader *reader)
{
    check("execve is refused", reader, try_execve, REFUSED);
    check("ptrace is refused", reader, try_ptrace, REFUSED);
    check("memory of others is refused", reader, try_memory, REFUSED);
    check("signals to others are refused", reader, try_signal, REFUSED);
    check("signals by files are refused", reader, try_signal_later, REFUSED);
    check("limits of others are refused", reader, try_limits, REFUSED);
    check("typing into the terminal is refused", reader, try_type, REFUSED);
    check("a change of user is refused", reader, try_users, REFUSED);
    check("unshare is refused", reader, try_unshare, REFUSED);
    check("clone into a namespace is refused", reader, try_clone, REFUSED);
    check("clone3 is refused", reader, try_clone3, REFUSED);
    check("mount is refused", reader, try_mount, REFUSED);
    check("bpf is refused", reader, try_bpf, REFUSED);
    check("io_uring is refused", reader, try_io_uring, REFUSED);
    check("younger calls are refused", reader, try_younger, REFUSED);
    check("changes of modes are refused", reader, try_mode, REFUSED);
    check("openat2 is refused", reader, try_openat2, REFUSED);
    check("sockets of programs are refused", reader, try_unix_socket, REFUSED);
}

static void what_is_not_changed(const struct nsc_confine_reader *reader)
{
    check("writing is refused", reader, try_write, REFUSED);
    check("appending is refused", reader, try_append, REFUSED);
    check("truncating is refused", reader, try_truncate, REFUSED);
    check("creating is refused", reader, try_create, REFUSED);
    check("a new folder is refused", reader, try_folder, REFUSED);
    check("renaming is refused", reader, try_rename, REFUSED);
    check("linking is refused", reader, try_link, REFUSED);
    check("removing is refused", reader, try_unlink, REFUSED);
}

/* ---- Rights ---------------------------------------------------------------------------------- */

static int has_few_capabilities(void)
{
    struct nsc_credentials now;

    if (nsc_credentials_read(0, &now) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return WRONG;
    return (now.capabilities & ~UINT64_C(0xe)) == 0 ? DONE : REFUSED; /* DAC_*, FOWNER */
}

/* Tried in a child, as it is permanent. */
static bool have_landlock(void)
{
    const struct nsc_landlock_folder tmp = {.path = "/tmp"};
    pid_t child = fork();
    int status;

    if (child == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(nsc_landlock_restrict(&tmp, 1) != 0);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

static bool make_files(void)
{
    int another, file;

    if (mkdtemp(folder) == NULL || mkdir(in("other"), 0700) != 0 || mkdir(in("out"), 0700) != 0 ||
        mkdir(in("scratch"), 0700) != 0)
        return false;
    another = open(in("another's"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    file = open(in("other/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (another < 0 || file < 0 || write(another, "text", 4) != 4)
        return false;
    /* Root reads files and writes to folders of another user. */
    if (geteuid() == 0 && (fchown(another, 65534, 65534) != 0 || chown(folder, 65534, 65534) != 0))
        return false;
    return close(another) == 0 && close(file) == 0;
}

static void remove_files(void)
{
    unlink(in("other/file"));
    unlink(in("another's"));
    rmdir(in("other"));
    rmdir(in("out"));
    rmdir(in("scratch"));
    rmdir(folder);
}

int main(void)
{
    if (!CHECK(make_files()))
        return t_done();
    parent = getpid();
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    reads.scratch = strdup(in("scratch"));
    serves = writes = beside = reads;
    serves.serves = true;
    writes.output = strdup(in("b"));
    beside.output = strdup(in("out/b/"));
    what_stays(&reads);
    what_goes(&reads);
    check("TCP is refused", &reads, try_socket, REFUSED);
    what_is_not_changed(&reads);
    check("few capabilities stay", &reads, has_few_capabilities, DONE);
    what_stays(&writes);
    what_goes(&writes);
    check("outputs are made", &writes, try_output, DONE);
    check("few capabilities stay", &writes, has_few_capabilities, DONE);
    if (have_landlock())
        what_is_not_changed(&beside); /* other/ is outside its folder */
    else
        printf("ok %d - files elsewhere # skip no Landlock\n", ++t_count);
    what_stays(&serves);
    what_goes(&serves);
    check("TCP is allowed where it is served", &serves, try_socket, DONE);
    check("the kernel is asked about connections there", &serves, try_diagnosis, DONE);
    check("datagrams are refused there", &serves, try_datagram, REFUSED);
    check("other protocols are refused there", &serves, try_protocols, REFUSED);
    check("TCP without connect() is refused there", &serves, try_fast_open, REFUSED);
    what_is_not_changed(&serves);
    remove_files();
    return t_done();
}
