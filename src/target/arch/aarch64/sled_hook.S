/*
 * sled_hook.S (AArch64) - the hooks that clang's sleds call. Assembled into every module built for
 * tracing (hidden symbols), so that bl of a sled reaches them. The protocol is in abi/hook.h; the
 * sled is described in arch/aarch64/sled.c.
 *
 * A hook may clobber only the flags. Before a tail jump any call-clobbered register can hold an
 * argument or the target, x16 and x17 included. Vector registers are never touched.
 *
 *   x30        sled + 12; the event's code address is x30 - 8, four bytes into the sled
 *   [sp]       the traced function's own x30, pushed by the sled
 *   sp + 16    the stack pointer at the function's entry: the position
 */
#include "arch/aarch64/slow_path_call.inc"
#include "abi/hook_asm.h"

#define SAVED 48 /* bytes of the registers that the fast path saves */

/* Define the hook NAME. IS_EXIT: 0 or 1, the event's exit bit. TIMED: 0 or 1, whether word 1 is
 * stored. Ticks are read last at entry and first at exit, so that the call's duration excludes the
 * hook's work. */
.macro HOOK name, is_exit, timed=1
    .globl  \name
    .hidden \name
    .type   \name, %function
    .p2align 5
\name:
    .cfi_startproc
    .cfi_def_cfa_offset 16 /* the sled's push */
    stp     x0, x1, [sp, #-SAVED]!
    .cfi_adjust_cfa_offset SAVED
    stp     x2, x3, [sp, #16]
    str     x4, [sp, #32]
.if \is_exit && \timed
    mrs     x4, cntvct_el0
.endif
    adrp    x1, :gottprel:nsc_runtime_tls
    ldr     x1, [x1, :gottprel_lo12:nsc_runtime_tls]
    mrs     x0, tpidr_el0
    add     x0, x0, x1
    /* A signal handler in between clears the exclusive monitor: the store fails and is repeated. */
1:  ldxr    x1, [x0]
    add     x2, x1, #16
    stxr    w3, x2, [x0]
    cbnz    w3, 1b
    add     x2, sp, #(SAVED + 16)
.if !\is_exit
    mrs     x4, cntvct_el0
.endif
    ldr     x3, [x0, #NSC_RUNTIME_ENDP]
    ldr     x3, [x3]
    cmp     x1, x3
    b.hs    nsc_trampoline_slow_\name
    ldr     x3, [x0, #NSC_RUNTIME_ANCHOR_LOW]
    sub     x3, x2, x3
    cmp     x3, #(2 * NSC_RUNTIME_REACH)
    b.hs    nsc_trampoline_slow_\name
    sub     x3, x30, #(8 - \is_exit)
    orr     x3, x3, x2, lsl #NSC_RUNTIME_POSITION_SHIFT
.if \timed
    str     x4, [x1, #8]
.endif
    stlr    x3, [x1] /* last in memory order: the recorder reads chunks that are in use */
    ldr     x4, [sp, #32]
    ldp     x2, x3, [sp, #16]
    ldp     x0, x1, [sp], #SAVED
    .cfi_adjust_cfa_offset -SAVED
    ret

nsc_trampoline_slow_\name: /* x1 = slot, x2 = position, x4 = ticks */
    .cfi_adjust_cfa_offset SAVED
.if !\timed
    mrs     x4, cntvct_el0
.endif
    sub     x0, x30, #(8 - \is_exit)
    orr     x0, x0, x2, lsl #NSC_RUNTIME_POSITION_SHIFT
    mov     x3, x1
    mov     x1, x4
    b       nsc_trampoline_slow
    .cfi_endproc
    .size   \name, . - \name
.endm

    .text
    HOOK nsc_trampoline_entry, 0
    HOOK nsc_trampoline_tail, 1
    /* For recordings that time entries only: word 1 of an exit's slot stays zero. */
    HOOK nsc_trampoline_tail_untimed, 1, 0
    /* Aliases: these hooks differ only on other machines. */
    .globl  nsc_trampoline_entry_pushed, nsc_trampoline_return, nsc_trampoline_return_untimed
    .hidden nsc_trampoline_entry_pushed, nsc_trampoline_return, nsc_trampoline_return_untimed
    .set    nsc_trampoline_return, nsc_trampoline_tail
    .set    nsc_trampoline_return_untimed, nsc_trampoline_tail_untimed
    .set    nsc_trampoline_entry_pushed, nsc_trampoline_entry

/*
 * Common slow path: calls nsc_runtime_slow(word, ticks, position, slot) with every general register
 * saved. The hook has saved x0 to x4.
 */
    .type   nsc_trampoline_slow, %function
    .p2align 4
nsc_trampoline_slow:
    .cfi_startproc
    .cfi_def_cfa_offset 16 + SAVED
    CALL_RUNTIME nsc_runtime_slow, 144, 1
    ldr     x4, [sp, #32]
    ldp     x2, x3, [sp, #16]
    ldp     x0, x1, [sp], #SAVED
    .cfi_adjust_cfa_offset -SAVED
    ret
    .cfi_endproc
    .size   nsc_trampoline_slow, . - nsc_trampoline_slow

    .section .note.GNU-stack, "", %progbits
