/*
 * dex_rig.h - a machine for a part of Dalvik, for tests of the hook: runs a method's code and
 * writes down what can be seen of it from outside. Whatever is done to the code must not change
 * that.
 *
 * Values are numbers; an object or exception is a number, too, and an exception's type its lowest
 * two bits. A call's method is its index: the environment decides from the arguments what becomes
 * of it.
 */
#ifndef NSC_TESTS_UNIT_RIGS_DEX_RIG_H
#define NSC_TESTS_UNIT_RIGS_DEX_RIG_H

#include <errno.h>

#include "android/bytecode/code.h"
#include "android/bytecode/opcodes.h"
#include "base/span.h"
#include "tap.h"

#define RIG_ENTER  60000u
#define RIG_EXIT   60001u
#define RIG_TICK   1u  /* ends the run after some calls, whatever handlers there are */
#define RIG_SITE   30u /* methods from here to below RIG_SITES can be recorded at their place */
#define RIG_SITES  52u
#define RIG_ID     0x12345u
#define RIG_STRAIN 512

struct rig_log {
    uint64_t *words;
    uint32_t used, room;
};

struct rig {
    const struct nsc_dex_code *code;
    const uint32_t *strings; /* new index of a string; NULL: it is new already */
    uint32_t *regs;
    uint32_t pc;
    uint32_t ticks;
    uint64_t result;
    uint32_t exception;
    uint32_t monitors[64], held;
    uint32_t open[64], depth; /* ids entered and not left */
    uint32_t enters, exits;   /* of the method itself */
    bool loose;               /* exceptions leave calls open: an exit closes them */
    const char *wrong;        /* what the hook did wrong */
    struct rig_log *log;
};

static inline void rig_note(struct rig *r, uint64_t word)
{
    struct rig_log *log = r->log;

    if (log->used == log->room) {
        log->room = log->room == 0 ? 256 : log->room * 2;
        log->words = realloc(log->words, log->room * sizeof *log->words);
        if (log->words == NULL)
            abort();
    }
    log->words[log->used++] = word;
}

static inline uint64_t rig_mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static inline uint8_t rig_byte(struct nsc_span *s)
{
    const uint8_t *byte = nsc_span_take(s, 1);

    return byte == NULL ? 0 : *byte;
}

/* The line of a unit, as a debugger would find it. */
static inline uint32_t rig_line(const struct nsc_dex_code *code, uint32_t unit)
{
    struct nsc_span s = nsc_span_of(code->debug, code->debug_bytes);
    uint32_t line = nsc_span_leb32(&s), addr = 0, found = 0;

    for (uint32_t n = nsc_span_leb32(&s); n > 0; n--)
        nsc_span_leb32(&s);
    while (!s.bad && nsc_span_left(&s) > 0) {
        uint8_t op = rig_byte(&s);

        if (op == 0)
            break;
        if (op == 1) {
            addr += nsc_span_leb32(&s);
        } else if (op == 2) {
            uint32_t delta = 0, shift = 0;
            uint8_t byte;

            do {
                byte = rig_byte(&s);
                delta |= (uint32_t)(byte & 0x7f) << shift;
                shift += 7;
            } while ((byte & 0x80) != 0 && shift < 32);
            if ((byte & 0x40) != 0 && shift < 32)
                delta |= ~0u << shift;
            line += delta;
        } else if (op >= 10) {
            line += (uint32_t)((op - 10) % 15 - 4);
            addr += (uint32_t)(op - 10) / 15;
            if (addr > unit)
                break;
            found = line;
        }
    }
    return found;
}

static inline uint64_t rig_wide(const struct rig *r, uint32_t reg)
{
    return r->regs[reg] | (uint64_t)r->regs[reg + 1] << 32;
}

static inline void rig_set(struct rig *r, uint32_t reg, uint64_t value, bool wide)
{
    r->regs[reg] = (uint32_t)value;
    if (wide)
        r->regs[reg + 1] = (uint32_t)(value >> 32);
}

static inline bool rig_throw(struct rig *r, uint32_t exception)
{
    const struct nsc_dex_code *code = r->code;

    r->exception = exception;
    for (uint32_t t = 0; t < code->try_count; t++) {
        const struct nsc_dex_catches *list = &code->lists[code->tries[t].list];

        if (r->pc < code->tries[t].start || r->pc >= code->tries[t].start + code->tries[t].count)
            continue;
        for (uint32_t c = 0; c < list->count; c++) {
            const struct nsc_dex_catch *catch = &code->catches[list->first + c];

            if (catch->type != NSC_DEX_NONE && catch->type != (exception & 3))
                continue;
            r->pc = catch->addr;
            return true;
        }
    }
    rig_note(r, 0xe0000000u | (uint64_t)exception << 32);
    return false;
}

static inline void rig_event(struct rig *r, bool enter, uint32_t id)
{
    if (enter) {
        if (id == RIG_ID ? r->depth != 0 || r->enters != 0 || r->log->used != 0 : false)
            r->wrong = "enter is not the first";
        r->enters += id == RIG_ID;
        if (r->depth < 64)
            r->open[r->depth++] = id;
        return;
    }
    while (r->loose && r->depth > 0 && r->open[r->depth - 1] != id)
        r->depth--;
    if (r->depth == 0 || r->open[r->depth - 1] != id)
        r->wrong = "an exit without its enter";
    else
        r->depth--;
    if (id == RIG_ID && r->held != 0)
        r->wrong = "the method is left with a monitor held";
    r->exits += id == RIG_ID;
}

/* Returns -1 to go on, 1 when it throws, 2 to end the run. */
static inline int rig_call(struct rig *r, const uint16_t *insn, uint8_t format, bool hooked)
{
    uint32_t method = insn[1], count = nsc_dex_insn_args(insn, format);
    uint64_t hash = method;

    if (method == RIG_ENTER || method == RIG_EXIT) {
        rig_event(r, method == RIG_ENTER, r->regs[nsc_dex_insn_arg(insn, format, 0)]);
        return -1;
    }
    if (method == RIG_TICK && ++r->ticks > 60)
        return 2;
    for (uint32_t i = 0; i < count; i++)
        hash = rig_mix(hash, r->regs[nsc_dex_insn_arg(insn, format, i)]);
    rig_note(r, hash);
    rig_note(r, (uint64_t)r->held << 32 | rig_line(r->code, r->pc));
    if (hooked && method >= RIG_SITE && method < RIG_SITES &&
        (r->depth == 0 || r->open[r->depth - 1] != method))
        r->wrong = "a call is not recorded";
    r->result = hash * 3;
    if (method != RIG_TICK && hash % 5 == 0) {
        r->exception = (uint32_t)(hash >> 8 & 0xffff) | 4;
        return 1;
    }
    return -1;
}

static inline int64_t rig_value(const struct rig *r, uint32_t reg)
{
    return (int32_t)r->regs[reg];
}

static inline bool rig_test(uint8_t opcode, int64_t a, int64_t b)
{
    switch (opcode < 0x38 ? opcode - 0x32 : opcode - 0x38) {
    case 0:
        return a == b;
    case 1:
        return a != b;
    case 2:
        return a < b;
    case 3:
        return a >= b;
    case 4:
        return a > b;
    default:
        return a <= b;
    }
}

static inline uint32_t rig_switch(const struct rig *r, const uint16_t *insn, int32_t value)
{
    const uint16_t *table = insn + nsc_dex_insn_offset(insn, NSC_DEX_31T);
    uint32_t count = table[1];

    if (table[0] == NSC_DEX_PACKED_PAYLOAD) {
        int64_t k = (int64_t)value - (int32_t)(table[2] | (uint32_t)table[3] << 16);

        if (k < 0 || k >= count)
            return r->pc + 3;
        return r->pc + (table[4 + 2 * k] | (uint32_t)table[5 + 2 * k] << 16);
    }
    for (uint32_t k = 0; k < count; k++)
        if ((int32_t)(table[2 + 2 * k] | (uint32_t)table[3 + 2 * k] << 16) == value)
            return r->pc +
                   (table[2 + 2 * count + 2 * k] | (uint32_t)table[3 + 2 * count + 2 * k] << 16);
    return r->pc + 3;
}

/* Runs what neither branches nor calls; false when it throws (r->exception). */
static inline bool rig_plain(struct rig *r, const uint16_t *insn, const struct nsc_dex_opcode *op)
{
    uint32_t a = nsc_dex_insn_a(insn, op->format);
    uint32_t b = op->format == NSC_DEX_21S || op->format == NSC_DEX_31I
                     ? 0
                     : nsc_dex_insn_b(insn, op->format);
    uint8_t opcode = (uint8_t)insn[0];
    bool wide = (op->flags & NSC_DEX_WIDE_A) != 0;

    if (opcode >= 0x01 && opcode <= 0x09) {
        rig_set(r, a, wide ? rig_wide(r, b) : r->regs[b], wide);
    } else if (opcode >= 0x0a && opcode <= 0x0c) {
        rig_set(r, a, r->result, wide);
    } else if (opcode == NSC_OP_MOVE_EXCEPTION) {
        rig_set(r, a, r->exception, false);
    } else if (opcode == NSC_OP_CONST_4) {
        rig_set(r, a, (uint64_t)(int64_t)((int16_t)insn[0] >> 12), false);
    } else if (opcode == NSC_OP_CONST_16 || opcode == 0x16) {
        rig_set(r, a, (uint64_t)(int64_t)(int16_t)insn[1], wide);
    } else if (opcode == NSC_OP_CONST) {
        rig_set(r, a, insn[1] | (uint32_t)insn[2] << 16, false);
    } else if (opcode == NSC_OP_CONST_HIGH16) {
        rig_set(r, a, (uint32_t)insn[1] << 16, false);
    } else if (opcode == NSC_OP_CONST_STRING || opcode == NSC_OP_CONST_STRING_JUMBO) {
        uint32_t index =
            opcode == NSC_OP_CONST_STRING ? insn[1] : insn[1] | (uint32_t)insn[2] << 16;

        rig_set(r, a, r->strings != NULL ? r->strings[index] : index, false);
    } else if (opcode == 0x90 || opcode == 0x93) { /* add-int, div-int */
        uint32_t c = nsc_dex_insn_c(insn);

        if (opcode == 0x93 && (r->regs[c] & 7) == 0) {
            r->exception = 8;
            return false;
        }
        rig_set(r, a, opcode == 0x90 ? r->regs[b] + r->regs[c] : r->regs[b] / (r->regs[c] & 7),
                false);
    } else if (opcode == 0x9b) { /* add-long */
        rig_set(r, a, rig_wide(r, b) + rig_wide(r, nsc_dex_insn_c(insn)), true);
    } else if (opcode == NSC_OP_FILL_ARRAY_DATA) {
        const uint16_t *data = insn + nsc_dex_insn_offset(insn, NSC_DEX_31T);

        rig_note(r, rig_mix(data[0], data[4]));
    } else if (opcode == NSC_OP_MONITOR_ENTER) {
        rig_note(r, 0x1000000000u | r->regs[a]);
        r->monitors[r->held++ & 63] = r->regs[a];
    } else if (opcode == NSC_OP_MONITOR_EXIT) {
        rig_note(r, 0x2000000000u | r->regs[a]);
        if (r->held == 0 || r->monitors[--r->held & 63] != r->regs[a])
            abort(); /* the generator's own fault */
    } else if (opcode != NSC_OP_NOP) {
        abort();
    }
    return true;
}

/* One instruction; false at the end of the run. */
static inline bool rig_step(struct rig *r, bool hooked)
{
    const uint16_t *insn = r->code->insns + r->pc;
    const struct nsc_dex_opcode *op = nsc_dex_opcode(insn[0]);
    uint32_t units = nsc_dex_insn_units(insn, r->code->size - r->pc);
    uint8_t opcode = (uint8_t)insn[0];
    int called = -1;

    if ((op->flags & NSC_DEX_RETURNS) != 0) {
        uint64_t value = opcode == NSC_OP_RETURN_VOID   ? 0
                         : opcode == NSC_OP_RETURN_WIDE ? rig_wide(r, insn[0] >> 8)
                                                        : r->regs[insn[0] >> 8];

        rig_note(r, value);
        rig_note(r, 0xf0000000u | opcode);
        return false;
    }
    if (opcode == NSC_OP_THROW)
        return rig_throw(r, r->regs[insn[0] >> 8]);
    if ((op->flags & NSC_DEX_INVOKES) != 0) {
        called = rig_call(r, insn, op->format, hooked);
        if (called == 2)
            return false;
        if (called == 1)
            return rig_throw(r, r->exception);
    } else if ((op->flags & NSC_DEX_SWITCHES) != 0) {
        r->pc = rig_switch(r, insn, (int32_t)r->regs[insn[0] >> 8]);
        return true;
    } else if ((op->flags & NSC_DEX_BRANCHES) != 0) {
        bool taken = (op->flags & NSC_DEX_ENDS) != 0;

        if (!taken)
            taken = rig_test(
                opcode, rig_value(r, nsc_dex_insn_a(insn, op->format)),
                op->format == NSC_DEX_22T ? rig_value(r, nsc_dex_insn_b(insn, op->format)) : 0);
        r->pc += taken ? (uint32_t)nsc_dex_insn_offset(insn, op->format) : units;
        return true;
    } else if (!rig_plain(r, insn, op)) {
        return rig_throw(r, r->exception);
    }
    r->pc += units;
    return true;
}

/* Run with arguments of @seed; @args of them come in at the top. Registers are filled with what
 * nobody should see. */
static inline void rig_run(struct rig *r, const struct nsc_dex_code *code, uint64_t seed,
                           bool hooked, struct rig_log *log)
{
    r->code = code;
    r->log = log;
    r->regs = malloc(((size_t)code->registers + 2) * sizeof *r->regs);
    if (r->regs == NULL)
        abort();
    memset(r->regs, 0xa5, ((size_t)code->registers + 2) * sizeof *r->regs);
    for (uint32_t i = 0; i < code->ins; i++)
        r->regs[code->registers - code->ins + i] = (uint32_t)rig_mix(seed, i) & 0xff;
    for (uint32_t steps = 0; rig_step(r, hooked); steps++)
        if (steps > 40000000)
            abort();
    free(r->regs);
}

#endif
