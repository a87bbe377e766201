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

#include "runtime/session.h"
#include "runtime/thread.h"

/* Weak: see stackswitch.c. */
#pragma weak dlsym
#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlclose

/* What the C++ ABI says of personality routines (Itanium C++ ABI, level I, 1.6). */
enum { FATAL_ERROR = 3, INSTALL_CONTEXT = 7 };
struct _Unwind_Exception;
struct _Unwind_Context;

typedef void jump_fn(struct __jmp_buf_tag *env, int value);
typedef int personality_fn(int version, int actions, uint64_t class,
                           struct _Unwind_Exception *exception, struct _Unwind_Context *context);
typedef uint64_t context_fn(struct _Unwind_Context *context);

NSC_RUNTIME_EXPORT personality_fn __gxx_personality_v0;

/* Resolved at first use. Several threads may do so at once, with the same result. */
static void *real_longjmp, *real__longjmp, *real_siglongjmp, *real___longjmp_chk;
static void *real_personality;

static void *resolve(void **cache, const char *name)
{
    void *found = nsc_load(cache);

    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        nsc_store(cache, found);
    }
    return found;
}

/*
 * A frame continues with this stack pointer: all calls it has made are over. Their positions are
 * where the return address is (x86-64) or the stack pointer at the call (AArch64).
 */
static void continues_at(uint64_t stack_pointer)
{
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

    if (nsc_load(&guard) == 0) {
        int (*set)(struct __jmp_buf_tag *);

        *(void **)&set = resolve(&real__setjmp, "_setjmp");
        if (set == NULL)
            return 0;
        (void)set(&here);
        __asm__("mov %0, sp" : "=r"(stack_pointer));
        nsc_store(&guard, ((const uint64_t *)(const void *)here.__jmpbuf)[13] ^ stack_pointer);
    }
    return words[13] ^ nsc_load(&guard);
#endif
}

static __attribute__((noreturn)) void jump(void **real, const char *name, struct __jmp_buf_tag *env,
                                           int value)
{
    jump_fn *go;

    *(void **)&go = resolve(real, name);
    if (nsc_session_present())
        continues_at(target_of(env));
    go(env, value);
    __builtin_unreachable();
}

#define JUMP(name)                                                                                 \
    NSC_RUNTIME_EXPORT __attribute__((noreturn)) void name(struct __jmp_buf_tag env[1],            \
                                                           int value);                             \
    void name(struct __jmp_buf_tag env[1], int value)                                              \
    {                                                                                              \
        jump(&real_##name, #name, env, value);                                                     \
    }

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/*
 * @name as the module that @address lies in sees it, or NULL. For libraries that came with a
 * plug-in, for itself alone: they are not among those that RTLD_NEXT looks through. Not kept, since
 * the plug-in may be unloaded.
 */
static void *seen_from(const void *address, const char *name)
{
    Dl_info info;
    void *module, *found;

    if (dladdr(address, &info) == 0)
        return NULL;
    module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (module == NULL)
        return NULL;
    found = dlsym(module, name);
    dlclose(module);
    return found;
}

static const char personality_name[] = "__gxx_personality_v0";

/* The C++ runtime's own routine, or NULL. @unwinder: an address in the unwinder's code. */
static personality_fn *personality_of(struct _Unwind_Context *context, const void *unwinder)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++abi.so.1"};
    void *found = resolve(&real_personality, personality_name);
    context_fn *ip;
    personality_fn *real;

    *(void **)&ip = found == NULL ? seen_from(unwinder, "_Unwind_GetIP") : NULL;
    if (ip != NULL)
        found = seen_from((const void *)(uintptr_t)ip(context), personality_name);
    *(void **)&real = found;
    for (unsigned i = 0; i < 2 && (real == NULL || real == __gxx_personality_v0); i++) {
        void *library = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library == NULL)
            continue;
        *(void **)&real = dlsym(library, personality_name);
        dlclose(library);
    }
    return real != __gxx_personality_v0 ? real : NULL;
}

/*
 * The unwinder asks the personality routine of each frame whether it wants to go on there: in a
 * handler, or in a cleanup that runs destructors.
 */
int __gxx_personality_v0(int version, int actions, uint64_t class,
                         struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    const void *unwinder = __builtin_return_address(0);
    personality_fn *real = personality_of(context, unwinder);
    context_fn *cfa;
    int result;

    if (real == NULL)
        return FATAL_ERROR;
    result = real(version, actions, class, exception, context);
    if (result != INSTALL_CONTEXT || !nsc_session_present())
        return result;
    *(void **)&cfa = seen_from(unwinder, "_Unwind_GetCFA");
    if (cfa != NULL) /* the frame's stack pointer at the call that is left */
        continues_at(cfa(context));
    return result;
}
