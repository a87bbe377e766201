/*
 * Every way to get a child. Each process calls `mark` as often as its place in the list says; the
 * counts are disjoint powers of ten, so their sum tells what is missing. Ends with a daemon that
 * has closed every descriptor.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) static void mark(volatile int *count)
{
    ++*count;
}

__attribute__((noinline)) static void marks(int n)
{
    volatile int count = 0;

    while (n-- > 0)
        mark(&count);
}

static void *thread(void *arg)
{
    marks(1000);
    return arg;
}

static void finish(pid_t pid)
{
    int status;

    if (waitpid(pid, &status, 0) != pid || status != 0)
        _exit(1);
}

static void daemonise(void)
{
    pid_t pid = fork();

    if (pid != 0) {
        finish(pid);
        return;
    }
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    marks(100000);
    _exit(0);
}

int main(int argc, char **argv)
{
    char *again[] = {argv[0], "child", NULL};
    pthread_t id;
    pid_t pid;

    if (argc > 1) {
        marks(10);
        return 0;
    }
    marks(1);
    pid = fork();
    if (pid == 0) {
        marks(100);
        pthread_create(&id, NULL, thread, NULL); /* 1000 */
        pthread_join(id, NULL);
        _exit(0);
    }
    finish(pid);
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again, environ) != 0) /* 10 */
        return 1;
    finish(pid);
    pid = vfork();
    if (pid == 0) {
        execv("/proc/self/exe", again); /* 10 */
        _exit(1);
    }
    finish(pid);
    pid = fork();
    if (pid == 0) {
        execv("/proc/self/exe", again); /* 10 */
        _exit(1);
    }
    finish(pid);
    daemonise(); /* 100000 */
    marks(10000);
    return 0;
}
