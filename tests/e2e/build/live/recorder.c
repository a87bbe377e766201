/*
 * recorder.c - a recorder for testing the runtime alone: makes the shared memory of
 * abi/live.h, starts a program in it, drains chunks while it runs, and prints what it found
 * as lines of `key value`. Knows nothing of record/, so that each can be tested against the other.
 *
 * usage: recorder [OPTION...] PROGRAM ...
 *   --chunks N, --chunk-bytes N, --threads N   sizes
 *   --homes N  chunks that go with thread slots, besides those of the pool
 *   --idle     drain nothing until the program has ended
 *   --exit-bit N  of the program's machine, if it is another one (0 for AArch64)
 *   --events   print every event as `event THREAD kind FUNCTION POSITION TICKS`
 *   --kill-ms  kill the program with SIGKILL so many milliseconds after its first event
 *   --verdict  answer modules that ask which sites to record with this byte, for every eight sites
 *   --die-ms   stop recording, heartbeat and all, as if the recorder had been killed
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../live_layout.h"

enum { PROCESSES = 256, MODULES = 256, FUNCTIONS = 65536, FRAMES = 2 << 20, FILTER_BYTES = 65536 };

/* How often a chunk with a hole is passed over before the hole counts as lost. */
enum { PATIENCE = 100 };

struct options {
    uint32_t chunks, homes, chunk_bytes, threads;
    uint8_t exit_bit;
    bool idle, events, filter;
    unsigned kill_ms, die_ms, verdict;
};

struct function {
    uint64_t va;
    char name[64];
};

/* Functions of one file, by address. */
struct file {
    char path[NSC_LIVE_PATH_MAX];
    struct function *functions;
    size_t count;
};

struct frame {
    uint64_t position;
    const char *name;
};

/* What is known of a thread slot while it is in use. */
struct thread {
    uint32_t next_seq;
    uint64_t anchor;
    struct frame *frames;
    size_t depth;
};

struct count {
    const char *name;
    uint64_t entries, exits;
};

static struct options opt = {
    .chunks = 512,
    .chunk_bytes = 65536,
    .threads = 16384,
#ifdef __x86_64__
    .exit_bit = 47,
#endif
};
static struct nsc_live_header *h;
static struct nsc_live_module *modules;
static struct nsc_live_thread *threads;
static struct nsc_live_chunk *chunks;
static struct nsc_live_process *processes;
static struct thread *known;
static unsigned *waits;
static struct file files[MODULES];
static size_t file_count;
static struct count counts[FUNCTIONS];
static size_t count_count;
static uint64_t events, holes, lost, misfits, deepest, switches, anchors, unknown, threads_seen,
    gaps;

static void die(const char *what)
{
    fprintf(stderr, "recorder: %s: %s\n", what, strerror(errno));
    exit(125);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int make_session(void)
{
    int fd = memfd_create("nanoscope-live", MFD_CLOEXEC);
    struct nsc_live_header header = {
        .flags = opt.filter ? NSC_LIVE_FLAG_FILTER : 0,
        .recorder_pid = (uint32_t)getpid(),
        .processes_max = PROCESSES,
        .modules_max = MODULES,
        .threads_max = opt.threads,
        .chunks_max = opt.chunks + opt.homes,
        .chunk_bytes = opt.chunk_bytes,
        .filter_bytes = FILTER_BYTES,
        .home_count = opt.homes,
    };
    char *base;

    live_layout(&header);
    header.exit_bit = opt.exit_bit;
    if (fd < 0 || ftruncate(fd, (off_t)header.total_bytes) != 0)
        die("memfd");
    base = mmap(NULL, header.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        die("mmap");
    h = (void *)base;
    processes = (void *)(base + header.processes_off);
    modules = (void *)(base + header.modules_off);
    threads = (void *)(base + header.threads_off);
    chunks = (void *)(base + header.chunks_off);
    *h = header;
    known = calloc(opt.threads, sizeof(*known));
    waits = calloc(header.chunks_max, sizeof(*waits));
    return fd;
}

static int by_va(const void *a, const void *b)
{
    const struct function *x = a, *y = b;

    return x->va < y->va ? -1 : x->va > y->va;
}

static struct file *file_of(const char *path)
{
    struct file *f;
    char command[NSC_LIVE_PATH_MAX + 64], line[512], kind;
    FILE *pipe;

    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    if (file_count == MODULES)
        die("too many files");
    f = &files[file_count++];
    snprintf(f->path, sizeof(f->path), "%s", path);
    snprintf(command, sizeof(command), "nm --defined-only -C '%s' 2>/dev/null", path);
    pipe = popen(command, "r");
    f->functions = calloc(FUNCTIONS, sizeof(*f->functions));
    while (pipe != NULL && fgets(line, sizeof(line), pipe) != NULL && f->count < FUNCTIONS) {
        struct function *to = &f->functions[f->count];

        if (sscanf(line, "%" SCNx64 " %c %63[^\n]", &to->va, &kind, to->name) == 3 &&
            strchr("tTwW", kind) != NULL)
            f->count++;
    }
    if (pipe != NULL)
        pclose(pipe);
    qsort(f->functions, f->count, sizeof(*f->functions), by_va);
    return f;
}

static const char *name_of(uint32_t process, uint64_t address)
{
    for (unsigned i = 0; i < MODULES; i++) {
        struct nsc_live_module *m = &modules[i];
        struct file *f;
        size_t low = 0, high;

        if (m->state < NSC_LIVE_LIVE || m->process != process || address < m->text_start ||
            address > m->text_end)
            continue;
        f = file_of(m->path);
        high = f->count;
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;

            if (f->functions[middle].va <= address - m->bias)
                low = middle;
            else
                high = middle;
        }
        if (f->count != 0)
            return f->functions[low].name;
    }
    unknown++;
    return "?";
}

static struct count *count_of(const char *name)
{
    static size_t last;

    if (last < count_count && counts[last].name == name)
        return &counts[last];
    for (last = 0; last < count_count; last++)
        if (strcmp(counts[last].name, name) == 0)
            return &counts[last];
    if (count_count == FUNCTIONS)
        die("too many functions");
    counts[count_count].name = name;
    return &counts[count_count++];
}

/* The rule of the stack: an entry closes what is at or below it, an exit closes down to its equal.
 */
static void replay(struct thread *t, uint64_t position, bool is_exit, const char *name)
{
    if (t->frames == NULL)
        t->frames = calloc(FRAMES, sizeof(*t->frames));
    while (t->depth > 0 && t->frames[t->depth - 1].position < position)
        t->depth--;
    if (t->depth > 0 && t->frames[t->depth - 1].position == position) {
        if (is_exit && strcmp(t->frames[t->depth - 1].name, name) != 0)
            misfits++;
        t->depth--;
    } else if (is_exit) {
        misfits++;
    }
    if (is_exit || t->depth == FRAMES)
        return;
    t->frames[t->depth].position = position;
    t->frames[t->depth++].name = name;
    if (t->depth > deepest)
        deepest = t->depth;
}

/* A jump or an exception: what is at or below @position is over. */
static void unwind(struct thread *t, uint64_t position)
{
    while (t->depth > 0 && t->frames[t->depth - 1].position <= position)
        t->depth--;
}

static void event(uint32_t thread, uint64_t word0, uint64_t word1)
{
    struct thread *t = &known[thread];
    uint64_t address = word0 & NSC_LIVE_ADDRESS_MASK;
    bool is_exit = address >> h->exit_bit & 1;
    uint64_t apart = ((word0 >> 48) << 3) - t->anchor;
    uint64_t position = t->anchor + (uint64_t)((int64_t)(apart << 45) >> 45);
    const char *name = name_of(threads[thread].process, address & ~(1ull << h->exit_bit));
    struct count *count = count_of(name);

    events++;
    if (is_exit)
        count->exits++;
    else
        count->entries++;
    if (opt.events)
        printf("event %u %s %s %#" PRIx64 " %" PRIu64 "\n", thread, is_exit ? "exit" : "entry",
               name, position, word1);
    replay(t, position, is_exit, name);
}

/* Reads one chunk; returns the number of slots that were reserved but not written. */
static uint64_t read_chunk(uint32_t index, uint32_t thread)
{
    uint64_t *slots =
        (uint64_t *)(void *)((char *)h + h->data_off + (uint64_t)index * h->chunk_bytes);
    size_t count = h->chunk_bytes / 16, i, empty = 0;

    known[thread].anchor = chunks[index].anchor;
    while (count > 0 && __atomic_load_n(&slots[2 * (count - 1)], __ATOMIC_ACQUIRE) == 0)
        count--;
    for (i = 0; i < count; i++) {
        uint64_t word0 = __atomic_load_n(&slots[2 * i], __ATOMIC_ACQUIRE), word1 = slots[2 * i + 1];

        if (word0 == 0)
            empty++;
        else if ((word0 & NSC_LIVE_ADDRESS_MASK) >= NSC_LIVE_ESC_LIMIT)
            event(thread, word0, word1);
        else if ((word0 & 0xfff) == NSC_LIVE_ESC_ANCHOR)
            known[thread].anchor = word1, anchors++;
        else if ((word0 & 0xfff) == NSC_LIVE_ESC_SWITCH)
            switches++, i += word0 >> 12 & 15;
        else if ((word0 & 0xfff) == NSC_LIVE_ESC_UNWIND)
            unwind(&known[thread], word1), i += word0 >> 12 & 15;
        else if ((word0 & 0xfff) == NSC_LIVE_ESC_LOST)
            lost += word1;
        else
            unknown++;
    }
    return empty;
}

static bool has_hole(uint32_t index)
{
    uint64_t *slots =
        (uint64_t *)(void *)((char *)h + h->data_off + (uint64_t)index * h->chunk_bytes);
    size_t count = h->chunk_bytes / 16, i;

    while (count > 0 && __atomic_load_n(&slots[2 * (count - 1)], __ATOMIC_ACQUIRE) == 0)
        count--;
    for (i = 0; i < count; i++)
        if (__atomic_load_n(&slots[2 * i], __ATOMIC_ACQUIRE) == 0)
            return true;
    return false;
}

static void free_chunk(uint32_t index)
{
    memset((char *)h + h->data_off + (uint64_t)index * h->chunk_bytes, 0, h->chunk_bytes);
    __atomic_store_n(&chunks[index].state, 0, __ATOMIC_RELEASE);
    if (index < opt.chunks)
        __atomic_fetch_add(&h->chunks_free, 1, __ATOMIC_RELAXED);
}

/* Reads what can be read in order; with @all also chunks that are still owned. */
static bool drain(bool all)
{
    bool progress = false;

    for (uint32_t i = 0; i < opt.chunks + opt.homes; i++) {
        uint64_t state = __atomic_load_n(&chunks[i].state, __ATOMIC_ACQUIRE);
        uint32_t thread = NSC_LIVE_CHUNK_THREAD(state), seq = NSC_LIVE_CHUNK_SEQ(state);

        if (state == 0 || thread >= opt.threads ||
            (NSC_LIVE_CHUNK_PHASE(state) != NSC_LIVE_CHUNK_FULL && !all))
            continue;
        if (known[thread].next_seq == 0)
            known[thread].next_seq = 1;
        if (seq > known[thread].next_seq)
            continue;
        /* A hook that was interrupted may still write its slot: see abi/live.h. */
        if (!all && has_hole(i) && waits[i]++ < PATIENCE)
            continue;
        waits[i] = 0;
        /* Of two chunks with one number, one was left by a handler that did not return: empty. */
        if (seq == known[thread].next_seq)
            known[thread].next_seq++;
        holes += read_chunk(i, thread);
        free_chunk(i);
        progress = true;
    }
    return progress;
}

static void answer_modules(void)
{
    for (unsigned i = 0; i < MODULES; i++) {
        if (__atomic_load_n(&modules[i].filter_state, __ATOMIC_ACQUIRE) != NSC_LIVE_FILTER_WAITING)
            continue;
        memset((char *)h + h->filter_off, (int)opt.verdict, FILTER_BYTES);
        modules[i].filter_at = 0;
        __atomic_store_n(&modules[i].filter_state, NSC_LIVE_FILTER_READY, __ATOMIC_RELEASE);
    }
}

/* Frees the slots of threads that have ended, once their chunks are read. */
static void reap(void)
{
    for (uint32_t i = 0; i < opt.threads; i++) {
        uint32_t state = __atomic_load_n(&threads[i].state, __ATOMIC_ACQUIRE);
        bool pending = false;

        if (state < NSC_LIVE_LIVE ||
            (state == NSC_LIVE_LIVE && syscall(SYS_tgkill, threads[i].pid, threads[i].tid, 0) == 0))
            continue;
        for (int again = 1; again;) {
            again = 0;
            pending = false;
            for (uint32_t k = 0; k < opt.chunks + opt.homes; k++) {
                uint64_t s = __atomic_load_n(&chunks[k].state, __ATOMIC_ACQUIRE);

                if (s == 0 || NSC_LIVE_CHUNK_THREAD(s) != i)
                    continue;
                pending = true;
                if (known[i].next_seq == 0)
                    known[i].next_seq = 1;
                if (NSC_LIVE_CHUNK_SEQ(s) > known[i].next_seq)
                    continue;
                if (NSC_LIVE_CHUNK_SEQ(s) == known[i].next_seq)
                    known[i].next_seq++;
                holes += read_chunk(k, i);
                free_chunk(k);
                again = 1;
            }
        }
        if (pending)
            gaps++;
        lost += threads[i].lost;
        threads_seen++;
        free(known[i].frames);
        known[i] = (struct thread){0};
        __atomic_store_n(&threads[i].state, NSC_LIVE_FREE, __ATOMIC_RELEASE);
    }
}

static void finish(void)
{
    while (drain(true))
        ;
    for (uint32_t i = 0; i < opt.chunks + opt.homes; i++)
        gaps += chunks[i].state != 0;
    for (uint32_t i = 0; i < opt.threads; i++)
        if (threads[i].state != NSC_LIVE_FREE) {
            lost += threads[i].lost;
            threads_seen++;
        }
    for (uint32_t i = 0; i < PROCESSES; i++)
        lost += processes[i].lost;
    lost += h->lost_unattributed;
}

static void print_results(int status)
{
    uint32_t process_count = 0, forked = 0, problems = 0, live = 0, dead = 0, sites = 0;

    for (uint32_t i = 0; i < PROCESSES; i++) {
        process_count += processes[i].state != NSC_LIVE_FREE;
        forked += processes[i].ppid != 0;
        problems |= processes[i].problems;
    }
    for (uint32_t i = 0; i < MODULES; i++) {
        live += modules[i].state == NSC_LIVE_LIVE;
        dead += modules[i].state == NSC_LIVE_DEAD;
        sites += modules[i].site_count;
    }
    printf("status %d\nprocesses %u\nforked %u\nproblems %u\nmodules_live %u\nmodules_dead %u\n"
           "sites %u\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), process_count, forked,
           problems, live, dead, sites);
    printf("threads %" PRIu64 "\nevents %" PRIu64 "\nlost %" PRIu64 "\nholes %" PRIu64
           "\ntotal %" PRIu64 "\nmisfits %" PRIu64 "\ndeepest %" PRIu64 "\nanchors %" PRIu64
           "\nswitches %" PRIu64 "\nunknown %" PRIu64 "\ngaps %" PRIu64 "\n",
           threads_seen, events, lost, holes, events + lost + holes, misfits, deepest, anchors,
           switches, unknown, gaps);
    for (size_t i = 0; i < count_count; i++)
        printf("calls:%s %" PRIu64 "\nexits:%s %" PRIu64 "\n", counts[i].name, counts[i].entries,
               counts[i].name, counts[i].exits);
}

static pid_t start(char **argv, int fd)
{
    char path[64];
    pid_t pid;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
    setenv(NSC_LIVE_ENV, path, 1);
    pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        die(argv[0]);
    }
    return pid;
}

static void read_options(int argc, char **argv)
{
    enum { CHUNKS = 1, CHUNK_BYTES, THREADS, IDLE, EVENTS, KILL, DIE, VERDICT, EXIT_BIT, HOMES };
    static const struct option longs[] = {{"chunks", 1, 0, CHUNKS},
                                          {"chunk-bytes", 1, 0, CHUNK_BYTES},
                                          {"threads", 1, 0, THREADS},
                                          {"idle", 0, 0, IDLE},
                                          {"events", 0, 0, EVENTS},
                                          {"kill-ms", 1, 0, KILL},
                                          {"die-ms", 1, 0, DIE},
                                          {"verdict", 1, 0, VERDICT},
                                          {"exit-bit", 1, 0, EXIT_BIT},
                                          {"homes", 1, 0, HOMES},
                                          {0, 0, 0, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
        unsigned value = optarg != NULL ? (unsigned)strtoul(optarg, NULL, 0) : 0;

        switch (c) {
        case CHUNKS:
            opt.chunks = value;
            break;
        case HOMES:
            opt.homes = value;
            break;
        case CHUNK_BYTES:
            opt.chunk_bytes = value;
            break;
        case THREADS:
            opt.threads = value;
            break;
        case IDLE:
            opt.idle = true;
            break;
        case EVENTS:
            opt.events = true;
            break;
        case KILL:
            opt.kill_ms = value;
            break;
        case EXIT_BIT:
            opt.exit_bit = (uint8_t)value;
            break;
        case DIE:
            opt.die_ms = value;
            break;
        case VERDICT:
            opt.filter = true;
            opt.verdict = value;
            break;
        default:
            exit(2);
        }
    }
    if (optind == argc)
        exit(2);
}

int main(int argc, char **argv)
{
    uint64_t began, first_event_ms = 0;
    int fd, status = 0;
    pid_t pid;

    read_options(argc, argv);
    /* Orphans of the program come here, so that "everybody has ended" can be waited for. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fd = make_session();
    began = now_ms();
    pid = start(argv + optind, fd);
    for (;;) {
        struct timespec pause = {0, 1000000};
        bool dead = opt.die_ms != 0 && now_ms() - began >= opt.die_ms;
        int one;
        pid_t ended = waitpid(-1, &one, WNOHANG);

        if (ended == pid)
            status = one;
        if (ended < 0)
            break;
        if (events != 0 && first_event_ms == 0)
            first_event_ms = now_ms();
        if (opt.kill_ms != 0 && first_event_ms != 0 && now_ms() - first_event_ms >= opt.kill_ms) {
            kill(pid, SIGKILL);
            opt.kill_ms = 0;
        }
        if (!dead)
            __atomic_fetch_add(&h->heartbeat, 1, __ATOMIC_RELAXED);
        answer_modules();
        if (!dead && !opt.idle) {
            if (!drain(false))
                nanosleep(&pause, NULL);
            reap();
        } else {
            nanosleep(&pause, NULL);
        }
    }
    finish();
    print_results(status);
    return 0;
}
