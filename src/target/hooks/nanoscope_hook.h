/*
 * nanoscope_hook.h - the header hook: the two functions that -finstrument-functions calls, written
 * so that the compiler inlines them. `nanoscope cc` force-includes it (-include) into every source.
 *
 * Rules of this file: it is compiled before the first line of any program. It includes nothing,
 * uses reserved names only, and is clean from C89 to C23 and from C++98 on. Its only call is to the
 * slow path. It touches no register or flag that the compiler does not know of. Contract:
 * abi/hook.h and abi/live.h. Reasons: docs/adr/005-header-hook.md.
 */
#if !defined(__ASSEMBLER__) && !defined(__clang__) &&                                              \
    !(defined(__x86_64__) && defined(__LP64__)) && !(defined(__AARCH64EL__) && defined(__LP64__))
/* Not #warning: with -Werror, that would fail a build that is merely not traced. clang counts a
 * message as a warning, too. */
#pragma message("nanoscope: the header hook does not know this machine; nothing is traced")
#endif
#ifndef __ASSEMBLER__
#pragma GCC system_header
#endif

#ifndef __NANOSCOPE_HOOK
#define __NANOSCOPE_HOOK
#ifndef __ASSEMBLER__

#if defined(__x86_64__) && defined(__LP64__)
#define __NANOSCOPE_HOOK_X86_64 1
#elif defined(__AARCH64EL__) && defined(__LP64__)
#define __NANOSCOPE_HOOK_AARCH64 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define __NANOSCOPE_ATTRIBUTES                                                                     \
    __always_inline__, __no_instrument_function__, __nothrow__, __artificial__
#if defined(__clang__)
/* clang never inlines gnu_inline bodies here: it emits its calls too late for them to count as
 * uses. It calls by symbol name, which C++ would mangle for a static function. */
#define __NANOSCOPE_NAME(name) __asm__(name)
#define __NANOSCOPE_INLINE     static __inline__ __attribute__((__used__, __NANOSCOPE_ATTRIBUTES))
#elif defined(__x86_64__) && __GNUC__ >= 11
/* general-regs-only, like the compiler's own <ia32intrin.h>: may be inlined into any function. */
#define __NANOSCOPE_INLINE                                                                         \
    extern __inline__                                                                              \
        __attribute__((__gnu_inline__, __target__("general-regs-only"), __NANOSCOPE_ATTRIBUTES))
#else
#define __NANOSCOPE_INLINE extern __inline__ __attribute__((__gnu_inline__, __NANOSCOPE_ATTRIBUTES))
#endif

#ifndef __NANOSCOPE_NAME
#define __NANOSCOPE_NAME(name)
#endif

#if defined(__NANOSCOPE_HOOK_X86_64) || defined(__NANOSCOPE_HOOK_AARCH64)

/*
 * Start of struct nsc_runtime_thread. Volatile, because the slow path and signal handlers change
 * the fields: no value may be kept from one hook to the next. With volatile no memory clobber is
 * necessary, which would prevent optimisation of the program's own code.
 */
struct __nanoscope_thread_head {
    volatile unsigned long __pos;
    const volatile unsigned long *volatile __endp;
    volatile unsigned long __anchor_low;
};
extern __thread struct __nanoscope_thread_head __nanoscope_thread __asm__("nsc_runtime_tls")
    __attribute__((__tls_model__("initial-exec"), __visibility__("default")));

/* Not 0: recording is off for all threads. Starting a recording sets it to 0. */
extern volatile unsigned int __nanoscope_off __asm__("nsc_runtime_off")
    __attribute__((__visibility__("default")));

#define __NANOSCOPE_EVENT_BYTES    16
#define __NANOSCOPE_REACH_BYTES    0x40000ul /* both directions: 2 * NSC_LIVE_ANCHOR_REACH */
#define __NANOSCOPE_POSITION_SHIFT 45
#define __NANOSCOPE_PC_SHIFT       48

/* A struct nsc_live_site of kind HOOK for the label %=. It is tied to the code ("o") and to its
 * group ("?"), so that a linker which discards the function discards the record with it. */
#define __NANOSCOPE_SITE                                                                           \
    ".pushsection nanoscope_sites,\"ao?\",%%progbits,.Lnanoscope%=\n\t"                            \
    ".balign 4\n\t"                                                                                \
    ".long .Lnanoscope%= - .\n\t"                                                                  \
    ".long 2\n\t"                                                                                  \
    ".popsection\n\t"

#ifdef __NANOSCOPE_HOOK_X86_64

#define __NANOSCOPE_EXIT_BIT   (1ul << 47)
/* The return address lies just below the frame's canonical address. Where gcc realigns the stack,
 * this is an address inside the frame instead. That is harmless: entry and exit agree, and the
 * positions of callers and callees lie on either side. */
#define __NANOSCOPE_POSITION() ((unsigned long)__builtin_dwarf_cfa() - 8)

/* No lock prefix: atomic with respect to signal handlers of this thread, the only other writers. */
#define __NANOSCOPE_RESERVE(slot, head)                                                            \
    __asm__ __volatile__("xaddq %0, %1" : "+r"(slot), "+m"((head)->__pos) : : "cc")
#define __NANOSCOPE_HERE(pc)                                                                       \
    __asm__ __volatile__(".Lnanoscope%=:\n\tleaq .Lnanoscope%=(%%rip), %0\n\t" __NANOSCOPE_SITE    \
                         : "=r"(pc))
#define __NANOSCOPE_TICKS(ticks)                                                                   \
    __asm__ __volatile__("rdtsc\n\t"                                                               \
                         "shlq $32, %%rdx\n\t"                                                     \
                         "orq %%rdx, %0"                                                           \
                         : "=a"(ticks)                                                             \
                         :                                                                         \
                         : "rdx", "cc")
/* Write word 0. All readers see it after word 1, because x86-64 keeps stores in order. */
#define __NANOSCOPE_COMPLETE(event, word0) ((void)((event)[0] = (word0)))
/* A jump, not a call: a call would write into the red zone. r10 is the address to continue at. The
 * stub restores all registers except those named here. Through the GOT: lazy binding would call the
 * dynamic linker. */
#define __NANOSCOPE_SLOW(word0, word1, position, slot)                                             \
    do {                                                                                           \
        register unsigned long __nanoscope_r0 __asm__("rax") = (word0);                            \
        register unsigned long __nanoscope_r1 __asm__("rdx") = (word1);                            \
        register unsigned long __nanoscope_r2 __asm__("r11") = (position);                         \
        register unsigned long __nanoscope_r3 __asm__("rcx") = (slot);                             \
        __asm__ __volatile__("leaq .Lnanoscope%=(%%rip), %%r10\n\t"                                \
                             "jmpq *nanoscope_hook_slow@GOTPCREL(%%rip)\n"                         \
                             ".Lnanoscope%=:"                                                      \
                             : "+r"(__nanoscope_r0), "+r"(__nanoscope_r1), "+r"(__nanoscope_r2)    \
                             : "r"(__nanoscope_r3)                                                 \
                             : "r10", "cc");                                                       \
    } while (0)

#else /* AArch64 */

#define __NANOSCOPE_EXIT_BIT 1ul
/* Stack pointer at entry; clang's __builtin_dwarf_cfa returns the frame record instead. */
#ifdef __clang__
#define __NANOSCOPE_POSITION() ((unsigned long)__builtin_sponentry())
#else
#define __NANOSCOPE_POSITION() ((unsigned long)__builtin_dwarf_cfa())
#endif

/* A signal handler in between clears the exclusive monitor, so that the store fails and is
 * repeated. */
#define __NANOSCOPE_RESERVE(slot, head)                                                            \
    do {                                                                                           \
        unsigned long __nanoscope_next;                                                            \
        unsigned int __nanoscope_failed;                                                           \
        __asm__ __volatile__(".Lnanoscope%=:\n\t"                                                  \
                             "ldxr %0, %3\n\t"                                                     \
                             "add %1, %0, #16\n\t"                                                 \
                             "stxr %w2, %1, %3\n\t"                                                \
                             "cbnz %w2, .Lnanoscope%="                                             \
                             : "=&r"(slot), "=&r"(__nanoscope_next), "=&r"(__nanoscope_failed),    \
                               "+Q"((head)->__pos));                                               \
    } while (0)
#define __NANOSCOPE_HERE(pc)                                                                       \
    __asm__ __volatile__(".Lnanoscope%=:\n\tadr %0, .Lnanoscope%=\n\t" __NANOSCOPE_SITE : "=r"(pc))
#define __NANOSCOPE_TICKS(ticks) __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks))
/* Write word 0. All readers see it after word 1: the recorder reads chunks that are in use. */
#define __NANOSCOPE_COMPLETE(event, word0)                                                         \
    __asm__ __volatile__("stlr %1, %0" : "=Q"((event)[0]) : "r"(word0))
#define __NANOSCOPE_SLOW(word0, word1, position, slot)                                             \
    do {                                                                                           \
        register unsigned long __nanoscope_r0 __asm__("x9") = (word0);                             \
        register unsigned long __nanoscope_r1 __asm__("x10") = (word1);                            \
        register unsigned long __nanoscope_r2 __asm__("x11") = (position);                         \
        register unsigned long __nanoscope_r3 __asm__("x12") = (slot);                             \
        __asm__ __volatile__("adrp x16, :got:nanoscope_hook_slow\n\t"                              \
                             "ldr x16, [x16, :got_lo12:nanoscope_hook_slow]\n\t"                   \
                             "blr x16"                                                             \
                             :                                                                     \
                             : "r"(__nanoscope_r0), "r"(__nanoscope_r1), "r"(__nanoscope_r2),      \
                               "r"(__nanoscope_r3)                                                 \
                             : "x16", "x17", "x30", "cc");                                         \
    } while (0)

#endif

/*
 * Record one event. Cost when recording: one timer read, about 15 instructions, no call; else a
 * load and a branch. The position is checked after the slot is reserved, because a signal handler
 * in between may move the anchor. Word 1 is written first: a slot counts as written once its word 0
 * is not zero.
 */
#define __NANOSCOPE_EVENT(address, is_entry)                                                       \
    do {                                                                                           \
        if (!__nanoscope_off) {                                                                    \
            struct __nanoscope_thread_head *__nanoscope_t = &__nanoscope_thread;                   \
            const unsigned long __nanoscope_at = __NANOSCOPE_POSITION();                           \
            const unsigned long __nanoscope_word0 = (address) | __nanoscope_at                     \
                                                                    << __NANOSCOPE_POSITION_SHIFT; \
            unsigned long __nanoscope_slot = __NANOSCOPE_EVENT_BYTES;                              \
            unsigned long __nanoscope_pc = 0;                                                      \
            unsigned long __nanoscope_word1;                                                       \
                                                                                                   \
            if (is_entry)                                                                          \
                __NANOSCOPE_HERE(__nanoscope_pc);                                                  \
            __NANOSCOPE_RESERVE(__nanoscope_slot, __nanoscope_t);                                  \
            if (__builtin_expect(__nanoscope_slot < *__nanoscope_t->__endp &&                      \
                                     __nanoscope_at - __nanoscope_t->__anchor_low <                \
                                         __NANOSCOPE_REACH_BYTES,                                  \
                                 1)) {                                                             \
                volatile unsigned long *__nanoscope_e =                                            \
                    (volatile unsigned long *)__nanoscope_slot;                                    \
                                                                                                   \
                __NANOSCOPE_TICKS(__nanoscope_word1);                                              \
                __nanoscope_e[1] = __nanoscope_word1 + (__nanoscope_pc << __NANOSCOPE_PC_SHIFT);   \
                __NANOSCOPE_COMPLETE(__nanoscope_e, __nanoscope_word0);                            \
            } else {                                                                               \
                __NANOSCOPE_TICKS(__nanoscope_word1);                                              \
                __NANOSCOPE_SLOW(__nanoscope_word0,                                                \
                                 __nanoscope_word1 + (__nanoscope_pc << __NANOSCOPE_PC_SHIFT),     \
                                 __nanoscope_at, __nanoscope_slot);                                \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#else
#define __NANOSCOPE_EXIT_BIT                 0ul
#define __NANOSCOPE_EVENT(address, is_entry) (void)(address)
#endif

__NANOSCOPE_INLINE void __cyg_profile_func_enter(void *, void *)
    __NANOSCOPE_NAME("__cyg_profile_func_enter");
__NANOSCOPE_INLINE void __cyg_profile_func_exit(void *, void *)
    __NANOSCOPE_NAME("__cyg_profile_func_exit");

__NANOSCOPE_INLINE void __cyg_profile_func_enter(void *__nanoscope_function,
                                                 void *__nanoscope_call_site)
{
    (void)__nanoscope_call_site;
    __NANOSCOPE_EVENT((unsigned long)__nanoscope_function, 1);
}

__NANOSCOPE_INLINE void __cyg_profile_func_exit(void *__nanoscope_function,
                                                void *__nanoscope_call_site)
{
    (void)__nanoscope_call_site;
    __NANOSCOPE_EVENT((unsigned long)__nanoscope_function | __NANOSCOPE_EXIT_BIT, 0);
}

#ifdef __cplusplus
}
#endif

#endif
#endif
