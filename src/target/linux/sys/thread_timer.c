/*
 * thread_timer.c - a signal after each interval of a thread's CPU time: part of sys.h, for
 * linux/session/cpu_timer.c only.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "linux/sys/sys.h"
#include "linux/sys/syscall.h"

#define NS_PER_S 1000000000u

/* As the kernel has them; libc's are different, or come with much else. */
struct action {
    void (*handler)(int, void *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

struct event {
    uint64_t value;
    int32_t signal, notify;
    int32_t tid;
    int32_t rest[11];
};

struct info {
    int32_t signal, error, code, pad;
    int32_t timer, overrun;
    uint64_t value;
};

_Static_assert(sizeof(struct event) == 64, "as the kernel reads it");

enum {
    FLAG_SIGINFO = 4,
    FLAG_RESTORER = 0x04000000,
    FLAG_ONSTACK = 0x08000000,
    FLAG_RESTART = 0x10000000,
    FLAG_NODEFER = 0x40000000,
    /* Does nothing where nobody handles it: a program that sets all signals back to their default
     * goes on living. Few use it, and those have to bear more of them than there is reason for. */
    SIGNAL = 23, /* SIGURG */
    IGNORED = 1, /* as a handler; 0: the default */
    CODE_TIMER = -2,
    NOTIFY_THREAD = 4,
    CLOCK_THREAD_CPU = 3,
};

static void (*on_tick)(uint64_t value, int timer);

static void on_signal(int signal, void *information, void *context)
{
    const struct info *info = information;

    (void)signal;
    (void)context;
    if (info->code == CODE_TIMER)
        on_tick(info->value, info->timer);
}

#ifdef __x86_64__
/* Whoever unwinds a stack knows this by its bytes, and looks one byte before it, too. */
void nsc_sys_sigreturn(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".balign 16\n"
        "nop\n"
        ".hidden nsc_sys_sigreturn\n"
        ".globl nsc_sys_sigreturn\n"
        ".type nsc_sys_sigreturn, @function\n"
        "nsc_sys_sigreturn:\n"
        "mov $15, %rax\n"
        "syscall\n"
        ".size nsc_sys_sigreturn, . - nsc_sys_sigreturn\n"
        ".popsection");
#define RESTORER_FLAG FLAG_RESTORER
#define RESTORER      nsc_sys_sigreturn
#else
#define RESTORER_FLAG 0 /* the kernel has one in the vdso */
#define RESTORER      NULL
#endif

static long signal_action(const struct action *to, struct action *old)
{
    return nsc_syscall6(SYS_rt_sigaction, SIGNAL, (long)to, (long)old, sizeof(to->mask), 0, 0);
}

int nsc_sys_take_ticks(void (*tick)(uint64_t value, int timer))
{
    /*
     * Blocks nothing. A signal to the whole process that is pending when a thread blocks it is
     * given to another thread, whose system call it cuts short: the program would see EINTR where
     * it never did. So a handler of the program's may interrupt ours, call traced functions, and
     * leave it for good; and a tick may come while it does. Ours bears that as the hooks do, by the
     * rules of linux/events/thread.h: @tick holds no lock, and each of its steps is one atomic
     * operation or done anew. Not even SIGURG is blocked: a program's longjmp() that restores no
     * mask would leave it so, and what its handler does would not be sampled. The next tick is an
     * interval of CPU time away, which is many times what ours takes, so that they do not pile up.
     */
    const struct action ours = {
        .handler = on_signal,
        .flags = FLAG_SIGINFO | FLAG_ONSTACK | FLAG_RESTART | FLAG_NODEFER | RESTORER_FLAG,
        .restorer = RESTORER,
        .mask = 0,
    };
    struct action old;
    long error = signal_action(NULL, &old);

    if (error != 0)
        return (int)error;
    on_tick = tick;
    if (old.handler == on_signal)
        return 0;
    if ((uintptr_t)old.handler > IGNORED)
        return -EBUSY;
    return (int)signal_action(&ours, NULL);
}

int nsc_sys_tick_start(uint64_t interval_ns, uint64_t value)
{
    const struct event event = {
        .value = value,
        .signal = SIGNAL,
        .notify = NOTIFY_THREAD,
        .tid = (int32_t)nsc_sys_tid(),
    };
    const struct {
        struct timespec interval, first;
    } times = {{(long)(interval_ns / NS_PER_S), (long)(interval_ns % NS_PER_S)},
               {(long)(interval_ns / NS_PER_S), (long)(interval_ns % NS_PER_S)}};
    int timer = 0;
    long error = nsc_syscall3(SYS_timer_create, CLOCK_THREAD_CPU, (long)&event, (long)&timer);

    if (error != 0)
        return (int)error;
    error = nsc_syscall6(SYS_timer_settime, timer, 0, (long)&times, 0, 0, 0);
    if (error == 0)
        return timer;
    nsc_sys_tick_stop(timer);
    return (int)error;
}

void nsc_sys_tick_stop(int timer)
{
    nsc_syscall3(SYS_timer_delete, timer, 0, 0);
}

void nsc_sys_usage(struct nsc_sys_usage *to)
{
    struct timespec cpu;
    struct rusage usage; /* neither can fail; and zeros would be written by a call of memset */

    nsc_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPU, (long)&cpu, 0);
    nsc_syscall3(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0);
    to->cpu_ns = (uint64_t)cpu.tv_sec * NS_PER_S + (uint64_t)cpu.tv_nsec;
    to->faults_major = (uint64_t)usage.ru_majflt;
    to->faults_minor = (uint64_t)usage.ru_minflt;
    to->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}
