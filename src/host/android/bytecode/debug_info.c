/*
 * debug_info.c - convert a debug_info_item, a program for a state machine with an address and a
 * line register: decode each opcode and encode it again. See debug_info.h.
 */
#include "android/bytecode/debug_info.h"

#include <string.h>

#include "base/span.h"

const char *const nsc_dex_debug_operands[NSC_DEX_DBG_FIRST_SPECIAL] = {
    "", "u", "s", "uST", "uSTS", "u", "u", "", "", "S",
};

struct convert {
    struct nsc_span in;
    struct nsc_buffer *out;
    const struct nsc_dex_maps *maps;
    const struct nsc_dex_moved *moved;
    uint64_t addr;     /* registers of the input */
    uint32_t line;     /* may wrap: input and output count alike */
    uint32_t out_addr; /* registers of the output */
    uint32_t out_line;
    int error;
};

void nsc_dex_put_sleb(struct nsc_buffer *out, int64_t v)
{
    uint8_t bytes[NSC_LEB_MAX + 1];
    size_t used = 0;
    bool more = true;

    while (more) {
        uint8_t byte = (uint8_t)(v & 0x7f);

        v = (v - byte) / 128; /* arithmetic shift: rounds down */
        more = !((v == 0 && (byte & 0x40) == 0) || (v == -1 && (byte & 0x40) != 0));
        bytes[used++] = (uint8_t)(byte | (more ? 0x80 : 0));
    }
    nsc_buffer_bytes(out, bytes, used);
}

size_t nsc_dex_debug_bytes(const uint8_t *debug, size_t left)
{
    struct nsc_span span = nsc_span_of(debug, left);
    uint32_t parameters;

    nsc_span_leb32(&span);
    parameters = nsc_span_leb32(&span);
    for (uint32_t i = 0; i < parameters && !span.bad; i++)
        nsc_span_leb32(&span);
    for (;;) {
        const uint8_t *op = nsc_span_take(&span, 1);

        if (op == NULL)
            return 0;
        if (*op == NSC_DEX_DBG_END_SEQUENCE)
            return (size_t)(span.at - debug);
        if (*op >= NSC_DEX_DBG_FIRST_SPECIAL)
            continue;
        for (const char *o = nsc_dex_debug_operands[*op]; *o != '\0'; o++)
            if (*o == 's')
                nsc_span_sleb32(&span);
            else
                nsc_span_leb32(&span);
    }
}

static void put_op(struct convert *c, int op)
{
    uint8_t byte = (uint8_t)op;

    nsc_buffer_bytes(c->out, &byte, 1);
}

/* Copy and replace an index + 1, where 0 means none. */
static void copy_index(struct convert *c, char kind)
{
    uint32_t index = nsc_span_leb32(&c->in);
    int error = 0;

    if (index != 0 && c->maps != NULL) {
        index--;
        error = kind == 'S' ? nsc_dex_map(c->maps->strings, c->maps->string_count, &index)
                            : nsc_dex_map(c->maps->types, c->maps->type_count, &index);
        index++;
    }
    if (error != 0)
        c->error = error;
    nsc_buffer_leb(c->out, index);
}

/* Copy an opcode and its operands. */
static void copy_operands(struct convert *c, int op)
{
    put_op(c, op);
    for (const char *o = nsc_dex_debug_operands[op]; *o != '\0'; o++) {
        if (*o == 's')
            nsc_dex_put_sleb(c->out, nsc_span_sleb32(&c->in));
        else if (*o == 'u')
            nsc_buffer_leb(c->out, nsc_span_leb32(&c->in));
        else
            copy_index(c, *o);
    }
}

static void put_advance(struct convert *c, uint32_t to)
{
    if (to == c->out_addr)
        return;
    put_op(c, NSC_DEX_DBG_ADVANCE_PC);
    nsc_buffer_leb(c->out, to - c->out_addr);
    c->out_addr = to;
}

/* Emit a position with the current line and address. */
static void put_position(struct convert *c)
{
    uint32_t to = c->moved->to(c->moved->context, (uint32_t)c->addr);
    int32_t lines = (int32_t)(c->line - c->out_line);
    uint32_t most;

    if (lines < NSC_DEX_DBG_LINE_BASE || lines >= NSC_DEX_DBG_LINE_BASE + NSC_DEX_DBG_LINE_RANGE) {
        put_op(c, NSC_DEX_DBG_ADVANCE_LINE);
        nsc_dex_put_sleb(c->out, lines);
        lines = 0;
    }
    lines -= NSC_DEX_DBG_LINE_BASE;
    most = (uint32_t)(255 - NSC_DEX_DBG_FIRST_SPECIAL - lines) / NSC_DEX_DBG_LINE_RANGE;
    if (to - c->out_addr > most)
        put_advance(c, to);
    put_op(c, NSC_DEX_DBG_FIRST_SPECIAL + lines + (int)(to - c->out_addr) * NSC_DEX_DBG_LINE_RANGE);
    c->out_addr = to;
    c->out_line = c->line;
}

/* Convert one opcode with changed addresses. Returns false past the end of the code. */
static bool move_op(struct convert *c, uint8_t op)
{
    if (op == NSC_DEX_DBG_ADVANCE_PC) {
        c->addr += nsc_span_leb32(&c->in);
    } else if (op == NSC_DEX_DBG_ADVANCE_LINE) {
        c->line += (uint32_t)nsc_span_sleb32(&c->in);
    } else if (op >= NSC_DEX_DBG_FIRST_SPECIAL) {
        c->line += (uint32_t)(NSC_DEX_DBG_LINE_BASE +
                              (op - NSC_DEX_DBG_FIRST_SPECIAL) % NSC_DEX_DBG_LINE_RANGE);
        c->addr += (uint32_t)(op - NSC_DEX_DBG_FIRST_SPECIAL) / NSC_DEX_DBG_LINE_RANGE;
        if (c->addr < c->moved->size)
            put_position(c);
    } else if (c->addr < c->moved->size) {
        put_advance(c, c->moved->to(c->moved->context, (uint32_t)c->addr));
        copy_operands(c, op);
    }
    return c->addr < c->moved->size;
}

/* Limit of opcodes, above what compilers emit for code of this size; the rest is dropped. It bounds
 * the output when many code items share one debug_info_item. */
static uint64_t most_ops(const struct nsc_dex_moved *moved)
{
    return moved == NULL ? UINT64_MAX : 256 + 16 * (uint64_t)moved->size;
}

static void convert_ops(struct convert *c)
{
    uint64_t left = most_ops(c->moved);
    bool more = true;

    while (more && left-- > 0 && c->error == 0 && !c->out->failed) {
        const uint8_t *op = nsc_span_take(&c->in, 1);

        if (op == NULL)
            return;
        if (*op == NSC_DEX_DBG_END_SEQUENCE)
            break;
        if (c->moved != NULL)
            more = move_op(c, *op);
        else if (*op >= NSC_DEX_DBG_FIRST_SPECIAL)
            put_op(c, *op);
        else
            copy_operands(c, *op);
    }
    put_op(c, NSC_DEX_DBG_END_SEQUENCE);
}

int nsc_dex_debug_convert(const uint8_t *debug, size_t bytes, const struct nsc_dex_maps *maps,
                          const struct nsc_dex_moved *moved, struct nsc_buffer *out,
                          struct nsc_diag *diag)
{
    struct convert c = {.in = nsc_span_of(debug, bytes), .out = out, .maps = maps, .moved = moved};
    uint32_t parameters;

    c.line = c.out_line = nsc_span_leb32(&c.in);
    parameters = nsc_span_leb32(&c.in);
    nsc_buffer_leb(out, c.line);
    nsc_buffer_leb(out, parameters);
    for (uint32_t i = 0; i < parameters && !c.in.bad && c.error == 0; i++)
        copy_index(&c, 'S');
    if (!c.in.bad && c.error == 0)
        convert_ops(&c);
    if (out->failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "debug information: no memory");
    if (c.in.bad || c.error != 0)
        return nsc_diag_set(diag, (uint64_t)(c.in.at - debug), EBADMSG, "debug information: %s",
                            c.in.bad ? "cut off" : "an index beyond its table");
    return 0;
}
