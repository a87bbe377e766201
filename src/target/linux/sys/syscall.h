/*
 * syscall.h - the system call instruction. Included by the files of linux/sys only.
 */
#ifndef NSC_LINUX_SYS_SYSCALL_H
#define NSC_LINUX_SYS_SYSCALL_H

#include <stdint.h>
#include <sys/syscall.h>

/* Returns what the kernel returns: a negative errno on failure. */
static inline long nsc_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
#else
#error "no system call instruction for this machine"
#endif
}

static inline long nsc_syscall3(long number, long a, long b, long c)
{
    return nsc_syscall6(number, a, b, c, 0, 0, 0);
}

#endif
