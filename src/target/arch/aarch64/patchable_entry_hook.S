/*
 * patchable_entry_hook.S (AArch64) - the hook of functions whose entry alone can be patched; see the one for
 * x86-64, and docs/adr/013.
 *
 * The return address comes in x30, and the position is the stack pointer at the function's entry. A
 * function that calls has to push x30 first, so no two calls that are open have the same. x16 and x17 are
 * free at both ends: the linker's veneers use them; every other register comes through.
 *
 * Unwinding: as on x86-64, with the difference that what stands in the return address's place is in
 * x30, perhaps signed (PAC), which only its upper bits tell.
 */
#include "arch/aarch64/slow_path_call.inc"
#include "arch/return_table.inc"
#include "abi/hook_asm.h"
#include "abi/return_table.h"

/* The hook's frame: x0 to x4, x30, x16, x17. */
#define FRAME     64
#define SAVED_X30 40

#define TO_TABLE 160 /* from nsc_patchable_return to a word that leads to the tables */

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

/* To x3 the slot of position x2; x0 and x1 are lost. With \check, to 8 where there is none. */
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
 * One event at position x2, by the protocol of abi/hook.h. x16: its address; MARK: 0 entry, 1
 * exit. x0, x1, x3 and x4 are lost, and by the slow path x2.
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

/* The same by the slow path: x1 = slot, x2 = position, x4 = ticks. */
.macro RECORD_SLOW mark
    add     x0, x16, #\mark
    orr     x0, x0, x2, lsl #NSC_RUNTIME_POSITION_SHIFT
    mov     x3, x1
    mov     x1, x4
    bl      nsc_patchable_slow
.endm

/*
 * The frame of the call below: CFA is the caller's stack pointer plus 1; that is the caller's sp back;
 * the return address is in the slot that the tables have for CFA - 1.
 */
.macro CFI_IN_BODY
    .cfi_def_cfa sp, 1
    .cfi_escape 0x16, 31, 2, 0x31, 0x1c /* val_expression of sp: lit1 minus */
    .cfi_escape 0x10, 30, 51            /* expression of x30, 51 bytes */
    .cfi_escape 0x31, 0x1c              /* lit1 minus: position */
    .cfi_escape 0x8e, 0x00              /* breg30 0: nsc_patchable_return stands there */
    .cfi_escape 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x1a /* const8u and: unsigned */
    CFI_FIND_SLOT TO_TABLE
.endm

    .text
    .globl  nsc_patchable_entry, nsc_patchable_return
    .hidden nsc_patchable_entry, nsc_patchable_return
    .type   nsc_patchable_entry, %function
    .p2align 5
/* From a function's stub: x16 = where its body begins, x17 = what to call for it. */
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
    adr     x30, nsc_patchable_return     /* so that what unwinders read is right from before the call */
    CFI_IN_BODY
    blr     x17
/* The body returns to here, with what it returns in any register. */
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

/* A chosen function has ended with a jump to this one: see x86-64. */
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

/* The first call in this part of the stack. Without memory it goes unrecorded. */
8:  mov     x0, x2
    bl      nsc_patchable_make_room
    ldp     x16, x17, [sp, #48]
    ldr     x30, [sp, #SAVED_X30]
    cbz     w0, 12b
    b       2b
    .cfi_endproc
    .size   nsc_patchable_entry, . - nsc_patchable_entry

/* NAME: calls FUNCTION(x0, x1, x2, x3) of the runtime; x0 to x4, x16 and x17 are lost. */
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
    TO_RUNTIME nsc_patchable_make_room, nsc_runtime_dfi_room

/* The runtime's top table, once there is one. */
    .bss
    .globl  nsc_patchable_table
    .hidden nsc_patchable_table
    .type   nsc_patchable_table, %object
    .balign 8
nsc_patchable_table:
    .zero   8
    .size   nsc_patchable_table, 8

    .section .note.GNU-stack, "", %progbits
