/*
 * hook.h - the contract between hook code that is compiled into a traced program (the inlined header
 * hook, the trampolines of nanoscope-module.o) and libnanoscope: one thread-local block, one slow
 * path. Part of the binary interface: fields are only ever added at the end.
 *
 * Hermetic: includes <stdint.h> and live.h. nanoscope_hook.h repeats these few declarations under
 * reserved names, because it may include nothing; tests/unit/test_hook_abi.c compares the two.
 */
#ifndef NANOSCOPE_HOOK_H
#define NANOSCOPE_HOOK_H

#include <stdint.h>

#include "nanoscope/live.h"

/*
 * A hook stores an event so, and in this order:
 *   1. (inlined hooks only) `off` not 0: nothing to do;
 *   2. slot = fetch_and_add(pos, 16), atomic against signal handlers of the same thread only;
 *   3. slot < *endp and position - reach_low < 2 * NSC_LIVE_ANCHOR_REACH, else the slow path, which
 *      keeps the event or counts it as lost; the slot that step 2 took stays empty;
 *   4. word 1, then word 0.
 */
struct nsc_hook_thread {
    uint64_t pos;         /* address of the next slot */
    const uint64_t *endp; /* where the chunk's end is read; never NULL; reads 0 to force step 3 */
    uint64_t reach_low;   /* the anchor in force - NSC_LIVE_ANCHOR_REACH */
    uint32_t off;         /* 1: this thread's events are neither wanted nor counted */
    uint32_t reserved;
};

#define NSC_HOOK_OFFSET_POS       0
#define NSC_HOOK_OFFSET_ENDP      8
#define NSC_HOOK_OFFSET_REACH_LOW 16
#define NSC_HOOK_OFFSET_OFF       24

/* Exported by libnanoscope as the first member of a larger private block. */
#ifdef __cplusplus
extern "C" {
#endif
extern __thread struct nsc_hook_thread nanoscope_thread __attribute__((tls_model("initial-exec")));

/**
 * nsc_runtime_slow - what a hook calls when its fast path does not apply.
 * @word: code address, with the exit bit; position bits need not be filled in.
 * @position: whole position.
 * @pc_bits: added to the ticks (header hook: program counter << 48), else 0.
 *
 * Built without vector registers. Assembly reaches it through a stub that preserves every register:
 * nanoscope_hook_slow (src/hooks/cyg/slow_<isa>.S), which takes
 *   x86-64:  rax = word, rdx = position, r11 = pc_bits, r10 = address to go on at (it is reached by
 *            a jump, which spares the red zone); clobbers these four and the flags;
 *   AArch64: x9 = word, x10 = position, x11 = pc_bits; clobbers x16, x17, x30 and the flags.
 *
 * Context: any thread, any signal handler; takes no lock, makes no libc call, never blocks.
 */
void nsc_runtime_slow(uint64_t word, uint64_t position, uint64_t pc_bits);
#ifdef __cplusplus
}
#endif

#endif
