/* child.c - see child.h. */
#include "util/privileges/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

#include "util/now.h"

enum { KILL_MS = 1000, LOOK_NS = 100000000, NAP_NS = 50000, NAP_NS_MAX = 10000000 };

/* Wait until @end_ns. Returns what waitpid() returned; 0 if the child still runs. */
static pid_t wait_until(pid_t child, int *status, uint64_t end_ns)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

    for (;;) {
        pid_t reaped = waitpid(child, status, WNOHANG);

        if ((reaped != 0 && !(reaped < 0 && errno == EINTR)) || nsc_now_ns() >= end_ns)
            return reaped;
        (void)nanosleep(&nap, NULL);
        if (nap.tv_nsec < NAP_NS_MAX)
            nap.tv_nsec *= 2;
    }
}

static bool is_stopped(pid_t child)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child;
}

int nsc_child_wait_readable(pid_t child, int fd, uint64_t end_ns)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};

    for (;;) {
        uint64_t now_ns = nsc_now_ns(), left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
        int ready =
            poll(&readable, 1,
                 left_ns < LOOK_NS ? (int)((left_ns + 999999) / 1000000) : LOOK_NS / 1000000);

        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (left_ns == 0 || is_stopped(child))
            return -ETIMEDOUT;
    }
}

int nsc_child_end(pid_t child, unsigned grace_ms)
{
    pid_t reaped;
    int status;

    reaped = wait_until(child, &status, nsc_now_ns() + grace_ms * 1000000ull);
    if (reaped == 0) {
        kill(child, SIGKILL);
        reaped = wait_until(child, &status, nsc_now_ns() + KILL_MS * 1000000ull);
    }
    return reaped == child ? status : -1;
}
