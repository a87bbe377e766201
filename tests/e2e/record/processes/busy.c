/*
 * Programs that work all the time and know what has to come out, while somebody calls in them from
 * outside:
 *
 *   busy KIND SECONDS    prints "ready", works, prints "KIND ok" or what was wrong
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double end_s;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int goes_on(void)
{
    return now_s() < end_s;
}

static void nap_us(long us)
{
    struct timespec t = {.tv_nsec = us * 1000};

    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* Whole and vector registers, and flags. */
static double compute(void)
{
    uint64_t a = 1, b = 2, c = 3, d = 5;
    double x = 1.1, y = 2.2, z = 3.3, w = 0;

    for (int i = 0; i < 100000; i++) {
        a = a * 6364136223846793005u + b;
        b ^= c >> 7 | d << 9;
        c += __builtin_popcountll(a) + (a > b);
        d = d * 31 + (uint64_t)i;
        x = x * 1.0000001 + y * 1e-9;
        y = y * 0.9999999 + z * 1e-9;
        z = z * 1.0000002 - x * 1e-9;
        w += x * y * z;
    }
    return w + (double)(a ^ b ^ c ^ d);
}

#if defined(__x86_64__)

/* Values below the stack pointer, which belong to a function that calls nobody. */
static int k_red_zone(void)
{
    uint64_t bad = 0;

    while (goes_on() && bad == 0)
        __asm__ volatile("mov $3000000, %%rcx\n"
                         "1: mov %%rcx, -8(%%rsp)\n"
                         "mov %%rcx, -64(%%rsp)\n"
                         "mov %%rcx, -128(%%rsp)\n"
                         "mov $10, %%eax\n"
                         "4: dec %%eax\n"
                         "jnz 4b\n"
                         "mov -8(%%rsp), %%rax\n"
                         "cmp %%rax, -64(%%rsp)\n"
                         "jne 2f\n"
                         "cmp %%rax, -128(%%rsp)\n"
                         "jne 2f\n"
                         "dec %%rcx\n"
                         "jnz 1b\n"
                         "jmp 3f\n"
                         "2: inc %0\n"
                         "3:\n"
                         : "+r"(bad)
                         :
                         : "rax", "rcx", "memory", "cc");
    return bad == 0;
}

/* Copies that run downwards: with the direction flag set. */
static int k_backwards(void)
{
    static char from[1 << 20], to[1 << 20];

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)(i * 7);
    while (goes_on()) {
        const char *source = from + sizeof from - 1;
        char *target = to + sizeof to - 1;
        uint64_t bytes = sizeof from;

        memset(to, 0, sizeof to);
        __asm__ volatile("std\nrep movsb\ncld\n"
                         : "+S"(source), "+D"(target), "+c"(bytes)
                         :
                         : "memory", "cc");
        if (memcmp(from, to, sizeof from) != 0)
            return 0;
    }
    return 1;
}

#else
static int k_red_zone(void)
{
    return 2;
}
static int k_backwards(void)
{
    return 2;
}
#endif

static int k_loop(void)
{
    double first = compute();

    while (goes_on()) {
        double again = compute();

        if (memcmp(&first, &again, sizeof first) != 0)
            return 0;
    }
    return 1;
}

/* ---- Heap ------------------------------------------------------------------------------------ */

static int k_malloc(void)
{
    unsigned char *held[256] = {0};
    size_t sizes[256] = {0};
    uint32_t random = 1;

    while (goes_on())
        for (int i = 0; i < 10000; i++) {
            uint32_t n;

            random = random * 1664525 + 1013904223;
            n = random >> 24;
            if (held[n] != NULL && (held[n][0] != n || held[n][sizes[n] - 1] != n))
                return 0;
            free(held[n]);
            sizes[n] = random >> 8 & 0x3fff;
            sizes[n] += sizes[n] == 0;
            held[n] = malloc(sizes[n]);
            memset(held[n], (int)n, sizes[n]);
        }
    return 1;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t under_lock, turns;
static int ring[2], stop;

static void *worker(void *number)
{
    uint64_t done = 0;
    char token;

    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&lock);
        under_lock++;
        pthread_cond_signal(&changed);
        if ((uintptr_t)number == 0 && !stop)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        done++;
        if ((uintptr_t)number % 2 == 1) {
            if (read(ring[0], &token, 1) != 1 || write(ring[1], &token, 1) != 1)
                return NULL;
            __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
        }
    }
    return (void *)(uintptr_t)done;
}

static int k_threads(void)
{
    pthread_t threads[8];
    uint64_t sum = 0;
    void *done;

    if (pipe(ring) != 0 || write(ring[1], "ab", 2) != 2)
        return 0;
    for (uintptr_t i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    while (goes_on())
        nap_us(1000);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &done);
        if (done == NULL)
            return 0;
        sum += (uintptr_t)done;
    }
    return sum == under_lock && turns > 0;
}

static void *short_life(void *value)
{
    return (void *)((uintptr_t)value * 3);
}

static int k_coming_and_going(void)
{
    while (goes_on()) {
        pthread_t threads[4];
        int status;
        void *value;

        for (uintptr_t i = 0; i < 4; i++)
            if (pthread_create(&threads[i], NULL, short_life, (void *)i) != 0)
                return 0;
        for (uintptr_t i = 0; i < 4; i++)
            if (pthread_join(threads[i], &value) != 0 || (uintptr_t)value != i * 3)
                return 0;
        if (fork() == 0)
            _exit(42);
        if (wait(&status) < 0 || WEXITSTATUS(status) != 42)
            return 0;
    }
    return 1;
}

/* ---- Signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t alarms, jumps, faults, sent_faults, queued;
static volatile int wrong;
static sigjmp_buf out;
static char *page;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
    if (jumps >= 0 && alarms % 4 == 0) {
        jumps++;
        siglongjmp(out, 1);
    }
}

static void on_queued(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    wrong |= info->si_value.sival_int != queued || info->si_code != SI_QUEUE;
    queued++;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code <= 0) {
        sent_faults++;
        return;
    }
    wrong |= info->si_addr != page;
    faults++;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
    static char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigaltstack(&other, NULL);
    sigaction(number, &action, NULL);
}

/* A storm of timer signals, a quarter of whose handlers leave by a jump. */
static int k_signals(void)
{
    struct itimerval often = {.it_interval = {.tv_usec = 300}, .it_value = {.tv_usec = 300}};
    struct itimerval never = {.it_value = {0}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    double first = compute();

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (goes_on())
        if (sigsetjmp(out, 1) == 0) {
            double again = compute();

            if (memcmp(&first, &again, sizeof first) != 0)
                return 0;
        }
    jumps = -1;
    setitimer(ITIMER_REAL, &never, NULL);
    return alarms > 10;
}

/* Queued signals come all, in order, with their values. */
static int k_queued(void)
{
    pid_t child, self = getpid();
    int status = 0, sent[2], count = 0;

    if (pipe(sent) != 0)
        return 0;
    handle(SIGRTMIN, on_queued);
    child = fork();
    if (child == 0) {
        for (; now_s() < end_s; count++) {
            union sigval value = {.sival_int = count};

            while (sigqueue(self, SIGRTMIN, value) != 0)
                nap_us(1000);
            if (count % 16 == 0)
                nap_us(100);
        }
        _exit(write(sent[1], &count, sizeof count) < 0);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        compute();
    return read(sent[0], &count, sizeof count) == sizeof count && !wrong && count > 100 &&
           queued == count;
}

/* A program that lives by its faults, and is sent others besides. */
static int k_faults(void)
{
    pid_t child, self = getpid();
    int rounds = 0;

    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle(SIGSEGV, on_fault);
    child = fork();
    if (child == 0) {
        while (now_s() < end_s) {
            kill(self, SIGSEGV);
            nap_us(50);
        }
        _exit(0);
    }
    while (waitpid(child, NULL, WNOHANG) == 0) {
        mprotect(page, 4096, PROT_NONE);
        *(volatile char *)page = 1;
        rounds++;
    }
    return !wrong && faults == rounds && sent_faults > 10;
}

static volatile sig_atomic_t seen[65];

static void on_any(int number, siginfo_t *info, void *context)
{
    (void)context;
    seen[number] += info->si_code == SI_USER ? 1 : 1000;
}

/* Says which signals came, and how often. */
static int k_counts(void)
{
    static const int numbers[] = {SIGUSR1, SIGUSR2, SIGSEGV, SIGTERM};

    for (int i = 0; i < 4; i++)
        handle(numbers[i], on_any);
    while (goes_on() && seen[SIGTERM] == 0)
        compute();
    printf("usr1=%d usr2=%d segv=%d\n", (int)seen[SIGUSR1], (int)seen[SIGUSR2], (int)seen[SIGSEGV]);
    return seen[SIGTERM] == 1;
}

/* Signals that a thread has blocked stay where they are, also those that no call can do without. */
static int k_pending(void)
{
    double first = compute();
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    handle(SIGSEGV, on_any);
    handle(SIGUSR1, on_any);
    sigprocmask(SIG_SETMASK, &all, NULL);
    kill(getpid(), SIGSEGV);
    kill(getpid(), SIGUSR1);
    while (goes_on()) {
        double again = compute();

        if (memcmp(&first, &again, sizeof first) != 0 || seen[SIGSEGV] + seen[SIGUSR1] != 0)
            return 0;
    }
    sigprocmask(SIG_SETMASK, &none, &all);
    return seen[SIGSEGV] == 1 && seen[SIGUSR1] == 1 && sigismember(&all, SIGSEGV) == 1;
}

/* Stopped and continued by a job's signals all the time; at the end it has to run. */
static int k_stops(void)
{
    pid_t self = getpid(), child = fork();
    double first = compute();

    if (child == 0) {
        while (now_s() < end_s) {
            kill(self, SIGSTOP);
            nap_us(300);
            kill(self, SIGCONT);
            nap_us(300);
        }
        _exit(0);
    }
    while (waitpid(child, NULL, WNOHANG) == 0) {
        double again = compute();

        if (memcmp(&first, &again, sizeof first) != 0)
            return 0;
    }
    return 1;
}

/* ---- Confined ------------------------------------------------------------------------------ */

/* A filter that kills whoever makes a memory file; the program itself does not. */
static int confine(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = 4, .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void say_confined(void)
{
    puts("confined");
    fflush(stdout);
}

static int k_seccomp(void)
{
    if (!confine())
        return 2;
    say_confined();
    return k_loop();
}

/* Waits as a thread does that is called in before all others. */
static void *confined_waiter(void *argument)
{
    confine();
    say_confined();
    pthread_barrier_wait(argument);
    return NULL;
}

static int k_one_confined(void)
{
    pthread_barrier_t never;
    pthread_t thread;

    pthread_barrier_init(&never, NULL, 2);
    pthread_create(&thread, NULL, confined_waiter, &never);
    return k_loop();
}

/* ---- Restartable sequences ------------------------------------------------------------------- */

#if defined(__x86_64__)

static uint64_t shared_count;

/* Adds one without an atomic instruction: right only if whoever was interrupted begins again.
 * All threads run on one processor. */
static void add_one(struct rseq *area)
{
    __asm__ volatile(".pushsection __rseq_cs, \"aw\"\n"
                     ".balign 32\n"
                     "3: .long 0, 0\n"
                     ".quad 1f, 2f - 1f, 4f\n"
                     ".popsection\n"
                     ".pushsection __rseq_failure, \"ax\"\n"
                     ".byte 0x0f, 0xb9, 0x3d\n"
                     ".long 0x53053053\n"
                     "4: jmp 5f\n"
                     ".popsection\n"
                     "5: lea 3b(%%rip), %%rax\n"
                     "mov %%rax, %[cs]\n"
                     "1: mov %[count], %%rcx\n"
                     "mov $3000, %%eax\n"
                     "6: dec %%eax\n"
                     "jnz 6b\n"
                     "inc %%rcx\n"
                     "mov %%rcx, %[count]\n"
                     "2:\n"
                     : [cs] "=m"(area->rseq_cs), [count] "+m"(shared_count)
                     :
                     : "rax", "rcx", "memory", "cc");
}

static void *adder(void *unused)
{
    struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    uint64_t added = 0;

    for (; goes_on(); added += 100)
        for (int i = 0; i < 100; i++)
            add_one(area);
    (void)unused;
    return (void *)added;
}

static int k_sequences(void)
{
    pthread_t threads[3];
    uint64_t added = 0;
    cpu_set_t one;
    void *value;

    if (__rseq_size == 0)
        return 2;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, adder, NULL);
    added = (uintptr_t)adder(NULL); /* a thread that waits would be called in before others */
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &value);
        added += (uintptr_t)value;
    }
    return added == shared_count;
}

#else
static int k_sequences(void)
{
    return 2;
}
#endif

static const struct {
    const char *name;
    int (*run)(void);
} kinds[] = {
    {"loop", k_loop},       {"red-zone", k_red_zone},   {"backwards", k_backwards},
    {"malloc", k_malloc},   {"threads", k_threads},     {"coming-and-going", k_coming_and_going},
    {"signals", k_signals}, {"queued", k_queued},       {"faults", k_faults},
    {"stops", k_stops},     {"counts", k_counts},       {"pending", k_pending},
    {"seccomp", k_seccomp}, {"sequences", k_sequences}, {"one-confined", k_one_confined},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof kinds / sizeof kinds[0]; i++) {
        int good;

        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        end_s = now_s() + atof(argv[2]);
        puts("ready");
        fflush(stdout);
        good = kinds[i].run();
        printf("%s %s\n", argv[1], good == 2 ? "skipped" : good ? "ok" : "wrong");
        return 0;
    }
    return 2;
}
