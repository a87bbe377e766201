/*
 * encoded_value.c - check encoded values, annotations and debug information, and write them with
 * new indices. See dex_state.h.
 *
 * Source: the Dalvik executable format, "encoded_value encoding" and "debug_info_item".
 */
#include "android/bytecode/debug_info.h"
#include "android/dex/dex_state.h"

/* Limit of nesting: ART's verifier recurses for each level; real files have two or three. */
#define DEPTH_MAX 64

enum value_type {
    VALUE_BYTE = 0x00,
    VALUE_SHORT = 0x02,
    VALUE_CHAR = 0x03,
    VALUE_INT = 0x04,
    VALUE_LONG = 0x06,
    VALUE_FLOAT = 0x10,
    VALUE_DOUBLE = 0x11,
    VALUE_METHOD_TYPE = 0x15,
    VALUE_METHOD_HANDLE = 0x16,
    VALUE_STRING = 0x17,
    VALUE_TYPE = 0x18,
    VALUE_FIELD = 0x19,
    VALUE_METHOD = 0x1a,
    VALUE_ENUM = 0x1b,
    VALUE_ARRAY = 0x1c,
    VALUE_ANNOTATION = 0x1d,
    VALUE_NULL = 0x1e,
    VALUE_BOOLEAN = 0x1f,
};

struct nsc_dex_pass nsc_dex_pass_of(const struct nsc_dex *dex, struct nsc_span in)
{
    struct nsc_dex_pass p = {
        .in = in,
        .maps = {.string_count = dex->string_count,
                 .type_count = dex->type_count,
                 .proto_count = dex->proto_count,
                 .field_count = dex->field_count,
                 .method_count = dex->method_count},
        .handle_count = dex->handle_count,
    };

    return p;
}

/* Latch the first fault. */
static void fault(struct nsc_dex_pass *p, const char *what)
{
    if (p->bad == NULL)
        p->bad = what;
    p->in.bad = true;
}

static uint32_t mapped(struct nsc_dex_pass *p, uint32_t index, const uint32_t *map, uint32_t count,
                       const char *what)
{
    if (index >= count) {
        fault(p, what);
        return 0;
    }
    return map == NULL ? index : map[index];
}

static uint32_t map_string(struct nsc_dex_pass *p, uint32_t index)
{
    return mapped(p, index, p->maps.strings, p->maps.string_count, "there is no such string");
}

static uint32_t map_type(struct nsc_dex_pass *p, uint32_t index)
{
    return mapped(p, index, p->maps.types, p->maps.type_count, "there is no such type");
}

static void put_leb(struct nsc_dex_pass *p, uint32_t value)
{
    if (p->out != NULL)
        nsc_buffer_leb(p->out, value);
}

static void put_byte(struct nsc_dex_pass *p, uint8_t byte)
{
    if (p->out != NULL)
        nsc_buffer_bytes(p->out, &byte, 1);
}

/* Copy a uleb128 number unchanged, with the same number of bytes. */
static uint32_t keep_leb(struct nsc_dex_pass *p)
{
    const uint8_t *at = p->in.at;
    uint32_t value = nsc_span_leb32(&p->in);

    if (p->out != NULL && !p->in.bad)
        nsc_buffer_bytes(p->out, at, (size_t)(p->in.at - at));
    return value;
}

static uint8_t take_byte(struct nsc_dex_pass *p)
{
    const uint8_t *at = nsc_span_take(&p->in, 1);

    return at == NULL ? 0 : *at;
}

/* ---- Values -----------------------------------------------------------------------------------
 */

static void pass_value(struct nsc_dex_pass *p, unsigned depth);

static uint32_t map_value(struct nsc_dex_pass *p, unsigned type, uint32_t index)
{
    switch (type) {
    case VALUE_STRING:
        return map_string(p, index);
    case VALUE_TYPE:
        return map_type(p, index);
    case VALUE_METHOD_TYPE:
        return mapped(p, index, p->maps.protos, p->maps.proto_count, "there is no such prototype");
    case VALUE_METHOD_HANDLE:
        return mapped(p, index, NULL, p->handle_count, "there is no such method handle");
    case VALUE_METHOD:
        return mapped(p, index, p->maps.methods, p->maps.method_count, "there is no such method");
    default: /* VALUE_FIELD, VALUE_ENUM */
        return mapped(p, index, p->maps.fields, p->maps.field_count, "there is no such field");
    }
}

/* Copy and replace an index of 1 to 4 bytes. A changed index is written as short as possible. */
static void pass_index(struct nsc_dex_pass *p, unsigned type, unsigned bytes)
{
    const uint8_t *at = nsc_span_take(&p->in, bytes);
    uint32_t index = 0, now;

    if (at == NULL)
        return;
    for (unsigned i = 0; i < bytes; i++)
        index |= (uint32_t)at[i] << 8 * i;
    now = map_value(p, type, index);
    if (now != index)
        for (bytes = 1; bytes < 4 && now >> 8 * bytes != 0;)
            bytes++;
    put_byte(p, (uint8_t)((bytes - 1) << 5 | type));
    for (unsigned i = 0; i < bytes; i++)
        put_byte(p, (uint8_t)(now >> 8 * i));
}

/* Copy a number unchanged. */
static void pass_number(struct nsc_dex_pass *p, unsigned header, unsigned bytes, unsigned max)
{
    const uint8_t *at;

    if (bytes > max)
        fault(p, "a value has too many bytes");
    at = nsc_span_take(&p->in, bytes);
    if (at == NULL)
        return;
    put_byte(p, (uint8_t)header);
    if (p->out != NULL)
        nsc_buffer_bytes(p->out, at, bytes);
}

static void pass_values(struct nsc_dex_pass *p, unsigned depth)
{
    uint32_t count = keep_leb(p);

    while (count-- > 0 && !p->in.bad)
        pass_value(p, depth);
}

static void pass_annotation(struct nsc_dex_pass *p, unsigned depth)
{
    uint32_t count;

    put_leb(p, map_type(p, nsc_span_leb32(&p->in)));
    count = keep_leb(p);
    while (count-- > 0 && !p->in.bad) {
        put_leb(p, map_string(p, nsc_span_leb32(&p->in)));
        pass_value(p, depth);
    }
}

static void pass_value(struct nsc_dex_pass *p, unsigned depth)
{
    /* Maximum bytes of a number, by type. */
    static const uint8_t number[] = {
        [VALUE_BYTE] = 1, [VALUE_SHORT] = 2, [VALUE_CHAR] = 2,  [VALUE_INT] = 4,
        [VALUE_LONG] = 8, [VALUE_FLOAT] = 4, [VALUE_DOUBLE] = 8};
    unsigned header = take_byte(p), type = header & 0x1f, argument = header >> 5;

    if (p->in.bad)
        return;
    if (depth >= DEPTH_MAX) {
        fault(p, "values are nested too deeply");
    } else if (type < sizeof number && number[type] != 0) {
        pass_number(p, header, argument + 1, number[type]);
    } else if (type >= VALUE_METHOD_TYPE && type <= VALUE_ENUM) {
        if (argument > 3)
            fault(p, "a value has too many bytes");
        else
            pass_index(p, type, argument + 1);
    } else if (type == VALUE_ARRAY && argument == 0) {
        put_byte(p, (uint8_t)header);
        pass_values(p, depth + 1);
    } else if (type == VALUE_ANNOTATION && argument == 0) {
        put_byte(p, (uint8_t)header);
        pass_annotation(p, depth + 1);
    } else if ((type == VALUE_NULL && argument == 0) || (type == VALUE_BOOLEAN && argument <= 1)) {
        put_byte(p, (uint8_t)header);
    } else {
        fault(p, "a value is of no known type");
    }
}

bool nsc_dex_pass_array(struct nsc_dex_pass *p)
{
    pass_values(p, 0);
    return !p->in.bad;
}

bool nsc_dex_pass_annotation(struct nsc_dex_pass *p)
{
    uint8_t visibility = take_byte(p);

    if (visibility > NSC_DEX_SYSTEM)
        fault(p, "an annotation has no known visibility");
    put_byte(p, visibility);
    pass_annotation(p, 0);
    return !p->in.bad;
}

/* ---- Debug information ------------------------------------------------------------------------
 */

/* Copy and replace an index + 1; 0 means none. */
static void pass_p1(struct nsc_dex_pass *p, uint32_t (*map)(struct nsc_dex_pass *, uint32_t))
{
    uint32_t value = nsc_span_leb32(&p->in);

    put_leb(p, value == 0 || p->in.bad ? 0 : map(p, value - 1) + 1);
}

static void keep_sleb(struct nsc_dex_pass *p)
{
    const uint8_t *at = p->in.at;

    (void)nsc_span_sleb32(&p->in);
    if (p->out != NULL && !p->in.bad)
        nsc_buffer_bytes(p->out, at, (size_t)(p->in.at - at));
}

static void pass_operands(struct nsc_dex_pass *p, const char *operands)
{
    for (; *operands != '\0'; operands++) {
        if (*operands == 's')
            keep_sleb(p);
        else if (*operands == 'u')
            keep_leb(p);
        else
            pass_p1(p, *operands == 'S' ? map_string : map_type);
    }
}

bool nsc_dex_pass_debug(struct nsc_dex_pass *p)
{
    uint32_t parameters;
    uint8_t opcode;

    keep_leb(p);
    parameters = keep_leb(p);
    while (parameters-- > 0 && !p->in.bad)
        pass_p1(p, map_string);
    do {
        opcode = take_byte(p);
        if (p->in.bad)
            return false;
        put_byte(p, opcode);
        if (opcode < NSC_DEX_DBG_FIRST_SPECIAL)
            pass_operands(p, nsc_dex_debug_operands[opcode]);
    } while (opcode != NSC_DEX_DBG_END_SEQUENCE);
    return !p->in.bad;
}

uint32_t nsc_dex_first_line(const struct nsc_dex *dex, const struct nsc_dex_code_item *code)
{
    struct nsc_dex_pass p;
    uint32_t line, parameters;
    uint8_t opcode;

    if (code->debug >= dex->debug_count)
        return 0;
    p = nsc_dex_pass_of(dex,
                        nsc_span_of(dex->debugs[code->debug].data, dex->debugs[code->debug].bytes));
    line = nsc_span_leb32(&p.in);
    for (parameters = nsc_span_leb32(&p.in); parameters > 0 && !p.in.bad; parameters--)
        nsc_span_leb32(&p.in);
    for (;;) {
        opcode = take_byte(&p);
        if (p.in.bad || opcode == NSC_DEX_DBG_END_SEQUENCE)
            return 0;
        if (opcode >= NSC_DEX_DBG_FIRST_SPECIAL) {
            line += (uint32_t)((opcode - NSC_DEX_DBG_FIRST_SPECIAL) % NSC_DEX_DBG_LINE_RANGE +
                               NSC_DEX_DBG_LINE_BASE);
            return line > INT32_MAX ? 0 : line;
        }
        if (opcode == NSC_DEX_DBG_ADVANCE_LINE)
            line += (uint32_t)nsc_span_sleb32(&p.in);
        else
            pass_operands(&p, nsc_dex_debug_operands[opcode]);
    }
}
