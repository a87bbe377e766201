/*
 * Fuzzes the recorder's inner half: slots of shared memory, as a traced program or whoever wrote
 * over it may leave them, through the stack rule into a file. The file must verify, and every event
 * must be recorded or counted.
 *
 * The input is a program of one-byte operations that mostly makes calls which nest, or no mutation
 * would get far.
 *
 * Build and run: make fuzz
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/live.h"
#include "record/stack/stack.h"
#include "trace/read/reader.h"
#include "trace/write/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define CODE   0x555555554000ull
#define TOP    0x7ffffffde000ull
#define HEADER 1u /* bits of the input's first byte */
#define RING   2u
#define ARM    4u   /* exit bit 0 */
#define HOLES  8u   /* the chunk's owner is dead: step over holes */
#define RULES  16u  /* rules for calls; the bits above say which */
#define CHANGE 128u /* which are others later */

enum { SLOTS = 4096, DEPTH = 512, FUNCTIONS = 64 };

struct input {
    const uint8_t *at, *end;
};

struct machine {
    unsigned mode;
    struct nsc_writer *writer;
    struct nsc_codes codes;
    struct nsc_stacks stacks;
    uint64_t words[2 * SLOTS];
    size_t used, read;
    bool exact; /* `events` is the number of events: no slot was made up */
    uint64_t ticks, events;
    struct {
        uint64_t position;
        uint32_t function;
    } calls[DEPTH];
    uint32_t depth;
    bool has_notes;
    uint32_t notes; /* their thread */
};

static uint64_t take(struct input *in, size_t bytes)
{
    uint64_t v = 0;

    for (; bytes > 0 && in->at < in->end; bytes--)
        v = v << 8 | *in->at++;
    return v;
}

static uint32_t roles(void *context, const struct nsc_filter_rules *rules, uint32_t function)
{
    static const uint32_t flags[8] = {NSC_CODE_TRIGGER, NSC_CODE_STOPPER, NSC_CODE_CALLER,
                                      NSC_CODE_LEFT_OUT};
    const struct machine *m = context;

    (void)rules;
    return (m->mode & RULES) != 0 ? flags[function % 8] : 0;
}

static void resolve(void *context, uint64_t address, uint64_t ticks, struct nsc_code *code)
{
    struct machine *m = context;
    struct nsc_function function = {.name = "f", .symbol = "f", .module = NSC_NO_ID, .va = address};

    (void)ticks;
    *code = (struct nsc_code){.address = address};
    if ((m->mode & HEADER) != 0 && address % 3 != 0)
        code->flags = NSC_CODE_HEADER | (address % 3 == 1 ? NSC_CODE_REAL_PC : 0);
    code->real_pc16 = (uint16_t)(address + 16);
    code->flags |= (uint16_t)roles(m, NULL, (uint32_t)(address / 64));
    if (nsc_writer_add_function(m->writer, &function, &code->function) != 0)
        abort();
}

static int open_lane(void *context, uint32_t stack, uint64_t ticks, struct nsc_lane **lane)
{
    struct machine *m = context;
    struct nsc_thread thread = {.tid = 1, .stack = stack, .start_ticks = ticks, .name = ""};

    return nsc_writer_add_thread(m->writer, &thread, NULL, lane);
}

/* Notes are a thread's of their own. */
static void take_note(void *context, struct nsc_note *note)
{
    struct machine *m = context;
    struct nsc_thread thread = {.tid = 2, .name = ""};
    struct nsc_lane *lane;

    if (!m->has_notes && nsc_writer_add_thread(m->writer, &thread, &m->notes, &lane) != 0)
        abort();
    m->has_notes = true;
    note->owner = m->notes;
    if (nsc_writer_note(m->writer, note) != 0)
        abort();
}

static void run(struct machine *m)
{
    size_t at = nsc_stacks_run(&m->stacks, m->words, m->read, m->used, (m->mode & HOLES) == 0);

    if (at < m->read || at > m->used || ((m->mode & HOLES) != 0 && at != m->used))
        abort();
    m->read = at;
}

static void next_chunk(struct machine *m, struct input *in)
{
    uint64_t kind = take(in, 1), anchor, ticks, lost;

    run(m);
    if (m->read < m->used) /* holes that nobody will fill any more */
        m->read = nsc_stacks_run(&m->stacks, m->words, m->read, m->used, false);
    memset(m->words, 0, m->used * 16);
    m->used = m->read = 0;
    anchor = kind % 4 == 0 ? take(in, 8) : TOP;
    ticks = kind % 5 == 0 ? take(in, 8) : m->ticks;
    if (kind % 7 == 0 && (lost = take(in, 2)) > 0)
        nsc_stacks_lost(&m->stacks, ticks, lost);
    nsc_stacks_begin_chunk(&m->stacks, anchor, ticks);
}

static void put(struct machine *m, struct input *in, uint64_t word, uint64_t ticks)
{
    uint64_t exit_mask = (m->mode & ARM) != 0 ? 1 : 1ull << 47;

    if (m->used == SLOTS)
        next_chunk(m, in);
    m->words[2 * m->used] = word;
    m->words[2 * m->used + 1] = ticks;
    m->used++;
    m->events += (word & NSC_LIVE_ADDRESS_MASK & ~exit_mask) >= NSC_LIVE_ESC_LIMIT;
}

static void put_event(struct machine *m, struct input *in, uint32_t function, uint64_t position,
                      bool exit)
{
    uint64_t word = (CODE + function * 64ull) | position << NSC_LIVE_POSITION_SHIFT;
    uint64_t ticks = m->ticks += take(in, 1);

    if ((m->mode & HEADER) != 0 && !exit)
        ticks += (uint64_t)(uint16_t)(CODE + function * 64ull + (function % 2) * 16) << 48;
    put(m, in, word | (exit ? (m->mode & ARM) != 0 ? 1 : 1ull << 47 : 0), ticks);
}

static void enter(struct machine *m, struct input *in)
{
    uint64_t frame = take(in, 1), above = m->depth > 0 ? m->calls[m->depth - 1].position : TOP;

    if (m->depth == DEPTH)
        return;
    m->calls[m->depth].position = above - frame * 8;
    m->calls[m->depth].function = (uint32_t)take(in, 1) % FUNCTIONS;
    put_event(m, in, m->calls[m->depth].function, m->calls[m->depth].position, false);
    m->depth++;
}

static void leave(struct machine *m, struct input *in)
{
    if (m->depth == 0)
        return;
    m->depth--;
    put_event(m, in, m->calls[m->depth].function, m->calls[m->depth].position, true);
}

static void escape(struct machine *m, struct input *in)
{
    uint64_t kind = take(in, 1), slots = kind >> 4;

    if (SLOTS - m->used <= slots) /* the runtime never cuts one */
        next_chunk(m, in);
    put(m, in, (kind & 15) | slots << 12, take(in, 8));
    for (; slots > 0; slots--)
        put(m, in, 1, kind & 1 ? TOP - take(in, 2) : take(in, 8));
}

enum op { ENTER, LEAVE, JUMP, WAIT, RAW, ESCAPE, TURN };

static void step(struct machine *m, struct input *in)
{
    static const uint8_t ops[16] = {ENTER, ENTER, ENTER, ENTER, ENTER, ENTER, LEAVE,  LEAVE,
                                    LEAVE, LEAVE, LEAVE, JUMP,  WAIT,  RAW,   ESCAPE, TURN};
    uint32_t op = (uint32_t)take(in, 1), how = op >> 4;
    uint64_t word;

    switch ((enum op)ops[op & 15]) {
    case ENTER:
        enter(m, in);
        break;
    case LEAVE:
        leave(m, in);
        break;
    case JUMP: /* frames are gone without a word */
        m->depth -= how < m->depth ? how : m->depth;
        break;
    case WAIT:
        m->ticks += take(in, 1 + (how & 7));
        break;
    case RAW:
        m->exact = false;
        word = take(in, 8);
        put(m, in, word, take(in, 8));
        break;
    case ESCAPE:
        escape(m, in);
        break;
    case TURN:
        if (how < 8)
            run(m);
        else if (how < 13)
            next_chunk(m, in);
        else if (how == 13)
            nsc_stacks_keep(&m->stacks);
        else if (m->used < SLOTS)
            m->used++; /* a hole */
        break;
    }
}

static void show(void *context, const struct nsc_diag *d)
{
    (void)context;
    fprintf(stderr, "%s at %lld\n", d->message, (long long)d->offset);
}

static void check(const struct machine *m, int fd)
{
    const struct nsc_stacks_stats *s = &m->stacks.stats;
    uint64_t left_out = 0;
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (nsc_trace_verify(path, show, NULL, NULL) != 0)
        abort();
    for (size_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        left_out += s->left_out[i];
    if (m->exact && s->recorded + s->dropped + s->cut + s->unmatched + left_out != m->events)
        abort();
}

/* Some rules; with CHANGE, the next bits' come after a while. */
static const struct nsc_filter_rules *choose_rules(unsigned mode)
{
    static struct nsc_filter_rules rules[2];

    for (unsigned i = 0; i < 2; i++) {
        unsigned bits = (mode >> 5) + i;

        rules[i] = (struct nsc_filter_rules){.until_ticks = UINT64_MAX, .depth = UINT32_MAX};
        rules[i].trigger = (bits & 1) != 0;
        rules[i].stopper = (bits & 3) == 3;
        rules[i].under = (bits & 3) == 2;
        rules[i].min_ticks = (bits & 1) != i ? 100 : 0;
        if ((bits & 3) == 0)
            rules[i].depth = 3;
    }
    if ((mode & CHANGE) != 0) {
        rules[0].until_ticks = rules[1].since_ticks = (1ull << 50) + 2000;
        rules[0].next = &rules[1];
    }
    return (mode & RULES) != 0 ? rules : NULL;
}

static void begin(struct machine *m, int fd, unsigned mode)
{
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "p", .exit_status = -1};

    m->mode = mode;
    m->exact = true;
    m->ticks = 1ull << 50;
    m->stacks = (struct nsc_stacks){.codes = &m->codes,
                                    .open_lane = open_lane,
                                    .context = m,
                                    .rules = choose_rules(mode),
                                    .roles = roles,
                                    .notes = {.take = take_note, .context = m},
                                    .exit_bit = (mode & ARM) != 0 ? 0 : 47,
                                    .keep = (mode & RING) == 0};
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0 ||
        nsc_writer_create_fd(fd, "slots", NULL, &m->writer, NULL) != 0 ||
        nsc_writer_add_process(m->writer, &process, NULL) != 0 ||
        nsc_codes_init(&m->codes, NULL) != 0 || nsc_stacks_init(&m->stacks) != 0)
        abort();
    m->codes.by_function = (mode & HEADER) != 0;
    m->codes.resolve = resolve;
    m->codes.context = m;
    nsc_stacks_begin_chunk(&m->stacks, TOP, m->ticks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct machine m;
    static int fd = -1;
    struct input in = {data, data + bytes};

    if (fd < 0)
        fd = memfd_create("slots", MFD_CLOEXEC);
    m = (struct machine){0};
    begin(&m, fd, (unsigned)take(&in, 1));
    while (in.at < in.end)
        step(&m, &in);
    m.mode |= HOLES;
    run(&m);
    nsc_stacks_close(&m.stacks, m.ticks);
    nsc_stacks_free(&m.stacks);
    nsc_codes_free(&m.codes);
    if (nsc_writer_finish(m.writer, NULL) != 0)
        abort();
    check(&m, fd);
    return 0;
}
