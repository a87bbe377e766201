/*
 * The switching of sleds: on pages of a child process that look like code, in all forms; what is
 * in no known form stays as it is. On x86-64 a child's threads run the code meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/live.h"
#include "record/modules/sled_switch.h"
#include "tap.h"

enum { TEXT_BYTES = 40 * 4096, RET_AT = 64 };

static struct nsc_sleds *make_sleds(const struct nsc_symbols_site *sites, size_t count)
{
    struct nsc_symbols_site *copy = calloc(count, sizeof *copy);

    memcpy(copy, sites, count * sizeof *copy);
    return nsc_sleds_new(copy, count, NULL);
}

static struct nsc_symbols_site sled(uint64_t va, uint32_t kind, uint32_t form)
{
    return (struct nsc_symbols_site){.va = va, .kind = kind, .form = (uint16_t)form};
}

#define ENTRY  NSC_LIVE_SITE_ENTRY
#define EXIT   NSC_LIVE_SITE_EXIT
#define TEST   NSC_SYMBOLS_SLED_TEST
#define RET    NSC_SYMBOLS_SLED_RET
#define BRANCH NSC_SYMBOLS_SLED_BRANCH

/* ---- Which sled is whose --------------------------------------------------------------------- */

static void functions(void)
{
    const struct nsc_symbols_site sites[] = {
        sled(0x130, EXIT, TEST),
        sled(0x100, ENTRY, TEST),
        {.va = 0x180, .kind = NSC_LIVE_SITE_HOOK},
        sled(0x200, ENTRY, TEST),
        sled(0x120, EXIT, TEST),
        sled(0x240, EXIT, RET),
    };
    struct nsc_sleds *s = make_sleds(sites, 6);

    if (!CHECK(s != NULL))
        return;
    CHECK_U64(s->sled_count, 5);
    CHECK_U64(s->function_count, 2);
    CHECK_U64(nsc_sleds_function(s, 0x100), 0);
    CHECK_U64(nsc_sleds_function(s, 0x105), 0);
    CHECK_U64(nsc_sleds_function(s, 0x135), 0);
    CHECK_U64(nsc_sleds_function(s, 0x200), 1);
    CHECK_U64(nsc_sleds_function(s, 0x245), 1);
    CHECK_U64(nsc_sleds_function(s, 0x180), NSC_SLEDS_NONE);
    CHECK_U64(nsc_sleds_function(s, 0x110), NSC_SLEDS_NONE);
    CHECK_U64(nsc_sleds_function(s, 0xff), NSC_SLEDS_NONE);
    CHECK_U64(nsc_sleds_at(s, 0x125), 4);
    CHECK_U64(s->functions[0].count, 3);
    CHECK_U64(s->function_of[2], NSC_SLEDS_NONE);
    nsc_sleds_free(s);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* A child that holds @code at the same address as we do, and sleeps. */
static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return pid;
}

static void put_call(uint8_t *text, size_t at, uint8_t op, int64_t to)
{
    int32_t distance = (int32_t)(to - (int64_t)at - 5);

    text[at] = op;
    memcpy(text + at + 1, &distance, sizeof distance);
}

static void put_word(uint8_t *text, size_t at, uint32_t word)
{
    memcpy(text + at, &word, sizeof word);
}

static void put_branch(uint8_t *text, size_t at, uint32_t first)
{
    put_word(text, at, first);
    put_word(text, at + 4, 0xf81f0ffe);
    put_word(text, at + 8, 0x94000000 | (uint32_t)((TEXT_BYTES - 64 - (int64_t)at - 8) / 4));
}

static uint8_t peek(int mem, const uint8_t *text, size_t at)
{
    uint8_t byte = 0;

    CHECK(pread(mem, &byte, 1, (off_t)(uintptr_t)(text + at)) == 1);
    return byte;
}

/* A child that sleeps, and in it sleds in all forms. */
struct rig {
    struct nsc_sleds *sleds;
    uint8_t *text; /* at the same address here and there */
    uint64_t start, bias;
    pid_t pid;
    int mem;
    struct nsc_sled_switch flip;
};

#define TEXT_AT 0x1000 /* in the file */

static struct nsc_sleds *rig_sleds(void)
{
    const struct nsc_symbols_site sites[] = {
        sled(TEXT_AT + 16, ENTRY, TEST),            /* on */
        sled(TEXT_AT + 100, EXIT, RET),             /* on */
        sled(TEXT_AT + 4096, ENTRY, TEST),          /* off */
        sled(TEXT_AT + 4096 + 40, EXIT, RET),       /* off */
        sled(TEXT_AT + 8192, ENTRY, BRANCH),        /* off */
        sled(TEXT_AT + 8192 + 32, EXIT, BRANCH),    /* on */
        sled(TEXT_AT + 12288, ENTRY, TEST),         /* as compiled: no distance */
        sled(TEXT_AT + 12300, ENTRY, TEST),         /* a nop */
        sled(TEXT_AT + 12320, EXIT, RET),           /* as clang leaves it */
        sled(TEXT_AT + 12340, ENTRY, TEST),         /* calls something far away */
        sled(TEXT_AT + 12360, ENTRY, BRANCH),       /* as clang leaves it */
        sled(TEXT_AT + TEXT_BYTES - 5, EXIT, TEST), /* off; ends with the text */
    };

    return make_sleds(sites, sizeof sites / sizeof sites[0]);
}

static void rig_write(uint8_t *text)
{
    memset(text, 0x90, TEXT_BYTES);
    put_call(text, 16, 0xe8, 4000);
    put_call(text, 100, 0xe8, 4000);
    text[105] = 0xc3;
    put_call(text, 4096, 0xa9, 4000);
    put_call(text, 4136, 0xc3, 4000);
    text[4141] = 0xc3;
    put_branch(text, 8192, 0x14000008);
    put_branch(text, 8224, 0xd503201f);
    memcpy(text + 12288, "\xa9\0\0\0", 5);
    memcpy(text + 12300, "\x0f\x1f\x44\0", 5);
    memcpy(text + 12320, "\xc3\x2e\x66\x0f\x1f\x84\0\0\x02\0", 11);
    put_call(text, 12340, 0xa9, 1 << 30);
    put_word(text, 12360, 0x14000008);
    put_word(text, 12364, 0xd503201f);
    put_call(text, TEXT_BYTES - 5, 0xa9, 4000);
}

static bool rig_begin(struct rig *r)
{
    struct nsc_diag diag;

    *r = (struct rig){.sleds = rig_sleds()};
    r->text = mmap(NULL, TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    r->start = (uint64_t)(uintptr_t)r->text;
    r->bias = r->start - TEXT_AT;
    rig_write(r->text);
    CHECK(mprotect(r->text, TEXT_BYTES, PROT_READ) == 0); /* as code is */
    r->pid = sleeper();
    r->mem = nsc_sled_switch_open(r->pid, &diag);
    return CHECK(r->mem >= 0) && CHECK(nsc_sled_switch_init(&r->flip, r->mem, r->sleds, r->bias,
                                                            r->start, r->start + TEXT_BYTES) == 0);
}

static void rig_kill(struct rig *r)
{
    int status;

    if (r->pid > 0) {
        kill(r->pid, SIGKILL);
        waitpid(r->pid, &status, 0);
    }
    r->pid = 0;
}

static void rig_end(struct rig *r)
{
    rig_kill(r);
    nsc_sled_switch_free(&r->flip);
    close(r->mem);
    munmap(r->text, TEXT_BYTES);
    nsc_sleds_free(r->sleds);
}

static void switched(struct rig *r, enum nsc_sled_switch_order order)
{
    struct nsc_sled_switch_stats stats = {0};
    struct nsc_sled_switch *flip = &r->flip;
    const uint8_t all[2] = {0xff, 0xff}, one[2] = {0x03}, first[2] = {0x23};
    static uint8_t after[TEXT_BYTES];

    CHECK_U64(flip->present[0], 0x23);
    CHECK_U64(flip->present[1], 0);
    CHECK(nsc_sled_switch_apply(flip, order, &stats) == 0); /* as it is */
    CHECK_U64(stats.writes, 0);
    nsc_sled_switch_want(flip, all);
    CHECK(nsc_sled_switch_apply(flip, order, &stats) == 0);
    CHECK_U64(stats.on, 4);
    CHECK_U64(stats.off, 0);
    CHECK_U64(peek(r->mem, r->text, 4096), 0xe8);
    CHECK_U64(peek(r->mem, r->text, 4136), 0xe8);
    CHECK_U64(peek(r->mem, r->text, 8192), 0x1f);
    CHECK_U64(peek(r->mem, r->text, TEXT_BYTES - 5), 0xe8);

    nsc_sled_switch_want_all(flip, false);
    CHECK(nsc_sled_switch_apply(flip, order, &stats) == 0);
    CHECK_U64(stats.off, 7);
    CHECK_U64(flip->present[0] | flip->present[1], 0);
    CHECK_U64(peek(r->mem, r->text, 16), 0xa9);
    CHECK_U64(peek(r->mem, r->text, 100), 0xc3);
    CHECK_U64(peek(r->mem, r->text, 8224), 0x08);

    /* One function, and back to how it began. */
    nsc_sled_switch_want(flip, one);
    CHECK(nsc_sled_switch_apply(flip, order, &stats) == 0);
    CHECK_U64(flip->present[0], 0x3);
    nsc_sled_switch_want(flip, first);
    CHECK(nsc_sled_switch_apply(flip, order, &stats) == 0);
    CHECK(pread(r->mem, after, TEXT_BYTES, (off_t)r->start) == TEXT_BYTES);
    CHECK(memcmp(r->text, after, TEXT_BYTES) == 0);
}

/* What we believe is not what is. */
static void written_by_others(struct rig *r, enum nsc_sled_switch_order order)
{
    struct nsc_sled_switch_stats stats = {0};

    CHECK(pwrite(r->mem, "\xcc", 1, (off_t)(r->start + 4096)) == 1);
    nsc_sled_switch_want_all(&r->flip, true);
    CHECK(nsc_sled_switch_apply(&r->flip, order, &stats) == 0);
    CHECK_U64(stats.refused, 1);
    CHECK_U64(stats.on, 3);
    CHECK_U64(peek(r->mem, r->text, 4096), 0xcc);
}

/* A process of its own begins with its own sleds. */
static void looked_at_anew(const struct rig *r)
{
    struct nsc_sled_switch child;

    CHECK(nsc_sled_switch_init(&child, r->mem, r->sleds, r->bias, r->start,
                               r->start + TEXT_BYTES) == 0);
    CHECK_U64(child.present[0], 0x3b);
    nsc_sled_switch_free(&child);
    CHECK(nsc_sled_switch_init(&child, r->mem, r->sleds, r->bias + (1ull << 40), r->start,
                               r->start + 10) == -EIO);
}

static void forms(enum nsc_sled_switch_order order)
{
    struct rig r;

    if (rig_begin(&r)) {
        switched(&r, order);
        written_by_others(&r, order);
        looked_at_anew(&r);
        rig_kill(&r);
        nsc_sled_switch_want_all(&r.flip, false);
        CHECK(nsc_sled_switch_apply(&r.flip, order, NULL) == -ESRCH);
    }
    rig_end(&r);
}

static void refused(void)
{
    struct nsc_diag diag = {0};

    CHECK(nsc_sled_switch_open(0x3fffffff, &diag) == -ESRCH);
    CHECK(strstr(diag.message, "there is no process 1073741823") != NULL);
    if (geteuid() != 0) {
        CHECK(nsc_sled_switch_open(1, &diag) == -EACCES);
        CHECK(strstr(diag.message, "kernel.yama.ptrace_scope") != NULL);
    }
}

/* ---- Under running threads ------------------------------------------------------------------- */

#if defined(__x86_64__)

enum { FUNCTIONS = 1000, SIZE = 96, THREADS = 4, ROUNDS = 300 };

typedef uint64_t function(uint64_t);

static uint8_t *code;
static volatile int *stop;

static void *caller(void *failed)
{
    uint64_t sum = 0;

    while (!*stop)
        for (unsigned i = 0; i < FUNCTIONS; i++) {
            function *f;

            *(void **)&f = code + (size_t)(i + 1) * SIZE;
            sum = i + 7;
            if (f(sum) != sum + 1)
                *(int *)failed = 1;
        }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    int failed = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, caller, &failed);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(failed);
}

/* Functions that add one: sled, body, sled, return. The trampoline, at the beginning, returns. */
static struct nsc_sleds *write_functions(void)
{
    static const uint8_t body[] = {0x48, 0x8d, 0x47, 0x01}; /* lea 1(%rdi),%rax */
    struct nsc_symbols_site sites[2 * FUNCTIONS];

    code[0] = 0xc3;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        size_t at = (size_t)(i + 1) * SIZE;

        put_call(code, at, 0xa9, 0);
        memcpy(code + at + 5, body, sizeof body);
        put_call(code, at + 9, i % 2 ? 0xc3 : 0xa9, 0);
        code[at + 14] = 0xc3;
        sites[2 * i] = sled(at, ENTRY, TEST);
        sites[2 * i + 1] = sled(at + 9, EXIT, i % 2 ? RET : TEST);
    }
    return make_sleds(sites, 2 * FUNCTIONS);
}

/* Switches some functions, others in each round, and leaves the rest as wanted. */
static const uint8_t *some_functions(uint8_t *wanted, unsigned round)
{
    for (unsigned i = 0; i < FUNCTIONS; i += 1 + round % 5)
        for (unsigned site = 2 * i; site < 2 * i + 2; site++)
            wanted[site / 8] = (uint8_t)(round % 2 == 0 ? wanted[site / 8] | 1u << site % 8
                                                        : wanted[site / 8] & ~(1u << site % 8));
    return wanted;
}

static void under_threads(void)
{
    static uint8_t wanted[2 * FUNCTIONS / 8];
    size_t bytes = (FUNCTIONS + 2) * (size_t)SIZE;
    uint64_t start;
    struct nsc_sled_switch_stats stats = {0};
    struct nsc_sleds *sleds;
    struct nsc_sled_switch flip;
    int mem, status = -1;
    pid_t pid;

    code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stop = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    start = (uint64_t)(uintptr_t)code;
    sleds = write_functions();
    CHECK(mprotect(code, bytes, PROT_READ | PROT_EXEC) == 0);
    pid = fork();
    if (pid == 0)
        run_threads();
    mem = nsc_sled_switch_open(pid, NULL);
    CHECK(nsc_sled_switch_init(&flip, mem, sleds, start, start, start + bytes) == 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round % 3 == 2) /* some of them */
            nsc_sled_switch_want(&flip, some_functions(wanted, round));
        else
            nsc_sled_switch_want(&flip, memset(wanted, round % 2 == 0 ? 0xff : 0, sizeof wanted));
        if (!CHECK(nsc_sled_switch_apply(&flip, round / 8 % 2, &stats) == 0))
            break;
    }
    CHECK(stats.on > 100000 && stats.off > 100000);
    CHECK_U64(stats.refused, 0);
    *stop = 1;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    printf("# %u sleds, %u threads: %.0f us a switch of all or some\n", 2u * FUNCTIONS,
           (unsigned)THREADS, (double)stats.ns / ROUNDS / 1e3);
    nsc_sled_switch_free(&flip);
    close(mem);
    munmap(code, bytes);
    nsc_sleds_free(sleds);
}

#else
static void under_threads(void) {}
#endif

int main(void)
{
    functions();
    forms(NSC_SLED_SWITCH_WHOLE_CALLS);
    forms(NSC_SLED_SWITCH_AT_ONCE);
    refused();
    under_threads();
    return t_done();
}
