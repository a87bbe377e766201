/*
 * debug_info.h - debug information written anew: other indices, other addresses, the same lines. Of
 * dex/ alone.
 */
#ifndef NSC_ANDROID_BYTECODE_DEBUG_INFO_H
#define NSC_ANDROID_BYTECODE_DEBUG_INFO_H

#include "android/bytecode/index_maps.h"
#include "util/buffer.h"
#include "util/diag.h"

/* The opcodes that matter to somebody. */
enum nsc_dex_debug_op {
    NSC_DEX_DBG_END_SEQUENCE = 0,
    NSC_DEX_DBG_ADVANCE_PC = 1,
    NSC_DEX_DBG_ADVANCE_LINE = 2,
    NSC_DEX_DBG_FIRST_SPECIAL = 10, /* from here on: a step of address and line, and a position */
    NSC_DEX_DBG_LINE_BASE = -4,
    NSC_DEX_DBG_LINE_RANGE = 15,
};

/* The operands of an opcode: u = uleb, s = sleb, S = string plus 1, T = type plus 1. */
extern const char *const nsc_dex_debug_operands[NSC_DEX_DBG_FIRST_SPECIAL];

/* Bytes of the debug_info_item at @debug (@left to the end of the file); 0 when it is cut off. */
size_t nsc_dex_debug_bytes(const uint8_t *debug, size_t left);

/* Where instructions went. */
struct nsc_dex_moved {
    /* New unit of old unit @at, never less than that of a smaller one. */
    uint32_t (*to)(const void *context, uint32_t at);
    const void *context;
    uint32_t size; /* old units: what the information says of later ones is left out */
};

/**
 * nsc_dex_debug_convert - append a debug_info_item in its new form.
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
