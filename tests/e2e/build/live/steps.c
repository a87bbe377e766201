/*
 * A signal handler at every single instruction of the slow path: single-steps through calls that
 * cross the end of a chunk, and at step k, counting only steps inside libnanoscope.so, makes calls
 * of its own. Then once more with k + 1, until the slow path has no more instructions. Prints
 * `emitted N`, the hooks that ran, and `steps N`.
 *
 * usage: steps few|many|altstack|jump [FIRST STRIDE]   every STRIDEth instruction from FIRST on (0
 * 1) few       the handler makes 3 calls many      400 calls: it needs new chunks itself, while its
 * victim is about to get one altstack  3 calls on another stack: it moves the anchor jump      400
 * calls, then it leaves by siglongjmp: exits are missing, `emitted` counts too much
 */
#define _GNU_SOURCE
#include <nanoscope/nanoscope.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define NOTRACE NANOSCOPE_NOTRACE __attribute__((noinline))

enum { CALLS = 4, TRAP_FLAG = 0x100 };

/* The first words of abi/hook.h: says when a chunk is about to be full. */
struct words {
    unsigned long pos;
    const unsigned long *endp;
};
extern __thread struct words nsc_runtime_tls;

static volatile unsigned long calls;
static volatile long wanted, seen;
static volatile int nested_calls, jumping;
static sigjmp_buf back;

__attribute__((noinline)) static void leaf(void)
{
    calls++;
}

/* Libraries are mapped far above the program, and nothing but the runtime is stepped through. */
NOTRACE static int in_library(unsigned long pc)
{
    return pc >= 0x7e0000000000;
}

NOTRACE static void trap(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number;
    (void)info;
    if (!in_library((unsigned long)registers[REG_RIP]) || seen++ != wanted)
        return;
    registers[REG_EFL] &= ~TRAP_FLAG;
    for (int i = 0; i < nested_calls; i++)
        leaf();
    if (jumping)
        siglongjmp(back, 1);
}

/* One round; returns whether the handler has made its calls. */
NOTRACE static int round_at(long k)
{
    for (int i = 0; i < 1000 && *nsc_runtime_tls.endp - nsc_runtime_tls.pos - 1 >= 48; i++)
        leaf();
    wanted = k;
    seen = 0;
    if (jumping && sigsetjmp(back, 1))
        return 1;
    __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp"
                     :
                     : "i"(TRAP_FLAG)
                     : "memory", "cc");
    for (int i = 0; i < CALLS; i++)
        leaf();
    __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp"
                     :
                     : "i"(~TRAP_FLAG)
                     : "memory", "cc");
    return seen > wanted;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "few";
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
    static char stack[1 << 18];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    long k = argc > 2 ? atol(argv[2]) : 0, stride = argc > 3 ? atol(argv[3]) : 1;

    nested_calls = strcmp(mode, "many") == 0 || strcmp(mode, "jump") == 0 ? 400 : 3;
    jumping = strcmp(mode, "jump") == 0;
    if (strcmp(mode, "altstack") == 0) {
        action.sa_flags |= SA_ONSTACK;
        sigaltstack(&alternate, NULL);
    }
    sigaction(SIGTRAP, &action, NULL);
    while (round_at(k))
        k += stride;
    printf("emitted %lu\nsteps %ld\n", 2 * (calls + 1), k);
    return 0;
}
