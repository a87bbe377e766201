/*
 * every.cc - what a replaced return address could break: arguments and results of every class,
 * registers, jumps, exceptions, backtraces, signals, stacks, threads and processes. Prints what it
 * computes; a recorded program must print the same.
 */
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define HERE     __asm__ volatile("")

/* ---- Arguments and results --------------------------------------------------------------------
 */

struct big {
    long words[9];
};
struct pair {
    double a;
    long b;
};

NOINLINE big returns_big(long from)
{
    big b;

    HERE;
    for (int i = 0; i < 9; i++)
        b.words[i] = from * i;
    return b;
}
NOINLINE pair returns_pair(long from)
{
    HERE;
    return {from * 0.5, from * 3};
}
NOINLINE long double returns_long(long double x)
{
    HERE;
    return x * 1.25L;
}
NOINLINE __int128 returns_wide(__int128 x)
{
    HERE;
    return x << 65 | 77;
}
NOINLINE double on_stack(int a, double b, long c, float d, big e, long f, long g, long h, long i,
                         long j, double k, double l, double m, double n, double o, double p,
                         double q, pair r)
{
    HERE;
    return a + b + (double)c + (double)d + (double)e.words[8] + (double)(f + g + h + i + j) + k +
           l + m + n + o + p + q + r.a + (double)r.b;
}
NOINLINE double variadic(int count, ...)
{
    va_list ap;
    double sum = 0;

    va_start(ap, count);
    for (int i = 0; i < count; i++)
        sum += i % 2 ? va_arg(ap, double) : va_arg(ap, int);
    va_end(ap);
    return sum;
}
NOINLINE long fills_stack(long n)
{
    char *room = (char *)alloca((size_t)n);

    memset(room, 7, (size_t)n);
    HERE;
    return room[n - 1] + n;
}
typedef float eight __attribute__((vector_size(32)));
__attribute__((noinline, target("avx"))) eight vectors(eight a, eight b)
{
    HERE;
    return a * b + a;
}
__attribute__((target("avx"))) float vector_sum()
{
    eight a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {8, 7, 6, 5, 4, 3, 2, 1}, c = vectors(a, b);
    float sum = 0;

    for (int i = 0; i < 8; i++)
        sum += c[i];
    return sum;
}

void values()
{
    pair p = returns_pair(5);
    __int128 wide = returns_wide(9);

    printf("%ld %g %ld %Lg\n", returns_big(3).words[8], p.a, p.b, returns_long(4));
    printf("%llx %llx\n", (unsigned long long)(wide >> 64), (unsigned long long)wide);
    printf("%g\n",
           on_stack(1, 2, 3, 4, returns_big(1), 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, p));
    printf("%g %ld\n", variadic(7, 1, 2.5, 3, 4.5, 5, 6.5, 7), fills_stack(5000));
    if (__builtin_cpu_supports("avx"))
        printf("%g\n", (double)vector_sum());
    else
        puts("240");
}

/* ---- Registers --------------------------------------------------------------------------------
 */

extern "C" NOINLINE void touches_nothing()
{
    HERE;
}

/* Sets every register, calls, and counts those that have changed. */
extern "C" unsigned long changed_registers(void);
#ifdef __x86_64__
__asm__("        .pushsection .text\n"
        "        .macro  set reg, value\n"
        "        movabsq $\\value, %\\reg\n"
        "        .endm\n"
        "        .macro  test_reg reg, value\n"
        "        pushq   %rbx\n"
        "        movabsq $\\value, %rbx\n"
        "        cmpq    %rbx, %\\reg\n"
        "        je      1f\n"
        "        incq    8(%rsp)\n"
        "1:      popq    %rbx\n"
        "        .endm\n"
        "        .globl  changed_registers\n"
        "changed_registers:\n"
        "        pushq   %rbx\n"
        "        pushq   $0\n"
        "        subq    $8, %rsp\n"
        "        set rax, 0x1111111111111101\n        set rcx, 0x1111111111111102\n"
        "        set rdx, 0x1111111111111103\n        set rsi, 0x1111111111111104\n"
        "        set rdi, 0x1111111111111105\n        set r8, 0x1111111111111106\n"
        "        set r9, 0x1111111111111107\n        set r10, 0x1111111111111108\n"
        "        set r11, 0x1111111111111109\n"
        "        movq    %rax, %xmm0\n"
        "        movq    %rcx, %xmm15\n"
        "        call    touches_nothing\n"
        "        leaq    8(%rsp), %rsp\n"
        "        test_reg rax, 0x1111111111111101\n        test_reg rcx, 0x1111111111111102\n"
        "        test_reg rdx, 0x1111111111111103\n        test_reg rsi, 0x1111111111111104\n"
        "        test_reg rdi, 0x1111111111111105\n        test_reg r8, 0x1111111111111106\n"
        "        test_reg r9, 0x1111111111111107\n        test_reg r10, 0x1111111111111108\n"
        "        test_reg r11, 0x1111111111111109\n"
        "        movq    %xmm0, %rax\n        movq    %xmm15, %rcx\n"
        "        test_reg rax, 0x1111111111111101\n        test_reg rcx, 0x1111111111111102\n"
        "        popq    %rax\n"
        "        popq    %rbx\n"
        "        ret\n"
        "        .popsection\n");
#else
unsigned long changed_registers(void)
{
    touches_nothing();
    return 0;
}
#endif

/* ---- Jumps, exceptions, backtraces -------------------------------------------------------------
 */

static __thread jmp_buf target;

NOINLINE int jumps(int depth)
{
    if (depth == 0)
        longjmp(target, 1);
    return jumps(depth - 1) + 1;
}
NOINLINE int lands(int depth)
{
    if (setjmp(target) == 0)
        return jumps(depth);
    return depth * 2;
}

struct counted {
    static __thread int alive;
    NOINLINE counted() { alive++; }
    NOINLINE ~counted() { alive--; }
};
__thread int counted::alive;

NOINLINE int throws(int depth)
{
    counted here;

    if (depth == 0)
        throw std::runtime_error("bottom");
    return throws(depth - 1) + 1;
}
NOINLINE int rethrows(int depth)
{
    try {
        return throws(depth);
    } catch (std::exception &) {
        counted here;

        throw;
    }
}
NOINLINE int catches(int depth)
{
    try {
        return rethrows(depth);
    } catch (std::exception &e) {
        return (int)strlen(e.what()) + depth;
    }
}

/* How many frames of this program's functions backtrace() sees, by name. */
NOINLINE int sees(int depth)
{
    void *at[64];
    char **names;
    int count, seen = 0;

    if (depth > 0)
        return sees(depth - 1) + 0 * depth;
    count = backtrace(at, 64);
    names = backtrace_symbols(at, count);
    for (int i = 0; i < count; i++)
        seen += strstr(names[i], "_Z4seesi") != nullptr || strstr(names[i], "(main+") != nullptr;
    free(names);
    return seen;
}

void ways_out()
{
    int sum = 0;

    for (int depth = 0; depth < 20; depth++)
        sum += lands(depth) + catches(depth);
    printf("%d %d\n", sum, counted::alive);
    printf("%d\n", sees(10));
}

/* ---- Tail calls ---------------------------------------------------------------------------------
 */

NOINLINE long ends(long n)
{
    HERE;
    return n + 1;
}
NOINLINE long hops(long n)
{
    HERE;
    return n % 3 == 0 ? ends(n) : hops(n - 1); /* jumps, with -O2 */
}

/* ---- Signals ------------------------------------------------------------------------------------
 */

static volatile long handled, wrong;

NOINLINE long in_handler(long n)
{
    HERE;
    return n < 2 ? n : in_handler(n - 1) + in_handler(n - 2);
}
static void on_alarm(int)
{
    void *at[64];

    handled = handled + 1;
    if (in_handler(6) != 8)
        wrong = wrong + 1;
    if (backtrace(at, 64) < 3)
        wrong = wrong + 1;
}
NOINLINE long fib(long n)
{
    HERE;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
void interrupted()
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    static char other[65536];
    stack_t stack = {};
    struct sigaction action = {};

    stack.ss_sp = other;
    stack.ss_size = sizeof other;
    action.sa_handler = on_alarm;
    for (int alternate = 0; alternate < 2; alternate++) {
        action.sa_flags = SA_RESTART | (alternate ? SA_ONSTACK : 0);
        sigaltstack(&stack, nullptr);
        sigaction(SIGALRM, &action, nullptr);
        setitimer(ITIMER_REAL, &often, nullptr);
        for (int i = 0; i < 40; i++)
            if (fib(18) != 2584)
                wrong = wrong + 1;
        setitimer(ITIMER_REAL, &never, nullptr);
    }
    printf("%s %ld\n", handled > 0 ? "handled" : "never", wrong);
}

/* ---- Stacks, threads, processes
 * ------------------------------------------------------------------ */

struct coroutine {
    ucontext_t here, back;
    char *stack;
    long value;
};
static __thread coroutine *running;

NOINLINE long yields(coroutine *c, long depth)
{
    if (depth > 0)
        return yields(c, depth - 1) + 1;
    for (int i = 0; i < 3; i++)
        swapcontext(&c->here, &c->back);
    return c->value;
}
static void co_main()
{
    coroutine *c = running;

    c->value = yields(c, 5);
    setcontext(&c->back);
}
NOINLINE void resumes(coroutine *c)
{
    running = c;
    swapcontext(&c->back, &c->here);
}
static void *resume_all(void *all)
{
    coroutine *c = (coroutine *)all;

    for (int i = 0; i < 4; i++)
        resumes(&c[i]);
    return nullptr;
}
/* Every coroutine goes on in another thread each time. */
void coroutines()
{
    coroutine c[4];
    long sum = 0;

    for (int i = 0; i < 4; i++) {
        c[i].stack = (char *)malloc(65536);
        c[i].value = i * 10;
        getcontext(&c[i].here);
        c[i].here.uc_stack.ss_sp = c[i].stack;
        c[i].here.uc_stack.ss_size = 65536;
        c[i].here.uc_link = nullptr;
        makecontext(&c[i].here, co_main, 0);
    }
    for (int round = 0; round < 4; round++) {
        pthread_t thread;

        pthread_create(&thread, nullptr, resume_all, c);
        pthread_join(thread, nullptr);
    }
    for (int i = 0; i < 4; i++) {
        sum += c[i].value;
        free(c[i].stack);
    }
    printf("%ld\n", sum);
}

static void *works(void *sum)
{
    for (int i = 0; i < 50; i++)
        *(long *)sum += fib(12) + catches(i % 7) + lands(i % 5) + hops(i);
    return nullptr;
}
void threads()
{
    pthread_t thread[6];
    long sums[6] = {};
    int status = 0;

    for (int i = 0; i < 6; i++)
        pthread_create(&thread[i], nullptr, works, &sums[i]);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();

        if (child == 0) {
            long sum = 0;

            works(&sum);
            _exit(sum > 0 ? 3 : 4);
        }
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(thread[i], nullptr);
        if (sums[i] != sums[0])
            puts("sums differ");
    }
    printf("%ld\n", sums[0]);
    if (vfork() == 0)
        _exit(0);
    wait(nullptr);
}

/* ---- A thread that comes back to a place between the nops
 * ----------------------------------------- */

NOINLINE int thrice(int x)
{
    HERE;
    return x * 3;
}
static int inside_nops(int x)
{
    int sum = thrice(x);

#if defined(__x86_64__) && defined(RUN_OF_NOPS)
    for (int i = 1; i < 5; i++) {
        int (*from)(int) = (int (*)(int))((char *)thrice + i);

        sum += from(x) - thrice(x);
    }
#endif
    return sum;
}

int main()
{
    values();
    printf("%lu\n", changed_registers());
    ways_out();
    printf("%ld\n", hops(100) + hops(50));
    interrupted();
    coroutines();
    threads();
    printf("%d\n", inside_nops(7));
    return 0;
}
