/* test_child.c - a child that writes, one that is silent, one that is stopped, one that stays. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "util/now.h"
#include "util/privileges/child.h"

#define SECOND 1000000000ull

/* Start a child that does @act with the end of a pipe. @fd: receives the other end. */
static pid_t start(void (*act)(int fd), int *fd)
{
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        act(ends[1]);
        _exit(3);
    }
    close(ends[1]);
    *fd = ends[0];
    return child;
}

static void say(int fd)
{
    (void)!write(fd, "x", 1);
}

static void stop(int fd)
{
    (void)fd;
    raise(SIGSTOP);
}

static void stay(int fd)
{
    (void)fd;
    for (;;)
        pause();
}

static void test_readable(void)
{
    int fd, status;
    pid_t child = start(say, &fd);

    CHECK(nsc_child_wait_readable(child, fd, nsc_now_ns() + 60 * SECOND) == 0);
    status = nsc_child_end(child, 60000);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    close(fd);
}

/* Whoever may signal the child can stop it: that must not hold up its parent. */
static void test_stopped(void)
{
    uint64_t begun_ns = nsc_now_ns();
    int fd, status;
    pid_t child = start(stop, &fd);

    CHECK(nsc_child_wait_readable(child, fd, begun_ns + 60 * SECOND) == -ETIMEDOUT);
    CHECK(nsc_now_ns() - begun_ns < 30 * SECOND);
    status = nsc_child_end(child, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(fd);
}

static void test_silent(void)
{
    int fd, status;
    pid_t child = start(stay, &fd);

    CHECK(nsc_child_wait_readable(child, fd, nsc_now_ns() + SECOND / 20) == -ETIMEDOUT);
    status = nsc_child_end(child, 1);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(fd);
}

int main(void)
{
    test_readable();
    test_stopped();
    test_silent();
    return t_done();
}
