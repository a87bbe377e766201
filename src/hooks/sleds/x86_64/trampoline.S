/*
 * trampoline.S (x86-64) - the hooks that sleds call. Assembled into every module built for tracing
 * (hidden symbols), so that rel32 of a sled reaches them. The protocol is in runtime/abi.h.
 *
 * At a hook nothing may be clobbered but flags: at entry %r10 is a nested function's static chain and
 * %al the number of vector arguments; before a tail jump any call-clobbered register, %r10 and %r11
 * included, can hold an argument or the target. Vector registers are never touched.
 *
 * Stack:  (%rsp)   return address into the sled: the event's code address
 *         8(%rsp)  the traced function's own return address; this address is the position
 *         below    four saved registers in the red zone, which signal frames skip
 *
 * The exit bit comes for free: it is bit 47, bit 2 of the position is 0, and the position is shifted
 * by 45; an exit just starts from position + 4.
 */
#include "runtime/abi_asm.h"

/* %rax = ticks; %rdx is lost. Left out to measure the rest of the hook (bench/hook_cost). */
.macro TICKS
#ifndef NSC_TRAMPOLINE_WITHOUT_TICKS
    rdtsc
    shlq    $32, %rdx
    orq     %rdx, %rax
#endif
.endm

/* NAME: symbol; MARK: 0 entry, 4 exit; OVER: bytes that the function itself has pushed. Ticks are read
 * last at entry and first at exit, so that the hook's own work falls outside of the call. */
.macro HOOK name, mark, over=0
    .globl  \name
    .hidden \name
    .type   \name, @function
    .p2align 5
\name:
    .cfi_startproc
    movq    %rax, -8(%rsp)
    movq    %rdx, -16(%rsp)
    movq    %rcx, -24(%rsp)
    movq    %rsi, -32(%rsp)
.if \mark
    TICKS
.endif
    movq    nsc_runtime_tls@gottpoff(%rip), %rdx
    movl    $16, %ecx
    xaddq   %rcx, %fs:NSC_RUNTIME_POS(%rdx)
    movq    %fs:NSC_RUNTIME_ENDP(%rdx), %rsi
    cmpq    (%rsi), %rcx
    jae     1f
    leaq    8 + \over + \mark(%rsp), %rsi
    subq    %fs:NSC_RUNTIME_ANCHOR_LOW(%rdx), %rsi
    cmpq    $(2 * NSC_RUNTIME_REACH), %rsi
    jae     1f
    leaq    8 + \over + \mark(%rsp), %rsi
    shlq    $NSC_RUNTIME_POSITION_SHIFT, %rsi
    orq     (%rsp), %rsi
.if \mark == 0
    TICKS
.endif
    movq    %rax, 8(%rcx)
    movq    %rsi, (%rcx)
    movq    -32(%rsp), %rsi
    movq    -24(%rsp), %rcx
    movq    -16(%rsp), %rdx
    movq    -8(%rsp), %rax
    ret

1:  /* %rcx = slot, at exit %rax = ticks; the originals stay where they are. */
    leaq    8 + \over + \mark(%rsp), %rsi
    shlq    $NSC_RUNTIME_POSITION_SHIFT, %rsi
    orq     (%rsp), %rsi
.if \mark == 0
    TICKS
.endif
    leaq    8 + \over(%rsp), %rdx
    jmp     nsc_trampoline_slow
    .cfi_endproc
    .size   \name, . - \name
.endm

    .text
    HOOK nsc_trampoline_entry, 0
    HOOK nsc_trampoline_exit, 4
    /* gcc pushes the static chain of a nested function around the call of __fentry__. */
    HOOK nsc_trampoline_entry_pushed, 0, 8

/*
 * Common slow part: nsc_runtime_slow(word, ticks, position, slot) with every general register
 * saved. In: %rsi word, %rax ticks, %rdx position, %rcx slot; the four registers below %rsp. The
 * library is built without vector instructions, so nothing else needs saving.
 */
    .type   nsc_trampoline_slow, @function
    .p2align 4
nsc_trampoline_slow:
    .cfi_startproc
    leaq    -32(%rsp), %rsp         /* take in the four registers saved below %rsp */
    .cfi_adjust_cfa_offset 32
    pushq   %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq   %rdi
    pushq   %r8
    pushq   %r9
    pushq   %r10
    pushq   %r11
    andq    $-16, %rsp              /* the program's alignment at an exit is not ours to trust */
    movq    %rsi, %rdi              /* word */
    movq    %rax, %rsi              /* ticks */
    call    *nsc_runtime_slow@GOTPCREL(%rip)
    movq    -40(%rbp), %r11
    movq    -32(%rbp), %r10
    movq    -24(%rbp), %r9
    movq    -16(%rbp), %r8
    movq    -8(%rbp), %rdi
    movq    %rbp, %rsp
    popq    %rbp
    .cfi_restore %rbp
    .cfi_def_cfa %rsp, 40
    popq    %rsi
    popq    %rcx
    popq    %rdx
    popq    %rax
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size   nsc_trampoline_slow, . - nsc_trampoline_slow

    .section .note.GNU-stack, "", @progbits
