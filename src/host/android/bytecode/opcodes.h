/*
 * opcodes.h - format and properties of each Dalvik instruction, for DEX 035 to 041.
 *
 * Used by all files that parse code. Read-only data: nothing here changes code.
 * Source: "Dalvik bytecode" and "Dalvik executable instruction formats" of the Android
 * documentation.
 */
#ifndef NSC_ANDROID_BYTECODE_OPCODES_H
#define NSC_ANDROID_BYTECODE_OPCODES_H

#include <stdbool.h>
#include <stdint.h>

/* Formats by their documented names: units, registers, kind. */
enum nsc_dex_format {
    NSC_DEX_UNUSED = 0,
    NSC_DEX_10X,
    NSC_DEX_12X,
    NSC_DEX_11N,
    NSC_DEX_11X,
    NSC_DEX_10T,
    NSC_DEX_20T,
    NSC_DEX_22X,
    NSC_DEX_21T,
    NSC_DEX_21S,
    NSC_DEX_21H,
    NSC_DEX_21C,
    NSC_DEX_23X,
    NSC_DEX_22B,
    NSC_DEX_22T,
    NSC_DEX_22S,
    NSC_DEX_22C,
    NSC_DEX_30T,
    NSC_DEX_32X,
    NSC_DEX_31I,
    NSC_DEX_31T,
    NSC_DEX_31C,
    NSC_DEX_35C,
    NSC_DEX_3RC,
    NSC_DEX_45CC,
    NSC_DEX_4RCC,
    NSC_DEX_51L,
};

/* Table that an index in an instruction, a handler or debug information refers to. */
enum nsc_dex_index {
    NSC_DEX_STRING,
    NSC_DEX_TYPE,
    NSC_DEX_FIELD,
    NSC_DEX_METHOD,
    NSC_DEX_PROTO,
    NSC_DEX_CALL_SITE,
    NSC_DEX_HANDLE,
    NSC_DEX_INDEX_KINDS,
    NSC_DEX_NO_INDEX = NSC_DEX_INDEX_KINDS,
};

/* Flags of an opcode. A wide register is written or read together with the next one. */
#define NSC_DEX_THROWS   0x0001u /* may throw */
#define NSC_DEX_BRANCHES 0x0002u /* contains a branch target */
#define NSC_DEX_SWITCHES 0x0004u /* its targets are in a payload */
#define NSC_DEX_RETURNS  0x0008u
#define NSC_DEX_ENDS     0x0010u /* never continues with the next instruction */
#define NSC_DEX_INVOKES  0x0020u
#define NSC_DEX_RESULT   0x0040u /* move-result*: only after an invoke or filled-new-array */
#define NSC_DEX_WRITES_A 0x0080u
#define NSC_DEX_READS_A  0x0100u
#define NSC_DEX_READS_B  0x0200u
#define NSC_DEX_READS_C  0x0400u
#define NSC_DEX_WIDE_A   0x0800u
#define NSC_DEX_WIDE_B   0x1000u
#define NSC_DEX_WIDE_C   0x2000u

struct nsc_dex_opcode {
    const char *name;
    uint8_t format; /* NSC_DEX_UNUSED: no such instruction */
    uint8_t index;  /* enum nsc_dex_index; 45cc and 4rcc have a prototype in addition */
    uint16_t flags;
};

/* Opcodes that are used by name. */
enum {
    NSC_OP_NOP = 0x00,
    NSC_OP_MOVE = 0x01,
    NSC_OP_MOVE_WIDE = 0x04,
    NSC_OP_MOVE_OBJECT = 0x07,
    NSC_OP_MOVE_EXCEPTION = 0x0d,
    NSC_OP_RETURN_VOID = 0x0e,
    NSC_OP_RETURN = 0x0f,
    NSC_OP_RETURN_WIDE = 0x10,
    NSC_OP_RETURN_OBJECT = 0x11,
    NSC_OP_CONST_4 = 0x12,
    NSC_OP_CONST_16 = 0x13,
    NSC_OP_CONST = 0x14,
    NSC_OP_CONST_HIGH16 = 0x15,
    NSC_OP_CONST_STRING = 0x1a,
    NSC_OP_CONST_STRING_JUMBO = 0x1b,
    NSC_OP_MONITOR_ENTER = 0x1d,
    NSC_OP_MONITOR_EXIT = 0x1e,
    NSC_OP_FILL_ARRAY_DATA = 0x26,
    NSC_OP_THROW = 0x27,
    NSC_OP_GOTO = 0x28,
    NSC_OP_GOTO_16 = 0x29,
    NSC_OP_GOTO_32 = 0x2a,
    NSC_OP_PACKED_SWITCH = 0x2b,
    NSC_OP_SPARSE_SWITCH = 0x2c,
    NSC_OP_IF_EQ = 0x32,
    NSC_OP_IF_LEZ = 0x3d,
    NSC_OP_INVOKE_VIRTUAL = 0x6e,
    NSC_OP_INVOKE_STATIC = 0x71,
    NSC_OP_INVOKE_VIRTUAL_RANGE = 0x74,
    NSC_OP_INVOKE_STATIC_RANGE = 0x77,
};

/* First unit of a payload: a nop with a non-zero upper byte. */
#define NSC_DEX_PACKED_PAYLOAD 0x0100u
#define NSC_DEX_SPARSE_PAYLOAD 0x0200u
#define NSC_DEX_ARRAY_PAYLOAD  0x0300u

extern const struct nsc_dex_opcode nsc_dex_opcodes[256];

static inline const struct nsc_dex_opcode *nsc_dex_opcode(uint16_t unit)
{
    return &nsc_dex_opcodes[unit & 0xff];
}

static inline bool nsc_dex_is_payload(uint16_t unit)
{
    return unit == NSC_DEX_PACKED_PAYLOAD || unit == NSC_DEX_SPARSE_PAYLOAD ||
           unit == NSC_DEX_ARRAY_PAYLOAD;
}

/* Code units of an instruction of that format; 0 for NSC_DEX_UNUSED. */
uint32_t nsc_dex_format_units(uint8_t format);

/**
 * nsc_dex_insn_units - size of the instruction or payload at @insns, in code units.
 * @left: units from there to the end of the code.
 *
 * Returns 0 if the opcode is unknown or the instruction exceeds @left.
 */
uint32_t nsc_dex_insn_units(const uint16_t *insns, uint32_t left);

/* Registers A and B of an instruction, decoded by format. Only for formats that have them. */
static inline uint32_t nsc_dex_insn_a(const uint16_t *insn, uint8_t format)
{
    switch (format) {
    case NSC_DEX_12X:
    case NSC_DEX_11N:
    case NSC_DEX_22T:
    case NSC_DEX_22S:
    case NSC_DEX_22C:
        return insn[0] >> 8 & 15;
    case NSC_DEX_32X:
        return insn[1];
    default:
        return insn[0] >> 8;
    }
}

static inline uint32_t nsc_dex_insn_b(const uint16_t *insn, uint8_t format)
{
    switch (format) {
    case NSC_DEX_12X:
    case NSC_DEX_22T:
    case NSC_DEX_22S:
    case NSC_DEX_22C:
        return insn[0] >> 12;
    case NSC_DEX_22X:
        return insn[1];
    case NSC_DEX_32X:
        return insn[2];
    default:
        return insn[1] & 0xff;
    }
}

/* Register C; only format 23x has it. */
static inline uint32_t nsc_dex_insn_c(const uint16_t *insn)
{
    return insn[1] >> 8;
}

/* Number of argument registers of an instruction of the formats 35c, 3rc, 45cc, 4rcc. */
uint32_t nsc_dex_insn_args(const uint16_t *insn, uint8_t format);
/* The @i-th argument register. */
uint32_t nsc_dex_insn_arg(const uint16_t *insn, uint8_t format, uint32_t i);

static inline bool nsc_dex_has_args(uint8_t format)
{
    return format >= NSC_DEX_35C && format <= NSC_DEX_4RCC;
}

/* Relative offset of a branch, a switch or fill-array-data, in units; 0 for other instructions. */
int32_t nsc_dex_insn_offset(const uint16_t *insn, uint8_t format);

#endif
