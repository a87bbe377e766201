/*
 * harness.c - calls the library of an app without an app: a VM that has nothing but what JNI_OnLoad
 * asks for, and threads that know their own calls.
 *
 * usage: harness LIBRARY MODE [ARGUMENTS]; prints what the test compares with.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The VM: objects are C strings -------------------------------------------------------- */

typedef void (*function)(void);
struct vm {
    const function *table;
};
struct native {
    const char *name, *signature;
    function call;
};

static function env_table[232], vm_table[8];
static struct vm env = {env_table}, vm = {vm_table};
static bool critical, pending;
static function enter_call, exit_call, set_name_call;
static char thread_name[256]; /* the last one that was passed on */

static void *find_class(struct vm *e, const char *name)
{
    (void)e;
    return strdup(name);
}

static void *find_member(struct vm *e, void *of, const char *name, const char *signature)
{
    (void)e;
    (void)of;
    (void)signature;
    return strdup(name);
}

static void *static_object(struct vm *e, void *of, void *field)
{
    (void)e;
    (void)of;
    return strcmp(field, "BUILD") == 0 ? getenv("HARNESS_BUILD") : NULL;
}

static void *call_static(struct vm *e, void *of, void *method, void **arguments)
{
    (void)e;
    (void)of;
    if (strcmp(method, "getProperty") != 0)
        abort();
    if (strcmp(arguments[0], "java.io.tmpdir") == 0)
        return getenv("HARNESS_TMPDIR");
    if (strcmp(arguments[0], "java.vm.name") != 0)
        abort();
    return critical ? "Dalvik" : "OpenJDK 64-Bit Server VM";
}

static void call_void(struct vm *e, void *object, void *method, void **arguments)
{
    (void)e;
    (void)object;
    if (strcmp(method, "setName") != 0)
        abort();
    snprintf(thread_name, sizeof thread_name, "%s", (const char *)arguments[0]);
}

static void *new_string(struct vm *e, const char *text)
{
    (void)e;
    return strdup(text);
}

static int32_t string_length(struct vm *e, const char *text)
{
    (void)e;
    return (int32_t)strlen(text);
}

static void string_region(struct vm *e, const char *text, int32_t start, int32_t length, char *out)
{
    (void)e;
    memcpy(out, text + start, (size_t)length);
    out[length] = '\0';
}

static void no_op(struct vm *e)
{
    (void)e;
}

static int32_t throw_new(struct vm *e, void *of, const char *text)
{
    (void)e;
    (void)of;
    (void)text;
    pending = true;
    return 0;
}

static int32_t register_natives(struct vm *e, void *of, const struct native *natives, int32_t count)
{
    (void)e;
    if (strcmp(of, "dev/nanoscope/Hooks") != 0)
        return -1;
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(natives[i].name, "enter") == 0)
            enter_call = natives[i].call;
        else if (strcmp(natives[i].name, "exit") == 0)
            exit_call = natives[i].call;
        else if (strcmp(natives[i].name, "setName") == 0)
            set_name_call = natives[i].call;
        else
            return -1;
    }
    return 0;
}

static int32_t get_env(struct vm *v, void **out, int32_t version)
{
    (void)v;
    *out = &env;
    return version == 0x00010006 ? 0 : -3;
}

static void make_vm(void)
{
    for (size_t i = 0; i < sizeof env_table / sizeof env_table[0]; i++)
        env_table[i] = (function)abort;
    env_table[6] = (function)find_class;
    env_table[14] = (function)throw_new;
    env_table[17] = (function)no_op; /* ExceptionClear */
    env_table[23] = (function)no_op; /* DeleteLocalRef */
    env_table[33] = env_table[113] = env_table[144] = (function)find_member;
    env_table[63] = (function)call_void;
    env_table[116] = (function)call_static;
    env_table[145] = (function)static_object;
    env_table[164] = env_table[168] = (function)string_length;
    env_table[167] = (function)new_string;
    env_table[215] = (function)register_natives;
    env_table[221] = (function)string_region;
    vm_table[6] = (function)get_env;
}

static void set_name(const char *name)
{
    typedef void (*fn)(struct vm *, const char *, const char *, const char *);

    ((fn)set_name_call)(&env, "Hooks", "thread", name);
}

static inline void hook(function call, int32_t id)
{
    typedef void (*critical_fn)(int32_t);
    typedef void (*plain_fn)(struct vm *, void *, int32_t);

    if (critical)
        ((critical_fn)call)(id);
    else
        ((plain_fn)call)(&env, NULL, id);
}

/* ---- A kernel with larger pages, or one that gives less: in place of the C library's own ---- */

static size_t page_of(const char *variable)
{
    const char *text = getenv(variable);

    return text != NULL ? (size_t)atol(text) : 1;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t);
    size_t page = page_of("HARNESS_PAGE");
    uintptr_t got;

    if (bytes > page_of("HARNESS_MAP") && getenv("HARNESS_MAP") != NULL)
        return (void *)-1;
    *(void **)&real = dlsym(RTLD_NEXT, "mmap");
    got = (uintptr_t)real(at, bytes + page - 1, protection, flags, fd, offset);
    return (void *)((got + page - 1) / page * page);
}

/* HARNESS_MEMINFO: in place of /proc/meminfo. HARNESS_PROCESS: in place of /proc/self/cmdline. */
int open(const char *path, int flags, ...)
{
    const char *other = strcmp(path, "/proc/meminfo") == 0        ? getenv("HARNESS_MEMINFO")
                        : strcmp(path, "/proc/self/cmdline") == 0 ? getenv("HARNESS_PROCESS")
                                                                  : NULL;

    return (int)syscall(SYS_openat, -100, other != NULL ? other : path, flags, 0600);
}

static bool no_threads;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? 11 : real(thread, attributes, run, context);
}

int madvise(void *at, size_t bytes, int advice)
{
    size_t page = page_of("HARNESS_PAGE");

    if ((uintptr_t)at % page != 0 || (getenv("HARNESS_LOCKED") != NULL && advice == 4))
        return -1;
    return (int)syscall(SYS_madvise, at, (bytes + page - 1) / page * page, advice);
}

/* ---- Programs ----------------------------------------------------------------------------- */

static _Atomic unsigned long emitted; /* 64 bits need a library on ARM */

static unsigned next_random(unsigned *r)
{
    *r = *r * 1664525 + 1013904223;
    return *r >> 16;
}

/* A random tree of @left calls; what is called is written to @out as text of Nanoscope without
 * times. */
static void call_tree(FILE *out, unsigned *random, unsigned *left, unsigned depth)
{
    while (*left > 0 && (depth == 0 || next_random(random) % 3 != 0)) {
        int32_t id = 1 + (int32_t)(next_random(random) % 500);

        --*left;
        if (out != NULL)
            fprintf(out, "void a.C.m%d()\n", id);
        hook(enter_call, id);
        if (depth < 200)
            call_tree(out, random, left, depth + 1);
        hook(exit_call, id);
        if (out != NULL)
            fputs("POP\n", out);
        emitted += 2;
    }
}

struct job {
    pthread_t thread;
    unsigned seed, calls;
    const char *folder; /* NULL: calls are not written down */
};

static void *run_job(void *context)
{
    const struct job *job = context;
    unsigned random = job->seed, left = job->calls;
    char path[512], name[16];
    FILE *out = NULL;

    snprintf(name, sizeof name, "worker %u", job->seed);
    prctl(PR_SET_NAME, name);
    if (job->folder != NULL) {
        snprintf(path, sizeof path, "%s/%ld.want", job->folder, syscall(SYS_gettid));
        out = fopen(path, "w");
        if (out == NULL)
            abort();
    }
    call_tree(out, &random, &left, 0);
    if (out != NULL)
        fclose(out);
    return NULL;
}

/* @count threads, at most @together at a time. */
static void run_threads(unsigned count, unsigned together, unsigned calls, const char *folder)
{
    struct job *jobs = calloc(count, sizeof *jobs);

    for (unsigned i = 0; i < count; i++) {
        jobs[i] = (struct job){.seed = i + 1, .calls = calls, .folder = folder};
        if (i >= together)
            pthread_join(jobs[i - together].thread, NULL);
        if (pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]) != 0)
            abort();
    }
    for (unsigned i = count > together ? count - together : 0; i < count; i++)
        pthread_join(jobs[i].thread, NULL);
    free(jobs);
}

static void wait_for(const char *path)
{
    for (int i = 0; i < 1000 && access(path, F_OK) != 0; i++)
        usleep(10000);
    usleep(30000); /* the library says so after it has renamed it */
}

/* Commands in every order, and two recordings of one process. */
static void run_commands(const char *folder)
{
    char first[600], second[600], command[700];

    snprintf(first, sizeof first, "%s/first.nsapp", folder);
    snprintf(second, sizeof second, "%s/second.nsapp", folder);
    hook(enter_call, 7); /* nobody records */
    set_name("STOP_TRACING");
    set_name("START_TRACING");
    set_name("START_TRACING");
    for (int32_t i = 1; i <= 1000; i++) {
        hook(enter_call, i % 10 + 1);
        hook(exit_call, i % 10 + 1);
    }
    snprintf(command, sizeof command, "STOP_TRACING:%s", first);
    set_name(command);
    hook(enter_call, 7);
    wait_for(first);
    set_name("START_TRACING");
    for (int32_t i = 1; i <= 10; i++) {
        hook(enter_call, 20);
        hook(exit_call, 20);
    }
    snprintf(command, sizeof command, "STOP_TRACING:%s", second);
    set_name(command);
    wait_for(second);
    set_name("START_TRACING:too");
    set_name("STOP_TRACING:/nowhere/at/all");
    usleep(100000);
    set_name("STOP_TRACINGS");
    printf("%s\n", thread_name);
}

/* A thread cannot be made: the recording goes on. */
static void run_alone(const char *folder)
{
    char path[600], command[700];

    snprintf(path, sizeof path, "%s/alone.nsapp", folder);
    snprintf(command, sizeof command, "STOP_TRACING:%s", path);
    no_threads = true;
    set_name("START_TRACING");
    for (int stops = 0; stops < 2; stops++) {
        no_threads = stops == 0;
        hook(enter_call, 1);
        hook(exit_call, 1);
        set_name(command);
    }
    wait_for(path);
}

/* Start, calls, and a stop by this name. */
static void run_stop(const char *name, unsigned pairs)
{
    char command[2048];

    set_name("START_TRACING");
    for (unsigned i = 0; i < pairs; i++) {
        hook(enter_call, 1);
        hook(exit_call, 1);
    }
    snprintf(command, sizeof command, "STOP_TRACING:%s", name);
    set_name(command);
    usleep(200000);
}

static pthread_barrier_t meet;
static unsigned again_pairs;

/* @little: not NULL = a few calls in the first session, and before the others, so that its chunk is
 * the first. */
static void *run_pairs(void *little)
{
    for (int session = 0; session < 2; session++) {
        pthread_barrier_wait(&meet); /* it records */
        usleep(little != NULL ? 0 : 20000);
        for (unsigned i = 0; i < (little != NULL && session == 0 ? 10 : again_pairs); i++) {
            hook(enter_call, 5);
            hook(exit_call, 5);
        }
        pthread_barrier_wait(&meet);
    }
    return NULL;
}

/* Two recordings by threads that live on; the first is the larger one. */
static void run_again(const char *folder, unsigned pairs)
{
    pthread_t threads[3];
    char command[700], path[600];

    pthread_barrier_init(&meet, NULL, 4);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run_pairs, i == 0 ? &meet : NULL);
    for (int session = 1; session <= 2; session++) {
        again_pairs = session == 1 ? pairs : 2000;
        set_name("START_TRACING");
        pthread_barrier_wait(&meet);
        pthread_barrier_wait(&meet);
        snprintf(path, sizeof path, "%s/again%d.nsapp", folder, session);
        snprintf(command, sizeof command, "STOP_TRACING:%s", path);
        set_name(command);
        wait_for(path);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void handler(int number)
{
    (void)number;
    hook(enter_call, 400);
    hook(exit_call, 400);
    emitted += 2;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run_signals(unsigned ms)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    uint64_t until = now_ns() + (uint64_t)ms * 1000000u;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (uint64_t i = 0; i % 1024 != 0 || now_ns() < until; i++) {
        hook(enter_call, 1);
        hook(exit_call, 1);
        emitted += 2;
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

static void run_fork(void)
{
    pid_t child;

    hook(enter_call, 1);
    hook(exit_call, 1);
    child = fork();
    if (child == 0) {
        hook(enter_call, 2);
        hook(exit_call, 2);
        set_name("START_TRACING");
        exit(0);
    }
    waitpid(child, NULL, 0);
    hook(enter_call, 3);
    hook(exit_call, 3);
    emitted += 4;
}

/* ---- What a pair of hooks costs ----------------------------------------------------------- */

#if defined(__x86_64__)
static inline uint64_t timer(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}
#else
static inline uint64_t timer(void)
{
    return now_ns();
}
#endif

static __attribute__((noinline)) void empty(int32_t id)
{
    __asm__ volatile("" ::"r"(id));
}

#define ROUND 100000

/* The best of many rounds of a pair, in ps. */
static uint64_t best_of(unsigned rounds, int what)
{
    uint64_t best = UINT64_MAX;

    for (unsigned r = 0; r < rounds; r++) {
        uint64_t begin = now_ns(), took;

        for (int32_t i = 0; i < ROUND; i++) {
            if (what == 0) {
                timer();
                timer();
            } else if (what == 1) {
                empty(i);
                empty(i);
            } else {
                ((void (*)(int32_t))enter_call)(i & 1023);
                ((void (*)(int32_t))exit_call)(i & 1023);
            }
        }
        took = (now_ns() - begin) * 1000 / ROUND;
        best = took < best ? took : best;
    }
    return best;
}

/* "two timer reads", "two empty calls", "pair off", "pair on", in ps. */
static void run_cost(const char *folder)
{
    char command[700];
    uint64_t off = best_of(100, 2), floor, on;

    set_name("START_TRACING");
    best_of(2, 2);
    floor = best_of(40, 0);
    on = best_of(40, 2);
    printf("floor %llu\nempty %llu\noff %llu\non %llu\n", (unsigned long long)floor,
           (unsigned long long)best_of(40, 1), (unsigned long long)off, (unsigned long long)on);
    snprintf(command, sizeof command, "STOP_TRACING:%s/cost.nsapp", folder);
    set_name(command);
}

static void run(char **v)
{
    if (strcmp(v[0], "tree") == 0) /* THREADS TOGETHER CALLS FOLDER */
        run_threads((unsigned)atoi(v[1]), (unsigned)atoi(v[2]), (unsigned)atoi(v[3]), v[4]);
    else if (strcmp(v[0], "commands") == 0)
        run_commands(v[1]);
    else if (strcmp(v[0], "alone") == 0)
        run_alone(v[1]);
    else if (strcmp(v[0], "stop") == 0)
        run_stop(v[1], (unsigned)atoi(v[2])); /* NAME PAIRS */
    else if (strcmp(v[0], "again") == 0)      /* FOLDER PAIRS */
        run_again(v[1], (unsigned)atoi(v[2]));
    else if (strcmp(v[0], "signals") == 0)
        run_signals((unsigned)atoi(v[1]));
    else if (strcmp(v[0], "fork") == 0)
        run_fork();
    else if (strcmp(v[0], "cost") == 0)
        run_cost(v[1]);
    else
        abort();
}

int main(int argc, char **argv)
{
    void *library = argc >= 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int32_t (*load)(struct vm *, void *);

    if (library == NULL) {
        fprintf(stderr, "harness: %s\n", argc >= 4 ? dlerror() : "LIBRARY MODE ARGUMENT");
        return 1;
    }
    critical = getenv("HARNESS_PLAIN") == NULL;
    make_vm();
    load = (int32_t(*)(struct vm *, void *))dlsym(library, "JNI_OnLoad");
    if (load == NULL || load(&vm, NULL) != 0x00010006 || enter_call == NULL || exit_call == NULL ||
        set_name_call == NULL)
        return 1;
    run(argv + 2);
    printf("emitted %lu\n", (unsigned long)emitted);
    return 0;
}
