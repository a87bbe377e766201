/*
 * ticks.h - timer, thread pointer and reservation of the next event, per processor.
 *
 * Included by src/target/android only.
 */
#ifndef NSC_ANDROID_TICKS_H
#define NSC_ANDROID_TICKS_H

#include "android/bionic.h"
#include "android/recording.h"

static inline uint64_t nsc_jni_monotonic(void)
{
    struct nsc_bionic_time t;

    clock_gettime(NSC_CLOCK_MONOTONIC, &t);
    return (uint64_t)t.seconds * 1000000000u + (uint64_t)t.ns;
}

/* About 20 cycles on x86 and AArch64, a call into the vdso on ARM. */
static inline uint64_t nsc_jni_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return nsc_jni_monotonic();
#endif
}

#if defined(__x86_64__) || defined(__i386__)
#define NSC_JNI_TIMER NSC_APP_TIMER_TSC
#elif defined(__aarch64__)
#define NSC_JNI_TIMER NSC_APP_TIMER_CNTVCT
#else
#define NSC_JNI_TIMER NSC_APP_TIMER_NS
#endif

/* In Hz; 0 = unknown. */
static inline uint64_t nsc_jni_frequency(void)
{
#if defined(__aarch64__)
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
#elif defined(__x86_64__) || defined(__i386__)
    return 0;
#else
    return 1000000000;
#endif
}

/* Return the thread pointer: the address of the thread's control block, in bionic and in glibc. No
 * two living threads share it. */
static inline uintptr_t nsc_jni_self(void)
{
    uintptr_t self;

#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(self));
#elif defined(__i386__)
    __asm__("mov %%gs:0, %0" : "=r"(self));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(self));
#else
    __asm__("mrc p15, 0, %0, c13, c0, 3" : "=r"(self));
#endif
    return self;
}

static inline struct nsc_jni_hot *nsc_jni_place(uintptr_t self)
{
    /* Control blocks are aligned and equally spaced: a multiplication spreads them over the
     * table. */
    uint32_t mixed = (uint32_t)(self >> 4) * 0x9e3779b1u;

#if UINTPTR_MAX > UINT32_MAX
    mixed ^= (uint32_t)(self >> 36) * 0x85ebca6bu;
#endif
    return &nsc_jni_table[mixed >> (32 - NSC_JNI_HOT_BITS)];
}

/*
 * Reserve the next slot: atomic with respect to signal handlers of this thread, which get another
 * slot. No other thread reserves here, so no lock prefix is needed.
 */
static inline uintptr_t nsc_jni_reserve(struct nsc_jni_hot *hot)
{
#if defined(__x86_64__) || defined(__i386__)
    uintptr_t at = sizeof(uint64_t);

    __asm__ volatile("xadd %0, %1" : "+r"(at), "+m"(hot->at)::"cc");
    return at;
#else
    return __atomic_fetch_add(&hot->at, sizeof(uint64_t), __ATOMIC_RELAXED);
#endif
}

/* Store a word in its slot. It is complete once its upper half is not 0, so that is stored last. */
static inline void nsc_jni_store(uintptr_t at, uint32_t code, uint32_t low)
{
#if UINTPTR_MAX > UINT32_MAX
    __atomic_store_n((uint64_t *)at, (uint64_t)code << 32 | low, __ATOMIC_RELAXED);
#else
    __atomic_store_n((uint32_t *)at, low, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_RELEASE);
    __atomic_store_n((uint32_t *)(at + 4), code, __ATOMIC_RELAXED);
#endif
}

#endif
