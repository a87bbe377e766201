/*
 * oracle.c - the log of a generated program; see oracle.h. Compiled without tracing.
 *
 * The log goes to $ORACLE_LOG.<pid> when the process ends:
 *   thread TID            then for each stack, in the order of their first call:
 *   stack
 *   DEPTH END FLAG NAME   a call; END: R returned, T tail call, U left by a jump, W left by a
 *                         throw, O open at the end; FLAG: t = called in tail position, - = not
 *   late NAME             a call that was open when the process was forked off returns
 *   left NAME             such a call is left by a throw
 *   async                 calls of handlers of asynchronous signals, likewise
 */
#include "oracle.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDS_MAX    400000
#define FRAMES_MAX     20000
#define STACKS_MAX     16
#define THREADS_MAX    32
#define NAME_MAX_BYTES 38
#define LATE           UINT32_MAX

struct record {
    uint32_t depth; /* or LATE */
    char end, flag;
    char name[NAME_MAX_BYTES];
};

struct frame {
    uint32_t record; /* LATE: entered before the process was forked off */
    uint32_t bytes;  /* nominal size of the stack up to here */
    char name[NAME_MAX_BYTES];
};

struct oracle_stack {
    struct record *records;
    struct frame *frames;
    uint32_t record_count, frame_count;
    uint32_t first; /* when its first call came, in calls of the thread */
    uint32_t base;  /* frames below were entered before the fork */
    uint32_t bytes_max;
    int tail; /* the next call is one in tail position */
    struct oracle_env *envs;
    struct oracle_coroutine *coroutine;
};

struct thread {
    pid_t tid;
    int used;
    struct oracle_stack stacks[STACKS_MAX];
    unsigned stack_count;
    struct oracle_stack async;
    struct oracle_stack *alternate, *interrupted;
    struct oracle_env *signal_env;
    uint32_t calls;
    int fuel;
    int is_main;
};

static struct thread threads[THREADS_MAX];
static __thread struct thread *self;
static __thread struct oracle_stack *stack;
static int may_fork = 2, is_child;
static volatile sig_atomic_t timer_rounds = 60;

__attribute__((noreturn, format(printf, 1, 2))) static void give_up(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    _exit(99);
}

__attribute__((noinline)) static void *pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    if (p == MAP_FAILED)
        give_up("oracle: out of memory");
    return p;
}

static void stack_init(struct oracle_stack *s, uint32_t bytes_max)
{
    memset(s, 0, sizeof *s);
    s->records = pages(RECORDS_MAX * sizeof *s->records);
    s->frames = pages(FRAMES_MAX * sizeof *s->frames);
    s->bytes_max = bytes_max;
}

static struct oracle_stack *stack_new(uint32_t bytes_max)
{
    struct oracle_stack *s;

    if (self->stack_count == STACKS_MAX)
        return NULL;
    s = &self->stacks[self->stack_count++];
    stack_init(s, bytes_max);
    return s;
}

/* Called on the thread itself, before its first traced call. */
static void thread_begin(unsigned index)
{
    int is_main = index == 0;

    self = &threads[index];
    self->tid = (pid_t)syscall(SYS_gettid);
    self->fuel = is_main ? 2500 : 800;
    self->is_main = is_main;
    stack_init(&self->async, 0);
    stack = stack_new(is_main ? 4u << 20 : 40u << 20);
    self->used = 1;
}

/* ---- Calls ---- */

static struct record *add_record(const char *name)
{
    struct record *r;

    if (stack->record_count == RECORDS_MAX || stack->frame_count == FRAMES_MAX)
        give_up("oracle: the log is full");
    self->calls++;
    if (stack->record_count == 0)
        stack->first = self->calls;
    r = &stack->records[stack->record_count++];
    snprintf(r->name, sizeof r->name, "%s", name);
    r->flag = '-';
    return r;
}

static void push(const char *name, uint32_t bytes)
{
    struct record *r = add_record(name);
    struct frame *f = &stack->frames[stack->frame_count];

    r->depth = stack->frame_count - stack->base;
    r->end = 'O';
    r->flag = stack->tail ? 't' : '-';
    stack->tail = 0;
    f->record = stack->record_count - 1;
    f->bytes = (stack->frame_count > 0 ? f[-1].bytes : 0) + bytes;
    memcpy(f->name, r->name, sizeof f->name);
    stack->frame_count++;
}

void oracle_enter(const char *name)
{
    push(name, 0);
}

int oracle_enter_big(const char *name, size_t bytes)
{
    uint32_t before = stack->frame_count > 0 ? stack->frames[stack->frame_count - 1].bytes : 0;
    int room = before + bytes <= stack->bytes_max;

    push(name, (uint32_t)bytes);
    return room;
}

static void pop(char end)
{
    struct frame *f = &stack->frames[--stack->frame_count];

    if (stack->frame_count >= stack->base) {
        stack->records[f->record].end = end;
        return;
    }
    stack->base = stack->frame_count;
    if (end == 'R' || end == 'W') {
        struct record *r = add_record(f->name);

        r->depth = LATE;
        r->end = end;
    }
}

void oracle_leave(void)
{
    pop('R');
}

void oracle_tail(void)
{
    pop('T');
    stack->tail = 1;
}

unsigned oracle_depth(void)
{
    return stack->frame_count;
}

static void unwind(unsigned depth, char how)
{
    while (stack->frame_count > depth)
        pop(how);
    stack->tail = 0;
}

void oracle_unwound(unsigned depth)
{
    unwind(depth, 'W');
}

int oracle_fuel(void)
{
    return self->fuel > 0 && self->fuel-- > 0;
}

/* ---- setjmp and longjmp ---- */

void oracle_try(struct oracle_env *e)
{
    e->depth = stack->frame_count;
    e->outer = stack->envs;
    e->stack = stack;
    stack->envs = e;
}

void oracle_try_end(struct oracle_env *e)
{
    stack->envs = e->outer;
}

void oracle_caught(struct oracle_env *e)
{
    if (stack != e->stack) /* out of a handler on the alternate stack */
        unwind(0, 'U');
    stack = e->stack;
    unwind(e->depth, 'U');
    stack->envs = e->outer;
}

struct oracle_env *oracle_target(unsigned skip)
{
    struct oracle_env *e = stack->envs;

    for (; e != NULL && e->outer != NULL && skip > 0; skip--)
        e = e->outer;
    return e;
}

void oracle_signal_env(struct oracle_env *e)
{
    self->signal_env = e;
}

struct oracle_env *oracle_signal_target(void)
{
    return self->signal_env;
}

/* ---- Signals ---- */

struct oracle_stack *oracle_handler_begin(void)
{
    struct oracle_stack *before = stack;

    if (self->alternate != NULL)
        stack = self->alternate;
    return before;
}

void oracle_handler_end(struct oracle_stack *before)
{
    stack = before;
}

void oracle_async_begin(void)
{
    self->interrupted = stack;
    stack = &self->async;
}

void oracle_async_end(void)
{
    stack = self->interrupted;
}

void oracle_alternate_stack(void)
{
    stack_t ss = {.ss_sp = pages(256 << 10), .ss_size = 256 << 10};

    if (sigaltstack(&ss, NULL) != 0)
        give_up("oracle: sigaltstack: %s", strerror(errno));
    self->alternate = stack_new(0);
}

void oracle_handle(int signal, void (*handler)(int), int on_alternate_stack)
{
    struct sigaction sa = {.sa_handler = handler,
                           .sa_flags = SA_RESTART | (on_alternate_stack ? SA_ONSTACK : 0)};

    sigemptyset(&sa.sa_mask);
    sigaction(signal, &sa, NULL);
}

static void set_timer(unsigned interval_us)
{
    struct itimerval it = {{0, (suseconds_t)interval_us}, {0, (suseconds_t)interval_us}};

    setitimer(ITIMER_REAL, &it, NULL);
}

void oracle_timer(void (*handler)(int), unsigned interval_us)
{
    oracle_handle(SIGALRM, handler, 1);
    set_timer(interval_us);
}

int oracle_timer_count(void)
{
    if (timer_rounds > 0)
        timer_rounds--;
    if (timer_rounds == 0)
        set_timer(0);
    return timer_rounds;
}

/* ---- Coroutines ---- */

struct oracle_coroutine *oracle_coroutine_new(void (*entry)(void), int n, unsigned value)
{
    struct oracle_stack *s = stack_new(400u << 10);
    struct oracle_coroutine *c;

    if (s == NULL)
        return NULL;
    c = pages(sizeof *c);
    *c = (struct oracle_coroutine){.stack = s, .n = n, .value = value};
    s->coroutine = c;
    getcontext(&c->inside);
    c->inside.uc_stack.ss_size = 4u << 20; /* one frame beyond bytes_max */
    c->inside.uc_stack.ss_sp = pages(c->inside.uc_stack.ss_size);
    c->inside.uc_link = &c->outside;
    makecontext(&c->inside, entry, 0);
    return c;
}

struct oracle_coroutine *oracle_coroutine_self(void)
{
    return stack->coroutine;
}

void oracle_go_in(struct oracle_coroutine *c)
{
    c->caller = stack;
    stack = c->stack;
}

void oracle_go_out(struct oracle_coroutine *c)
{
    stack = c->caller;
}

/* ---- The log ---- */

static void write_stack(FILE *f, const struct oracle_stack *s, const char *title)
{
    if (s->record_count == 0)
        return;
    fprintf(f, "%s\n", title);
    for (uint32_t i = 0; i < s->record_count; i++) {
        const struct record *r = &s->records[i];

        if (r->depth == LATE)
            fprintf(f, "%s %s\n", r->end == 'R' ? "late" : "left", r->name);
        else
            fprintf(f, "%u %c %c %s\n", r->depth, r->end, r->flag, r->name);
    }
}

static int compare_first(const void *left, const void *right)
{
    const struct oracle_stack *a = left, *b = right;

    return a->first < b->first ? -1 : a->first > b->first;
}

/* Ends the log: the stacks are moved. */
static void write_thread(FILE *f, struct thread *t)
{
    fprintf(f, "thread %d\n", (int)t->tid);
    qsort(t->stacks, t->stack_count, sizeof t->stacks[0], compare_first);
    for (unsigned j = 0; j < t->stack_count; j++)
        write_stack(f, &t->stacks[j], "stack");
    write_stack(f, &t->async, "async");
}

static void write_log(void)
{
    const char *prefix = getenv("ORACLE_LOG");
    char path[4096];
    FILE *f;

    set_timer(0);
    if (prefix == NULL)
        return;
    snprintf(path, sizeof path, "%s.%d", prefix, (int)getpid());
    f = fopen(path, "w");
    if (f == NULL)
        give_up("oracle: %s: %s", path, strerror(errno));
    for (unsigned i = 0; i < THREADS_MAX; i++)
        if (threads[i].used)
            write_thread(f, &threads[i]);
    fprintf(f, "end\n");
    if (fclose(f) != 0)
        give_up("oracle: %s: %s", path, strerror(errno));
}

__attribute__((constructor)) static void begin(void)
{
    thread_begin(0);
    atexit(write_log);
}

void oracle_die(int status)
{
    write_log();
    fflush(NULL);
    _exit(status);
}

/* ---- Threads, processes, plugins ---- */

struct start {
    unsigned index;
    void *(*body)(void *);
    void *arg;
    int async;
};

static pthread_t joinable[THREADS_MAX];

static void *thread_main(void *p)
{
    struct start s = *(struct start *)p;
    sigset_t alarm;

    free(p);
    thread_begin(s.index + 1); /* 0 is the main thread */
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    if (s.async)
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    s.body(s.arg);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    return NULL;
}

void oracle_thread_start(unsigned index, void *(*body)(void *), void *arg, int async)
{
    struct start *s = malloc(sizeof *s);
    pthread_attr_t attr;
    sigset_t alarm, before;

    if (s == NULL)
        give_up("oracle: out of memory");
    *s = (struct start){index, body, arg, async};
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64u << 20);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before); /* not before it has a log */
    if (pthread_create(&joinable[index], &attr, thread_main, s) != 0)
        give_up("oracle: cannot start a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

void oracle_thread_join(unsigned index)
{
    pthread_join(joinable[index], NULL);
}

int oracle_may_exit_thread(void)
{
    return !self->is_main && stack == &self->stacks[0];
}

int oracle_fork(void)
{
    int pid;

    if (!self->is_main || stack != &self->stacks[0] || may_fork == 0)
        return -1;
    may_fork--;
    pid = fork();
    if (pid != 0)
        return pid;
    may_fork = 0;
    is_child = 1;
    for (unsigned i = 0; i < THREADS_MAX; i++)
        threads[i].used = &threads[i] == self;
    self->tid = (pid_t)syscall(SYS_gettid);
    self->fuel = 300;
    for (unsigned i = 0; i < self->stack_count; i++) {
        self->stacks[i].record_count = 0;
        self->stacks[i].base = self->stacks[i].frame_count;
    }
    self->async.record_count = 0;
    return 0;
}

unsigned oracle_wait(int pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return (unsigned)status;
}

int oracle_is_child(void)
{
    return is_child;
}

void *oracle_plugin_open(unsigned index, const char *entry, void **handle)
{
    const char *folder = getenv("ORACLE_PLUGINS");
    char path[4096];
    void *function;

    snprintf(path, sizeof path, "%s/plugin%u.so", folder != NULL ? folder : ".", index);
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle == NULL)
        give_up("oracle: %s", dlerror());
    function = dlsym(*handle, entry);
    if (function == NULL)
        give_up("oracle: %s", dlerror());
    return function;
}

void oracle_plugin_close(void *handle)
{
    dlclose(handle);
}
