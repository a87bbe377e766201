/*
 * insn_scan.h - find the instruction boundaries of a method's code. Private to bytecode/.
 */
#ifndef NSC_ANDROID_BYTECODE_INSN_SCAN_H
#define NSC_ANDROID_BYTECODE_INSN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "android/bytecode/opcodes.h"

/* Instructions and payloads in order. */
struct nsc_dex_scan {
    uint32_t count;
    uint32_t *at;    /* first unit of instruction i; at[count] is the code's size */
    uint32_t *index; /* by unit: the instruction that begins there or covers it; [size] is count */
};

/* Returns 0, -EBADMSG (*bad is the unit without a valid instruction) or -ENOMEM. */
int nsc_dex_scan(struct nsc_dex_scan *scan, const uint16_t *insns, uint32_t size, uint32_t *bad);
void nsc_dex_scan_free(struct nsc_dex_scan *scan);

static inline bool nsc_dex_scan_begins(const struct nsc_dex_scan *scan, uint64_t unit)
{
    return unit < scan->at[scan->count] && scan->at[scan->index[unit]] == unit;
}

/* Access to a 32-bit number in two code units. */
static inline uint32_t nsc_dex_units32(const uint16_t *units)
{
    return units[0] | (uint32_t)units[1] << 16;
}

static inline void nsc_dex_set_units32(uint16_t *units, uint32_t v)
{
    units[0] = (uint16_t)v;
    units[1] = (uint16_t)(v >> 16);
}

/* Number of targets in the payload of a switch, and the offset of the first one (in units). */
static inline uint32_t nsc_dex_switch_targets(const uint16_t *payload, uint32_t *first)
{
    *first = payload[0] == NSC_DEX_PACKED_PAYLOAD ? 4 : 2 + 2u * payload[1];
    return payload[1];
}

#endif
