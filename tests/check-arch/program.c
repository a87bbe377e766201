/*
 * program.c - a program whose calls are known, for make check-arch: recursion, calls through
 * pointers, a tail call, deep stacks, longjmp inside a recursion with calls after it. It prints the
 * position that its function `probe` must be recorded with.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static jmp_buf out;
static volatile int sink;

NOINLINE int leaf(int x)
{
    return x + sink;
}

NOINLINE int twice(int x)
{
    int a = leaf(x);

    return a + leaf(a);
}

/* A tail call from -O2 on. */
NOINLINE int tail(int x)
{
    sink = x;
    return twice(x + 1);
}

/* Each frame is larger than the reach of an anchor after a few calls. */
NOINLINE int deep(int n)
{
    volatile char frame[40000];

    memset((char *)frame, n, sizeof frame);
    return (n == 0 ? leaf(frame[1]) : deep(n - 1)) + frame[2];
}

/* Through a pointer, so that no compiler makes a loop of it. */
NOINLINE int jump(int n);
static int (*volatile jump_again)(int) = jump;

NOINLINE int jump(int n)
{
    if (n == 0)
        longjmp(out, 1);
    return jump_again(n - 1) + 1;
}

NOINLINE int through(int (*f)(int), int x)
{
    return f(x) + 1;
}

/* Many arguments, of every class: what a hook must not spoil. */
NOINLINE double many(int a, double b, long c, float d, const char *e, long long f, double g, int h,
                     int i, int j, double k)
{
    return a + b + (double)c + (double)d + (double)strlen(e) + (double)f + g + h + i + j + k;
}

NOINLINE void probe(void)
{
#if !defined(__aarch64__)
    unsigned long position = (unsigned long)__builtin_dwarf_cfa() - 8;
#elif defined(__clang__)
    unsigned long position = (unsigned long)__builtin_sponentry();
#else
    unsigned long position = (unsigned long)__builtin_dwarf_cfa();
#endif

    printf("position %#lx\n", position);
}

int main(void)
{
    volatile int total = 0; /* gcc -O3 warns that longjmp may clobber it */

    total += twice(1);
    total += tail(2);
    sink = 0;
    total += through(leaf, 3);
    total += deep(12);
    if (setjmp(out) == 0)
        total += jump(5);
    total += leaf(4);
    total += many(1, 2.5, 3, 4.5f, "five", 6, 7.5, 8, 9, 10, 11.5) == 67 ? 1 : 1000;
    probe();
    printf("total %d\n", total);
    return total & 127;
}
