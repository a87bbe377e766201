/*
 * ticks.h (AArch64) - see arch/arch.h. Inlined into the runtime; must not touch vector registers.
 */
#ifndef NSC_ARCH_AARCH64_TICKS_H
#define NSC_ARCH_AARCH64_TICKS_H

#include <stdint.h>

#define NSC_ARCH_EXIT_BIT 0

static inline uint64_t nsc_arch_ticks(void)
{
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* Exactly one second: programs may read the timer's frequency on this architecture. */
static inline uint64_t nsc_arch_ticks_per_second(void)
{
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}
#define NSC_ARCH_STALE_TICKS nsc_arch_ticks_per_second()

/*
 * Clean the data cache to the point of unification, then invalidate the instruction cache, line by
 * line; both steps can be left out where CTR_EL0 says so (IDC, DIC).
 * Source: Arm ARM (DDI 0487) B2.7.4.2 and D24.2.37.
 */
static inline void nsc_arch_code_changed(uint8_t *start, uint8_t *end)
{
    uintptr_t from, to = (uintptr_t)end;
    uintptr_t data_line, code_line;
    uint64_t ctr;

    __asm__ volatile("mrs %0, ctr_el0" : "=r"(ctr));
    data_line = (uintptr_t)4 << (ctr >> 16 & 15);
    code_line = (uintptr_t)4 << (ctr & 15);
    if ((ctr >> 28 & 1) == 0)
        for (from = (uintptr_t)start & ~(data_line - 1); from < to; from += data_line)
            __asm__ volatile("dc cvau, %0" : : "r"(from) : "memory");
    __asm__ volatile("dsb ish" : : : "memory");
    if ((ctr >> 29 & 1) == 0)
        for (from = (uintptr_t)start & ~(code_line - 1); from < to; from += code_line)
            __asm__ volatile("ic ivau, %0" : : "r"(from) : "memory");
    __asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

#endif
