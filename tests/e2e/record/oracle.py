"""The oracle: random programs that know their own call tree.

oracle.py generate SEED INLINE      writes a C++ program to standard output. INLINE 1: small
                                    functions may be inlined (the header hook sees those too).
oracle.py compare TRUTH REPLAY      compares what such a program wrote down about itself with
                                    `nanoscope replay --format csv` of its trace.

The program logs each call in functions without hooks: stack, depth, name, and how the call ended.
It recurses, throws and catches, jumps with longjmp, takes signals on its own stack and on another,
runs coroutines, threads and forked children.
"""
import csv
import random
import sys
from collections import defaultdict

PRELUDE = r"""
#include <nanoscope/nanoscope.h>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define CALL __attribute__((noinline)) static
#else
#define CALL __attribute__((noinline, noclone)) static
#endif
#define NOTRACE __attribute__((noinline)) NANOSCOPE_NOTRACE static

enum { LOG_MAX = 1 << 16, STACKS = 5, SIGNAL_STACK = 4, DEPTH_MAX = 40, STACK_BYTES = 8 << 20 };
enum { OPEN, ENDED, THROWN };

struct record { uint8_t stack, how; uint16_t depth; const char *name; };

/* One a thread, also after a fork. */
struct log {
    record *records;
    int count, base, budget, stack, catchers, in_signal;
    int depth[STACKS];
    uint64_t seed;
    sigjmp_buf *jump[16];
    int jumps, floor; /* those above the floor may be taken */
    ucontext_t contexts[STACKS];
    bool made[STACKS];
};
static __thread log *self;
/* Far from all other stacks: what lies close below one is taken for a part of it. */
static char alternates[4][1 << 21];
static int alternates_used;

NOTRACE unsigned draw(unsigned below)
{
    self->seed = self->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(self->seed >> 33) % below;
}

NOTRACE int enter(const char *name)
{
    int at = self->count++;
    if (at >= LOG_MAX)
        abort();
    self->records[at] = {(uint8_t)self->stack, OPEN, (uint16_t)self->depth[self->stack]++, name};
    self->budget--;
    return at;
}

NOTRACE void leave(int at)
{
    self->records[at].how = ENDED;
    self->depth[self->stack] = self->records[at].depth;
}

NOTRACE bool more()
{
    return self->budget > 0 && self->depth[self->stack] < DEPTH_MAX;
}

/* Control is back in the call logged at @at, by a throw or a jump. */
NOTRACE void back(int at, bool thrown)
{
    self->stack = self->records[at].stack;
    self->depth[self->stack] = self->records[at].depth + 1;
    for (int i = at + 1; i < self->count; i++)
        if (thrown && self->records[i].how == OPEN && self->records[i].stack == self->stack)
            self->records[i].how = THROWN;
}

NOTRACE void log_begin(uint64_t seed, int budget)
{
    log *l = (log *)mmap(nullptr, sizeof(log), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    l->records = (record *)mmap(nullptr, sizeof(record) * LOG_MAX, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    l->seed = seed;
    l->budget = budget;
    self = l;
    stack_t alternate = {};
    alternate.ss_size = sizeof alternates[0];
    alternate.ss_sp = alternates[__atomic_fetch_add(&alternates_used, 1, __ATOMIC_RELAXED)];
    sigaltstack(&alternate, nullptr);
}

NOTRACE void log_write()
{
    int out = open(getenv("TRUTH"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    static const char *const how[] = {"open", "ended", "thrown"};
    char *text;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    for (int i = 0; i < self->count; i++)
        fprintf(memory, "%d,%d,%d,%d,%s,%s\n", (int)getpid(), (int)gettid(),
                self->records[i].stack,
                self->records[i].depth - (self->records[i].stack == 0 ? self->base : 0),
                self->records[i].name, how[self->records[i].how]);
    fclose(memory);
    if (write(out, text, bytes) != (ssize_t)bytes)
        abort();
    close(out);
}

CALL void run_one();

CALL void on_signal(int number)
{
    int stack = self->stack;
    if (number == SIGUSR2) {
        self->stack = SIGNAL_STACK;
        self->depth[SIGNAL_STACK] = 0; /* what a jump has left there is gone */
    }
    int at = enter("on_signal");
    self->in_signal++;
    if (more())
        run_one();
    self->in_signal--;
    leave(at);
    self->stack = stack;
}

CALL void guest()
{
    int at = enter("guest");
    for (;;) {
        if (more())
            run_one();
        int from = self->stack;
        self->stack = 0;
        swapcontext(&self->contexts[from], &self->contexts[0]);
    }
    leave(at);
}

NOTRACE void resume(int which)
{
    ucontext_t *context = &self->contexts[which];
    if (!self->made[which]) {
        self->made[which] = true;
        getcontext(context);
        context->uc_stack.ss_sp = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        context->uc_stack.ss_size = STACK_BYTES;
        context->uc_link = nullptr;
        makecontext(context, guest, 0);
    }
    int catchers = self->catchers, floor = self->floor;
    self->catchers = 0; /* nothing leaves a coroutine but a switch */
    self->floor = self->jumps;
    self->stack = which;
    swapcontext(&self->contexts[0], context);
    self->catchers = catchers;
    self->floor = floor;
}

CALL void child()
{
    int at = enter("child");
    while (more())
        run_one();
    leave(at);
}

CALL void *thread_main(void *seed)
{
    log_begin((uint64_t)(uintptr_t)seed, 300);
    int at = enter("thread_main");
    while (more())
        run_one();
    leave(at);
    log_write();
    return nullptr;
}

NOTRACE void fork_one()
{
    fflush(nullptr);
    pid_t pid = fork();
    if (pid == 0) {
        self->count = 0;
        self->base = self->depth[0];
        memset(&self->depth[1], 0, sizeof self->depth - sizeof self->depth[0]);
        self->budget = 100;
        self->catchers = 0;
        self->floor = self->jumps;
        memset(self->made, 0, sizeof self->made);
        child();
        log_write();
        _exit(0);
    }
    waitpid(pid, nullptr, 0);
}
"""

EPILOGUE = r"""
int main(int argc, char **argv)
{
    log_begin(strtoull(argc > 1 ? argv[1] : "1", nullptr, 10), 3000);
    int at = enter("main");
    struct sigaction action = {};
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, nullptr);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], nullptr, thread_main, (void *)(self->seed + 77 * i));
    while (more())
        run_one();
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], nullptr);
    fork_one();
    leave(at);
    log_write();
    return 0;
}
"""


def body(rng, functions, leaves):
    """One statement of a function, as lines."""
    callee = f"f{rng.randrange(functions)}()"
    kind = rng.randrange(12)
    if kind < 4:
        return [f"for (unsigned i = draw(3); i > 0 && more(); i--) {callee};"]
    if kind == 4 and leaves:
        return [f"leaf{rng.randrange(leaves)}();"]
    if kind <= 6:
        return ["if (more()) {", "    self->catchers++;", "    int floor = self->floor;",
                "    self->floor = self->jumps; /* a jump must not skip a catch */",
                f"    try {{ {callee}; }} catch (int) {{ back(at, true); }}",
                "    self->jumps = self->floor;", "    self->floor = floor;",
                "    self->catchers--;", "}"]
    if kind == 7:
        return ["if (self->catchers > 0 && draw(4) == 0) throw 1;"]
    if kind == 8:
        return ["if (more() && self->jumps < 15) {", "    sigjmp_buf here;",
                "    const int saved_at = at, catchers = self->catchers, jumps = self->jumps;",
                "    const int in_signal = self->in_signal, floor = self->floor;",
                "    self->catchers = 0;", "    self->jump[self->jumps++] = &here;",
                f"    if (sigsetjmp(here, 1) == 0) {{ {callee}; }}",
                "    else back(saved_at, false);", "    self->jumps = jumps;",
                "    self->floor = floor;",
                "    self->catchers = catchers;", "    self->in_signal = in_signal;", "}"]
    if kind == 9:
        return ["if (self->jumps > self->floor && draw(3) == 0)",
                "    siglongjmp(*self->jump[self->floor + (int)draw((unsigned)(self->jumps - self->floor))], 1);"]
    if kind == 10:
        return ["if (more() && !self->in_signal) {",
                "    int catchers = self->catchers;",
                "    self->catchers = 0;",
                f"    raise({rng.choice(['SIGUSR1', 'SIGUSR2'])});",
                "    self->catchers = catchers;", "}"]
    return ["if (more() && self->stack == 0 && !self->in_signal) resume(1 + (int)draw(3));"]


def generate(seed, inline):
    rng = random.Random(seed)
    functions = 25
    leaves = 6 if inline else 0
    out = [PRELUDE]
    for i in range(leaves):
        out += [f"static inline void leaf{i}()", "{", f'    leave(enter("leaf{i}"));', "}"]
    out += [f"CALL void f{i}();" for i in range(functions)]
    for i in range(functions):
        frame = rng.choice([0, 0, 0, 16, 40, 200, 5000, 60000])
        out += [f"CALL void f{i}()", "{"]
        if frame:
            out += [f"    volatile char frame[{frame}];", "    frame[0] = 1;"]
        out += [f'    const int at = enter("f{i}");']
        for _ in range(rng.randrange(1, 5)):
            out += ["    " + line for line in body(rng, functions, leaves)]
        out += ["    leave(at);", "}"]
    out += ["CALL void run_one()", "{", '    int at = enter("run_one");', f"    switch (draw({functions})) {{"]
    out += [f"    case {i}: f{i}(); break;" for i in range(functions)]
    out += ["    }", "    leave(at);", "}", EPILOGUE]
    print("\n".join(out))


def read_truth(path):
    stacks = defaultdict(lambda: defaultdict(list))
    with open(path, encoding="ascii") as lines:
        for pid, tid, stack, depth, name, how in csv.reader(lines):
            stacks[pid, tid][stack].append([int(depth), name, how])
    return stacks


def read_replay(path):
    stacks = defaultdict(lambda: defaultdict(list))
    is_open = defaultdict(list)
    with open(path, encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            thread, stack = (row["pid"], row["tid"]), row["stack"]
            name = row["function"].split("(")[0]
            how = "open" if row["bound"] else "ended"
            key = (*thread, stack)
            if row["kind"] == "lost":
                sys.exit(f"events are lost in {key}")
            if row["kind"] == "end":
                is_open[key].pop()[2] = how
                continue
            call = [int(row["depth"]), name, how]
            stacks[thread][stack].append(call)
            if row["kind"] == "begin":
                is_open[key].append(call)
    return stacks


def compare(truth, replay):
    if set(truth) != set(replay):
        sys.exit(f"threads differ: {sorted(truth)} and {sorted(replay)}")
    calls = 0
    for thread, wanted in truth.items():
        want = sorted(wanted.values(), key=lambda c: [x[:2] for x in c])
        got = sorted(replay[thread].values(), key=lambda c: [x[:2] for x in c])
        if len(want) != len(got):
            sys.exit(f"{thread}: {len(want)} stacks expected, {len(got)} found: "
                     f"{[len(s) for s in want]} and {[len(s) for s in got]}")
        for w, g in zip(want, got):
            calls += len(w)
            for i, (x, y) in enumerate(zip(w, g)):
                if x[:2] != y[:2] or (x[2] != "thrown" and x[2] != y[2]):
                    near = "\n".join(f"  {a} | {b}" for a, b in list(zip(w, g))[max(0, i - 8):i + 3])
                    sys.exit(f"{thread}: call {i} of {len(w)}: {x} expected, {y} found\n{near}")
            if len(w) != len(g):
                sys.exit(f"{thread}: {len(w)} calls expected, {len(g)} found")
    print(calls, "calls agree")


if sys.argv[1] == "generate":
    generate(int(sys.argv[2]), sys.argv[3] == "1")
else:
    compare(read_truth(sys.argv[2]), read_replay(sys.argv[3]))
