/*
 * Uses src/host/process on a process, for tests.
 *
 * Link it with -Wl,--wrap=open.
 *
 *   poke find PID|NAME              what nsc_process_find() says
 *   poke call PID VERB [ARGUMENT]   one call; prints its result
 *   poke stale PID                  look at it, wait until stdin ends, then call
 *   poke many PID SECONDS           calls over and over, until it ends; fails on any error
 *   poke session PID                memory file, both ends, join, off
 *   poke hold PID                   trace it until stdin ends, as a debugger would
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/call/control_call.h"
#include "process/call/ptrace_call.h"

static struct nsc_diag diag;

/* With POKE_NO_PTRACE, as where the system permits to look at other processes, but not to trace. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    size_t length = strlen(path);

    if (getenv("POKE_NO_PTRACE") != NULL && length > 4 && strcmp(path + length - 4, "/mem") == 0) {
        errno = EACCES;
        return -1;
    }
    return __real_open(path, flags, 0);
}

static int die(int error)
{
    printf("%s: %s\n", strerrorname_np(abs(error)), diag.message);
    return 1;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int find(const struct nsc_process_target *t)
{
    printf("%ld %s threads=%u built=%d endpoint=%d ptrace=%d recorder=%ld %s\n", (long)t->pid,
           t->name, t->threads, t->built, t->endpoint, t->ptrace, (long)t->recorder, t->reason);
    return 0;
}

static int call(const struct nsc_process_target *t, int pidfd, uint64_t verb, uint64_t argument,
                int64_t *result)
{
    struct nsc_call_limit limit = {.signals = NULL};
    const struct nsc_ptrace_target target = {
        .pid = t->pid, .pidfd = pidfd, .control = t->control, .note = t->note, .limit = &limit};

    nsc_call_limit_begin(&limit);
    return nsc_ptrace_call(&target, verb, argument, result, &diag);
}

static int many(const struct nsc_process_target *t, int pidfd, double seconds)
{
    double end = now() + seconds, longest = 0, sum = 0;
    unsigned long n = 0;
    int64_t result;

    while (now() < end) {
        double begin = now(), took;
        /* Every other time: was a call so far made in a wrong way? */
        int error = call(t, pidfd, n % 2 ? 101 : 0, 0, &result);

        if (error == -ESRCH && n > 0)
            break;
        if (error != 0)
            return die(error);
        if (result != !(n % 2))
            return printf("result %lld\n", (long long)result), 1;
        took = now() - begin;
        sum += took;
        longest = took > longest ? took : longest;
        n++;
        usleep(2000);
    }
    printf("%lu calls, mean %.0f us, longest %.0f us\n", n, sum / (double)n * 1e6, longest * 1e6);
    return n > 0 ? 0 : 1;
}

static int session(const struct nsc_process_target *t)
{
    struct nsc_process_access *reach;
    int64_t result = -1;
    int fd, error = nsc_process_open(t, &reach, &diag);

    if (error != 0)
        return die(error);
    error = nsc_process_memory(reach, &fd, &diag);
    if (error == 0 && ftruncate(fd, 4096) != 0)
        error = -errno;
    if (error == 0)
        error = nsc_process_join(reach, &diag);
    if (error == 0 && nsc_process_join(reach, &diag) != -EINVAL)
        error = -EBADE;
    if (error == 0)
        error = nsc_process_call(reach, NSC_CONTROL_OFF, 0, &result, &diag);
    printf("how=%d off=%lld\n", nsc_process_how(reach), (long long)result);
    nsc_process_close(reach);
    return error != 0 ? die(error) : 0;
}

static int hold(pid_t pid)
{
    char byte;

    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
        return 1;
    puts("held");
    fflush(stdout);
    return read(0, &byte, 1) < 0;
}

int main(int argc, char **argv)
{
    struct nsc_process_target target;
    int64_t result;
    int pidfd, error;

    if (argc < 3)
        return 2;
    error = nsc_process_resolve(argv[2], &target, &diag);
    if (error != 0)
        return die(error);
    if (strcmp(argv[1], "call") == 0 && !target.built) {
        snprintf(diag.message, sizeof diag.message, "%s", target.reason);
        return die(-ENOEXEC);
    }
    pidfd = (int)syscall(SYS_pidfd_open, target.pid, 0);
    if (strcmp(argv[1], "find") == 0)
        return find(&target);
    if (strcmp(argv[1], "hold") == 0)
        return hold(target.pid);
    if (strcmp(argv[1], "session") == 0)
        return session(&target);
    if (strcmp(argv[1], "many") == 0 && argc > 3)
        return many(&target, pidfd, atof(argv[3]));
    if (strcmp(argv[1], "stale") == 0 && read(0, &result, 1) < 0)
        return 2;
    error = call(&target, pidfd, argc > 3 ? strtoull(argv[3], NULL, 0) : 0,
                 argc > 4 ? strtoull(argv[4], NULL, 0) : 0, &result);
    if (error != 0)
        return die(error);
    printf("%lld\n", (long long)result);
    return 0;
}
