/*
 * frames.c - functions with unusual frames. Each tells at which position it must be recorded, found
 * without the compiler's help: the caller stores its stack pointer as it calls. In a function whose
 * stack the compiler realigns, the position may lie somewhat deeper.
 */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static unsigned long expected;

/*
 * Calls @function with the address that will hold the return address in `expected`. Keeps to the
 * ABI by saying that a call clobbers what calls clobber.
 */
#define AT(function)                                                                               \
    do {                                                                                           \
        __asm__ volatile("movq %%rsp, %%rbx\n\t"                                                   \
                         "subq $256, %%rsp\n\t"                                                    \
                         "andq $-16, %%rsp\n\t"                                                    \
                         "leaq -8(%%rsp), %%rax\n\t"                                               \
                         "movq %%rax, %0\n\t"                                                      \
                         "call " #function "\n\t"                                                  \
                         "movq %%rbx, %%rsp"                                                       \
                         : "=m"(expected)                                                          \
                         :                                                                         \
                         : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",     \
                           "memory", "cc");                                                        \
        printf("at " #function " %#lx\n", expected);                                               \
    } while (0)

void empty(void);
void large(void);
void variable(void);
void aligned(void);
void framed(void);
void restricted(void);

static volatile int sink = 40;

NOINLINE void empty(void) {}

NOINLINE void large(void)
{
    volatile char frame[100000];

    memset((char *)frame, sink, sizeof frame);
}

NOINLINE void variable(void)
{
    char *frame = alloca((size_t)sink * 10);

    memset(frame, sink, (size_t)sink * 10);
    sink = frame[sink];
}

NOINLINE void aligned(void)
{
    volatile char frame[128] __attribute__((aligned(64)));
    char *more = alloca((size_t)sink);

    memset((char *)frame, sink, sizeof frame);
    memset(more, frame[1], (size_t)sink);
    sink = more[1];
}

NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void framed(void)
{
    sink = sink + 0;
}

/* May not use vector registers: nor may what is inlined into it. */
NOINLINE __attribute__((target("general-regs-only"))) void restricted(void)
{
    sink = sink + 0;
}

int main(void)
{
    AT(empty);
    AT(large);
    AT(variable);
    AT(aligned);
    AT(framed);
    AT(restricted);
    return 0;
}
