/*
 * Sessions that begin and end while the program runs. This program is its own recorder: it lays out
 * a session in a memory file, has the control function join it, and counts afterwards what the
 * memory holds. Prints `key value` lines; ends with 1 and a message if anything is wrong.
 *
 * usage:
 *   sessions exact CYCLES [PLUGIN]   threads make so many calls each in every session, signal
 *                                    handlers and children some more: recorded + lost = emitted
 *   sessions free CYCLES [PLUGIN]    threads that come and go and never stop
 *   sessions steps FIRST STRIDE      a handler at every STRIDEth instruction of the slow path ends
 *                                    the session and begins another, in which the slow path goes on
 *   sessions refuse                  what the control function must not accept
 *   sessions sizes                   addresses that are kept of sessions large and small
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <nanoscope/nanoscope.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../../live_layout.h"
#include "abi/control.h"

#define NOTRACE NANOSCOPE_NOTRACE __attribute__((noinline))

enum {
    THREADS = 8,
    CALLS = 200,
    CHILD_CALLS = 37,
    PAGE = 4096,
    CHUNK_BYTES = 8192,
    CHUNKS = 128,
    SLOTS = 256, /* of every table but that of chunks */
};

int64_t nsc_runtime_control(uint64_t verb, uint64_t argument);

static struct nsc_live_header *h;
static pthread_barrier_t begin, end;
static uint64_t handler_calls;
static volatile bool over, storm;
static uint64_t sums[THREADS];

/* What is recorded. */
__attribute__((noinline)) uint64_t step(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 1442695040888963407u;
}

NOTRACE static void fail(const char *what, long long value)
{
    printf("failed: %s (%lld)\n", what, value);
    fflush(stdout);
    _exit(1);
}

NOTRACE static void handler(int number)
{
    int error = errno;

    (void)number;
    if (!storm)
        return;
    step(1);
    __atomic_fetch_add(&handler_calls, 1, __ATOMIC_RELAXED);
    errno = error;
}

NOTRACE static uint64_t run(uint64_t x, int calls)
{
    for (int i = 0; i < calls; i++)
        x = step(x);
    return x;
}

NOTRACE static void *worker(void *arg)
{
    uint64_t *sum = arg;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    for (;;) {
        pthread_barrier_wait(&begin);
        if (over)
            return NULL;
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        *sum = run(*sum, CALLS);
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        pthread_barrier_wait(&end);
    }
}

/* ---- The recorder -------------------------------------------------------------------------- */

NOTRACE static struct nsc_live_header header_of(uint32_t pid)
{
    struct nsc_live_header header = {
        .recorder_pid = pid,
        .processes_max = SLOTS,
        .modules_max = SLOTS,
        .threads_max = SLOTS,
        .chunks_max = CHUNKS,
        .chunk_bytes = CHUNK_BYTES,
        .filter_bytes = PAGE,
    };

    live_layout(&header);
    return header;
}

NOTRACE static uint64_t layout_bytes(void)
{
    return header_of(0).total_bytes;
}

NOTRACE static int memory_with(const struct nsc_live_header *header, uint64_t bytes)
{
    int64_t fd = nsc_runtime_control(NSC_CONTROL_MEMORY, 0);

    if (fd < 0 || ftruncate((int)fd, (off_t)bytes) != 0 ||
        (bytes != 0 && pwrite((int)fd, header, sizeof *header, 0) != (ssize_t)sizeof *header))
        fail("memory file", fd);
    return (int)fd;
}

NOTRACE static void open_session_of(const struct nsc_live_header *header)
{
    int fd = memory_with(header, header->total_bytes);
    int64_t result;

    h = mmap(NULL, header->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (h == MAP_FAILED)
        fail("mmap", errno);
    result = nsc_runtime_control(NSC_CONTROL_JOIN, (uint64_t)fd);
    if (result != 0)
        fail("join", result);
}

/* Begins a session; what is recorded is switched on if @on. */
NOTRACE static void open_session(bool on)
{
    struct nsc_live_header header = header_of((uint32_t)getpid());
    int64_t result;

    open_session_of(&header);
    if (on && (result = nsc_runtime_control(NSC_CONTROL_APPLY, 0)) != 0)
        fail("apply", result);
}

NOTRACE static void *table(uint64_t offset)
{
    return (char *)h + offset;
}

/* Events of a chunk, and slots that were taken and never filled before the last one. */
NOTRACE static uint64_t count_chunk(uint32_t at)
{
    const uint64_t(*slots)[2] = table(h->data_off + (uint64_t)at * CHUNK_BYTES);
    uint64_t n = CHUNK_BYTES / 16, used = 0, events = 0;

    for (uint64_t i = 0; i < n; i++)
        if (slots[i][0] != 0)
            used = i + 1;
    for (uint64_t i = 0; i < used; i++) {
        uint64_t address = slots[i][0] & NSC_LIVE_ADDRESS_MASK;

        if (address == 0 || address >= NSC_LIVE_ESC_LIMIT)
            events++;
        else
            i += slots[i][0] >> 12 & 15;
    }
    return events;
}

NOTRACE static uint64_t count_session(uint64_t *lost)
{
    const struct nsc_live_chunk *chunks = table(h->chunks_off);
    const struct nsc_live_thread *threads = table(h->threads_off);
    const struct nsc_live_process *processes = table(h->processes_off);
    uint64_t events = 0;

    *lost = h->lost_unattributed;
    for (uint32_t i = 0; i < CHUNKS; i++)
        if (chunks[i].state != 0)
            events += count_chunk(i);
    for (uint32_t i = 0; i < SLOTS; i++) {
        *lost += threads[i].lost + processes[i].lost;
        if (processes[i].problems != 0)
            fail("problems", processes[i].problems);
    }
    return events;
}

NOTRACE static void close_session(void)
{
    int64_t result = nsc_runtime_control(NSC_CONTROL_OFF, 0);

    if (result != 0)
        fail("off", result);
    __atomic_store_n(&h->recorder_state, NSC_LIVE_RECORDER_CLOSED, __ATOMIC_RELEASE);
}

NOTRACE static void forget_session(void)
{
    munmap(h, h->total_bytes);
    h = NULL;
}

NOTRACE static void with_plugin(const char *path)
{
    void *plugin = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
    int (*work)(int);

    if (plugin == NULL)
        return;
    *(void **)&work = dlsym(plugin, "plugin_work");
    if (work != NULL)
        work(20);
    dlclose(plugin);
}

/* ---- What is tried ------------------------------------------------------------------------- */

NOTRACE static uint64_t child_calls(void)
{
    pid_t pid = fork();
    int status;

    if (pid < 0)
        fail("fork", errno);
    if (pid == 0) {
        run(1, CHILD_CALLS);
        _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        fail("child", status);
    return CHILD_CALLS;
}

/* Every third session is not counted to its end: its threads have chunks that are half full when
 * the next one begins. */
NOTRACE static void exact(long cycles)
{
    struct itimerval interval = {{0, 300}, {0, 300}};
    uint64_t emitted_in_all = 0, lost_in_all = 0, handlers = 0, quiet = 0;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    pthread_t threads[THREADS];
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, &sums[i]);
    for (long c = 0; c < cycles; c++) {
        uint64_t calls = (uint64_t)THREADS * CALLS, events, lost;

        open_session(true);
        __atomic_store_n(&handler_calls, 0, __ATOMIC_RELAXED);
        storm = true;
        pthread_barrier_wait(&begin);
        if (c % 16 == 0)
            calls += child_calls();
        pthread_barrier_wait(&end);
        storm = false;
        calls += handler_calls;
        handlers += handler_calls;
        close_session();
        events = count_session(&lost);
        if (events + lost != 2 * calls)
            fail("recorded + lost - emitted", (long long)(events + lost - 2 * calls));
        emitted_in_all += 2 * calls;
        lost_in_all += lost;
        forget_session();
        if (c % 8 == 0) { /* nothing is recorded between sessions */
            pthread_barrier_wait(&begin);
            pthread_barrier_wait(&end);
            quiet++;
        }
    }
    over = true;
    pthread_barrier_wait(&begin);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (sums[i] != run(0, (int)((uint64_t)CALLS * ((uint64_t)cycles + quiet))))
            fail("sum", i);
    }
    printf("emitted %" PRIu64 "\nlost %" PRIu64 "\nhandlers %" PRIu64 "\n", emitted_in_all,
           lost_in_all, handlers);
}

NOTRACE static void *come_and_go(void *arg)
{
    *(uint64_t *)arg = run(0, CALLS);
    return NULL;
}

NOTRACE static void *never_stop(void *arg)
{
    uint64_t rounds = 0, x;

    for (; !over; rounds++) {
        x = run(0, CALLS);
        if (rounds == 0)
            *(uint64_t *)arg = x;
        else if (x != *(uint64_t *)arg)
            fail("a result changed", (long long)rounds);
    }
    return NULL;
}

NOTRACE static void *bystander(void *plugin)
{
    uint64_t sum, right = run(0, CALLS);
    pthread_t id;

    for (long i = 0; !over; i++) {
        if (pthread_create(&id, NULL, come_and_go, &sum) != 0)
            fail("thread", i);
        pthread_join(id, NULL);
        if (sum != right)
            fail("result of a thread", i);
        if (i % 16 == 0)
            child_calls();
        with_plugin(plugin);
    }
    return NULL;
}

NOTRACE static void free_running(long cycles, char *plugin)
{
    struct itimerval interval = {{0, 300}, {0, 300}};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    pthread_t threads[THREADS], other;
    uint64_t events = 0, lost = 0, l;

    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, never_stop, &sums[i]);
    pthread_create(&other, NULL, bystander, plugin);
    storm = true;
    setitimer(ITIMER_REAL, &interval, NULL);
    for (long c = 0; c < cycles; c++) {
        open_session(c % 4 != 0);
        if (c % 4 == 0)
            nsc_runtime_control(NSC_CONTROL_APPLY, 0);
        if (c % 3 == 0)
            usleep(200);
        close_session();
        events += count_session(&l);
        lost += l;
        forget_session();
    }
    over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(other, NULL);
    if (events == 0)
        fail("events", 0);
    printf("events %" PRIu64 "\nlost %" PRIu64 "\n", events, lost);
}

#ifdef __x86_64__

enum { STEP_CALLS = 4, STEP_NESTED = 3, TRAP_FLAG = 0x100 };

/* The first words of abi/hook.h: says when a chunk is about to be full. */
struct words {
    unsigned long pos;
    const unsigned long *endp;
};
extern __thread struct words nsc_runtime_tls;

static volatile long wanted, seen;
static volatile int bodies, returned, at_entry, at_call;

__attribute__((noinline)) static void body(void)
{
    bodies++;
}

NOTRACE static void trap(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number;
    (void)info;
    if (seen++ != wanted)
        return;
    registers[REG_EFL] &= ~TRAP_FLAG;
    at_call = returned;
    at_entry = bodies == returned;
    close_session();
    forget_session();
    open_session(true);
    run(1, STEP_NESTED);
}

NOTRACE static void set_trap_flag(int on)
{
    unsigned long flags = __builtin_ia32_readeflags_u64();

    __builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags & ~(unsigned long)TRAP_FLAG);
}

/* One round; returns whether the handler came. @full: the chunk is full but for this many slots. */
NOTRACE static bool round_at(long k, unsigned full)
{
    uint64_t events, lost, expected;

    open_session(true);
    if (full != 0)
        do
            step(1);
        while (*nsc_runtime_tls.endp - nsc_runtime_tls.pos - 1 >= 16ul * full);
    wanted = k;
    seen = bodies = returned = 0;
    set_trap_flag(1);
    for (int i = 0; i < STEP_CALLS; i++) {
        body();
        returned++;
    }
    set_trap_flag(0);
    close_session();
    events = count_session(&lost);
    forget_session();
    if (seen <= wanted)
        return false;
    /* All that came later; the event that is next, or interrupted, may belong to either session. */
    expected = 2 * STEP_NESTED;
    if (at_call < STEP_CALLS)
        expected += 2ull * (unsigned)(STEP_CALLS - 1 - at_call) + (unsigned)at_entry;
    if (events + lost != expected && events + lost != expected + 1)
        fail("recorded + lost - emitted", (long long)(events + lost - expected));
    return true;
}

NOTRACE static void steps(long first, long stride)
{
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
    long k = first, longest = 0;

    sigaction(SIGTRAP, &action, NULL);
    for (unsigned full = 0; full <= 4; full += 2, k = first) {
        while (round_at(k, full))
            k += stride;
        longest = k > longest ? k : longest;
    }
    printf("steps %ld\n", longest);
}

#endif

NOTRACE static void refused(const char *what, int fd, int64_t wanted)
{
    int64_t result = nsc_runtime_control(NSC_CONTROL_JOIN, (uint64_t)fd);

    if (result != wanted)
        fail(what, result);
    if (fd >= 0 && close(fd) != 0)
        fail("its descriptor was closed", fd);
}

/* A header with one word changed. */
#define BAD(field, value)                                                                          \
    do {                                                                                           \
        struct nsc_live_header bad = header_of((uint32_t)getpid());                                \
        bad.field = value;                                                                         \
        refused(#field " " #value, memory_with(&bad, layout_bytes()), -EINVAL);                    \
    } while (0)

NOTRACE static void refuse(void)
{
    struct nsc_live_header good = header_of((uint32_t)getpid());
    int pipes[2], fd;
    uint64_t events, lost;
    pid_t pid;

    if (nsc_runtime_control(NSC_CONTROL_HELLO, 0) != NSC_CONTROL_VERSION)
        fail("hello", 0);
    if (nsc_runtime_control(77, 0) != -EINVAL || nsc_runtime_control(1ull << 32, 0) != -EINVAL)
        fail("unknown verb", 0);
    if (nsc_runtime_control(NSC_CONTROL_APPLY, 0) != -ENOTCONN)
        fail("apply without a session", 0);
    if (nsc_runtime_control(NSC_CONTROL_OFF, 0) != 0)
        fail("off without a session", 0);
    if (nsc_runtime_control(NSC_CONTROL_DROP, 1) != -EBADF)
        fail("drop somebody else's", 0);
    fd = (int)nsc_runtime_control(NSC_CONTROL_MEMORY, 0);
    if (fd < 3 || nsc_runtime_control(NSC_CONTROL_DROP, (uint64_t)fd) != 0 || close(fd) == 0)
        fail("drop", fd);
    BAD(magic, 1);
    BAD(version, NSC_LIVE_VERSION + 1);
    BAD(header_bytes, 8);
    BAD(total_bytes, layout_bytes() + 1);
    BAD(event_bytes, 8);
    BAD(exit_bit, 13);
    BAD(recorder_state, NSC_LIVE_RECORDER_CLOSED);
    BAD(threads_max, UINT32_MAX);
    BAD(threads_max, 0);
    BAD(modules_max, UINT32_MAX);
    BAD(processes_off, UINT64_MAX - 7);
    BAD(chunks_off, 12345);
    BAD(chunks_off, 0);
    BAD(chunks_max, UINT32_MAX);
    BAD(chunk_bytes, 12345);
    BAD(chunk_bytes, 1u << 31);
    BAD(data_off, bad.data_off - PAGE + 8);
    BAD(data_off, UINT64_MAX & ~4095ull);
    BAD(filter_off, layout_bytes());
    BAD(filter_bytes, UINT32_MAX);
    BAD(home_count, CHUNKS);
    refused("an empty file", memory_with(&good, 0), -EINVAL);
    refused("a short file", memory_with(&good, 300), -EINVAL);
    refused("a longer file", memory_with(&good, layout_bytes() + PAGE), -EINVAL);
    if (pipe(pipes) != 0)
        fail("pipe", errno);
    refused("a pipe", pipes[0], -ESPIPE);
    refused("no descriptor", -1, -EBADF);
    if (nsc_runtime_control(NSC_CONTROL_JOIN, 999) != -EBADF)
        fail("a descriptor that is not open", 0);

    open_session(true);
    refused("a second session", memory_with(&good, layout_bytes()), -EBUSY);
    run(1, 10);
    close_session();
    events = count_session(&lost);
    if (events + lost != 20)
        fail("events of the session that was not replaced", (long long)(events + lost));

    /* A recorder that is dead without having closed. */
    pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    good.recorder_pid = (uint32_t)pid;
    if (nsc_runtime_control(NSC_CONTROL_JOIN, (uint64_t)memory_with(&good, layout_bytes())) != 0)
        fail("join", 0);
    nsc_runtime_control(NSC_CONTROL_APPLY, 0);
    run(1, 10);
    open_session(true);
    run(1, 10);
    close_session();
    events = count_session(&lost);
    if (events + lost != 20)
        fail("events after a dead recorder", (long long)(events + lost));
    printf("refused 1\n");
}

/* ---- Addresses ------------------------------------------------------------------------------- */

enum { GIB_KEPT = 64, ROUNDS = 4, SESSIONS = 32 };

NOTRACE static uint64_t mapped_gib(void)
{
    unsigned long long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (statm == NULL || fscanf(statm, "%llu", &pages) != 1)
        fail("statm", errno);
    fclose(statm);
    return pages * PAGE >> 30;
}

/* Sessions that nobody records in, and that have no pages. */
NOTRACE static void sizes(void)
{
    uint64_t most = 0;

    for (int i = 0; i < ROUNDS * SESSIONS; i++) {
        struct nsc_live_header header = header_of((uint32_t)getpid());

        header.chunk_bytes = i / SESSIONS % 2 == 0 ? 16 << 20 : 512 << 10; /* 2 GiB, or 64 MiB */
        live_layout(&header);
        header.chunk_count = header.chunks_free = header.chunks_backed = 0;
        open_session_of(&header);
        close_session();
        if (mapped_gib() > most)
            most = mapped_gib();
        forget_session();
    }
    if (most > GIB_KEPT + 3) /* and the recorder's own */
        fail("GiB of addresses", (long long)most);
    printf("gib %" PRIu64 "\n", most);
}

int main(int argc, char **argv)
{
    long cycles = argc > 2 ? atol(argv[2]) : 100;

    if (argc > 1 && strcmp(argv[1], "exact") == 0)
        exact(cycles);
    else if (argc > 1 && strcmp(argv[1], "free") == 0)
        free_running(cycles, argc > 3 ? argv[3] : NULL);
    else if (argc > 1 && strcmp(argv[1], "refuse") == 0)
        refuse();
    else if (argc > 1 && strcmp(argv[1], "sizes") == 0)
        sizes();
#ifdef __x86_64__
    else if (argc > 3 && strcmp(argv[1], "steps") == 0)
        steps(atol(argv[2]), atol(argv[3]));
#endif
    else
        return 2;
    return 0;
}
