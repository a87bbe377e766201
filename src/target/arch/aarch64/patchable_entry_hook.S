/*
 * patchable_entry_hook.S (AArch64) - the hook of functions of which only the entry can be patched;
 * see x86_64/patchable_entry_hook.S and docs/adr/013.
 *
 * The return address is in x30, and the position is the stack pointer at the function's entry. A
 * function that makes calls has to push x30 first, so no two open calls have the same position. x16
 * and x17 are free at entry and exit, because the linker's veneers use them. All other registers
 * are preserved.
 *
 * Unwinding: as on x86-64, except that the replacement of the return address is in x30. It may be
 * signed (PAC), which affects only its upper bits.
 */
#include "arch/aarch64/slow_path_call.inc"
#include "arch/return_table.inc"
#include "abi/hook_asm.h"
#include "abi/return_table.h"

/* Frame of the hook: x0 to x4, x30, x16, x17. */
#define FRAME     64
#define SAVED_X30 40

#define TO_TABLE 160 /* bytes from nsc_patchable_return to the word that leads to the tables */

.macro PUSH
    stp     x0, x1, [sp, #-FRAME]!
    .cfi_adjust_cfa_offset FRAME
    stp     x2, x3, [sp, #16]
    stp     x4, x30, [sp, #32]
.endm

.macro POP
    ldp     x4, x30, [sp, #32]
    ldp     x2, x3, [sp, #16]
    ldp     x0, x1, [sp], #FRAME
    .cfi_adjust_cfa_offset -FRAME
.endm

/* x3 = slot of position x2; clobbers x0 and x1. With \check, jumps to 8 if there is no slot. */
.macro FIND_SLOT check
.if \check
    lsr     x1, x2, #NSC_PATCHABLE_ADDRESS_BITS
    cbnz    x1, 8f
.endif
    adrp    x0, nsc_patchable_table
    ldr     x0, [x0, #:lo12:nsc_patchable_table]
    lsr     x1, x2, #NSC_PATCHABLE_TOP_SHIFT
    ldr     x0, [x0, x1, lsl #3]
.if \check
    cbz     x0, 8f
.endif
    ubfx    x1, x2, #NSC_PATCHABLE_MIDDLE_SHIFT, #(NSC_PATCHABLE_TOP_SHIFT - NSC_PATCHABLE_MIDDLE_SHIFT)
    ldr     x0, [x0, x1, lsl #3]
.if \check
    cbz     x0, 8f
.endif
    and     x1, x2, #NSC_PATCHABLE_BLOCK_MASK
    add     x3, x0, x1, lsl #NSC_PATCHABLE_SLOT_SHIFT
.endm

/*
 * Record one event at position x2, by the protocol of abi/hook.h. In: x16 = event's address; MARK =
 * 0 for entry, 1 for exit. Jumps to \slow, with the slot in x1 and ticks in x4, if it cannot store
 * the event. Clobbers x0, x1, x3 and x4.
 */
.macro RECORD mark, slow
    adrp    x1, :gottprel:nsc_runtime_tls
    ldr     x1, [x1, :gottprel_lo12:nsc_runtime_tls]
    mrs     x0, tpidr_el0
    add     x0, x0, x1
.Lreserve\@:
    ldxr    x1, [x0]
    add     x3, x1, #16
    stxr    w4, x3, [x0]
    cbnz    w4, .Lreserve\@
    mrs     x4, cntvct_el0
    ldr     x3, [x0, #NSC_RUNTIME_ENDP]
    ldr     x3, [x3]
    cmp     x1, x3
    b.hs    \slow
    ldr     x3, [x0, #NSC_RUNTIME_ANCHOR_LOW]
    sub     x3, x2, x3
    cmp     x3, #(2 * NSC_RUNTIME_REACH)
    b.hs    \slow
    add     x3, x16, #\mark
    orr     x3, x3, x2, lsl #NSC_RUNTIME_POSITION_SHIFT
    str     x4, [x1, #8]
    stlr    x3, [x1]
.endm

/* Record the event on the slow path: x1 = slot, x2 = position, x4 = ticks. Clobbers
 * x0 to x4, x16, x17 and x30. */
.macro RECORD_SLOW mark
    add     x0, x16, #\mark
    orr     x0, x0, x2, lsl #NSC_RUNTIME_POSITION_SHIFT
    mov     x3, x1
    mov     x1, x4
    bl      nsc_patchable_slow
.endm

/*
 * Unwind rules of the call below. CFA is the caller's stack pointer plus 1. The rule for sp yields
 * the caller's sp. The return address is in the table slot of position CFA - 1.
 */
.macro CFI_IN_BODY
    .cfi_def_cfa sp, 1
    .cfi_escape 0x16, 31, 2, 0x31, 0x1c /* val_expression of sp: lit1 minus */
    .cfi_escape 0x10, 30, 51            /* expression of x30, 51 bytes */
    .cfi_escape 0x31, 0x1c              /* lit1 minus: position */
    .cfi_escape 0x8e, 0x00              /* breg30 0: x30 holds nsc_patchable_return */
    .cfi_escape 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x1a /* const8u and: unsigned */
    CFI_FIND_SLOT TO_TABLE
.endm

    .text
    .globl  nsc_patchable_entry, nsc_patchable_return
    .hidden nsc_patchable_entry, nsc_patchable_return
    .type   nsc_patchable_entry, %function
    .p2align 5
/* Entered from a function's stub: x16 = address of the body, x17 = address to call for the body. */
nsc_patchable_entry:
    .cfi_startproc
    PUSH
    stp     x16, x17, [sp, #48]
    .cfi_rel_offset x30, SAVED_X30
2:  add     x2, sp, #FRAME
    FIND_SLOT 1
    ldr     x0, [x3, #NSC_PATCHABLE_INSTEAD]
    cmp     x0, x30
    b.eq    7f
    adr     x0, nsc_patchable_return
    stp     x30, x16, [x3, #NSC_PATCHABLE_RETURN]
    str     x0, [x3, #NSC_PATCHABLE_INSTEAD]
    RECORD  0, 4f
3:  ldr     x17, [sp, #56]
    POP
    .cfi_restore x30
    adr     x30, nsc_patchable_return     /* set before the call, so that the unwind rules hold at
                                           * the call */
    CFI_IN_BODY
    blr     x17
/* The body returns here; its return value may be in any register. */
nsc_patchable_return:
    PUSH
    add     x2, sp, #FRAME
    FIND_SLOT 0
    ldp     x30, x16, [x3, #NSC_PATCHABLE_RETURN]
    .cfi_def_cfa sp, FRAME
    .cfi_restore sp
    .cfi_restore x30
    str     x30, [sp, #SAVED_X30]
    .cfi_rel_offset x30, SAVED_X30
    RECORD  1, 6f
5:  POP
    .cfi_restore x30
    ret

    .org    nsc_patchable_return + TO_TABLE
    .quad   nsc_patchable_table - .

    .cfi_def_cfa_offset FRAME
    .cfi_rel_offset x30, SAVED_X30
4:  RECORD_SLOW 0
    b       3b
6:  RECORD_SLOW 1
    b       5b

/* An instrumented function has ended with a tail call of this one: see
 * x86_64/patchable_entry_hook.S. */
7:  ldr     x16, [x3, #NSC_PATCHABLE_FUNCTION]
    ldr     x0, [sp, #48]
    str     x0, [x3, #NSC_PATCHABLE_FUNCTION]
    RECORD  1, 9f
10: ldr     x16, [sp, #48]
    add     x2, sp, #FRAME
    RECORD  0, 11f
12: ldr     x17, [sp, #56]
    POP
    .cfi_restore x30
    br      x17
    .cfi_def_cfa_offset FRAME
    .cfi_rel_offset x30, SAVED_X30
9:  RECORD_SLOW 1
    b       10b
11: RECORD_SLOW 0
    b       12b

/* First call in this part of the stack: allocate slots. Without memory the call is not recorded. */
8:  mov     x0, x2
    bl      nsc_patchable_make_room
    ldp     x16, x17, [sp, #48]
    ldr     x30, [sp, #SAVED_X30]
    cbz     w0, 12b
    b       2b
    .cfi_endproc
    .size   nsc_patchable_entry, . - nsc_patchable_entry

/* Define NAME, which calls the runtime's FUNCTION(x0, x1, x2, x3). Clobbers x0 to x4, x16 and
 * x17. */
.macro TO_RUNTIME name, function
    .type   \name, %function
    .p2align 4
\name:
    .cfi_startproc
    CALL_RUNTIME \function, 128, 0
    ret
    .cfi_endproc
    .size   \name, . - \name
.endm

    TO_RUNTIME nsc_patchable_slow, nsc_runtime_slow
    TO_RUNTIME nsc_patchable_make_room, nsc_runtime_patchable_room

/* Address of the runtime's top table; 0 until the runtime has allocated it. */
    .bss
    .globl  nsc_patchable_table
    .hidden nsc_patchable_table
    .type   nsc_patchable_table, %object
    .balign 8
nsc_patchable_table:
    .zero   8
    .size   nsc_patchable_table, 8

    .section .note.GNU-stack, "", %progbits
