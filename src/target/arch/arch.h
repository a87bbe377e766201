/*
 * arch.h - everything that differs between instruction sets in the traced program. Each ISA has a
 * directory: arch/<isa>/ticks.h (inline functions), arch/<isa>/sled.c (pure encoders over a byte
 * buffer) and arch/<isa>/sled_hook.S (the hooks that sleds call).
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

/* The sled hooks of a module. They differ in the registers that they may clobber. */
enum nsc_arch_hook {
    NSC_ARCH_HOOK_ENTRY,
    NSC_ARCH_HOOK_ENTRY_PUSHED, /* the function has pushed a word before its sled (x86-64) */
    NSC_ARCH_HOOK_RETURN,       /* an exit right before a return instruction */
    NSC_ARCH_HOOK_TAIL,         /* an exit before a jump, or before an unknown instruction */
};

/* Kinds of sleds. */
enum nsc_arch_sled {
    NSC_ARCH_SLED_SITE,      /* 5 bytes, emitted by nanoscope's assembler macro (x86-64) */
    NSC_ARCH_SLED_XRAY,      /* XRay's entry or tail-call sled (clang) */
    NSC_ARCH_SLED_XRAY_EXIT, /* XRay's exit sled; on x86-64 it contains the return instruction */
    NSC_ARCH_SLED_NOP,       /* 5-byte nop at entry, -fpatchable-function-entry=5 (clang, x86-64) */
};

/**
 * nsc_arch_sled_bytes - return the number of bytes that nsc_arch_sled_write() may change.
 */
unsigned nsc_arch_sled_bytes(enum nsc_arch_sled sled);

/**
 * nsc_arch_sled_write - encode a sled, enabled or disabled.
 * @code:     destination, nsc_arch_sled_bytes() bytes. Not necessarily executable memory.
 * @sled:     kind of the sled.
 * @distance: address of the hook minus run-time address of the sled.
 * @on:       1: enabled; 0: disabled. The two forms differ in one aligned store.
 *
 * Returns 0, or -1 if @distance is out of the sled's reach (@code is untouched).
 */
int nsc_arch_sled_write(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on);

/*
 * Number of steps that bring a sled, as compiled, to its disabled form while threads execute it.
 * Between two steps, and after the last one, all threads must refetch their code
 * (nsc_sys_sync_cores()).
 */
#define NSC_ARCH_READY_STEPS 3

/**
 * nsc_arch_sled_ready - make one step towards the disabled form; does nothing if none is needed.
 * @code:     copy of the sled after the previous steps, nsc_arch_sled_bytes() bytes.
 * @distance: as for nsc_arch_sled_write().
 * @step:     0 to NSC_ARCH_READY_STEPS - 1.
 * Returns 0, or -1 if @distance is out of the sled's reach (@code is untouched).
 */
int nsc_arch_sled_ready(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, unsigned step);

/**
 * nsc_arch_sled_turn - enable or disable a sled while threads execute it. All steps of
 * nsc_arch_sled_ready() must have been made.
 * Returns 0, or -1 if the sled is not ready (@code is untouched).
 */
int nsc_arch_sled_turn(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on);

/**
 * nsc_arch_sled_known - return 1 if @code holds a sled of this kind, in any form; else 0. Guards
 * against rewriting unknown code of a newer compiler.
 */
int nsc_arch_sled_known(const uint8_t *code, enum nsc_arch_sled sled);

/**
 * nsc_arch_entry_known - return 1 if a function with clang's exit sleds has an entry sled as well.
 * @code: first NSC_ARCH_ENTRY_BYTES bytes of the function, in any form.
 */
int nsc_arch_entry_known(const uint8_t *code);

#define NSC_ARCH_ENTRY_BYTES 16

/**
 * nsc_arch_xray_slow - return 1 if XRay's entry sleds, as compiled, are slow enough to be rewritten
 * even in a program that is not recorded.
 */
int nsc_arch_xray_slow(void);

/**
 * nsc_arch_sled_hook - return the hook that a sled calls.
 * @code: a known sled, inside its function's code: bytes around the sled may be read.
 */
enum nsc_arch_hook nsc_arch_sled_hook(const uint8_t *code, enum nsc_arch_sled sled, int is_entry);

/*
 * ticks.h provides, inline:
 *   uint64_t nsc_arch_ticks(void)            read the timer, not ordered with other instructions
 *   NSC_ARCH_EXIT_BIT                        bit of an event's address that marks an exit
 *   NSC_ARCH_STALE_TICKS                     about one second, rather more than less
 *   nsc_arch_code_changed(start, end)        make new code visible to instruction fetch
 */
#endif
