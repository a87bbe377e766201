/*
 * header_hook_slow.S - calls nsc_runtime_slow() for the inlined header hook; part of libnanoscope.
 *
 * In: x9 = word 0, x10 = word 1, x11 = position, x12 = slot.
 * Must preserve everything except x16, x17, x30 and the flags.
 * nsc_runtime_slow() is built without vector registers, so that those need no saving.
 */
#ifdef __aarch64__
    .text
    .globl nanoscope_hook_slow
    .type nanoscope_hook_slow, %function
    .p2align 4
nanoscope_hook_slow:
    .cfi_startproc
    hint #34 /* bti c: reached by an indirect call */
    stp x29, x30, [sp, #-160]!
    .cfi_def_cfa_offset 160
    .cfi_offset x29, -160
    .cfi_offset x30, -152
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp x8, x9, [sp, #80]
    stp x10, x11, [sp, #96]
    stp x12, x13, [sp, #112]
    stp x14, x15, [sp, #128]
    str x18, [sp, #144]
    mov x0, x9
    mov x1, x10
    mov x2, x11
    mov x3, x12
    bl nsc_runtime_slow
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x8, x9, [sp, #80]
    ldp x10, x11, [sp, #96]
    ldp x12, x13, [sp, #112]
    ldp x14, x15, [sp, #128]
    ldr x18, [sp, #144]
    ldp x29, x30, [sp], #160
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size nanoscope_hook_slow, . - nanoscope_hook_slow
#endif
    .section .note.GNU-stack, "", %progbits
