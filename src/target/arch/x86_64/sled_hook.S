/*
 * sled_hook.S (x86-64) - the hooks that sleds call. Assembled into every module built for tracing
 * (hidden symbols), so that rel32 of a sled reaches them. The protocol is in abi/hook.h.
 * nsc_arch_sled_hook() decides which hook a sled calls.
 *
 * Registers that a hook may clobber, besides the flags, which are dead at every sled:
 *   entry   %r10, %r11: gcc pushes %r10 around its sled where it holds a nested function's static
 *           chain; clang's C and C++ have none. All others may hold arguments (%al: vector count).
 *   return  %r11, which no calling convention of gcc or clang preserves (preserve_most and
 *           preserve_all included); return values are in %rax, %rdx and vector registers.
 *   tail    none: any call-clobbered register can hold an argument or the target.
 * Vector registers are never touched.
 *
 * Stack:  (%rsp)   return address into the sled: the event's code address
 *         8(%rsp)  the traced function's own return address; this address is the position
 *         below    saved registers in the red zone, which signal frames skip
 *
 * The exit bit needs no instruction of its own. It is bit 47; bit 2 of the position is 0, and the
 * position is shifted by 45. So an exit starts from position + 4.
 *
 * The timer is not ordered with other instructions: its place in a hook makes no measurable
 * difference (bench/hook_cost). After the checks it needs one register less.
 */
#include "arch/x86_64/slow_path_call.inc"
#include "abi/hook_asm.h"

#define SAVED_R11 -8
#define SAVED_RDX -16
#define SAVED_RCX -24
#define SAVED_RAX -32 /* of the hooks that read the last event */

#define FILLER 8 /* word 0 of a record without information: NSC_LIVE_ESC_LOST */

/* %rax = ticks; clobbers %rdx. Left out to measure the rest of the hook (bench/hook_cost). */
.macro TICKS
#ifndef NSC_TRAMPOLINE_WITHOUT_TICKS
    rdtsc
    shlq    $32, %rdx
    orq     %rdx, %rax
#endif
.endm

/* Start of every fast path. %r11 = slot; jumps to 1 if the event cannot be stored there. */
.macro RESERVE free, mark, over
    movq    nsc_runtime_tls@gottpoff(%rip), %rdx
    movl    $16, %r11d
    xaddq   %r11, %fs:NSC_RUNTIME_POS(%rdx)
    movq    %fs:NSC_RUNTIME_ENDP(%rdx), \free
    cmpq    (\free), %r11
    jae     1f
    leaq    8 + \over + \mark(%rsp), \free
    subq    %fs:NSC_RUNTIME_ANCHOR_LOW(%rdx), \free
    cmpq    $(2 * NSC_RUNTIME_REACH), \free
    jae     1f
.endm

/*
 * The fast path. FREE: a temporary register; MARK: 0 for entry, 4 for exit; OVER: bytes that the
 * function has pushed before its sled. %rdx must be saved, and %r11 free. Jumps to 1 if it cannot
 * store the event.
 */
.macro RECORD free, mark, over
    RESERVE \free, \mark, \over
    movq    %rax, \free
    TICKS
    movq    %rax, 8(%r11)
    leaq    8 + \over + \mark(%rsp), %rax
    shlq    $NSC_RUNTIME_POSITION_SHIFT, %rax
    orq     (%rsp), %rax
    movq    %rax, (%r11)
    movq    \free, %rax
    movq    SAVED_RDX(%rsp), %rdx
.endm

/* The fast path of an exit that is not timed: word 1 of its slot stays zero. Does not touch the
 * timer's output registers, except %rdx, which is restored. */
.macro RECORD_UNTIMED free, mark
    RESERVE \free, \mark, 0
    leaq    8 + \mark(%rsp), \free
    shlq    $NSC_RUNTIME_POSITION_SHIFT, \free
    orq     (%rsp), \free
    movq    \free, (%r11)
    movq    SAVED_RDX(%rsp), %rdx
.endm

/*
 * Count the event as lost if the thread has no chunk and none is free; else jump to 9. Equivalent
 * to nsc_thread_lose_at_once(). It is here because the program must not run slower without a
 * recorder than with one. In: %rdx and FREE as left by RESERVE. Clobbers %rdx, and %r11 unless it
 * jumps to 9.
 */
.macro LOSE free, over
    btq     $NSC_RUNTIME_NOWHERE_BIT, %r11
    jnc     9f
    movq    %fs:NSC_RUNTIME_ENDP(%rdx), \free
    movq    NSC_RUNTIME_END_FREE(\free), %rdx
    testq   %rdx, %rdx
    jz      9f
    cmpl    $0, (%rdx)
    jne     9f
    movq    NSC_RUNTIME_END_LOST(\free), %rdx
    testq   %rdx, %rdx                 /* a signal handler may have joined another session */
    jz      9f
    testl   $(NSC_RUNTIME_LOST_LOOK - 1), (%rdx)
    jz      9f
    leaq    8 + \over(%rsp), %r11
    cmpq    %r11, NSC_RUNTIME_END_HIGHEST(\free)
    jae     8f
    movq    %r11, NSC_RUNTIME_END_HIGHEST(\free)
8:  incq    (%rdx)
    movq    SAVED_RDX(%rsp), %rdx
.endm

/* Jump to the slow path with %rcx = word, %rdx = position, %r11 = slot. */
.macro GO_SLOW mark, over
    leaq    8 + \over + \mark(%rsp), %rcx
    shlq    $NSC_RUNTIME_POSITION_SHIFT, %rcx
    orq     (%rsp), %rcx
    leaq    8 + \over(%rsp), %rdx
    jmp     nsc_trampoline_slow
.endm

.macro BEGIN name
    .globl  \name
    .hidden \name
    .type   \name, @function
    .p2align 5
\name:
    .cfi_startproc
    movq    %rdx, SAVED_RDX(%rsp)
.endm

.macro END name
    .cfi_endproc
    .size   \name, . - \name
.endm

/* End of an exit hook. */
.macro RETURN keep_r11
    movq    SAVED_RCX(%rsp), %rcx
.if \keep_r11
    movq    SAVED_R11(%rsp), %r11
.endif
    ret
.endm

.macro ENTRY_HOOK name, over
    BEGIN \name
    RECORD %r10, 0, \over
    ret
1:  LOSE %r10, \over
    ret
9:  movq    %rcx, SAVED_RCX(%rsp)
    GO_SLOW 0, \over
    END \name
.endm

.macro EXIT_HOOK name, keep_r11
    BEGIN \name
    movq    %rcx, SAVED_RCX(%rsp)
.if \keep_r11
    movq    %r11, SAVED_R11(%rsp)
.endif
    RECORD %rcx, 4, 0
    RETURN \keep_r11
1:  LOSE %rcx, 0
    RETURN \keep_r11
9:  GO_SLOW 4, 0
    END \name
.endm

/*
 * Check that the call's entry is the last event of the thread's chunk: same position, not an exit,
 * not a record. Else jump to 2. %r11 = slot of the next event; %rdx = the thread's TLS offset;
 * clobbers %rax and %rcx.
 */
.macro LAST_IS_ENTRY
    movq    nsc_runtime_tls@gottpoff(%rip), %rdx
    movq    %fs:NSC_RUNTIME_ENDP(%rdx), %rcx
    movq    %fs:NSC_RUNTIME_POS(%rdx), %r11
    cmpq    (%rcx), %r11                /* in a chunk, and not past its end? */
    ja      2f
    movq    -16(%r11), %rax
    leaq    8(%rsp), %rcx
    shlq    $NSC_RUNTIME_POSITION_SHIFT, %rcx
    xorq    %rax, %rcx
    shrq    $47, %rcx                   /* not 0: another position, or an exit */
    jnz     2f
    shrq    $16, %rax
    testl   %eax, %eax                  /* zero: a record, or empty */
    jz      2f
.endm

/* Save and restore the registers that LAST_IS_ENTRY uses. BEGIN saves %rdx. */
.macro SAVE_FOR_LOOK keep_r11
    movq    %rcx, SAVED_RCX(%rsp)
    movq    %rax, SAVED_RAX(%rsp)
.if \keep_r11
    movq    %r11, SAVED_R11(%rsp)
.endif
.endm

.macro RETURN_FROM_LOOK keep_r11
    movq    SAVED_RAX(%rsp), %rax
    movq    SAVED_RDX(%rsp), %rdx
    RETURN \keep_r11
.endm

/*
 * Hook of an exit that is not timed. Directly after the call's own entry, it takes no slot: it sets
 * a mark in the entry's word 1. If a signal handler intervenes, it uses the next slots, and the
 * exit is recorded as an ordinary event. The mark is stored by compare-and-exchange, because the
 * chunk may have another owner by then.
 */
.macro UNTIMED_HOOK name, keep_r11
    BEGIN \name
    SAVE_FOR_LOOK \keep_r11
    LAST_IS_ENTRY
    movq    -8(%r11), %rax
    movq    %rax, %rcx
    btsq    $NSC_RUNTIME_RETURNED_BIT, %rcx
    jc      2f                          /* that call has already returned */
    cmpxchgq %rcx, -8(%r11)
    jne     2f
    cmpq    %fs:NSC_RUNTIME_POS(%rdx), %r11
    jne     3f
    RETURN_FROM_LOOK \keep_r11
3:  xchgq   %rax, %rcx
    cmpxchgq %rcx, -8(%r11)
2:  movq    SAVED_RAX(%rsp), %rax
    RECORD_UNTIMED %rcx, 4
    RETURN \keep_r11
1:  LOSE %rcx, 0
    RETURN \keep_r11
9:  GO_SLOW 4, 0
    END \name
.endm

/*
 * Hook of an exit that discards its call if the call was short. The call's entry must be the last
 * event. The entry is cleared before its slot is freed: the next event writes word 1 first, and
 * readers of the chunk must never see that with the old word 0. If a signal handler intervenes, it
 * uses the next slot; then the cleared entry becomes a record without information. All other exits
 * are ordinary events.
 */
.macro REWIND_HOOK name, keep_r11
    BEGIN \name
    SAVE_FOR_LOOK \keep_r11
    LAST_IS_ENTRY
    movq    %fs:NSC_RUNTIME_ENDP(%rdx), %rcx
    movq    NSC_RUNTIME_END_LEAST(%rcx), %rcx
    testq   %rcx, %rcx
    jz      2f
    TICKS
    subq    -8(%r11), %rax
    cmpq    (%rcx), %rax
    jae     2f
    movq    nsc_runtime_tls@gottpoff(%rip), %rdx
    movq    $0, -16(%r11)
    leaq    -16(%r11), %rcx
    movq    %r11, %rax
    cmpxchgq %rcx, %fs:NSC_RUNTIME_POS(%rdx)
    je      3f
    movq    $0, -8(%r11)
    movq    $FILLER, -16(%r11)
3:  movq    %fs:NSC_RUNTIME_ENDP(%rdx), %rcx
    movq    NSC_RUNTIME_END_REWOUND(%rcx), %rcx
    testq   %rcx, %rcx                  /* a signal handler may have joined another session */
    jz      4f
    incq    (%rcx)
4:  RETURN_FROM_LOOK \keep_r11
2:  movq    SAVED_RAX(%rsp), %rax
    RECORD %rcx, 4, 0
    RETURN \keep_r11
1:  LOSE %rcx, 0
    RETURN \keep_r11
9:  GO_SLOW 4, 0
    END \name
.endm

    .text
    ENTRY_HOOK nsc_trampoline_entry, 0
    ENTRY_HOOK nsc_trampoline_entry_pushed, 8
    EXIT_HOOK nsc_trampoline_return, 0
    EXIT_HOOK nsc_trampoline_tail, 1
    /* For recordings that time entries only. */
    UNTIMED_HOOK nsc_trampoline_return_untimed, 0
    UNTIMED_HOOK nsc_trampoline_tail_untimed, 1
    REWIND_HOOK nsc_trampoline_return_rewind, 0
    REWIND_HOOK nsc_trampoline_tail_rewind, 1

/*
 * Common slow path: calls nsc_runtime_slow(word, ticks, position, slot) with every general register
 * saved. The hook has saved %rcx, %rdx and %r11.
 */
    .globl  nsc_trampoline_slow     /* for patchable_entry_hook.S */
    .hidden nsc_trampoline_slow
    .type   nsc_trampoline_slow, @function
    .p2align 4
nsc_trampoline_slow:
    .cfi_startproc
    leaq    SAVED_RCX(%rsp), %rsp   /* keep the registers that are saved below %rsp */
    .cfi_adjust_cfa_offset -SAVED_RCX
    pushq   %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq   %rax
    SAVE_SCRATCH
    movq    %rcx, %rdi              /* word */
    movq    %rdx, %r8
    rdtsc
    shlq    $32, %rdx
    orq     %rdx, %rax
    movq    %rax, %rsi              /* ticks */
    movq    %r8, %rdx               /* position */
    movq    %r11, %rcx              /* slot */
    call    *nsc_runtime_slow@GOTPCREL(%rip)
    RESTORE_SCRATCH 8
    .cfi_def_cfa %rsp, 8 - SAVED_RCX
    popq    %rcx
    popq    %rdx
    popq    %r11
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size   nsc_trampoline_slow, . - nsc_trampoline_slow

    .section .note.GNU-stack, "", @progbits
