/* regs.c - see regs.h. */
#include "process/call/regs.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

/* Bytes below the stack pointer that the running function may use. */
#define RED_ZONE_BYTES 128

/*
 * Source: signal(7), "Interruption of system calls and library functions by stop signals"; also
 * calls on sockets with a timeout, including read and write. None of them has had an effect when it
 * fails with EINTR.
 */
bool nsc_regs_repeats(long number)
{
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_rt_sigtimedwait:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_io_uring_enter:
        return true;
    default:
        return false;
    }
}

#if defined(__x86_64__)

#define FLAG_DIRECTION       (1ull << 10)
#define FLAG_ALIGNMENT_CHECK (1ull << 18)
#define CS_64_BIT            0x33
/* Kernel-internal result of an interrupted system call. Source: include/linux/errno.h. */
#define ERESTARTNOHAND       514

bool nsc_regs_native(const struct nsc_regs *regs)
{
    return regs->raw.cs == CS_64_BIT;
}

uint64_t nsc_regs_pc(const struct nsc_regs *regs)
{
    return regs->raw.rip;
}

void nsc_regs_set_pc(struct nsc_regs *regs, uint64_t pc)
{
    regs->raw.rip = pc;
}

void nsc_regs_call(struct nsc_regs *regs, uint64_t function, const uint64_t arguments[2],
                   uint64_t *return_slot)
{
    struct user_regs_struct *r = &regs->raw;

    r->rsp = ((r->rsp - RED_ZONE_BYTES) & ~15ull) - 8;
    *return_slot = r->rsp;
    r->rip = function;
    r->rdi = arguments[0];
    r->rsi = arguments[1];
    r->rax = 0;
    /* Otherwise the kernel would restart the interrupted system call here. */
    r->orig_rax = (unsigned long long)-1;
    r->eflags &= ~(FLAG_DIRECTION | FLAG_ALIGNMENT_CHECK);
}

int64_t nsc_regs_result(const struct nsc_regs *regs)
{
    return (int64_t)regs->raw.rax;
}

void nsc_regs_again(struct nsc_regs *regs, const struct nsc_regs_waits *waits, bool signal_waits)
{
    struct user_regs_struct *r = &regs->raw;

    (void)waits;
    (void)signal_waits;
    /* The kernel evaluates the result after the stop. This value means: restart the call, unless a
     * signal handler runs; then fail with EINTR. */
    if ((long)r->rax == -EINTR && nsc_regs_repeats((long)r->orig_rax))
        r->rax = (unsigned long long)-ERESTARTNOHAND;
}

#elif defined(__aarch64__)

#define PSTATE_MODE_32 (1ull << 4)
#define PSTATE_BTYPE   (3ull << 10)

bool nsc_regs_native(const struct nsc_regs *regs)
{
    return (regs->raw.pstate & PSTATE_MODE_32) == 0;
}

uint64_t nsc_regs_pc(const struct nsc_regs *regs)
{
    return regs->raw.pc;
}

void nsc_regs_set_pc(struct nsc_regs *regs, uint64_t pc)
{
    regs->raw.pc = pc;
}

void nsc_regs_call(struct nsc_regs *regs, uint64_t function, const uint64_t arguments[2],
                   uint64_t *return_slot)
{
    struct user_regs_struct *r = &regs->raw;

    *return_slot = 0;
    r->sp = (r->sp - RED_ZONE_BYTES) & ~15ull;
    r->pc = function;
    r->regs[0] = arguments[0];
    r->regs[1] = arguments[1];
    r->regs[30] = 0;
    r->pstate &= ~PSTATE_BTYPE;
}

int64_t nsc_regs_result(const struct nsc_regs *regs)
{
    return (int64_t)regs->raw.regs[0];
}

/*
 * On arm64 the kernel evaluates the result before the tracer sees the stop. If the kernel restarts
 * the call itself, the program counter is already back at the instruction; a nanosleep then starts
 * anew. Otherwise the result has overwritten the first argument, which is restored here.
 */
void nsc_regs_again(struct nsc_regs *regs, const struct nsc_regs_waits *waits, bool signal_waits)
{
    struct user_regs_struct *r = &regs->raw;

    if (signal_waits || (int64_t)r->regs[0] != -EINTR || !nsc_regs_repeats(waits->number) ||
        r->regs[8] != (uint64_t)waits->number || r->pc != waits->pc || r->sp != waits->sp)
        return;
    r->regs[0] = waits->arguments[0];
    r->pc -= 4;
}

#else
#error "no ptrace call for this processor"
#endif
