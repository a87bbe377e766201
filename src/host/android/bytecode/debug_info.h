/*
 * debug_info.h - rewrite debug information with new indices and addresses but the same lines.
 * Private to dex/ and bytecode/.
 */
#ifndef NSC_ANDROID_BYTECODE_DEBUG_INFO_H
#define NSC_ANDROID_BYTECODE_DEBUG_INFO_H

#include "android/bytecode/index_maps.h"
#include "util/buffer.h"
#include "util/diag.h"

/* Opcodes that are used by name. */
enum nsc_dex_debug_op {
    NSC_DEX_DBG_END_SEQUENCE = 0,
    NSC_DEX_DBG_ADVANCE_PC = 1,
    NSC_DEX_DBG_ADVANCE_LINE = 2,
    NSC_DEX_DBG_FIRST_SPECIAL = 10, /* special opcodes: advance address and line, emit a position */
    NSC_DEX_DBG_LINE_BASE = -4,
    NSC_DEX_DBG_LINE_RANGE = 15,
};

/* Operands of an opcode: u = uleb128, s = sleb128, S = string index + 1, T = type index + 1. */
extern const char *const nsc_dex_debug_operands[NSC_DEX_DBG_FIRST_SPECIAL];

/* Size of the debug_info_item at @debug (@left bytes to the end of the file); 0 if it is truncated.
 */
size_t nsc_dex_debug_bytes(const uint8_t *debug, size_t left);

/* New addresses of the instructions. */
struct nsc_dex_moved {
    /* New unit of old unit @at; monotonic. */
    uint32_t (*to)(const void *context, uint32_t at);
    const void *context;
    uint32_t size; /* old size in units: entries for later addresses are dropped */
};

/**
 * nsc_dex_debug_convert - append a converted debug_info_item.
 * @maps: new indices, or NULL.
 * @moved: new addresses, or NULL.
 *
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int nsc_dex_debug_convert(const uint8_t *debug, size_t bytes, const struct nsc_dex_maps *maps,
                          const struct nsc_dex_moved *moved, struct nsc_buffer *out,
                          struct nsc_diag *diag);

void nsc_dex_put_sleb(struct nsc_buffer *out, int64_t v);

#endif
