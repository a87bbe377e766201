/*
 * victim.c - a privileged program that asks again and again whether it may, and says so when the
 * answer changes. Linked to a fixed address, as its attacker has to know where its code is.
 */
#include <stdio.h>
#include <unistd.h>

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

int main(void)
{
    puts("ready");
    fflush(stdout);
    for (;;) {
        if (ask() != 0) {
            puts("entered");
            fflush(stdout);
            return 0;
        }
        usleep(1000);
    }
}
