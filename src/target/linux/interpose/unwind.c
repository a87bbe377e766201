/*
 * unwind.c - jumps and exceptions, seen as they happen: the longjmp family of libc and the C++
 * personality routine, wrapped to tell the recorder which frames are left. Only in libnanoscope.so,
 * which is found before libc and libstdc++; needs dlsym and its like.
 *
 * Positions alone nearly do without: a call made after a catch closes the dead frames at or below
 * it. But it may come from farther down the stack than they were (through an untraced function,
 * with arguments on the stack, after alloca), and then it would look like their callee.
 *
 * What is not seen here: __builtin_longjmp, other languages' unwinding, static programs.
 */
#include <dlfcn.h>
#include <setjmp.h>

#include "linux/events/thread.h"
#include "linux/interpose/wrap.h"
#include "linux/session/current_session.h"

/* Weak: libnanoscope.so names no libc as its dependency, the program brings one; an old one has no
 * _dl_find_object. */
#pragma weak _dl_find_object
#pragma weak dladdr
#pragma weak dlclose
#pragma weak dlopen

/* What the C++ ABI says of personality routines (Itanium C++ ABI, level I, 1.6). */
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
 * A frame continues with this stack pointer: all calls it has made are over. Their positions are
 * where the return address is (x86-64) or the stack pointer at the call (AArch64).
 */
static void continues_at(uint64_t stack_pointer)
{
    /* Called from under a chosen function, the unwinder says a little more (hooks/dfi). */
    stack_pointer &= ~(uint64_t)7;
#if defined(__x86_64__)
    stack_pointer -= 8;
#endif
    nsc_runtime_unwound(stack_pointer);
}

/*
 * The stack pointer in a jmp_buf of glibc, which hides it behind a secret of the process, or 0.
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
    /* The secret is nowhere to be read; a jmp_buf made here and now tells it. */
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

/* Function nsc_wrap_@name, which stands for @name of libc in its @version. */
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

/* Handle of the module that @address is in, or NULL; only counts what is loaded. */
static void *module_at(const void *address)
{
    Dl_info info;

    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* A symbol as the module at @address would find it. */
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

/* Whether both addresses are of one module. Takes no lock; says no if it cannot tell. */
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

/* _Unwind_GetCFA() of the very unwinder that calls from @unwinder, or NULL. */
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
 * The personality routine that the frame would have had without us. Usually it comes next in the
 * order of search. But a C program has no C++ library of its own, and still may load C++ plug-ins,
 * whose libraries are nobody else's: then the frame's module is asked, the module of the unwinder
 * (they are one if the libraries are linked in), and at last the libraries by name.
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
 * The unwinder asks the personality routine of each frame whether it wants to go on there: in a
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
        return FATAL_ERROR; /* nobody here knows how to read this frame */
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
