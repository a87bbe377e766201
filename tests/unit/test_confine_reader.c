/*
 * What a command that reads files of others can still do. Each attempt runs in a child of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "util/confine_reader.h"

enum { DONE, REFUSED, FAILED };

static char folder[] = "/tmp/test_confine_reader.XXXXXX", file[64], other[64];

/* What became of a call that returned @result. */
static int outcome(long result)
{
    if (result >= 0)
        return DONE;
    return errno == EPERM ? REFUSED : FAILED;
}

static int try_read(void)
{
    char byte;
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    return outcome(fd < 0 ? -1 : read(fd, &byte, 1));
}

static int try_folder(void)
{
    return outcome(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int try_temporary(void)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    /* Not every file system can; then the call fails, but is not refused. */
    return fd < 0 && errno != EPERM ? DONE : outcome(fd < 0 ? -1 : write(fd, "x", 1));
}

static void *nothing(void *context)
{
    return context;
}

static int try_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0
               ? DONE
               : FAILED;
}

static int try_write(void)
{
    return outcome(open(file, O_WRONLY | O_CLOEXEC));
}

static int try_cut(void)
{
    return outcome(open(file, O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int try_create(void)
{
    return outcome(open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

static int try_rename(void)
{
    return outcome(rename(file, other));
}

static int try_chmod(void)
{
    return outcome(chmod(file, 0777));
}

static int try_remove(void)
{
    return outcome(unlink(file));
}

static int try_execute(void)
{
    char program[] = "/bin/true", *words[] = {program, NULL};

    return outcome(execve(words[0], words, words + 1));
}

static int try_socket(void)
{
    return outcome(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int try_trace(void)
{
    return outcome(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL));
}

static int try_type(void)
{
    return outcome(ioctl(0, TIOCSTI, "x"));
}

static int try_signal(void)
{
    return outcome(syscall(SYS_tgkill, getppid(), getppid(), 0));
}

static int try_own_signal(void)
{
    return outcome(syscall(SYS_tgkill, getpid(), getpid(), 0));
}

/* A thread that ran before is confined as well. */
static int gate[2];

static void *wait_and_open(void *context)
{
    char byte;

    *(int *)context =
        read(gate[0], &byte, 1) == 1 ? outcome(socket(AF_UNIX, SOCK_STREAM, 0)) : FAILED;
    return NULL;
}

static unsigned run(int (*attempt)(void), unsigned needs)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        nsc_confine_reader(needs);
        _exit(attempt());
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? (unsigned)WEXITSTATUS(status)
                                                                    : ~0u;
}

static unsigned with_threads(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        pthread_t thread;
        int result = FAILED;

        if (pipe2(gate, O_CLOEXEC) != 0 ||
            pthread_create(&thread, NULL, wait_and_open, &result) != 0)
            _exit(FAILED);
        nsc_confine_reader(0);
        if (write(gate[1], "x", 1) != 1)
            _exit(FAILED);
        pthread_join(thread, NULL);
        _exit(result);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? (unsigned)WEXITSTATUS(status)
                                                                    : ~0u;
}

static bool has_filter(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        nsc_confine_reader(0);
        _exit(prctl(PR_GET_SECCOMP) == 2);
    }
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 1;
}

static void test_reading(void)
{
    CHECK_U64(run(try_read, 0), DONE);
    CHECK_U64(run(try_folder, 0), DONE);
    CHECK_U64(run(try_temporary, 0), DONE);
    CHECK_U64(run(try_thread, 0), DONE);
    CHECK_U64(run(try_own_signal, 0), DONE);
    CHECK_U64(run(try_write, 0), REFUSED);
    CHECK_U64(run(try_cut, 0), REFUSED);
    CHECK_U64(run(try_create, 0), REFUSED);
    CHECK_U64(run(try_rename, 0), REFUSED);
    CHECK_U64(run(try_chmod, 0), REFUSED);
    CHECK_U64(run(try_remove, 0), REFUSED);
    CHECK_U64(run(try_execute, 0), REFUSED);
    CHECK_U64(run(try_socket, 0), REFUSED);
    CHECK_U64(run(try_trace, 0), REFUSED);
    CHECK_U64(run(try_type, 0), REFUSED);
    CHECK_U64(run(try_signal, 0), REFUSED);
    CHECK_U64(with_threads(), REFUSED);
}

static void test_needs(void)
{
    CHECK_U64(run(try_socket, NSC_CONFINE_SERVES), DONE);
    CHECK_U64(run(try_write, NSC_CONFINE_SERVES), REFUSED);
    CHECK_U64(run(try_rename, NSC_CONFINE_SERVES), REFUSED);
    CHECK_U64(run(try_execute, NSC_CONFINE_SERVES), REFUSED);
    CHECK_U64(run(try_write, NSC_CONFINE_WRITES), DONE);
    CHECK_U64(run(try_socket, NSC_CONFINE_WRITES), REFUSED);
    CHECK_U64(run(try_execute, NSC_CONFINE_WRITES), REFUSED);
    CHECK_U64(run(try_remove, NSC_CONFINE_SERVES), DONE); /* the last: the file is gone */
}

int main(void)
{
    int fd;

    if (mkdtemp(folder) == NULL || !has_filter()) {
        puts("1..0 # SKIP no filters of system calls here");
        return 0;
    }
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
    test_reading();
    test_needs();
    unlink(file);
    unlink(other);
    rmdir(folder);
    return t_done();
}
