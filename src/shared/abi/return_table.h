/*
 * return_table.h - where a replaced return address is kept: the numbers that the trampolines of
 * arch/<isa>/patchable_entry_hook.S and linux/patch/entry_patch.h share. Defines only, so that .S
 * files can include it.
 *
 * A return address is kept under its position, the stack address it would be at. That takes no
 * notice of threads, jumps or coroutines: two calls that are open never have the same position.
 *
 *   top table     a pointer for each 2^30 bytes of addresses
 *   middle table  a pointer for each 2^18 bytes of one of those
 *   block         a slot of 32 bytes for each 8 bytes of one of these: return address, the
 *                 function's event address, what stands in its place, unused
 *
 * Where nothing was kept yet a pointer is 0. Nothing is ever taken away.
 */
#ifndef NSC_ABI_RETURN_TABLE_H
#define NSC_ABI_RETURN_TABLE_H

/* Of user addresses; calls with a position beyond are not recorded. */
#ifdef __aarch64__
#define NSC_PATCHABLE_ADDRESS_BITS 48
#else
#define NSC_PATCHABLE_ADDRESS_BITS 47
#endif
#define NSC_PATCHABLE_TOP_SHIFT    30
#define NSC_PATCHABLE_MIDDLE_SHIFT 18
#define NSC_PATCHABLE_SLOT_SHIFT   2 /* a slot is 4 times as large as what it stands for */

#define NSC_PATCHABLE_TOP_LAST ((1 << (NSC_PATCHABLE_ADDRESS_BITS - NSC_PATCHABLE_TOP_SHIFT)) - 1)
#define NSC_PATCHABLE_MIDDLE_LAST                                                                  \
    ((1 << (NSC_PATCHABLE_TOP_SHIFT - NSC_PATCHABLE_MIDDLE_SHIFT)) - 1)
#define NSC_PATCHABLE_BLOCK_MASK ((1 << NSC_PATCHABLE_MIDDLE_SHIFT) - 8)

/* Offsets in a slot. */
#define NSC_PATCHABLE_RETURN   0
#define NSC_PATCHABLE_FUNCTION 8
#define NSC_PATCHABLE_INSTEAD  16

#endif
