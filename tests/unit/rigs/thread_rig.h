/*
 * thread_rig.h - threads for tests of the stack rule: slots as a traced thread would write them,
 * and simulated threads that know their own call trees.
 *
 * Include it behind lane_log.h and the sources under test.
 */
#ifndef NSC_TESTS_UNIT_RIGS_THREAD_RIG_H
#define NSC_TESTS_UNIT_RIGS_THREAD_RIG_H

/* ---- A thread under the rule ----------------------------------------------------------------- */

enum { BASE = 0x400000, STEP = 0x40, REAL_PC = 0x10, LANES = 64, LATE_FUNCTION = 20 };

struct rig {
    struct nsc_codes codes;
    struct nsc_stacks stacks;
    struct log log;
    struct nsc_lane lanes[LANES];
    bool header;
    bool late;      /* that some code has the header hook shows only as it is met */
    uint64_t epoch; /* ticks after which other functions are at the same addresses; 0: for ever */
    /* What functions are to the filter, before and from `change` on: flags by function; NULL: no
     * flags. */
    const uint16_t *flags[2];
    uint64_t change;
};

/* Function f is the code at BASE + f * STEP. */
static inline void resolve(void *context, uint64_t address, uint64_t ticks, struct nsc_code *code)
{
    struct rig *rig = context;

    code->function = (uint32_t)((address - BASE) / STEP);
    if (rig->epoch != 0) {
        uint64_t since = ticks - ticks % rig->epoch;

        if (since != rig->codes.since_ticks)
            nsc_codes_clear(&rig->codes);
        rig->codes.since_ticks = since;
        rig->codes.until_ticks = since + rig->epoch;
        code->function += (uint32_t)(ticks / rig->epoch % 1000) * 1000;
    }
    code->real_pc16 = (uint16_t)(address + REAL_PC);
    code->flags = rig->header ? NSC_CODE_HEADER | NSC_CODE_REAL_PC : 0;
    if (rig->flags[0] != NULL) {
        bool later = ticks >= rig->change;

        if (rig->codes.until_ticks != (later ? UINT64_MAX : rig->change))
            nsc_codes_clear(&rig->codes);
        rig->codes.since_ticks = later ? rig->change : 0;
        rig->codes.until_ticks = later ? UINT64_MAX : rig->change;
        code->flags |= rig->flags[later][code->function];
    }
    if (rig->late && code->function >= LATE_FUNCTION) {
        code->flags = NSC_CODE_HEADER | NSC_CODE_REAL_PC;
        rig->codes.by_function = true;
    }
}

static inline int open_lane(void *context, uint32_t stack, uint64_t ticks, struct nsc_lane **lane)
{
    struct rig *rig = context;

    (void)ticks;
    if (stack >= LANES)
        abort();
    rig->lanes[stack].log = &rig->log;
    rig->lanes[stack].number = stack;
    *lane = &rig->lanes[stack];
    return 0;
}

static inline void rig_begin(struct rig *rig, bool header, bool keep)
{
    memset(rig, 0, sizeof *rig);
    rig->header = header;
    nsc_codes_init(&rig->codes, NULL);
    rig->codes.resolve = resolve;
    rig->codes.context = rig;
    rig->codes.by_function = header;
    rig->stacks.codes = &rig->codes;
    rig->stacks.open_lane = open_lane;
    rig->stacks.context = rig;
    rig->stacks.exit_bit = 47;
    rig->stacks.keep = keep;
    nsc_stacks_init(&rig->stacks);
}

static inline void rig_end(struct rig *rig)
{
    size_t i;

    nsc_stacks_free(&rig->stacks);
    nsc_codes_free(&rig->codes);
    for (i = 0; i < LANES; i++)
        free(rig->lanes[i].frames);
    free(rig->log.entries);
}

static inline uint64_t word_of(uint32_t function, uint64_t position, bool exit)
{
    return (uint64_t)(BASE + function * STEP + 5) | (exit ? 1ull << 47 : 0) |
           position << NSC_LIVE_POSITION_SHIFT;
}

#define TOP          0x7ffd00001000ull
#define IN(f, p, t)  word_of((f), (p), false), (t)
#define OUT(f, p, t) word_of((f), (p), true), (t)

/* The header hook: word 1 carries the hook's program counter too. */
static inline uint64_t stamp(uint64_t ticks, uint32_t function, uint32_t inlined_at)
{
    return ticks +
           ((uint64_t)(BASE + function * STEP + 5 + (inlined_at ? inlined_at * 0x1234 : REAL_PC))
            << 48);
}

enum { FIBRES = 4, DEPTH_MAX = 300, OPS = 4000 };

struct frame {
    uint32_t function;
    uint64_t position, call_position; /* of its own callees */
    uint32_t inlined;                 /* how many functions deep it is inlined; 0 = a real call */
};

struct fibre {
    struct frame frames[DEPTH_MAX];
    uint32_t depth;
    uint32_t dead; /* frames above depth that were left without an exit */
    uint32_t lane;
    bool used;
};

struct thread {
    struct rig rig;
    struct log truth;
    uint64_t seed, ticks, anchor;
    uint64_t words[1 << 12];
    size_t slots;
    struct fibre fibres[FIBRES];
    uint32_t current, lanes;
    uint64_t emitted;
};

static inline uint32_t draw(struct thread *t, uint32_t below)
{
    t->seed = t->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(t->seed >> 33) % below;
}

static inline void flush(struct thread *t)
{
    nsc_stacks_run(&t->rig.stacks, t->words, 0, t->slots, false);
    t->slots = 0;
    nsc_stacks_begin_chunk(&t->rig.stacks, t->anchor, t->ticks);
}

static inline void put(struct thread *t, uint64_t word, uint64_t second)
{
    t->words[2 * t->slots] = word;
    t->words[2 * t->slots + 1] = second;
    t->slots++;
}

static inline void emit(struct thread *t, uint32_t function, uint64_t position, bool exit,
                        uint32_t inlined)
{
    uint64_t ticks = ++t->ticks;

    if (t->slots > 1000 || draw(t, 500) == 0)
        flush(t);
    if (position - t->anchor + NSC_LIVE_ANCHOR_REACH >= 2 * NSC_LIVE_ANCHOR_REACH) {
        t->anchor = position;
        put(t, NSC_LIVE_ESC_ANCHOR, position);
    }
    if (draw(t, 100) == 0) {
        put(t, 0, 0); /* a slot that a signal handler left by longjmp */
        t->emitted++;
    }
    put(t, word_of(function, position, exit),
        t->rig.header ? stamp(ticks, function, inlined) : ticks);
    t->emitted++;
}

/* The truth of an event: frames that died before it end at it. */
static inline void bury(struct thread *t, struct fibre *f)
{
    for (; f->dead > 0; f->dead--)
        log_add(&t->truth, UNWIND, f->lane, t->ticks, f->frames[f->depth + f->dead - 1].function,
                0);
}

static inline void call(struct thread *t, bool inlined)
{
    struct fibre *f = &t->fibres[t->current];
    static const uint32_t sizes[] = {8, 16, 24, 48, 64, 208, 4096, 20000, 300000, 2000000};
    uint64_t base = TOP - (uint64_t)t->current * 0x10000000000ull;
    const struct frame *caller = f->depth > 0 ? &f->frames[f->depth - 1] : NULL;
    struct frame frame = {.function = draw(t, 40)};

    if (f->depth == DEPTH_MAX || (inlined && (caller == NULL || f->dead > 0)))
        return;
    frame.inlined = inlined ? caller->inlined + 1 : 0;
    frame.position = caller == NULL ? base : inlined ? caller->position : caller->call_position;
    frame.call_position =
        inlined ? caller->call_position
                : frame.position - 8 - (sizes[draw(t, draw(t, 20) == 0 ? 10 : 6)] & ~7u);
    emit(t, frame.function, frame.position, false, frame.inlined);
    bury(t, f);
    log_add(&t->truth, ENTER, f->lane, t->ticks, frame.function, 0);
    f->frames[f->depth++] = frame;
}

static inline void leave(struct thread *t)
{
    struct fibre *f = &t->fibres[t->current];
    const struct frame *frame;

    if (f->depth == 0)
        return;
    frame = &f->frames[f->depth - 1];
    emit(t, frame->function, frame->position, true, frame->inlined);
    bury(t, f);
    log_add(&t->truth, EXIT, f->lane, t->ticks, frame->function, 0);
    f->depth--;
}

/* longjmp or throw: some frames end without a word. Not into the middle of inlined frames, where
 * only the hook site of the next call could tell. */
static inline void jump(struct thread *t)
{
    struct fibre *f = &t->fibres[t->current];
    uint32_t to;

    if (f->depth < 2 || f->dead > 0)
        return;
    to = 1 + draw(t, f->depth - 1);
    while (to < f->depth && f->frames[to].inlined != 0)
        to++;
    f->dead = f->depth - to;
    f->depth = to;
}

/* The same, announced by the unwinder. */
static inline void announced_jump(struct thread *t)
{
    struct fibre *f = &t->fibres[t->current];
    uint32_t from = f->depth;

    jump(t);
    if (f->dead == 0 || from == f->depth)
        return;
    if (t->slots > 1000)
        flush(t);
    put(t, NSC_LIVE_ESC_UNWIND | 1 << 12, f->frames[f->depth].position);
    put(t, 1, ++t->ticks);
    bury(t, f);
}

/*
 * A gap: nobody knows what became of the open calls. Some of them return after it, before anything
 * else is called. For threads with one stack.
 */
static inline void gap(struct thread *t)
{
    struct fibre *f = &t->fibres[0];
    uint32_t left, events = 1 + draw(t, 9);

    if (t->slots > 1000)
        flush(t);
    put(t, NSC_LIVE_ESC_LOST, events);
    t->emitted += events;
    f->depth += f->dead;
    f->dead = 0;
    for (left = f->depth; f->depth > 0; f->depth--)
        log_add(&t->truth, UNWIND, 0, t->ticks, f->frames[f->depth - 1].function, 0);
    log_add(&t->truth, LOST, 0, t->ticks, 0, 0);
    left = left > 0 ? draw(t, left) : 0;
    for (; left > 0; left--) {
        const struct frame *frame = &f->frames[left - 1];

        if (frame->position < TOP - (8 << 20))
            continue;
        emit(t, frame->function, frame->position, true, frame->inlined);
        log_add(&t->truth, LATE, 0, t->ticks, frame->function, 0);
    }
}

static inline void hop(struct thread *t)
{
    uint32_t to = draw(t, FIBRES);

    if (to == t->current)
        return;
    if (t->slots > 1000)
        flush(t);
    put(t, NSC_LIVE_ESC_SWITCH | 1 << 12, 1000 + t->current);
    put(t, 1, 1000 + to);
    t->current = to;
    if (!t->fibres[to].used) {
        t->fibres[to].used = true;
        t->fibres[to].lane = t->lanes++;
        call(t, false);
    }
}

#endif
