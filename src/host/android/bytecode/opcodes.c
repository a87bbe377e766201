/* opcodes.c - see opcodes.h. */
#include "android/bytecode/opcodes.h"

/* Short names of the flags, to keep each instruction on one line. */
#define T   NSC_DEX_THROWS
#define BR  NSC_DEX_BRANCHES
#define SW  NSC_DEX_SWITCHES
#define RET NSC_DEX_RETURNS
#define END NSC_DEX_ENDS
#define INV NSC_DEX_INVOKES
#define RES NSC_DEX_RESULT
#define WA  NSC_DEX_WRITES_A
#define RA  NSC_DEX_READS_A
#define RB  NSC_DEX_READS_B
#define RC  NSC_DEX_READS_C
#define DA  NSC_DEX_WIDE_A
#define DB  NSC_DEX_WIDE_B
#define DC  NSC_DEX_WIDE_C

/* Missing opcodes do not exist. check-cast narrows the type of A, but does not write it. */
const struct nsc_dex_opcode nsc_dex_opcodes[256] = {
    [0x00] = {"nop", NSC_DEX_10X, NSC_DEX_NO_INDEX, 0},
    [0x01] = {"move", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x02] = {"move/from16", NSC_DEX_22X, NSC_DEX_NO_INDEX, WA | RB},
    [0x03] = {"move/16", NSC_DEX_32X, NSC_DEX_NO_INDEX, WA | RB},
    [0x04] = {"move-wide", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x05] = {"move-wide/from16", NSC_DEX_22X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x06] = {"move-wide/16", NSC_DEX_32X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x07] = {"move-object", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x08] = {"move-object/from16", NSC_DEX_22X, NSC_DEX_NO_INDEX, WA | RB},
    [0x09] = {"move-object/16", NSC_DEX_32X, NSC_DEX_NO_INDEX, WA | RB},
    [0x0a] = {"move-result", NSC_DEX_11X, NSC_DEX_NO_INDEX, WA | RES},
    [0x0b] = {"move-result-wide", NSC_DEX_11X, NSC_DEX_NO_INDEX, WA | DA | RES},
    [0x0c] = {"move-result-object", NSC_DEX_11X, NSC_DEX_NO_INDEX, WA | RES},
    [0x0d] = {"move-exception", NSC_DEX_11X, NSC_DEX_NO_INDEX, WA},
    [0x0e] = {"return-void", NSC_DEX_10X, NSC_DEX_NO_INDEX, RET | END},
    [0x0f] = {"return", NSC_DEX_11X, NSC_DEX_NO_INDEX, RA | RET | END},
    [0x10] = {"return-wide", NSC_DEX_11X, NSC_DEX_NO_INDEX, RA | DA | RET | END},
    [0x11] = {"return-object", NSC_DEX_11X, NSC_DEX_NO_INDEX, RA | RET | END},
    [0x12] = {"const/4", NSC_DEX_11N, NSC_DEX_NO_INDEX, WA},
    [0x13] = {"const/16", NSC_DEX_21S, NSC_DEX_NO_INDEX, WA},
    [0x14] = {"const", NSC_DEX_31I, NSC_DEX_NO_INDEX, WA},
    [0x15] = {"const/high16", NSC_DEX_21H, NSC_DEX_NO_INDEX, WA},
    [0x16] = {"const-wide/16", NSC_DEX_21S, NSC_DEX_NO_INDEX, WA | DA},
    [0x17] = {"const-wide/32", NSC_DEX_31I, NSC_DEX_NO_INDEX, WA | DA},
    [0x18] = {"const-wide", NSC_DEX_51L, NSC_DEX_NO_INDEX, WA | DA},
    [0x19] = {"const-wide/high16", NSC_DEX_21H, NSC_DEX_NO_INDEX, WA | DA},
    [0x1a] = {"const-string", NSC_DEX_21C, NSC_DEX_STRING, WA | T},
    [0x1b] = {"const-string/jumbo", NSC_DEX_31C, NSC_DEX_STRING, WA | T},
    [0x1c] = {"const-class", NSC_DEX_21C, NSC_DEX_TYPE, WA | T},
    [0x1d] = {"monitor-enter", NSC_DEX_11X, NSC_DEX_NO_INDEX, RA | T},
    [0x1e] = {"monitor-exit", NSC_DEX_11X, NSC_DEX_NO_INDEX, RA | T},
    [0x1f] = {"check-cast", NSC_DEX_21C, NSC_DEX_TYPE, RA | T},
    [0x20] = {"instance-of", NSC_DEX_22C, NSC_DEX_TYPE, WA | RB | T},
    [0x21] = {"array-length", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | T},
    [0x22] = {"new-instance", NSC_DEX_21C, NSC_DEX_TYPE, WA | T},
    [0x23] = {"new-array", NSC_DEX_22C, NSC_DEX_TYPE, WA | RB | T},
    [0x24] = {"filled-new-array", NSC_DEX_35C, NSC_DEX_TYPE, T},
    [0x25] = {"filled-new-array/range", NSC_DEX_3RC, NSC_DEX_TYPE, T},
    [0x26] = {"fill-array-data", NSC_DEX_31T, NSC_DEX_NO_INDEX, RA | T},
    [0x27] = {"throw", NSC_DEX_11X, NSC_DEX_NO_INDEX, RA | T | END},
    [0x28] = {"goto", NSC_DEX_10T, NSC_DEX_NO_INDEX, BR | END},
    [0x29] = {"goto/16", NSC_DEX_20T, NSC_DEX_NO_INDEX, BR | END},
    [0x2a] = {"goto/32", NSC_DEX_30T, NSC_DEX_NO_INDEX, BR | END},
    [0x2b] = {"packed-switch", NSC_DEX_31T, NSC_DEX_NO_INDEX, RA | SW},
    [0x2c] = {"sparse-switch", NSC_DEX_31T, NSC_DEX_NO_INDEX, RA | SW},
    [0x2d] = {"cmpl-float", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x2e] = {"cmpg-float", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x2f] = {"cmpl-double", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DB | DC},
    [0x30] = {"cmpg-double", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DB | DC},
    [0x31] = {"cmp-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DB | DC},
    [0x32] = {"if-eq", NSC_DEX_22T, NSC_DEX_NO_INDEX, RA | RB | BR},
    [0x33] = {"if-ne", NSC_DEX_22T, NSC_DEX_NO_INDEX, RA | RB | BR},
    [0x34] = {"if-lt", NSC_DEX_22T, NSC_DEX_NO_INDEX, RA | RB | BR},
    [0x35] = {"if-ge", NSC_DEX_22T, NSC_DEX_NO_INDEX, RA | RB | BR},
    [0x36] = {"if-gt", NSC_DEX_22T, NSC_DEX_NO_INDEX, RA | RB | BR},
    [0x37] = {"if-le", NSC_DEX_22T, NSC_DEX_NO_INDEX, RA | RB | BR},
    [0x38] = {"if-eqz", NSC_DEX_21T, NSC_DEX_NO_INDEX, RA | BR},
    [0x39] = {"if-nez", NSC_DEX_21T, NSC_DEX_NO_INDEX, RA | BR},
    [0x3a] = {"if-ltz", NSC_DEX_21T, NSC_DEX_NO_INDEX, RA | BR},
    [0x3b] = {"if-gez", NSC_DEX_21T, NSC_DEX_NO_INDEX, RA | BR},
    [0x3c] = {"if-gtz", NSC_DEX_21T, NSC_DEX_NO_INDEX, RA | BR},
    [0x3d] = {"if-lez", NSC_DEX_21T, NSC_DEX_NO_INDEX, RA | BR},
    [0x44] = {"aget", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x45] = {"aget-wide", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T | DA},
    [0x46] = {"aget-object", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x47] = {"aget-boolean", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x48] = {"aget-byte", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x49] = {"aget-char", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x4a] = {"aget-short", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x4b] = {"aput", NSC_DEX_23X, NSC_DEX_NO_INDEX, RA | RB | RC | T},
    [0x4c] = {"aput-wide", NSC_DEX_23X, NSC_DEX_NO_INDEX, RA | RB | RC | T | DA},
    [0x4d] = {"aput-object", NSC_DEX_23X, NSC_DEX_NO_INDEX, RA | RB | RC | T},
    [0x4e] = {"aput-boolean", NSC_DEX_23X, NSC_DEX_NO_INDEX, RA | RB | RC | T},
    [0x4f] = {"aput-byte", NSC_DEX_23X, NSC_DEX_NO_INDEX, RA | RB | RC | T},
    [0x50] = {"aput-char", NSC_DEX_23X, NSC_DEX_NO_INDEX, RA | RB | RC | T},
    [0x51] = {"aput-short", NSC_DEX_23X, NSC_DEX_NO_INDEX, RA | RB | RC | T},
    [0x52] = {"iget", NSC_DEX_22C, NSC_DEX_FIELD, WA | RB | T},
    [0x53] = {"iget-wide", NSC_DEX_22C, NSC_DEX_FIELD, WA | RB | T | DA},
    [0x54] = {"iget-object", NSC_DEX_22C, NSC_DEX_FIELD, WA | RB | T},
    [0x55] = {"iget-boolean", NSC_DEX_22C, NSC_DEX_FIELD, WA | RB | T},
    [0x56] = {"iget-byte", NSC_DEX_22C, NSC_DEX_FIELD, WA | RB | T},
    [0x57] = {"iget-char", NSC_DEX_22C, NSC_DEX_FIELD, WA | RB | T},
    [0x58] = {"iget-short", NSC_DEX_22C, NSC_DEX_FIELD, WA | RB | T},
    [0x59] = {"iput", NSC_DEX_22C, NSC_DEX_FIELD, RA | RB | T},
    [0x5a] = {"iput-wide", NSC_DEX_22C, NSC_DEX_FIELD, RA | RB | T | DA},
    [0x5b] = {"iput-object", NSC_DEX_22C, NSC_DEX_FIELD, RA | RB | T},
    [0x5c] = {"iput-boolean", NSC_DEX_22C, NSC_DEX_FIELD, RA | RB | T},
    [0x5d] = {"iput-byte", NSC_DEX_22C, NSC_DEX_FIELD, RA | RB | T},
    [0x5e] = {"iput-char", NSC_DEX_22C, NSC_DEX_FIELD, RA | RB | T},
    [0x5f] = {"iput-short", NSC_DEX_22C, NSC_DEX_FIELD, RA | RB | T},
    [0x60] = {"sget", NSC_DEX_21C, NSC_DEX_FIELD, WA | T},
    [0x61] = {"sget-wide", NSC_DEX_21C, NSC_DEX_FIELD, WA | T | DA},
    [0x62] = {"sget-object", NSC_DEX_21C, NSC_DEX_FIELD, WA | T},
    [0x63] = {"sget-boolean", NSC_DEX_21C, NSC_DEX_FIELD, WA | T},
    [0x64] = {"sget-byte", NSC_DEX_21C, NSC_DEX_FIELD, WA | T},
    [0x65] = {"sget-char", NSC_DEX_21C, NSC_DEX_FIELD, WA | T},
    [0x66] = {"sget-short", NSC_DEX_21C, NSC_DEX_FIELD, WA | T},
    [0x67] = {"sput", NSC_DEX_21C, NSC_DEX_FIELD, RA | T},
    [0x68] = {"sput-wide", NSC_DEX_21C, NSC_DEX_FIELD, RA | T | DA},
    [0x69] = {"sput-object", NSC_DEX_21C, NSC_DEX_FIELD, RA | T},
    [0x6a] = {"sput-boolean", NSC_DEX_21C, NSC_DEX_FIELD, RA | T},
    [0x6b] = {"sput-byte", NSC_DEX_21C, NSC_DEX_FIELD, RA | T},
    [0x6c] = {"sput-char", NSC_DEX_21C, NSC_DEX_FIELD, RA | T},
    [0x6d] = {"sput-short", NSC_DEX_21C, NSC_DEX_FIELD, RA | T},
    [0x6e] = {"invoke-virtual", NSC_DEX_35C, NSC_DEX_METHOD, INV | T},
    [0x6f] = {"invoke-super", NSC_DEX_35C, NSC_DEX_METHOD, INV | T},
    [0x70] = {"invoke-direct", NSC_DEX_35C, NSC_DEX_METHOD, INV | T},
    [0x71] = {"invoke-static", NSC_DEX_35C, NSC_DEX_METHOD, INV | T},
    [0x72] = {"invoke-interface", NSC_DEX_35C, NSC_DEX_METHOD, INV | T},
    [0x74] = {"invoke-virtual/range", NSC_DEX_3RC, NSC_DEX_METHOD, INV | T},
    [0x75] = {"invoke-super/range", NSC_DEX_3RC, NSC_DEX_METHOD, INV | T},
    [0x76] = {"invoke-direct/range", NSC_DEX_3RC, NSC_DEX_METHOD, INV | T},
    [0x77] = {"invoke-static/range", NSC_DEX_3RC, NSC_DEX_METHOD, INV | T},
    [0x78] = {"invoke-interface/range", NSC_DEX_3RC, NSC_DEX_METHOD, INV | T},
    [0x7b] = {"neg-int", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x7c] = {"not-int", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x7d] = {"neg-long", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x7e] = {"not-long", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x7f] = {"neg-float", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x80] = {"neg-double", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x81] = {"int-to-long", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA},
    [0x82] = {"int-to-float", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x83] = {"int-to-double", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA},
    [0x84] = {"long-to-int", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DB},
    [0x85] = {"long-to-float", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DB},
    [0x86] = {"long-to-double", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x87] = {"float-to-int", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x88] = {"float-to-long", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA},
    [0x89] = {"float-to-double", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA},
    [0x8a] = {"double-to-int", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DB},
    [0x8b] = {"double-to-long", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DA | DB},
    [0x8c] = {"double-to-float", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB | DB},
    [0x8d] = {"int-to-byte", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x8e] = {"int-to-char", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x8f] = {"int-to-short", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RB},
    [0x90] = {"add-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x91] = {"sub-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x92] = {"mul-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x93] = {"div-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x94] = {"rem-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T},
    [0x95] = {"and-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x96] = {"or-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x97] = {"xor-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x98] = {"shl-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x99] = {"shr-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x9a] = {"ushr-int", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0x9b] = {"add-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0x9c] = {"sub-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0x9d] = {"mul-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0x9e] = {"div-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T | DA | DB | DC},
    [0x9f] = {"rem-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | T | DA | DB | DC},
    [0xa0] = {"and-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xa1] = {"or-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xa2] = {"xor-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xa3] = {"shl-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB},
    [0xa4] = {"shr-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB},
    [0xa5] = {"ushr-long", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB},
    [0xa6] = {"add-float", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0xa7] = {"sub-float", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0xa8] = {"mul-float", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0xa9] = {"div-float", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0xaa] = {"rem-float", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC},
    [0xab] = {"add-double", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xac] = {"sub-double", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xad] = {"mul-double", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xae] = {"div-double", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xaf] = {"rem-double", NSC_DEX_23X, NSC_DEX_NO_INDEX, WA | RB | RC | DA | DB | DC},
    [0xb0] = {"add-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xb1] = {"sub-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xb2] = {"mul-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xb3] = {"div-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | T},
    [0xb4] = {"rem-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | T},
    [0xb5] = {"and-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xb6] = {"or-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xb7] = {"xor-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xb8] = {"shl-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xb9] = {"shr-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xba] = {"ushr-int/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xbb] = {"add-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xbc] = {"sub-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xbd] = {"mul-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xbe] = {"div-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | T | DA | DB},
    [0xbf] = {"rem-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | T | DA | DB},
    [0xc0] = {"and-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xc1] = {"or-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xc2] = {"xor-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xc3] = {"shl-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA},
    [0xc4] = {"shr-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA},
    [0xc5] = {"ushr-long/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA},
    [0xc6] = {"add-float/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xc7] = {"sub-float/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xc8] = {"mul-float/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xc9] = {"div-float/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xca] = {"rem-float/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB},
    [0xcb] = {"add-double/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xcc] = {"sub-double/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xcd] = {"mul-double/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xce] = {"div-double/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xcf] = {"rem-double/2addr", NSC_DEX_12X, NSC_DEX_NO_INDEX, WA | RA | RB | DA | DB},
    [0xd0] = {"add-int/lit16", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB},
    [0xd1] = {"rsub-int", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB},
    [0xd2] = {"mul-int/lit16", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB},
    [0xd3] = {"div-int/lit16", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB | T},
    [0xd4] = {"rem-int/lit16", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB | T},
    [0xd5] = {"and-int/lit16", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB},
    [0xd6] = {"or-int/lit16", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB},
    [0xd7] = {"xor-int/lit16", NSC_DEX_22S, NSC_DEX_NO_INDEX, WA | RB},
    [0xd8] = {"add-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xd9] = {"rsub-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xda] = {"mul-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xdb] = {"div-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB | T},
    [0xdc] = {"rem-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB | T},
    [0xdd] = {"and-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xde] = {"or-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xdf] = {"xor-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xe0] = {"shl-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xe1] = {"shr-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xe2] = {"ushr-int/lit8", NSC_DEX_22B, NSC_DEX_NO_INDEX, WA | RB},
    [0xfa] = {"invoke-polymorphic", NSC_DEX_45CC, NSC_DEX_METHOD, INV | T},
    [0xfb] = {"invoke-polymorphic/range", NSC_DEX_4RCC, NSC_DEX_METHOD, INV | T},
    [0xfc] = {"invoke-custom", NSC_DEX_35C, NSC_DEX_CALL_SITE, INV | T},
    [0xfd] = {"invoke-custom/range", NSC_DEX_3RC, NSC_DEX_CALL_SITE, INV | T},
    [0xfe] = {"const-method-handle", NSC_DEX_21C, NSC_DEX_HANDLE, WA | T},
    [0xff] = {"const-method-type", NSC_DEX_21C, NSC_DEX_PROTO, WA | T},
};

uint32_t nsc_dex_format_units(uint8_t format)
{
    static const uint8_t units[] = {
        [NSC_DEX_UNUSED] = 0, [NSC_DEX_10X] = 1,  [NSC_DEX_12X] = 1, [NSC_DEX_11N] = 1,
        [NSC_DEX_11X] = 1,    [NSC_DEX_10T] = 1,  [NSC_DEX_20T] = 2, [NSC_DEX_22X] = 2,
        [NSC_DEX_21T] = 2,    [NSC_DEX_21S] = 2,  [NSC_DEX_21H] = 2, [NSC_DEX_21C] = 2,
        [NSC_DEX_23X] = 2,    [NSC_DEX_22B] = 2,  [NSC_DEX_22T] = 2, [NSC_DEX_22S] = 2,
        [NSC_DEX_22C] = 2,    [NSC_DEX_30T] = 3,  [NSC_DEX_32X] = 3, [NSC_DEX_31I] = 3,
        [NSC_DEX_31T] = 3,    [NSC_DEX_31C] = 3,  [NSC_DEX_35C] = 3, [NSC_DEX_3RC] = 3,
        [NSC_DEX_45CC] = 4,   [NSC_DEX_4RCC] = 4, [NSC_DEX_51L] = 5,
    };

    return format < sizeof units ? units[format] : 0;
}

static uint64_t payload_units(const uint16_t *insns, uint32_t left)
{
    uint64_t bytes;

    switch (insns[0]) {
    case NSC_DEX_PACKED_PAYLOAD:
        return left < 2 ? 0 : 4 + (uint64_t)insns[1] * 2;
    case NSC_DEX_SPARSE_PAYLOAD:
        return left < 2 ? 0 : 2 + (uint64_t)insns[1] * 4;
    default:
        if (left < 4)
            return 0;
        bytes = (insns[2] | (uint64_t)insns[3] << 16) * insns[1];
        return 4 + (bytes + 1) / 2;
    }
}

uint32_t nsc_dex_insn_units(const uint16_t *insns, uint32_t left)
{
    uint64_t units;

    if (left == 0)
        return 0;
    if (nsc_dex_is_payload(insns[0]))
        units = payload_units(insns, left);
    else
        units = nsc_dex_format_units(nsc_dex_opcode(insns[0])->format);
    return units > left ? 0 : (uint32_t)units;
}

uint32_t nsc_dex_insn_args(const uint16_t *insn, uint8_t format)
{
    uint32_t count;

    if (format == NSC_DEX_3RC || format == NSC_DEX_4RCC)
        return insn[0] >> 8;
    count = insn[0] >> 12;
    return count > 5 ? 5 : count;
}

uint32_t nsc_dex_insn_arg(const uint16_t *insn, uint8_t format, uint32_t i)
{
    if (format == NSC_DEX_3RC || format == NSC_DEX_4RCC)
        return insn[2] + i;
    return i == 4 ? insn[0] >> 8 & 15u : insn[2] >> (4 * i) & 15u;
}

int32_t nsc_dex_insn_offset(const uint16_t *insn, uint8_t format)
{
    switch (format) {
    case NSC_DEX_10T:
        return (int8_t)(insn[0] >> 8);
    case NSC_DEX_20T:
    case NSC_DEX_21T:
    case NSC_DEX_22T:
        return (int16_t)insn[1];
    case NSC_DEX_30T:
    case NSC_DEX_31T:
        return (int32_t)(insn[1] | (uint32_t)insn[2] << 16);
    default:
        return 0;
    }
}
