/* test_proc_thread.c - what is read out of /proc: texts of every sort, and the real files. */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "metrics/proc_thread.h"
#include "tap.h"

static void test_stat(void)
{
    /* A name that looks like what follows it. */
    static const char text[] = "77 (a) R 1 2) (b) S 1 77 77 34817 77 4194304 120 5 3 6 250 50 7 8 "
                               "20 0 1 0 100 1000 10 18446744073709551615 1 1 1\n";
    static const char *const bad[] = {
        "",
        "77",
        "77 (name",
        "77 (name)",
        "77 (name) ",
        "77 (name) S",
        "77 (name) S 1 2 3 4 5 6 x 8 9 10 11 12 13",
        "77 (name) S 1 2 3 4 5 6 7 8 9 10 99999999999999999999999 12",
    };
    struct nsc_proc_look look = {.state = NSC_STATE_UNKNOWN};
    unsigned refused = 0;

    CHECK(nsc_proc_parse_stat(text, 10, &look) == 0);
    CHECK(look.state == NSC_STATE_SLEEPING);
    CHECK_U64(look.counters[NSC_METRICS_FAULTS_MINOR], 120);
    CHECK_U64(look.counters[NSC_METRICS_FAULTS_MAJOR], 3);
    CHECK_U64(look.counters[NSC_METRICS_CPU_NS], 3000);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused += nsc_proc_parse_stat(bad[i], 10, &look) == -EBADMSG;
    CHECK_U64(refused, sizeof bad / sizeof bad[0]);
    CHECK_U64(look.counters[NSC_METRICS_CPU_NS], 3000); /* untouched */
}

static enum nsc_thread_state state_of(const char *letter)
{
    struct nsc_proc_look look = {.state = NSC_STATE_UNKNOWN};
    char text[128];

    snprintf(text, sizeof text, "1 (x) %s 1 1 1 0 -1 0 1 0 1 0 1 1\n", letter);
    return nsc_proc_parse_stat(text, 1, &look) == 0 ? look.state : NSC_STATES;
}

static void test_states(void)
{
    CHECK(state_of("R") == NSC_STATE_RUNNING);
    CHECK(state_of("S") == NSC_STATE_SLEEPING);
    CHECK(state_of("D") == NSC_STATE_BLOCKED_IO);
    CHECK(state_of("T") == NSC_STATE_STOPPED);
    CHECK(state_of("t") == NSC_STATE_STOPPED);
    CHECK(state_of("Z") == NSC_STATE_DEAD);
    CHECK(state_of("?") == NSC_STATE_UNKNOWN);
}

static void test_others(void)
{
    uint64_t cpu_ns = 1, turns = 2, waited_ns = 4, switches = 3;

    CHECK(nsc_proc_parse_schedstat("123456 789 42\n", &cpu_ns, &turns, &waited_ns) == 0);
    CHECK(cpu_ns == 123456 && turns == 42 && waited_ns == 789);
    CHECK(nsc_proc_parse_schedstat("123456 789", &cpu_ns, &turns, &waited_ns) == -EBADMSG);
    CHECK(nsc_proc_parse_schedstat("", &cpu_ns, &turns, &waited_ns) == -EBADMSG);
    CHECK(nsc_proc_parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t10\n"
                                  "nonvoluntary_ctxt_switches:\t5\n",
                                  &switches) == 0 &&
          switches == 15);
    CHECK(nsc_proc_parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t10\n", &switches) ==
          -EBADMSG);
    CHECK(nsc_proc_parse_switches("", &switches) == -EBADMSG);
}

static enum nsc_thread_state in_call(long number, const char *arguments)
{
    char text[128];

    snprintf(text, sizeof text, "%ld %s 0x0 0x0 0x0 0x7ffd0 0x7f00\n", number, arguments);
    return nsc_proc_parse_syscall(text);
}

static void test_syscall(void)
{
    CHECK(nsc_proc_parse_syscall("running\n") == NSC_STATE_RUNNING);
    CHECK(nsc_proc_parse_syscall("-1 0x7ffd 0x7f\n") == NSC_STATE_SLEEPING);
    CHECK(nsc_proc_parse_syscall("") == NSC_STATE_SLEEPING);
    CHECK(in_call(SYS_futex, "0x1 0x0 0x2") == NSC_STATE_BLOCKED_LOCK);
    CHECK(in_call(SYS_read, "0x0 0x7f 0x10") == NSC_STATE_BLOCKED_IO);
    CHECK(in_call(SYS_clock_nanosleep, "0x0 0x0 0x7f") == NSC_STATE_SLEEPING);
    CHECK(in_call(SYS_ppoll, "0x7f 0x2 0x0") == NSC_STATE_BLOCKED_IO);
    CHECK(in_call(SYS_ppoll, "0x7f 0x0 0x0") == NSC_STATE_SLEEPING);
    CHECK(in_call(SYS_pselect6, "0x5 0x7f 0x0") == NSC_STATE_BLOCKED_IO);
    CHECK(in_call(SYS_pselect6, "0x0 0x7f 0x0") == NSC_STATE_SLEEPING);
    CHECK(nsc_proc_parse_syscall("271") == NSC_STATE_SLEEPING);
}

/* A child that waits in read(2), and one that has ended. */
static void test_real(void)
{
    struct timespec moment = {.tv_nsec = 20000000};
    struct nsc_proc_look look = {.state = NSC_STATE_UNKNOWN};
    int fds[2], memory_fd;
    struct nsc_proc proc;
    uint64_t bytes = 0;
    pid_t child;
    char byte;

    CHECK(pipe(fds) == 0);
    child = fork();
    if (child == 0)
        _exit(read(fds[0], &byte, 1) == 1 ? 0 : 1);
    nanosleep(&moment, NULL);
    CHECK(nsc_proc_open(&proc, child, child) == 0);
    CHECK(nsc_proc_look(&proc, &look) == 0 && look.state == NSC_STATE_SLEEPING);
    CHECK(nsc_proc_look_once(child, child, &look) == 0);
    CHECK(look.counters[NSC_METRICS_CPU_NS] > 0 && look.counters[NSC_METRICS_SWITCHES] > 0);
    CHECK(nsc_proc_wait(child, child) == NSC_STATE_BLOCKED_IO);
    memory_fd = nsc_proc_open_memory(child);
    CHECK(memory_fd >= 0 && nsc_proc_memory(memory_fd, &bytes) == 0 && bytes > 4096);
    CHECK(write(fds[1], "x", 1) == 1 && waitpid(child, NULL, 0) == child);
    CHECK(nsc_proc_look(&proc, &look) == -ESRCH);
    CHECK(nsc_proc_memory(memory_fd, &bytes) == -ESRCH);
    CHECK(nsc_proc_open(&proc, child, child) == -ENOENT);
    CHECK(nsc_proc_wait(child, child) == NSC_STATE_UNKNOWN);
}

int main(void)
{
    test_stat();
    test_states();
    test_others();
    test_syscall();
    test_real();
    return t_done();
}
