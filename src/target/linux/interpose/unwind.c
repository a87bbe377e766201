/*
 * unwind.c - records unwinding by longjmp and C++ exceptions when it happens. Interposes the
 * longjmp family of libc and the C++ personality routine, to record which frames are left. Only in
 * libnanoscope.so, which is found before libc and libstdc++; needs dlsym() and related functions.
 *
 * Positions alone are almost sufficient: a call made after a catch closes the dead frames at or
 * below it. But that call may have a lower position than the dead frames (through an untraced
 * function, with arguments on the stack, after alloca). Then it would look like their callee.
 *
 * Not detected here: __builtin_longjmp, unwinding of other languages, static programs.
 */
#include <dlfcn.h>
#include <setjmp.h>

#include "linux/events/thread.h"
#include "linux/interpose/wrap.h"
#include "linux/session/current_session.h"

/* Weak: libnanoscope.so does not depend on a libc; the program brings one. An old libc has no
 * _dl_find_object. */
#pragma weak _dl_find_object
#pragma weak dladdr
#pragma weak dlclose
#pragma weak dlopen

/* Constants of personality routines (Itanium C++ ABI, level I, 1.6). */
enum { FATAL_ERROR = 3, INSTALL_CONTEXT = 7 };
struct _Unwind_Exception;
struct _Unwind_Context;

typedef void jump_fn(struct __jmp_buf_tag *env, int value);
typedef int personality_fn(int version, int actions, uint64_t class,
                           struct _Unwind_Exception *exception, struct _Unwind_Context *context);
typedef uint64_t cfa_fn(struct _Unwind_Context *context);
typedef uint64_t ip_fn(struct _Unwind_Context *context);

static void *real_longjmp, *real__longjmp, *real_siglongjmp, *real___longjmp_chk;
static void *real_personality, *real_get_cfa;

/*
 * Record that a frame continues with this stack pointer: all calls that it has made are over. Their
 * position is the address of the return address (x86-64) or the stack pointer at the call
 * (AArch64).
 */
static void continues_at(uint64_t stack_pointer)
{
    /* Under a function with a patched entry, the unwinder reports a slightly higher value
     * (patchable_entry_hook.S). */
    stack_pointer &= ~(uint64_t)7;
#if defined(__x86_64__)
    stack_pointer -= 8;
#endif
    nsc_runtime_unwound(stack_pointer);
}

/*
 * Return the stack pointer in a jmp_buf of glibc, which mangles it with a secret of the process; 0
 * if unknown.
 * Source: glibc, sysdeps/x86_64/{setjmp.S,jmpbuf-offsets.h,nptl/tls.h} and their aarch64 siblings.
 */
static uint64_t target_of(const struct __jmp_buf_tag *env)
{
    const uint64_t *words = (const uint64_t *)(const void *)env->__jmpbuf;
#if defined(__x86_64__)
    uint64_t guard;

    __asm__("movq %%fs:0x30, %0" : "=r"(guard));
    return ((words[6] >> 17) | (words[6] << 47)) ^ guard;
#else
    /* The secret cannot be read; derive it from a jmp_buf with a known stack pointer. */
    static uint64_t guard;
    static void *real__setjmp;
    struct __jmp_buf_tag here;
    uint64_t stack_pointer;

    if (NSC_LOAD(&guard) == 0) {
        int (*set)(struct __jmp_buf_tag *);

        *(void **)&set = nsc_wrap_real(&real__setjmp, "_setjmp");
        if (set == NULL)
            return 0;
        (void)set(&here);
        __asm__("mov %0, sp" : "=r"(stack_pointer));
        NSC_STORE(&guard, ((const uint64_t *)(const void *)here.__jmpbuf)[13] ^ stack_pointer);
    }
    return words[13] ^ NSC_LOAD(&guard);
#endif
}

static __attribute__((noreturn)) void jump(void **real, const char *name, struct __jmp_buf_tag *env,
                                           int value)
{
    jump_fn *go;

    *(void **)&go = nsc_wrap_real(real, name);
    if (nsc_session_present() != NULL)
        continues_at(target_of(env));
    go(env, value);
    __builtin_unreachable();
}

/* Define nsc_wrap_@name, which interposes @name of libc in its @version. */
#define JUMP(name, version)                                                                        \
    NSC_RUNTIME_EXPORT                                                                             \
    __attribute__((noreturn)) void nsc_wrap_##name(struct __jmp_buf_tag env[1], int value);        \
    void nsc_wrap_##name(struct __jmp_buf_tag env[1], int value)                                   \
    {                                                                                              \
        jump(&real_##name, #name, env, value);                                                     \
    }                                                                                              \
    NSC_WRAP(nsc_wrap_##name, #name, version)

JUMP(longjmp, NSC_WRAP_GLIBC);
JUMP(_longjmp, NSC_WRAP_GLIBC);
JUMP(siglongjmp, NSC_WRAP_GLIBC);
JUMP(__longjmp_chk, NSC_WRAP_GLIBC_CHK);

/* Return a handle of the module that contains @address, or NULL. Considers loaded modules only. */
static void *module_at(const void *address)
{
    Dl_info info;

    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* Return a symbol as the module at @address would resolve it. */
static void *seen_from(const void *address, const char *name)
{
    void *module = module_at(address);
    void *found = NULL;

    if (module != NULL) {
        found = dlsym(module, name);
        dlclose(module);
    }
    return found;
}

/* Return 1 if both addresses are in one module. Takes no lock; returns 0 if it is not known. */
static int in_one_module(const void *a, const void *b)
{
#ifdef DLFO_EH_SEGMENT_TYPE
    struct dl_find_object of_a, of_b;

    return &_dl_find_object != NULL && _dl_find_object((void *)(uintptr_t)a, &of_a) == 0 &&
           _dl_find_object((void *)(uintptr_t)b, &of_b) == 0 &&
           of_a.dlfo_link_map == of_b.dlfo_link_map;
#else
    (void)a, (void)b;
    return 0;
#endif
}

/* Return _Unwind_GetCFA() of the unwinder that contains @unwinder, or NULL. */
static cfa_fn *get_cfa_of(const void *unwinder)
{
    void *found = NSC_LOAD(&real_get_cfa);
    cfa_fn *cfa;

    if (found == NULL || !in_one_module(found, unwinder))
        found = seen_from(unwinder, "_Unwind_GetCFA");
    *(void **)&cfa = found;
    return cfa;
}

/*
 * Return the personality routine that the frame would have without this wrapper. Usually it is the
 * next one in lookup order. But a C program without a C++ library of its own may load C++ plug-ins,
 * whose libraries have local scope. Then search the frame's module, the unwinder's module (they are
 * one if the libraries are linked in), and finally the libraries by name.
 */
static void *personality_of(const void *unwinder, struct _Unwind_Context *context)
{
    static const char name[] = "__gxx_personality_v0";
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};
    void *found = nsc_wrap_real(&real_personality, name);
    ip_fn *ip;
    size_t i;

    if (found != NULL)
        return found;
    *(void **)&ip = seen_from(unwinder, "_Unwind_GetIP");
    if (ip != NULL)
        found = seen_from((const void *)(uintptr_t)ip(context), name);
    if (found == NULL)
        found = seen_from(unwinder, name);
    for (i = 0; found == NULL && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library != NULL) {
            found = dlsym(library, name);
            dlclose(library);
        }
    }
    return found;
}

/*
 * The unwinder calls the personality routine of each frame, to ask whether to continue there: in a
 * handler, or in a cleanup that runs destructors.
 */
NSC_RUNTIME_EXPORT int nsc_wrap_personality(int version, int actions, uint64_t class,
                                            struct _Unwind_Exception *exception,
                                            struct _Unwind_Context *context);
NSC_WRAP(nsc_wrap_personality, "__gxx_personality_v0", NSC_WRAP_CXXABI);

int nsc_wrap_personality(int version, int actions, uint64_t class,
                         struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    const void *unwinder = __builtin_return_address(0);
    personality_fn *real;
    cfa_fn *cfa;
    int result;

    *(void **)&real = personality_of(unwinder, context);
    if (real == NULL)
        return FATAL_ERROR; /* no personality routine found for this frame */
    result = real(version, actions, class, exception, context);
    if (result != INSTALL_CONTEXT || nsc_session_present() == NULL)
        return result;
    cfa = get_cfa_of(unwinder);
    if (cfa != NULL) /* the frame's stack pointer at the call that is left */
        continues_at(cfa(context));
    return result;
}

__attribute__((constructor)) static void find_all(void)
{
    nsc_wrap_real(&real_longjmp, "longjmp");
    nsc_wrap_real(&real__longjmp, "_longjmp");
    nsc_wrap_real(&real_siglongjmp, "siglongjmp");
    nsc_wrap_real(&real___longjmp_chk, "__longjmp_chk");
    nsc_wrap_real(&real_personality, "__gxx_personality_v0");
    nsc_wrap_real(&real_get_cfa, "_Unwind_GetCFA");
    nsc_wrap_forget_errors();
}
