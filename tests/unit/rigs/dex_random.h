/*
 * dex_random.h - random bodies of methods for dex_rig.h, by seed: branches of all sizes, switches,
 * nested tries, monitors as a compiler pairs them, wide registers, few and very many registers.
 */
#ifndef NSC_TESTS_UNIT_RIGS_DEX_RANDOM_H
#define NSC_TESTS_UNIT_RIGS_DEX_RANDOM_H

#include "unit/rigs/dex_rig.h"

enum { GEN_UNITS = 140000, GEN_LABELS = 4000, GEN_LISTS = 400, GEN_MAX = 64 };

struct gen_fix {
    uint32_t at, base, label;
    uint8_t kind; /* 8, 16 or 32 bits */
};

struct gen_list {
    struct nsc_dex_catch catches[8]; /* addr is a label */
    uint32_t count;
};

struct gen_payload {
    uint32_t label, at; /* of the payload, and its switch */
    uint16_t head;
    uint32_t targets[8], count;
};

struct gen {
    uint64_t state;
    uint16_t units[GEN_UNITS];
    uint16_t cover[GEN_UNITS]; /* list + 1 */
    uint32_t used;
    uint32_t labels[GEN_LABELS], label_count;
    struct gen_fix fixes[GEN_LABELS];
    uint32_t fix_count;
    struct gen_list lists[GEN_LISTS];
    uint32_t list_count, list; /* now: list + 1 */
    struct gen_payload payloads[100];
    uint32_t payload_count;
    uint32_t usable[GEN_MAX], usable_count;
    bool reserved[GEN_MAX]; /* of usable: not to be written */
    uint32_t locks[8], lock_lists[8], lock_count;
    uint32_t registers, ins;
    char shorty[16];
    char returns;
    bool is_static, narrow; /* narrow: goto of 8 bits where possible */
    uint32_t budget;
    uint32_t far; /* units that the branch over the nops of gen_body() goes */
    bool broken;
};

static inline uint32_t gen_below(struct gen *g, uint32_t n)
{
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((g->state >> 33) % n);
}

static inline void gen_put(struct gen *g, uint32_t a, uint32_t b, uint32_t c, uint32_t n)
{
    uint32_t units[3] = {a, b, c};

    for (uint32_t i = 0; i < n; i++) {
        if (g->used >= GEN_UNITS) {
            g->broken = true;
            return;
        }
        g->cover[g->used] = (uint16_t)g->list;
        g->units[g->used++] = (uint16_t)units[i];
    }
}

static inline uint32_t gen_label(struct gen *g)
{
    if (g->label_count >= GEN_LABELS - 1)
        g->broken = true;
    else
        g->label_count++;
    return g->label_count;
}

static inline void gen_fix(struct gen *g, uint32_t at, uint32_t base, uint32_t label, uint8_t kind)
{
    if (g->fix_count < GEN_LABELS)
        g->fixes[g->fix_count++] = (struct gen_fix){at, base, label, kind};
    else
        g->broken = true;
}

static inline void gen_goto(struct gen *g, uint32_t label)
{
    uint32_t kind = g->narrow ? gen_below(g, 3) : 1 + gen_below(g, 2), at = g->used;

    gen_put(g, NSC_OP_GOTO + kind, 0, 0, kind + 1);
    gen_fix(g, at + (kind != 0), at, label, kind == 0 ? 8 : kind == 1 ? 16 : 32);
}

/* A register to read, below @limit; UINT32_MAX: none. */
static inline uint32_t gen_read(struct gen *g, uint32_t limit)
{
    for (int i = 0; i < 20 && g->usable_count > 0; i++) {
        uint32_t r = g->usable[gen_below(g, g->usable_count)];

        if (r < limit)
            return r;
    }
    return UINT32_MAX;
}

static inline bool gen_usable(const struct gen *g, uint32_t r, bool write)
{
    for (uint32_t i = 0; i < g->usable_count; i++)
        if (g->usable[i] == r)
            return !write || !g->reserved[i];
    return false;
}

static inline uint32_t gen_write(struct gen *g, uint32_t limit)
{
    uint32_t r = gen_read(g, limit);

    return r != UINT32_MAX && gen_usable(g, r, true) ? r : UINT32_MAX;
}

static inline uint32_t gen_wide(struct gen *g, uint32_t limit, bool write)
{
    uint32_t r = gen_read(g, limit);

    return r != UINT32_MAX && gen_usable(g, r, write) && gen_usable(g, r + 1, write) ? r
                                                                                     : UINT32_MAX;
}

static inline void gen_move(struct gen *g, uint8_t op, uint32_t to, uint32_t from)
{
    if (to < 16 && from < 16)
        gen_put(g, op | to << 8 | from << 12, 0, 0, 1);
    else if (to < 256)
        gen_put(g, (op + 1u) | to << 8, from, 0, 2);
    else
        gen_put(g, op + 2u, to, from, 3);
}

static inline void gen_return(struct gen *g)
{
    uint32_t list = g->list, r = 0;

    if (g->returns == 'J')
        r = gen_wide(g, 256, false);
    else if (g->returns != 'V')
        r = gen_read(g, 256);
    if (r == UINT32_MAX)
        return;
    for (uint32_t i = g->lock_count; i-- > 0;) {
        g->list = g->lock_lists[i];
        gen_put(g, NSC_OP_MONITOR_EXIT | g->locks[i] << 8, 0, 0, 1);
    }
    g->list = g->lock_count > 0 ? 0 : list;
    gen_put(g,
            (g->returns == 'V'   ? NSC_OP_RETURN_VOID
             : g->returns == 'J' ? NSC_OP_RETURN_WIDE
             : g->returns == 'L' ? NSC_OP_RETURN_OBJECT
                                 : NSC_OP_RETURN) |
                r << 8,
            0, 0, 1);
    g->list = list;
}

static inline void gen_call(struct gen *g)
{
    uint32_t method = 2 + gen_below(g, 50), n = gen_below(g, 4), r = gen_read(g, 65536);
    uint32_t args[3] = {gen_read(g, 16), gen_read(g, 16), gen_read(g, 16)}, to;

    if (n == 0 || r == UINT32_MAX) {
        gen_put(g, NSC_OP_INVOKE_STATIC, method, 0, 3);
    } else if (args[0] < 16 && args[1] < 16 && args[2] < 16 && gen_below(g, 2) == 0) {
        gen_put(g, (NSC_OP_INVOKE_VIRTUAL + gen_below(g, 5)) | n << 12, method,
                args[0] | (n > 1 ? args[1] << 4 : 0) | (n > 2 ? args[2] << 8 : 0), 3);
    } else {
        while (n > 1 && !(gen_usable(g, r + 1, false) && (n < 3 || gen_usable(g, r + 2, false))))
            n--;
        gen_put(g, NSC_OP_INVOKE_STATIC_RANGE | n << 8, method, r, 3);
    }
    if (gen_below(g, 2) == 0) {
        to = gen_write(g, 256);
        if (to != UINT32_MAX)
            gen_put(g, 0x0a | to << 8, 0, 0, 1);
    } else if (gen_below(g, 3) == 0) {
        to = gen_wide(g, 256, true);
        if (to != UINT32_MAX)
            gen_put(g, 0x0b | to << 8, 0, 0, 1);
    }
}

static inline void gen_block(struct gen *g, uint32_t depth);

static inline void gen_tick(struct gen *g)
{
    gen_put(g, NSC_OP_INVOKE_STATIC, RIG_TICK, 0, 3);
}

static inline void gen_branch(struct gen *g, uint32_t label)
{
    uint32_t a = gen_read(g, 16), b = gen_read(g, 16), z = gen_read(g, 256), at = g->used;

    if (a < 16 && b < 16 && gen_below(g, 2) == 0)
        gen_put(g, (NSC_OP_IF_EQ + gen_below(g, 6)) | a << 8 | b << 12, 0, 0, 2);
    else if (z < 256)
        gen_put(g, (0x38u + gen_below(g, 6)) | z << 8, 0, 0, 2);
    else
        return;
    gen_fix(g, at + 1, at, label, 16);
}

static inline void gen_if(struct gen *g, uint32_t depth)
{
    uint32_t other = gen_label(g), end = gen_label(g);

    gen_branch(g, other);
    gen_block(g, depth - 1);
    gen_goto(g, end);
    g->labels[other] = g->used;
    gen_block(g, depth - 1);
    g->labels[end] = g->used;
    gen_put(g, NSC_OP_NOP, 0, 0, gen_below(g, 2));
}

static inline void gen_loop(struct gen *g, uint32_t depth)
{
    uint32_t head = gen_label(g);

    g->labels[head] = g->used;
    gen_tick(g);
    gen_block(g, depth - 1);
    gen_branch(g, head);
}

static inline void gen_switch(struct gen *g, uint32_t depth)
{
    struct gen_payload *p = &g->payloads[g->payload_count];
    uint32_t r = gen_read(g, 256), end, packed = gen_below(g, 2);

    if (r == UINT32_MAX || g->payload_count == 100)
        return;
    g->payload_count++;
    end = gen_label(g);
    p->label = gen_label(g);
    p->at = g->used;
    p->head = packed ? NSC_DEX_PACKED_PAYLOAD : NSC_DEX_SPARSE_PAYLOAD;
    p->count = gen_below(g, 5);
    gen_put(g, (packed ? NSC_OP_PACKED_SWITCH : NSC_OP_SPARSE_SWITCH) | r << 8, 0, 0, 3);
    gen_fix(g, p->at + 1, p->at, p->label, 32);
    for (uint32_t i = 0, n = p->count; i < n; i++) {
        gen_block(g, depth - 1);
        gen_goto(g, end);
        p->targets[i] = gen_label(g);
        g->labels[p->targets[i]] = g->used;
    }
    gen_block(g, depth - 1);
    g->labels[end] = g->used;
    gen_put(g, NSC_OP_NOP, 0, 0, 1);
}

static inline void gen_array(struct gen *g)
{
    struct gen_payload *p = &g->payloads[g->payload_count];
    uint32_t r = gen_read(g, 256);

    if (r == UINT32_MAX || g->payload_count == 100)
        return;
    g->payload_count++;
    p->label = gen_label(g);
    p->at = g->used;
    p->head = NSC_DEX_ARRAY_PAYLOAD;
    p->count = 1 + gen_below(g, 7);
    gen_put(g, NSC_OP_FILL_ARRAY_DATA | r << 8, 0, 0, 3);
    gen_fix(g, p->at + 1, p->at, p->label, 32);
}

static inline struct gen_list *gen_new_list(struct gen *g)
{
    if (g->list_count >= GEN_LISTS) {
        g->broken = true;
        return &g->lists[0];
    }
    return &g->lists[g->list_count++];
}

/* try { } catch of some types, and perhaps all; what it does not catch goes to what is around it.
 */
static inline void gen_try(struct gen *g, uint32_t depth)
{
    uint32_t outer = g->list, end = gen_label(g), count = gen_below(g, 3), handlers[4];
    bool all = count == 0 || gen_below(g, 2) == 0;
    struct gen_list *l = gen_new_list(g);

    for (uint32_t i = 0; i < count + all; i++) {
        handlers[i] = gen_below(g, 4) == 0 && i > 0 ? handlers[0] : gen_label(g);
        l->catches[l->count++] =
            (struct nsc_dex_catch){i < count ? gen_below(g, 4) : NSC_DEX_NONE, handlers[i]};
    }
    for (uint32_t i = 0; !all && outer != 0 && i < g->lists[outer - 1].count && l->count < 8; i++)
        l->catches[l->count++] = g->lists[outer - 1].catches[i];
    g->list = (uint32_t)(l - g->lists) + 1;
    gen_block(g, depth - 1);
    g->list = outer;
    gen_goto(g, end);
    for (uint32_t i = 0; i < count + all; i++) {
        uint32_t r = gen_write(g, 256);

        if (i > 0 && handlers[i] == handlers[0])
            continue;
        g->labels[handlers[i]] = g->used;
        if (r != UINT32_MAX && gen_below(g, 4) != 0)
            gen_put(g, NSC_OP_MOVE_EXCEPTION | r << 8, 0, 0, 1);
        gen_block(g, depth - 1);
        if (r != UINT32_MAX && gen_below(g, 3) == 0)
            gen_put(g, NSC_OP_THROW | r << 8, 0, 0, 1);
        else
            gen_goto(g, end);
    }
    g->labels[end] = g->used;
    gen_put(g, NSC_OP_NOP, 0, 0, 1);
}

/* As a compiler makes synchronized: its handler is under itself. */
static inline void gen_sync(struct gen *g, uint32_t depth)
{
    uint32_t outer = g->list, lock = gen_write(g, 256), handler = gen_label(g), end = gen_label(g);
    uint32_t k, e;
    struct gen_list *l;

    for (k = 0; k < g->usable_count && g->usable[k] != lock; k++)
        ;
    if (k == g->usable_count || g->lock_count == 4)
        return;
    g->reserved[k] = true;
    e = gen_write(g, 256);
    if (e == UINT32_MAX) {
        g->reserved[k] = false;
        return;
    }
    gen_put(g, NSC_OP_MONITOR_ENTER | lock << 8, 0, 0, 1);
    l = gen_new_list(g);
    l->catches[l->count++] = (struct nsc_dex_catch){NSC_DEX_NONE, handler};
    g->list = (uint32_t)(l - g->lists) + 1;
    g->locks[g->lock_count] = lock;
    g->lock_lists[g->lock_count++] = g->list;
    gen_block(g, depth - 1);
    gen_put(g, NSC_OP_MONITOR_EXIT | lock << 8, 0, 0, 1);
    g->list = outer;
    gen_goto(g, end);
    g->labels[handler] = g->used;
    g->list = (uint32_t)(l - g->lists) + 1;
    gen_put(g, NSC_OP_MOVE_EXCEPTION | e << 8, 0, 0, 1);
    gen_put(g, NSC_OP_MONITOR_EXIT | lock << 8, 0, 0, 1);
    g->list = outer;
    gen_put(g, NSC_OP_THROW | e << 8, 0, 0, 1);
    g->lock_count--;
    g->reserved[k] = false;
    g->labels[end] = g->used;
    gen_put(g, NSC_OP_NOP, 0, 0, 1);
}

static inline void gen_simple(struct gen *g)
{
    uint32_t r = gen_write(g, 256), a = gen_read(g, 256), b = gen_read(g, 256), w, x;

    switch (gen_below(g, 9)) {
    case 0:
        if (r < 16)
            gen_put(g, NSC_OP_CONST_4 | r << 8 | gen_below(g, 16) << 12, 0, 0, 1);
        else if (r < 256)
            gen_put(g, NSC_OP_CONST_16 | r << 8, gen_below(g, 65536), 0, 2);
        break;
    case 1:
        r = gen_write(g, 65536);
        a = gen_read(g, 65536);
        if (r != UINT32_MAX)
            gen_move(g, gen_below(g, 2) ? NSC_OP_MOVE : NSC_OP_MOVE_OBJECT, r, a);
        break;
    case 2:
        w = gen_wide(g, 65536, true);
        x = gen_wide(g, 65536, false);
        if (w != UINT32_MAX && x != UINT32_MAX)
            gen_move(g, NSC_OP_MOVE_WIDE, w, x);
        break;
    case 3:
    case 4:
        if (r < 256)
            gen_put(g, (gen_below(g, 2) ? 0x90 : 0x93) | r << 8, a | b << 8, 0, 2);
        break;
    case 5:
        w = gen_wide(g, 256, true);
        x = gen_wide(g, 256, false);
        if (w < 256 && x < 256)
            gen_put(g, 0x9b | w << 8, x | x << 8, 0, 2);
        break;
    case 6:
        if (r < 256)
            gen_put(g, NSC_OP_CONST_STRING | r << 8, gen_below(g, 1000), 0, 2);
        break;
    default:
        gen_call(g);
        break;
    }
}

static inline void gen_block(struct gen *g, uint32_t depth)
{
    for (uint32_t n = 1 + gen_below(g, 4); n > 0 && g->budget > 0; n--) {
        uint32_t kind = depth == 0 ? 20 : gen_below(g, 30);

        g->budget--;
        if (kind < 3)
            gen_if(g, depth);
        else if (kind < 5)
            gen_loop(g, depth);
        else if (kind == 5)
            gen_switch(g, depth);
        else if (kind < 9)
            gen_try(g, depth);
        else if (kind < 12)
            gen_sync(g, depth);
        else if (kind == 12)
            gen_array(g);
        else if (kind == 13 && gen_below(g, 2) == 0)
            gen_return(g);
        else if (kind == 14)
            for (uint32_t k = gen_below(g, 60); k > 0; k--)
                gen_put(g, NSC_OP_NOP, 0, 0, 1);
        else
            gen_simple(g);
    }
}

static inline void gen_payloads(struct gen *g)
{
    g->list = 0;
    for (uint32_t i = 0; i < g->payload_count; i++) {
        struct gen_payload *p = &g->payloads[i];

        gen_put(g, NSC_OP_NOP, 0, 0, g->used % 2);
        g->labels[p->label] = g->used;
        if (p->head == NSC_DEX_ARRAY_PAYLOAD) {
            gen_put(g, p->head, 1, p->count, 3);
            gen_put(g, 0, 0, 0, 1);
            for (uint32_t k = 0; k < (p->count + 1) / 2; k++)
                gen_put(g, gen_below(g, 65536), 0, 0, 1);
            continue;
        }
        gen_put(g, p->head, p->count, 0, 2);
        for (uint32_t k = 0; k < (p->head == NSC_DEX_PACKED_PAYLOAD ? 1 : p->count); k++)
            gen_put(g, k * 3, 0, 0, 2);
        for (uint32_t k = 0; k < p->count; k++) {
            gen_fix(g, g->used, p->at, p->targets[k], 32);
            gen_put(g, 0, 0, 0, 2);
        }
    }
}

static inline bool gen_resolve(struct gen *g)
{
    for (uint32_t i = 0; i < g->fix_count; i++) {
        struct gen_fix *f = &g->fixes[i];
        int64_t d = (int64_t)g->labels[f->label] - f->base;

        if ((f->kind == 8 && (d < -128 || d > 127 || d == 0)) ||
            (f->kind == 16 && (d < -32768 || d > 32767 || d == 0)))
            return false;
        if (f->kind == 8) {
            g->units[f->at] = (uint16_t)((g->units[f->at] & 0xff) | (d & 0xff) << 8);
        } else {
            g->units[f->at] = (uint16_t)d;
            if (f->kind == 32)
                g->units[f->at + 1] = (uint16_t)(d >> 16);
        }
    }
    return !g->broken;
}

static inline void gen_signature(struct gen *g)
{
    static const uint32_t classes[] = {0,  0,  1,   1,   2,   3,   5,   16,    17,
                                       18, 40, 255, 256, 257, 258, 300, 65534, 65535};
    uint32_t n = gen_below(g, 12), used = 0;

    g->is_static = gen_below(g, 2) == 0;
    g->ins = !g->is_static;
    g->returns = "VVIJL"[gen_below(g, 5)];
    g->shorty[used++] = g->returns;
    for (uint32_t i = 0; i < n; i++) {
        char c = "IJLZD"[gen_below(g, 5)];

        g->shorty[used++] = c;
        g->ins += c == 'J' || c == 'D' ? 2 : 1;
    }
    g->shorty[used] = '\0';
    g->registers = classes[gen_below(g, sizeof classes / sizeof *classes)];
    if (g->registers < 16)
        g->registers += g->ins;
    if (g->registers < g->ins)
        g->registers = g->ins;
    if (g->returns == 'J' && g->registers < 2)
        g->registers = 2;
    if (g->returns != 'V' && g->registers < 1)
        g->registers = 1;
}

/* Registers that the body uses, and the first values of those that are no arguments. */
static inline void gen_begin(struct gen *g)
{
    for (uint32_t r = 0; r < g->registers && g->usable_count < GEN_MAX - 16; r++)
        if (r < 20 || (r > 252 && r < 262) || r + 10 > g->registers)
            g->usable[g->usable_count++] = r;
        else if (r >= 262 && r + 11 < g->registers)
            r = g->registers - 11;
    for (uint32_t i = 0; i < g->usable_count; i++) {
        uint32_t r = g->usable[i];

        if (r >= g->registers - g->ins)
            continue;
        if (r < 256)
            gen_put(g, NSC_OP_CONST_16 | r << 8, r * 7 % 13, 0, 2);
        else
            gen_move(g, NSC_OP_MOVE, r, 0);
    }
}

/* @size: nops somewhere, so that branches are about as far as they may be. */
static inline bool gen_body(struct gen *g, uint64_t seed, bool narrow, uint32_t size)
{
    memset(g, 0, sizeof *g);
    g->state = seed * 0x9e3779b97f4a7c15u + 1;
    g->narrow = narrow;
    gen_signature(g);
    g->budget = 4 + gen_below(g, 60);
    gen_begin(g);
    gen_block(g, 3);
    if (size > 0) {
        uint32_t over = gen_label(g), back = gen_label(g);

        g->labels[back] = g->used;
        gen_tick(g);
        gen_branch(g, over);
        for (uint32_t i = 0; i < size; i++)
            gen_put(g, NSC_OP_NOP, 0, 0, 1);
        gen_block(g, 2);
        gen_branch(g, back);
        g->labels[over] = g->used;
        g->far = g->used - g->labels[back];
    }
    gen_block(g, 2);
    gen_return(g);
    if (gen_below(g, 2) == 0) {
        uint32_t e = gen_read(g, 256);

        if (e != UINT32_MAX)
            gen_put(g, NSC_OP_THROW | e << 8, 0, 0, 1);
    }
    gen_tick(g); /* no return was possible: once more from the first instruction */
    gen_goto(g, 0);
    gen_payloads(g);
    return gen_resolve(g);
}

#endif
