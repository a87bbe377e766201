/*
 * A control function for tests of src/host/process, with its note. It keeps the rules of control.h,
 * and checks how it is called: the stack, the direction flag, the return address. Also verbs that
 * misbehave. Link it into a program, or as a shared library.
 */
#include "abi/control.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>

enum { CALLS = 100, BAD = 101, SPIN = 102, CRASH = 103, HANG = 104, BUSY = 105 };

static uint64_t calls, bad, open_file = UINT64_MAX;
/* The calls nest no deeper than this: the function refuses to be interrupted by itself. */
__attribute__((used)) static uint8_t control_stack[16384] __attribute__((aligned(16)));
__attribute__((used)) static uint32_t control_lock;

static long system_call(long number, long a, long b)
{
#if defined(__x86_64__)
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;

    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
    return x0;
#endif
}

__attribute__((used)) static int64_t control_body(uint64_t verb, uint64_t argument, uint64_t sp,
                                                  uint64_t flags, uint64_t returns)
{
    static const char name[] = "nanoscope";
    static int busy;

    calls++;
#if defined(__x86_64__)
    bad += sp % 16 != 8 || (flags & 1u << 10) != 0 || returns != 0;
#else
    (void)flags;
    bad += sp % 16 != 0 || returns != 0;
#endif
    switch (verb) {
    case NSC_CONTROL_HELLO:
        return NSC_CONTROL_VERSION;
    case NSC_CONTROL_MEMORY:
        return system_call(SYS_memfd_create, (long)(intptr_t)name, 1);
    case NSC_CONTROL_JOIN:
        if (open_file != UINT64_MAX)
            return -EBUSY;
        open_file = argument;
        return system_call(SYS_close, (long)argument, 0);
    case NSC_CONTROL_DROP:
        return system_call(SYS_close, (long)argument, 0);
    case NSC_CONTROL_OFF:
        open_file = UINT64_MAX;
        return 0;
    case CALLS:
        return (int64_t)calls;
    case BAD:
        return (int64_t)bad;
    case SPIN:
        for (volatile uint64_t i = 0; i < argument; i++)
            ;
        return 0;
    case CRASH:
        *(volatile int *)argument = 0;
        return 0;
    case HANG:
        for (;;)
            __asm__ volatile("");
    case BUSY: /* the first two times */
        return busy++ % 3 == 2 ? 0 : -EAGAIN;
    default:
        return -ENOSYS;
    }
}

/* The note; the distance to the function is known when it is linked. */
__asm__(".pushsection .note.nanoscope, \"a\", %note\n"
        ".balign 4\n"
        ".long 10, 8, 1\n"
        ".asciz \"nanoscope\"\n"
        ".balign 4\n"
        "1: .quad test_control - 1b\n"
        ".popsection\n");

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl test_control\n"
        ".hidden test_control\n"
        ".type test_control, @function\n"
        "test_control:\n"
        "  mov $1, %eax\n"
        "  xchg %eax, control_lock(%rip)\n"
        "  test %eax, %eax\n"
        "  jnz 2f\n"
        "  pushf\n"
        "  pop %rcx\n"
        "  mov %rsp, %rdx\n"
        "  mov (%rsp), %r8\n"
        "  lea control_stack+16384(%rip), %rsp\n"
        "  push %rdx\n"
        "  push %rdx\n"
        "  call control_body\n"
        "  pop %rdx\n"
        "  pop %rsp\n"
        "  movl $0, control_lock(%rip)\n"
        "  ret\n"
        "2: mov $-11, %rax\n"
        "  ret\n"
        ".size test_control, .-test_control\n"
        ".popsection\n");
#else
__asm__(".pushsection .text\n"
        ".globl test_control\n"
        ".hidden test_control\n"
        ".type test_control, %function\n"
        "test_control:\n"
        "  adrp x9, control_lock\n"
        "  add x9, x9, :lo12:control_lock\n"
        "  mov w10, #1\n"
        "3: ldaxr w11, [x9]\n"
        "  cbnz w11, 2f\n"
        "  stxr w12, w10, [x9]\n"
        "  cbnz w12, 3b\n"
        "  mov x2, sp\n"
        "  mov x4, x30\n"
        "  adrp x10, control_stack+16384\n"
        "  add x10, x10, :lo12:control_stack+16384\n"
        "  stp x2, x30, [x10, #-16]!\n"
        "  mov sp, x10\n"
        "  bl control_body\n"
        "  ldp x10, x30, [sp]\n"
        "  mov sp, x10\n"
        "  adrp x9, control_lock\n"
        "  add x9, x9, :lo12:control_lock\n"
        "  str wzr, [x9]\n"
        "  ret\n"
        "2: mov x0, #-11\n"
        "  ret\n"
        ".size test_control, .-test_control\n"
        ".popsection\n");
#endif
