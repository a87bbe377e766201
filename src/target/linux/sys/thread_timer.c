/*
 * thread_timer.c - timers that send a signal after each interval of a thread's CPU time: part of
 * sys.h, for linux/session/cpu_timer.c only.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "linux/sys/sys.h"
#include "linux/sys/syscall.h"

#define NS_PER_S 1000000000u

/* The kernel's layouts. Those of libc differ, or their headers declare too much else. */
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
    /* Ignored by default: a program that resets all signals to their default survives. Few programs
     * use it. Those that do must tolerate spurious ones. */
    SIGNAL = 23, /* SIGURG */
    IGNORED = 1, /* SIG_IGN; SIG_DFL is 0 */
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
/* Unwinders recognise this function by its bytes, and look up the byte before it, too. */
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
    /* The handler blocks no signal. If a thread blocks a pending process-directed signal, the
     * kernel gives that to another thread and interrupts its system call. The program would see an
     * EINTR that it never had. So a handler of the program may interrupt this one, call traced
     * functions, and leave by longjmp; a tick may arrive meanwhile. This is safe by the rules of
     * linux/events/thread.h, as for hooks: @tick holds no lock, and each step is one atomic
     * operation or is repeated.
     *
     * SIGURG is not blocked either. A longjmp() that does not restore the mask would leave it
     * blocked, and the program's handlers would not be sampled. The next tick is one interval of
     * CPU time away, which is many times the handler's duration, so ticks do not pile up. */
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
    struct rusage usage; /* neither call can fail; zeroing it would be a call of memset */

    nsc_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPU, (long)&cpu, 0);
    nsc_syscall3(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0);
    to->cpu_ns = (uint64_t)cpu.tv_sec * NS_PER_S + (uint64_t)cpu.tv_nsec;
    to->faults_major = (uint64_t)usage.ru_majflt;
    to->faults_minor = (uint64_t)usage.ru_minflt;
    to->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}
