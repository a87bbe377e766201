/*
 * arch.h - everything that differs between instruction sets, for the traced world. One directory an
 * ISA implements it: arch/<isa>/ticks.h (inline) and arch/<isa>/sled.c (pure encoders over a byte
 * buffer). The trampolines are hooks/sleds/<isa>/trampoline.S.
 */
#ifndef NSC_ARCH_ARCH_H
#define NSC_ARCH_ARCH_H

#include <stdint.h>

#if defined(__x86_64__)
#include "arch/x86_64/ticks.h"
#elif defined(__aarch64__)
#include "arch/aarch64/ticks.h"
#else
#error "nanoscope has no runtime for this instruction set yet"
#endif

/* Kinds of clang's sleds, as its xray_instr_map numbers them. */
enum nsc_arch_xray_kind {
    NSC_ARCH_XRAY_ENTRY = 0,
    NSC_ARCH_XRAY_EXIT = 1,
    NSC_ARCH_XRAY_TAIL = 2,
    NSC_ARCH_XRAY_ENTRY_ARGS = 3,
};

/* The trampolines of a module; they differ in the registers that they may use. */
enum nsc_arch_hook {
    NSC_ARCH_HOOK_ENTRY,
    NSC_ARCH_HOOK_ENTRY_PUSHED, /* the function has pushed a word before its sled (x86-64) */
    NSC_ARCH_HOOK_RETURN,       /* an exit right before a return instruction */
    NSC_ARCH_HOOK_TAIL,         /* an exit before a jump, or before who knows what */
};

/* What a patchable place in the code is. */
enum nsc_arch_sled {
    NSC_ARCH_SLED_SITE,      /* 5 bytes made by our assembler macro (x86-64) */
    NSC_ARCH_SLED_XRAY,      /* XRay's entry or tail-call sled (clang) */
    NSC_ARCH_SLED_XRAY_EXIT, /* XRay's exit sled, which contains the return instruction */
    NSC_ARCH_SLED_NOP,       /* 5-byte nop at entry, -fpatchable-function-entry=5 (clang, x86-64) */
};

/**
 * nsc_arch_sled_bytes - number of bytes that nsc_arch_sled_write() may change.
 */
unsigned nsc_arch_sled_bytes(enum nsc_arch_sled sled);

/**
 * nsc_arch_sled_write - encode a sled, on or off.
 * @code:     where to write, nsc_arch_sled_bytes() bytes. Not necessarily executable memory.
 * @sled:     what is there.
 * @distance: address of the trampoline minus run-time address of the sled.
 * @on:       0 or 1. Only one aligned store's worth changes between the two forms.
 *
 * Returns 0, or -1 if @distance is out of the sled's reach (@code is untouched).
 */
int nsc_arch_sled_write(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on);

/*
 * Bringing a sled that the compiler made to its off form while threads execute it takes some steps.
 * Every thread must have fetched its code anew between two steps, and once more before the sled is
 * turned on (nsc_sys_sync_cores()).
 */
#define NSC_ARCH_READY_STEPS 3

/**
 * nsc_arch_sled_ready - make one step towards the off form; nothing if it is not needed.
 * @code:     the sled as it is, nsc_arch_sled_bytes() bytes of a copy; the steps before are done.
 * @distance: as for nsc_arch_sled_write().
 * @step:     0 to NSC_ARCH_READY_STEPS - 1.
 * Returns 0, or -1 if @distance is out of the sled's reach (@code is untouched).
 */
int nsc_arch_sled_ready(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, unsigned step);

/**
 * nsc_arch_sled_turn - turn a sled on or off under running threads, if all steps have been made.
 * Returns 0, or -1 if it is not ready (@code is untouched).
 */
int nsc_arch_sled_turn(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on);

/**
 * nsc_arch_sled_known - whether @code holds a sled of this kind, in any form.
 * Guards against rewriting what a newer compiler may emit.
 */
int nsc_arch_sled_known(const uint8_t *code, enum nsc_arch_sled sled);

/**
 * nsc_arch_entry_known - whether a function that clang gave exit sleds has an entry sled as well.
 * @code: its first NSC_ARCH_ENTRY_BYTES bytes, in any form.
 */
int nsc_arch_entry_known(const uint8_t *code);

#define NSC_ARCH_ENTRY_BYTES 16

/**
 * nsc_arch_xray_slow - whether XRay's entry sleds, as compiled, cost so much that they are worth
 * rewriting in a program that is not recorded.
 */
int nsc_arch_xray_slow(void);

/**
 * nsc_arch_sled_hook - which hook a sled calls.
 * @code: a known sled, inside its function's code: bytes around the sled may be looked at.
 */
enum nsc_arch_hook nsc_arch_sled_hook(const uint8_t *code, enum nsc_arch_sled sled, int is_entry);

/*
 * ticks.h provides, inline:
 *   uint64_t nsc_arch_ticks(void)            the timer, not ordered with other instructions
 *   NSC_ARCH_EXIT_BIT                        bit of an event's address that marks an exit
 *   NSC_ARCH_STALE_TICKS                     a second, roughly and rather more than less
 *   nsc_arch_code_changed(start, end)        make new code visible to instruction fetch
 */
#endif
