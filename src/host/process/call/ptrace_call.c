/*
 * ptrace_call.c - see ptrace_call.h.
 *
 * A thread is seized, stopped without a signal, given the registers of a call, and continued. The
 * function returns to address 0; the tracer consumes the resulting fault, so that the program does
 * not see it. The signal mask blocks all other signals meanwhile; they stay pending until the old
 * mask is restored. Then the thread gets its registers back, in the same kind of signal stop, where
 * the kernel decides whether to restart the interrupted system call.
 *
 * A new thread of this process makes each attempt and then exits: the kernel detaches whatever it
 * left attached. For another user's program, a child process does it: a page of that program's
 * memory may lie on a file system that never replies, and a thread that waits for one cannot even
 * be killed. If the tracer is killed during a call, the traced thread returns to address 0 without
 * it and crashes. Only the shortness of the call limits that risk.
 */
#include "process/call/ptrace_call.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rseq.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/call/regs.h"
#include "process/call/thread_pick.h"
#include "process/find/control_find.h"
#include "process/procfs/procfs.h"
#include "process/procfs/seccomp_state.h"
#include "util/now.h"
#include "util/privileges/child.h"
#include "util/privileges/inherited.h"

#define STOP_NS   200000000ull   /* for one thread to stop */
#define SEARCH_NS 3000000000ull  /* to find a thread that stops */
#define BETTER_NS 500000000ull   /* before threads are used whose write would be cut short */
#define LATE_NS   10000000000ull /* for a thread to stop in the control function */

#define SEIZE_S    5 /* to attach to the thread */
#define SPINS      200
#define PAUSE_NS   20000
#define RETRY_NS   2000000
#define BUSY_TRIES 50
#define CANDIDATES 32

/* Bit of a signal in the kernel's 64-bit signal set. */
#define SIGNAL_BIT(number) (1ull << ((number)-1))

struct call {
    /* The request. */
    pid_t pid;
    int pidfd;
    uint64_t control, note;
    const struct nsc_credentials *credentials;
    struct nsc_call_limit *limit;
    uint64_t arguments[2];
    bool foreign;         /* the process is another user's */
    bool may_not_suspend; /* must not suspend seccomp filters, which needs CAP_SYS_ADMIN */
    /* The thread. */
    struct nsc_pick pick;
    struct nsc_seccomp_state confined;
    bool suspend; /* suspend its seccomp filters */
    /* The stopped thread. */
    int mem;
    struct nsc_regs regs; /* to restore */
    uint64_t mask;
    uint64_t slot, slot_word; /* address and old value of the return address on the stack */
    bool signal_stop;         /* in signal-delivery stop: can be continued with a signal */
    bool kept, stop_later;
    siginfo_t kept_info; /* if kept: a signal that the mask does not block */
    /* The result. */
    int64_t result;
    int error;
    struct nsc_diag diag;
};

static void pause_ns(long ns)
{
    const struct timespec t = {.tv_nsec = ns};

    nanosleep(&t, NULL);
}

static long trace(int request, const struct call *c, uintptr_t address, void *data)
{
    return ptrace((enum __ptrace_request)request, c->pick.tid, address, data);
}

/* As trace(), with a number as data: a signal or options. */
static long trace_number(int request, const struct call *c, uintptr_t number)
{
    return ptrace((enum __ptrace_request)request, c->pick.tid, NULL, number);
}

static int fail(struct call *c, int error, const char *what)
{
    return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, error, "process %ld: %s", (long)c->pid, what);
}

/* Report a thread that has ended or cannot be used now: the caller tries another. */
static int try_another(struct call *c, const char *what)
{
    fail(c, EAGAIN, what);
    return -EAGAIN;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool is_late(const struct call *c, uint64_t deadline_ns)
{
    return deadline_ns != 0 ? nsc_now_ns() > deadline_ns : nsc_call_limit_is_over(c->limit);
}

/* Return true if the thread executes another program now. That may have privileges which the
 * process did not have, so nothing may be written to the thread any more, and no signal sent. */
static bool is_exec_stop(int status)
{
    return status >> 16 == PTRACE_EVENT_EXEC;
}

/* Wait for the thread's next stop. @deadline_ns 0: that of the call. Returns 0, -ETIMEDOUT, or
 * -ESRCH if the thread has ended or executes another program. After the deadline a stop does not
 * count: a thread can cause stops forever. */
static int wait_any(const struct call *c, uint64_t deadline_ns, int *status)
{
    if (is_late(c, deadline_ns))
        return -ETIMEDOUT;
    for (unsigned tries = 0;; tries++) {
        pid_t got = waitpid(c->pick.tid, status, __WALL | WNOHANG);

        if (got < 0 && errno != EINTR)
            return -ESRCH;
        if (got == c->pick.tid)
            return WIFSTOPPED(*status) && !is_exec_stop(*status) ? 0 : -ESRCH;
        if (tries < SPINS)
            sched_yield();
        else if (is_late(c, deadline_ns))
            return -ETIMEDOUT;
        else
            pause_ns(PAUSE_NS);
    }
}

/* Return true for PTRACE_EVENT_STOP: after PTRACE_INTERRUPT, or a group-stop (job control). False
 * for signal-delivery stops. */
static bool is_event_stop(int status)
{
    return status >> 16 == PTRACE_EVENT_STOP;
}

/* Wait for the stop after PTRACE_INTERRUPT. Signals that arrive before are delivered. */
static int wait_interrupted(const struct call *c, uint64_t deadline_ns)
{
    for (;;) {
        int status, error = wait_any(c, deadline_ns, &status);

        if (error != 0)
            return error;
        if (is_event_stop(status))
            return 0;
        if (trace_number(PTRACE_CONT, c, (uintptr_t)WSTOPSIG(status)) != 0)
            return -ESRCH;
    }
}

static bool process_ended(const struct call *c)
{
    struct pollfd ended = {.fd = c->pidfd, .events = POLLIN};

    return poll(&ended, 1, 0) != 0;
}

/* An exiting thread cannot be seized: the error is EPERM, as for a lack of permission. It has no
 * memory any more either. */
static bool thread_ended(const struct call *c)
{
    char name[64], stat[512];

    snprintf(name, sizeof name, "task/%ld/stat", (long)c->pick.tid);
    return nsc_procfs_read(c->pid, name, stat, sizeof stat) <= 0 || nsc_procfs_is_exiting(stat);
}

/* Some debuggers attach to single threads. */
static bool thread_traced(const struct call *c)
{
    char name[64], status[NSC_PROCFS_STATUS_MAX];
    uint64_t tracer = 0;

    snprintf(name, sizeof name, "task/%ld/status", (long)c->pick.tid);
    return nsc_procfs_read(c->pid, name, status, sizeof status) > 0 &&
           nsc_procfs_field(status, "TracerPid", 10, &tracer) && tracer != 0;
}

/* ---- The stopped thread ---------------------------------------------------------------------- */

static int get_regs(const struct call *c, struct nsc_regs *regs)
{
    struct iovec part = {.iov_base = &regs->raw, .iov_len = sizeof regs->raw};

    if (trace(PTRACE_GETREGSET, c, NT_PRSTATUS, &part) != 0)
        return -errno;
    return part.iov_len == sizeof regs->raw ? 0 : -ENOEXEC; /* shorter: a 32-bit process */
}

static int set_regs(const struct call *c, const struct nsc_regs *regs)
{
    struct nsc_regs copy = *regs;
    struct iovec part = {.iov_base = &copy.raw, .iov_len = sizeof copy.raw};

    return trace(PTRACE_SETREGSET, c, NT_PRSTATUS, &part) != 0 ? -errno : 0;
}

static bool read_memory(const struct call *c, uint64_t at, void *to, size_t bytes)
{
    return pread(c->mem, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool write_word(const struct call *c, uint64_t at, uint64_t word)
{
    return pwrite(c->mem, &word, sizeof word, (off_t)at) == (ssize_t)sizeof word;
}

/* Check that the control function is still there: the process may have executed another program
 * since it was examined. The stopped thread keeps it from doing so now. */
static bool is_still_there(const struct call *c)
{
    return nsc_control_is_at(c->pid, c->mem, c->control, c->note);
}

/*
 * A thread that was stopped inside a restartable sequence (rseq) must not continue there. The
 * kernel aborts a sequence by the address where the thread continues, but that is the control
 * function now. So this does the same: the thread will continue at the abort address.
 */
static void leave_sequence(const struct call *c, struct nsc_regs *regs)
{
    struct __ptrace_rseq_configuration area;
    struct rseq_cs sequence;
    uint64_t at = 0;

    if (trace(PTRACE_GET_RSEQ_CONFIGURATION, c, sizeof area, &area) < 0 ||
        area.rseq_abi_pointer == 0 ||
        !read_memory(c, area.rseq_abi_pointer + offsetof(struct rseq, rseq_cs), &at, sizeof at) ||
        at == 0 || !read_memory(c, at, &sequence, sizeof sequence))
        return;
    if (nsc_regs_pc(regs) - sequence.start_ip < sequence.post_commit_offset)
        nsc_regs_set_pc(regs, sequence.abort_ip);
}

static bool signal_waits(const struct call *c)
{
    uint64_t thread = 0, process = 0;
    char status[NSC_PROCFS_STATUS_MAX];

    if (nsc_procfs_read(c->pick.tid, "status", status, sizeof status) > 0) {
        nsc_procfs_field(status, "SigPnd", 16, &thread);
        nsc_procfs_field(status, "ShdPnd", 16, &process);
    }
    return ((thread | process) & ~c->mask) != 0;
}

/* Check that the thread belongs to the process. It is stopped, so its tid cannot be reused. */
static bool belongs(const struct call *c)
{
    return nsc_procfs_has_thread(c->pid, c->pick.tid) && !process_ended(c);
}

/* While one thread is stopped, no thread of the process can complete an exec. */
static bool has_credentials(const struct call *c)
{
    struct nsc_credentials now;

    return c->credentials == NULL ||
           (nsc_credentials_read(c->pid, &now) == 0 && nsc_credentials_cover(c->credentials, &now));
}

/* Read the state of the stopped thread and compute the registers of the call; changes nothing. */
static int look(struct call *c, struct nsc_regs *call)
{
    char path[64];
    int error;

    if (!belongs(c))
        return try_another(c, "the thread has ended");
    error = get_regs(c, &c->regs);
    if (error == -ENOEXEC || (error == 0 && !nsc_regs_native(&c->regs)))
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, ENOEXEC,
                            "process %ld runs 32-bit code; only 64-bit programs can be traced",
                            (long)c->pid);
    if (error != 0)
        return try_another(c, "the thread has ended");
    /* Opened only now: the descriptor shows the memory of the program that runs at this time. */
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)c->pick.tid);
    c->mem = open(path, O_RDWR | O_CLOEXEC);
    if (c->mem < 0)
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", path,
                            strerror(errno));
    if (!is_still_there(c) && thread_ended(c))
        return try_another(c, "the thread has ended");
    if (!is_still_there(c))
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, ENOEXEC,
                            "process %ld has just begun to execute another program", (long)c->pid);
    if (!has_credentials(c))
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, ENOEXEC,
                            "process %ld has just changed its user or its capabilities: try again",
                            (long)c->pid);
    if (trace(PTRACE_GETSIGMASK, c, sizeof c->mask, &c->mask) != 0)
        return try_another(c, "the thread has ended");
    leave_sequence(c, &c->regs);
    *call = c->regs;
    if (nsc_regs_result(&c->regs) == -EINTR)
        nsc_regs_again(&c->regs, &c->pick.waits, signal_waits(c));
    nsc_regs_call(call, c->control, c->arguments, &c->slot);
    if (c->slot != 0 && !read_memory(c, c->slot, &c->slot_word, sizeof c->slot_word))
        return try_another(c, "the thread has no room left on its stack");
    return 0;
}

/* Signals of faults are not blocked: for a blocked one, the kernel resets the program's handler. */
static uint64_t call_mask(void)
{
    return ~(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) |
             SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGSYS));
}

/*
 * Send the signals that the detach could not pass. By now the number may be that of a program with
 * privileges, which another thread has executed, or of another process. So the child that calls in
 * another user's process becomes that user first: the kernel then refuses what that user may not
 * do.
 */
static void send_late(const struct call *c)
{
    if (!c->kept && !c->stop_later)
        return;
    if (c->foreign && (c->credentials == NULL || nsc_credentials_assume(c->credentials) != 0))
        return;
    if (c->kept)
        tgkill(c->pid, c->pick.tid, c->kept_info.si_signo);
    if (c->stop_later)
        kill(c->pid, SIGSTOP);
}

/*
 * Restore the thread and detach, with the kept signal. A signal-delivery stop allows to pass the
 * signal with its siginfo. A kept SIGSTOP is passed the same way: if the process was sent SIGCONT
 * meanwhile, the kernel drops the stop.
 */
static void let_go(struct call *c, bool changed)
{
    int number = 0;

    if (changed) {
        if (c->slot != 0)
            write_word(c, c->slot, c->slot_word);
        set_regs(c, &c->regs);
        trace(PTRACE_SETSIGMASK, c, sizeof c->mask, &c->mask);
    }
    if (c->kept && c->signal_stop && trace(PTRACE_SETSIGINFO, c, 0, &c->kept_info) == 0) {
        number = c->kept_info.si_signo;
        c->kept = false;
    } else if (c->stop_later && c->signal_stop) {
        number = SIGSTOP;
        c->stop_later = false;
    }
    trace_number(PTRACE_DETACH, c, (uintptr_t)number);
    send_late(c);
}

/* ---- The call -------------------------------------------------------------------------------- */

enum outcome { GOES_ON, RETURNED, CRASHED };

/* Classify a stop during the call. */
static enum outcome classify(struct call *c, int status)
{
    int number = WSTOPSIG(status);
    struct nsc_regs regs;
    siginfo_t info;

    c->signal_stop = !is_event_stop(status);
    if (is_event_stop(status)) {
        /* Job control stopped or continued the whole process; the call continues regardless. After
         * the detach, the thread follows the other threads. */
        if (number == SIGTRAP)
            c->stop_later = false;
        return GOES_ON;
    }
    if (trace(PTRACE_GETSIGINFO, c, 0, &info) != 0)
        return GOES_ON;
    if (number == SIGSTOP) {
        c->stop_later = true;
        return GOES_ON;
    }
    if (get_regs(c, &regs) != 0)
        return GOES_ON;
    /* A signal sent by a process, or a fault of the thread just before it was stopped. Only the
     * first is kept: the kernel, too, keeps one pending signal of each kind. */
    if (info.si_code <= 0 ||
        (nsc_regs_pc(&regs) == c->control && (uint64_t)(uintptr_t)info.si_addr != c->control)) {
        if (!c->kept)
            c->kept_info = info;
        c->kept = true;
        return GOES_ON;
    }
    if (number != SIGSEGV || nsc_regs_pc(&regs) != 0)
        return CRASHED;
    c->result = nsc_regs_result(&regs);
    return RETURNED;
}

static int run(struct call *c)
{
    enum outcome outcome = GOES_ON;

    while (outcome == GOES_ON) {
        int status, error;

        if (trace_number(PTRACE_CONT, c, 0) != 0)
            return -ESRCH;
        error = wait_any(c, 0, &status);
        if (error == -ETIMEDOUT) {
            trace_number(PTRACE_INTERRUPT, c, 0);
            error = wait_interrupted(c, nsc_now_ns() + LATE_NS);
            c->signal_stop = false;
            return error == -ETIMEDOUT ? -EDEADLK : error == 0 ? -ETIMEDOUT : error;
        }
        if (error != 0)
            return error;
        outcome = classify(c, status);
    }
    return outcome == RETURNED ? 0 : -EFAULT;
}

/* Return true if the thread's seccomp state changed between check_filters() and its stop. */
static bool confined_meanwhile(const struct call *c)
{
    struct nsc_seccomp_state now;

    return !nsc_seccomp_state_read(c->pick.tid, &now) || now.mode != c->confined.mode ||
           now.filters != c->confined.filters;
}

/* Call the control function in the stopped thread, restore the thread and detach. */
static int call_there(struct call *c)
{
    uint64_t mask = call_mask();
    struct nsc_regs regs;
    int error = look(c, &regs);

    if (error != 0) {
        let_go(c, false);
        return error;
    }
    if (confined_meanwhile(c)) {
        let_go(c, true);
        return try_another(c, "the thread has just confined itself");
    }
    if (trace(PTRACE_SETSIGMASK, c, sizeof mask, &mask) != 0 ||
        (c->slot != 0 && !write_word(c, c->slot, 0)) || set_regs(c, &regs) != 0) {
        let_go(c, true);
        return try_another(c, "the thread cannot be made to call");
    }
    error = run(c);
    if (error == -ESRCH)
        /* Left attached, for the kernel to detach when this thread ends. */
        return fail(c, ESRCH, "it ended, or executed another program, while it was asked");
    if (error == -EDEADLK)
        return fail(c, ETIMEDOUT, "its thread neither finishes nor stops");
    let_go(c, true);
    if (error == -ETIMEDOUT)
        return fail(c, ETIMEDOUT, "the control function did not finish");
    if (error != 0)
        return fail(c, EFAULT, "the control function crashed; the program goes on");
    return 0;
}

/* Attach to the thread. Blocks while its process executes a program (exec), so this is the only
 * step that can be cancelled. Returns 0 or an errno. */
static int seize(struct call *c, uintptr_t options)
{
    int error, before;

    /* The system call is not a cancellation point, and there is nothing to clean up. */
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before); /* NOLINT(cert-pos47-c) */
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    error = trace_number(PTRACE_SEIZE, c, options) != 0 ? errno : 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return error;
}

static int attempt(struct call *c)
{
    uintptr_t options = PTRACE_O_TRACEEXEC | (c->suspend ? PTRACE_O_SUSPEND_SECCOMP : 0);
    int error = seize(c, options);

    if (process_ended(c)) /* the pid may belong to another process now */
        return fail(c, ESRCH, "it has ended");
    if (error == EINVAL && c->suspend) /* a kernel without PTRACE_O_SUSPEND_SECCOMP */
        return -EPERM;
    if (error == EPERM && !thread_ended(c))
        return thread_traced(c) ? try_another(c, "its threads are being traced") : -EPERM;
    if (error != 0)
        return try_another(c, "the thread has ended");
    if (!belongs(c)) /* its number is another thread's now: left, for the kernel to detach */
        return try_another(c, "the thread has ended");
    if (trace_number(PTRACE_INTERRUPT, c, 0) != 0)
        return try_another(c, "the thread has ended");
    error = wait_interrupted(c, nsc_now_ns() + STOP_NS);
    if (error != 0)
        return try_another(c, "the thread does not stop");
    error = call_there(c);
    if (c->mem >= 0)
        close(c->mem);
    return error;
}

static void *attempt_thread(void *context)
{
    struct call *c = context;
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    c->mem = -1;
    c->signal_stop = c->kept = c->stop_later = false;
    c->error = attempt(c);
    return NULL;
}

static void join(struct call *c, pthread_t thread)
{
    struct timespec until;
    void *result;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SEIZE_S;
    if (pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &until) == 0)
        return;
    (void)pthread_cancel(thread); /* without effect after seize() */
    pthread_join(thread, &result);
    if (result == PTHREAD_CANCELED)
        c->error = fail(c, ETIMEDOUT, "it has been executing another program for too long");
}

/* Let the signals in that count for the limit: the caller handles them. */
static void allow_ending(const struct call *c)
{
    sigset_t ending;

    if (c->limit->signals == NULL)
        return;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
}

/* In a child: counts the requests to end. The parent's handlers may pass signals on. */
static volatile sig_atomic_t requests;

static void count_request(int number)
{
    (void)number;
    requests++;
}

/* Have the limit of a child's attempt obey the child's signals. */
static void take_requests(struct nsc_call_limit *limit)
{
    signal(SIGINT, count_request);
    signal(SIGTERM, count_request);
    signal(SIGHUP, count_request);
    limit->signals = &requests;
    limit->seen = 0;
}

/* What a child reports of its attempt. */
struct report {
    int64_t result;
    int error;
    struct nsc_diag diag;
};

/* Wait for the report; a signal that ends the command is passed on to the child, which needs time
 * to restore the thread. Returns false if none came. */
static bool receive(const struct call *c, pid_t child, int fd, struct report *report)
{
    uint64_t end_ns = UINT64_MAX;

    for (;;) {
        uint64_t now_ns = nsc_now_ns();

        if (nsc_child_wait_readable(child, fd, now_ns + STOP_NS) == 0)
            return read(fd, report, sizeof *report) == (ssize_t)sizeof *report;
        if (now_ns >= end_ns)
            return false;
        if (end_ns == UINT64_MAX && nsc_call_limit_is_over(c->limit)) {
            kill(child, SIGTERM);
            end_ns = now_ns + LATE_NS;
        }
    }
}

static int attempt_in_thread(struct call *c)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, attempt_thread, c);

    if (error != 0)
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, error, "cannot start a thread: %s",
                            strerror(error));
    allow_ending(c);
    join(c, thread);
    return c->error;
}

static int attempt_in_child(struct call *c)
{
    struct report report;
    bool received;
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, errno, "cannot open a pipe: %s",
                            strerror(errno));
    child = fork();
    if (child == 0) {
        nsc_inherited_drop((const int[]){ends[1], c->pidfd}, 2, NULL);
        take_requests(c->limit);
        c->error = attempt_in_thread(c);
        report = (struct report){.result = c->result, .error = c->error, .diag = c->diag};
        _exit(write(ends[1], &report, sizeof report) != (ssize_t)sizeof report);
    }
    close(ends[1]);
    allow_ending(c);
    received = child > 0 && receive(c, child, ends[0], &report);
    close(ends[0]);
    if (child > 0)
        (void)nsc_child_end(child, received ? 1000 : 0);
    if (!received)
        return fail(c, ETIMEDOUT, "its memory does not answer, or the attempt ended unexpectedly");
    c->result = report.result;
    c->diag = report.diag;
    return report.error;
}

/* Make the attempt with all signals blocked. */
static int attempt_apart(struct call *c)
{
    sigset_t all, mask;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    error = c->foreign ? attempt_in_child(c) : attempt_in_thread(c);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return error;
}

/* ---- Preconditions --------------------------------------------------------------------------- */

static int check(struct call *c)
{
    char status[NSC_PROCFS_STATUS_MAX];
    uint64_t ignored = 0, tracer = 0;

    if (process_ended(c) || nsc_procfs_read(c->pid, "status", status, sizeof status) <= 0)
        return fail(c, ESRCH, "it has ended");
    nsc_procfs_field(status, "TracerPid", 10, &tracer);
    if (tracer != 0)
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, EBUSY,
                            "process %ld is being traced by process %llu already (a debugger, or "
                            "strace): only one can",
                            (long)c->pid, (unsigned long long)tracer);
    nsc_procfs_field(status, "SigIgn", 16, &ignored);
    if ((ignored & SIGNAL_BIT(SIGSEGV)) != 0)
        return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "process %ld ignores SIGSEGV, which would be changed by a call from "
                            "outside: start it with `nanoscope run`",
                            (long)c->pid);
    return 0;
}

/* A seccomp filter may kill the program for a system call of the control function. So a filtered
 * thread is used only if its filters can be suspended, which must be tried, or equal those of this
 * process. */
static int check_filters(struct call *c)
{
    if (!nsc_seccomp_state_read(c->pick.tid, &c->confined))
        return try_another(c, "the thread has ended");
    c->suspend = c->confined.mode != 0 && !c->may_not_suspend;
    if (c->confined.mode == 1)
        return fail(c, ENOTSUP, "it is confined to read and write (seccomp)");
    if (c->confined.mode == 0 || c->suspend || nsc_seccomp_state_alike(c->pid, &c->confined))
        return 0;
    return nsc_diag_set(&c->diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                        "process %ld " NSC_SECCOMP_STATE_REASON, (long)c->pid);
}

/* Call in the picked thread, first with its filters suspended, if it has any. */
static int call_in(struct call *c)
{
    int error = check_filters(c);

    if (error == 0)
        error = attempt_apart(c);
    if (error != -EPERM || !c->suspend)
        return error;
    c->may_not_suspend = true;
    error = check_filters(c);
    return error == 0 ? attempt_apart(c) : error;
}

/* As check(), but waits for another recorder that may be calling in the process now. */
static int check_patiently(struct call *c)
{
    int error = check(c);

    for (int i = 0; i < BUSY_TRIES && error == -EBUSY; i++) {
        pause_ns(RETRY_NS);
        error = check(c);
    }
    return error;
}

/* Try all candidate threads once. @any: also those whose write would be cut short. Returns -EAGAIN
 * if no thread was usable. */
static int try_threads(struct call *c, bool any)
{
    struct nsc_pick picks[CANDIDATES];
    int count = nsc_pick_threads(c->pid, picks, CANDIDATES), error;
    bool tried = false, passed_over = false, refused = false;

    if (count < 0 || process_ended(c))
        return fail(c, ESRCH, "it has ended");
    for (int i = 0; i < count; i++) {
        if (picks[i].rank == NSC_PICK_PARTIAL && !any) {
            passed_over = true;
            continue;
        }
        c->pick = picks[i];
        if (nsc_call_limit_is_over(c->limit))
            return fail(c, ETIMEDOUT, "it took too long, or a signal has ended the attempt");
        error = call_in(c);
        if (error == -EPERM)
            return fail(c, EPERM,
                        "ptrace is not permitted here (a container's profile, perhaps): "
                        "start it with `nanoscope run`");
        if (error == -ENOTSUP)
            refused = true; /* other threads may have no filters */
        else if (error == -EAGAIN)
            tried = true;
        else
            return error;
    }
    if (refused && !tried && !passed_over)
        return -ENOTSUP;
    return tried ? -EAGAIN : try_another(c, "none of its threads can be stopped just now");
}

/* Return true if the process is another user's, or was when it was opened. */
static bool is_foreign(const struct nsc_ptrace_target *target)
{
    struct nsc_credentials now;

    (void)nsc_credentials_read(target->pid, &now); /* on failure: unknown, thus foreign */
    return nsc_credentials_are_foreign(&now) ||
           (target->credentials != NULL && nsc_credentials_are_foreign(target->credentials));
}

int nsc_ptrace_call(const struct nsc_ptrace_target *target, uint64_t verb, uint64_t argument,
                    int64_t *result, struct nsc_diag *diag)
{
    const struct nsc_credentials *credentials = target->credentials;
    bool foreign = is_foreign(target);
    struct call c = {.pid = target->pid,
                     .pidfd = target->pidfd,
                     .control = target->control,
                     .note = target->note,
                     .credentials = credentials,
                     .limit = target->limit,
                     .arguments = {verb, argument},
                     .foreign = foreign,
                     .may_not_suspend = foreign};
    uint64_t begin = nsc_now_ns(), waited = 0;
    int error = check_patiently(&c);

    while (error == 0) {
        error = try_threads(&c, waited > BETTER_NS);
        waited = nsc_now_ns() - begin;
        if (error != -EAGAIN || waited > SEARCH_NS)
            break;
        pause_ns(RETRY_NS);
        error = 0;
    }
    if (error == 0)
        *result = c.result;
    else if (diag != NULL)
        *diag = c.diag;
    return error == -EAGAIN ? -ETIMEDOUT : error;
}
