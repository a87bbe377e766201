/*
 * guarded_call.h - a decision of a privileged program, which is always no unless its code is
 * changed. Build with -mno-red-zone, for x86-64; with -no-pie if the attacker has to know where the
 * code is.
 */
#ifndef NSC_TESTS_E2E_RECORD_PRIVILEGES_GUARDED_CALL_H
#define NSC_TESTS_E2E_RECORD_PRIVILEGES_GUARDED_CALL_H

static volatile int answer;

__attribute__((noinline)) int may_enter(void)
{
    return answer;
}

/* The call whose address is in `the_call`: were it made another instruction, the register that it
 * returns in would hold 1. */
__attribute__((noinline)) static int ask(void)
{
    int result;

    __asm__ volatile("mov $1, %%eax\n"
                     ".globl the_call\n"
                     "the_call: call may_enter\n"
                     : "=a"(result)
                     :
                     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
}

#endif
